"""Distinct l-diversity."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from sfumato.exact import Ratios
from sfumato.principles.base import Measurement, On, Part, Principle
from sfumato.principles.view import View


@dataclass(frozen=True)
class DistinctLDiversity(Principle):
    """Every group holds at least l different sensitive values.

    Source: Machanavajjhala et al., TKDD 1(1), 2007. Monotone. Does not see that one value may be far more frequent than
    the others, nor that different values may be close.

    >>> DistinctLDiversity(3).parameters()
    {'l': 3}
    """

    l: int
    on: On = None

    name: ClassVar[str] = "distinct-l-diversity"
    title: ClassVar[str] = "distinct l-diversity"
    monotone: ClassVar[bool] = True
    scope: ClassVar[Literal["each"]] = "each"

    def __post_init__(self) -> None:
        self._check_whole("l")

    def measure(self, view: View) -> Measurement:
        """Return each group's number of distinct values."""
        return Measurement((Part.at_least("l", Ratios.whole(view.histogram.distinct), Fraction(self.l)),))

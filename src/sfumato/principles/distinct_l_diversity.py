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

    In plain words: at least l secrets are possible for everybody.

    - `l`: how many different values a group holds at least.

    Monotone.

    Does not protect against one value that is far more frequent than the others, nor against values that differ and yet
    are close.

    Source: Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam, l-diversity: privacy beyond k-anonymity, TKDD 1(1),
    2007.

    >>> DistinctLDiversity(3).parameters()
    {'l': 3}
    """

    l: int
    on: On = None

    name: ClassVar[str] = "distinct-l-diversity"
    title: ClassVar[str] = "distinct l-diversity"
    monotone: ClassVar[bool] = True
    absorbing: ClassVar[bool] = True
    relative: ClassVar[bool] = False
    scope: ClassVar[Literal["each"]] = "each"

    def __post_init__(self) -> None:
        self._check_whole("l")

    def measure(self, view: View) -> Measurement:
        """Return each group's number of distinct values."""
        return Measurement((Part.at_least("l", Ratios.whole(view.histogram.distinct), Fraction(self.l)),))

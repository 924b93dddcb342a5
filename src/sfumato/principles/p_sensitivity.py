"""p-sensitive k-anonymity."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

from sfumato.exact import Ratios
from sfumato.principles.base import Measurement, On, Part, Principle, size_part
from sfumato.principles.view import View


@dataclass(frozen=True)
class PSensitivity(Principle):
    """Every group holds at least k people and at least p different values of each sensitive attribute.

    In plain words: nobody can be narrowed down to fewer than k people, nor to fewer than p secrets.

    - `p`: how many different values a group holds at least.
    - `k`: how many people a group holds at least.

    Monotone.

    Does not protect against one value that is far more frequent than the others, nor against values that differ and yet
    are close.

    Source: Truta and Vinay, Privacy protection: p-sensitive k-anonymity property, ICDE Workshops 2006.

    >>> PSensitivity(p=2, k=5).parameters()
    {'p': 2, 'k': 5}
    """

    p: int
    k: int
    on: On = None

    name: ClassVar[str] = "p-sensitivity"
    title: ClassVar[str] = "p-sensitive k-anonymity"
    monotone: ClassVar[bool] = True
    absorbing: ClassVar[bool] = True
    relative: ClassVar[bool] = False
    scope: ClassVar[Literal["each"]] = "each"

    def __post_init__(self) -> None:
        self._check_whole("p")
        self._check_whole("k")

    def measure(self, view: View) -> Measurement:
        """Return each group's number of distinct values and number of people."""
        part = Part.at_least("p", Ratios.whole(view.histogram.distinct), Fraction(self.p))
        return Measurement((part, size_part(view, self.k)))

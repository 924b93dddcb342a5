"""p-sensitive k-anonymity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Literal

from sfumato.exact import Ratios
from sfumato.parameters import ParameterRange, whole
from sfumato.principles.certificate import Certificate
from sfumato.principles.principle import Measurement, On, Part, Principle, size_part
from sfumato.principles.search_conditions import HistogramCondition, distinct_values
from sfumato.principles.units_counting import fewest_values
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, two_age_groups


@dataclass(frozen=True)
class PSensitivity(Principle):
    """Every group contains at least k people and at least p different values of each sensitive attribute.

    In plain words: everybody's group contains at least k people, and at least p different secrets.

    - `p`: the smallest number of different values in a group.
    - `k`: the smallest number of people in a group.

    Monotone.

    Does not protect against one value that is far more frequent than the others, nor against values that differ but are
    close.

    Source: Truta & Vinay (2006), Privacy protection: p-sensitive k-anonymity property, ICDE Workshops.

    >>> PSensitivity(p=2, k=5).parameters()
    {'p': 2, 'k': 5}
    """

    p: int
    k: int
    on: On = None

    name: ClassVar[str] = "p-sensitivity"
    title: ClassVar[str] = "p-sensitive k-anonymity"
    family: ClassVar[str] = "diversity"
    scope: ClassVar[Literal["each"]] = "each"
    monotone: ClassVar[bool] = True
    absorbing: ClassVar[bool] = True
    relative: ClassVar[bool] = False
    histogram_only: ClassVar[bool] = True
    units: ClassVar[Literal["every choice"]] = "every choice"
    ranges: ClassVar[Mapping[str, ParameterRange]] = {"p": whole("values", usual=(2, 10)), "k": whole("people", (2, 50))}

    def __post_init__(self) -> None:
        self.check_ranges()

    def measure(self, view: View) -> Measurement:
        """Return each group's number of distinct values and number of people."""
        part = Part.at_least("p", Ratios.whole(fewest_values(view, self.p)), Fraction(self.p))
        return Measurement((part, size_part(view, self.k)))

    @property
    def implied_k(self) -> int:
        """The parameter k."""
        return self.k

    def search_conditions(self, view: View) -> Sequence[HistogramCondition]:
        """Return the condition on the number of distinct values."""
        return (distinct_values(view, self.p),)

    def certificate(self, view: View) -> Certificate | None:
        """Rule the requirement out if the whole table has too few distinct values; then every part of it has."""
        if len(view.attribute) >= self.p and view.as_one_group().values_vary:
            return None  # the fewest values are counted within a budget only
        certificate = super().certificate(view)
        return None if certificate is None else replace(certificate, any_rows=certificate.kind == "whole")

    @classmethod
    def example(cls) -> Example:
        """Return a group with two illnesses, and one with a single illness."""
        return two_age_groups(
            cls(p=2, k=3),
            "illness",
            (("flu", "flu", "gout"), "flu and gout are two", "2"),
            (("gout", "gout", "gout"), "three people, and all of them have gout", "1"),
        )

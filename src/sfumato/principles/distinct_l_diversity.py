"""Distinct l-diversity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Literal

from sfumato.exact import Ratios
from sfumato.parameters import ParameterRange, whole
from sfumato.principles.certificate import Certificate
from sfumato.principles.principle import Measurement, On, Part, Principle
from sfumato.principles.search_conditions import HistogramCondition, distinct_values
from sfumato.principles.units_counting import fewest_values
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, two_age_groups


@dataclass(frozen=True)
class DistinctLDiversity(Principle):
    """Every group contains at least l different sensitive values.

    In plain words: everybody's group contains at least l different secrets.

    - `l`: the smallest number of different values in a group.

    Monotone.

    Does not protect against one value that is far more frequent than the others, nor against values that differ but are
    close.

    Source: Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam (2007), l-diversity: privacy beyond k-anonymity, TKDD
    1(1).

    >>> DistinctLDiversity(3).parameters()
    {'l': 3}
    """

    l: int
    on: On = None

    name: ClassVar[str] = "distinct-l-diversity"
    title: ClassVar[str] = "distinct l-diversity"
    family: ClassVar[str] = "diversity"
    scope: ClassVar[Literal["each"]] = "each"
    monotone: ClassVar[bool] = True
    absorbing: ClassVar[bool] = True
    relative: ClassVar[bool] = False
    histogram_only: ClassVar[bool] = True
    units: ClassVar[Literal["every choice"]] = "every choice"
    ranges: ClassVar[Mapping[str, ParameterRange]] = {"l": whole("values", usual=(2, 20))}

    def __post_init__(self) -> None:
        self.check_ranges()

    def measure(self, view: View) -> Measurement:
        """Return each group's number of distinct values."""
        return Measurement((Part.at_least("l", Ratios.whole(fewest_values(view, self.l)), Fraction(self.l)),))

    def search_conditions(self, view: View) -> Sequence[HistogramCondition]:
        """Return the condition on the number of distinct values."""
        return (distinct_values(view, self.l),)

    def certificate(self, view: View) -> Certificate | None:
        """Rule the requirement out if the whole table has too few distinct values; then every part of it has."""
        if len(view.attribute) >= self.l and view.as_one_group().values_vary:
            return None  # the fewest values are counted within a budget only
        certificate = super().certificate(view)
        return None if certificate is None else replace(certificate, any_rows=certificate.kind == "whole")

    @classmethod
    def example(cls) -> Example:
        """Return a group with three illnesses, and one with two."""
        return two_age_groups(
            cls(l=3),
            "illness",
            (("flu", "gout", "ulcer"), "flu, gout and ulcer are three", "3"),
            (("flu", "flu", "gout"), "flu and gout are two", "2"),
        )

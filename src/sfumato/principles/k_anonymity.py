"""k-anonymity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from sfumato.parameters import ParameterRange, whole
from sfumato.principles.principle import Measurement, Principle, size_part
from sfumato.principles.search_conditions import HistogramCondition, NeighbourLimit
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, two_age_groups


@dataclass(frozen=True)
class KAnonymity(Principle):
    """Every group contains at least k people.

    In plain words: the quasi-identifiers narrow nobody down to fewer than k people.

    - `k`: the smallest number of people in a group.

    Monotone.

    Does not protect against learning the secret of everybody in a group: sensitive values are not considered, and a group
    whose members all have the same disease reveals it.

    Source: Sweeney (2002a), k-anonymity: a model for protecting privacy, IJUFKS 10(5).

    >>> KAnonymity(5).label
    'k-anonymity (k = 5)'
    """

    k: int

    name: ClassVar[str] = "k-anonymity"
    title: ClassVar[str] = "k-anonymity"
    family: ClassVar[str] = "size"
    scope: ClassVar[Literal["groups"]] = "groups"
    monotone: ClassVar[bool] = True
    absorbing: ClassVar[bool] = True
    relative: ClassVar[bool] = False
    histogram_only: ClassVar[bool] = True
    units: ClassVar[Literal["size"]] = "size"
    size_only: ClassVar[bool] = True
    ranges: ClassVar[Mapping[str, ParameterRange]] = {"k": whole("people", usual=(2, 50))}

    def __post_init__(self) -> None:
        self.check_ranges()

    def measure(self, view: View) -> Measurement:
        """Return each group's number of people."""
        return Measurement((size_part(view, self.k),))

    @property
    def implied_k(self) -> int:
        """The parameter k."""
        return self.k

    def search_conditions(self, view: View) -> Sequence[NeighbourLimit | HistogramCondition]:
        """Return no condition: the size of groups is all that counts."""
        del view
        return ()

    @classmethod
    def example(cls) -> Example:
        """Return a group of three and a group of two at k = 3."""
        return two_age_groups(
            cls(k=3),
            "illness",
            (("flu", "gout", "ulcer"), "three people", "3"),
            (("flu", "ulcer"), "two people: each of them can find the other", "2"),
        )

"""k^m-anonymity of sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data.column import Column
from sfumato.data.groups import joint_ranks
from sfumato.errors import ParameterError
from sfumato.exact import Ratios
from sfumato.parameters import ParameterRange, whole
from sfumato.principles.principle import Measurement, On, Part, Principle
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, ExampleGroup

MOST = 1 << 27
"""The most combinations of items that are counted, over all rows; they take some gigabytes."""


@dataclass(frozen=True)
class KMAnonymity(Principle):
    """In every group, each combination of up to m items that a set of the group contains is contained in at least k sets.

    In plain words: who knows somebody's group and up to m items of that person's set, such as purchases or diagnoses, is
    left with at least k people. A value that is not a set counts as a set of one item, and a missing one as empty.

    The level is the number of sets that contain the rarest such combination; infinite if all sets of a group are empty. In a
    table without quasi-identifiers this is the definition of the source; with them, it is required of every group.

    - `k`: the smallest number of people who have a combination.
    - `m`: the number of items that the attacker knows.

    Monotone.

    Does not protect against who knows more than m items, nor against learning what the sets of a group have in common: at
    k = 2 two people with the same diagnoses satisfy it. It does not remove items: a person whose items are unique in the
    table is an obstacle to every grouping.

    Source: Terrovitis, Mamoulis & Kalnis (2008), Privacy-preserving anonymization of set-valued data, PVLDB 1(1).

    >>> KMAnonymity(k=5, m=2).label
    'k^m-anonymity (k = 5, m = 2)'
    """

    k: int
    m: int
    on: On = None

    name: ClassVar[str] = "k-m-anonymity"
    title: ClassVar[str] = "k^m-anonymity"
    family: ClassVar[str] = "size"
    scope: ClassVar[Literal["each"]] = "each"
    monotone: ClassVar[bool] = True
    relative: ClassVar[bool] = False
    histogram_only: ClassVar[bool] = True
    covers: ClassVar[bool] = False
    ranges: ClassVar[Mapping[str, ParameterRange]] = {"k": whole("people", usual=(2, 50)), "m": whole("values", (1, 4))}

    def __post_init__(self) -> None:
        self.check_ranges()

    def measure(self, view: View) -> Measurement:
        """Return for each group how many of its sets contain the rarest combination. Cost: the combinations, and a sort."""
        histogram = view.histogram
        column = view.attribute.single(self.title)
        sets = _Items.of(column, view.attribute.parts[histogram.values, 0])
        self._refuse_too_many(sets, view)
        rarest = np.full(view.groups.count, np.iinfo(np.int64).max)
        for size in range(1, self.m + 1):
            group, support = sets.supports(histogram.group, histogram.counts, size)
            np.minimum.at(rarest, group, support)
        some = rarest < np.iinfo(np.int64).max
        levels = Ratios(np.where(some, rarest, 1), some.astype(np.int64))
        return Measurement((Part.at_least("k", levels, self.k),))

    def _refuse_too_many(self, sets: _Items, view: View) -> None:
        lengths, counts = np.unique(sets.lengths, return_counts=True)
        pairs = list(zip(lengths.tolist(), counts.tolist(), strict=True))
        total = sum(count * comb(length, size) for length, count in pairs for size in range(1, self.m + 1))
        if total > MOST:
            raise ParameterError(
                f"{self.title}: the sets of {view.attribute.name!r} have {total:,} combinations of up to {self.m} items",
                remedy="Give a smaller m, or publish fewer items per set.",
                key="m",
                value=self.m,
            )

    @classmethod
    def example(cls) -> Example:
        """Return a group in which every pair of items occurs twice, and one in which a pair occurs once."""
        return Example(
            cls(k=2, m=2),
            ("age",),
            "purchases",
            (
                ExampleGroup(
                    ("20-29",),
                    (("bread", "tea"), ("bread", "tea"), ("tea",)),
                    "2 of the 3 have bread, and tea with it; all have tea",
                    "2",
                ),
                ExampleGroup(
                    ("30-39",),
                    (("bread", "tea"), ("bread",), ("tea",)),
                    "bread is in two sets, tea is in two, and bread with tea in one",
                    "1",
                ),
            ),
        )


@dataclass(frozen=True, eq=False)
class _Items:
    """The items of some sets, as ascending numbers; `starts` and `lengths` say where those of each set are."""

    flat: NDArray[np.int64]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    different: int

    @classmethod
    def of(cls, column: Column, codes: NDArray[np.int64]) -> _Items:
        """Take the sets of some codes of a column; a missing set is empty."""
        if column.sets:
            number = {item: place for place, item in enumerate(sorted(set().union(*column.sets)))}
            by_code = [np.array(sorted(number[item] for item in members), np.int64) for members in column.sets]
        else:
            number = {str(code): code for code in range(column.size)}
            by_code = [np.array([code], np.int64) for code in range(column.size)]
        by_code.append(np.empty(0, np.int64))
        lengths = np.array([len(by_code[code]) for code in codes.tolist()], np.int64)
        flat = np.concatenate([np.empty(0, np.int64), *(by_code[code] for code in codes.tolist())])
        return cls(flat, np.cumsum(lengths) - lengths, lengths, max(len(number), 1))

    def supports(
        self, group: NDArray[np.int64], counts: NDArray[np.int64], size: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return for each combination of so many items in a group the group, and the rows whose sets contain it.

        `group` and `counts`: for each set its group, and how many rows have it.
        """
        chosen: list[NDArray[np.int64]] = []
        whose: list[NDArray[np.int64]] = []
        for length in np.unique(self.lengths[self.lengths >= size]).tolist():
            some = np.flatnonzero(self.lengths == length)
            places = np.array(list(combinations(range(length), size)))
            items = self.flat[self.starts[some][:, None] + np.arange(length)]
            chosen.append(items[:, places].reshape(-1, size))
            whose.append(np.repeat(some, len(places)))
        if not chosen:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        items, of_set = np.concatenate(chosen), np.concatenate(whose)
        groups = int(group.max()) + 1
        which = joint_ranks([(group[of_set], groups), *((items[:, place], self.different) for place in range(size))])
        first = np.empty(int(which.max()) + 1, np.int64)
        first[which] = group[of_set]
        # counts are whole, and far below 2^53: sums of floats are exact
        return first, np.bincount(which, counts[of_set]).astype(np.int64)

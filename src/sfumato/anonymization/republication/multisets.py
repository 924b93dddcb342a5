"""Multisets of candidates as arrays: those of groups, those that people still have, and what two have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Multisets:
    """Multisets of values: set s has the entries `offsets[s]:offsets[s + 1]`, whose values ascend.

    >>> one = Multisets.of(np.array([0, 0, 1]), np.array([5, 5, 3]), 2)
    >>> one.values.tolist(), one.counts.tolist(), one.sizes.tolist()
    ([5, 3], [2, 1], [2, 1])
    """

    offsets: Integers
    values: Integers
    counts: Integers

    @classmethod
    def of(cls, owner: Integers, value: Integers, sets: int, times: Integers | None = None) -> Multisets:
        """Count the values of each set: entry i adds `times[i]`, or 1, to the value `value[i]` of the set `owner[i]`."""
        order = np.lexsort((value, owner))
        owner, value = owner[order], value[order]
        first = np.ones(len(order), bool)
        first[1:] = (owner[1:] != owner[:-1]) | (value[1:] != value[:-1])
        starts = np.flatnonzero(first)
        times = np.ones(len(order), np.int64) if times is None else times[order]
        counts = np.add.reduceat(times, starts) if len(starts) else np.zeros(0, np.int64)
        offsets = np.searchsorted(owner[starts], np.arange(sets + 1))
        return cls(offsets, value[starts], counts)

    @classmethod
    def listed(cls, sets: Iterable[Sequence[tuple[int, int]]]) -> Multisets:
        """Return sets that are given as pairs of a value and its count, ascending."""
        pairs: list[tuple[int, int]] = []
        lengths = [0]
        for one in sets:
            pairs += one
            lengths.append(len(one))
        both = np.array(pairs, np.int64).reshape(-1, 2)
        return cls(np.cumsum(lengths), both[:, 0].copy(), both[:, 1].copy())

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def owner(self) -> Integers:
        """The set of each entry."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @cached_property
    def sizes(self) -> Integers:
        """The number of elements of each set."""
        return np.bincount(self.owner, self.counts, len(self)).astype(np.int64)

    def entries(self, sets: Integers) -> tuple[Integers, Integers]:
        """Return the entries of some sets, and to which of these each belongs."""
        lengths = np.diff(self.offsets)[sets]
        first = np.cumsum(lengths) - lengths
        at = np.arange(int(lengths.sum())) + np.repeat(self.offsets[sets] - first, lengths)
        return at, np.repeat(np.arange(len(sets)), lengths)

    def count_of(self, sets: Integers, values: Integers) -> Integers:
        """Return how often each of some values is in the set of the same position."""
        if not len(self.values):
            return np.zeros(len(sets), np.int64)
        width = 1 + max(int(self.values.max()), int(values.max(initial=0)))
        keys, wanted = self.owner * width + self.values, sets * width + values
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[place] == wanted, self.counts[place], 0)

    def common(self, sets: Integers, other: Multisets, others: Integers) -> Multisets:
        """Return for each i what the set `sets[i]` has in common with the set `others[i]` of other multisets.

        >>> one, other = Multisets.listed([[(1, 2), (4, 1)]]), Multisets.listed([[(1, 1), (3, 1)]])
        >>> both = one.common(np.array([0]), other, np.array([0]))
        >>> both.values.tolist(), both.counts.tolist()
        ([1], [1])
        """
        at, which = self.entries(sets)
        both = np.minimum(self.counts[at], other.count_of(others[which], self.values[at]))
        kept = both > 0
        offsets = np.searchsorted(which[kept], np.arange(len(sets) + 1))
        return Multisets(offsets, self.values[at][kept], both[kept])

    def take(self, sets: Integers) -> Multisets:
        """Return some of the sets, in their order."""
        at, which = self.entries(sets)
        return Multisets(np.searchsorted(which, np.arange(len(sets) + 1)), self.values[at], self.counts[at])

    def keys(self) -> list[bytes]:
        """Return for each set a text that equal sets, and no others, have in common."""
        entries = np.column_stack([self.values, self.counts])
        return [entries[start:stop].tobytes() for start, stop in zip(self.offsets[:-1], self.offsets[1:], strict=True)]

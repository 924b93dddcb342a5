"""Whose the rows of sets of items are, where a person may have several rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.candidate_bits import ItemWeights, Words

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


class RowsOfPeople:
    """The rows of items, such as the published rows of a group: how many there are of each person in each item.

    `person`, `item`: those of each row.

    >>> rows = RowsOfPeople(np.array([0, 0, 1]), np.array([0, 1, 1]), items=2)
    >>> bits = np.array([[1], [3]], np.uint64)  # the first item, and both
    >>> rows.counts(bits).tolist(), rows.own(bits, np.array([0, 1]), np.array([0, 0])).tolist()
    ([1, 3], [1, 2])
    >>> rows.are_of_one_person(bits).tolist()
    [True, False]
    """

    def __init__(self, person: Integers, item: Integers, items: int) -> None:
        pairs, self.rows = np.unique(person * items + item, return_counts=True)
        whose, self.item = np.divmod(pairs, items)
        # the items of person p are `item[starts[p]:starts[p + 1]]`
        self.starts = np.searchsorted(whose, np.arange(int(person.max(initial=-1)) + 2))
        self.somebody = np.zeros(items, np.int64)
        self.somebody[item] = person
        self.weights = ItemWeights(np.bincount(item, minlength=items))

    def counts(self, bits: Words) -> Integers:
        """Return the number of rows of each set."""
        return self.weights.sums(bits)

    def own(self, bits: Words, sets: Integers, people: Integers) -> Integers:
        """Return how many rows of one person are in a set, for pairs of a set and a person; the person may have no row."""
        last = len(self.starts) - 1
        starts, ends = self.starts[np.minimum(people, last)], self.starts[np.minimum(people + 1, last)]
        sizes = ends - starts
        pair = np.repeat(np.arange(len(people)), sizes)
        at = np.arange(int(sizes.sum())) + np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
        item = self.item[at]
        inside = (bits[sets[pair], item >> 6] >> (item & 63).astype(np.uint64)) & np.uint64(1)
        return np.bincount(pair, inside * self.rows[at], minlength=len(people)).astype(np.int64)

    def are_of_one_person(self, bits: Words) -> Flags:
        """Return for each set whether it has rows, and all of them are of one person."""
        word = (bits != 0).argmax(axis=1)
        first = bits[np.arange(len(bits)), word]
        lowest = first & (~first + np.uint64(1))
        item = np.minimum(64 * word + np.log2(np.maximum(lowest, 1)).astype(np.int64), len(self.somebody) - 1)
        own = self.own(bits, np.arange(len(bits)), self.somebody[item])
        return np.asarray((own > 0) & (own == self.counts(bits)))

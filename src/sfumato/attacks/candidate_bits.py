"""Sets of candidates as bits: which of many items fulfil several conditions at once, for many people.

An item is a published row, a group or a person. 64 items are one word, so that a set is met with another one, and counted,
64 items at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.data.groups import distinct_pairs, joint_ranks

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
Words = NDArray[np.uint64]

_FLAGS = 1 << 25
"""The number of pairs of a key and an item that are compared at a time; bounds memory."""

_CHUNK = 1 << 21
"""The number of words of the sets that are met at a time; 16 MB, several of which are alive."""

_KEPT = 1 << 23
"""Up to this many words, the sets of all keys of a condition are kept; 64 MB."""

_RUNS = 16
"""Up to this many ends of runs of labels for each key, on average, sets are made from runs rather than item by item."""

_MEMBERS = 1 << 20
"""Up to this many members, sets are looked at member by member."""

_ONES = np.array([bin(number).count("1") for number in range(1 << 8)], np.uint8)


def packed(flags: Flags) -> Words:
    """Return rows of flags as rows of words; item i is bit i % 64 of word i // 64.

    >>> packed(np.array([[True, False, True]])).tolist()
    [[5]]
    """
    rows, items = flags.shape
    octets = np.zeros((rows, 8 * max(1, -(-items // 64))), np.uint8)
    octets[:, : -(-items // 8)] = np.packbits(flags, axis=1, bitorder="little")
    return octets.view("<u8").astype(np.uint64, copy=False)


def unpacked(bits: Words, items: int) -> Flags:
    """Return rows of words as rows of flags.

    >>> unpacked(np.array([[5]], np.uint64), 3).tolist()
    [[True, False, True]]
    """
    octets = np.ascontiguousarray(bits.astype("<u8", copy=False)).view(np.uint8)
    return np.unpackbits(octets, axis=1, count=items, bitorder="little").view(np.bool_)


def members(bits: Words) -> tuple[Integers, Integers]:
    """Return the set and the item of each member, in ascending order. Cost: that of the words, and of the members.

    >>> members(np.array([[5, 0], [0, 1]], np.uint64))
    (array([0, 0, 1]), array([ 0,  2, 64]))
    """
    full = np.flatnonzero(bits.ravel())
    at, bit = np.nonzero(unpacked(bits.ravel()[full][:, None], 64))
    row, word = np.divmod(full[at], bits.shape[1])
    return row, 64 * word + bit


def few_members(bits: Words) -> tuple[Integers, Integers] | None:
    """Return the members of sets, or None if they are so many that words are faster."""
    return members(bits) if int(counted(bits).sum()) <= _MEMBERS else None


def counted(bits: Words) -> Integers:
    """Return the number of items of each set.

    >>> counted(np.array([[5, 1]], np.uint64)).tolist()
    [3]
    """
    if hasattr(np, "bitwise_count"):  # since numpy 2
        return np.asarray(np.bitwise_count(bits).sum(axis=1, dtype=np.int64))
    return np.asarray(_ONES[bits.view(np.uint8)].sum(axis=1, dtype=np.int64))


class ItemOwners:
    """Whose each item is, where the items of a person follow one another: counts people in place of items.

    >>> ItemOwners(np.array([7, 7, 8])).counted(np.array([[3], [6]], np.uint64)).tolist()
    [1, 2]
    """

    def __init__(self, whose: Integers) -> None:
        self.whose = whose
        last = np.append(whose[1:] != whose[:-1], True)
        self.last = packed(last[None, :])[0]
        self.steps: list[tuple[int, Words]] = []
        """For 1, 2, 4 … the items that have the same owner as the item that many places before."""
        step = 1
        while step < len(whose) and (same := whose[step:] == whose[:-step]).any():
            self.steps.append((step, packed(np.append(np.zeros(step, bool), same)[None, :])[0]))
            step *= 2

    def counted(self, bits: Words) -> Integers:
        """Return the number of different people who have items in each set."""
        for step, same in self.steps:
            # afterwards an item is in the set if one of the 2·step items of its person up to it is
            bits = bits | (_moved(bits, step) & same)
        return counted(bits & self.last)


def _moved(bits: Words, step: int) -> Words:
    """Return sets whose items are some places higher; those that would be beyond the last word are lost."""
    words, low = divmod(step, 64)
    found = np.zeros_like(bits)
    kept = bits[:, : bits.shape[1] - words]
    found[:, words:] = kept << np.uint64(low)
    if low:
        found[:, words + 1 :] |= kept[:, :-1] >> np.uint64(64 - low)
    return found


def _different(row: Integers, person: Integers, rows: int) -> Integers:
    """Return for each number of a row how many people occur with it."""
    return np.bincount(distinct_pairs(row, rows, person, int(person.max(initial=0)) + 1)[0], minlength=rows)


class ItemWeights:
    """The weights of items, such as the rows of groups: whole numbers whose binary digits are sets of items.

    >>> ItemWeights(np.array([5, 7, 1])).sums(np.array([[5]], np.uint64)).tolist()
    [6]
    """

    def __init__(self, weights: Integers) -> None:
        digits = range(int(weights.max(initial=0)).bit_length())
        self.planes = [packed(((weights >> digit) & 1).astype(bool)[None, :])[0] for digit in digits]

    def sums(self, bits: Words) -> Integers:
        """Return the sum of the weights of each set."""
        total = np.zeros(len(bits), np.int64)
        for digit, plane in enumerate(self.planes):
            total += counted(bits & plane) << digit
        return total


class Condition:
    """A condition on items: for each key, such as a known value, the set of the items that fulfil it.

    `labels`: what the condition looks at, for each item, such as the number of its cell. `holds`: returns for a column of
    keys and a row of labels which pairs fulfil the condition.

    >>> Condition(np.array([3, 4, 3]), lambda keys, labels: keys <= labels).sets(np.array([3, 4])).tolist()
    [[7], [2]]
    """

    def __init__(self, labels: Integers, holds: Callable[[Integers, Integers], Flags]) -> None:
        self.labels, self.of_item = np.unique(labels, return_inverse=True)
        self.holds = holds

    @property
    def items(self) -> int:
        """The number of items."""
        return len(self.of_item)

    @property
    def words(self) -> int:
        """The number of words of a set."""
        return max(1, -(-self.items // 64))

    def sets(self, keys: Integers) -> Words:
        """Return the set of each key."""
        found = np.zeros((len(keys), self.words), np.uint64)
        step = max(1, _FLAGS // max(1, self.items))
        for start in range(0, len(keys), step):
            grid = self.holds(keys[start : start + step, None], self.labels[None, :])
            found[start : start + step] = self._of_grid(grid)
        return found

    def among(
        self, bits: Words, keys: Integers, listed: tuple[Integers, Integers] | None, owners: ItemOwners | None = None
    ) -> Integers:
        """Return for each of some sets how many of its items fulfil the condition with a key of its own.

        `listed`: the members of the sets, if they are few. `owners`: whose the items are, if people are counted.
        """
        if listed is None:
            distinct, inverse = np.unique(keys, return_inverse=True)
            inside = bits & self.sets(distinct)[inverse]
            return counted(inside) if owners is None else owners.counted(inside)
        row, item = listed
        found = self.holds(keys[row], self.labels[self.of_item[item]])
        if owners is not None:
            return _different(row[found], owners.whose[item[found]], len(bits))
        return np.bincount(row[found], minlength=len(bits))

    def _of_grid(self, grid: Flags) -> Words:
        """Return the sets of some keys from the labels that fulfil the condition."""
        if (len(self.labels) + 1) * self.words > _KEPT:
            return packed(np.take(grid, self.of_item, axis=1))
        edges = np.zeros((len(grid), len(self.labels) + 1), bool)
        edges[:, 0], edges[:, -1] = grid[:, 0], grid[:, -1]
        edges[:, 1:-1] = grid[:, 1:] != grid[:, :-1]
        key, label = np.nonzero(edges)
        if len(key) > _RUNS * len(grid):
            return packed(np.take(grid, self.of_item, axis=1))
        # labels from a to b are those below b + 1 except those below a
        found = np.zeros((len(grid), self.words), np.uint64)
        starts = np.searchsorted(key, np.arange(len(grid) + 1))
        step = max(1, _CHUNK // (self.words * _RUNS))
        for low in range(0, len(grid), step):
            begin, end = starts[low], starts[min(low + step, len(grid))]
            own, first = np.unique(key[begin:end], return_index=True)
            if len(own):
                found[own] = np.bitwise_xor.reduceat(self._below[label[begin:end]], first, axis=0)
        return found

    @cached_property
    def _below(self) -> Words:
        """For each label the set of the items with lower labels, and the set of all items."""
        found = np.zeros((len(self.labels) + 1, self.words), np.uint64)
        item = np.arange(self.items)
        np.bitwise_or.at(found, (self.of_item + 1, item >> 6), np.uint64(1) << (item & 63).astype(np.uint64))
        return np.bitwise_or.accumulate(found, axis=0, out=found)


class Equality(Condition):
    """The condition that an item has the value that is known. Cost: linear in the items that fulfil it.

    `item`: the item of each label, if items have several; the last item has one.

    >>> Equality(np.array([3, 4, 3])).sets(np.array([3, 9])).tolist()
    [[5], [0]]
    """

    def __init__(self, labels: Integers, item: Integers | None = None) -> None:
        super().__init__(labels, np.equal)
        order = np.argsort(self.of_item, kind="stable")
        self.starts = np.searchsorted(self.of_item[order], np.arange(len(self.labels) + 1))
        self.order = order if item is None else item[order]
        self._items = len(labels) if item is None else int(item.max(initial=-1)) + 1

    @property
    def items(self) -> int:
        """The number of items."""
        return self._items

    def sets(self, keys: Integers) -> Words:
        """Return the set of each key; no item has a key that is no label."""
        found = np.zeros((len(keys), self.words), np.uint64)
        at = np.minimum(np.searchsorted(self.labels, keys), len(self.labels) - 1)
        known = np.flatnonzero(self.labels[at] == keys)
        starts, sizes = self.starts[at[known]], np.diff(self.starts)[at[known]]
        within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        item = self.order[np.repeat(starts, sizes) + within]
        bit = np.uint64(1) << (item & 63).astype(np.uint64)
        np.bitwise_or.at(found, (np.repeat(known, sizes), item >> 6), bit)
        return found


def distinct_queries(keys: Sequence[Integers]) -> tuple[Integers, Integers]:
    """Return one of each distinct combination of keys, as positions, and the number of each position's combination.

    >>> distinct_queries([np.array([1, 1, 0]), np.array([2, 2, 2])])
    (array([2, 0]), array([1, 1, 0]))
    """
    shifted = [(column - column.min(initial=0)) for column in keys]
    number = joint_ranks((column, int(column.max(initial=0)) + 1) for column in shifted)
    _, first, inverse = np.unique(number, return_index=True, return_inverse=True)
    return first, inverse


def meetings(conditions: Sequence[Condition], keys: Sequence[Integers]) -> Iterator[tuple[slice, Words]]:
    """Yield for some queries at a time the items that fulfil all conditions; query i has the key `keys[c][i]` of each.

    Cost: the number of queries times the number of items times the number of conditions, over 64.
    """
    words = conditions[0].words
    tables = []
    for condition, column in zip(conditions, keys, strict=True):
        distinct, of_query = np.unique(column, return_inverse=True)
        kept = condition.sets(distinct) if len(distinct) * words <= _KEPT else None
        tables.append((condition, distinct, of_query, kept))
    step = max(1, _CHUNK // words)
    for start in range(0, len(keys[0]), step):
        bits: Words | None = None
        for condition, distinct, of_query, kept in tables:
            which = of_query[start : start + step]
            if kept is None:
                own, which = np.unique(which, return_inverse=True)
                found = condition.sets(distinct[own])[which]
            else:
                found = kept[which]
            bits = found if bits is None else np.bitwise_and(bits, found, out=bits)
        assert bits is not None
        yield slice(start, start + len(bits)), bits


def one_label(bits: Words, of_item: Integers) -> Flags:
    """Return for each set whether it is not empty and all its items have one label; labels ascend with the items.

    >>> one_label(np.array([[5], [3], [0]], np.uint64), np.array([0, 0, 1])).tolist()
    [False, True, False]
    """
    some = bits != 0
    found = some.any(axis=1)
    rows = np.arange(len(bits))
    first = some.argmax(axis=1)
    last = bits.shape[1] - 1 - some[:, ::-1].argmax(axis=1)
    head = unpacked(bits[rows, first][:, None], 64).argmax(axis=1)
    tail = 63 - unpacked(bits[rows, last][:, None], 64)[:, ::-1].argmax(axis=1)
    top = len(of_item) - 1
    least, most = np.minimum(64 * first + head, top), np.minimum(64 * last + tail, top)
    return np.asarray(found & (of_item[least] == of_item[most]))

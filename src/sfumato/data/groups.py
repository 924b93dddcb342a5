"""Groups: a partition of the rows; and the histogram of a sensitive attribute in each group."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.units import Units, UnitValues
from sfumato.plurals import count_of
from sfumato.storage import active_storage, stored

if TYPE_CHECKING:
    from sfumato.data.attribute import Attribute
    from sfumato.data.table import Table

_SPARSE = 4
"""Combined codes are counted in place while their range is at most this many times the number of rows."""

_FLAGS = 32
"""Pairs are flagged in place while their range is at most this many times the number of rows."""

_SEARCHED = 1 << 22
"""While arrays are on disk, more numbers than this are sorted in a way that takes longer and less memory."""

_WIDEST = 1 << 62
"""Combined codes are joined in 64 bits while their range is at most this; beyond it, prefixes are numbered first."""


def combined(
    codes: Sequence[NDArray[np.integer[Any]]], domains: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the distinct combinations of several code columns, in lexicographic order.

    Returns each row's number, and for each number the codes that it combines. Cost: linear while the range of combinations
    is about the number of rows, else that of sorting.
    """
    joined, span, steps = _joined(zip(codes, domains, strict=True))
    distinct, numbers = _numbered(joined, span)
    return numbers, _parts(distinct, steps, len(domains))


def _parts(distinct: NDArray[np.int64], steps: list[NDArray[np.int64] | int], columns: int) -> NDArray[np.int64]:
    """Return for each distinct combination its codes."""
    parts = np.empty((len(distinct), columns), np.int64, order="F")
    position = columns
    rest = distinct
    for step in reversed(steps):
        if isinstance(step, int):
            position -= 1
            rest, parts[:, position] = np.divmod(rest, step)
        else:
            rest = step[rest]
    return parts


def combination_ranks(codes: Iterable[NDArray[np.integer[Any]]], domains: Sequence[int]) -> NDArray[np.int64]:
    """Return each row's number as `combined` does, without the codes of the numbers.

    >>> combination_ranks([np.array([1, 0, 1], np.int32), np.array([2, 2, 0], np.int32)], [2, 3]).tolist()
    [2, 0, 1]
    """
    return joint_ranks(zip(codes, domains, strict=True))


def joint_ranks(columns: Iterable[tuple[NDArray[np.integer[Any]], int]]) -> NDArray[np.int64]:
    """Return what `combination_ranks` does, from pairs of a column and the number of its codes, read one after another."""
    joined, span, _ = _joined(columns)
    return _numbered(joined, span)[1]


def combination_counts(
    codes: Iterable[NDArray[np.int32]], domains: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the codes of each combination, as `combined` does, and the number of its rows.

    >>> combination_counts([np.array([1, 0, 1], np.int32), np.array([2, 2, 2], np.int32)], [2, 3])[1].tolist()
    [1, 2]
    """
    joined, span, steps = _joined(zip(codes, domains, strict=True))
    if span <= _countable(len(joined)):
        counts = np.bincount(joined, minlength=span)
        distinct = np.flatnonzero(counts)
        counts = counts[distinct]
    else:
        distinct, counts = np.unique(joined, return_counts=True)
    return _parts(distinct, steps, len(domains)), counts


def _joined(
    columns: Iterable[tuple[NDArray[np.integer[Any]], int]],
) -> tuple[NDArray[np.int64], int, list[NDArray[np.int64] | int]]:
    """Return each row's combination as one integer, the range of those, and the steps to split them again."""
    pairs = iter(columns)
    first, span = next(pairs)
    numbers = first.astype(np.int64)
    del first
    countable = _countable(len(numbers))
    steps: list[NDArray[np.int64] | int] = [span]  # how to split a number: a domain, or a list of prefixes
    for column, domain in pairs:
        if span * domain > (countable if span <= countable else _WIDEST):
            # keep the range of combinations within reach by numbering the prefixes that occur
            prefixes, numbers = _numbered(numbers, span)
            steps.append(prefixes)
            span = len(prefixes)
        numbers *= domain
        numbers += column
        span *= domain
        steps.append(domain)
    return numbers, span, steps


def _countable(rows: int) -> int:
    """Return the largest range of integers that is counted in an array, for a number of rows."""
    return max(_SPARSE * rows, 1 << 20)


def _numbered(numbers: NDArray[np.int64], span: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct numbers in order, and each row's position among them, which may overwrite `numbers`."""
    if span <= _countable(len(numbers)):
        occurs = np.zeros(span, bool)
        occurs[numbers] = True
        distinct = np.flatnonzero(occurs)
        # 32 bits suffice for the positions: there are at most as many distinct numbers as rows
        position: NDArray[Any] = np.cumsum(occurs, dtype=np.int32 if len(numbers) < 1 << 31 else np.int64)
        position -= 1
        numbers[:] = position[numbers]  # fresh memory would take longer than the rest
        return distinct, numbers
    if len(numbers) < _SEARCHED or active_storage() is None:
        distinct, inverse = np.unique(numbers, return_inverse=True)
        return distinct, inverse.astype(np.int64, copy=False)
    distinct, place = np.unique(numbers), np.empty(len(numbers), np.int64)
    for start in range(0, len(numbers), _SEARCHED):
        place[start : start + _SEARCHED] = np.searchsorted(distinct, numbers[start : start + _SEARCHED])
    return distinct, place


def distinct_pairs(
    one: NDArray[np.int64], ones: int, other: NDArray[np.integer[Any]], others: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of codes that occur, in lexicographic order. Cost: linear while there are few codes, else sorting.

    >>> distinct_pairs(np.array([1, 0, 1]), 2, np.array([4, 0, 4], np.int32), 5)
    (array([0, 1]), array([0, 4]))
    """
    keys = one * others + other
    if ones * others <= max(_FLAGS * len(keys), 1 << 20):
        occurs = np.zeros(ones * others, bool)
        occurs[keys] = True
        keys = np.flatnonzero(occurs)
    else:
        keys = np.unique(keys)
    first, second = np.divmod(keys, others)
    return first, second


def renumber(labels: NDArray[Any] | Sequence[int]) -> NDArray[np.int64]:
    """Number labels, such as those of groups, from 0 in the order in which they first occur.

    >>> renumber([7, 3, 7, 5]).tolist()
    [0, 1, 0, 2]
    """
    numbers = np.asarray(labels)
    if _are_small(numbers):
        first = np.full(int(numbers.max(initial=0)) + 1, -1)
        first[numbers[::-1]] = np.arange(len(numbers))[::-1]  # of equal positions the last assignment counts
        present = np.flatnonzero(first >= 0)
        rank = np.empty(len(first), np.int64)
        rank[present[np.argsort(first[present])]] = np.arange(len(present))
        return np.asarray(rank[numbers])
    _, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def dense_ranks(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number labels from 0 in their own order. Cost: linear while their range is about their number, else sorting.

    >>> dense_ranks(np.array([7, 3, 7, 5])).tolist()
    [2, 0, 2, 1]
    """
    if _are_small(numbers):
        return _numbered(numbers.astype(np.int64), int(numbers.max(initial=0)) + 1)[1]
    return np.unique(numbers, return_inverse=True)[1].astype(np.int64)


def stable_order(numbers: NDArray[np.int64], span: int) -> NDArray[np.int64]:
    """Return `np.argsort(numbers, kind="stable")` for numbers from 0 to below `span`, several times as fast if it fits.

    Where a number and its position fit into 64 bits together, they are sorted as one integer, which is unique.

    >>> stable_order(np.array([2, 0, 2, 1]), 3).tolist()
    [1, 3, 0, 2]
    """
    bits = len(numbers).bit_length()
    if span << bits > 1 << 63:
        return np.argsort(numbers, kind="stable")
    order = numbers << bits
    order |= np.arange(len(numbers))
    order.sort()
    order &= (1 << bits) - 1
    return order


def _are_small(numbers: NDArray[Any]) -> bool:
    """Return whether an array over the range of some numbers is about as large as the numbers themselves."""
    whole = np.issubdtype(numbers.dtype, np.integer)
    return whole and int(numbers.min(initial=0)) >= 0 and int(numbers.max(initial=0)) < _countable(len(numbers))


@dataclass(frozen=True, eq=False, repr=False)
class Groups:
    """A partition of the rows: `of_row[row]` is the row's group; the groups are numbered from 0.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> from sfumato.data.table import Table
    >>> table = Table(pa.table({"age": [30, 41, 30]}), Schema(quasi_identifiers=["age"]))
    >>> Groups.of(table).sizes.tolist()
    [2, 1]
    """

    of_row: NDArray[np.int64]
    count: int
    population: int
    """What k counts, in the whole table: people or households if the schema declares them, else rows."""
    units: Units | None = None
    """Whose row each row is, if the schema declares people or households."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "of_row", stored(self.of_row))

    @classmethod
    def of(cls, table: Table, columns: Sequence[str] | None = None) -> Groups:
        """Group rows by the schema's group column, else by equal quasi-identifiers; or by other columns."""
        schema = table.schema
        if columns is None:
            columns = schema.quasi_identifiers if schema.group is None else (schema.group,)
        if columns:
            encoded = [table.column(name) for name in columns]
            of_row, parts = combined([c.codes for c in encoded], [c.domain for c in encoded])
            count = len(parts)
        else:  # no column distinguishes rows: all are one group
            of_row, count = np.zeros(table.rows, np.int64), 1
        return cls.partition(table, of_row, count)

    @classmethod
    def partition(cls, table: Table, of_row: NDArray[np.int64], count: int) -> Groups:
        """Return groups from the group of each row, numbered from 0; counts people or households if the schema has them."""
        return cls(of_row, count, table.rows).counting(table.units)

    def counting(self, units: Units | None) -> Groups:
        """Return the same groups, counting units in place of rows; rows if there are none."""
        return Groups(self.of_row, self.count, len(self.of_row) if units is None else units.count, units)

    def __repr__(self) -> str:
        """Show the sizes, never which row is where."""
        return f"<Groups: {count_of(self.count, 'group')} of {count_of(len(self.of_row), 'row')}>"

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The number of rows of each group."""
        return np.bincount(self.of_row, minlength=self.count)

    @cached_property
    def people(self) -> NDArray[np.int64] | None:
        """The number of people or households in each group, if the schema declares them."""
        if self.units is None:
            return None
        pairs = np.unique(self.of_row * self.units.count + self.units.of_row)
        return np.bincount(pairs // self.units.count, minlength=self.count)

    @property
    def heads(self) -> NDArray[np.int64]:
        """What k counts in each group: people or households if the schema declares them, else rows."""
        return self.sizes if self.people is None else self.people

    @cached_property
    def first_rows(self) -> NDArray[np.int64]:
        """One row of each group, to read its quasi-identifiers from."""
        first = np.zeros(self.count, np.int64)
        first[self.of_row[::-1]] = np.arange(len(self.of_row) - 1, -1, -1)
        return first


class GroupsElsewhere(Groups):
    """Groups whose rows are in another process: of each group its size is known, or only how many groups there are.

    >>> GroupsElsewhere(2, 5, np.array([2, 3])).heads.tolist()
    [2, 3]
    """

    def __init__(self, count: int, population: int, sizes: NDArray[np.int64] | None = None) -> None:
        known = {} if sizes is None else {"sizes": sizes}
        self.__dict__.update(count=count, population=population, units=None, **known)

    def __repr__(self) -> str:
        return f"<Groups: {count_of(self.count, 'group')} of {count_of(self.population, 'row')}>"

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"the rows of these groups are elsewhere, so {name!r} is not known; the engines local and stream keep the rows"
        )

    @property
    def of_row(self) -> NDArray[np.int64]:
        """Not known."""
        raise AttributeError  # `__getattr__` says why


@dataclass(frozen=True, eq=False, repr=False)
class Histogram:
    """The number of rows of each value of an attribute in each group; only values that occur are stored.

    The entries of group g are `offsets[g]:offsets[g + 1]`; their values ascend. If units are counted, a count is the number
    of units with at least one row of the value, so the counts of a group may add up to more than its size.
    """

    offsets: NDArray[np.int64]
    values: NDArray[np.int64]
    counts: NDArray[np.int64]
    people: NDArray[np.int64] | None = None
    """The number of units of each group, if units are counted."""

    @classmethod
    def of(cls, groups: Groups, attribute: Attribute, values: UnitValues | None = None) -> Histogram:
        """Count an attribute's values group by group; `values`: those of the units.

        Cost: linear while there are at most as many pairs of a group and a value as rows, else that of sorting the rows.
        """
        width = len(attribute)
        if groups.units is not None:
            listed = UnitValues.of(groups.units, groups.of_row, attribute) if values is None else values
            keys = listed.group * width + listed.value
        else:
            keys = groups.of_row * width + attribute.codes
        pairs, counts = _counted(keys, groups.count * width)
        group, value = np.divmod(pairs, width)
        return cls(_offsets(group, groups.count), value, counts, groups.people)

    @classmethod
    def of_entries(
        cls, group: NDArray[np.int64], groups: int, value: NDArray[np.int64], values: int, rows: NDArray[np.int64]
    ) -> Histogram:
        """Add up entries that have a group, a value and a number of rows each, where no rows are listed one by one.

        >>> one = Histogram.of_entries(np.array([1, 0, 1]), 2, np.array([4, 0, 4]), 5, np.array([2, 1, 3]))
        >>> one.values.tolist(), one.counts.tolist()
        ([0, 4], [1, 5])
        """
        keys = group * values + value
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        group, value = np.divmod(keys[starts], values)
        return cls(_offsets(group, groups), value, np.add.reduceat(rows[order], starts))

    def __repr__(self) -> str:
        """Show the size, never values or counts."""
        return f"<Histogram: {count_of(len(self.offsets) - 1, 'group')}>"

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where each group's entries begin; no group is empty, so this is what `reduceat` needs."""
        return self.offsets[:-1]

    @cached_property
    def distinct(self) -> NDArray[np.int64]:
        """The number of distinct values of each group."""
        return np.diff(self.offsets)

    @cached_property
    def group(self) -> NDArray[np.int64]:
        """The group of each entry."""
        return np.repeat(np.arange(len(self.distinct)), self.distinct)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The number of rows of each group, or of units if those are counted."""
        return np.add.reduceat(self.counts, self.starts) if self.people is None else self.people

    @cached_property
    def largest(self) -> NDArray[np.int64]:
        """The count of each group's most frequent value."""
        return np.maximum.reduceat(self.counts, self.starts)

    def of_groups(self, groups: NDArray[np.int64]) -> Histogram:
        """Return the histogram of some of the groups, in their order."""
        sizes = self.distinct[groups]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        entries = np.arange(offsets[-1]) + np.repeat(self.starts[groups] - offsets[:-1], sizes)
        people = None if self.people is None else self.people[groups]
        return Histogram(offsets, self.values[entries], self.counts[entries], people)

    def merged(self, node: NDArray[np.int64], nodes: int) -> Histogram:
        """Return the histogram of the ancestors of the values: value v becomes `node[v]`, one of `nodes`; of rows only."""
        assert self.people is None, "a unit may have several values of one node"
        return Histogram.of_entries(self.group, len(self.distinct), node[self.values], nodes, self.counts)


def _counted(numbers: NDArray[np.int64], span: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct numbers in order, and how often each occurs; takes no more memory than the numbers do."""
    if span <= len(numbers):
        counts = np.bincount(numbers, minlength=span)
        distinct = np.flatnonzero(counts)
        return distinct, counts[distinct]
    ordered = np.sort(numbers)
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return ordered[starts], np.diff(np.append(starts, len(ordered)))


def _offsets(group: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Return where each group's entries begin, and the end of the last group."""
    return np.concatenate([[0], np.cumsum(np.bincount(group, minlength=count))])

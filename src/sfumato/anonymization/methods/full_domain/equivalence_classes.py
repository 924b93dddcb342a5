"""The classes of a transformation and their histograms, rolled up from those of a finer one, never from the rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.method import Task
from sfumato.anonymization.recoding import ColumnLevels, column_levels
from sfumato.anonymization.recoding.strata import allowed_height
from sfumato.data.attribute import Attribute
from sfumato.data.groups import Histogram, combined
from sfumato.kernels.class_rollup import roll_classes, roll_entries

Integers = NDArray[np.int64]
Names = tuple[str, ...]

_LARGEST_KEY = 1 << 62
"""A combination of nodes is encoded as one whole number while there are fewer combinations than this."""

_CACHE_NUMBERS = 1 << 25
"""The classes of all transformations that are kept to roll up from have at most this many numbers together: 256 MB."""

_UPPER_BITS = np.uint64(0x8000_8000_8000_8000)
"""The upper bit of each level in a word of packed levels."""

_WAYPOINT_COLUMNS = 4
"""The number of quasi-identifiers, those with most values, that are rolled up first on a long way."""


@dataclass(frozen=True, eq=False)
class ClassHistograms:
    """The histograms of all classes for one sensitive attribute, sorted by value.

    The entries of value v are `starts[v]:starts[v + 1]`; entry e says that class `group[e]` has its value `counts[e]`
    times. In this order, merging classes needs neither a hash nor a sort.
    """

    starts: Integers
    group: NDArray[np.int32]
    counts: Integers

    @classmethod
    def of(cls, group: NDArray[np.int32], classes: int, attribute: Attribute) -> ClassHistograms:
        """Count an attribute's values class by class."""
        keys, counts = np.unique(attribute.codes * classes + group, return_counts=True)
        values, groups = np.divmod(keys, classes)
        starts = np.searchsorted(values, np.arange(len(attribute) + 1))
        return cls(starts, groups.astype(np.int32), counts.astype(np.int64))

    def rolled(self, of: NDArray[np.int32], classes: int) -> ClassHistograms:
        """Return the entries after classes were merged: class i becomes `of[i]`, one of `classes`."""
        starts = np.zeros_like(self.starts)
        group, counts = np.empty_like(self.group), np.empty_like(self.counts)
        roll_entries(self.starts, self.group, self.counts, of, classes, starts, group, counts)
        return ClassHistograms(starts, group[: starts[-1]].copy(), counts[: starts[-1]].copy())

    def histogram(self, classes: int) -> Histogram:
        """Return the histograms sorted by class, as principles read them."""
        values = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        order = np.argsort(self.group, kind="stable")  # stable: within a class the values still ascend
        offsets = np.concatenate([[0], np.cumsum(np.bincount(self.group, minlength=classes))])
        return Histogram(offsets, values[order], self.counts[order])


@dataclass(eq=False)
class EquivalenceClasses:
    """The classes of one transformation. Combination `first[i]` of the original values represents class i.

    Made by `TransformationCube.classes`.
    """

    levels: tuple[int, ...]
    """The level of each quasi-identifier."""
    first: NDArray[np.int32]
    keys: Integers
    """A number for each class: the combination of its nodes, or a hash of it if there are too many combinations."""
    sizes: Integers
    """The rows of each class."""
    entries: dict[Names, ClassHistograms]
    """The histograms of the sensitive attributes that were needed so far."""
    finer: EquivalenceClasses | None = None
    of: NDArray[np.int32] | None = None
    """The class here of each class of `finer`, the transformation that these classes were rolled up from."""

    def histograms(self, names: Names) -> ClassHistograms:
        """Return the histograms of a sensitive attribute, rolled up on first use."""
        if names not in self.entries:
            assert self.finer is not None
            assert self.of is not None
            self.entries[names] = self.finer.histograms(names).rolled(self.of, len(self.first))
        return self.entries[names]


@dataclass(eq=False)
class TransformationCube:
    """A table under all its transformations: the distinct combinations of its quasi-identifiers, which roll up to classes.

    The nodes of all quasi-identifiers, levels and codes are in one flat array, which the kernels read: the node of code c
    in attribute j on a level is `_nodes[_at[j][level] + c]`.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> ages = sf.Schema(["age"], hierarchies={"age": sf.Intervals((10,))})
    >>> cube = TransformationCube(Task(sf.Table(pa.table({"age": [31, 34, 47]}), ages), ()))
    >>> cube.heights, cube.classes((1,)).sizes.tolist(), cube.of_rows((1,)).tolist()
    ((2,), [2, 1], [0, 0, 1])
    """

    task: Task
    columns: list[ColumnLevels] = field(init=False)

    def __post_init__(self) -> None:
        self.columns = column_levels(self.task.table)
        data = [column.domain.column for column in self.columns]
        of_row, parts = combined([column.codes for column in data], [column.domain for column in data])
        self.of_row = of_row.astype(np.int32)
        """The combination of each row."""
        self.codes = np.ascontiguousarray(parts.astype(np.int32))
        """The codes of each combination."""
        sizes = np.bincount(self.of_row).astype(np.int64)
        entries = {
            names: ClassHistograms.of(self.of_row, len(sizes), self.task.views[names].attribute)
            for names in self.task.views
            if names
        }
        # the flat array of nodes
        self._nodes = np.concatenate([column.nodes.ravel() for column in self.columns])
        starts = np.cumsum([0, *(column.nodes.size for column in self.columns)])
        self._at = [
            start + column.nodes.shape[1] * np.arange(column.height + 1)
            for start, column in zip(starts.tolist(), self.columns, strict=False)
        ]
        self._top = self.at(tuple(column.height for column in self.columns))
        # the key of a combination of nodes
        self._spans = [(column.nodes.max(axis=1) + 1).tolist() for column in self.columns]
        self._strides, self._exact = _strides([spans[0] for spans in self._spans])
        bottom = (0,) * len(data)
        nodes = self._nodes[self.at(bottom) + self.codes]
        keys = (nodes * self._strides).sum(axis=1)
        self.bottom = EquivalenceClasses(bottom, np.arange(len(sizes), dtype=np.int32), keys, sizes, entries)
        """The classes of equal original values."""
        # the transformations that are kept to roll up from: their classes, packed levels (one row each), numbers of classes
        self._kept = [self.bottom]
        self._levels = np.zeros((64, len(_packed(bottom))), np.uint64)
        self._counts = np.full(64, len(sizes))
        self._room = _CACHE_NUMBERS
        self._widest = set(np.argsort([-column.domain for column in data], kind="stable")[:_WAYPOINT_COLUMNS].tolist())

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.of_row)

    @cached_property
    def heights(self) -> tuple[int, ...]:
        """The highest level of each quasi-identifier that the schema allows: that of `*`, unless its cells are limited."""
        return tuple(allowed_height(column, self.task.cell_classes(column.domain.column)) for column in self.columns)

    def at(self, levels: tuple[int, ...]) -> Integers:
        """Return where each quasi-identifier's level begins in an array over all attributes, levels and codes."""
        return np.array([at[level] for at, level in zip(self._at, levels, strict=True)], np.int64)

    def classes(self, levels: tuple[int, ...]) -> EquivalenceClasses:
        """Return the classes of a transformation, rolled up from the fewest classes that are finer in every attribute."""
        start = self._finer(levels)
        if 2 * len(start.first) > len(self.bottom.first):
            # a long way: stop at a transformation that many others share
            waypoint = tuple(level if j in self._widest else 0 for j, level in enumerate(levels))
            start = min(start, self._roll(self._finer(waypoint), waypoint), key=lambda classes: len(classes.first))
        return self._roll(start, levels)

    def _finer(self, levels: tuple[int, ...]) -> EquivalenceClasses:
        """Return the fewest kept classes of a transformation that is finer in every attribute."""
        kept = len(self._kept)
        # 16 bits of the difference keep the upper one if the level there is not higher
        differences = (_packed(levels) | _UPPER_BITS) - self._levels[:kept]
        finer = np.flatnonzero((np.bitwise_and.reduce(differences, axis=1) & _UPPER_BITS) == _UPPER_BITS)
        return self._kept[int(finer[self._counts[finer].argmin()])]

    def _roll(self, start: EquivalenceClasses, levels: tuple[int, ...]) -> EquivalenceClasses:
        """Roll up, and keep the classes while there is room."""
        if start.levels == levels:
            return start
        classes = self._rolled(start, levels)
        self._room -= 3 * len(classes.first) + len(start.first)
        if self._room > 0:
            kept = len(self._kept)
            if kept == len(self._counts):  # double the arrays
                self._levels = np.concatenate([self._levels, self._levels])
                self._counts = np.concatenate([self._counts, self._counts])
            self._kept.append(classes)
            self._levels[kept], self._counts[kept] = _packed(levels), len(classes.first)
        return classes

    def _rolled(self, start: EquivalenceClasses, levels: tuple[int, ...]) -> EquivalenceClasses:
        """Roll up with the kernel: allocate, call, cut the arrays to the number of new classes."""
        count = len(start.first)
        combinations = math.prod(spans[level] for spans, level in zip(self._spans, levels, strict=True))
        capacity = 1 << (2 * min(count, combinations) - 1).bit_length()  # at most half of the hash table is filled
        before, after = self.at(start.levels), self.at(levels)
        changed, live, start_keys = np.flatnonzero(before != after), np.flatnonzero(after != self._top), start.keys
        if len(live) < len(changed):
            # few quasi-identifiers are published at all: their nodes are the key, starting from `*`, whose node is 0
            changed, before, start_keys = live, self._top, np.zeros(count, np.int64)
        of, first = np.empty(count, np.int32), np.empty(count, np.int32)
        keys, sizes = np.empty(count, np.int64), np.empty(count, np.int64)
        made = roll_classes(
            self.codes, self._nodes, changed, before[changed], after[changed], self._strides, live, after[live],
            self._exact, capacity, start.first, start_keys, start.sizes, of, first, keys, sizes,
        )  # fmt: skip
        return EquivalenceClasses(levels, first[:made].copy(), keys[:made].copy(), sizes[:made].copy(), {}, start, of)

    def of_rows(self, levels: tuple[int, ...]) -> NDArray[np.int32]:
        """Return each row's class, numbered like those of `classes`."""
        here = self.classes(levels)
        if here is self.bottom:
            return self.of_row
        direct = self._rolled(self.bottom, levels)
        # the same classes, possibly in another order: the combination that represents a class identifies it
        number = np.empty(len(here.first), np.int32)
        assert direct.of is not None
        number[direct.of[here.first]] = np.arange(len(here.first))
        return np.asarray(number[direct.of][self.of_row])


def _strides(spans: list[int]) -> tuple[Integers, bool]:
    """Return the factor of each quasi-identifier's node in the key of a combination, and whether keys are unique.

    If there are too many combinations for 64 bits, the key is a hash: the factors are random odd numbers.
    """
    if math.prod(spans) < _LARGEST_KEY:
        return np.array([math.prod(spans[j + 1 :]) for j in range(len(spans))], np.int64), True
    return np.random.default_rng(0).integers(1, _LARGEST_KEY, len(spans)) | 1, False


def _packed(levels: tuple[int, ...]) -> NDArray[np.uint64]:
    """Return levels as words of 64 bits, 16 for each level."""
    lanes = np.zeros(-(-len(levels) // 4) * 4, np.uint16)
    lanes[: len(levels)] = levels
    return lanes.view(np.uint64)

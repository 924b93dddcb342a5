"""The classes of a transformation, and their histograms: rolled up from those of a finer one, never from the rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.method import Task
from sfumato.anonymization.recoding import ColumnLevels, column_levels
from sfumato.data.attribute import Attribute
from sfumato.data.groups import Histogram, combined
from sfumato.kernels.class_rollup import roll_classes, roll_entries

Integers = NDArray[np.int64]
Names = tuple[str, ...]

_WIDEST = 1 << 62
"""A combination of nodes is one whole number while there are at most so many."""

_ROOM = 1 << 25
"""So many numbers about classes, of all transformations together, are kept to roll up from."""

_STOP = 4
"""So many quasi-identifiers, those with most values, are rolled up first on a long way."""


@dataclass(frozen=True, eq=False)
class Entries:
    """What classes hold of a sensitive attribute, value by value: those of value v are `starts[v]:starts[v + 1]`.

    Entry e says that class `group[e]` has its value `counts[e]` times. In this order, merging classes needs neither a
    hash nor a sort.
    """

    starts: Integers
    group: NDArray[np.int32]
    counts: Integers

    @classmethod
    def of(cls, group: NDArray[np.int32], classes: int, attribute: Attribute) -> Entries:
        """Count an attribute's values class by class."""
        keys, counts = np.unique(attribute.codes * classes + group, return_counts=True)
        values, groups = np.divmod(keys, classes)
        starts = np.searchsorted(values, np.arange(len(attribute) + 1))
        return cls(starts, groups.astype(np.int32), counts.astype(np.int64))

    def rolled(self, of: NDArray[np.int32], classes: int) -> Entries:
        """The same after classes were merged: class i is now `of[i]`, one of `classes`."""
        starts = np.zeros_like(self.starts)
        group, counts = np.empty_like(self.group), np.empty_like(self.counts)
        roll_entries(self.starts, self.group, self.counts, of, classes, starts, group, counts)
        return Entries(starts, group[: starts[-1]].copy(), counts[: starts[-1]].copy())

    def histogram(self, classes: int) -> Histogram:
        """The same, class by class, as principles look at it."""
        values = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        order = np.argsort(self.group, kind="stable")  # values ascend, and stay in order
        offsets = np.concatenate([[0], np.cumsum(np.bincount(self.group, minlength=classes))])
        return Histogram(offsets, values[order], self.counts[order])


@dataclass(eq=False)
class Classes:
    """The classes of one transformation: combination `first[i]` of the original values stands for class i."""

    levels: tuple[int, ...]
    first: NDArray[np.int32]
    keys: Integers
    """A number that tells the classes apart; a hash of their nodes if there are too many combinations of those."""
    sizes: Integers
    """The rows of each class."""
    entries: dict[Names, Entries]
    """Of each sensitive attribute that was asked for so far."""
    finer: Classes | None = None
    of: NDArray[np.int32] | None = None
    """For each class of the finer transformation that these were rolled up from its class here."""

    def held(self, names: Names) -> Entries:
        """What the classes hold of a sensitive attribute."""
        if names not in self.entries:
            assert self.finer is not None
            assert self.of is not None
            self.entries[names] = self.finer.held(names).rolled(self.of, len(self.first))
        return self.entries[names]


@dataclass(eq=False)
class Cube:
    """A table under all its transformations: distinct combinations of its quasi-identifiers, which roll up to classes."""

    task: Task
    columns: list[ColumnLevels] = field(init=False)

    def __post_init__(self) -> None:
        table = self.task.table
        self.columns = column_levels(table)
        columns = [ladder.domain.column for ladder in self.columns]
        of_row, parts = combined([column.codes for column in columns], [column.domain for column in columns])
        self.of_row = of_row.astype(np.int32)
        """Each row's combination."""
        self.codes = np.ascontiguousarray(parts.astype(np.int32))
        sizes = np.bincount(self.of_row).astype(np.int64)
        held = {
            names: Entries.of(self.of_row, len(sizes), self.task.views[names].attribute)
            for names in self.task.views
            if names
        }
        self._nodes = np.concatenate([ladder.nodes.ravel() for ladder in self.columns])
        starts = np.cumsum([0, *(ladder.nodes.size for ladder in self.columns)])
        self._at = [
            start + ladder.nodes.shape[1] * np.arange(ladder.height + 1)
            for start, ladder in zip(starts.tolist(), self.columns, strict=False)
        ]
        self._spans = [(ladder.nodes.max(axis=1) + 1).tolist() for ladder in self.columns]
        self._strides, self._exact = _strides([spans[0] for spans in self._spans])
        bottom = (0,) * len(columns)
        nodes = self._nodes[self.at(bottom) + self.codes]
        keys = (nodes * self._strides).sum(axis=1)
        self.bottom = Classes(bottom, np.arange(len(sizes), dtype=np.int32), keys, sizes, held)
        """The classes of equal original values."""
        self._kept = [self.bottom]
        self._levels = np.zeros((len(columns), 64), np.int64)
        """The levels of the classes that were kept to roll up from, and how many classes those are."""
        self._counts = np.full(64, len(sizes))
        self._room = _ROOM
        self._widest = set(np.argsort([-column.domain for column in columns], kind="stable")[:_STOP].tolist())

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.of_row)

    @cached_property
    def heights(self) -> tuple[int, ...]:
        """The height of each quasi-identifier's ladder."""
        return tuple(ladder.height for ladder in self.columns)

    def at(self, levels: tuple[int, ...]) -> Integers:
        """Where each quasi-identifier's level begins in an array over all ladders, levels and codes."""
        return np.array([at[level] for at, level in zip(self._at, levels, strict=True)], np.int64)

    def classes(self, levels: tuple[int, ...]) -> Classes:
        """The classes of a transformation, rolled up from the fewest that are finer in every quasi-identifier."""
        start = self._finer(levels)
        if 2 * len(start.first) > len(self.bottom.first):
            # a stop on the way, which many transformations share
            stop = tuple(level if j in self._widest else 0 for j, level in enumerate(levels))
            start = min(start, self._roll(self._finer(stop), stop), key=lambda classes: len(classes.first))
        return self._roll(start, levels)

    def _finer(self, levels: tuple[int, ...]) -> Classes:
        known = len(self._kept)
        finer = np.flatnonzero((self._levels[:, :known] <= np.array(levels)[:, None]).all(axis=0))
        return self._kept[int(finer[self._counts[finer].argmin()])]

    def _roll(self, start: Classes, levels: tuple[int, ...]) -> Classes:
        """Roll up, and keep the classes while there is room."""
        if start.levels == levels:
            return start
        found = self._rolled(start, levels)
        self._room -= 3 * len(found.first) + len(start.first)
        if self._room > 0:
            known = len(self._kept)
            if known == len(self._counts):
                self._levels = np.concatenate([self._levels, self._levels], axis=1)
                self._counts = np.concatenate([self._counts, self._counts])
            self._kept.append(found)
            self._levels[:, known], self._counts[known] = levels, len(found.first)
        return found

    def _rolled(self, start: Classes, levels: tuple[int, ...]) -> Classes:
        count = len(start.first)
        combinations = math.prod(spans[level] for spans, level in zip(self._spans, levels, strict=True))
        capacity = 1 << (2 * min(count, combinations) - 1).bit_length()
        before, after = self.at(start.levels), self.at(levels)
        changed = np.flatnonzero(before != after)
        of, first = np.empty(count, np.int32), np.empty(count, np.int32)
        keys, sizes = np.empty(count, np.int64), np.empty(count, np.int64)
        made = roll_classes(
            self.codes,
            self._nodes,
            changed,
            before[changed],
            after[changed],
            self._strides,
            after,
            self._exact,
            capacity,
            start.first,
            start.keys,
            start.sizes,
            of,
            first,
            keys,
            sizes,
        )
        return Classes(levels, first[:made].copy(), keys[:made].copy(), sizes[:made].copy(), {}, start, of)

    def of_rows(self, levels: tuple[int, ...]) -> NDArray[np.int32]:
        """Each row's class, numbered like those of `classes`."""
        here = self.classes(levels)
        if here is self.bottom:
            return self.of_row
        of = self._rolled(self.bottom, levels)
        # the same classes, maybe in another order: a combination that stands for one tells which
        number = np.empty(len(here.first), np.int32)
        assert of.of is not None
        number[of.of[here.first]] = np.arange(len(here.first))
        return np.asarray(number[of.of][self.of_row])


def _strides(spans: list[int]) -> tuple[Integers, bool]:
    """What each quasi-identifier's node counts in the key of a combination of nodes, and whether keys are all different.

    If combinations are too many for 64 bits, the key is a hash.
    """
    if math.prod(spans) < _WIDEST:
        return np.array([math.prod(spans[j + 1 :]) for j in range(len(spans))], np.int64), True
    return np.random.default_rng(0).integers(1, _WIDEST, len(spans)) | 1, False

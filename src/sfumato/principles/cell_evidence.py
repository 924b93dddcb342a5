"""How strongly the quasi-identifiers of the people whom a cell covers can speak for one secret rather than for another.

The people of a population say how often each value of a quasi-identifier occurs together with each secret. The evidence of
a value v for a secret s rather than t is the ratio of the probabilities of v among people with s and among people with t,
from smoothed counts. Between two people of a group, what speaks for s rather than t is a ratio of two such ratios: factors
that depend on s and t alone cancel. Its largest value over all values that a cell covers is the spread of the cell, and the
spread of a group is the product over its cells (naive Bayes: quasi-identifiers are taken as independent given the secret).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.column import Column
from sfumato.data.schema import Kind
from sfumato.data.value_parts import value_parts
from sfumato.exact.thresholds import nearest_float
from sfumato.principles.population_matches import Cells, cell_reader, group_cells, population_of
from sfumato.principles.view import View

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_AT_ONCE = 1 << 20
"""The number of pairs of secrets, times the number of values of a cell, that are compared at a time; bounds memory."""


@dataclass(frozen=True, eq=False)
class CellEvidence:
    """The evidence in the published cells of groups, for one sensitive attribute.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 30, 30, 41, 41, 41], "ill": ["flu", "flu", "gout", "flu", "gout", "gout"]})
    >>> table = sf.Table(people, sf.Schema(["age"], ["ill"], population=sf.Population(people)))
    >>> evidence = CellEvidence.of(View(table).as_one_group(), Fraction(1, 2), 20)
    >>> evidence.exact_spread(0, 0, 1)  # (2 + 1/2)/(1 + 1/2) at 30, and the inverse at 41
    Fraction(25, 9)
    """

    columns: tuple[_Column, ...]
    covered: NDArray[np.bool_]
    """For each group whether each of its cells covers somebody of the population."""

    @classmethod
    def of(cls, view: View, smoothing: Fraction, parts: int) -> CellEvidence:
        """Return the evidence of the groups of a view.

        `smoothing`: what is added to each count, on average over the values of a quasi-identifier. `parts`: into how many
        parts the values of an ordered quasi-identifier are divided, if it has more.
        """
        people, secrets = population_of(view), view.secrets_of_people
        names = view.table.schema.quasi_identifiers
        cells = group_cells(view) if names else []
        columns = tuple(
            _Column.of(people.column(name), secrets, len(view.attribute), own, smoothing, parts)
            for name, own in zip(names, cells, strict=True)
        )
        covered = np.ones(view.groups.count, bool)
        for column in columns:
            covered &= np.asarray(column.covers.any(axis=1))[column.cell]
        return cls(columns, covered)

    def spreads(self, group: Integers, one: Integers, other: Integers) -> Floats:
        """Return for each pair of secrets the spread of a group as a float, which may be infinite or no number.

        `group`, `one`, `other`: for each pair its group and its two secrets. Cost: the pairs times the values of the cells.
        """
        with np.errstate(all="ignore"):
            return prod((column.spreads(group, one, other) for column in self.columns), start=np.ones(len(group)))

    def exact_spread(self, group: int, one: int, other: int) -> Fraction:
        """Return the spread of a group for a pair of secrets without rounding."""
        return prod((column.exact_spread(group, one, other) for column in self.columns), start=Fraction(1))


@dataclass(frozen=True, eq=False)
class _Column:
    """One quasi-identifier: how often its values, or parts of them, occur with each secret; and what its cells cover."""

    counts: Integers
    """`counts[value, secret]`: how many people of the population have both."""
    people: Integers
    """`people[value]`: how many people of the population have the value, whatever their secret."""
    added: Fraction
    """So many people are added to those with each secret; their values are distributed as those of everybody."""
    covers: NDArray[np.bool_]
    """`covers[cell, value]`: whether a cell covers a value that some of the people have."""
    cell: Integers
    """For each group the number of its cell."""

    @classmethod
    def of(cls, column: Column, secrets: Integers, width: int, cells: Cells, smoothing: Fraction, parts: int) -> _Column:
        """Count the people; `secrets`: for each the number of the secret, below `width`, or -1."""
        ordered = column.kind in (Kind.NUMERIC, Kind.DATE, Kind.ORDINAL)
        part, size = value_parts(column, parts if ordered else column.size)
        of_person = part[column.codes]
        people = np.bincount(of_person, minlength=size + 1)
        known = secrets >= 0
        counts = np.bincount(of_person[known] * width + secrets[known], minlength=(size + 1) * width)
        occurs = np.bincount(column.codes, minlength=column.domain) > 0
        codes = np.flatnonzero(occurs)
        covered = cell_reader(cells, column).covers(np.arange(len(cells.texts))[:, None], codes[None, :])
        present, first = np.unique(part[codes], return_index=True)  # parts ascend with the codes
        covers = np.zeros((len(cells.texts), size + 1), bool)
        covers[:, present] = np.logical_or.reduceat(covered, first, axis=1)
        added = smoothing * int((people > 0).sum())
        return cls(counts.reshape(size + 1, width), people, added, covers, cells.of_group)

    @cached_property
    def smoothed(self) -> Floats:
        """The smoothed count of each value and secret; 0 only for a value that nobody has, which no cell covers."""
        return np.asarray(self.counts + nearest_float(self.added) * (self.people / self.people.sum())[:, None])

    def spreads(self, group: Integers, one: Integers, other: Integers) -> Floats:
        """Return for each pair of secrets the spread of a group's cell, as a float."""
        spreads, cell = np.ones(len(group)), self.cell[group]
        order = np.argsort(cell, kind="stable")
        ends = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=len(self.covers)))]).tolist()
        for number, covers in enumerate(self.covers):
            pairs, values = order[ends[number] : ends[number + 1]], np.flatnonzero(covers)
            if len(values) < 2:
                continue
            smoothed, step = self.smoothed[values], max(1, _AT_ONCE // len(values))
            for start in range(0, len(pairs), step):
                some = pairs[start : start + step]
                evidence = smoothed[:, one[some]] / smoothed[:, other[some]]
                spreads[some] = evidence.max(axis=0) / evidence.min(axis=0)
        return spreads

    def exact_spread(self, group: int, one: int, other: int) -> Fraction:
        """Return the largest ratio of the evidence of two values of a group's cell."""
        everyone = int(self.people.sum())

        def smoothed(value: int, secret: int) -> Fraction:
            return int(self.counts[value, secret]) + self.added * int(self.people[value]) / everyone

        values: list[Any] = np.flatnonzero(self.covers[self.cell[group]]).tolist()
        ratios = [smoothed(value, one) / smoothed(value, other) for value in values]
        return max(ratios) / min(ratios) if ratios else Fraction(1)

"""Strata: sets of rows that no cell may join, as limits on cells imply them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.recoding.domain import Domain, RecodingKind
from sfumato.anonymization.recoding.generalization_levels import ColumnLevels
from sfumato.data.cell_classes import CellClasses
from sfumato.data.column import Column
from sfumato.data.groups import combined

_SHOWN = 3
"""How many values of a stratum are named in full."""


@dataclass(frozen=True, eq=False)
class Strata:
    """A partition of the rows: rows of two strata never share a group, because a cell would then mix what is kept apart.

    Two values may share a cell if and only if they are in the same stratum of their column. So groups within strata honour
    every limit, and no coarser strata would. Made by `strata_of`.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"end": ["died", "home", "moved"]}), sf.Schema(["end"], never_mix={"end": ["died"]}))
    >>> strata = sf.anonymization.Task(table, ()).strata
    >>> strata.of_row.tolist(), strata.name(0)
    ([1, 0, 0], "'end' = 'home' or 'moved'")
    """

    of_row: NDArray[np.int64]
    count: int
    columns: tuple[tuple[Domain, NDArray[np.int64]], ...]
    """Each limited column, and the stratum of each of its places; the last place is that of missing values."""

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The number of rows of each stratum."""
        return np.bincount(self.of_row, minlength=self.count)

    @property
    def limited(self) -> tuple[str, ...]:
        """The names of the limited columns."""
        return tuple(domain.name for domain, _ in self.columns)

    def rows(self, stratum: int) -> NDArray[np.int64]:
        """Return the rows of a stratum."""
        return np.flatnonzero(self.of_row == stratum)

    def name(self, stratum: int) -> str:
        """Return a stratum as text: the values of its rows in each limited column."""
        rows = self.rows(stratum)
        return " and ".join(f"{domain.name!r} = {_values(domain, rows)}" for domain, _ in self.columns)


def strata_of(domains: Sequence[Domain], classes_of: Callable[[Column], CellClasses | None]) -> Strata | None:
    """Return the strata of a table's rows, numbered along the domains; None if no cell is limited.

    `classes_of` returns which values of a column may share a cell.
    """
    columns = []
    for domain in domains:
        classes = classes_of(domain.column)
        if classes is not None:
            columns.append((domain, place_strata(domain, classes)))
    if not columns:
        return None
    codes = [of_place[domain.place[domain.column.codes]].astype(np.int32) for domain, of_place in columns]
    of_row, parts = combined(codes, [int(of_place.max()) + 1 for _, of_place in columns])
    return Strata(of_row, len(parts), tuple(columns))


def place_strata(domain: Domain, classes: CellClasses) -> NDArray[np.int64]:
    """Return the stratum of each place of a domain; missing values come last.

    A set covers its members only, so the classes are the strata. An interval also covers what lies between, so the strata
    are the runs of one class along the line. An ancestor covers all leaves under it, so they are the largest subtrees with
    values of one class, up to the coarsest level.
    """
    size, place = domain.size, domain.place[: domain.column.size]
    of_code = classes.of_code[: domain.column.size]
    if domain.recoding is RecodingKind.ANCESTOR:
        # a leaf that no row has fits into any class
        lowest, highest = np.full(size, np.iinfo(np.int64).max), np.full(size, -1)
        lowest[place] = highest[place] = of_code
        strata = np.arange(size)
        top = len(domain.above) - 1 if classes.level is None else classes.level
        for nodes in domain.above[1 : top + 1]:
            starts = np.flatnonzero(np.diff(nodes, prepend=-1))
            pure = np.minimum.reduceat(lowest, starts) >= np.maximum.reduceat(highest, starts)
            strata = np.where(pure[nodes], starts[nodes], strata)
    else:
        own = np.zeros(size, np.int64)
        own[place] = of_code
        strata = own if domain.recoding is RecodingKind.SET else np.cumsum(np.diff(own, prepend=own[:1]) != 0)
    numbers = np.unique(strata, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return np.append(numbers, numbers.max(initial=-1) + 1)


def allowed_height(levels: ColumnLevels, classes: CellClasses | None) -> int:
    """Return the highest level of a column on which every cell is within one stratum."""
    if classes is None:
        return levels.height
    strata = place_strata(levels.domain, classes)
    run = np.cumsum(np.diff(strata, prepend=strata[:1]) != 0)  # a cell is a stretch of places: within a run all are equal
    allowed = (run[levels.low] == run[levels.high]).all(axis=1)
    return int(np.argmin(allowed)) - 1 if not allowed.all() else levels.height


def _values(domain: Domain, rows: NDArray[np.int64]) -> str:
    """Return the values of some rows as text, the first and last if there are many."""
    column = domain.column
    codes = np.unique(column.codes[rows])
    codes = codes[np.argsort(domain.place[codes], kind="stable")]
    labels = [repr(column.label(int(code))) for code in codes]
    return " or ".join(labels) if len(labels) <= _SHOWN else f"{labels[0]} to {labels[-1]} ({len(labels)} values)"

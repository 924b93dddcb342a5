"""Which classes of a transformation violate which principles, and what that says of the finer transformations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.anonymization.methods.full_domain.equivalence_classes import Classes, Cube, Entries, Names
from sfumato.data.groups import Groups
from sfumato.data.schema import Kind
from sfumato.data.table import Table
from sfumato.exact import Ratios, nearest_float
from sfumato.exact.ratios import SAFE
from sfumato.kernels.class_rollup import add_moved
from sfumato.principles import PRINCIPLES, Measurement, NTCloseness, Principle, TCloseness, View
from sfumato.principles.base import exactly
from sfumato.principles.earth_mover import value_levels

Verdicts = NDArray[np.bool_]

_MARGIN = 1e-9
"""So far a bound in floats is lowered, that it is surely one."""


@dataclass(frozen=True, eq=False)
class Judged:
    """What a principle says of the classes of a transformation."""

    violating: Verdicts
    kept_down: NDArray[np.float64] | None = None
    """For each class a lower bound on its rows that stay in violating classes, however it is split."""


class Judge:
    """One principle on one sensitive attribute, or several together, that it was asked on."""

    def __init__(self, cube: Cube, principle: Principle, names: Names) -> None:
        self.cube, self.principle, self.names = cube, principle, names

    def judged(self, classes: Classes) -> Judged:
        """Measure the principle in every class, against the whole table."""
        return self._read(self.measured(classes))

    def measured(self, classes: Classes) -> Measurement:
        """The level that every class achieves."""
        return self.principle.measure(self._view(classes))

    def again(self, classes: Classes, kept: Verdicts) -> Verdicts | None:
        """The classes that violate the principle when only some are kept; None if the rows themselves must be looked at."""
        del classes, kept
        return None

    def _read(self, found: Measurement) -> Judged:
        return Judged(~found.group_holds)

    def _view(self, classes: Classes) -> View:
        view = self.cube.task.views[self.names].regrouped(_RolledGroups(self.cube, classes))
        if _looks_at_rows(self.principle):
            view.table = generalized(self.cube, classes.levels)
        elif self.names:
            view.histogram = classes.held(self.names).histogram(len(classes.first))
        return view


class ClosenessJudge(Judge):
    """t-closeness, whose distance from the table is convex in a class's distribution.

    So if a class C has the distance d > t, then of its rows at least |C|·(d − t)/(D − t) stay in violating classes however
    it is split, where D is the largest distance that any distribution has. For let V of the rows be in parts that violate
    it: the distance of C is at most the mean distance of its parts, |C|·d ≤ (|C| − V)·t + V·D.
    """

    @cached_property
    def _t(self) -> Fraction:
        assert isinstance(self.principle, TCloseness)
        return exactly(self.principle.t)

    @cached_property
    def _farthest(self) -> Fraction:
        """The largest distance of any distribution: that of a group with a single value, by convexity."""
        view = self.cube.task.views[self.names]
        of_row = view.attribute.codes
        by_value = Groups(of_row, len(view.attribute), len(of_row))
        worst = self.principle.measure(view.regrouped(by_value)).parts[0].worst
        return Fraction(worst)

    def _read(self, found: Any) -> Judged:
        part = found.parts[0]
        return Judged(~part.holds, self._held_down(part.levels.floats(), ~part.holds))

    def _held_down(self, distance: NDArray[np.float64], violating: Verdicts) -> NDArray[np.float64]:
        room = nearest_float(self._farthest - self._t)
        return np.where(violating, np.maximum(0.0, (distance - nearest_float(self._t)) / max(room, _MARGIN) - _MARGIN), 0.0)


class FastClosenessJudge(ClosenessJudge):
    """t-closeness over equally distant values or a hierarchy, in 64 bits."""

    @cached_property
    def _levels(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """For each level the values in the order of their nodes, and where each node begins."""
        assert isinstance(self.principle, TCloseness)
        attribute = self.cube.task.views[self.names].attribute
        found = []
        for node in value_levels(attribute, self.principle.ground):
            of_value = np.arange(len(attribute)) if node is None else node
            order = np.argsort(of_value, kind="stable")
            ends = np.searchsorted(of_value[order], np.arange(int(of_value.max()) + 2))
            found.append((order, ends))
        return found

    @property
    def fits(self) -> bool:
        """Whether 64 bits are enough."""
        rows, t = self.cube.rows, self._t
        return max(4, t.numerator) * len(self._levels) * 2 * rows * rows < SAFE and t.denominator < SAFE

    def judged(self, classes: Classes) -> Judged:
        """Measure the distance of every class from the table."""
        totals = self.cube.task.views[self.names].attribute.counts
        levels = self._distances(classes.held(self.names), classes.sizes, totals)
        violating = ~levels.at_most(self._t)
        return Judged(violating, self._held_down(levels.numerators / levels.denominators, violating))

    def again(self, classes: Classes, kept: Verdicts) -> Verdicts:
        """Measure the distance of every class from what is kept of the table."""
        held = classes.held(self.names)
        values = np.repeat(np.arange(len(held.starts) - 1), np.diff(held.starts))
        totals = np.bincount(values, held.counts * kept[held.group], len(held.starts) - 1).astype(np.int64)
        return ~self._distances(held, classes.sizes, totals).at_most(self._t)

    def _distances(self, held: Entries, sizes: NDArray[np.int64], totals: NDArray[np.int64]) -> Ratios:
        whole = int(totals.sum())
        moved = np.zeros(len(sizes), np.int64)
        for values, ends in self._levels:
            add_moved(held.starts, held.group, held.counts, sizes, totals, whole, values, ends, moved)
        return Ratios(moved, sizes * (2 * len(self._levels) * whole))


def judge_of(cube: Cube, principle: Principle, names: Names) -> Judge:
    """The judge of a principle: the fastest that is exact."""
    if type(principle) is TCloseness:
        fast = FastClosenessJudge(cube, principle, names)
        return fast if principle.ground != "ordered" and fast.fits else ClosenessJudge(cube, principle, names)
    return Judge(cube, principle, names)


def _looks_at_rows(principle: Principle) -> bool:
    """Whether histograms of the classes are not enough: supersets of classes, or whatever a user's own principle asks."""
    return isinstance(principle, NTCloseness) or type(principle) not in PRINCIPLES.values()


class _RolledGroups(Groups):
    """Classes as principles look at groups; each row's class is found only if somebody asks."""

    def __init__(self, cube: Cube, classes: Classes) -> None:
        known = {"count": len(classes.first), "population": cube.rows, "people": None, "sizes": classes.sizes}
        self.__dict__.update(known, _cube=cube, _levels=classes.levels)

    @cached_property
    def of_row(self) -> NDArray[np.int64]:
        """Each row's class."""
        cube: Cube = self.__dict__["_cube"]
        return cube.of_rows(self.__dict__["_levels"]).astype(np.int64)


def generalized(cube: Cube, levels: tuple[int, ...], rows: NDArray[np.int64] | None = None) -> Table:
    """The table, or some rows of it, with every quasi-identifier as its node: as a reader of the release sees it.

    The kinds of the sensitive columns stay those of the whole table.
    """
    table = cube.task.table
    schema, data = table.schema, table.data
    for ladder, level in zip(cube.columns, levels, strict=True):
        node = pa.array(ladder.nodes[level][ladder.domain.column.codes]).cast(pa.string())
        data = data.set_column(data.column_names.index(ladder.name), ladder.name, node)
    recoded = set(schema.quasi_identifiers)

    def others(declared: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in declared.items() if name not in recoded}

    kinds = {name: table.column(name).kind for name in schema.sensitive_columns()}
    plain = replace(
        schema,
        kinds={**others(schema.kinds), **kinds, **dict.fromkeys(recoded, Kind.CATEGORICAL)},
        orders=others(schema.orders),
        hierarchies=others(schema.hierarchies),
        separators=others(schema.separators),
        recodings={},
    )
    data = data if rows is None else data.take(pa.array(rows))
    result = Table(data, plain, table.source, table.untyped)
    result.share_columns(table, schema.sensitive_columns(), rows)
    return result

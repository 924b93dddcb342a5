"""Which classes of a transformation violate which principles, and what follows for finer transformations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.anonymization.methods.full_domain.equivalence_classes import (
    ClassHistograms,
    EquivalenceClasses,
    Names,
    TransformationCube,
)
from sfumato.anonymization.recoding import recode
from sfumato.data.groups import Groups
from sfumato.data.schema import Kind
from sfumato.data.schema_limits import NO_LIMITS
from sfumato.data.table import Table
from sfumato.exact import Ratios, nearest_float
from sfumato.exact.ratios import SAFE
from sfumato.kernels.class_rollup import add_moved
from sfumato.principles import Measurement, Principle, View
from sfumato.principles.earth_mover import TableDistance, value_levels
from sfumato.principles.principle import measurement_of

Verdicts = NDArray[np.bool_]

_MARGIN = 1e-9
"""Lower bounds in floats are lowered by this, so that rounding cannot make them too high."""


@dataclass(frozen=True, eq=False)
class ClassVerdicts:
    """The verdicts of a principle on the classes of a transformation."""

    violating: Verdicts
    kept_down: NDArray[np.float64] | None = None
    """For each class a lower bound on the share of its rows that stay in violating classes, however it is split."""


class Judge:
    """Measures one principle, on the sensitive attribute or attributes that it applies to, in classes."""

    def __init__(self, cube: TransformationCube, principle: Principle, names: Names) -> None:
        self.cube, self.principle, self.names = cube, principle, names

    def judged(self, classes: EquivalenceClasses) -> ClassVerdicts:
        """Measure the principle in every class, with the whole table as the reference."""
        return self._verdicts(self.measured(classes))

    def measured(self, classes: EquivalenceClasses) -> Measurement:
        """Return the level that every class reaches."""
        return measurement_of(self.principle, self._view(classes))

    def again(self, classes: EquivalenceClasses, kept: Verdicts) -> Verdicts | None:
        """Return the classes that violate the principle if only some are kept; None if the rows themselves are needed."""
        del classes, kept
        return None

    def _verdicts(self, measurement: Measurement) -> ClassVerdicts:
        return ClassVerdicts(~measurement.group_holds)

    def _view(self, classes: EquivalenceClasses) -> View:
        view = self.cube.task.views[self.names].regrouped(_ClassGroups(self.cube, classes))
        if self.principle.reads_cells:
            view.recoding = recode(self.cube.task.table, view.groups, classes.levels)
        elif not self.principle.histogram_only:
            view.table = generalized(self.cube, classes.levels)
        elif self.names:
            view.histogram = classes.histograms(self.names).histogram(len(classes.first))
        return view


class UnitJudge(Judge):
    """Judges units whose values vary: histograms of one value per unit do not decide, so all rows are measured."""

    def measured(self, classes: EquivalenceClasses) -> Measurement:
        """Return the level that every class reaches."""
        return self.cube.task.measured(self.principle, self.names, _ClassGroups(self.cube, classes))


class DistanceJudge(Judge):
    """Judges a distance from the table, which is convex in a class's distribution.

    If a class C has the distance d > t, then at least |C|·(d − t)/(D − t) of its rows stay in violating classes however it
    is split, where D is the largest distance of any distribution. Proof: let V of the rows be in parts that violate the
    limit. The distance of C is at most the mean distance of its parts, so |C|·d ≤ (|C| − V)·t + V·D.
    """

    def __init__(self, cube: TransformationCube, principle: Principle, names: Names, required: TableDistance) -> None:
        super().__init__(cube, principle, names)
        self.required = required

    @cached_property
    def _largest(self) -> Fraction:
        """The largest distance of any distribution: by convexity, that of a group with a single value."""
        view = self.cube.task.views[self.names]
        of_row = view.attribute.codes
        by_value = Groups(of_row, len(view.attribute), len(of_row))
        worst = self.principle.measure(view.regrouped(by_value)).parts[0].worst
        return Fraction(worst)

    def _verdicts(self, measurement: Measurement) -> ClassVerdicts:
        part = measurement.parts[0]
        return ClassVerdicts(~part.holds, self._kept_down(part.floats(), ~part.holds))

    def _kept_down(self, distance: NDArray[np.float64], violating: Verdicts) -> NDArray[np.float64]:
        """Return (d − t)/(D − t) for each violating class, lowered by the margin; 0 for the others."""
        limit, room = nearest_float(self.required.limit), nearest_float(self._largest - self.required.limit)
        return np.where(violating, np.maximum(0.0, (distance - limit) / max(room, _MARGIN) - _MARGIN), 0.0)


class FastDistanceJudge(DistanceJudge):
    """Judges distances from the table over equally distant values or a hierarchy, in 64-bit integers."""

    @cached_property
    def _levels(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """For each level the values in the order of their nodes, and where each node begins."""
        attribute = self.cube.task.views[self.names].attribute
        levels = []
        for node in value_levels(attribute, self.required.ground):
            of_value = np.arange(len(attribute)) if node is None else node
            order = np.argsort(of_value, kind="stable")
            ends = np.searchsorted(of_value[order], np.arange(int(of_value.max()) + 2))
            levels.append((order, ends))
        return levels

    @property
    def fits(self) -> bool:
        """Whether 64 bits are enough."""
        rows, limit = self.cube.rows, self.required.limit
        return max(4, limit.numerator) * len(self._levels) * 2 * rows * rows < SAFE and limit.denominator < SAFE

    def judged(self, classes: EquivalenceClasses) -> ClassVerdicts:
        """Measure the distance of every class from the table."""
        totals = self.cube.task.views[self.names].attribute.counts
        levels = self._distances(classes.histograms(self.names), classes.sizes, totals)
        violating = ~levels.at_most(self.required.limit)
        return ClassVerdicts(violating, self._kept_down(levels.numerators / levels.denominators, violating))

    def again(self, classes: EquivalenceClasses, kept: Verdicts) -> Verdicts:
        """Measure the distance of every class from what is kept of the table."""
        entries = classes.histograms(self.names)
        values = np.repeat(np.arange(len(entries.starts) - 1), np.diff(entries.starts))
        totals = np.bincount(values, entries.counts * kept[entries.group], len(entries.starts) - 1).astype(np.int64)
        return ~self._distances(entries, classes.sizes, totals).at_most(self.required.limit)

    def _distances(self, entries: ClassHistograms, sizes: NDArray[np.int64], totals: NDArray[np.int64]) -> Ratios:
        whole = int(totals.sum())
        moved = np.zeros(len(sizes), np.int64)  # the kernel adds to it level by level
        for values, ends in self._levels:
            add_moved(entries.starts, entries.group, entries.counts, sizes, totals, whole, values, ends, moved)
        return Ratios(moved, sizes * (2 * len(self._levels) * whole))


def judge_of(cube: TransformationCube, principle: Principle, names: Names) -> Judge:
    """Return the fastest exact judge of a principle."""
    if cube.task.values_vary(names):
        return UnitJudge(cube, principle, names)
    required = principle.table_distance()
    if required is None:
        return Judge(cube, principle, names)
    fast = FastDistanceJudge(cube, principle, names, required)
    return fast if required.ground != "ordered" and fast.fits else DistanceJudge(cube, principle, names, required)


class _ClassGroups(Groups):
    """Classes as the groups that principles measure; each row's class is computed only if it is used."""

    def __init__(self, cube: TransformationCube, classes: EquivalenceClasses) -> None:
        fields = {"count": len(classes.first), "population": cube.rows, "units": None, "sizes": classes.sizes}
        self.__dict__.update(fields, _cube=cube, _levels=classes.levels)

    @cached_property
    def of_row(self) -> NDArray[np.int64]:
        """Each row's class."""
        cube: TransformationCube = self.__dict__["_cube"]
        return cube.of_rows(self.__dict__["_levels"]).astype(np.int64)


def generalized(cube: TransformationCube, levels: tuple[int, ...], rows: NDArray[np.int64] | None = None) -> Table:
    """Return the table, or some rows of it, with every quasi-identifier replaced by its node, as a reader sees it.

    The kinds of the sensitive columns stay those of the whole table.
    """
    table = cube.task.table
    schema, data = table.schema, table.data
    for column, level in zip(cube.columns, levels, strict=True):
        node = pa.array(column.nodes[level][column.domain.column.codes]).cast(pa.string())
        data = data.set_column(data.column_names.index(column.name), column.name, node)
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
        formats=others(schema.formats),
        timezones=others(schema.timezones),
        ages=others(schema.ages),
        recodings={},
        **NO_LIMITS,
    )
    data = data if rows is None else data.take(pa.array(rows))
    result = Table(data, plain, table.source, table.untyped)
    result.share_columns(table, schema.sensitive_columns(), rows)
    return result

"""Groups of units, such as people with several rows: methods see one row per unit, principles are measured on all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.anonymization.methods.lifted_limits import lifted
from sfumato.anonymization.methods.method import Task
from sfumato.anonymization.recoding import ColumnLevels, column_levels
from sfumato.anonymization.recoding.strata import allowed_height
from sfumato.data.cell_classes import CellClasses, cell_classes
from sfumato.data.column import Column
from sfumato.data.groups import Groups, combination_ranks
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.data.units import Units, UnitValues
from sfumato.errors import RequirementError
from sfumato.exact import as_fraction
from sfumato.principles import HistogramCondition, NeighbourLimit, Principle, View
from sfumato.principles.principle import Measurement, measurement_of
from sfumato.progress import Progress, silent
from sfumato.releases.declarations import resolved_schema

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class UnitTask(Task):
    """The task of finding groups of units: `table` has one row for each unit of `original`. Made by `UnitTask.of`.

    A quasi-identifier that is constant within units keeps its values. One that varies becomes two columns, the lowest and
    the highest value of the unit in the order of its domain, so that units of a similar extent are similar rows. Of a
    sensitive attribute that varies the table has the value of the unit that most units have; `satisfied`, and the
    conditions of a search for nearness, consider all of them.

    >>> import sfumato as sf
    >>> visits = sf.Table(pa.table({"who": [1, 1, 2], "age": [30, 31, 50]}), sf.Schema(["age"], person_id="who"))
    >>> task = UnitTask.of(visits, (sf.KAnonymity(2),))
    >>> task.table.data.to_pydict(), task.satisfied(np.array([0, 1])).tolist()
    ({'age': [30, 50], 'age (highest)': [31, 50]}, [False, False])
    """

    original: Table = field(kw_only=True)
    units: Units = field(kw_only=True)
    doubled: tuple[str, ...] = ()
    """The quasi-identifiers that vary within units: those with two columns."""

    @classmethod
    def of(
        cls,
        original: Table,
        principles: tuple[Principle, ...],
        progress: Progress = silent,
        suppress: Fraction = Fraction(0),
    ) -> UnitTask:
        """Make the table of units."""
        units = original.units
        assert units is not None
        table, doubled = _unit_table(original, units)
        return cls(table, principles, progress, suppress, original=original, units=units, doubled=doubled)

    @cached_property
    def original_views(self) -> dict[tuple[str, ...], View]:
        """The sensitive attributes of the requirements, with all rows of the original in one group."""
        everyone = Groups.partition(self.original, np.zeros(self.original.rows, np.int64), 1)
        return {names: View(self.original, names, everyone) for _, names in self.requirements}

    def cell_classes(self, column: Column) -> CellClasses | None:
        """Return which values of a quasi-identifier may share a cell: as in the original, where more values may occur."""
        base = next((name for name in self.doubled if highest(name) == column.name), column.name)
        whole = self.original.column(base)
        classes = cell_classes(whole, self.original.schema)
        if classes is None:
            return None
        by_label = {whole.label(code): int(classes.of_code[code]) for code in range(whole.domain)}
        of_code = np.array([by_label[column.label(code)] for code in range(column.domain)], np.int64)
        return CellClasses(of_code, classes.level)

    def values_vary(self, names: tuple[str, ...]) -> bool:
        """Return whether a sensitive attribute varies within units."""
        return bool(names) and self.original_views[names].values_vary

    def measured(
        self, principle: Principle, names: tuple[str, ...], groups: Groups, view: View | None = None
    ) -> Measurement:
        """Measure a principle on groups of units: on one row each where that is exact, otherwise on all rows."""
        if not self.values_vary(names):
            return super().measured(principle, names, groups, view)
        of_row = groups.of_row[self.units.of_row]
        rows = Groups(of_row, groups.count, self.units.count, self.units)
        return measurement_of(principle, self.original_views[names].regrouped(rows))

    def search_conditions(
        self, principle: Principle, names: tuple[str, ...]
    ) -> Sequence[NeighbourLimit | HistogramCondition]:
        """Return the conditions of a principle on units.

        If values vary, a limit on near values counts every unit that has any value near any value of the other: a group that
        meets it satisfies the principle. Other conditions see one value of each unit; merging groups repairs what that
        misses, because those principles are monotone.
        """
        if not self.values_vary(names) or principle.monotone:
            return super().search_conditions(principle, names)
        conditions = principle.search_conditions(self.original_views[names])
        limits = [lifted(one, self.units) if isinstance(one, NeighbourLimit) else None for one in conditions]
        # too many sets of values, or another condition: one value of each unit is seen, and the exact check follows
        return super().search_conditions(principle, names) if None in limits else [one for one in limits if one is not None]

    def rows_of(self, of_unit: Integers) -> Integers:
        """Return the group of each row of the original, given that of each unit."""
        return np.asarray(of_unit, np.int64)[self.units.of_row]

    def original_levels(self, levels: Sequence[int], of_row: Integers) -> tuple[tuple[int, ...], Integers]:
        """Return a level for each quasi-identifier of the original at which every group has one node, and those groups.

        `levels`: those of the table of units, which are raised where a group has several nodes. Groups that then have the
        same nodes are one.
        """
        by_name = dict(zip(self.table.schema.quasi_identifiers, levels, strict=True))
        first = Groups(of_row, int(of_row.max()) + 1, len(of_row)).first_rows
        result, nodes = [], []
        for column in column_levels(self.original):
            level = max(by_name[part] for part in (column.name, highest(column.name)) if part in by_name)
            codes = column.domain.column.codes
            while (column.nodes[level][codes] != column.nodes[level][codes[first]][of_row]).any():
                level += 1  # ends at the root, where all rows have one node
            self._refuse_too_coarse(column, level)
            result.append(level)
            nodes.append(column.nodes[level][codes].astype(np.int32))
        return tuple(result), combination_ranks(nodes, [int(each.max()) + 1 for each in nodes])

    def _refuse_too_coarse(self, column: ColumnLevels, level: int) -> None:
        """Raise an error if the rows of units need a level that limits on cells do not allow."""
        most = allowed_height(column, cell_classes(column.domain.column, self.original.schema))
        if level > most:
            raise RequirementError(
                f"the rows of one {self.units.noun} need level {level} of {column.name!r} to have one cell, and the limits "
                f"on the column allow at most level {most}",
                remedy="Relax the limit, or use a method without fixed levels.",
                file=self.original.source,
                column=column.name,
                value=level,
            )


def highest(name: str) -> str:
    """Return the name of the column with the highest value of each unit."""
    return f"{name} (highest)"


_BY_COLUMN = (
    "kinds", "orders", "hierarchies", "recodings", "separators", "decimals", "formats", "timezones", "never_mix", "coarsest",
)  # fmt: skip
"""The fields of a schema that declare how a column is read and published."""


def _unit_table(original: Table, units: Units) -> tuple[Table, tuple[str, ...]]:
    """Return a table with one row per unit, and the quasi-identifiers that have two columns in it."""
    schema = resolved_schema(original)
    columns: dict[str, Any] = {}
    doubled = []
    for name in schema.quasi_identifiers:
        codes = original.column(name).codes
        low, high = _extreme_rows(codes, units)
        columns[name] = original.data.column(name).take(pa.array(low))
        if (codes[low] != codes[high]).any():
            doubled.append(name)
            columns[highest(name)] = original.data.column(name).take(pa.array(high))
    for attribute in schema.sensitive:
        parts = schema.components(attribute)
        rows = _common_rows(original, parts, units)
        columns |= {part: original.data.column(part).take(pa.array(rows)) for part in parts}
    return Table(pa.table(columns), _unit_schema(schema, doubled), original.source, original.untyped), tuple(doubled)


def _unit_schema(schema: Schema, doubled: Sequence[str]) -> Schema:
    """Return the schema of the table of units: without identifiers, and with two columns for what varies."""
    names = [part for name in schema.quasi_identifiers for part in ((name, highest(name)) if name in doubled else (name,))]
    published = {*names, *schema.sensitive, *schema.sensitive_columns()}
    copies: dict[str, Any] = {}
    for key in _BY_COLUMN:
        declared = getattr(schema, key)
        kept = {name: value for name, value in declared.items() if name in published}
        copies[key] = kept | {highest(name): declared[name] for name in doubled if name in declared}
    # both columns of a quasi-identifier together weigh as much as it does
    weights = {name: as_fraction(schema.weights.get(name, 1)) for name in schema.quasi_identifiers}
    weights |= {part: weights[name] / 2 for name in doubled for part in (name, highest(name))}
    return replace(
        schema,
        weights=weights,
        preserve=[pair for pair in schema.preserve if published.issuperset(pair)],
        quasi_identifiers=names,
        identifiers=(),
        other=(),
        person_id=None,
        household_id=None,
        group=None,
        **copies,
    )


def _extreme_rows(codes: NDArray[np.int32], units: Units) -> tuple[Integers, Integers]:
    """Return for each unit a row with its lowest code, and one with its highest."""
    order = np.lexsort((codes, units.of_row))
    starts = np.searchsorted(units.of_row[order], np.arange(units.count + 1))
    return order[starts[:-1]], order[starts[1:] - 1]


def _common_rows(original: Table, columns: Sequence[str], units: Units) -> Integers:
    """Return for each unit a row with the value that most units have, of those that it has itself."""
    attribute = original.attribute(columns)
    values = UnitValues.of(units, np.zeros(original.rows, np.int64), attribute)
    if not values.vary:
        return units.first_rows
    having = np.bincount(values.value, minlength=len(attribute))
    order = np.lexsort((values.value, -having[values.value], values.unit))
    first = np.searchsorted(values.unit[order], np.arange(units.count))
    return values.rows[order[first]]

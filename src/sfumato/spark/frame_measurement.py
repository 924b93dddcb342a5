"""Measure principles on a frame of Spark by the executors of a cluster: the driver holds dictionaries, and never rows.

1. Executors count the distinct cells of each column, and the driver encodes them.
2. Executors turn rows into codes, and Spark brings the rows of each group together.
3. Executors measure the groups, and the driver adds up the results.
4. Groups that are listed get their numbers among all groups.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.attribute import Attribute
from sfumato.data.column import Column
from sfumato.data.column_encoder import encode_cells
from sfumato.data.groups import GroupsElsewhere
from sfumato.data.schema import Schema
from sfumato.data.table import Table, unknown_column
from sfumato.distances.custom import Custom
from sfumato.errors import ColumnError
from sfumato.io.cell_counts import LARGEST
from sfumato.principles import Measurement, Principle, View, attributes_of
from sfumato.spark.cluster_frames import ClusterFrames
from sfumato.spark.cluster_parts import ClusterParts, opened
from sfumato.spark.coded_rows import count_columns, partitions_for
from sfumato.spark.group_entries import (
    CellCodes,
    Combinations,
    EntryPlan,
    add_up,
    changed_table,
    count_combinations,
    count_entries,
)
from sfumato.spark.group_measurement import (
    MeasurePlan,
    PartMeasurement,
    RankPlan,
    count_smaller_groups,
    measure_groups,
)
from sfumato.spark.row_sources import FrameRows, RowSource

MOST_SHOWN = 3
"""The values of a quasi-identifier that are shown for a group, where a group column allows several."""

MOST_LISTED = 100
"""The worst groups of each principle that are listed."""

_TYPES = re.compile(
    r"string.*|boolean|tinyint|smallint|int|bigint|float|double|decimal\(.*\)|date|timestamp(_ntz)?|binary|(var)?char\(.*\)"
)
"""The types of Spark whose cells executors count."""


@dataclass(frozen=True, eq=False)
class FrameFinding:
    """The result of one principle on all groups of a frame."""

    principle: Principle
    attribute: str | None
    distance: str | None
    violating_groups: int
    violating_rows: int
    numbers: NDArray[np.int64]
    """The numbers of the groups that are listed, among all groups."""
    measurement: Measurement
    """That of the groups that are listed: they have the worst level of each part."""


@dataclass(frozen=True, eq=False)
class ListedGroup:
    """A group that is listed."""

    rows: int
    key: tuple[str, ...]
    """The label of each column that makes the groups."""
    shown: tuple[tuple[tuple[str, ...], int], ...]
    """Of quasi-identifiers that vary within a group: the first labels, and the number of all."""


@dataclass(frozen=True, eq=False)
class FrameMeasurement:
    """What was measured on a frame."""

    table: Table
    """The table, whose rows are elsewhere."""
    groups: GroupsElsewhere
    findings: tuple[FrameFinding, ...]
    listed: Mapping[int, ListedGroup]
    """The groups that are listed, by their numbers."""


def driver_reason(frame: Any, schema: Schema, principles: Sequence[Principle]) -> str | None:
    """Return why executors cannot measure principles on a frame, so that the driver must; None if they can."""
    return unmeasured_reason(schema, principles) or uncounted_type(frame, _needed(schema))


def unmeasured_reason(schema: Schema, principles: Sequence[Principle]) -> str | None:
    """Return why executors cannot measure principles on any table of a schema; None if they can."""
    return next(_unmeasured(schema, principles), None)


def uncounted_type(frame: Any, names: Container[str]) -> str | None:
    """Return which of some columns of a frame has a type whose cells executors do not count, in words; None if none has."""
    for name, kind in frame.dtypes:
        if name in names and not _TYPES.fullmatch(kind):
            return f"executors do not count cells of the type {kind} (column {name!r})"
    return None


def _unmeasured(schema: Schema, principles: Sequence[Principle]) -> Iterator[str]:
    for principle in principles:
        if not type(principle).__module__.startswith("sfumato."):
            yield f"{principle.title} is not a principle of sfumato, so executors do not have its code"
        if principle.uses_population:
            yield f"{principle.title} compares groups with a population, which executors do not have"
        elif principle.uses_original:
            yield f"{principle.title} compares groups with the people of the original, whom each executor has in part"
        elif not principle.histogram_only:
            yield f"{principle.title} compares the rows of a group with those of other groups"
    if schema.person_id is not None or schema.household_id is not None:
        yield "the rows of a person may be in several groups"
    if schema.ages:
        yield "dates are replaced by ages"
    for distance in filter(None, (schema.distance, *schema.distances.values())):
        if isinstance(distance, Custom) or not type(distance).__module__.startswith("sfumato."):
            yield f"executors do not have the code of the distance {distance.name!r}"
    if not _needed(schema):
        yield "no column is used"


def measure_frame(
    frame: Any, schema: Schema, principles: Sequence[Principle], cluster: ClusterParts, source: str | None
) -> FrameMeasurement:
    """Measure principles on a frame; `source`: its name, for errors."""
    with ClusterFrames(cluster) as frames:
        return measure_rows(frames, FrameRows(frame, source), schema, principles)


def measure_rows(
    frames: ClusterFrames, rows: RowSource, schema: Schema, principles: Sequence[Principle], *, untyped: bool = False
) -> FrameMeasurement:
    """Measure principles on rows that executors read; `untyped`: as in `Table`."""
    measured = tuple((principle, names) for principle in principles for names in attributes_of(principle, schema))
    return _Frame(frames, rows, schema, untyped).measured(measured)


def _needed(schema: Schema) -> tuple[str, ...]:
    """Return the columns that an audit uses, in the order in which they are checked."""
    group = () if schema.group is None else (schema.group,)
    return tuple(dict.fromkeys((*schema.quasi_identifiers, *schema.sensitive_columns(), *group)))


class _Frame:
    """A frame that is measured: its columns, and the jobs that do so."""

    def __init__(self, frames: ClusterFrames, rows: RowSource, schema: Schema, untyped: bool) -> None:
        self.frames, self.rows, self.schema, self.source, self.untyped = frames, rows, schema, rows.source, untyped
        self.names, self.all_names = _needed(schema), rows.names
        for name in (*schema.named_columns(), *self.names):
            if name not in self.all_names:
                raise unknown_column(name, self.all_names, rows.source)
        self.columns: dict[str, Column] = {}
        self.codes: list[CellCodes] = []
        self.table = self._counted()
        self.key_names = schema.quasi_identifiers if schema.group is None else (schema.group,)
        self.plan = EntryPlan(tuple(self.codes), self._places(self.key_names), self._partitions())
        spread = frames.spread(rows.mapped(frames, self.names, count_entries, self.plan), self.plan.partitions)
        self.entries = frames.kept(spread)

    def _places(self, names: Sequence[str]) -> tuple[int, ...]:
        return tuple(self.names.index(name) for name in names)

    def _counted(self) -> Table:
        """Count and encode the cells of all columns; return the table, whose rows are elsewhere."""
        found = count_columns(self.frames, self.rows, self.names)
        for name, (cells, counts) in zip(self.names, found, strict=True):
            column = encode_cells(cells, counts, name, self.schema, untyped=self.untyped, source=self.source)
            # a null is always missing, and has a cell if it occurs
            self.codes.append(
                CellCodes(cells.drop_null(), column.codes[: len(cells) - cells.null_count], column.size, column.domain)
            )
            self.columns[name] = replace(column, codes=np.zeros(0, np.int32))
        return Table.elsewhere(self.all_names, int(found[0][1].sum()), self.columns, self.schema, self.source)

    def _partitions(self) -> int:
        cores = int(self.frames.cluster.context.defaultParallelism)
        return partitions_for(self.table.rows, cores) if self.key_names else 1

    def measured(self, measured: tuple[tuple[Principle, tuple[str, ...]], ...]) -> FrameMeasurement:
        """Measure principles, each on some sensitive attributes taken together."""
        attributes = self._attributes({names for _, names in measured if names})
        shown = self.schema.quasi_identifiers if self.schema.group is not None else ()
        lean = Table.elsewhere(self.names, self.table.rows, {}, _lean(self.schema), self.source)
        plan = MeasurePlan(self.plan, lean, measured, attributes, self._places(shown), MOST_SHOWN, MOST_LISTED)
        contents = self.frames.mapped(self.entries, measure_groups, plan)
        found = [opened(content) for _, content in self.frames.collected(contents, "measure the groups")]
        if sum(part.rows for part in found) != self.table.rows:
            raise changed_table(self.source)
        return self._joined(found, measured, attributes)

    def _attributes(self, wanted: set[tuple[str, ...]]) -> dict[tuple[str, ...], tuple[Attribute, tuple[int, ...]]]:
        """Return the attributes of the whole table, and the columns that they consist of."""
        columns = {names: [c for name in names for c in self.schema.components(name)] for names in sorted(wanted)}
        several = {names: self._places(own) for names, own in columns.items() if len(own) > 1}
        counted = self._combinations(several) if several else {}
        found = {}
        for names, own in columns.items():
            encoded = [self.columns[name] for name in own]
            if names in counted:
                parts, counts = counted[names]
            else:  # values that no row has, as a declared order may contain, are not values of the attribute
                occurring = np.flatnonzero(encoded[0].counts)
                parts, counts = occurring[:, None], encoded[0].counts[occurring]
            found[names] = Attribute.counted(encoded, " + ".join(names), parts, counts), self._places(own)
        return found

    def _combinations(
        self, several: dict[tuple[str, ...], tuple[int, ...]]
    ) -> dict[tuple[str, ...], tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return the combinations of columns that occur, and the number of rows of each."""
        shared = Combinations(self.plan, tuple(several.values()))
        contents = self.frames.mapped(self.entries, count_combinations, shared)
        pieces: dict[int, list[Any]] = {}
        for number, content in self.frames.collected(contents, "count the combinations of values"):
            pieces.setdefault(number, []).append(opened(content))
        found = {}
        for number, (names, places) in enumerate(several.items()):
            codes = [np.concatenate([parts[:, i] for parts, _ in pieces[number]]) for i, _ in enumerate(places)]
            rows = np.concatenate([rows for _, rows in pieces[number]])
            if len(rows) * len(places) * 8 > LARGEST:
                raise ColumnError(
                    "the columns have more combinations of values than fit into memory",
                    remedy="Measure each column alone (on), or round the values.",
                    file=self.source,
                    column=" + ".join(names),
                )
            found[names] = add_up(codes, [self.plan.columns[i].domain for i in places], rows)
        return found

    def _joined(
        self,
        found: list[PartMeasurement],
        measured: tuple[tuple[Principle, tuple[str, ...]], ...],
        attributes: dict[tuple[str, ...], tuple[Attribute, tuple[int, ...]]],
    ) -> FrameMeasurement:
        """Return what was measured on all partitions."""
        keys = np.concatenate([part.keys for part in found])
        starts = np.cumsum([0, *(len(part.keys) for part in found[:-1])])
        # in the order of the keys, which is that of the numbers: of groups that are equally bad the first is listed first
        order = np.lexsort(keys.T[::-1]) if keys.shape[1] else np.arange(len(keys))
        place = np.argsort(order)
        kept: list[tuple[NDArray[np.int64], Measurement]] = []
        for number in range(len(measured)):
            parts = [part.findings[number] for part in found]
            own = place[np.concatenate([start + part.listed for start, part in zip(starts, parts, strict=True)])]
            sorting = np.argsort(own)
            whole = Measurement.joined([part.measurement for part in parts]).of_groups(sorting)
            worst = whole.worst_groups(MOST_LISTED)
            kept.append((own[sorting][worst], whole.of_groups(worst)))
        listed = np.unique(np.concatenate([own for own, _ in kept]))
        numbers = self._numbers(keys[order[listed]])
        findings = []
        for i, ((principle, names), (own, measurement)) in enumerate(zip(measured, kept, strict=True)):
            attribute = None if principle.scope == "groups" else attributes[names][0]
            distance = None
            if principle.uses_distance and attribute is not None:
                view = View(self.table, names, GroupsElsewhere(0, 0))
                view.attribute = attribute
                distance = view.distance.name
            findings.append(
                FrameFinding(
                    principle,
                    None if attribute is None else attribute.name,
                    distance,
                    sum(part.findings[i].violating_groups for part in found),
                    sum(part.findings[i].violating_rows for part in found),
                    numbers[np.searchsorted(listed, own)],
                    measurement,
                )
            )
        at = [(part, i) for part in found for i in range(len(part.keys))]
        groups = {int(number): self._listed(*at[order[i]]) for number, i in zip(numbers, listed, strict=True)}
        count = GroupsElsewhere(sum(part.groups for part in found), self.table.rows)
        return FrameMeasurement(self.table, count, tuple(findings), groups)

    def _numbers(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of some groups among all, given their keys in order."""
        if not self.plan.key:
            return np.zeros(len(keys), np.int64)
        contents = self.frames.mapped(self.entries, count_smaller_groups, RankPlan(self.plan, keys))
        found = [opened(content) for _, content in self.frames.collected(contents, "number the groups")]
        return np.asarray(np.sum(found, axis=0, dtype=np.int64))

    def _listed(self, part: PartMeasurement, position: int) -> ListedGroup:
        """Return a group of a partition with its labels."""
        key = [self.columns[name].label(int(code)) for name, code in zip(self.key_names, part.keys[position], strict=True)]
        shown = [
            (tuple(self.columns[name].label(code) for code in codes), count)
            for name, (codes, count) in zip(self.schema.quasi_identifiers, part.shown[position], strict=False)
        ]
        return ListedGroup(int(part.sizes[position]), tuple(key), tuple(shown))


def _lean(schema: Schema) -> Schema:
    """Return what executors need of a schema: what decides the distance of an attribute."""
    own = schema.sensitive_columns()
    return Schema(
        sensitive=schema.sensitive,
        kinds={name: kind for name, kind in schema.kinds.items() if name in own},
        orders={name: order for name, order in schema.orders.items() if name in own},
        vectors=schema.vectors,
        distance=schema.distance,
        distances=schema.distances,
    )

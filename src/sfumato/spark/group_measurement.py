"""On executors: principles measured on the groups of a partition, with the dictionaries of the whole table.

The principles are measured by the code that measures a whole table. They read the sizes of the groups and the histogram of
the attribute only, which `Principle.histogram_only` declares, so entries are enough.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.attribute import Attribute
from sfumato.data.groups import GroupsElsewhere, Histogram, combination_ranks, distinct_pairs
from sfumato.data.table import Table
from sfumato.errors import SfumatoError
from sfumato.principles import Measurement, Principle, View
from sfumato.principles.principle import measurement_of
from sfumato.spark.compact_arrays import compact_pickle
from sfumato.spark.executor import warm
from sfumato.spark.group_entries import Entries, EntryPlan, entries_of


@dataclass(frozen=True, eq=False)
class MeasurePlan:
    """What is measured on the groups of all partitions."""

    entries: EntryPlan
    table: Table
    """The table, whose rows are elsewhere."""
    measured: tuple[tuple[Principle, tuple[str, ...]], ...]
    """Each principle with the sensitive attributes that it is measured on, taken together."""
    attributes: dict[tuple[str, ...], tuple[Attribute, tuple[int, ...]]]
    """The attributes of the whole table, and the columns of the entries that they consist of."""
    shown: tuple[int, ...]
    """The columns of which several values may occur in a group, and are shown."""
    most_shown: int
    most_listed: int
    """The worst groups of each principle that are listed."""


@dataclass(frozen=True, eq=False)
class PartFinding:
    """The result of one principle on the groups of a partition."""

    violating_groups: int
    violating_rows: int
    listed: NDArray[np.int64]
    """The positions of the groups that were measured worst among the listed groups of the partition."""
    measurement: Measurement
    """That of these groups."""


@dataclass(frozen=True, eq=False)
class PartMeasurement:
    """What was measured on the groups of a partition."""

    groups: int
    rows: int
    keys: NDArray[np.int64]
    """The key of each group that is listed."""
    sizes: NDArray[np.int64]
    shown: list[list[tuple[list[int], int]]]
    """For each group that is listed and each column that is shown: its first codes, and the number of all."""
    findings: list[PartFinding]


def measure_groups(shared: MeasurePlan, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    """Yield what was measured on the groups of a partition."""
    entries = entries_of(batches)
    if entries is None:
        return
    # one process of a host compiles the kernels that these principles need
    variant = " ".join(sorted({principle.name for principle, _ in shared.measured}))
    warm(f"audit {variant}", _measured, shared, entries)
    yield 0, compact_pickle(("result", _measured(shared, entries)))


def _measured(plan: MeasurePlan, entries: Entries) -> PartMeasurement:
    of_entry, keys = entries.groups(plan.entries)
    sizes = np.zeros(len(keys), np.int64)
    np.add.at(sizes, of_entry, entries.rows)
    groups = GroupsElsewhere(len(keys), plan.table.rows, sizes)
    views = {names: _view(plan, names, groups, entries, of_entry) for names in {names for _, names in plan.measured}}
    measurements = []
    for principle, names in plan.measured:
        try:
            measurements.append(measurement_of(principle, views[names]))
        except SfumatoError as error:
            raise error.inside(plan.table.source, principle.title) from error
    worst = [one.worst_groups(plan.most_listed) for one in measurements]
    listed = np.unique(np.concatenate(worst))
    findings = []
    for one, some in zip(measurements, worst, strict=True):
        violating = ~one.group_holds
        found = int(violating.sum()), int(sizes[violating].sum())
        findings.append(PartFinding(*found, np.searchsorted(listed, some), one.of_groups(some)))
    shown = _shown(plan, entries, of_entry, listed)
    return PartMeasurement(len(keys), int(sizes.sum()), keys[listed], sizes[listed], shown, findings)


def _view(
    plan: MeasurePlan, names: tuple[str, ...], groups: GroupsElsewhere, entries: Entries, of_entry: NDArray[np.int64]
) -> View:
    """Return the view of an attribute of the whole table in the groups of a partition."""
    view = View(plan.table, names, groups)
    if names:
        attribute, columns = plan.attributes[names]
        value = attribute.numbers_of([entries.codes[i] for i in columns])
        view.attribute = attribute
        view.histogram = Histogram.of_entries(of_entry, groups.count, value, len(attribute), entries.rows)
    return view


def _shown(
    plan: MeasurePlan, entries: Entries, of_entry: NDArray[np.int64], listed: NDArray[np.int64]
) -> list[list[tuple[list[int], int]]]:
    """Return the first codes and the number of codes of each listed group, for each column that is shown."""
    place = np.full(int(of_entry.max()) + 1, -1)
    place[listed] = np.arange(len(listed))
    some = np.flatnonzero(place[of_entry] >= 0)
    shown: list[list[tuple[list[int], int]]] = [[] for _ in listed]
    for column in plan.shown:
        domain = plan.entries.columns[column].domain
        group, code = distinct_pairs(place[of_entry[some]], len(listed), entries.codes[column][some], domain)
        for own, codes in zip(shown, np.split(code, np.searchsorted(group, np.arange(1, len(listed)))), strict=True):
            own.append((codes[: plan.most_shown].tolist(), len(codes)))
    return shown


@dataclass(frozen=True, eq=False)
class RankPlan:
    """Keys of groups, in order, whose numbers among all groups of the table are wanted."""

    entries: EntryPlan
    keys: NDArray[np.int64]


def count_smaller_groups(shared: RankPlan, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    """Yield for each of some keys how many groups of a partition have a smaller one."""
    entries = entries_of(batches)
    if entries is None:
        return
    _, own = entries.groups(shared.entries)
    domains = [shared.entries.columns[i].domain for i in shared.entries.key]
    ranks = combination_ranks([np.concatenate(pair) for pair in zip(own.T, shared.keys.T, strict=True)], domains)
    smaller = np.searchsorted(ranks[: len(own)], ranks[len(own) :])
    yield 0, pickle.dumps(("result", smaller))

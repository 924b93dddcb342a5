"""Find groups in which no unit, such as a person with several rows, is split; repair what one value per unit missed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods import Grouping, Method, Mondrian, Task
from sfumato.anonymization.methods.method import grouping_of
from sfumato.anonymization.recoding.strata import Strata
from sfumato.anonymization.shuffled_task import rows_of, shuffled_task
from sfumato.anonymization.unit_task import UnitTask, highest
from sfumato.data.groups import renumber
from sfumato.data.table import Table
from sfumato.data.units import Units
from sfumato.errors import ParameterError, RequirementError
from sfumato.principles.principle import measurement_of
from sfumato.seeds import secret_order
from sfumato.storage import stored

Integers = NDArray[np.int64]

_IDLE_ROUNDS = 3
"""Merging ends after this many rounds without fewer failing units: principles that are not monotone may never hold."""


def find_groups(task: Task, method: Method, seed: int) -> Grouping:
    """Run a method on a task; if the schema declares people or households, on those, so that no unit is split.

    The method sees the rows in an order that only the seed reveals: who knows the order of the file cannot repeat it.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> visits = pa.table({"who": [1, 1, 2, 3, 4], "age": [30, 33, 31, 50, 51]})
    >>> table = sf.Table(visits, sf.Schema(["age"], person_id="who"))
    >>> renumber(find_groups(Task(table, (sf.KAnonymity(2),)), Mondrian(), 0).of_row).tolist()
    [0, 0, 0, 1, 1]
    """
    method.refuse_unsupported(task.table, task.principles)
    units = task.table.units
    if units is not None and task.strata is not None:
        _refuse_split(task.table, units, task.strata)  # before rows are shuffled, because the error names rows
    order = stored(secret_order(seed, task.table.rows))
    task = shuffled_task(task, order)
    if units is None:
        grouping = grouping_of(method, task, seed)
    else:
        task = UnitTask.of(task.table, task.principles, task.progress, task.suppress)
        grouping = _find_groups(task, method, seed)
    return replace(grouping, of_row=rows_of(np.asarray(grouping.of_row, np.int64), order))


def _find_groups(task: UnitTask, method: Method, seed: int) -> Grouping:
    for principle, names in task.requirements:
        # a principle that cannot be measured is an error about the units, not about the rows that a method sees
        measurement_of(principle, task.original_views[names])
    grouping = grouping_of(method, task, seed)
    if grouping.levels is not None:
        levels, of_row = task.original_levels(grouping.levels, task.rows_of(grouping.of_row))
        return replace(grouping, of_row=of_row, levels=levels, notes=_level_notes(task, grouping.notes, levels))
    of_unit, note = _repaired(task, np.asarray(grouping.of_row, np.int64))
    return replace(grouping, of_row=task.rows_of(of_unit), notes=(*grouping.notes, *note))


def _level_notes(task: UnitTask, notes: Sequence[str], levels: Sequence[int]) -> tuple[str, ...]:
    """Return the notes of a method on levels, about the columns of the original where it saw two for one."""
    if not task.doubled:
        return tuple(notes)
    columns = zip(task.original.schema.quasi_identifiers, levels, strict=True)
    shown = ", ".join(f"{name} {level}" for name, level in columns)
    others = list(notes[1:])
    for name in task.doubled:
        others = [note.replace(f", {highest(name)!r}", "") for note in others]
    return (f"every column is published at one level of its hierarchy: {shown}", *others)


def refuse_units(table: Table, what: str) -> None:
    """Raise an error if the schema declares people or households, for a function that counts rows."""
    if table.units is not None:
        key = "household_id" if table.units.noun == "household" else "person_id"
        raise ParameterError(
            f"{what} counts rows, and the schema declares {key}, so that {table.units.plural} must be counted",
            remedy=f"Reduce the table to one row per {table.units.noun}, and remove {key}.",
            key=key,
            file=table.source,
            value=getattr(table.schema, key),
        )


def _refuse_split(table: Table, units: Units, strata: Strata) -> None:
    """Raise an error if limits on cells keep rows of one unit apart."""
    split = np.flatnonzero(~units.are_in_one_group(strata.of_row))
    if len(split):
        rows = np.flatnonzero(units.of_row == split[0])
        first, other = rows[0], rows[strata.of_row[rows] != strata.of_row[rows[0]]][0]
        raise RequirementError(
            f"the limits on {', '.join(map(repr, strata.limited))} keep rows of one {units.noun} apart, and all of them "
            f"must be in one group: {units.text(len(split))} have such rows, such as row {first + 1} and row {other + 1}",
            remedy="List such values together in never_mix, or allow a coarser level.",
            file=table.source,
            column=strata.limited[0] if len(strata.limited) == 1 else None,
            value=strata.limited,
        )


def _repaired(task: UnitTask, of_unit: Integers) -> tuple[Integers, Sequence[str]]:
    """Return groups of units that satisfy the principles, if there are some: merge, otherwise cut the table anew.

    The search of a method sees one value of each unit where values vary, so a few of its groups may fail. Groups that may
    be suppressed are left as they are.
    """
    if task.satisfied(of_unit).all() or _failing_rows(task, of_unit) <= int(task.suppress * task.original.rows):
        return of_unit, ()
    task.progress("repairing groups")
    merged = merged_groups(task, of_unit)
    if task.satisfied(merged).all():
        return merged, ()
    cut = np.asarray(grouping_of(Mondrian(), task, 0).of_row, np.int64)
    if task.satisfied(cut).all():
        return cut, (f"the method left groups of {task.units.plural} that fail, so the groups are those of mondrian",)
    return min((of_unit, merged, cut), key=lambda groups: _failing_rows(task, groups)), ()


def _failing_rows(task: UnitTask, of_unit: Integers) -> int:
    """Return the number of rows of the original in groups that fail."""
    return int((~task.satisfied(of_unit))[task.rows_of(of_unit)].sum())


def merged_groups(task: Task, of_unit: Integers) -> Integers:
    """Merge each failing group with the group that it extends least, round by round, while that helps."""
    spans = np.maximum(1, np.array([domain.size for domain in task.domains], float))
    places = task.places / spans
    fewest, idle = len(of_unit) + 1, 0
    while True:
        failing = ~task.satisfied(of_unit)
        bad = int(failing[of_unit].sum())
        idle = 0 if bad < fewest else idle + 1
        fewest = min(fewest, bad)
        if not bad or len(failing) == 1 or idle == _IDLE_ROUNDS:
            return of_unit
        order = np.argsort(of_unit, kind="stable")
        starts = np.searchsorted(of_unit[order], np.arange(len(failing)))
        low, high = np.minimum.reduceat(places[order], starts), np.maximum.reduceat(places[order], starts)
        sizes = np.bincount(of_unit)
        into = np.arange(len(failing))
        used = np.zeros(len(failing), bool)  # the groups that were merged in this round
        stratum = np.zeros(len(failing), np.int64) if task.strata is None else task.strata.of_row[order[starts]]
        for group in np.flatnonzero(failing):
            if used[group]:
                continue
            union = np.maximum(high, high[group]) - np.minimum(low, low[group])
            cost = union.sum(axis=1) * (sizes + sizes[group]) - (high - low).sum(axis=1) * sizes
            cost[used] += 2 * cost.max(initial=1.0)  # one merge a round, if possible
            cost[(stratum != stratum[group]) | (np.arange(len(cost)) == group)] = np.inf
            other = int(np.argmin(cost))
            if np.isinf(cost[other]):
                continue
            into[group] = into[other]
            used[group] = used[other] = True
        of_unit = renumber(into[of_unit])

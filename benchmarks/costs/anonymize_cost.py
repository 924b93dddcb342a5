"""Loss, violations and CPU time of each method on each setting, in one process.

The baseline is the CPU time of a numpy lexsort of the same quasi-identifier codes. Every result is published and audited
exactly before its figures are reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.datasets import survey
from benchmarks.datasets.rare_values import rare_values
from benchmarks.datasets.survey import SURVEY_ROWS, Setting
from benchmarks.measurement import Notify, cpu_seconds, growth, lexsort_seconds, peak_megabytes, silent
from sfumato._audit import audit
from sfumato.anonymization._anonymize import check
from sfumato.anonymization.methods import Method, Task
from sfumato.anonymization.methods.method import grouping_of
from sfumato.anonymization.published_table import PublishedTable, publish
from sfumato.anonymization.utility import mean_loss, normalised_loss
from sfumato.errors import ColumnError, ParameterError
from sfumato.registry import METHODS

GOALS: dict[tuple[str, int], tuple[float, float | None]] = {
    ("S1", 50_000): (0.0050, 3),
    ("S3o", 50_000): (0.105, 3),
    ("S3i", 50_000): (0.098, 3),
    ("hard", 50_000): (0.24, 15),
    ("S1", SURVEY_ROWS): (0.0032, 15),
    ("S3o", SURVEY_ROWS): (0.065, 15),
    ("S3i", SURVEY_ROWS): (0.052, 15),
    ("adult k", 30_162): (0.0215, 0.4),
    ("adult k, l", 30_162): (0.0238, 0.8),
    ("adult k, t", 30_162): (0.23, 5),
}
"""The project's goals on real data, by setting and rows: the largest loss and the largest number of CPU seconds."""

_WARM_UP_ROWS = 500
"""Rows of the first run, which compiles the kernels or loads them from the cache."""


def run(
    rows: int,
    all_rows: bool,
    hard: bool,
    adult: bool,
    methods: Sequence[str],
    notify: Notify = silent,
    rare: bool = False,
) -> dict[str, Any]:
    """Measure each method on each setting; `notify` receives the progress. `rare`: only requirements with a rare value."""
    chosen = [method_by_name(name) for name in methods]
    runs: list[dict[str, Any]] = []
    for setting in rare_values() if rare else _settings(rows, all_rows, hard, adult):
        for name in setting.table.schema.sensitive_columns():
            setting.table.column(name)  # encoded before anything is measured
        baseline = lexsort_seconds(setting.table)
        for method in chosen:
            notify(f"{setting.name}, {setting.table.rows:,} rows, {method.name}")
            runs.append(_measure(setting, method, baseline))
    return {"runs": runs, "growth": growth(runs, ("setting", "method"))}


def method_by_name(name: str) -> Method:
    """Return a method with its default parameters."""
    kind: type[Method] = METHODS.find(name, key="methods")
    return kind()


def warm_up(setting: Setting, method: Method) -> None:
    """Run a method on a few rows, so that nothing is compiled during the measurement."""
    sample = replace(setting.table, data=setting.table.data.slice(0, _WARM_UP_ROWS))
    group_and_publish(replace(setting, table=sample), method)


def _settings(rows: int, all_rows: bool, hard: bool, adult: bool) -> Iterator[Setting]:
    """Yield the requested settings one by one, so that only one is in memory."""
    makers: list[Callable[[int], Setting]] = [survey.composite]
    if survey.survey_folder() is not None:
        makers += [survey.occupation, survey.income]
    for size in (rows, SURVEY_ROWS) if all_rows and rows != SURVEY_ROWS else (rows,):
        for make in makers:
            yield make(size)
    if hard:
        yield survey.hard(rows)
    if adult:
        yield from survey.adult()


def group_and_publish(setting: Setting, method: Method) -> tuple[float, float, PublishedTable, tuple[str, ...]]:
    """Return the CPU seconds of grouping and of publishing, the published table, and the notes of the method."""
    check(setting.table, setting.principles)
    grouping_seconds, grouping = cpu_seconds(lambda: grouping_of(method, Task(setting.table, setting.principles), 0))
    of_row = grouping.of_row
    publishing_seconds, published = cpu_seconds(lambda: publish(setting.table, of_row, 0, grouping.levels))
    return grouping_seconds, publishing_seconds, published, grouping.notes


def _measure(setting: Setting, method: Method, baseline: float) -> dict[str, Any]:
    goal_loss, goal_seconds = GOALS.get((setting.name, setting.table.rows), (None, None))
    if setting.source == "synthetic census":  # the goals apply to real data
        goal_loss = goal_seconds = None
    figures: dict[str, Any] = {
        "setting": setting.name,
        "source": setting.source,
        "rows": setting.table.rows,
        "requirements": setting.requirements,
        "method": method.name,
        "loss is": "normalised" if setting.normalised else "mean",
        "goal: loss": goal_loss,
        "goal: CPU s": goal_seconds,
    }
    try:
        warm_up(setting, method)
        grouping_seconds, publishing_seconds, published, notes = group_and_publish(setting, method)
    except (ParameterError, ColumnError) as error:  # not every method supports every principle and recoding
        return figures | {"not supported": error.problem}
    audit_seconds, verdicts = cpu_seconds(lambda: audit(published.table, None, setting.principles))
    group_holds = np.logical_and.reduce([finding.measurement.group_holds for finding in verdicts])
    loss = (normalised_loss if setting.normalised else mean_loss)(published.recoding)
    return figures | {
        "loss": round(loss, 4),
        "violating groups": int((~group_holds).sum()),
        "violating rows": int(verdicts.groups.sizes[~group_holds].sum()),
        "groups": verdicts.groups.count,
        "CPU s": round(grouping_seconds, 2),
        "lexsort, CPU s": round(baseline, 4),
        "CPU / lexsort": round(grouping_seconds / baseline),
        "publish and audit, CPU s": round(publishing_seconds + audit_seconds, 2),
        # of the process so far, so only the first run that needs it is its cause
        "peak memory, MB": peak_megabytes(),
        "notes": list(notes),
    }

"""How good and how fast is anonymizing? Loss, violations and CPU time of each method on each setting, in one process.

The yardstick is the CPU time that numpy takes to lexsort the same quasi-identifier codes. What a method finds is published
and audited, exactly, before anything is said about it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks import settings
from benchmarks.apart import peak_megabytes
from benchmarks.settings import SURVEY_ROWS, Setting
from sfumato._audit import audit
from sfumato.anonymization._anonymize import check, partition
from sfumato.anonymization.methods import Method, Task
from sfumato.anonymization.published_table import PublishedTable, publish
from sfumato.anonymization.utility import mean_loss, normalised_loss
from sfumato.errors import ColumnError, ParameterError
from sfumato.registry import METHODS

GOALS: dict[tuple[str, int], tuple[float, float | None]] = {
    ("S1", 50_000): (0.012, 5),
    ("S3o", 50_000): (0.115, 5),
    ("S3i", 50_000): (0.105, 5),
    ("S1", SURVEY_ROWS): (0.014, 60),
    ("S3o", SURVEY_ROWS): (0.080, 60),
    ("S3i", SURVEY_ROWS): (0.070, 60),
    ("adult k", 30_162): (0.030, None),
    ("adult k, l", 30_162): (0.034, None),
    ("adult k, t", 30_162): (0.38, None),
}
"""The project's own goals on real data: the loss and the CPU seconds that should not be exceeded."""

_WARM = 500
"""Rows of the run that compiles, or loads what was compiled."""


def run(
    rows: int,
    everything: bool,
    hard: bool,
    adult: bool,
    methods: Sequence[str],
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Measure each method on each setting, one after another; `tell` hears what is under way."""
    chosen = [method_named(name) for name in methods]
    runs: list[dict[str, Any]] = []
    for setting in _settings(rows, everything, hard, adult):
        yardstick = lexsort_seconds(setting)
        for method in chosen:
            tell(f"{setting.name}, {setting.table.rows:,} rows, {method.name}")
            runs.append(_measured(setting, method, yardstick))
    return {"runs": runs, "growth": _growth(runs)}


def method_named(name: str) -> Method:
    """A method with its usual parameters."""
    kind: type[Method] = METHODS.find(name, key="methods")
    return kind()


def lexsort_seconds(setting: Setting) -> float:
    """The yardstick: the least CPU time of three to lexsort the codes of the quasi-identifiers, once they are encoded."""
    table = setting.table
    for name in table.schema.sensitive_columns():
        table.column(name)
    codes = [table.column(name).codes for name in table.schema.quasi_identifiers]
    return min(cpu_seconds(lambda: np.lexsort(codes))[0] for _ in range(3))


def cpu_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """The CPU seconds of this process that some work takes, whatever else the machine does, and what came of it."""
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def warm_up(setting: Setting, method: Method) -> None:
    """Run a method on a few rows, so that nothing is compiled while it is measured."""
    few = replace(setting.table, data=setting.table.data.slice(0, _WARM))
    _found(replace(setting, table=few), method)


def _settings(rows: int, everything: bool, hard: bool, adult: bool) -> Iterator[Setting]:
    """The settings asked for, made one by one so that only one is in memory."""
    survey = settings.survey_folder() is not None
    makers = [settings.composite, settings.occupation, settings.income] if survey else [settings.composite]
    for size in (rows, SURVEY_ROWS) if everything and rows != SURVEY_ROWS else (rows,):
        for make in makers:
            yield make(size)
    if hard:
        yield settings.hard(rows)
    if adult:
        yield from settings.adult()


def _found(setting: Setting, method: Method) -> tuple[float, float, PublishedTable, tuple[str, ...]]:
    """Find groups and publish them: the CPU seconds of each, what is published, and the method's notes."""
    check(setting.table, setting.principles)
    finding, grouping = cpu_seconds(lambda: method.group(Task(setting.table, setting.principles)))
    of_row = partition(grouping.of_row, setting.table.rows, method)
    publishing, published = cpu_seconds(lambda: publish(setting.table, of_row, 0, grouping.levels))
    return finding, publishing, published, grouping.notes


def _measured(setting: Setting, method: Method, yardstick: float) -> dict[str, Any]:
    goal_loss, goal_seconds = GOALS.get((setting.name, setting.table.rows), (None, None))
    if setting.source == "synthetic census":  # the goals are about real data
        goal_loss = goal_seconds = None
    figures: dict[str, Any] = {
        "setting": setting.name,
        "source": setting.source,
        "rows": setting.table.rows,
        "wish": setting.wish,
        "method": method.name,
        "loss is": "normalised" if setting.normalised else "mean",
        "goal: loss": goal_loss,
        "goal: CPU s": goal_seconds,
    }
    try:
        warm_up(setting, method)
        finding, publishing, published, notes = _found(setting, method)
    except (ParameterError, ColumnError) as problem:  # not every method serves every principle and recoding
        return figures | {"not served": problem.problem}
    checking, verdicts = cpu_seconds(lambda: audit(published.table, None, setting.principles))
    fine = np.logical_and.reduce([finding.measurement.group_holds for finding in verdicts])
    loss = (normalised_loss if setting.normalised else mean_loss)(published.recoding)
    return figures | {
        "loss": round(loss, 4),
        "violating groups": int((~fine).sum()),
        "violating rows": int(verdicts.groups.sizes[~fine].sum()),
        "groups": verdicts.groups.count,
        "CPU s": round(finding, 2),
        "lexsort, CPU s": round(yardstick, 4),
        "CPU / lexsort": round(finding / yardstick),
        "publish and audit, CPU s": round(publishing + checking, 2),
        # of the process so far
        "peak memory, MB": peak_megabytes(),
        "notes": list(notes),
    }


def _growth(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each setting and method that ran on two numbers of rows, how much more CPU time the larger took."""
    known = [one for one in runs if "CPU s" in one]
    return [
        {
            "setting": small["setting"],
            "method": small["method"],
            "rows": [small["rows"], large["rows"]],
            "times the rows": round(large["rows"] / small["rows"], 2),
            "times the CPU time": round(large["CPU s"] / small["CPU s"], 2) if small["CPU s"] else None,
        }
        for small in known
        for large in known
        if (small["setting"], small["method"]) == (large["setting"], large["method"]) and small["rows"] < large["rows"]
    ]

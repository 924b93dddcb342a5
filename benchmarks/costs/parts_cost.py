"""CPU time, wall time, memory and loss of glaze on whole tables and in parts, with several numbers of threads.

Every run has a process of its own, so that its peak memory has one cause. The baseline is the CPU time of a numpy lexsort
of the same quasi-identifier codes.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.costs.anonymize_cost import warm_up
from benchmarks.datasets import survey
from benchmarks.datasets.survey import Setting
from benchmarks.measurement import Notify, growth, in_separate_process, lexsort_seconds, peak_megabytes, silent
from sfumato.anonymization.methods import Task
from sfumato.anonymization.methods.glaze import Glaze
from sfumato.anonymization.recoding import recode
from sfumato.anonymization.utility import mean_loss
from sfumato.data.groups import Groups
from sfumato.errors import ParameterError
from sfumato.workers import WORKERS


class WholeGlaze(Glaze):
    """Glaze that searches every table as a whole."""

    part_rows = sys.maxsize // 4


def settings() -> dict[str, Callable[[int], Setting]]:
    """Return the settings by name; without the survey, only the first one on the synthetic census."""
    if survey.survey_folder() is None:
        return {"S1": survey.composite}
    return {"S1": survey.composite, "S3o": survey.occupation, "S3i": survey.income}


def run(
    rows: Sequence[int], names: Sequence[str], workers: Sequence[int], whole: bool, notify: Notify = silent
) -> dict[str, Any]:
    """Measure each setting with each number of rows and threads; `whole`: whole tables too, with one thread."""
    known = settings()
    for name in names:
        if name not in known:
            raise ParameterError(
                f"unknown setting {name!r}", remedy=f"Use one of: {', '.join(known)}.", key="settings", value=name
            )
    runs = []
    for name in names or known:
        for size in rows:
            for threads in (*((0,) if whole else ()), *workers):
                notify(f"{name}, {size:,} rows, {f'{threads} threads' if threads else 'whole'}")
                runs.append(in_separate_process(measure, name, size, threads))
    return {"runs": runs, "growth": growth(runs, ("setting", "searched", "threads"))}


def measure(name: str, rows: int, threads: int) -> dict[str, Any]:
    """Find groups once; return the figures of this process. 0 threads: the whole table, in one thread."""
    os.environ[WORKERS] = str(threads or 1)
    setting, method = settings()[name](rows), Glaze() if threads else WholeGlaze()
    warm_up(setting, method)
    for column in setting.table.schema.sensitive_columns():
        setting.table.column(column)  # encoded before anything is measured
    baseline = lexsort_seconds(setting.table)
    task = Task(setting.table, setting.principles)
    wall, cpu = time.perf_counter(), time.process_time()
    of_row = method.group(task).of_row
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    memory = peak_megabytes()
    groups = Groups.partition(setting.table, of_row, int(of_row.max()) + 1)
    return {
        "setting": name,
        "source": setting.source,
        "rows": setting.table.rows,
        "searched": "in parts" if threads else "whole",
        "threads": threads or 1,
        "loss": round(mean_loss(recode(setting.table, groups)), 5),
        "violating rows": int(np.asarray(groups.sizes)[~task.satisfied(of_row)].sum()),
        "CPU s": round(cpu, 2),
        "wall s": round(wall, 2),
        "CPU / lexsort": round(cpu / baseline),
        "peak memory, MB": memory,
    }

"""Time and memory from a CSV file to a verified release folder, without the time of the method itself.

The baseline is the time that pyarrow takes to read the same file and to write it again, in the same benchmark. The release
and the baseline run in separate processes, so that a peak of memory has one cause.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from benchmarks.costs.anonymize_cost import method_by_name
from benchmarks.datasets import survey
from benchmarks.datasets.survey import Setting
from benchmarks.measurement import Notify, growth, in_separate_process, peak_megabytes
from benchmarks.measurement import silent as ignore_notice
from sfumato.anonymization._anonymize import anonymize
from sfumato.anonymization.methods import Method
from sfumato.census import synthetic_census
from sfumato.data.table import Table
from sfumato.errors import ParameterError, RequirementError
from sfumato.io.read_csv import read_csv
from sfumato.io.read_table import read_table
from sfumato.io.write_files import write_csv
from sfumato.principles import KAnonymity
from sfumato.progress import Progress, silent

GOALS = {"/ pyarrow": 6.0, "peak memory, MB": 3000}
"""The project's goals: the largest ratio to the time of pyarrow, and the largest memory."""

_WARM_UP_ROWS = 1000
"""Rows of the first release, which compiles the kernels or loads them from the cache."""


def run(
    rows: Sequence[int],
    seed: int,
    requirements: Sequence[str],
    methods: Sequence[str],
    notify: Notify = ignore_notice,
) -> dict[str, Any]:
    """Measure each requirement with each method on each number of rows; `notify` receives the progress."""
    for name in methods:
        method_by_name(name)  # an unknown method is an error before anything is measured
    settings = list(_settings())
    for name in requirements:
        if name not in settings:
            raise ParameterError(
                f"unknown requirement {name!r}",
                remedy=f"Use one of: {', '.join(settings)}.",
                key="requirements",
                value=name,
            )
    runs = []
    for size in rows:
        with tempfile.TemporaryDirectory(prefix="sfumato-bench-") as folder:
            path = Path(folder) / "people.csv"
            notify(f"{size:,} rows: making the file")
            source = in_separate_process(make_file, path, size, seed)
            for requirement in requirements or settings:
                for method in methods:
                    notify(f"{size:,} rows, {requirement}, {method}")
                    before = in_separate_process(pyarrow_seconds, path)
                    result = in_separate_process(measure, path, requirement, method)
                    after = in_separate_process(pyarrow_seconds, path)
                    runs.append({"source": source, "rows": size, **_with_ratios(result, [before, after])})
    return {"runs": runs, "goals": GOALS, "growth": growth(runs, ("requirements", "method"))}


def make_file(path: Path, rows: int, seed: int) -> str:
    """Write a CSV file of rows drawn from the survey with replacement; return the name of the source."""
    folder = survey.survey_folder()
    data, source = synthetic_census(rows, seed), "synthetic census"
    if folder is not None:
        data, source = read_csv(folder / "sal_occ.csv.gz").data, "sal_occ, resampled"
        data = data.take(pa.array(np.random.default_rng(seed).integers(0, data.num_rows, rows)))
    with path.open("wb") as file:
        write_csv(data, file)
    return source


def pyarrow_seconds(path: Path) -> dict[str, float]:
    """Return the wall and CPU seconds that pyarrow takes, with its defaults, to read a file and to write it again.

    The first run is in a new process, as a release is. The warm time is the least of two more runs.
    """
    wall, cpu = [], []
    for _ in range(3):
        wall_start, cpu_start = time.perf_counter(), time.process_time()
        arrow_csv.write_csv(arrow_csv.read_csv(path), path.with_name("again.csv"))
        wall.append(time.perf_counter() - wall_start)
        cpu.append(time.process_time() - cpu_start)
    return {"wall": wall[0], "CPU": cpu[0], "wall, warm": min(wall[1:]), "CPU, warm": min(cpu[1:])}


def _settings() -> dict[str, Callable[[int], Setting]]:
    """Return the settings by name: k-anonymity with k = 10, and settings of `datasets/survey.py`."""
    if survey.survey_folder() is None:
        return {"k": lambda rows: survey.composite(rows).with_principles(KAnonymity(10), name="k"), "S1": survey.composite}
    return {
        "k": lambda rows: survey.income(rows).with_principles(KAnonymity(10), name="k"),
        "S1": survey.composite,
        "S3i": survey.income,
    }


class StageTimer:
    """Wall and CPU seconds of each stage; pass `progress` to the functions whose stages are measured."""

    def __init__(self) -> None:
        self.seconds: dict[str, dict[str, float]] = {}
        self._stage: str | None = None
        self._started = (0.0, 0.0)

    def begin(self, stage: str | None) -> None:
        """End the current stage and begin another; None only ends it."""
        now = time.perf_counter(), time.process_time()
        if self._stage is not None:
            total = self.seconds.setdefault(self._stage, {"wall": 0.0, "CPU": 0.0})
            total["wall"] += now[0] - self._started[0]
            total["CPU"] += now[1] - self._started[1]
        self._stage, self._started = stage, now

    def progress(self, step: str, share: float | None = None) -> None:
        """Begin a stage if the step is a new one."""
        del share
        if step != self._stage:
            self.begin(step)


def measure(path: Path, requirement: str, method: str) -> dict[str, Any]:
    """Release a file; return the seconds of each stage and the peak memory of this process."""
    setting, chosen = _settings()[requirement](_WARM_UP_ROWS), method_by_name(method)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        _release(setting.table, setting, chosen, Path(folder) / "warm", silent)
        stages = StageTimer()
        stages.begin("reading")
        table = read_table(path, setting.table.schema)
        stages.begin("encoding")
        for name in table.data.column_names:
            table.column(name)
        problem = _release(table, setting, chosen, Path(folder) / "release", stages.progress)
        stages.begin(None)
    figures: dict[str, Any] = {
        "requirements": requirement,
        "principles": setting.requirements,
        "method": method,
        "stages": stages.seconds,
        "peak memory, MB": peak_megabytes(),
    }
    return figures if problem is None else figures | {"not reached": problem}


def _release(table: Table, setting: Setting, method: Method, folder: Path, progress: Progress) -> str | None:
    """Anonymize, save and verify; return the problem if the requirement cannot be met, else None."""
    try:
        release = anonymize(table, None, setting.principles, method=method, progress=progress)
        release.save(folder, progress=progress)
    except RequirementError as error:
        return error.problem
    return None


def _with_ratios(result: dict[str, Any], baselines: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Add the ratios to the baseline, which is the mean of the runs of pyarrow before and after the release."""
    figures = dict(result)
    for clock in ("wall", "CPU"):
        method = sum(seconds[clock] for stage, seconds in result["stages"].items() if is_method_stage(stage))
        rest = sum(seconds[clock] for seconds in result["stages"].values()) - method
        first = sum(baseline[clock] for baseline in baselines) / len(baselines)
        warm = sum(baseline[f"{clock}, warm"] for baseline in baselines) / len(baselines)
        figures[f"{clock} s"] = round(rest, 2)
        figures[f"pyarrow, {clock} s"] = round(first, 2)
        figures[f"{clock} / pyarrow"] = round(rest / first, 1)
        figures[f"{clock} / pyarrow, warm"] = round(rest / warm, 1)
        figures[f"method, {clock} s"] = round(method, 2)
    return figures


def is_method_stage(stage: str) -> bool:
    """Return whether a stage belongs to the method: "finding groups", and what glaze does with them afterwards."""
    return stage.endswith(" groups")

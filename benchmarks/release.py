"""What a release costs from a CSV file to a verified folder, beside the method's own time: seconds, and memory.

The yardstick is what pyarrow takes to read the same file and to write it again, just so, in the same run. Everything is
measured in processes of its own, so that a peak of memory has one cause.
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

from benchmarks import settings
from benchmarks.anonymize import method_named
from benchmarks.apart import apart, peak_megabytes
from benchmarks.settings import Setting
from sfumato.anonymization._anonymize import anonymize
from sfumato.anonymization.methods import Method
from sfumato.anonymization.methods.method import FINDING
from sfumato.census import synthetic_census
from sfumato.data.table import Table
from sfumato.errors import ParameterError, RequirementError
from sfumato.io.read_csv import read_csv
from sfumato.io.read_table import read_table
from sfumato.io.write_files import write_csv
from sfumato.principles import KAnonymity
from sfumato.progress import Progress, silent

GOALS = {"/ pyarrow": 10.0, "peak memory, MB": 3000}
"""The project's own goals: at most so many times what pyarrow takes, and memory below this."""

_WARM = 1000
"""Rows of the release that compiles, or loads what was compiled."""

_METHOD = (FINDING, "repairing groups")
"""Stages that are the method's own."""


def run(
    rows: Sequence[int],
    seed: int,
    wishes: Sequence[str],
    methods: Sequence[str],
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Measure each wish with each method on each number of rows; `tell` hears what is under way."""
    for name in methods:
        method_named(name)
    known = list(_wishes())
    for name in wishes:
        if name not in known:
            raise ParameterError(
                f"there is no wish {name!r}", remedy=f"The wishes are: {', '.join(known)}.", key="wishes", value=name
            )
    runs = []
    for size in rows:
        with tempfile.TemporaryDirectory(prefix="sfumato-bench-") as folder:
            path = Path(folder) / "people.csv"
            tell(f"{size:,} rows: making the file")
            source = apart(make_file, path, size, seed)
            for wish in wishes or known:
                for method in methods:
                    tell(f"{size:,} rows, {wish}, {method}")
                    before = apart(yardstick, path)
                    measured = apart(measure, path, wish, method)
                    after = apart(yardstick, path)
                    runs.append({"source": source, "rows": size, **_figures(measured, [before, after])})
    return {"runs": runs, "goals": GOALS, "growth": _growth(runs)}


def make_file(path: Path, rows: int, seed: int) -> str:
    """Write a table of so many rows, drawn from the survey with replacement, as CSV; tell where it comes from."""
    folder = settings.survey_folder()
    data, source = synthetic_census(rows, seed), "synthetic census"
    if folder is not None:
        data, source = read_csv(folder / "sal_occ.csv.gz").data, "sal_occ, resampled"
        data = data.take(pa.array(np.random.default_rng(seed).integers(0, data.num_rows, rows)))
    with path.open("wb") as file:
        write_csv(data, file)
    return source


def yardstick(path: Path) -> dict[str, float]:
    """Wall and CPU seconds of pyarrow to read a file and to write it again, with all its defaults.

    Once in a fresh process, as a release is made; and, warmed up, the least of two more.
    """
    wall, cpu = [], []
    for _ in range(3):
        started, worked = time.perf_counter(), time.process_time()
        arrow_csv.write_csv(arrow_csv.read_csv(path), path.with_name("again.csv"))
        wall.append(time.perf_counter() - started)
        cpu.append(time.process_time() - worked)
    return {"wall": wall[0], "CPU": cpu[0], "wall, warm": min(wall[1:]), "CPU, warm": min(cpu[1:])}


def _wishes() -> dict[str, Callable[[int], Setting]]:
    """What is wished for, by name: k-anonymity with k = 10, and settings of `benchmarks/settings.py`."""
    if settings.survey_folder() is None:
        return {"k": lambda rows: settings.composite(rows).wishing(KAnonymity(10), name="k"), "S1": settings.composite}
    return {
        "k": lambda rows: settings.income(rows).wishing(KAnonymity(10), name="k"),
        "S1": settings.composite,
        "S3i": settings.income,
    }


class Stages:
    """The seconds of each stage of the work, wall and CPU; `progress` hears where one ends and the next begins."""

    def __init__(self) -> None:
        self.seconds: dict[str, dict[str, float]] = {}
        self.now: str | None = None
        self.since = (0.0, 0.0)

    def begin(self, stage: str | None) -> None:
        """End the stage under way, and begin another."""
        now = time.perf_counter(), time.process_time()
        if self.now is not None:
            so_far = self.seconds.setdefault(self.now, {"wall": 0.0, "CPU": 0.0})
            so_far["wall"] += now[0] - self.since[0]
            so_far["CPU"] += now[1] - self.since[1]
        self.now, self.since = stage, now

    def progress(self, step: str, share: float | None = None) -> None:
        """A step of anonymizing or saving is under way."""
        del share
        if step != self.now:
            self.begin(step)


def measure(path: Path, wish: str, method: str) -> dict[str, Any]:
    """Release a file, each stage timed, and tell the peak of this process's memory."""
    setting, chosen = _wishes()[wish](_WARM), method_named(method)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        _released(setting.table, setting, chosen, Path(folder) / "warm", silent)
        stages = Stages()
        stages.begin("reading")
        table = read_table(path, setting.table.schema)
        stages.begin("encoding")
        for name in table.data.column_names:
            table.column(name)
        problem = _released(table, setting, chosen, Path(folder) / "release", stages.progress)
        stages.begin(None)
    figures: dict[str, Any] = {
        "wish": wish,
        "asks": setting.wish,
        "method": method,
        "stages": stages.seconds,
        "peak memory, MB": peak_megabytes(),
    }
    return figures if problem is None else figures | {"not reached": problem}


def _released(table: Table, setting: Setting, method: Method, folder: Path, progress: Progress) -> str | None:
    """Anonymize and save, which verifies; tell why not if the wish cannot be reached."""
    try:
        release = anonymize(table, None, setting.principles, method=method, progress=progress)
        release.save(folder, progress=progress)
    except RequirementError as error:
        return error.problem
    return None


def _figures(measured: dict[str, Any], yardsticks: Sequence[dict[str, float]]) -> dict[str, Any]:
    """What was measured, and as ratios to the yardstick: the mean of before and after."""
    figures = dict(measured)
    for clock in ("wall", "CPU"):
        ours = sum(seconds[clock] for stage, seconds in measured["stages"].items() if stage not in _METHOD)
        theirs = sum(one[clock] for one in yardsticks) / len(yardsticks)
        figures[f"{clock} s"] = round(ours, 2)
        figures[f"pyarrow, {clock} s"] = round(theirs, 2)
        figures[f"{clock} / pyarrow"] = round(ours / theirs, 1)
        warm = sum(one[f"{clock}, warm"] for one in yardsticks) / len(yardsticks)
        figures[f"{clock} / pyarrow, warmed up"] = round(ours / warm, 1)
        method = sum(seconds[clock] for stage, seconds in measured["stages"].items() if stage in _METHOD)
        figures[f"method, {clock} s"] = round(method, 2)
    return figures


def _growth(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each wish and method that ran on two numbers of rows, how much more CPU time the larger took."""
    return [
        {
            "wish": small["wish"],
            "method": small["method"],
            "rows": [small["rows"], large["rows"]],
            "times the rows": round(large["rows"] / small["rows"], 2),
            "times the CPU time": round(large["CPU s"] / small["CPU s"], 2),
        }
        for small in runs
        for large in runs
        if (small["wish"], small["method"]) == (large["wish"], large["method"]) and small["rows"] < large["rows"]
    ]

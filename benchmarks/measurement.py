"""Measure CPU time, peak memory and growth; write tables of results."""

from __future__ import annotations

import csv
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from sfumato.data.table import Table

T = TypeVar("T")
Row = dict[str, Any]
"""A row of a table of results, by column."""
Notify = Callable[[str], None]
"""Receives a line of text about the step that is running."""


def silent(_: str) -> None:
    """Ignore progress."""


def cpu_seconds(work: Callable[[], T]) -> tuple[float, T]:
    """Run some work; return the CPU seconds of this process, which other processes hardly affect, and the result."""
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def lexsort_seconds(table: Table) -> float:
    """Return the baseline: the least CPU time of three numpy lexsorts of the quasi-identifier codes."""
    codes = [table.column(name).codes for name in table.schema.quasi_identifiers]
    return min(cpu_seconds(lambda: np.lexsort(codes))[0] for _ in range(3))


def in_separate_process(work: Callable[..., T], *arguments: Any) -> T:
    """Run some work in a new process, so that its peak memory has one cause."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(work, *arguments).result()


def descendants_cpu_seconds() -> float:
    """Return the CPU time of the processes that this one started and that are running, and of those they started; Linux."""
    parents, seconds = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # processes end
            # the name of the program, which is in parentheses, may contain blanks
            fields = path.read_text().rpartition(")")[2].split()
            number = int(path.parent.name)
            parents[number] = int(fields[1])
            seconds[number] = sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

    def is_descendant(number: int) -> bool:
        while (number := parents.get(number, 0)) > 0:
            if number == os.getpid():
                return True
        return False

    return sum(spent for number, spent in seconds.items() if is_descendant(number))


def peak_megabytes() -> int | None:
    """Return the peak memory of this process so far; None where the system does not report it (Windows)."""
    status = Path("/proc/self/status")
    if status.exists():  # the other figure begins with that of the process that started this one
        peak = next((line for line in status.read_text().splitlines() if line.startswith("VmHWM")), None)
        if peak is not None:
            return int(peak.split()[1]) // 1000
    try:
        import resource
    except ImportError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most // 1_000_000 if sys.platform == "darwin" else most // 1000  # bytes on macOS, KiB on Linux


def growth(runs: Sequence[Row], same: Sequence[str], size: str = "rows") -> list[Row]:
    """Compare runs that differ in size only: how much more CPU time the larger one takes.

    `same` names the columns that both runs share, `size` the column with the number of rows or records.
    """
    measured = [run for run in runs if "CPU s" in run]
    return [
        {
            **{name: small[name] for name in same},
            size: [small[size], large[size]],
            f"times the {size}": round(large[size] / small[size], 2),
            "times the CPU time": round(large["CPU s"] / max(small["CPU s"], 0.001), 2),
        }
        for small in measured
        for large in measured
        if all(small[name] == large[name] for name in same) and small[size] < large[size]
    ]


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write a table row by row, so that an interrupted run keeps what it has measured."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer: csv.DictWriter[str] | None = None
        for row in rows:
            if writer is None:
                writer = csv.DictWriter(file, list(row), lineterminator="\n")
                writer.writeheader()
            writer.writerow(row)
            file.flush()

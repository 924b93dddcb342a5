"""How often the intervals of `sf.read_release` contain the true figures, and how far the estimates are off."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import sfumato as sf
from benchmarks.datasets.hospital import hospital, hospital_schema
from benchmarks.measurement import Notify

_BANDS = [40, 60, 80]


def coverage(rows: int, tables: int, methods: list[str], seed: int, notify: Notify) -> dict[str, Any]:
    """Return for each method and kind of question the share of true figures that are covered, and the mean errors."""
    found: dict[tuple[str, str], list[tuple[bool, float, float]]] = defaultdict(list)
    for method in methods:
        for number in range(seed, seed + tables):
            notify(f"{method}, table {number}")
            data = hospital(rows, number)
            release = sf.anonymize(data, hospital_schema(), [sf.KAnonymity(5)], method=method, seed=number)
            with tempfile.TemporaryDirectory() as folder:
                table = sf.read_release(release.save(Path(folder) / "release"))
            assert isinstance(table, sf.ReleasedTable)
            for question, estimate, truth in _figures(table, data):
                found[method, question].append(
                    (estimate.covers(truth), abs(estimate.estimate - truth), abs(estimate.naive - truth))
                )
    runs = [
        {
            "method": method,
            "question": question,
            "figures": len(each),
            "covered": round(float(np.mean([covers for covers, _, _ in each])), 3),
            "error": round(_finite_mean([error for _, error, _ in each]), 4),
            "naive_error": round(_finite_mean([naive for _, _, naive in each]), 4),
        }
        for (method, question), each in found.items()
    ]
    return {"rows": rows, "tables": tables, "runs": runs}


def _finite_mean(numbers: list[float]) -> float:
    return float(np.mean([number for number in numbers if np.isfinite(number)]))


def _figures(table: sf.ReleasedTable, data: pa.Table) -> Iterator[tuple[str, Any, float]]:
    """Yield the questions of the benchmark: the kind, the estimate, and the true figure."""
    frame = data.to_pandas()
    frame["hit"] = frame["readmitted"] == "<30"
    frame["band"] = np.searchsorted(_BANDS, frame["age"], side="right")
    labels = ["below 40", "40 to below 60", "60 to below 80", "80 or more"]
    rate, place = ("readmitted", "<30"), "disposition"
    by = frame.groupby("disposition")["hit"].agg(["sum", "count"])
    odds = by["sum"] / (by["count"] - by["sum"])
    yield from _compare("rate by disposition", table.rate(*rate, by=place), by["sum"] / by["count"])
    ratio = table.odds_ratio("readmitted", "<30", by="disposition", reference="home")
    yield from _compare("odds ratio by disposition", ratio, odds / odds["home"])
    yield from _compare(
        "rate by diagnosis", table.rate("readmitted", "<30", by="diagnosis"), _mean(frame, "diagnosis", "hit")
    )
    yield from _compare("count by disposition", table.count(by="disposition"), by["count"])
    yield from _compare(
        "mean stay by disposition", table.mean("stay", by="disposition"), _mean(frame, "disposition", "stay")
    )
    bands = {"age": _BANDS}
    rates = {labels[band]: rate for band, rate in _mean(frame, "band", "hit").items()}
    yield from _compare("rate by age band", table.rate("readmitted", "<30", by="age", bands=bands), rates)
    yield from _compare("mean age by readmission", table.mean("age", by="readmitted"), _mean(frame, "readmitted", "age"))
    # two generalized columns: the model says little about these
    yield from _compare("mean age by disposition", table.mean("age", by="disposition"), _mean(frame, "disposition", "age"))


def _mean(frame: Any, by: str, what: str) -> Mapping[Any, float]:
    return dict(frame.groupby(by)[what].mean())


def _compare(question: str, estimates: Any, truth: Mapping[Any, float]) -> Iterator[tuple[str, Any, float]]:
    for estimate in estimates:
        (key,) = estimate.keys.values()
        if key in truth:
            yield question, estimate, float(truth[key])

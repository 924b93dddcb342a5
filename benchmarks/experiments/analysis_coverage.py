"""How often the intervals of `sf.read_release` contain the true figures, how wide they are, and the errors."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

import sfumato as sf
from benchmarks.datasets.analyst_cases import CASES, AnalystCase, AnalystQuestion
from benchmarks.measurement import Notify

Found = tuple[sf.analysis.Estimate, float]


def coverage(
    rows: int, tables: int, methods: Sequence[str], seed: int, notify: Notify, cases: Sequence[AnalystCase] = CASES
) -> dict[str, Any]:
    """Return for each case, method and question the share of true figures that are covered, widths and mean errors.

    Cases whose real data is absent are left out. The last run of each case and method is over all its questions.
    """
    found: dict[tuple[str, str, str], list[Found]] = defaultdict(list)
    for case in cases:
        for method in methods:
            for number in range(seed, seed + tables):
                data = case.table(rows, number)
                if data is None:
                    continue
                notify(f"{case.name}, {method}, table {number}")
                table = released(data, case, method, number)
                for question in case.questions:
                    found[case.name, method, question.title] += list(answers(table, data.to_pandas(), question))
    runs = [{"case": c, "method": m, "question": q, **_figures(each)} for (c, m, q), each in found.items()]
    for case_name, method in dict.fromkeys((c, m) for c, m, _ in found):
        every = [one for (c, m, _), each in found.items() if (c, m) == (case_name, method) for one in each]
        covered = round(float(np.mean([estimate.covers(truth) for estimate, truth in every])), 3)
        runs.append({"case": case_name, "method": method, "question": "all", "figures": len(every), "covered": covered})
    return {"rows": rows, "tables": tables, "runs": runs}


def released(data: pa.Table, case: AnalystCase, method: str, seed: int) -> sf.ReleasedTable:
    """Return the table of a release as an analyst reads it."""
    release = sf.anonymize(data, case.schema, [sf.KAnonymity(case.k)], method=method, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        table = sf.read_release(release.save(Path(folder) / "release"))
    assert isinstance(table, sf.ReleasedTable)
    return table


def answers(table: sf.ReleasedTable, frame: pd.DataFrame, question: AnalystQuestion) -> Iterator[Found]:
    """Yield the estimates of a question, each with the true figure."""
    by, bands = question.by, ({question.by: question.bands} if question.bands else {})
    outcome = (frame[question.of].astype(str) == question.value) if question.value else pd.Series(0, frame.index)
    keys = frame[by].astype(str) if not question.bands else _band(frame[by], question.bands)
    counted = outcome.groupby(keys).agg(["sum", "count"])
    truth: Mapping[Any, float]
    if question.what == "rate":
        found = table.rate(question.of, question.value, by=by, bands=bands)
        truth = (counted["sum"] / counted["count"]).to_dict()
    elif question.what == "odds ratio":
        odds = counted["sum"] / (counted["count"] - counted["sum"])
        reference = str(counted["count"].idxmax())
        found = table.odds_ratio(question.of, question.value, by=by, reference=reference)
        truth = (odds / odds[reference]).to_dict()
    elif question.what == "mean":
        found = table.mean(question.of, by=by)
        truth = frame[question.of].groupby(keys).mean().to_dict()
    else:
        found = table.count(by=by, bands=bands)
        truth = counted["count"].to_dict()
    for position, estimate in enumerate(found):
        (key,) = estimate.keys.values()
        true = truth.get(position if question.bands else key)
        if true is not None and np.isfinite(true):
            yield estimate, float(true)


def _band(column: pd.Series, bands: Sequence[Any]) -> pd.Series:
    """Return the number of the band of each value."""
    limits = pd.to_datetime(pd.Series(bands)) if isinstance(bands[0], str) else pd.Series(bands)
    values = pd.to_datetime(column) if isinstance(bands[0], str) else column
    return pd.Series(np.searchsorted(limits, values, side="right"), column.index)


def _figures(found: Sequence[Found]) -> dict[str, Any]:
    """Return the coverage, the median width as a multiple of the median naive error, and the median errors."""
    naive = _median([abs(estimate.naive - truth) for estimate, truth in found])
    width = _median([estimate.high - estimate.low for estimate, _ in found])
    return {
        "figures": len(found),
        "covered": round(float(np.mean([estimate.covers(truth) for estimate, truth in found])), 3),
        "width": round(width / naive, 2) if naive else None,
        "error": round(_median([abs(estimate.estimate - truth) for estimate, truth in found]), 4),
        "naive_error": round(naive, 4),
    }


def _median(numbers: Sequence[float]) -> float:
    finite = [number for number in numbers if np.isfinite(number)]
    return float(np.median(finite)) if finite else 0.0

"""CPU time of disclosure risk: matching records with a dictionary, their risk, and the best rules.

The baseline is the CPU time of a numpy lexsort of the codes of the same dictionary. Each run has a separate process and
follows a small run that compiles the kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.datasets.directories import available_directories, sample_records
from benchmarks.measurement import Notify, cpu_seconds, growth, in_separate_process, peak_megabytes, silent
from sfumato.disclosure._risk import risk_of
from sfumato.disclosure.risk_report.risk_curves import QUARTERS, best_rules, cells_of
from sfumato.disclosure.setting import Setting

GOALS: dict[tuple[str, int], tuple[float, int | None]] = {("equality", 10_000): (60, 2000), ("similarity", 2000): (60, None)}
"""The project's goals on the catalogue, by consistency and records: the largest CPU seconds and megabytes."""

_WARM_UP_RECORDS = 50
"""Records of the first run, which compiles the kernels or loads them from the cache."""


def run(records: Sequence[int], similar: Sequence[int], seed: int = 0, notify: Notify = silent) -> dict[str, Any]:
    """Measure each number of records, by equality and by similarity; `notify` receives the progress."""
    runs = []
    for consistency, sizes in (("equality", records), ("similarity", similar)):
        for size in sizes:
            notify(f"{size:,} records by {consistency}")
            runs.append(in_separate_process(measure, consistency, size, seed))
    return {"runs": runs, "growth": growth(runs, ("consistency",), "records")}


def measure(consistency: str, records: int, seed: int) -> dict[str, Any]:
    """Match records with the first directory, compute their risk, and find the best rules for four numbers of cells."""
    source, load = next(iter(available_directories().items()))
    data, similar = load(), consistency == "similarity"
    _risk_and_rules(sample_records(data.slice(0, 10 * _WARM_UP_RECORDS), _WARM_UP_RECORDS, seed, source, similar))
    matching_seconds, setting = cpu_seconds(lambda: sample_records(data, records, seed, source, similar))
    matching = setting.matchings[0]
    baseline = min(cpu_seconds(lambda: np.lexsort(matching.dictionary_values.T))[0] for _ in range(3))
    (risk_seconds, risk), (rules_seconds, rules) = _risk_and_rules(setting)
    total = matching_seconds + risk_seconds + rules_seconds
    goal_seconds, goal_memory = GOALS.get((consistency, records), (None, None)) if source == "catalogue" else (None, None)
    return {
        "source": source,
        "consistency": consistency,
        "records": setting.records,
        "individuals": matching.individuals,
        "attributes": len(setting.attributes),
        "matching, CPU s": round(matching_seconds, 2),
        "risk, CPU s": round(risk_seconds, 2),
        "rules, CPU s": round(rules_seconds, 2),
        "CPU s": round(total, 2),
        "goal: CPU s": goal_seconds,
        "lexsort, CPU s": round(baseline, 4),
        "CPU / lexsort": round(total / baseline),
        "peak memory, MB": peak_megabytes(),
        "goal: MB": goal_memory,
        "risk": risk.risk,
        "least risk": {str(cells): rule.risk for cells, rule in zip(_cells(setting), rules, strict=True)},
        "exact": all(rule.exact for rule in rules),
    }


def _risk_and_rules(setting: Setting) -> tuple[tuple[float, Any], tuple[float, Any]]:
    """Return the CPU seconds and the result of the risk, and of the best rules."""
    return (
        cpu_seconds(lambda: risk_of(setting)),
        cpu_seconds(lambda: best_rules(setting.matchings[0], setting.phi, _cells(setting))),
    )


def _cells(setting: Setting) -> Sequence[int]:
    return cells_of(QUARTERS, len(setting.attributes))

"""What a disclosure risk costs: matching records with a dictionary, their risk, and the best rules, in CPU seconds.

The yardstick is the CPU time that numpy takes to lexsort the codes of the same dictionary. Each line is measured in a
process of its own, after a small run that compiles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.anonymize import cpu_seconds
from benchmarks.apart import apart, peak_megabytes
from benchmarks.directories import drawn, there
from sfumato.disclosure._risk import risk_of
from sfumato.disclosure.risk_report.risk_curves import QUARTERS, best_rules, cells_of

GOALS: dict[tuple[str, int], tuple[float, int | None]] = {("equality", 10_000): (60, 2000), ("similarity", 2000): (60, None)}
"""The project's own, on the catalogue: CPU seconds and megabytes that should not be exceeded."""

_WARM = 50
"""Records of the run that compiles, or loads what was compiled."""


def run(
    records: Sequence[int], similar: Sequence[int], seed: int = 0, tell: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """Measure each number of records, by equality and by similarity; `tell` hears what is under way."""
    runs = []
    for how, sizes in (("equality", records), ("similarity", similar)):
        for size in sizes:
            tell(f"{size:,} records by {how}")
            runs.append(apart(measure, how, size, seed))
    return {"runs": runs, "growth": _growth(runs)}


def measure(how: str, records: int, seed: int) -> dict[str, Any]:
    """Match records with the first directory, take their risk, and find the best rules for four numbers of cells."""
    source, load = next(iter(there().items()))
    data, similar = load(), how == "similarity"
    _work(drawn(data.slice(0, 10 * _WARM), _WARM, seed, source, similar))
    matching_seconds, setting = cpu_seconds(lambda: drawn(data, records, seed, source, similar))
    held = setting.matchings[0].dictionary_values
    sorting = min(cpu_seconds(lambda: np.lexsort(held.T))[0] for _ in range(3))
    (risk_seconds, found), (rules_seconds, best) = _work(setting)
    together = matching_seconds + risk_seconds + rules_seconds
    most, room = GOALS.get((how, records), (None, None)) if source == "catalogue" else (None, None)
    cells = cells_of(QUARTERS, len(setting.attributes))
    return {
        "source": source,
        "consistency": how,
        "records": setting.records,
        "individuals": setting.matchings[0].individuals,
        "attributes": len(setting.attributes),
        "matching, CPU s": round(matching_seconds, 2),
        "risk, CPU s": round(risk_seconds, 2),
        "rules, CPU s": round(rules_seconds, 2),
        "CPU s": round(together, 2),
        "goal: CPU s": most,
        "lexsort, CPU s": round(sorting, 4),
        "CPU / lexsort": round(together / sorting),
        "peak memory, MB": peak_megabytes(),
        "goal: MB": room,
        "risk": found.risk,
        "least risk": {str(k): one.risk for k, one in zip(cells, best, strict=True)},
        "exact": all(one.exact for one in best),
    }


def _work(setting: Any) -> tuple[tuple[float, Any], tuple[float, Any]]:
    cells = cells_of(QUARTERS, len(setting.attributes))
    return (
        cpu_seconds(lambda: risk_of(setting)),
        cpu_seconds(lambda: best_rules(setting.matchings[0], setting.phi, cells)),
    )


def _growth(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each kind of consistency that was measured on two numbers of records, how much more CPU time the larger took."""
    return [
        {
            "consistency": small["consistency"],
            "records": [small["records"], large["records"]],
            "times the records": round(large["records"] / small["records"], 2),
            "times the CPU time": round(large["CPU s"] / small["CPU s"], 2) if small["CPU s"] else None,
        }
        for small in runs
        for large in runs
        if small["consistency"] == large["consistency"] and small["records"] < large["records"]
    ]

"""CPU time per row and loss on tables with many quasi-identifiers or many distinct values.

The time is that from columns to a verified release. Two sizes of the same kind of table are measured in one run, so that
growth beyond the number of rows shows. The baseline is the CPU time of a numpy lexsort of the codes of the same
quasi-identifiers.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from benchmarks.costs.anonymize_cost import method_by_name
from benchmarks.costs.release_cost import StageTimer, is_method_stage
from benchmarks.datasets.wide_table import DISTINCT_VALUES, wide_table
from benchmarks.measurement import Notify, growth, lexsort_seconds, silent
from sfumato.anonymization._anonymize import anonymize
from sfumato.anonymization.methods import Lattice, Method
from sfumato.data.table import Table
from sfumato.errors import ParameterError
from sfumato.principles import KAnonymity

SHAPES = {"60 columns": (60, 0), "many values": (5, 5), "both": (60, 2)}
"""The numbers of quasi-identifiers, and of those with many distinct values."""

SUPPRESSION_LIMIT = Fraction(1, 20)
"""The share of the rows that lattice may suppress; the other methods suppress none."""

_WARM_UP_ROWS = 1000


def run(
    rows: Sequence[int],
    ks: Sequence[int],
    shapes: Sequence[str],
    methods: Sequence[str],
    seed: int = 0,
    notify: Notify = silent,
    distinct: int = DISTINCT_VALUES,
) -> dict[str, Any]:
    """Measure each shape, k, method and size; `distinct` is the range of the columns with many distinct values."""
    chosen = [method_by_name(name) for name in methods]
    for shape in shapes:
        if shape not in SHAPES:
            remedy = f"Use one of: {', '.join(SHAPES)}."
            raise ParameterError(f"unknown shape {shape!r}", remedy=remedy, key="shapes", value=shape)
    runs = []
    for shape in shapes or SHAPES:
        warm = wide_table(_WARM_UP_ROWS, *SHAPES[shape], seed)
        for method in chosen:
            _release(warm, method, min(ks), StageTimer())
        for size in rows:
            for k in ks:
                for method in chosen:
                    notify(f"{shape}, {size:,} rows, k = {k}, {method.name}")
                    table = wide_table(size, *SHAPES[shape], seed, distinct)  # nothing is encoded yet
                    runs.append({"shape": shape, "rows": size, "k": k, "method": method.name, **_measure(table, method, k)})
    return {"runs": runs, "growth": growth(runs, ("shape", "k", "method"))}


def _measure(table: Table, method: Method, k: int) -> dict[str, Any]:
    stages = StageTimer()
    stages.begin("encoding")
    for name in table.data.column_names:
        table.column(name)
    loss, violations = _release(table, method, k, stages)
    finding = sum(seconds["CPU"] for stage, seconds in stages.seconds.items() if is_method_stage(stage))
    total = sum(seconds["CPU"] for seconds in stages.seconds.values())
    baseline = lexsort_seconds(table)
    return {
        "most distinct values": max(table.column(name).size for name in table.schema.quasi_identifiers),
        "loss": round(loss, 4),
        "violations": violations,
        "CPU s": round(total, 2),
        "method, CPU s": round(finding, 2),
        "other, CPU s": round(total - finding, 2),
        "µs per row": round(1e6 * total / table.rows, 1),
        "lexsort, CPU s": round(baseline, 4),
        "CPU / lexsort": round(total / baseline),
    }


def _release(table: Table, method: Method, k: int, stages: StageTimer) -> tuple[float, int]:
    """Anonymize, save and verify; return the loss, and the rows in groups of fewer than k."""
    suppress = SUPPRESSION_LIMIT if isinstance(method, Lattice) else 0
    release = anonymize(table, None, KAnonymity(k), method=method, suppress=suppress, progress=stages.progress)
    with tempfile.TemporaryDirectory(prefix="sfumato-bench-") as folder:
        release.save(Path(folder) / "release", progress=stages.progress)
        stages.begin(None)
    counts = release.table.data.group_by(release.group).aggregate([([], "count_all")])["count_all"].to_numpy()
    return release.utility.loss.mean, int(counts[counts < k].sum())

"""CPU time of a full-domain search: each requirement with each loss, on a table and on multiples of its rows.

The baseline is the CPU time of a numpy lexsort of the quasi-identifier codes of the same table. A time is the least of
three runs on encoded columns, after a run that compiles the kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pyarrow as pa

from benchmarks.datasets.survey import adult_folder
from benchmarks.measurement import Notify, cpu_seconds, growth, lexsort_seconds, silent
from sfumato.anonymization.methods import Task
from sfumato.anonymization.methods.full_domain import SearchResult
from sfumato.anonymization.methods.full_domain.transformation_search import TransformationSearch
from sfumato.census import census_schema, synthetic_census
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.io.read_csv import read_csv
from sfumato.principles import KAnonymity, Principle, TCloseness
from sfumato.registry import LOSSES

SUPPRESSION_LIMIT = Fraction(1, 20)
"""The share of the rows that may be suppressed."""

GOALS = {"k": 0.3, "k, t equal": 1.1, "k, t hierarchical": 1.1}
"""The project's goals on the Adult table, by requirement: the largest number of CPU seconds."""

REQUIREMENTS: dict[str, tuple[Principle, ...]] = {
    "k": (KAnonymity(5),),
    "k, t equal": (KAnonymity(5), TCloseness("0.2")),
    "k, t hierarchical": (KAnonymity(5), TCloseness("0.2", "hierarchical")),
}

_CENSUS_ROWS = 5000


def run(times: Sequence[int], losses: Sequence[str] | None = None, notify: Notify = silent) -> dict[str, Any]:
    """Search with each requirement and loss on a table whose rows are repeated; `notify` receives the progress."""
    runs = []
    for source, make in _sources().items():
        for repetitions in times:
            table = make(repetitions)
            baseline = lexsort_seconds(table)
            for requirement in REQUIREMENTS:
                for loss in losses or LOSSES:
                    notify(f"{source}, {table.rows:,} rows: {requirement}, {loss}")
                    goal = None if source == "census" else GOALS[requirement]
                    runs.append({"source": source, **_measure(table, requirement, loss), "goal: CPU s": goal})
                    runs[-1]["lexsort, CPU s"] = round(baseline, 4)
                    runs[-1]["CPU / lexsort"] = round(runs[-1]["CPU s"] / baseline)
    return {"runs": runs, "growth": growth(runs, ("source", "requirements", "loss"))}


def _measure(table: Table, requirement: str, loss: str) -> dict[str, Any]:
    def search() -> SearchResult:
        return TransformationSearch(
            Task(table, REQUIREMENTS[requirement], suppress=SUPPRESSION_LIMIT), loss, settled=True
        ).best()

    search()
    seconds, result = min((cpu_seconds(search) for _ in range(3)), key=lambda timed: timed[0])
    return {
        "rows": table.rows,
        "requirements": requirement,
        "loss": loss,
        "score": None if result.score is None else float(result.score),
        "levels": list(result.levels),
        "suppressed": result.suppressed,
        "checked": result.checked,
        "transformations": result.transformations,
        "CPU s": round(seconds, 3),
    }


def _sources() -> dict[str, Callable[[int], Table]]:
    """Return Adult with each of two sensitive columns, or the synthetic census; all other columns are quasi-identifiers."""
    folder = adult_folder()
    if folder is None:
        return {"census": _census}
    data = read_csv(folder / "adult_30162.csv", ";").data
    hierarchies = {name: folder / "hierarchies" / f"{name}.csv" for name in data.column_names}

    def adult(sensitive: str) -> Callable[[int], Table]:
        quasi_identifiers = [name for name in data.column_names if name != sensitive]
        schema = Schema(quasi_identifiers, [sensitive], hierarchies=hierarchies)
        return lambda times: Table(pa.concat_tables([data] * times), schema, untyped=True)

    return {f"adult, sensitive {name}": adult(name) for name in ("salary-class", "occupation")}


def _census(times: int) -> Table:
    full = census_schema()
    names = [*full.quasi_identifiers, "workclass"]
    schema = Schema(full.quasi_identifiers, ["workclass"], hierarchies={name: full.hierarchies[name] for name in names})
    return Table(pa.concat_tables([synthetic_census(_CENSUS_ROWS).select(names)] * times), schema)

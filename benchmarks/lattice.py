"""What a full-domain search costs, in CPU seconds: each wish with each loss, on a table and on its rows several times over.

The yardstick is the CPU time of a numpy lexsort of the quasi-identifier codes of the same table. Times are the least of
three, from encoded columns, after a run that compiles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.anonymize import cpu_seconds
from benchmarks.settings import adult_folder
from sfumato.anonymization.methods import Task
from sfumato.anonymization.methods.full_domain import SearchResult, TransformationSearch
from sfumato.census import census_schema, synthetic_census
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.io.read_csv import read_csv
from sfumato.principles import KAnonymity, Principle, TCloseness
from sfumato.registry import LOSSES

LIMIT = Fraction(1, 20)
"""The share of the rows that may be suppressed."""

GOALS = {"k": 0.3, "k, t equal": 1.1, "k, t hierarchical": 1.1}
"""The project's own, on the Adult table: CPU seconds that should not be exceeded."""

WISHES: dict[str, tuple[Principle, ...]] = {
    "k": (KAnonymity(5),),
    "k, t equal": (KAnonymity(5), TCloseness("0.2")),
    "k, t hierarchical": (KAnonymity(5), TCloseness("0.2", "hierarchical")),
}

_CENSUS_ROWS = 5000


def run(
    times: Sequence[int], losses: Sequence[str] | None = None, tell: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """Search with each requirement and loss on a table whose rows are repeated; `tell` receives the progress."""
    runs = []
    for source, make in _sources().items():
        for often in times:
            table = make(often)
            sorting = _lexsort(table)
            for wish in WISHES:
                for loss in losses or LOSSES:
                    tell(f"{source}, {table.rows:,} rows: {wish}, {loss}")
                    runs.append({"source": source, **_measured(table, wish, loss, sorting, source != "census")})
    return {"runs": runs, "growth": _growth(runs)}


def _measured(table: Table, wish: str, loss: str, sorting: float, goal: bool) -> dict[str, Any]:
    def search() -> SearchResult:
        return TransformationSearch(Task(table, WISHES[wish], suppress=LIMIT), loss, settled=True).best()

    search()
    seconds, found = min((cpu_seconds(search) for _ in range(3)), key=lambda one: one[0])
    return {
        "rows": table.rows,
        "wish": wish,
        "loss": loss,
        "score": None if found.score is None else float(found.score),
        "levels": list(found.levels),
        "suppressed": found.suppressed,
        "checked": found.checked,
        "transformations": found.transformations,
        "CPU s": round(seconds, 3),
        "goal: CPU s": GOALS[wish] if goal else None,
        "lexsort, CPU s": round(sorting, 4),
        "CPU / lexsort": round(seconds / sorting),
    }


def _lexsort(table: Table) -> float:
    codes = [table.column(name).codes for name in table.schema.quasi_identifiers]
    return min(cpu_seconds(lambda: np.lexsort(codes))[0] for _ in range(3))


def _sources() -> dict[str, Callable[[int], Table]]:
    """Adult with each of two secrets, all other columns quasi-identifiers; where it is not there, the synthetic census."""
    folder = adult_folder()
    if folder is None:
        return {"census": _census}
    data = read_csv(folder / "adult_30162.csv", ";").data
    trees = {name: folder / "hierarchies" / f"{name}.csv" for name in data.column_names}

    def adult(secret: str) -> Callable[[int], Table]:
        schema = Schema([name for name in data.column_names if name != secret], [secret], hierarchies=trees)
        return lambda times: Table(pa.concat_tables([data] * times), schema, untyped=True)

    return {f"adult, secret {secret}": adult(secret) for secret in ("salary-class", "occupation")}


def _census(times: int) -> Table:
    full = census_schema()
    names = [*full.quasi_identifiers, "workclass"]
    schema = Schema(full.quasi_identifiers, ["workclass"], hierarchies={name: full.hierarchies[name] for name in names})
    return Table(pa.concat_tables([synthetic_census(_CENSUS_ROWS).select(names)] * times), schema)


def _growth(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each wish and loss that was measured on more rows than the first time, how much more CPU time that took."""
    kinds = ("source", "wish", "loss")
    return [
        {
            **{kind: small[kind] for kind in kinds},
            "rows": [small["rows"], large["rows"]],
            "times the rows": round(large["rows"] / small["rows"], 2),
            "times the CPU time": round(large["CPU s"] / max(small["CPU s"], 0.001), 2),
        }
        for small in runs
        for large in runs
        if all(small[kind] == large[kind] for kind in kinds) and small["rows"] == runs[0]["rows"] < large["rows"]
    ]

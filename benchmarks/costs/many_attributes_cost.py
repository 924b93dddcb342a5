"""CPU time and memory of MinRisk on a table as wide and as long as that of Lebanon et al. (2006).

Theirs has over 70 attributes and about 400,000 records. This one is synthetic: each attribute has few common and many rare
values, and the table is its own dictionary. The baseline is the CPU time of a numpy lexsort of the same codes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.measurement import Notify, cpu_seconds, in_separate_process, peak_megabytes, silent
from sfumato.data.schema import Schema
from sfumato.disclosure import Dictionary, Multiplicative, min_risk, risk_of, setting_of

_VALUES = 200
"""The distinct values of an attribute; value v is as frequent as 1/(v + 1)."""
_WARM_UP_ROWS = 1000


def run(rows: int, attributes: int, cells: int, seed: int = 0, notify: Notify = silent) -> dict[str, Any]:
    """Measure in a process of its own; `notify` receives the progress."""
    notify(f"{rows:,} records of {attributes} attributes")
    return {"runs": [in_separate_process(measure, rows, attributes, cells, seed)]}


def measure(rows: int, attributes: int, cells: int, seed: int) -> dict[str, Any]:
    """Match a table with itself, disclose `cells` values of each record by MinRisk, and measure the risk."""
    _found(_table(_WARM_UP_ROWS, attributes, seed), cells)
    table = _table(rows, attributes, seed)
    codes = [column.to_numpy() for column in table.columns[:-1]]
    baseline = cpu_seconds(lambda: np.lexsort(codes))[0]
    (matching_seconds, rule_seconds, risk_seconds), found = _found(table, cells)
    return {
        "records": rows,
        "attributes": attributes,
        "values disclosed per record": cells,
        "matching, CPU s": round(matching_seconds, 1),
        "MinRisk, CPU s": round(rule_seconds, 1),
        "risk, CPU s": round(risk_seconds, 1),
        "lexsort, CPU s": round(baseline, 2),
        "peak memory, MB": peak_megabytes(),
        **found,
    }


def _found(table: pa.Table, cells: int) -> tuple[tuple[float, float, float], dict[str, Any]]:
    names = table.column_names[:-1]
    schema = Schema(names, identifiers=["person"])
    phi = Multiplicative(default="0.05")

    def matched() -> Any:
        book = Dictionary(table, identity="person", name="the table")
        return setting_of(table, schema, book, identity="person", sensitivity=phi)

    matching_seconds, setting = cpu_seconds(matched)
    rule_seconds, rule = cpu_seconds(lambda: min_risk(setting.matchings[0], setting.phi, cells))
    risk_seconds, risk = cpu_seconds(lambda: risk_of(setting, rule.disclosed))
    return (matching_seconds, rule_seconds, risk_seconds), {"risk": risk.risk, "bound": rule.bound}


def _table(rows: int, attributes: int, seed: int) -> pa.Table:
    random = np.random.default_rng(seed)
    share = 1 / np.arange(1, _VALUES + 1)
    columns = {f"a{j}": random.choice(_VALUES, rows, p=share / share.sum()).astype(np.int32) for j in range(attributes)}
    return pa.table({**columns, "person": np.arange(rows)})

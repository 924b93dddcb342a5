"""Time of an audit. The baseline is the time of a numpy lexsort of the same quasi-identifier codes."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from benchmarks.datasets.survey import survey_folder
from benchmarks.measurement import peak_megabytes
from sfumato._audit import audit
from sfumato.census import census_schema, synthetic_census
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.distances import Lp
from sfumato.errors import FileError
from sfumato.io.read_csv import read_csv
from sfumato.principles import (
    Dissimilarity,
    DistinctLDiversity,
    EntropyLDiversity,
    FrequencyLDiversity,
    KAnonymity,
    Principle,
    RecursiveLDiversity,
    TCloseness,
)

_REPEATS = 3


def run(rows: int, seed: int, pycanon: Path | None) -> dict[str, Any]:
    """Measure; return the figures in reading order."""
    data, schema, source, income = _table(rows, seed)
    principles = _principles(income)
    small = Table(data.slice(0, rows // 10), schema)
    table = Table(data, schema)
    started = time.perf_counter()
    for name in (*schema.quasi_identifiers, *schema.sensitive):
        table.column(name)
    encoding = time.perf_counter() - started
    codes = [table.column(name).codes for name in schema.quasi_identifiers]
    audit(small, None, principles)  # compiles the kernels or loads them from the cache
    lexsort = _least_seconds(lambda: np.lexsort(codes))
    full = _least_seconds(lambda: audit(table, None, principles))
    tenth = _least_seconds(lambda: audit(small, None, principles))
    each = {p.label: _least_seconds(lambda p=p: audit(table, None, [p])) for p in principles}  # type: ignore[misc]
    figures: dict[str, Any] = {
        "source": source,
        "rows": rows,
        "groups": audit(table, None, principles).groups.count,
        "lexsort of the quasi-identifier codes, s": round(lexsort, 4),
        "audit of all principles, s": round(full, 4),
        "audit / lexsort": round(full / lexsort, 2),
        "audit of a tenth of the rows, s": round(tenth, 4),
        "time for ten times the rows": round(full / tenth, 2),
        "encoding the columns, s": round(encoding, 4),
        # before pycanon runs
        "peak memory, MB": peak_megabytes(),
    }
    figures |= {f"  only {label}, s": round(seconds, 4) for label, seconds in each.items()}
    if pycanon is not None:
        figures |= _compare_with_pycanon(pycanon, table, schema, income)
    return figures


def _table(rows: int, seed: int) -> tuple[pa.Table, Schema, str, str]:
    """Return the data, its schema, its origin, and the name of its income column."""
    folder = survey_folder()
    random = np.random.default_rng(seed)
    if folder is None:
        return synthetic_census(rows, seed), census_schema(), "synthetic census", "income"
    data = read_csv(folder / "sal_occ.csv.gz").data
    data = data.select(["age", "gender", "marital", "race", "education", "workclass", "income50"])
    for name in ("age", "income50"):
        data = data.set_column(data.column_names.index(name), name, data[name].cast(pa.int64()))
    data = data.combine_chunks().take(random.integers(0, data.num_rows, rows)).combine_chunks()
    order = [
        line.split(";")[0] for line in (folder / "hierarchies" / "education.csv").read_text(encoding="utf-8").splitlines()
    ]
    schema = Schema(
        quasi_identifiers=["age", "gender", "marital", "race"],
        sensitive=["education", "workclass", "income50"],
        orders={"education": order},
        hierarchies={"workclass": folder / "hierarchies" / "workclass.csv"},
        distance=Lp(p=1, weights={"education": "0.4", "workclass": "0.2", "income50": "0.4"}, by={"income50": "rank"}),
    )
    return data, schema, "sal_occ.csv.gz, resampled", "income50"


def _principles(income: str) -> list[Principle]:
    return [
        KAnonymity(5),
        DistinctLDiversity(3, on="whole"),
        FrequencyLDiversity(3, on="whole"),
        EntropyLDiversity(3, on="whole"),
        RecursiveLDiversity(3, 2, on="whole"),
        TCloseness("0.2", on="education"),
        TCloseness("0.2", "ordered", on=income),
        TCloseness("0.2", "hierarchical", on="workclass"),
        Dissimilarity("0.1", "0.8", 10),
    ]


def _least_seconds(work: Callable[[], Any]) -> float:
    """Return the least wall time of a few runs, which other work on the machine affects least."""
    times = []
    for _ in range(_REPEATS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


_PYCANON_SCRIPT = """
import json, sys, time
import pandas as pd
from pycanon import anonymity
path, quasi, whole, education, income = sys.argv[1], json.loads(sys.argv[2]), *sys.argv[3:]
frame = pd.read_csv(path)
calls = {
    "k-anonymity": lambda: anonymity.k_anonymity(frame, quasi),
    "distinct l-diversity": lambda: anonymity.l_diversity(frame, quasi, [whole]),
    "entropy l-diversity": lambda: anonymity.entropy_l_diversity(frame, quasi, [whole]),
    "recursive (c,l)-diversity": lambda: anonymity.recursive_c_l_diversity(frame, quasi, [whole]),
    "t-closeness, equal": lambda: anonymity.t_closeness(frame, quasi, [education]),
    "t-closeness, ordered": lambda: anonymity.t_closeness(frame, quasi, [income]),
}
for name, call in calls.items():
    started = time.perf_counter()
    try:
        call()
        print(json.dumps([name, time.perf_counter() - started]), flush=True)
    except Exception as error:
        print(json.dumps([name, f"{type(error).__name__}: {error}"]), flush=True)
"""


def _compare_with_pycanon(python: Path, table: Table, schema: Schema, income: str) -> dict[str, Any]:
    """Measure pycanon and sfumato on the same table, with the principles that both have."""
    common = [
        KAnonymity(5),
        DistinctLDiversity(3, on="whole"),
        EntropyLDiversity(3, on="whole"),
        RecursiveLDiversity(3, 2, on="whole"),
        TCloseness("0.2", on="education"),
        TCloseness("0.2", "ordered", on=income),
    ]
    frame = table.data
    whole = [" + ".join(map(str, row)) for row in zip(*(frame[n].to_pylist() for n in schema.sensitive), strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        arrow_csv.write_csv(frame.append_column("whole", pa.array(whole)), path)
        arguments = [str(path), json.dumps(list(schema.quasi_identifiers)), "whole", "education", income]
        try:
            done = subprocess.run(
                [str(python), "-W", "ignore", "-c", _PYCANON_SCRIPT, *arguments], capture_output=True, text=True, check=True
            )
        except (OSError, subprocess.CalledProcessError) as error:
            reason = getattr(error, "stderr", "") or str(error)
            raise FileError(
                f"pycanon cannot be run: {reason.strip().splitlines()[-1]}",
                remedy="Pass a Python interpreter that has pycanon installed.",
                file=str(python),
            ) from error
    seconds = dict(json.loads(line) for line in done.stdout.splitlines())
    pycanon = sum(value for value in seconds.values() if isinstance(value, float))
    sfumato = _least_seconds(lambda: audit(table, None, common))
    return {
        "pycanon, the principles that both have, s": round(pycanon, 2),
        "sfumato, the same principles, s": round(sfumato, 4),
        "pycanon / sfumato": round(pycanon / sfumato, 1),
        **{f"  pycanon: {name}, s": v if isinstance(v, str) else round(v, 3) for name, v in seconds.items()},
    }

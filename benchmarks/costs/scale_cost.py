"""Time and memory of large tables, from a file to a release or an audit, by each engine in a process of its own."""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from pyarrow import csv as arrow_csv
from pyarrow import parquet

from benchmarks.measurement import Notify, descendants_cpu_seconds, in_separate_process, peak_megabytes
from benchmarks.measurement import silent as ignore_notice
from sfumato._audit import audit
from sfumato.anonymization._anonymize import anonymize
from sfumato.anonymization.methods.method import FINDING
from sfumato.census import census_schema, synthetic_census
from sfumato.engines import Engine, Spark, Stream, engine_of
from sfumato.io.read_spark import required_session
from sfumato.principles import Dissimilarity, DistinctLDiversity, KAnonymity
from sfumato.verification._verify import verify

GOAL = 4000
"""The project's goal: the most memory, in MB, for 20,000,000 rows by the engine that streams."""

_CHUNK = 1_000_000
"""Rows that are made at a time, each chunk with a seed of its own."""

REQUIREMENTS = (KAnonymity(10), *(DistinctLDiversity(3, on=name) for name in ("education", "workclass", "income")))

AUDITED = (*REQUIREMENTS, Dissimilarity(epsilon=5000, delta="0.8", k=10, on="income"))
"""What an audit measures: the requirements, and one about distances."""

MASTER = "local-cluster[2,1,2048]"
"""The cluster of the engine spark: two processes of this machine, with one core and 2 GB each."""


def run(
    rows: Sequence[int],
    engines: Sequence[str],
    method: str,
    form: str,
    seed: int,
    notify: Notify = ignore_notice,
    master: str = MASTER,
    audited: bool = False,
    again: bool = False,
) -> dict[str, Any]:
    """Make, save and verify a release of the synthetic census with each number of rows and each engine.

    `audited`: audit the census instead. `again`: make and save the release once more in the same process.
    """
    runs = []
    for size in rows:
        with tempfile.TemporaryDirectory(prefix="sfumato-bench-") as folder:
            path = Path(folder) / f"people.{form}"
            notify(f"{size:,} rows: making the file")
            make_file(path, size, seed)
            for name in engines:
                notify(f"{size:,} rows, {name}")
                if audited:
                    runs.append({"rows": size, "format": form, **in_separate_process(measure_audit, path, name, master)})
                    continue
                made = in_separate_process(measure, path, name, method, form, seed, master, again)
                runs.append({"rows": size, "method": method, "format": form, **made})
    measured = AUDITED if audited else REQUIREMENTS
    return {"runs": runs, "requirements": [one.label for one in measured], "goal, MB": GOAL}


def make_file(path: Path, rows: int, seed: int) -> None:
    """Write a synthetic census to a CSV or Parquet file, chunk by chunk."""
    write: Any = None
    for number, start in enumerate(range(0, rows, _CHUNK)):
        chunk = synthetic_census(min(_CHUNK, rows - start), seed * 1_000_000 + number)
        if write is None:
            kind = arrow_csv.CSVWriter if path.suffix == ".csv" else parquet.ParquetWriter
            write = kind(path, chunk.schema)
        write.write_table(chunk)
    write.close()


def measure(path: Path, name: str, method: str, form: str, seed: int, master: str, again: bool = False) -> dict[str, Any]:
    """Run one engine from the file to the release, and check the release against the file again.

    Executors of Spark read Parquet files in that check themselves. `again`: then make and save the release once more; that
    is how long it takes where a session of Spark has worked before.
    """
    engine = _engine(name, path.parent, master)
    times = [time.perf_counter()]
    with engine.running():
        times.append(time.perf_counter())
        searching: list[float] = []

        def note(step: str, share: float | None = None) -> None:
            if step == FINDING:
                searching.append(time.perf_counter())

        def make(folder: Path) -> dict[str, Any]:
            release = anonymize(path, census_schema(), REQUIREMENTS, method=method, seed=seed, engine=engine, progress=note)
            release.save(folder, format=form)
            return {"groups": release.audit.groups.count, "loss": release.loss, "holds": release.audit.holds}

        folder = path.parent / f"release-{name}"
        found = make(folder)
        times.append(time.perf_counter())
        checked = verify(folder, _source(path, name), engine=engine)
        times.append(time.perf_counter())
        searched = searching[-1] - searching[0]
        if again:
            make(path.parent / f"release-{name}-again")
            found["made and saved again, s"] = round(time.perf_counter() - times[-1], 1)
    with (folder / f"data.{form}").open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    started, made, verified = (round(after - before, 1) for before, after in pairwise(times))
    return {
        "engine": name,
        **found,
        "verified": checked.holds,
        "start, s": started,
        "made and saved, s": made,
        "of which groups, s": round(searched, 1),
        "verified again, s": verified,
        "CPU s": round(time.process_time(), 1),
        "peak memory, MB": peak_megabytes(),
        "SHA-256": digest[:12],
    }


def measure_audit(path: Path, name: str, master: str) -> dict[str, Any]:
    """Audit the file by one engine, up to the text of the result; the executors of Spark read a Parquet file themselves."""
    engine = _engine(name, path.parent, master)
    times = [time.perf_counter()]
    with engine.running():
        times.append(time.perf_counter())
        result = audit(_source(path, name), census_schema(), AUDITED, engine=engine)
        found = result.to_dict() | {"source": None}
        times.append(time.perf_counter())
        cluster = {} if name != Spark.name else {"CPU s of the cluster": round(descendants_cpu_seconds(), 1)}
    started, audited = (round(after - before, 1) for before, after in pairwise(times))
    return {
        "engine": name,
        "groups": result.groups.count,
        "start, s": started,
        "audited, s": audited,
        "CPU s": round(time.process_time(), 1),
        **cluster,
        "peak memory, MB": peak_megabytes(),
        "SHA-256": hashlib.sha256(json.dumps(found).encode()).hexdigest()[:12],
    }


def _source(path: Path, name: str) -> Any:
    """Return a table where its engine reads it: a Parquet file on executors as a DataFrame of Spark."""
    is_frame = name == Spark.name and path.suffix == ".parquet"
    return required_session("spark://").read.parquet(str(path)) if is_frame else path


def _engine(name: str, folder: Path, master: str) -> Engine:
    if name == Stream.name:
        return Stream(folder)
    return Spark(master, folder=folder) if name == Spark.name else engine_of(name)

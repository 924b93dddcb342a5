"""Engines: a table on disk gives the same bytes as a table in memory, whatever the file, and leaves nothing behind."""

from __future__ import annotations

import gzip
import os
import pickle
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import csv as arrow_csv
from pyarrow import parquet

import sfumato as sf
from sfumato import engines, storage
from sfumato.cli import main
from sfumato.io import stored_columns
from sfumato.io.read_table import read_table

FILES = ("data.csv", "data.parquet", "release.json", "report.html")


@pytest.fixture(autouse=True)
def _everything_is_large(monkeypatch):
    monkeypatch.setattr(storage, "LARGE", 1)


def written(table, path):
    if path.suffix == ".parquet":
        parquet.write_table(table, path)
    else:
        arrow_csv.write_csv(table, path)
    return path


def people(rows, seed=0):
    random = np.random.default_rng(seed)
    age = [None if one < 20 else int(one) for one in random.integers(18, 90, rows)]
    return pa.table(
        {
            "name": [f"n{i // 2}" for i in range(rows)],
            "age": pa.array(age, pa.int64()),
            "town": random.choice(["Ulm", "Bonn", "Köln", "a; b"], rows).tolist(),
            "born": [f"19{i % 90 + 10}-0{i % 9 + 1}-11" for i in range(rows)],
            "ill": random.choice(["flu", "gout", "cold", ""], rows).tolist(),
            "income": random.integers(0, 50, rows) / 4,
            "job": ["cook", "nurse"] * (rows // 2) + ["cook"] * (rows % 2),
            "notes": ["x"] * rows,
        }
    )


SCHEMA = sf.Schema(["age", "town", "born"], ["ill", "income"], identifiers=["name"], other=["job"])


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def releases(path, tmp_path, schema, principles, form, **more):
    """The files of the same release, made by each engine, and the notes on it."""
    made = []
    for engine in ("local", "stream"):
        release = sf.anonymize(path, schema, principles, engine=engine, **more)
        folder = release.save(tmp_path / f"{path.name}-{engine}-{form}", format=form)
        assert sf.verify(folder, path, schema=schema, principles=principles, engine=engine).holds
        made.append((files_of(folder), release.private.notes, release.notes))
    return made


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("method", ["glaze", "mondrian"])
def test_both_engines_make_the_same_files(tmp_path, suffix, method):
    path = written(people(120), tmp_path / f"people{suffix}")
    requirements = [sf.KAnonymity(4), sf.DistinctLDiversity(2, on="ill")]
    local, stream = releases(path, tmp_path, SCHEMA, requirements, suffix[1:], method=method, seed=3)
    assert local == stream
    assert any("'name' recur" in note for note in local[1])  # hashes of identifiers count as their cells do


def test_parts_of_a_table_on_disk_are_those_of_a_table_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(sf.Glaze, "part_rows", 30)
    path = written(people(150), tmp_path / "people.csv")
    local, stream = releases(path, tmp_path, SCHEMA, sf.KAnonymity(3), "csv", method="glaze", seed=5)
    assert local == stream


def test_rows_may_be_suppressed_and_people_counted(tmp_path):
    path = written(people(90), tmp_path / "people.csv")
    schema = sf.Schema(["age", "town"], ["ill"], person_id="name")
    local, stream = releases(path, tmp_path, schema, sf.KAnonymity(3), "csv", suppress="0.1")
    assert local == stream


@settings(max_examples=15)
@given(
    rows=st.integers(8, 60),
    seed=st.integers(0, 2**16),
    principle=st.sampled_from(
        [sf.KAnonymity(3), sf.TCloseness("0.6", on="ill"), sf.Dissimilarity(epsilon=1, delta="0.2", k=2, on="income")]
    ),
)
def test_the_engine_does_not_change_the_published_table(tmp_path_factory, rows, seed, principle):
    path = written(people(rows, seed), tmp_path_factory.mktemp("engines") / "people.csv")
    found = []
    for engine in ("local", "stream"):
        try:
            release = sf.anonymize(path, SCHEMA, principle, engine=engine, suppress="0.9", seed=seed)
            found.append((release.table.data.to_pydict(), release.to_dict()))
        except sf.SfumatoError as error:
            found.append(str(error))
    assert found[0] == found[1]


def audit_texts(found):
    """Everything that an audit says: its text, its JSON, and one row per group."""
    return repr(found), found.to_json(), found.details().to_pydict(), found.holds


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.integers(1, 60),
    seed=st.integers(0, 2**16),
    schema=st.sampled_from(
        [
            SCHEMA,
            sf.Schema(["age", "town"], ["ill", "income"], person_id="name"),
            sf.Schema(["age"], ["ill", "income"], group="town"),
            sf.Schema([], ["ill", "income"]),
        ]
    ),
    principle=st.sampled_from(
        [
            sf.KAnonymity(3),
            sf.EntropyLDiversity(2, on="ill"),
            sf.TCloseness("0.6", on="ill"),
            sf.BetaLikeness(1, on="ill"),
            sf.Dissimilarity(epsilon=1, delta="0.2", k=2, on="income"),
        ]
    ),
)
def test_the_engine_does_not_change_an_audit(tmp_path_factory, suffix, rows, seed, schema, principle):
    path = written(people(rows, seed), tmp_path_factory.mktemp("audits") / f"people{suffix}")
    found = []
    for engine in ("local", "stream"):
        try:
            found.append(audit_texts(sf.audit(path, schema, principle, engine=engine)))
        except sf.SfumatoError as error:
            found.append(str(error))
    assert found[0] == found[1]


def test_an_audit_keeps_the_table_on_disk_if_that_is_requested_or_needed(tmp_path, monkeypatch):
    path = written(people(60), tmp_path / "people.csv")

    def is_on_disk(engine=None):
        return storage.is_stored(sf.audit(path, SCHEMA, sf.KAnonymity(2), engine=engine).table.column("age").codes)

    assert [is_on_disk(), is_on_disk("local"), is_on_disk("stream")] == [False, False, True]
    assert is_on_disk(engines.Stream(tmp_path))
    monkeypatch.setattr(engines.os, "sysconf", lambda name: 64)  # a machine with four kilobytes
    assert [is_on_disk(), is_on_disk("local")] == [True, False]


def test_an_audit_refuses_an_engine_that_does_not_exist_or_suit_the_data(tmp_path, monkeypatch):
    path = written(people(60), tmp_path / "people.csv")
    with pytest.raises(sf.errors.ParameterError, match=r"there is no engine 'fast'. Write one of: local, stream, spark"):
        sf.audit(path, SCHEMA, sf.KAnonymity(2), engine="fast")
    for data in (people(60), people(60).to_pandas(), sf.read_table(path, SCHEMA)):
        for engine in ("stream", engines.Stream(tmp_path)):
            with pytest.raises(sf.errors.ParameterError, match=r"reads files, .* Pass the path of a CSV or Parquet file"):
                sf.audit(data, SCHEMA, sf.KAnonymity(2), engine=engine)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(sf.errors.FileError, match=r'pip install "sfumato\[spark\]"'):
        sf.audit(path, SCHEMA, sf.KAnonymity(2), engine="spark")


TEXTS = {
    "plain": b"age,ill\n30,flu\n31,gout\n",
    "no line break at the end": b"age,ill\n30,flu\n31,gout",
    "mark": b"\xef\xbb\xbfage,ill\n30,flu\n",
    "latin": "age,ill\n30,grün\n".encode("cp1252"),
    "utf-16": "age,ill\n30,grün\n".encode("utf-16"),
    "quotes": b'age,ill\n30,"flu\nand ""gout"""\n31,cold\n',
    "semicolons": b"age;ill\n30;flu\n",
    "compressed": gzip.compress(b"age,ill\n30,flu\n31,gout\n"),
    "header alone": b"age,ill",
    "empty": b"",
    "blank": b" \n \n",
    "ragged": b"age,ill\n30,flu\n31\n",
    "open quote": b'age,ill\n30,"flu\n31,gout\n',
    "nul": b"age,ill\n30,fl\0u\n",
    "truncated": gzip.compress(b"age,ill\n30,flu\n31,gout\n" * 50)[:40],
    "twice": b"age,age\n30,flu\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_csv_is_read_piece_by_piece_as_at_once(tmp_path, name):
    path = tmp_path / "people.csv"
    path.write_bytes(TEXTS[name])
    found = []
    for engine in (engines.Local(), engines.Stream(tmp_path)):
        try:
            with engine.running():
                table = read_table(path, sf.Schema(["age"], ["ill"]))
            found.append((table.data.cast(pa.schema([("age", "string"), ("ill", "string")])).to_pydict(), table.notes))
        except sf.SfumatoError as error:
            found.append((type(error), str(error)))
    assert found[0] == found[1]


def test_what_is_not_needed_is_not_kept(tmp_path):
    path = written(people(20), tmp_path / "people.parquet")
    with engines.Stream().running():
        data = read_table(path, SCHEMA).data
    assert data.schema.field("name").type == pa.int64()  # hashes
    assert data.schema.field("notes").type == pa.null()
    assert data.column("age").to_pylist() == people(20).column("age").to_pylist()


def test_typed_cells_are_read_as_they_are(tmp_path):
    cells = {
        "x": pa.array([0.5, float("nan"), -0.0, 0.0, None, 0.5], pa.float32()),
        "t": pa.array([1, 2, 1, None, 2**40 + 1, 1], pa.timestamp("ns")),
        "d": pa.array([1, None, 3, 1, 1, 2], pa.date32()),
        "b": pa.array([True, None, False, True, True, True]),
        "s": pa.array(["a", "b", None, "", "a", "é"]).dictionary_encode(),
        "n": pa.array([None] * 6, pa.int16()),
    }
    path = tmp_path / "typed.parquet"
    parquet.write_table(pa.table(cells), path, row_group_size=2)
    monkey = pytest.MonkeyPatch()
    with engines.Stream().running(), monkey.context() as patch:
        patch.setattr("sfumato.io.read_table._BATCH", 2)  # several batches, with dictionaries of their own
        data = read_table(path, sf.Schema(other=list(cells))).data
    for name, column in cells.items():
        plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        assert repr(data.column(name).cast(plain.type).to_pylist()) == repr(pa.chunked_array([plain]).to_pylist())


def test_nothing_has_a_name_on_disk_and_nothing_is_left(tmp_path):
    spill = tmp_path / "spill"
    spill.mkdir()
    with storage.Storage(spill).active():
        numbers = storage.stored(np.arange(1000))
        assert storage.is_stored(numbers) and not list(spill.iterdir())
    assert numbers.sum() == 499500  # the array outlives the storage


def test_a_release_on_disk_can_be_pickled(tmp_path):
    path = written(people(40), tmp_path / "people.csv")
    release = sf.anonymize(path, SCHEMA, sf.KAnonymity(4), engine="stream")
    again = pickle.loads(pickle.dumps(release))
    assert again.frame.equals(release.frame)
    assert again.to_dict() == release.to_dict()


def test_a_corrupt_file_is_not_taken_for_a_full_disk(tmp_path):
    path = written(people(3000), tmp_path / "people.parquet")
    content = bytearray(path.read_bytes())
    content[100:3000] = bytes(2900)  # the end, which describes the file, is intact
    path.write_bytes(content)
    with pytest.raises(sf.errors.FileError) as raised:
        sf.anonymize(path, SCHEMA, sf.KAnonymity(4), engine="stream")
    assert raised.value.file == str(path)


def test_a_killed_process_leaves_nothing(tmp_path):
    code = """
        import sys, time
        import numpy as np
        from sfumato.storage import Storage, stored
        with Storage(sys.argv[1]).active():
            arrays = [stored(np.arange(1_000_000)) for _ in range(5)]
            print("ready", flush=True)
            time.sleep(60)
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "ready\n"
        os.kill(process.pid, signal.SIGKILL)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")
def test_a_full_disk_is_an_error_and_nothing_is_written(tmp_path):
    path = written(people(4000), tmp_path / "people.csv")
    spill, out = tmp_path / "spill", tmp_path / "out"
    spill.mkdir()
    code = """
        import resource, sys
        import sfumato as sf
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, resource.RLIM_INFINITY))
        path, spill, out = sys.argv[1:]
        try:
            schema = sf.Schema(["age", "town"], ["ill"])
            sf.anonymize(path, schema, sf.KAnonymity(4), engine=sf.engines.Stream(spill)).save(out)
        except sf.errors.FileError as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(path), str(spill), str(out)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith(f"{spill}: the disk is full")
    assert "engine.folder" in done.stdout
    assert not out.exists() and not list(spill.iterdir())


def test_a_column_with_too_many_values_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(stored_columns, "_LARGEST", 1000)
    path = written(people(200), tmp_path / "people.csv")
    with pytest.raises(sf.errors.ColumnError, match="distinct values so far") as raised:
        sf.anonymize(path, SCHEMA, sf.KAnonymity(4), engine="stream")
    assert raised.value.column == "born"


def test_lists_are_refused(tmp_path):
    path = tmp_path / "people.parquet"
    parquet.write_table(pa.table({"age": [30, 31], "drugs": [["a"], ["a", "b"]]}), path)
    with pytest.raises(sf.errors.ColumnError, match="piece by piece"):
        sf.anonymize(path, sf.Schema(["age"], ["drugs"]), sf.KAnonymity(2), engine="stream")


def test_the_engine_is_chosen_by_name_or_by_size(tmp_path, monkeypatch):
    path = written(people(20), tmp_path / "people.csv")
    table = written(people(20), tmp_path / "people.parquet")
    assert isinstance(engines.engine_of(None, path), engines.Local)
    monkeypatch.setattr(engines.os, "sysconf", lambda name: 64)  # a machine with four kilobytes
    assert isinstance(engines.engine_of(None, path), engines.Stream)
    assert isinstance(engines.engine_of(None, table), engines.Stream)
    assert isinstance(engines.engine_of("local", path), engines.Local)
    assert isinstance(engines.engine_of(None, people(20)), engines.Local)
    with pytest.raises(sf.errors.ParameterError, match="there is no engine 'fast'"):
        engines.engine_of("fast")
    with pytest.raises(sf.errors.FileError, match="no such folder"):
        engines.Stream(tmp_path / "nowhere")


CONFIG = """
[data]
path = "people.csv"
[columns.age]
role = "quasi-identifier"
[columns.ill]
role = "sensitive"
[[principles]]
name = "k-anonymity"
k = 4
[engine]
name = "stream"
folder = "spill"
"""


def test_the_command_line_and_the_config_name_the_engine(tmp_path):
    written(people(60), tmp_path / "people.csv")
    (tmp_path / "spill").mkdir()
    config = tmp_path / "sfumato.toml"
    config.write_text(CONFIG, encoding="utf-8")
    assert sf.Config.load(config).chosen_engine() == engines.Stream(tmp_path / "spill")
    run = CliRunner()
    for engine in ("local", "stream"):
        arguments = ["anonymize", str(config), "--output", str(tmp_path / engine), "--engine", engine]
        assert run.invoke(main, arguments).exit_code == 0
        checked = ["verify", str(tmp_path / engine), "--original", str(tmp_path / "people.csv"), "--engine", engine]
        assert run.invoke(main, checked).exit_code == 0
    assert files_of(tmp_path / "local") == files_of(tmp_path / "stream")
    config.write_text(CONFIG.replace('"spill"', '"nowhere"'), encoding="utf-8")
    with pytest.raises(sf.errors.ConfigError, match="no such folder"):
        sf.Config.load(config).chosen_engine()


def test_the_audit_of_the_command_line_uses_the_engine_of_the_config_or_the_option(tmp_path, monkeypatch):
    written(people(60), tmp_path / "people.csv")
    (tmp_path / "spill").mkdir()
    config = tmp_path / "sfumato.toml"
    config.write_text(CONFIG, encoding="utf-8")
    folders = []
    monkeypatch.setattr(
        storage.Storage,
        "array",
        lambda self, values, make=storage.Storage.array: folders.append(self.folder) or make(self, values),
    )
    said = {}
    for options in ([], ["--engine", "local"], ["--engine", "stream"], ["--engine", "local", "--json"], ["--json"]):
        folders.clear()
        done = CliRunner().invoke(main, ["audit", str(config), *options])
        assert done.exit_code == 1  # a principle does not hold
        assert set(folders) == (set() if "local" in options else {tmp_path / "spill"})
        said.setdefault("--json" in options, set()).add(done.stdout)
    assert [len(texts) for texts in said.values()] == [1, 1]
    refused = CliRunner().invoke(main, ["audit", str(config), "--master", "yarn"])
    assert refused.exit_code == 2
    assert "only the engine spark has a master" in refused.stderr

"""Files and frames: every cell is read as it was written, and what cannot be read is an error with a reason."""

from __future__ import annotations

import csv
import gzip
import io
import os
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import sfumato as sf
from sfumato.io.read_csv import read_csv
from sfumato.io.write_files import write_csv


@pytest.fixture
def write(tmp_path):
    def write_(content, name="people.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_


def cells(path, **options):
    return read_csv(path, **options).data.to_pydict()


def test_text_is_not_converted(write):
    path = write("zip,state,flag,n\n01234,NA,true,1.50\n00501,null,TRUE,nan\n,N/A,,-0\n")
    assert cells(path) == {
        "zip": ["01234", "00501", ""],
        "state": ["NA", "null", "N/A"],
        "flag": ["true", "TRUE", ""],
        "n": ["1.50", "nan", "-0"],
    }


ordinary = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0\r", exclude_categories=("Cs",)), max_size=6)


@given(
    st.lists(st.tuples(ordinary, ordinary, ordinary), min_size=1, max_size=5),
    st.sampled_from([",", ";", "\t", "|"]),
    st.booleans(),
)
def test_everything_that_csv_writes_is_read(tmp_path_factory, rows, delimiter, compressed):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([("alpha", "beta", "gamma"), *rows])
    path = tmp_path_factory.mktemp("csv") / ("t.csv.gz" if compressed else "t.csv")
    raw = text.getvalue().encode()
    path.write_bytes(gzip.compress(raw) if compressed else raw)
    found = read_csv(path, delimiter=delimiter, encoding="utf-8").data
    assert list(zip(*found.to_pydict().values(), strict=True)) == rows


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiter_is_detected(write, delimiter):
    path = write(f'a{delimiter}b\n1{delimiter}"x, y; z"\n2{delimiter}w\n')
    assert cells(path) == {"a": ["1", "2"], "b": ["x, y; z", "w"]}


def test_one_column(write):
    assert cells(write("name\nann\n\nbob\n")) == {"name": ["ann", "", "bob"]}


def test_empty_lines_between_rows_are_skipped(write):
    assert cells(write("a,b\n1,2\n\n3,4\n\n")) == {"a": ["1", "3"], "b": ["2", "4"]}


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_line_endings(write, ending):
    assert cells(write(ending.join(["a,b", "1,2", "3,4"]))) == {"a": ["1", "3"], "b": ["2", "4"]}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"])
def test_encoding_is_detected_or_declared(write, encoding):
    path = write("name\nMüller\nÅse\n".encode(encoding))
    assert cells(path) == {"name": ["Müller", "Åse"]}
    assert cells(path, encoding=encoding) == {"name": ["Müller", "Åse"]}
    guessed = encoding in ("latin-1", "cp1252")
    assert bool(read_csv(path).notes) == guessed


def test_a_row_may_be_longer_than_a_block(write):
    long = "x" * (9 << 20)
    for mark in ("", '"'):
        assert cells(write(f"a,b\n1,{mark}{long}{mark}\n2,y\n")) == {"a": ["1", "2"], "b": [long, "y"]}


@pytest.mark.parametrize("seed", range(20))
def test_line_breaks_within_quotes_wherever_a_block_ends(write, monkeypatch, seed):
    monkeypatch.setattr("sfumato.io.read_csv._BLOCK", 1 << 14)
    random = np.random.default_rng(seed)
    texts = ["\n" * (n < seed) + "x" * m for n, m in random.integers(0, 40, (2000, 2)).tolist()]
    found = cells(write("n,text\n" + "".join(f'{i},"{text} ""so"", {text}"\n' for i, text in enumerate(texts))))
    assert found["text"] == [f'{text} "so", {text}' for text in texts]
    assert found["n"] == [str(i) for i in range(len(texts))]


def test_distinct_cells_are_stored_once(write):
    read = read_csv(write("town,n\n" + "".join(f"Rome,{i}\nBonn,{i}\n" for i in range(500_000)))).data
    assert read.num_rows == 1_000_000
    assert all(chunk.dictionary.to_pylist() == ["Rome", "Bonn"] for chunk in read.column("town").chunks)
    assert read.column("n").chunk(0).dictionary.to_pylist() == [str(i) for i in range(500_000)]


def test_an_index_column_without_a_name(write):
    assert list(cells(write(",age\n0,30\n"))) == ["column_1", "age"]


@pytest.mark.parametrize(
    ("content", "words", "row"),
    [
        ("", "the file is empty", None),
        ("  \n\n", "the file is empty", None),
        ("a,b\n", "no rows", None),
        ("a,b", "no rows", None),
        ("a,b,a\n1,2,3\n", "'a' more than once", None),
        ("a,b\n1,2\n3\n", "line 3 has 1 cell, the header has 2", 2),
        ("a,b\n1,2\n3,4,5\n", "line 3 has 3 cells", 2),
        ('a,b\n1,"x\ny"\n3,4,5\n', "line 4 has 3 cells", 2),
        ("a,b\n1,\0\n", "NUL", None),
        ('a,b\n1,2\n3,"4\n5,6\n7,8\n', "starts at line 3 and is never closed", None),
        ('a,b\n1,2\n"3,4\n5,6\n', "starts at line 3 and is never closed", None),
    ],
)
def test_broken_files(write, content, words, row):
    path = write(content)
    with pytest.raises(sf.errors.FileError) as caught:
        read_csv(path)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)
    assert caught.value.row == row


def test_unreadable_files(write, tmp_path):
    for path, words in (
        (tmp_path / "absent.csv", "the file does not exist"),
        (tmp_path, "kind of file"),
        (write(b"\x1f\x8b\x08broken", "cut.csv.gz"), "gzip file"),
        (write(gzip.compress(b"a,b\n1,2\n" * 1000)[:-20], "cut2.csv.gz"), "gzip file is truncated"),
        (write("x", "notes.docx"), "kind of file"),
        (write("x", "t.parquet"), "not Parquet"),
        (tmp_path / "absent.parquet", "the file does not exist"),
    ):
        with pytest.raises(sf.errors.FileError, match=words):
            sf.read_table(path, sf.Schema())
    with pytest.raises(sf.errors.FileError, match="is not ascii"):
        read_csv(write("name\nMüller\n"), encoding="ascii")
    with pytest.raises(sf.errors.FileError, match="unknown"):
        read_csv(write("name\nMüller\n"), encoding="klingon")
    if os.getuid():
        path = write("a\n1\n", "locked.csv")
        path.chmod(0)
        with pytest.raises(sf.errors.FileError, match="Permission"):
            read_csv(path)


def frames():
    columns = {
        "zip": ["01", "01", "02"],
        "age": [30, 30, None],
        "income": [0.1, 0.2, 0.3],
        "tags": [["a"], ["b", "a"], []],
    }
    arrow = pa.table(columns)
    return {
        "pyarrow": arrow,
        "pandas": pd.DataFrame(columns),
        "pandas-arrow": arrow.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": pl.DataFrame(columns),
        "batches": arrow.to_reader(),
    }


@pytest.mark.parametrize("library", ["pyarrow", "pandas", "pandas-arrow", "polars", "batches"])
def test_frames_mean_the_same(library):
    schema = sf.Schema(quasi_identifiers=["zip", "age"], sensitive=["income", "tags"])
    audit = sf.audit(frames()[library], schema, [sf.KAnonymity(2), sf.DistinctLDiversity(2)])
    table = audit.table
    assert [table.column(n).kind.value for n in ("zip", "age", "income", "tags")] == [
        "categorical", "numeric", "numeric", "set",
    ]  # fmt: skip
    assert table.column("age").label(0) == "30"
    assert table.column("age").label(1) == "(missing)"
    assert table.column("income").numbers[2] == Fraction(3, 10)
    assert [f.measurement.level for f in audit] == [1, 1, 1]
    details = audit.details()
    expected = {"pandas": pd.DataFrame, "pandas-arrow": pd.DataFrame, "polars": pl.DataFrame}.get(library, pa.Table)
    assert isinstance(details, expected)
    assert len(details) == 2


def test_types_of_frames():
    frame = pa.table(
        {
            "f32": pa.array([0.1, 1.0, float("nan")], pa.float32()),
            "dec": pa.array([Decimal("1.10"), Decimal("2.00"), None]),
            "flag": [True, False, None],
            "day": pa.array([1, 2, 3], pa.date32()),
            "cat": pa.array(["x", "y", "x"]).dictionary_encode(),
            "u64": pa.array([2**63, 5, 6], pa.uint64()),
        }
    )
    table = sf.Table(frame, sf.Schema(quasi_identifiers=list(frame.column_names)))
    labels = {name: [c.label(i) for i in range(c.domain)] for name in frame.column_names for c in [table.column(name)]}
    assert labels == {
        "f32": ["0.1", "1", "(missing)"],
        "dec": ["1.1", "2", "(missing)"],
        "flag": ["false", "true", "(missing)"],
        "day": ["1970-01-02", "1970-01-03", "1970-01-04"],
        "cat": ["x", "y"],
        "u64": ["5", "6", str(2**63)],
    }


def test_odd_data():
    schema = sf.Schema(quasi_identifiers=["a"])
    with pytest.raises(sf.errors.ColumnError, match="a list is not a table"):
        sf.audit([1, 2], schema, sf.KAnonymity(1))
    with pytest.raises(sf.errors.ColumnError, match="mixes types"):
        sf.audit(pd.DataFrame({"a": [1, "x", None]}), schema, sf.KAnonymity(1))
    with pytest.raises(sf.errors.ColumnError, match="several columns"):
        sf.audit(pd.DataFrame([[1, 2]], columns=["a", "a"]), schema, sf.KAnonymity(1))
    with pytest.raises(sf.errors.FileError, match="no rows"):
        sf.audit(pa.table({"a": pa.array([], pa.int64())}), schema, sf.KAnonymity(1))
    with pytest.raises(sf.errors.ParameterError, match="no schema"):
        sf.audit(pa.table({"a": [1]}), None, sf.KAnonymity(1))
    with pytest.raises(sf.errors.ParameterError, match="no principle is requested"):
        sf.audit(pa.table({"a": [1]}), schema, [])


def test_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": [1, 1], "s": ["x", None]}), path)
    audit = sf.audit(path, sf.Schema(["a"], ["s"]), sf.DistinctLDiversity(2))
    assert audit.holds
    assert audit.table.source == str(path)


def test_chunked_columns():
    chunks = pa.chunked_array([["x", "y"], ["y", "z"], []], pa.string())
    table = sf.Table(pa.table({"a": chunks}), sf.Schema(["a"]))
    assert table.column("a").codes.tolist() == [0, 1, 1, 2]


@given(
    st.lists(st.one_of(st.integers(-5, 5), st.none()), min_size=1, max_size=8),
    st.lists(st.sampled_from("ab"), min_size=8, max_size=8),
)
def test_groups_are_equal_quasi_identifiers(numbers, letters):
    letters = letters[: len(numbers)]
    table = sf.Table(pa.table({"n": pa.array(numbers, pa.int64()), "l": letters}), sf.Schema(["n", "l"]))
    of_row = sf.data.Groups.of(table).of_row
    keys = list(zip(numbers, letters, strict=True))
    for i, j in np.ndindex(len(keys), len(keys)):
        assert (of_row[i] == of_row[j]) == (keys[i] == keys[j])


def test_many_wide_quasi_identifiers():
    """The range of combinations is far beyond 64 bits; the groups are correct all the same."""
    random = np.random.default_rng(0)
    rows = 3000
    columns = {f"c{j}": random.integers(0, 1000, rows) for j in range(12)}
    columns = {name: np.concatenate([values, values]) for name, values in columns.items()}
    table = sf.Table(pa.table(columns), sf.Schema(list(columns)))
    groups = sf.data.Groups.of(table)
    assert groups.count == rows
    assert (groups.sizes == 2).all()
    assert (groups.of_row[:rows] == groups.of_row[rows:]).all()
    whole = table.attribute(list(columns))
    row = 1234
    assert whole.value(int(whole.codes[row])) == tuple(int(values[row]) for values in columns.values())


def test_blank_lines_before_the_header(write):
    assert cells(write("\n\r\na,b\n1,2\n")) == {"a": ["1"], "b": ["2"]}


def test_a_mark_with_a_declared_encoding(write):
    assert cells(write("a\n1\n".encode("utf-8-sig")), encoding="utf-8") == {"a": ["1"]}


@pytest.mark.parametrize("delimiter", ["§", ";;", '"', ""])
def test_invalid_delimiters(write, delimiter):
    with pytest.raises(sf.errors.FileError, match="not one ASCII character"):
        read_csv(write("a\n1\n"), delimiter=delimiter)


def labels(frame, name="a", **schema):
    column = sf.audit(frame, sf.Schema([name], **schema), sf.KAnonymity(1)).table.column(name)
    return [column.label(i) for i in range(column.domain)]


def test_categories_of_frames():
    used = pl.DataFrame({"a": ["x", "y", "z"]}).with_columns(pl.col("a").cast(pl.Categorical)).filter(pl.col("a") != "y")
    assert labels(used) == ["x", "z"]
    enum = pl.DataFrame({"a": ["x", "z"]}, schema={"a": pl.Enum(["z", "y", "x"])})
    assert labels(enum) == ["z", "y", "x"]  # an order is kept whole
    assert labels(pd.DataFrame({"a": pd.Categorical(["x", None], categories=["x", "y"])})) == ["x", "(missing)"]
    assert labels(pd.DataFrame({"a": pd.cut(pd.Series([1, 5, None]), [0, 3, 9])})) == ["(0, 3]", "(3, 9]", "(missing)"]
    assert labels(pd.DataFrame({"a": pd.period_range("2020-01", periods=2, freq="M")})) == ["2020-01", "2020-02"]
    assert sf.audit(pd.DataFrame({0: [1, 2]}), sf.Schema([0]), sf.KAnonymity(1)).table.column("0").label(1) == "2"


def test_types_that_a_table_does_not_support():
    for frame in (pa.table({"a": [{"x": 1}]}), pl.DataFrame({"a": [{"x": 1}]}), pd.DataFrame({"a": [2**300, 1]})):
        with pytest.raises(sf.errors.ColumnError) as caught:
            labels(frame)
        assert caught.value.column == "a"
    for data in (pd.Series([1]), pl.Series([1]), pa.chunked_array([[1]])):
        with pytest.raises(sf.errors.ColumnError):
            labels(data)


def test_nulls_within_lists():
    frame = pa.table({"a": [["x", None], ["x", "None"]]})
    assert labels(frame) == ["{None; x}", "{x}"]


def test_numbers_that_mean_missing():
    for values in ([-9, 4], [-9.0, 4.0], ["-9", "4"]):
        assert labels(pa.table({"a": values}), missing=sf.data.Missing(values="-9"))[-1] == "(missing)"


def test_nearly_numeric_columns_are_noted(write):
    """One odd cell must not silently make a numeric column categorical."""
    text = "q,salary\n" + "".join(f"a,{i}.5\n" for i in range(9))
    schema = sf.Schema(["q"], ["salary"])
    near = sf.Dissimilarity(20, "0.5")
    assert sf.audit(write(text), schema, near).notes == []
    with pytest.raises(sf.errors.DistanceError, match="row 10 is 'N/A'; declare its kind"):
        sf.audit(write(text + "a,N/A\n"), schema, near)
    equal = sf.Dissimilarity(0, "0.5")
    odd = sf.audit(write(text + "a,N/A\n"), schema, equal)
    assert odd[0].distance == "discrete"
    assert "row 10 is 'N/A'; declare its kind" in odd.notes[0]
    assert "note   column 'salary' is taken as categorical" in repr(odd)
    zeros = sf.audit(write(text + "a,05\n"), schema, equal)
    assert "row 10 is '05'" in zeros.notes[0]
    codes = sf.audit(write("q,zip\na,01234\nb,98765\n"), sf.Schema(["q", "zip"]), sf.KAnonymity(1))
    assert codes.notes == []
    twins = sf.audit(write("q,icd\na,250.1\nb,250.10\n"), sf.Schema(["icd"]), sf.KAnonymity(1))
    assert twins.groups.count == 2
    assert "'250.1' and '250.10' would be one" in twins.notes[0]


@pytest.mark.parametrize("bytes_at_a_time", [1, 40, 1000])
def test_long_cells_are_written_in_smaller_batches(monkeypatch, bytes_at_a_time):
    """An Arrow array holds two gigabytes of text, so the number of rows that are joined depends on their length."""
    monkeypatch.setattr("sfumato.io.write_files._BATCH_BYTES", bytes_at_a_time)
    cells = ["a", "b" * 30, None, "c, d"] * 5
    file = io.BytesIO()
    write_csv(pa.table({"x": cells, "y": range(20)}), file)
    lines = [f"{cell or ''},{i}" if cell != "c, d" else f'"c, d",{i}' for i, cell in enumerate(cells)]
    assert file.getvalue().decode() == "\n".join(["x,y", *lines, ""])

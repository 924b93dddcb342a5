"""One marker for missing values in every column of a release, and no value is ever taken for it."""

from __future__ import annotations

import csv
import json
import os
import shutil
import tempfile
from collections import Counter
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import sfumato as sf
from sfumato.anonymization._anonymize import anonymize
from sfumato.releases.digests import digest
from sfumato.releases.model_base import as_json
from sfumato.verification._verify import verify
from standin import Chunks

MARKERS = ["", "?", "NA"]
cells = st.one_of(
    st.none(),
    st.sampled_from(["a", "b", *MARKERS, " ? ", " ", chr(34), chr(34) * 2, chr(34) * 6]),
    st.text(chr(34) + "?a ", max_size=6),
)


@st.composite
def tables(draw):
    rows = draw(st.integers(2, 6))
    column = st.lists(cells, min_size=rows, max_size=rows)
    ages = draw(st.lists(st.sampled_from([30, 31, 50, None]), min_size=rows, max_size=rows))
    drugs = draw(st.lists(st.sampled_from([None, [], ["a"], ["a", "b"]]), min_size=rows, max_size=rows))
    return pa.table(
        {
            "age": ages,
            "ill": pa.array(draw(column), pa.string()),
            "job": pa.array(draw(column), pa.string()),
            "drugs": pa.array(drugs, pa.list_(pa.string())),
        }
    )


def released(data, values, folder, **options):
    schema = sf.Schema(
        ["age"], ["ill", "drugs"], other=["job"], kinds={"ill": "categorical"}, missing=sf.data.Missing(values),
        unchanged_limit=1,
    )  # fmt: skip
    return anonymize(data, schema, sf.KAnonymity(1), method=Chunks(2)).save(folder, **options)


def expected(text, values):
    """By definition: null and the texts that mean missing are missing, everything else is itself."""
    return None if text is None or text.strip() in values else text


def in_csv(cell):
    """Read a cell of a CSV as the format says: empty is missing, and quotes alone are a text in quotes."""
    if cell == "":
        return None
    return cell[1:-1].replace('""', '"') if set(cell) == {'"'} else cell


@settings(max_examples=2_000 if os.environ.get("SFUMATO_PROFILE") == "thorough" else 50)
@given(tables(), st.sets(st.sampled_from(MARKERS)), st.sampled_from(["csv", "parquet"]))
def test_missing_is_marked_and_values_are_kept(data, values, kind):
    values = tuple(sorted(values))
    with tempfile.TemporaryDirectory() as place:
        folder = released(data, values, Path(place) / "out", format=kind)
        table = sf.read_release(folder)
        if kind == "csv":
            with (folder / "data.csv").open(encoding="utf-8", newline="") as file:
                rows = [(in_csv(row["ill"]), in_csv(row["job"]), row["drugs"]) for row in csv.DictReader(file)]
            drugs = [{None: "", "": '""'}.get(joined, joined) for joined in _joined(data)]
        else:
            read = parquet.read_table(folder / "data.parquet").to_pydict()
            rows = list(zip(read["ill"], read["job"], map(repr, read["drugs"]), strict=True))
            drugs = [repr(items) for items in data["drugs"].to_pylist()]
    ill, job = ([expected(text, values) for text in data[name].to_pylist()] for name in ("ill", "job"))
    assert Counter(rows) == Counter(zip(ill, job, drugs, strict=True))
    frame = table.to_arrow().to_pydict()
    assert sum(cell is None for cell in frame["ill"]) == ill.count(None)
    assert sum(cell is None for cell in frame["job"]) == job.count(None)
    assert Counter(map(repr, frame["drugs"])) == Counter(map(repr, data["drugs"].to_pylist()))


def _joined(data):
    return [None if items is None else ";".join(items) for items in data["drugs"].to_pylist()]


PEOPLE = pa.table(
    {
        "age": [30, 31, 50, 51],
        "ill": ["flu", "?", "gout", "?"],
        "job": ["?", "cook", "cook", "?"],
        "drugs": [["a"], None, [], ["a"]],
    }
)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return released(PEOPLE, ("?",), tmp_path_factory.mktemp("saved") / "out")


def state(folder, change):
    path = folder / "release.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    content["files"]["data.csv"] = digest(folder / "data.csv").to_dict()
    path.write_text(as_json(content), encoding="utf-8")


def failing(found):
    return [check.name for check in found.checks if check.holds is False]


@pytest.mark.parametrize(
    ("column", "before", "after"),
    [
        ("ill", "", "flu"),  # a value where there is none
        ("ill", "", "?"),  # the original's own marker
        ("ill", "gout", ""),
        ("job", "", "cook"),
        ("job", "cook", ""),
        ("drugs", '""', ""),  # the empty set is a value
        ("drugs", "", '""'),
    ],
)
def test_a_marker_that_the_original_does_not_have_is_found(saved, tmp_path, column, before, after):
    folder = Path(shutil.copytree(saved, tmp_path / "out"))
    with (folder / "data.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    next(row for row in rows if row[column] == before)[column] = after
    with (folder / "data.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    state(folder, lambda content: None)
    assert "rows" in failing(verify(folder, PEOPLE))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_release_of_an_older_format_has_the_texts_of_the_original(tmp_path, kind):
    """The texts ? are published because nothing says that they mean missing; then release.json says so."""
    data = PEOPLE.drop_columns("drugs").set_column(2, "job", pa.array(["?", "", "", "?"]))
    schema = sf.Schema(["age"], ["ill"], other=["job"], missing=sf.data.Missing(()), unchanged_limit=1)
    folder = anonymize(data, schema, sf.KAnonymity(2), method=Chunks(2)).save(tmp_path / "out", format=kind)
    if kind == "csv":  # where older formats write an empty text as an empty cell
        path = folder / "data.csv"
        path.write_text(path.read_text(encoding="utf-8").replace('""""""', ""), encoding="utf-8")

    def older(content, version):
        content.update(format=version, seed=0)
        content["config"]["missing"]["values"] = ["?"]
        if kind == "csv":
            content["files"]["data.csv"] = digest(folder / "data.csv").to_dict()

    path = folder / "release.json"
    for version, names in ((3, []), (4, ["rows", "cover"])):
        content = json.loads(path.read_text(encoding="utf-8"))
        older(content, version)
        path.write_text(as_json(content), encoding="utf-8")
        assert failing(verify(folder, data)) == names
        if version == 3:
            assert sf.read_release(folder).to_arrow()["ill"].null_count == 2
            assert sf.apply(folder, data.slice(0, 1), insist=True).data["job"].to_pylist() == ["?"]


def test_rows_that_missing_cells_make_equal_are_not_singled_out():
    """Both cells are published as missing, so nobody can tell the two rows apart."""
    data = pa.table({"age": [30, 31], "job": ["?", ""]})
    schema = sf.Schema(["age"], other=["job"], missing=sf.data.Missing(("?", "")))
    made = sf.anonymize(data, schema, sf.KAnonymity(2))
    assert (made.unchanged.rows, made.frame["job"].null_count) == (0, 2)
    with pytest.raises(sf.errors.ColumnError, match="single out 2 of 2 rows"):
        sf.anonymize(data, sf.Schema(["age"], other=["job"], missing=sf.data.Missing(("?",))), sf.KAnonymity(2))


def test_a_frame_of_pandas_keeps_its_numbers_exact():
    big = 2**53 + 1
    data = pd.DataFrame({"age": [30, 31], "income": [-9, big], "adult": [True, False], "ill": pd.Categorical(["?", "flu"])})
    schema = sf.Schema(["age"], ["income", "adult", "ill"], missing=sf.data.Missing(("-9", "?", "false")))
    frame = sf.anonymize(data, schema, sf.KAnonymity(2)).frame.sort_values("income")
    assert frame["income"].tolist() == [big, pd.NA]
    assert frame["adult"].isna().tolist() == [True, False]
    assert frame["ill"].tolist()[0] == "flu"
    assert frame["ill"].cat.categories.tolist() == ["flu"]


def test_a_database_has_null(tmp_path):
    pytest.importorskip("adbc_driver_sqlite")
    import sqlite3

    file = tmp_path / "out.db"
    released(PEOPLE, ("?",), tmp_path / "out", database=f"sqlite:///{file}", table="published")
    with sqlite3.connect(file) as connection:
        rows = connection.execute("select ill, job, drugs from published").fetchall()
    assert Counter(rows) == Counter([("flu", None, "a"), (None, "cook", None), ("gout", "cook", ""), (None, None, "a")])


def test_new_rows_have_the_marker_of_the_release(saved, tmp_path):
    added = sf.apply(saved, PEOPLE.slice(0, 2), insist=True)
    assert Counter(zip(added.data["ill"].to_pylist(), added.data["job"].to_pylist(), strict=True)) == Counter(
        [("flu", None), (None, "cook")]
    )
    text = added.save(tmp_path / "new.csv").read_text(encoding="utf-8")
    assert "?" not in text


def test_other_kinds_of_releases(tmp_path):
    data = PEOPLE.drop_columns(["drugs"])
    schema = sf.Schema(["age"], ["ill", "job"], missing=sf.data.Missing(("?",)))
    folder = sf.project(data, schema, sf.KAnonymity(2), plan=[["ill"], ["job"]], alpha=1).save(tmp_path / "projected")
    assert not any("?" in path.read_text(encoding="utf-8") for path in folder.glob("table_*.csv"))
    assert verify(folder, data)
    frames = [table.to_arrow() for table in sf.read_release(folder)]
    assert [frame.column(name).null_count for frame, name in zip(frames, ("ill", "job"), strict=True)] == [2, 2]
    known = sf.disclosure.Dictionary(pa.table({"id": ["x"], "ill": ["flu"]}), identity="id", name="known")
    folder = sf.withhold(data, sf.Schema(["age", "ill"], missing=sf.data.Missing(("?",))), known, cells=2).save(
        tmp_path / "w"
    )
    assert "?" not in (folder / "data.csv").read_text(encoding="utf-8")
    assert sf.read_release(folder).to_arrow()["ill"].null_count == 2

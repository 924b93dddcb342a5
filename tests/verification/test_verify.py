"""Verification: a release that was changed in any way is found out."""

from __future__ import annotations

import contextlib
import copy
import csv
import json
import shutil

import pyarrow as pa
import pytest
from pyarrow import parquet

import sfumato as sf
from sfumato.anonymization._anonymize import anonymize
from sfumato.census import census_schema
from sfumato.data.table import Table
from sfumato.releases.cell_coverage import CellReader
from sfumato.releases.digests import digest
from sfumato.releases.model_base import as_json
from sfumato.releases.models import FORMAT
from sfumato.verification import coverage_checks as against
from sfumato.verification._verify import verify
from sfumato.verification.checks import Verification
from standin import Chunks

PRINCIPLES = [
    sf.KAnonymity(5),
    sf.DistinctLDiversity(2),
    sf.EntropyLDiversity("1.1", on="income"),
    sf.Dissimilarity("0.2", "0.05", 5),
    sf.TCloseness("0.9"),
]


@pytest.fixture(scope="module")
def people():
    census = sf.synthetic_census(200, seed=3)
    table = census.append_column("name", pa.array([f"p{i}" for i in range(200)]))
    return table.append_column("visits", pa.array([i % 7 for i in range(200)]))


@pytest.fixture(scope="module")
def saved(people, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "out"
    schema = census_schema()
    schema = sf.Schema(**{**schema.__dict__, "identifiers": ["name"], "other": ["visits"]})
    anonymize(people, schema, PRINCIPLES, method=Chunks(10), seed=5).save(folder)
    return folder


@pytest.fixture
def folder(saved, tmp_path):
    shutil.copytree(saved, tmp_path / "out")
    return tmp_path / "out"


def cells(folder):
    with (folder / "data.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def put(folder, rows, seal=True):
    """Write changed rows; with the SHA-256 mended, so that the other checks must find the change."""
    with (folder / "data.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    if seal:
        claim(folder, lambda content: content["files"].update({"data.csv": digest(folder / "data.csv").to_dict()}))


def claim(folder, change):
    path = folder / "release.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(as_json(content), encoding="utf-8")


def failing(found):
    assert not found
    return [check.name for check in found.checks if check.holds is False]


def test_untouched(folder, people):
    found = verify(folder, people)
    assert isinstance(found, Verification)
    assert found, found
    assert [check.name for check in found.checks[:6]] == ["file", "folder", "keys", "json", "report", "columns"]
    assert found.to_dict()["holds"] is True
    assert repr(found).startswith(f"Verification of {folder}: 25 of 25 checks hold")
    put(folder, cells(folder))
    assert verify(folder, people), "rewritten cell by cell it is the same release"


def test_any_byte_changed(folder):
    rows = cells(folder)
    rows[0]["income"] = "49" if rows[0]["income"] != "49" else "48"
    put(folder, rows, seal=False)
    assert "file" in failing(verify(folder))


def test_a_cell_changed(folder, people):
    rows = cells(folder)
    rows[3]["age"] = "[0, 99]"
    put(folder, rows)
    assert failing(verify(folder)) == ["groups"]
    rows = cells(folder)
    rows[3]["visits"] = "99"
    put(folder, rows)
    assert "rows" in failing(verify(folder, people))


def test_a_secret_changed(folder, people):
    rows = cells(folder)
    one, other = rows[0], next(row for row in rows if row["income"] != rows[0]["income"])
    one["income"], other["income"] = other["income"], one["income"]
    put(folder, rows)
    assert "rows" in failing(verify(folder, people))
    rows[0]["income"] = "much"
    put(folder, rows)
    assert failing(verify(folder)) == ["data"]


def test_a_row_removed_and_a_row_doubled(folder, people):
    rows = cells(folder)
    put(folder, rows[1:])
    assert "counts" in failing(verify(folder))
    claim(folder, lambda content: content.update(rows=199, suppressed=1))
    assert failing(verify(folder)), "a group of nine is claimed to be one of ten"
    put(folder, [rows[0], *rows[:-1]])
    assert "rows" in failing(verify(folder, people))


def test_a_group_number_changed(folder):
    rows = cells(folder)
    rows[0]["group"] = next(row["group"] for row in rows if row["group"] != rows[0]["group"])
    put(folder, rows)
    assert failing(verify(folder))
    rows[0]["group"] = ""
    put(folder, rows)
    assert "counts" in failing(verify(folder))


def test_a_whole_group_published_wrongly(folder, people):
    """Consistent within the files except for the order, which depends on the cells; the original shows what is wrong."""
    rows = cells(folder)
    for row in rows:
        if row["group"] == "1":
            row["age"] = "[95, 100)"
    put(folder, rows)
    assert failing(verify(folder)) == ["order"]
    assert failing(verify(folder, people)) == ["cover"]


def test_large_classes_are_looked_at_by_column(folder, people, monkeypatch):
    monkeypatch.setattr(against, "_BUDGET", 0)
    found = verify(folder, people)
    assert found
    assert "200 rows compared column by column" in {check.name: check.detail for check in found.checks}["cover"]
    test_a_whole_group_published_wrongly(folder, people)


def test_what_needs_the_original_is_listed_as_not_checked(folder, people):
    assert [(check.name, check.detail) for check in verify(folder).not_checked] == [
        ("rows", "not checked: pass the original"),
        ("cover", "not checked: pass the original"),
        ("revealing", "not checked: pass the original"),
        ("figures", "not checked: pass the original"),
    ]
    assert verify(folder, people).not_checked == ()


def test_another_file_in_the_folder(folder, people):
    (folder / "names.csv").write_text("Ann", encoding="utf-8")
    assert failing(verify(folder, people)) == ["folder"]


def test_an_unknown_key(folder, people):
    claim(folder, lambda content: content["utility"].update(names=["Ann"]))
    assert failing(verify(folder, people)) == ["keys"]


def test_rows_and_groups_in_another_order(folder, people):
    rows = cells(folder)
    put(folder, sorted(rows, key=lambda row: row["income"]))
    assert failing(verify(folder, people)) == ["order"]
    groups = max(int(row["group"]) for row in rows)
    put(folder, [{**row, "group": str(groups + 1 - int(row["group"]))} for row in rows])
    assert failing(verify(folder, people)) == ["order"]
    claim(folder, lambda content: content.update(format=4, seed=-1))
    assert failing(verify(folder, people)) == ["order"]


def test_the_order_of_an_older_format_is_not_checked(folder, people):
    claim(folder, lambda content: content.update(format=1, seed=0))
    assert [check.name for check in verify(folder, people).not_checked] == [
        "json", "report", "warnings", "unchanged", "order", "form", "figures",
    ]  # fmt: skip


def test_a_published_identifier(folder):
    rows = [{**row, "name": "p1"} for row in cells(folder)]
    put(folder, rows)
    assert "columns" in failing(verify(folder))


def leaves(value, path=()):
    if isinstance(value, dict | list) and value:
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))
    else:
        yield path, value


def changed(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return "other" if value != "other" else "another"


def test_every_claim_changed(folder, people):
    """Each value that release.json claims of data and principles, one at a time."""
    content = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    claimed = ("format", "rows", "groups", "suppressed", "holds", "group", "columns", "principles", "files")
    for key in claimed:
        for path, value in leaves(content[key]):
            if "worst_groups" in path:
                continue  # not kept in a release
            mutant = copy.deepcopy(content)
            inner = mutant
            for step in (key, *path)[:-1]:
                inner = inner[step]
            inner[(key, *path)[-1]] = changed(value)
            claim(folder, lambda c, mutant=mutant: c.update(mutant))
            with contextlib.suppress(sf.errors.ReleaseError):
                assert not verify(folder, people), (key, path)


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["principles"].pop(),
        lambda c: c["config"]["principles"].pop(),
        lambda c: c["config"]["principles"][0].update(k=4),
        lambda c: c["config"]["principles"][0].update(k=11),
        lambda c: c["config"]["columns"]["income"].update(role="other"),
        lambda c: c["config"]["columns"]["sex"].update(role="sensitive"),
        lambda c: c["config"]["columns"]["income"].update(kind="categorical"),
        lambda c: c["config"]["columns"]["workclass"]["hierarchy"].update(flat=True),
        lambda c: c["config"]["columns"]["education"]["order"].remove("bachelor"),
        lambda c: c["config"]["distance"].update(p=2),
        lambda c: c["config"]["distance"]["weights"].update(income="4"),
        lambda c: c["config"].pop("distance"),
        lambda c: c["columns"].reverse(),
        lambda c: c["columns"][1].update(recoding="set"),
        lambda c: c["config"].update(columns=[]),
        lambda c: c["config"].update(principles=[5]),
    ],
)
def test_a_config_changed(folder, people, change):
    claim(folder, change)
    try:
        assert not verify(folder, people)
    except sf.errors.ReleaseError as error:
        assert error.key.startswith("config")


def places(value, path=()):
    """Every place in a config; of a long list the first."""
    if path:
        yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value[:1]):
            yield from places(inner, (*path, key))


def test_a_corrupt_config(folder):
    """Whatever release.json contains, the result is a verdict or a typed error."""
    content = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    for path in list(places(content["config"])):
        for nonsense in (None, ["x", {}]):
            mutant = copy.deepcopy(content)
            inner = mutant["config"]
            for step in path[:-1]:
                inner = inner[step]
            inner[path[-1]] = nonsense
            claim(folder, lambda c, mutant=mutant: c.update(mutant))
            with contextlib.suppress(sf.SfumatoError):
                verify(folder)


@pytest.mark.parametrize(
    ("spoil", "key", "words"),
    [
        (lambda f: (f / "release.json").unlink(), None, "is not a release"),
        (shutil.rmtree, None, "no such folder"),
        (lambda f: (f / "release.json").write_text("{", encoding="utf-8"), None, "not JSON"),
        (lambda f: (f / "release.json").write_bytes(b"\xff"), None, "not JSON"),
        (lambda f: (f / "release.json").write_text("[]", encoding="utf-8"), None, "not a JSON object"),
        (lambda f: claim(f, lambda c: c.update(format=FORMAT + 1)), "format", "newer version"),
        (lambda f: claim(f, lambda c: c.pop("group")), "group", "is missing"),
        (lambda f: claim(f, lambda c: c.update(rows=True)), "rows", "invalid value True; expected a whole number"),
        (lambda f: claim(f, lambda c: c.update(files={"../x": c["files"]["data.csv"]})), "files", "invalid files"),
        (lambda f: claim(f, lambda c: c["files"]["data.csv"].pop("bytes")), "files.data.csv.bytes", "is missing"),
        (lambda f: (f / "data.csv").unlink(), None, "data file is missing"),
        (
            lambda f: claim(f, lambda c: c["config"]["principles"][0].update(name="x")),
            "config.principles[0].name",
            "'x' is not registered here",
        ),
        (
            lambda f: claim(f, lambda c: c["config"]["distance"].update(kind="x")),
            "config.distance.kind",
            "'x' is not registered",
        ),
    ],
)
def test_what_is_not_a_release(folder, spoil, key, words):
    spoil(folder)
    with pytest.raises(sf.errors.ReleaseError, match=words) as caught:
        verify(folder)
    assert caught.value.key == key
    assert str(folder) in caught.value.file


def test_corrupt_data(folder):
    text = (folder / "data.csv").read_bytes()
    for corrupt in (b"", text[: len(text) // 2], b"\xff\xfe" + text):
        (folder / "data.csv").write_bytes(corrupt)
        assert "file" in failing(verify(folder))


def test_a_published_table_is_not_an_original(folder, people, tmp_path):
    with pytest.raises(sf.errors.ColumnError, match=r"'name'.*Pass the table that the release was made from"):
        sf.verify(folder, folder / "data.csv")
    schema = sf.Schema(["age"], ["income"])
    written = sf.anonymize(people.select(["age", "income"]), schema, sf.KAnonymity(5)).save(tmp_path / "no identifiers")
    with pytest.raises(sf.errors.FileError, match=r"has the column 'group'.*Pass the table"):
        sf.verify(written, written / "data.csv")


def test_another_original(folder, people):
    assert "rows" in failing(verify(folder, people.slice(1)))
    with pytest.raises(sf.errors.ColumnError, match="no such column"):
        verify(folder, people.drop_columns(["age"]))
    with pytest.raises(sf.errors.ColumnError, match="no such column"):
        verify(folder, people.drop_columns(["visits"]))
    # a column of the original without a role is not published
    assert verify(folder, people.append_column("more", pa.array(["x"] * 200)))


def test_parquet(people, tmp_path):
    release = anonymize(people.drop_columns(["name"]), census_schema(), sf.KAnonymity(5), method=Chunks(10))
    release.save(tmp_path / "out", format="parquet")
    assert verify(tmp_path / "out", people.drop_columns(["name"]))
    path = tmp_path / "out" / "data.parquet"
    data = parquet.ParquetFile(path).read()
    parquet.write_table(data.slice(0, 199), path)
    assert failing(verify(tmp_path / "out"))[:2] == ["file", "counts"]


def difference(x, y):
    return abs(x - y)


class TestAFunctionOfOnesOwn:
    table = pa.table({"age": [1, 2, 3, 4], "income": [10, 20, 30, 40]})

    @pytest.mark.parametrize("function", [difference, "os:system"])
    def test_is_never_imported(self, tmp_path, function):
        schema = sf.Schema(["age"], ["income"], distance=sf.distances.Custom(difference))
        principles = [sf.KAnonymity(2), sf.Dissimilarity(5, "0.5", 2)]
        anonymize(self.table, schema, principles, method=Chunks(2)).save(tmp_path / "out")
        if isinstance(function, str):
            claim(tmp_path / "out", lambda c: c["config"]["distance"].update(function=function))
        found = verify(tmp_path / "out")
        principles = [check for check in found.checks if "anonymity" in check.name or "dissimilarity" in check.name]
        assert [(c.holds, "not measured again" in c.detail) for c in principles] == [(True, False), (False, True)]
        # the report names the function that release.json names
        found = verify(tmp_path / "out", self.table, schema=schema)
        assert [check.name for check in found.checks if check.holds is False] == ["report"] * isinstance(function, str)


@pytest.mark.parametrize(
    ("recoding", "cell", "covered"),
    [
        ("interval", "[1.5, 10]", [1.5, 2, 10]),
        ("interval", "[1.50, 1.5]", [1.5]),
        ("interval", "[3, 9]", []),
        ("interval", "[-1/3, 2]", [1.5, 2]),
        ("interval", "[10, 2]", []),
        ("interval", "(1, 3)", []),
        ("interval", "{2; 10}", []),
        ("interval", "2.0", [2]),
        ("interval", "3", []),
        ("interval", "*", [1.5, 2, 10, None]),
        ("interval", "", [None]),
        ("interval", None, [None]),
        ("set", "{2; 10}", [2, 10]),
        ("set", "[1, 3]", []),
    ],
)
def test_cells_of_numbers(recoding, cell, covered):
    values = [1.5, 2, 10, None]
    column = Table(pa.table({"x": values}), sf.Schema(["x"])).column("x")
    cover = CellReader([cell], column, recoding)
    assert [v for v, code in zip(values, column.codes, strict=True) if cover.covers(*_pair(0, code))] == covered


def _pair(cell, code):
    import numpy as np

    return np.array([cell]), np.array([code])


@pytest.mark.parametrize(
    ("recoding", "cell", "covered"),
    [
        ("ancestor", "lung", ["flu", "asthma"]),
        ("ancestor", "flu", ["flu"]),
        ("ancestor", "*", ["flu", "asthma", "a; b", "ulcer", None]),
        ("ancestor", "gut", ["a; b", "ulcer"]),
        ("ancestor", "heart", []),
        ("set", '{flu; "a; b"}', ["flu", "a; b"]),
        ("set", '{flu; "a; b"', []),
        ("set", '{flu; "a; b}', []),
        ("set", '{"flu"; ulcer}', ["flu", "ulcer"]),
        ("set", "{flu;ulcer}", []),
        ("interval", '["a; b", ulcer]', ["a; b", "ulcer"]),
        ("set", "{flu; a; b}", ["flu"]),
        ("set", '"a; b"', ["a; b"]),
        ("set", "{}", []),
        ("interval", "[flu, ulcer]", ["asthma", "flu", "ulcer", "a; b"]),
    ],
)
def test_cells_of_words(recoding, cell, covered):
    values = ["flu", "asthma", "a; b", "ulcer", None]
    rows = [["flu", "lung", "*"], ["asthma", "lung", "*"], ["a; b", "gut", "*"], ["ulcer", "gut", "*"]]
    order = ["flu", "asthma", "a; b", "ulcer"]
    extra = {"orders": {"x": order}} if recoding == "interval" else {"hierarchies": {"x": sf.Hierarchy.from_rows(rows)}}
    column = Table(pa.table({"x": values}), sf.Schema(["x"], **extra)).column("x")
    cover = CellReader([cell], column, recoding)
    found = [v for v, code in zip(values, column.codes, strict=True) if cover.covers(*_pair(0, code))]
    assert sorted(map(str, found)) == sorted(map(str, covered))

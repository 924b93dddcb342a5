"""Verification of anatomies: it accepts what a naive check of the files accepts, and refuses every change."""

from __future__ import annotations

import csv
import io
import json
import shutil

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import sfumato as sf
from fixed_groups import Fixed
from naive_anatomy import fits, frequency_l, rows_of, secrets_of_groups, some_assignment
from sfumato.releases.digests import digest
from sfumato.releases.kinds import KINDS
from sfumato.releases.model_base import as_json
from sfumato.releases.models import AnatomizedDocument

SCHEMA = sf.Schema(["age"], ["ill", "job"], kinds={"age": "categorical"})
WEAK = sf.DistinctLDiversity(1)


@st.composite
def claimed_and_true(draw):
    """An original, groups of its rows, and another table, most often nearly the same, that is claimed to be the original."""
    rows = draw(st.integers(2, 5))
    cell = st.sampled_from
    true = draw(st.lists(st.tuples(cell("123"), cell("fgh"), cell("xy")), min_size=rows, max_size=rows))
    claimed = list(true)
    for _ in range(draw(st.integers(0, 2))):
        one, other = draw(st.integers(0, rows - 1)), draw(st.integers(0, rows - 1))
        column = draw(st.integers(0, 2))
        swapped = [list(claimed[one]), list(claimed[other])]
        swapped[0][column], swapped[1][column] = swapped[1][column], swapped[0][column]
        claimed[one] = tuple(swapped[0])
        if other != one:
            claimed[other] = tuple(swapped[1])
    groups = draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows))
    return true, claimed, sf.anonymization.renumber(groups)


def as_table(rows):
    return pa.table({name: [row[i] for row in rows] for i, name in enumerate(("age", "ill", "job"))})


@settings(max_examples=settings.default.max_examples // 6)
@given(case=claimed_and_true(), together=st.booleans())
def test_the_original_against_every_assignment(tmp_path_factory, case, together):
    true, claimed, groups = case
    place = tmp_path_factory.mktemp("case")
    plan = [["ill", "job"]] if together else None
    anatomy = sf.anatomize(as_table(claimed), SCHEMA, WEAK, plan=plan, method=Fixed(groups), seed=0)
    folder = anatomy.save(place / "out", key=place / "key.json")
    people = [({"age": row["age"]}, row["group"]) for row in rows_of(folder / "people.csv")]
    columns = [("ill", "job")] if together else [("ill",), ("job",)]
    secrets = [(names, secrets_of_groups(folder / f"table_{i}.csv", names)) for i, names in enumerate(columns, 1)]
    original = [dict(zip(("age", "ill", "job"), row, strict=True)) for row in true]
    possible = some_assignment(people, secrets, original)
    found = sf.verify(folder, as_table(true))
    if possible:
        assert found.holds, found
    links = [check.holds for check in found.checks if check.name == "links"]
    if found.holds and all(links):
        assert possible, found
    homes = {}
    for exact, group in people:
        homes.setdefault(exact["age"], set()).add(group)
    if all(len(each) == 1 for each in homes.values()):
        assert found.holds == possible, found
        assert None not in links or not found.holds
    rows = np.array(json.loads((place / "key.json").read_text())["original_rows"]) - 1
    keyed = sf.verify(folder, as_table(true), key=place / "key.json")
    assert keyed.holds == fits(people, secrets, original, rows), keyed
    assert not keyed.holds or keyed.not_checked == ()
    shutil.rmtree(place)


PEOPLE = pa.table(
    {
        "name": [f"n{i}" for i in range(24)],
        "age": [20 + i // 2 for i in range(24)],
        "town": ["Ulm", "Rome", "Bonn"] * 8,
        "ill": ["flu", "gout", "cold", "ache"] * 6,
        "pay": [10 * (i % 6) for i in range(24)],
    }
)
BOTH = sf.Schema(["age", "town"], ["ill", "pay"], ["name"])
REQUIRED = [sf.FrequencyLDiversity(2), sf.TCloseness("0.9", on="pay")]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    anatomy = sf.anatomize(PEOPLE, BOTH, REQUIRED, seed=1, method=Fixed(np.arange(24) // 4))
    for form in ("csv", "parquet"):
        anatomy.save(folder / form, key=folder / f"{form}.json", format=form)
    return folder


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made / "csv", tmp_path / "out")


def state(folder, content):
    """Write release.json with the digests of the files, and the report that belongs to it."""
    data = {name: digest(folder / name).to_dict() for name in content["files"] if name != "report.html"}
    page = KINDS["anatomized"].load("page")(AnatomizedDocument.model_validate({**content, "files": data}))
    (folder / "report.html").write_text(page, encoding="utf-8")
    content["files"] = {**data, "report.html": digest(folder / "report.html").to_dict()}
    (folder / "release.json").write_text(as_json(content), encoding="utf-8")


def stated(folder):
    return json.loads((folder / "release.json").read_text(encoding="utf-8"))


def change_rows(folder, name, change):
    text = io.StringIO()
    rows = change(rows_of(folder / name))
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    before = (folder / name).read_text(encoding="utf-8")
    (folder / name).write_text(text.getvalue(), encoding="utf-8")
    state(folder, stated(folder))
    assert text.getvalue() != before


def failing(verification):
    return {check.name for check in verification.checks if check.holds is False}


def test_what_was_made_is_accepted(made):
    for form in ("csv", "parquet"):
        assert [check.name for check in sf.verify(made / form).not_checked] == ["rows", "links"]
        assert sf.verify(made / form, PEOPLE).not_checked == (), "nobody is equal to anybody, so the groups are certain"
        whole = sf.verify(made / form, PEOPLE, key=made / f"{form}.json", schema=BOTH, principles=REQUIRED, suppress=0)
        assert whole.not_checked == ()
        assert whole.holds


def renumbered(rows):
    return [{**row, "group": {"1": "2", "2": "1"}.get(row["group"], row["group"])} for row in rows]


def doubled(rows):
    return [{**row, "group": str(2 * int(row["group"]))} for row in rows]


def moved(rows):
    return [{**rows[0], "group": "1" if rows[0]["group"] != "1" else "2"}, *rows[1:]]


def with_count(rows, first, second):
    rows = [dict(row) for row in rows]
    rows[0]["count"], rows[1]["count"] = str(int(rows[0]["count"]) + first), str(int(rows[1]["count"]) + second)
    return rows


def secrets_of_two_groups_exchanged(rows):
    """The first secret of group 1 for one of group 2 that it does not have."""
    one = next(i for i, row in enumerate(rows) if row["group"] == "1")
    here = {row["pay"] for row in rows if row["group"] == "1"}
    other = next(i for i, row in enumerate(rows) if row["group"] == "2" and row["pay"] not in here)
    rows = [dict(row) for row in rows]
    rows[one]["pay"], rows[other]["pay"] = rows[other]["pay"], rows[one]["pay"]
    return sorted(rows, key=lambda row: (int(row["group"]), row["pay"]))


TAMPERED = {
    "a count is changed": ("table_1.csv", lambda rows: with_count(rows, 1, 0), "counts"),
    "a count is moved to another secret of the group": ("table_1.csv", lambda rows: with_count(rows, 1, -1), "counts"),
    "a count is spelled differently": ("table_1.csv", lambda r: [{**r[0], "count": "0" + r[0]["count"]}, *r[1:]], "counts"),
    "a count is negative": ("table_1.csv", lambda r: [{**r[0], "count": "-1"}, *r[1:]], "counts"),
    "a count is beyond 64 bits": ("table_1.csv", lambda r: [{**r[0], "count": "9" * 30}, *r[1:]], "counts"),
    "a count overflows": ("table_1.csv", lambda r: [{**row, "count": "9" * 18} for row in r], "counts"),
    "a secret is left out": ("table_1.csv", lambda rows: rows[1:], "counts"),
    "a secret is listed twice": (
        "table_1.csv",
        lambda r: [{**r[0], "count": "0"}, *r],
        "counts",
    ),
    "a group number has a gap": ("people.csv", doubled, "counts"),
    "group numbers are exchanged in one table": ("table_2.csv", renumbered, "order"),
    "group numbers are exchanged among the people": ("people.csv", renumbered, "order"),
    "two secrets are listed the other way": ("table_1.csv", lambda r: [r[1], r[0], *r[2:]], "order"),
    "secrets are listed by secret": ("table_1.csv", lambda r: sorted(r, key=lambda row: row["ill"]), "order"),
    "people are listed by group": ("people.csv", lambda r: sorted(r, key=lambda row: int(row["group"])), "order"),
    "people are listed by age": ("people.csv", lambda r: sorted(r, key=lambda row: row["age"]), "order"),
    "a person is in another group": ("people.csv", moved, "counts"),
    "the people have a secret": ("people.csv", lambda r: [{**row, "ill": "flu"} for row in r], "columns"),
    "the people have a number": ("people.csv", lambda r: [{**row, "row": i} for i, row in enumerate(r)], "columns"),
    "the secrets have another column": ("table_1.csv", lambda r: [{**row, "age": "30"} for row in r], "columns"),
    "the secrets have the other secret": ("table_1.csv", lambda r: [{**row, "pay": "10"} for row in r], "columns"),
}  # fmt: skip


@pytest.mark.parametrize("name", TAMPERED)
def test_a_changed_file_is_refused_without_the_original(folder, name):
    file, change, check = TAMPERED[name]
    change_rows(folder, file, change)
    found = sf.verify(folder)
    assert not found.holds
    assert any(check in failed or failed == "data" or "l-diversity" in failed for failed in failing(found)), found


def test_secrets_of_other_people_are_refused_with_the_original(folder, made):
    change_rows(folder, "table_2.csv", secrets_of_two_groups_exchanged)
    found = sf.verify(folder, PEOPLE)
    assert not found.holds
    assert "links" in failing(found) or any("closeness" in name for name in failing(found))


def test_people_with_other_values_are_refused_with_the_original(folder):
    change_rows(folder, "people.csv", lambda rows: [{**row, "age": "99"} if row["age"] == "20" else row for row in rows])
    assert "rows" in failing(sf.verify(folder, PEOPLE))


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.update(alone=3),
        lambda content: content.update(groups=7),
        lambda content: content.update(suppressed=1),
        lambda content: content.update(holds=False),
        lambda content: content.update(count="group"),
        lambda content: content["tables"][0]["principles"].clear(),
        lambda content: content["tables"][0]["principles"][0]["measured"].update(l=3),
        lambda content: content["tables"][0]["coverage"].update(unique_rows=5),
        lambda content: content["tables"][0].update(attributes=["pay"]),
        lambda content: content["columns"][1].update(role="other"),
        lambda content: content["config"]["columns"]["town"].update(role="identifier"),
        lambda content: content["config"]["principles"].clear(),
        lambda content: content["config"]["principles"].append({"name": "k-anonymity", "k": 2}),
        lambda content: content.update(rows_of_people=[1, 2, 3]),
        lambda content: content["tables"][0].update(seed=3),
    ],
)
def test_a_changed_release_json_is_refused(folder, change):
    content = stated(folder)
    change(content)
    state(folder, content)
    assert not sf.verify(folder)


def test_a_weaker_requirement_than_expected_is_refused(made):
    assert not sf.verify(made / "csv", principles=[sf.FrequencyLDiversity(3)])
    assert not sf.verify(made / "csv", schema=sf.Schema(["age"], ["ill", "pay"], ["name"], other=["town"]))


def test_a_key_of_other_people_is_refused(made, folder):
    key = json.loads((made / "csv.json").read_text())
    rows = key["original_rows"]
    for changed in ([rows[1], rows[0], *rows[2:]], [rows[1], *rows[1:]], rows[1:], [99, *rows[1:]], [0, *rows[1:]]):
        path = folder.parent / "key.json"
        path.write_text(json.dumps({**key, "original_rows": changed}))
        assert failing(sf.verify(folder, PEOPLE, key=path)) == {"key"}
    assert "key" in failing(sf.verify(made / "parquet", PEOPLE, key=made / "csv.json"))


def test_arguments_of_other_kinds_are_refused(made):
    with pytest.raises(sf.errors.ParameterError, match="project is compared"):
        sf.verify(made / "csv", project={})


def test_a_parquet_file_with_counts_of_another_type_is_refused(made, tmp_path):
    folder = shutil.copytree(made / "parquet", tmp_path / "out")
    table = parquet.read_table(folder / "table_1.parquet")
    parquet.write_table(table.set_column(2, "count", table["count"].cast(pa.float64())), folder / "table_1.parquet")
    state(folder, stated(folder))
    assert "counts" in failing(sf.verify(folder))


secrets = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abc")), min_size=2, max_size=12)


@settings(max_examples=settings.default.max_examples // 6)
@given(rows=secrets, least=st.integers(1, 3))
def test_the_requirement_against_the_definition(tmp_path_factory, rows, least):
    """A table is made for the weakest requirement; a stricter one is accepted exactly if the files satisfy it."""
    groups, values = zip(*rows, strict=True)
    data = pa.table({"age": range(len(rows)), "ill": values})
    place = tmp_path_factory.mktemp("case")
    schema, method = sf.Schema(["age"], ["ill"]), Fixed(sf.anonymization.renumber(groups))
    folder = sf.anatomize(data, schema, sf.FrequencyLDiversity(1), method=method, seed=0).save(place / "out")
    level = frequency_l(folder / "table_1.csv", ("ill",))
    content = stated(folder)
    content["config"]["principles"] = [{"name": "frequency-l-diversity", "l": str(least)}]
    claim = content["tables"][0]["principles"][0]
    claim.update(parameters={"l": str(least)}, label=claim["label"].replace("l = 1", f"l = {least}"))
    claim.update(wanted={"l": f"at least {least}"})
    state(folder, content)
    assert sf.verify(folder).holds == (level >= least)
    shutil.rmtree(place)

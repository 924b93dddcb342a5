"""New rows in the groups of a release, against cells that are read naively."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from commandline import sfumato
from naive_transformation import fitting_groups
from sfumato.io.read_table import as_table
from sfumato.releases.digests import digest
from sfumato.releases.reader import Manifest
from sfumato.releases.table_files import published_schema, published_table
from sfumato.transformation import Transformation
from small_tables import TREE

TOWNS = ["Bonn", "Rome", "Ulm", "Wien"]
SCHEMA = sf.Schema(
    quasi_identifiers=["age", "town", "job"],
    sensitive=["ill"],
    identifiers=["name"],
    kinds={"age": "numeric", "town": "categorical", "job": "categorical"},
    hierarchies={"job": sf.Hierarchy.from_rows(TREE.values())},
    recodings={"job": "ancestor"},
)
LEVELS = replace(SCHEMA, hierarchies={**SCHEMA.hierarchies, "age": sf.Hierarchy.from_rows(
    [str(age), "young" if age < 40 else "old", "*"] for age in range(20, 60)
)})  # fmt: skip


def people(rows, seed):
    random = np.random.default_rng(seed)
    town = random.choice(TOWNS[:3], rows).tolist()
    return pa.table(
        {
            "name": [f"p{row}" for row in range(rows)],
            "age": random.integers(20, 60, rows),
            "town": [None if random.random() < 0.1 else each for each in town],
            "job": random.choice(list(TREE), rows),
            "ill": random.choice(["flu", "gout", "ulcer"], rows),
        }
    )


@pytest.fixture(scope="module", params=["mondrian", "glaze", "levels"])
def release(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("release") / "r"
    schema = LEVELS if request.param == "levels" else SCHEMA
    method = "lattice" if request.param == "levels" else request.param
    sf.anonymize(people(60, 1), schema, [sf.KAnonymity(3)], method=method, suppress="0.2").save(folder)
    return folder


def transformation_of(folder):
    table = Manifest.load(folder).table
    declared, _ = table.schema()
    released = published_table(table, published_schema(declared, table.document.group))
    return Transformation.of(table.document, released, declared), declared, released


rows_of_people = st.lists(
    st.fixed_dictionaries(
        {
            "age": st.one_of(st.none(), st.integers(20, 59)),
            "town": st.one_of(st.none(), st.sampled_from(TOWNS)),
            "job": st.sampled_from(list(TREE)),
        }
    ),
    min_size=1,
    max_size=12,
)


@pytest.fixture(scope="module")
def prepared(release):
    transformation, declared, released = transformation_of(release)
    group = released.schema.group
    names = ("age", "town", "job")
    cells = {row[group]: {name: row[name] for name in names} for row in released.data.to_pylist()}
    trees = {"job": TREE}
    if declared.hierarchies.get("age") is not None:
        trees["age"] = {age: (str(age), "young" if age < 40 else "old", "*") for age in range(20, 60)}
    groups = {int(number): {name: cell or None for name, cell in each.items()} for number, each in cells.items()}
    return transformation, replace(declared, identifiers=()), groups, trees


@given(rows=rows_of_people)
def test_a_row_lands_in_a_group_that_covers_it_and_is_unfit_only_if_none_does(prepared, rows):
    transformation, declared, groups, trees = prepared
    types = pa.schema([("age", pa.int64()), ("town", pa.string()), ("job", pa.string()), ("ill", pa.string())])
    assignment = transformation.assign(as_table(pa.Table.from_pylist(rows, types), declared))
    for number, row in enumerate(rows):
        fitting = fitting_groups(groups, row, trees)
        chosen = int(assignment.group[number])
        if chosen < 0:
            assert not fitting
            nearest = groups[int(transformation.numbers[assignment.nearest[number]])]
            missed = {name for name in row if not fitting_groups({0: nearest}, {name: row[name]}, trees)}
            assert set(assignment.misses(number)) == missed
        else:
            assert int(transformation.numbers[chosen]) in fitting


def test_the_rows_of_the_original_fit(release):
    """Rows that were not suppressed are covered by the group that they are in."""
    added = sf.apply(release, people(60, 1))
    suppressed = Manifest.load(release).grouped.suppressed
    assert len(added.unfit) <= suppressed
    published = published_table(Manifest.load(release).table, sf.Schema())
    assert added.data.column_names == published.data.column_names
    assert "name" not in added.data.column_names
    cells = {tuple(row[name] or None for name in ("age", "town", "job")) for row in published.data.to_pylist()}
    assert {tuple(row[name] for name in ("age", "town", "job")) for row in added.data.to_pylist()} <= cells


def test_the_most_specific_group_is_chosen(tmp_path):
    """Two groups cover 30: the narrow range wins over the wide one."""
    data = pa.table({"age": [10, 30, 30, 32], "ill": ["a", "b", "a", "b"]})
    release = sf.anonymize(data, sf.Schema(["age"], ["ill"]), sf.KAnonymity(2), method="glaze")
    folder = release.save(tmp_path / "r")
    cells = set(published_table(Manifest.load(folder).table, sf.Schema()).data.column("age").to_pylist())
    assert cells == {"[10, 30]", "[30, 32]"}, "the release that the test is about"
    added = sf.apply(folder, pa.table({"age": [30, 25], "ill": ["a", "a"]}))
    assert sorted(added.data.column("age").to_pylist()) == ["[10, 30]", "[30, 32]"]
    assert sf.apply(folder, pa.table({"age": [30], "ill": ["a"]})).data.column("age").to_pylist() == ["[30, 32]"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release") / "r"
    principles = [sf.KAnonymity(3), sf.DistinctLDiversity(2), sf.TCloseness("0.6")]
    sf.anonymize(people(60, 1), SCHEMA, principles, method="mondrian").save(folder)
    return folder


@pytest.mark.parametrize(
    ("change", "column", "row", "value"),
    [
        (lambda t: t.drop(["town"]), "town", None, None),
        (lambda t: t.set_column(1, "age", pa.array(["thirty"] * 5)), "age", 1, "thirty"),
        (lambda t: t.set_column(3, "job", pa.array(["a", "b", "pilot", "c", "a"])), "job", 3, "pilot"),
        (lambda t: t.append_column("group", pa.array([1] * 5)), "group", None, None),
    ],
    ids=["no column", "other kind", "unknown value", "published table"],
)
def test_a_table_that_does_not_match_is_an_error(folder, change, column, row, value):
    with pytest.raises(sf.SfumatoError) as error:
        sf.apply(folder, change(people(5, 2)))
    assert (error.value.column, error.value.row, error.value.value) == (column, row, value)
    assert not isinstance(error.value, sf.errors.RequirementError)


def test_rows_that_break_a_principle_of_the_whole_are_refused_unless_insisted(folder):
    many = people(400, 3)
    same = many.set_column(many.column_names.index("ill"), "ill", pa.array(["flu"] * 400)).filter(
        pa.array([age < 35 for age in many.column("age").to_pylist()])
    )
    with pytest.raises(sf.errors.RequirementError, match="t-closeness"):
        sf.apply(folder, same)
    assert not sf.apply(folder, same, insist=True).holds


def test_a_changed_release_is_refused(folder, tmp_path):
    import shutil

    copy = shutil.copytree(folder, tmp_path / "copy")
    data = copy / "data.csv"
    data.write_text(data.read_text(encoding="utf-8").replace("flu", "gout", 1), encoding="utf-8")
    for call in (lambda: sf.apply(copy, people(5, 2)), lambda: sf.read_release(copy)):
        with pytest.raises(sf.errors.ReleaseError, match="changed"):
            call()


def _without_columns(copy):
    path = copy / "release.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | {"columns": []}), encoding="utf-8")


def _with_data(change):
    """Change the lines of the data, and state the digest of the result."""

    def edit(copy):
        data, path = copy / "data.csv", copy / "release.json"
        header, *lines = data.read_text(encoding="utf-8").splitlines()
        data.write_text("\n".join([header, *change(lines)]) + "\n", encoding="utf-8")
        document = json.loads(path.read_text(encoding="utf-8"))
        document["files"]["data.csv"] = digest(data).to_dict()
        path.write_text(json.dumps(document), encoding="utf-8")

    return edit


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (_without_columns, "columns"),
        (_with_data(lambda lines: lines[1:]), "counts"),
        (_with_data(lambda lines: [line.partition(",")[1] + line.partition(",")[2] for line in lines]), "counts"),
        (_with_data(lambda lines: ["1" + line[line.index(",") :] for line in lines]), "counts"),
        (_with_data(lambda lines: [_with_group(lines, i) for i in range(len(lines))]), "groups"),
    ],
    ids=["no columns", "a row less", "no groups", "one group", "groups exchanged"],
)
def test_a_release_that_contradicts_itself_is_refused(folder, tmp_path, change, key):
    import shutil

    copy = shutil.copytree(folder, tmp_path / "copy")
    change(copy)
    for call in (lambda: sf.apply(copy, people(5, 2)), lambda: sf.read_release(copy)):
        with pytest.raises(sf.errors.ReleaseError, match=r"not what release\.json states") as error:
            call()
        assert error.value.key == key


def _with_group(lines, row):
    """The row with the group of the row before it."""
    return lines[row - 1].partition(",")[0] + "," + lines[row].partition(",")[2]


def test_order_depends_on_the_seed_and_not_on_the_order_of_the_rows(folder):
    new = people(30, 1)
    one, other = sf.apply(folder, new, seed=5), sf.apply(folder, new.take(list(range(29, -1, -1))), seed=5)
    assert one.data.to_pylist() == other.data.to_pylist()
    assert one.data.to_pylist() != sf.apply(folder, new, seed=6).data.to_pylist()


def test_the_command(folder, tmp_path):
    from pyarrow import csv

    new = people(20, 4).append_column("note", pa.array(["x"] * 20))
    csv.write_csv(new, tmp_path / "new.csv")
    expected = sf.apply(folder, tmp_path / "new.csv")
    done = sfumato("apply", str(folder), "--data", "new.csv", "-o", "out.csv", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["rows"] == expected.data.num_rows
    assert [each["row"] for each in result["unfit"]] == [each.row for each in expected.unfit]
    written = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
    assert written[0] == (folder / "data.csv").read_text(encoding="utf-8").splitlines()[0]
    assert len(written) == 1 + result["rows"]
    assert sfumato("apply", str(folder), "--data", "new.csv", "-o", "out.csv", cwd=tmp_path).returncode == 2
    if expected.unfit:
        assert sfumato("apply", str(folder), "--data", "new.csv", "--strict", cwd=tmp_path).returncode == 1


def test_new_rows_of_a_release_that_counts_people_are_refused(tmp_path):
    # the rows of one new person fit two groups; whoever knows that they belong together could intersect them
    visits = pa.table({"who": [1, 1, 2, 3, 4], "age": [30, 33, 31, 50, 51], "home": [1, 1, 1, 2, 2]})
    new = pa.table({"who": [9, 9], "age": [31, 50], "home": [3, 3]})
    for key, column in (("person_id", "who"), ("household_id", "home")):
        schema = sf.Schema(["age"], **{key: column})
        folder = sf.anonymize(visits, schema, sf.KAnonymity(1)).save(tmp_path / key)
        with pytest.raises(sf.errors.ReleaseError, match="people in the groups cannot be counted") as error:
            sf.apply(folder, new, insist=True)
        assert error.value.key == f"config.{key}"


def test_unchanged_columns_of_new_rows_are_within_the_limit_of_the_release(tmp_path):
    people = pa.table({"age": [30, 31, 50, 51], "site": ["north", "north", "south", "south"]})
    schema = sf.Schema(["age"], other=["site"], unchanged_limit="0.5")
    folder = sf.anonymize(people, schema, sf.KAnonymity(2)).save(tmp_path / "r")

    def new(*sites):
        return pa.table({"age": [30] * len(sites), "site": list(sites)})

    assert sf.apply(folder, new("north", "diary of Ann")).data.num_rows == 2  # half of the new rows
    assert sf.apply(folder, new("west", "west")).data.num_rows == 2  # two rows have the value
    with pytest.raises(sf.errors.RequirementError, match=r"'site'.* single out 2 of 3 new rows .* limit .* 0\.5"):
        sf.apply(folder, new("north", "diary of Ann", "diary of Bob"), insist=True)


def test_columns_that_the_release_does_not_know_are_named(release):
    new = people(60, 1)
    result = sf.apply(release, new.append_column("shoe", pa.array(["42"] * 60)), insist=True)
    assert result.dropped == ("shoe",)
    assert "not in the release, and dropped: 'shoe'" in repr(result)
    assert "shoe" not in result.data.column_names
    assert sf.apply(release, new, insist=True).dropped == ()  # the name is a declared identifier


def test_force_never_replaces_what_was_read(tmp_path):
    release = sf.anonymize(people(60, 1), SCHEMA, sf.KAnonymity(3)).save(tmp_path / "release")
    new = tmp_path / "new.csv"
    pa.csv.write_csv(people(5, 2).drop(["town"]).append_column("town", pa.array(["Bonn"] * 5)), new)
    before = {path: path.read_bytes() for path in (new, release / "data.csv")}
    added = sf.apply(release, new)
    for path in before:
        with pytest.raises(sf.errors.FileError, match="this is being read, and is not replaced"):
            added.save(path, force=True)
    assert before == {path: path.read_bytes() for path in before}
    added.save(tmp_path / "added.csv")
    added.save(tmp_path / "added.csv", force=True)

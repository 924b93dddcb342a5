"""An open recoding is chosen by the loss of the release, and near-unique values are never published as sets."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.anonymization.recoding_choice import for_publication, for_search, open_recodings
from sfumato.data.near_unique import automatic_prefix, is_near_unique

TREE = [["a", "x", "*"], ["b", "x", "*"], ["c", "x", "*"], ["d", "y", "*"], ["e", "y", "*"], ["f", "z", "*"]]
PARENT = {row[0]: row[1] for row in TREE}


def naive_loss(groups, how):
    """Return the mean share of leaves that cells of a column leave open, by the definition."""
    total = 0.0
    for values in groups:
        distinct = set(values)
        open_leaves = len(distinct)
        if how == "ancestor" and len(distinct) > 1:
            parents = {PARENT[value] for value in distinct}
            open_leaves = sum(parent in parents for parent in PARENT.values()) if len(parents) == 1 else len(TREE)
        total += len(values) * (0 if len(distinct) == 1 else open_leaves / len(TREE))
    return total / sum(map(len, groups))


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 3)), min_size=4, max_size=24))
def test_the_choice_is_the_least_loss_of_the_groups(rows):
    schema = sf.Schema(["x"], ["s"], hierarchies={"x": sf.Hierarchy.from_rows(TREE)})
    table = sf.Table(pa.table({"x": [value for value, _ in rows], "s": ["?"] * len(rows)}), schema)
    groups = defaultdict(list)
    for value, group in rows:
        groups[group].append(value)
    of_row = sf.anonymization.renumber([group for _, group in rows])
    searched = for_search(table)
    assert searched.schema.recodings == {"x": "set"}
    chosen = for_publication(table, searched, sf.anonymization.Grouping(of_row)).schema.recodings["x"]
    losses = {how: naive_loss(groups.values(), how) for how in ("ancestor", "set")}
    assert losses["set"] <= losses["ancestor"]
    assert losses[chosen] == pytest.approx(min(losses.values()))
    assert chosen == ("ancestor" if losses["ancestor"] == pytest.approx(losses["set"]) else "set")


def people(rows=120):
    draw = random.Random(0)
    return pa.table(
        {
            "town": [draw.choice("abcdef") for _ in range(rows)],
            "age": [draw.randrange(20, 70) for _ in range(rows)],
            "job": [draw.choice("pqrst") for _ in range(rows)],
            "ill": [f"ill {i % 4}" for i in range(rows)],
        }
    )


@pytest.mark.parametrize("method", ["glaze", "mondrian", "xcolor"])
def test_an_open_recoding_loses_no_more_than_either(method, tmp_path):
    def loss(**recodings):
        hierarchies = {"town": sf.Hierarchy.from_rows(TREE), "age": sf.Intervals((10, 20))}
        schema = sf.Schema(["town", "age", "job"], ["ill"], hierarchies=hierarchies, recodings=recodings)
        return sf.anonymize(people(), schema, sf.Dissimilarity(0, "0.5", k=4), method=method)

    free = loss()
    assert free.recodings == {"town": "set", "age": "interval", "job": "set"}
    assert "town" not in free.schema.recodings
    assert free.loss <= min(loss(town="ancestor", age="ancestor").loss, loss(town="set", age="interval").loss)
    folder = free.save(tmp_path / "release")
    stated = json.loads((folder / "release.json").read_text())
    assert {column["name"]: column.get("recoding") for column in stated["columns"]}["town"] == "set"
    assert "recoding" not in stated["config"]["columns"]["town"]
    assert sf.verify(folder, people(), schema=free.schema).holds
    again = sf.replay(folder, people(), seed=free.private.seed).save(tmp_path / "again")
    assert (again / "data.csv").read_bytes() == (folder / "data.csv").read_bytes()
    assert (again / "release.json").read_bytes() == (folder / "release.json").read_bytes()


def test_a_release_must_be_published_in_a_way_that_its_schema_allows(tmp_path):
    schema = sf.Schema(["town"], ["ill"], hierarchies={"town": sf.Hierarchy.from_rows(TREE)}, recodings={"town": "ancestor"})
    folder = sf.anonymize(people().drop(["age", "job"]), schema, sf.KAnonymity(40)).save(tmp_path / "release")
    text = (folder / "release.json").read_text()
    (folder / "release.json").write_text(text.replace('"recoding": "ancestor"', '"recoding": "set"', 1))
    assert not sf.verify(folder).holds


def test_ordered_values_are_published_as_intervals_unless_the_hierarchy_ignores_their_order():
    ages = pa.table({"x": [1, 2, 3, 4]})
    nested = sf.Table(ages, sf.Schema(["x"], hierarchies={"x": sf.Intervals((2,))}))
    assert for_search(nested).schema.recodings == {"x": "interval"}
    odd = sf.Hierarchy.from_rows([[str(i), "odd" if i % 2 else "even", "*"] for i in range(1, 5)])
    codes = sf.Table(ages, sf.Schema(["x"], hierarchies={"x": odd}))
    assert for_search(codes).schema.recodings == {"x": "ancestor"}


def test_methods_that_publish_levels_have_no_choice():
    schema = sf.Schema(["town"], ["ill"], hierarchies={"town": sf.Hierarchy.from_rows(TREE)})
    release = sf.anonymize(people().drop(["age", "job"]), schema, sf.KAnonymity(15), method="lattice")
    assert release.recodings == {"town": "ancestor"}
    table = sf.Table(people(), schema)
    assert open_recodings(table, sf.Lattice()) == (table, table)


# near-unique values


def near_unique(values, **more):
    table = pa.table({"x": values, "ill": [f"ill {i % 3}" for i in range(len(values))]})
    return table, sf.Schema(["x"], ["ill"], **more)


@given(st.lists(st.integers(0, 60), min_size=1, max_size=200))
def test_near_unique_columns(values):
    column = sf.Table(pa.table({"x": [f"n{value}" for value in values]}), sf.Schema(["x"])).column("x")
    distinct = len(set(values))
    single = sum(values.count(value) == 1 for value in set(values))
    few = len(values) / distinct < 4 or (single >= 20 and single >= distinct / 2)
    assert is_near_unique(column) == (distinct >= 20 and few)


def test_a_frequent_value_does_not_hide_names():
    """Most values are names of one person each, and most rows have none: a set of them would list who is in the table."""
    data, schema = near_unique([*(f"name {i} of somebody" for i in range(140)), *["unknown"] * 860])
    with pytest.raises(sf.errors.ColumnError, match="would list who is in the table"):
        sf.anonymize(data, schema, sf.KAnonymity(4))


def test_near_unique_codes_are_published_as_prefixes(tmp_path):
    data, schema = near_unique([f"{2100 + i * 7:05}" for i in range(80)])
    release = sf.anonymize(data, schema, sf.KAnonymity(4))
    assert release.recodings == {"x": "ancestor"}
    assert release.schema.hierarchies == {"x": sf.Prefix((4, 3, 2, 1))}
    assert "near-unique codes are published as prefixes: 'x'" in release.notes
    cells = set(release.frame.column("x").to_pylist())
    assert all(cell.endswith("*") for cell in cells)
    folder = release.save(tmp_path / "release")
    assert sf.verify(folder, data, schema=schema).holds
    assert sf.verify(folder, schema=schema).holds
    again = sf.replay(folder, data, seed=release.private.seed).save(tmp_path / "again")
    assert (again / "release.json").read_bytes() == (folder / "release.json").read_bytes()
    # prefixes that the schema does not imply are a difference
    few, plain = near_unique(["02139", "02144", "10001"] * 8)
    other = sf.anonymize(few, sf.Schema(["x"], ["ill"], hierarchies={"x": sf.Prefix((4, 3, 2, 1))}), sf.KAnonymity(4))
    assert not sf.verify(other.save(tmp_path / "other"), few, schema=plain).holds


def test_other_near_unique_values_are_refused():
    names = [f"{chr(97 + i % 26)}{'x' * (i % 5)}{i}" for i in range(60)]
    data, schema = near_unique(names)
    with pytest.raises(sf.errors.ColumnError, match="60 values in 60 rows") as caught:
        sf.anonymize(data, schema, sf.KAnonymity(4))
    assert caught.value.column == "x"
    assert all(word in caught.value.remedy for word in ("prefix", 'kind = "date"', "identifier", 'recoding = "set"'))
    # on purpose
    data, insisting = near_unique(names, recodings={"x": "set"})
    assert sf.anonymize(data, insisting, sf.KAnonymity(4)).recodings == {"x": "set"}
    # a hierarchy is then used, although sets would lose less
    data, trees = near_unique(names, hierarchies={"x": sf.Prefix((1,))})
    assert sf.anonymize(data, trees, sf.KAnonymity(4)).recodings == {"x": "ancestor"}


def test_numbers_that_are_near_unique_are_published_as_intervals():
    data, schema = near_unique([i * 3 for i in range(60)])
    assert sf.anonymize(data, schema, sf.KAnonymity(4)).recodings == {"x": "interval"}


@pytest.mark.parametrize(
    ("values", "lengths"),
    [
        ([f"{i:05}" for i in range(30)], (4, 3, 2, 1)),
        ([f"A{i:02}.{i % 10}" for i in range(30)], (3, 2, 1)),
        ([f"ab{i}" for i in range(30)], None),  # two lengths
        ([chr(97 + i // 26) + chr(97 + i % 26) + "x" for i in range(30)], None),  # words, not codes
        ([f"{i:02}" for i in range(30)], None),  # too short
    ],
)
def test_codes_of_one_shape(values, lengths):
    column = sf.Table(pa.table({"x": values}), sf.Schema(["x"])).column("x")
    assert automatic_prefix(column) == (None if lengths is None else sf.Prefix(lengths))


def test_values_of_one_person_each_are_near_unique_however_many_rows_people_have(tmp_path):
    who = [f"p{row % 30}" for row in range(240)]  # eight rows each
    ill = ["flu", "gout", "cold"] * 80
    names = pa.table({"who": who, "x": ["".join("abcdefghij"[int(d)] for d in w[1:]) for w in who], "ill": ill})
    schema = sf.Schema(["x"], ["ill"], person_id="who")
    with pytest.raises(sf.errors.ColumnError, match="30 values in 240 rows of 30 people: published as sets"):
        sf.anonymize(names, schema, sf.KAnonymity(3))
    codes = names.set_column(1, "x", pa.array([f"{100 + int(w[1:])}" for w in who]))
    release = sf.anonymize(codes, replace(schema, kinds={"x": "categorical"}), sf.KAnonymity(3))
    assert not any(cell.startswith("{") for cell in release.frame["x"].to_pylist())
    saved = release.save(tmp_path / "r", key=tmp_path / "key.json")
    expected = replace(schema, kinds={"x": "categorical"})
    assert sf.verify(saved, codes, key=tmp_path / "key.json", schema=expected).holds
    towns = names.set_column(1, "x", pa.array([f"town {chr(97 + int(w[1:]) % 5)}" for w in who]))
    assert sf.anonymize(towns, schema, sf.KAnonymity(3)).audit.holds


def test_sets_that_nobody_could_read_or_store_are_refused(monkeypatch):
    """One group of 400 rows and 100 towns: each of the 400 cells has 100 labels of 10 letters, and marks between them."""
    towns = [f"town {i:05}" for i in range(100)] * 4
    table = pa.table({"town": towns, "age": [30] * 400})
    schema = sf.Schema(["town", "age"])
    assert sf.anonymize(table, schema, sf.KAnonymity(400)).loss > 0
    monkeypatch.setattr("sfumato.anonymization.recoding.group_recoding._MOST_CHARACTERS", 400 * 100 * 10)
    with pytest.raises(sf.errors.ColumnError, match="a set of 100 of its 100 values on average") as error:
        sf.anonymize(table, schema, sf.KAnonymity(400))
    assert error.value.column == "town"
    assert "hierarchy" in error.value.remedy

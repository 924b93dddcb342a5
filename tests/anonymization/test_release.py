"""The release: what is published of a table, that it is what was promised, and that nothing else is left behind."""

from __future__ import annotations

import csv
import json
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from fixed_groups import as_seen
from sfumato.anonymization._anonymize import anonymize
from sfumato.anonymization.figures.rounding_steps import in_steps, step_of
from sfumato.anonymization.methods import Grouping
from sfumato.census import census_schema
from sfumato.verification._verify import verify
from standin import Chunks

TREE = sf.Hierarchy.from_rows(
    [["a", "vowel", "*"], ["e", "vowel", "*"], ["b", "other", "*"], ["c", "other", "*"], ["d", "other", "*"]]
)
SCHEMA = sf.Schema(
    quasi_identifiers=["age", "letter", "town", "school"],
    sensitive=["income"],
    identifiers=["name"],
    other=["note"],
    unchanged_limit=1,
    kinds={"income": "numeric", "age": "numeric"},
    orders={"school": ["low", "mid", "high"]},
    hierarchies={"letter": TREE},
    recodings={"letter": "ancestor"},
)
ORDER = ["low", "mid", "high"]


def people(rows):
    columns = dict(zip(["age", "letter", "town", "school", "income", "note"], zip(*rows, strict=True), strict=True))
    return pa.table({"name": [f"p{i}" for i in range(len(rows))], **{name: list(c) for name, c in columns.items()}})


rows = st.lists(
    st.tuples(
        st.sampled_from([18, 20, 33, 40, None]),
        st.sampled_from(["a", "b", "c", "d", "e"]),
        st.sampled_from(["Rome", "Bonn; east", "Bonn", 'the "old", one', None]),
        st.sampled_from(ORDER),
        st.sampled_from([0.1, 0.25, 3.0, 1e20, None]),
        st.sampled_from(["", "x", "multi\nline", "a\rb", " lead", "\ufeff", "NA", "ä,ö"]),
    ),
    min_size=4,
    max_size=14,
)


def naive_covers(cell, value, column):
    """Whether a published text covers an original value, from the words of the design alone."""
    if cell == "*":
        return True
    if value is None:
        return cell == ""
    if str(value) == cell:
        return True
    if column == "letter":
        return cell in {"a": "vowel", "e": "vowel"}.get(value, "other")
    if column == "town":
        quoted = '"' + value.replace('"', '""') + '"' if set(value) & set(';,"') else value
        return cell.startswith("{") and f"; {quoted}; " in f"; {cell[1:-1]}; "
    if not (cell.startswith("[") and cell.endswith("]")):
        return False
    low, high = cell[1:-1].split(", ")
    if column == "school":
        return ORDER.index(low) <= ORDER.index(value) <= ORDER.index(high)
    return Fraction(low) <= value <= Fraction(high)


@given(rows, st.integers(1, 4), st.integers(0, 3))
def test_any_release_reads_back_as_promised(tmp_path_factory, drawn, size, seed):
    folder = tmp_path_factory.mktemp("any") / "out"
    table = people(drawn)
    release = anonymize(table, SCHEMA, sf.KAnonymity(size), method=Chunks(size), seed=seed)
    release.save(folder)
    with (folder / "data.csv").open(encoding="utf-8", newline="") as file:
        published = list(csv.DictReader(file))
    assert Counter(row["income"] and float(row["income"]) for row in published) == Counter(
        "" if row[4] is None else row[4] for row in drawn
    )
    groups = Counter(row["group"] for row in published)
    assert min(groups.values()) >= size
    assert sorted(map(int, groups)) == list(range(1, len(groups) + 1))
    # every published row stands for an original row that it covers: some one-to-one assignment exists
    columns = ["age", "letter", "town", "school"]

    def may_be(row, original):
        unchanged = (row["income"] and float(row["income"]), row["note"]) == (
            "" if original[4] is None else original[4],
            original[5],
        )
        return unchanged and all(naive_covers(row[c], v, c) for c, v in zip(columns, original, strict=False))

    assert assignable([[may_be(row, original) for original in drawn] for row in published])
    found = verify(folder, table)
    assert found, found


def assignable(allowed):
    """Whether every row can have a column of its own (augmenting paths)."""
    taken = {}

    def place(row, seen):
        for column, fits in enumerate(allowed[row]):
            if fits and column not in seen:
                seen.add(column)
                if column not in taken or place(taken[column], seen):
                    taken[column] = row
                    return True
        return False

    return all(place(row, set()) for row in range(len(allowed)))


@pytest.fixture(scope="module")
def census():
    return sf.synthetic_census(400, seed=3)


@pytest.fixture(scope="module")
def release(census):
    return anonymize(census, census_schema(), [sf.KAnonymity(5), sf.DistinctLDiversity(2)], method=Chunks(10), seed=5)


def test_same_input_and_seed_same_bytes(census, release, tmp_path):
    for form, name in (("csv", "data.csv"), ("parquet", "data.parquet")):
        release.save(tmp_path / f"one-{form}", format=form)
        again = anonymize(census, census_schema(), release.principles, method=Chunks(10), seed=5)
        again.save(tmp_path / f"two-{form}", format=form)
        for file in (name, "release.json"):
            one, two = (tmp_path / f"{n}-{form}" / file for n in ("one", "two"))
            assert one.read_bytes() == two.read_bytes()
    other = anonymize(census, census_schema(), release.principles, method=Chunks(10), seed=6)
    assert other.frame != release.frame


def test_the_order_of_the_original_leaves_no_trace(census, release):
    """The published order is drawn by a public seed: so the shuffle must not be one that this seed undoes."""
    backwards = census.take(list(range(census.num_rows))[::-1])

    class Fixed(Chunks):
        """The same groups whatever the order of the rows."""

        def group(self, task, seed=0):
            keys = [tuple(row.values()) for row in task.table.data.to_pylist()]
            rank = {key: i for i, key in enumerate(sorted(set(keys), key=str))}
            return Grouping(np.array([rank[key] // 10 for key in keys]))

    forth = anonymize(census, census_schema(), sf.KAnonymity(1), method=Fixed())
    back = anonymize(backwards, census_schema(), sf.KAnonymity(1), method=Fixed())
    assert forth.frame == back.frame


def test_frames_come_back_as_they_went_in(census, tmp_path):
    schema = census_schema()
    for frame, kind in ((census.to_pandas(), pd.DataFrame), (pl.from_arrow(census), pl.DataFrame), (census, pa.Table)):
        out = anonymize(frame, schema, sf.KAnonymity(5), method=Chunks(5)).frame
        assert isinstance(out, kind)
        names = out.column_names if kind is pa.Table else list(out.columns)
        assert names == ["group", *census.column_names]
    path = tmp_path / "people.csv"
    census.to_pandas().to_csv(path, index=False)
    assert isinstance(anonymize(path, schema, sf.KAnonymity(5), method=Chunks(5)).frame, pa.Table)


def test_pandas_types_survive():
    frame = pd.DataFrame(
        {
            "age": [1, 2, 3, 4],
            "big": pd.array([2**60 + 1, None, 2**60 + 3, 5], dtype="Int64"),
            "grade": pd.Categorical(["x", "y", "x", "y"], categories=["z", "y", "x"], ordered=True),
        }
    )
    out = anonymize(frame, sf.Schema(["age"], ["big"], other=["grade"]), sf.KAnonymity(2), method=Chunks(2)).frame
    assert str(out["big"].dtype) == "Int64"
    assert sorted(out["big"].dropna()) == [5, 2**60 + 1, 2**60 + 3]
    assert list(out["grade"].cat.categories) == ["y", "x"]
    assert out["grade"].cat.ordered


def test_a_group_column_of_the_datas_own(tmp_path):
    table = pa.table({"group": [1, 2, 3, 4], "age": [1, 2, 3, 4], "name": list("abcd")})
    schema = sf.Schema(["age"], ["group"], ["name"])
    release = anonymize(table, schema, sf.KAnonymity(2), method=Chunks(2))
    assert release.frame.column_names == ["group_id", "group", "age"]
    assert "group_id" in release.notes[0]
    release.save(tmp_path / "out")
    assert verify(tmp_path / "out", table)


def test_folder(release, tmp_path):
    release.save(tmp_path / "out")
    content = json.loads((tmp_path / "out" / "release.json").read_text(encoding="utf-8"))
    assert content["format"] == 6
    assert "seed" not in content
    assert content["method"] == {"name": "chunks", "parameters": {"size": 10}}
    assert content["utility"]["classes"] == json.loads(json.dumps(release.utility.classes.to_dict()))
    rounded = in_steps(release.loss, step_of(400))
    assert content["utility"]["loss"]["mean"] == rounded, "intervals of ages may count original values"
    assert content["holds"] is True
    assert [p["name"] for p in content["principles"]] == ["k-anonymity", *["distinct-l-diversity"] * 3]
    assert content["principles"][0]["exact"] == {"k": "10"}
    assert content["files"]["data.csv"]["bytes"] == (tmp_path / "out" / "data.csv").stat().st_size
    assert content["config"]["columns"]["race"]["hierarchy"]["rows"][0] == ["white", "white", "*"]


def test_what_is_not_verified_is_not_published(release, tmp_path, monkeypatch):
    from sfumato.releases import writer

    write = writer.write_csv
    monkeypatch.setattr(writer, "write_csv", lambda data, file, *more: write(data.slice(1), file, *more))
    with pytest.raises(sf.errors.ReleaseError, match=r"nothing is published.*counts"):
        release.save(tmp_path / "out")
    assert not list(tmp_path.iterdir())


class Alone(Chunks):
    """Pairs, and the last row alone."""

    def group(self, task, seed=0):
        return Grouping(as_seen(np.arange(task.table.rows) // 2, task, seed))


class TestUnreached:
    table = pa.table({"age": [1, 2, 3, 4, 5, 6], "ill": ["a", "b", "c", "d", "e", "e"]})
    schema = sf.Schema(["age"], ["ill"])

    def test_says_how_far_it_got(self):
        with pytest.raises(sf.errors.RequirementError) as caught:
            anonymize(self.table, self.schema, [sf.KAnonymity(2), sf.DistinctLDiversity(2)], method=Chunks(2))
        text = str(caught.value)
        assert "distinct l-diversity (l = 2) on ill fails in 1 of 3 groups with 2 of 6 rows (l 1, wanted at least 2)" in text
        assert "k-anonymity" not in text
        assert caught.value.value[1]["worst_groups"][0]["quasi_identifiers"]["age"] == "[5, 6]"

    def test_suppression_is_a_last_resort(self, tmp_path):
        found = anonymize(self.table, self.schema, sf.DistinctLDiversity(2), method=Chunks(2), suppress="1/3")
        assert (found.suppressed, found.table.rows, found.audit.holds) == (2, 4, True)
        assert sorted(found.frame.column("ill").to_pylist()) == ["a", "b", "c", "d"]
        assert "2 rows of 6 were suppressed" in found.notes
        found.save(tmp_path / "out")
        assert verify(tmp_path / "out", self.table)
        held = anonymize(self.table, self.schema, sf.KAnonymity(2), method=Chunks(2), suppress="0.9")
        assert held.suppressed == 0
        with pytest.raises(sf.errors.RequirementError, match="failing groups contain 2 rows, and at most 1 may be"):
            anonymize(self.table, self.schema, sf.DistinctLDiversity(2), method=Chunks(2), suppress="0.333")

    def test_what_is_left_is_measured_anew(self):
        """Dropping the group in breach changes the table as a whole, and with it t."""
        table = pa.table({"age": [1, 2, 3, 4, 5, 6], "ill": ["a", "b", "a", "b", "c", "c"]})
        found = anonymize(table, self.schema, sf.TCloseness("0.34"), method=Chunks(2), suppress="0.5")
        assert found.suppressed == 2
        assert found.audit[0].levels == {"t": 0}

    def test_kinds_stay_those_of_the_whole_table(self, tmp_path):
        """The only cell that is no number goes: the column is still categorical, as the method saw it."""
        path = tmp_path / "people.csv"
        path.write_text("age,ill\n1,7\n2,8\n3,7\n4,8\n5,x\n", encoding="utf-8")
        found = anonymize(path, self.schema, sf.KAnonymity(2), method=Alone(), suppress="0.2")
        assert (found.suppressed, found.schema.kinds["ill"]) == (1, sf.data.Kind.CATEGORICAL)
        assert "row 5" in found.private.notes[0]
        found.save(tmp_path / "out")
        assert "row 5" not in (tmp_path / "out" / "release.json").read_text(encoding="utf-8")
        assert verify(tmp_path / "out", path)

    def test_one_sensitive_value(self):
        table = pa.table({"age": [1, 2, 3], "ill": ["a", "a", "a"]})
        with pytest.raises(sf.errors.RequirementError):
            anonymize(table, self.schema, sf.DistinctLDiversity(2), method=Chunks(3), suppress="0.9")

    def test_k_beyond_the_table_is_bad_input(self):
        with pytest.raises(sf.errors.ParameterError, match="k = 7 is larger than the table"):
            anonymize(self.table, self.schema, sf.KAnonymity(7), method=Chunks(2))


@pytest.mark.parametrize("seed", [True, -1, 1.0, "1"])
def test_seeds_that_are_none(seed):
    with pytest.raises(sf.errors.ParameterError) as caught:
        anonymize(TestUnreached.table, TestUnreached.schema, sf.KAnonymity(2), method=Chunks(2), seed=seed)
    assert caught.value.key == "seed"


@pytest.mark.parametrize("share", [1, "1.5", -0.1, "many", True])
def test_shares_that_are_none(share):
    with pytest.raises(sf.errors.ParameterError) as caught:
        anonymize(TestUnreached.table, TestUnreached.schema, sf.KAnonymity(2), method=Chunks(2), suppress=share)
    assert caught.value.key == "suppress"


@pytest.mark.parametrize(
    ("schema", "key", "words"),
    [
        (sf.Schema([], ["ill"]), "quasi_identifiers", "quasi-identifier"),
        (sf.Schema(["age"], group="ill"), "group", "Remove group"),
    ],
)
def test_tables_that_cannot_be_anonymized(schema, key, words):
    with pytest.raises(sf.errors.ParameterError, match=words) as caught:
        anonymize(TestUnreached.table, schema, sf.KAnonymity(2), method=Chunks(2))
    assert caught.value.key == key


def test_methods_that_are_none():
    table, schema = TestUnreached.table, TestUnreached.schema
    with pytest.raises(sf.errors.ParameterError, match="no method 'nonsense'"):
        anonymize(table, schema, sf.KAnonymity(2), method="nonsense")
    with pytest.raises(sf.errors.ParameterError, match="is not a method"):
        anonymize(table, schema, sf.KAnonymity(2), method=5)
    with pytest.raises(sf.errors.ParameterError, match="no principle is requested"):
        anonymize(table, schema, [], method=Chunks(2))

    class Broken(Chunks):
        def group(self, task, seed=0):
            return Grouping(np.zeros(2, np.int64))

    with pytest.raises(sf.errors.ParameterError, match=r"Broken\.group\(\) returns group numbers of shape"):
        anonymize(table, schema, sf.KAnonymity(2), method=Broken())


def test_columns_that_are_all_missing(tmp_path):
    table = pa.table({"age": pa.array([None] * 4, pa.int64()), "ill": pa.array([None] * 4, pa.string()), "x": ["a"] * 4})
    release = anonymize(table, sf.Schema(["age", "x"], ["ill"]), sf.KAnonymity(2), method=Chunks(2))
    release.save(tmp_path / "out")
    assert verify(tmp_path / "out", table)
    assert release.frame.column("age").to_pylist() == [None] * 4


def test_what_csv_cannot_hold(tmp_path):
    """Items that hold the separator: Parquet can, and the error says so."""
    table = pa.table({"age": [1, 2, 3, 4], "drugs": [["a;b"], ["a"], ["b"], ["c"]]})
    release = anonymize(table, sf.Schema(["age"], ["drugs"]), sf.KAnonymity(2), method=Chunks(2))
    with pytest.raises(sf.errors.ColumnError, match="a;b"):
        release.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()
    release.save(tmp_path / "out", format="parquet")
    assert verify(tmp_path / "out", table)
    with pytest.raises(sf.errors.ParameterError, match="format"):
        release.save(tmp_path / "out", format="xlsx")


def test_every_kind_of_secret_survives_the_file(tmp_path):
    table = pa.table(
        {
            "age": list(range(8)),
            "small": pa.array([0.1, 0.2, 1e-7, 3, 1e20, 5, None, float("nan")], pa.float32()),
            "when": pa.array([1, 2, 3, 4, 5, 6, 7, None], pa.timestamp("us")),
            "flag": [True, False, None, True, True, False, True, False],
            "drugs": [["b", "a"], ["a"], [], ["c"], ["a"], ["b"], ["c"], ["d"]],
            "code": pa.array(["01", "1", "1.0", "x", "y", '"', "a,b", "l\nm"]).dictionary_encode(),
            "x": [1, 2, 3, 4, 5, 6, 7, 8],
            "y": [1, 1, 2, 2, 3, 3, 4, 4],
        }
    )
    schema = sf.Schema(["age"], ["small", "when", "flag", "drugs", "code", "v"], vectors={"v": ["x", "y"]})
    principles = [sf.DistinctLDiversity(2), sf.Dissimilarity("0.01", "0.1", 2, on="v")]
    schema = sf.Schema(**{**schema.__dict__, "distances": {"v": sf.distances.TotalVariation()}})
    for form in ("csv", "parquet"):
        release = anonymize(table, schema, principles, method=Chunks(4))
        release.save(tmp_path / form, format=form)
        found = verify(tmp_path / form, table)
        assert found, found


def test_names_that_csv_must_quote(tmp_path):
    table = pa.table({"a,b": [1, 2, 3, 4], 'the "q"': list("wxyz"), "two\nlines": [1, 1, 2, 2], " x.y ": [5, 6, 7, 8]})
    other = ['the "q"']
    schema = sf.Schema(
        ["a,b", "two\nlines"], [" x.y "], other=other, unchanged_limit=1, distances={" x.y ": sf.distances.Absolute()}
    )
    for form in ("csv", "parquet"):
        anonymize(table, schema, sf.KAnonymity(2), method=Chunks(2), seed=10**30).save(tmp_path / form, format=form)
        assert verify(tmp_path / form, table)
    nameless = pa.table({"": [1, 2], "a": [1, 2]})
    with pytest.raises(sf.errors.ColumnError, match="without a name"):
        anonymize(nameless, sf.Schema(["a"], other=[""], unchanged_limit=1), sf.KAnonymity(2), method=Chunks(2)).save(
            tmp_path / "out"
        )


def test_repr(release):
    text = repr(release)
    assert text.startswith("Release of 400 rows in 40 groups by chunks: 2 of 2 principles hold")
    assert "holds  k-anonymity (k = 5): k 10, wanted at least 5" in text


@pytest.mark.parametrize(("missing", "noted"), [(1, False), (2, False), (3, True)])
def test_columns_that_missing_values_withhold_are_noted(missing, noted):
    """Chunks of 2 in 80 rows: each missing value withholds 2 cells, and the note begins above a twentieth, 4 cells."""
    ages = [None if row % 2 and row < 2 * missing else row for row in range(80)]
    towns = ["Ulm"] * 78 + [None] * 2  # a group in which all are missing withholds nothing
    table = pa.table({"age": ages, "town": towns})

    class Pairs(Chunks):
        def group(self, task, seed=0):
            return Grouping(as_seen(np.arange(task.table.rows) // 2, task, seed))

    made = anonymize(table, sf.Schema(["age", "town"]), sf.KAnonymity(2), method=Pairs(2))
    withheld = made.frame["age"].to_pylist().count("*")
    assert withheld == 2 * missing
    notes = [note for note in made.private.notes if "missing values are in a group" in note]
    assert [note.split(",")[0] for note in notes] == ([f"'age' is * in {withheld} of 80 rows (7.5 %)"] if noted else [])
    assert not set(notes) & set(made.notes)

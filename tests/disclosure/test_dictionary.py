"""Dictionaries: what is accepted, what is an error, and the order between them."""

from __future__ import annotations

import gzip
import sqlite3
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import naive_consistency as naive
import sfumato as sf
from sfumato.data.table import Table
from sfumato.disclosure.consistency.similarity import SimilarityConsistency
from sfumato.disclosure.dictionaries.dictionary import Dictionary
from sfumato.disclosure.dictionaries.dictionary_order import precedes
from sfumato.disclosure.matching.attribute_matching import match_attributes

BOOK = {"id": ["x", "y", "z"], "age": [30, 41, None], "town": ["Rome", "", "Bonn"], "leaning": [1, 0, 2.5]}


def sources(folder):
    """One and the same dictionary, from everything that may hold one."""
    table = pa.table(BOOK)
    frame = pl.from_arrow(table)
    text = frame.write_csv()
    (folder / "book.csv").write_text(text, encoding="utf-8")
    (folder / "book.csv.gz").write_bytes(gzip.compress(text.encode()))
    parquet.write_table(table, folder / "book.parquet")
    table.to_pandas().to_excel(folder / "book.xlsx", index=False)
    with sqlite3.connect(folder / "book.db") as database:
        database.execute("create table book (id text, age integer, town text, leaning real)")
        database.executemany("insert into book values (?, ?, ?, ?)", [tuple(row.values()) for row in table.to_pylist()])
    files = [folder / name for name in ("book.csv", "book.csv.gz", "book.parquet", "book.xlsx")]
    return [*files, f"sqlite:///{folder / 'book.db'}", table, frame, pd.DataFrame(BOOK), Table(table, sf.Schema())]


def test_every_source_gives_the_same_dictionary(tmp_path):
    people = Table(pa.table({"id": ["y", "q"], "age": [41, 30], "city": ["Rome", "Rome"]}), sf.Schema())
    for source in sources(tmp_path):
        book = Dictionary(source, identity="id", columns={"city": "town"}, weight="leaning", name="book")
        assert book.individuals == 3
        assert book.identities == ["x", "y", "z"]
        assert book.attributes == {"age": "age", "city": "town"}
        assert book.weights.tolist() == [1, 0, 2.5]
        both = match_attributes(people, ["age", "city"], book, identity="id")
        assert both.own.tolist() == [1, -1]
        assert [both.individuals_of(i, both.everything).tolist() for i in (0, 1)] == [[1], [0]]
        assert both.sizes(np.array([[True, False], [False, True]])).tolist() == [2, 2]
        assert both.weights.tolist() == [1, 0, 2.5]


def test_without_identities_rows_are_individuals():
    book = Dictionary(pa.table({"age": [1, 1]}))
    assert book.identities == ["1", "2"]
    assert book.weights.size == 0
    people = Table(pa.table({"id": ["1"], "age": [1]}), sf.Schema())
    assert match_attributes(people, ["age"], book, identity="id").own.tolist() == [-1], "a row number is nobody's name"


def test_the_table_itself_has_every_record_in_its_row():
    people = Table(pa.table({"age": [30, 41, 30]}), sf.Schema())
    both = match_attributes(people, ["age"], Dictionary.of(people))
    assert both.own.tolist() == [0, 1, 2]
    assert both.sizes(both.everything).tolist() == [2, 1, 2]


def test_an_attribute_that_the_dictionary_lacks_is_consistent_with_anything():
    people = Table(pa.table({"age": [30], "pay": [5]}), sf.Schema())
    both = match_attributes(people, ["pay", "age"], Dictionary(pa.table({"age": [30, 31]})))
    assert both.dictionary_values[:, 0].tolist() == [-1, -1]
    assert both.sizes(both.everything).tolist() == [1]
    assert both.sizes(np.array([[True, False]])).tolist() == [2]


def found(records, people, schema=None, untyped=False):
    """How many individuals are consistent with each record, in the one attribute there is."""
    table = Table(pa.table({"a": records}), schema or sf.Schema(), untyped=untyped)
    both = match_attributes(table, ["a"], Dictionary(pa.table({"a": people})))
    return both.sizes(both.everything).tolist()


def test_the_kind_of_the_records_decides():
    """A code with a leading zero is a text for both; 17 and 17.0 are one number; a set is a set in any order."""
    assert found(["0123", "123"], [123], untyped=True) == [0, 1]
    assert found(["17", "18"], ["17.0", "18.50"], untyped=True) == [1, 0]
    assert found(["a;b", "c"], [["b", "a"], ["d"]], sf.Schema(kinds={"a": "set"})) == [1, 0]
    assert found(["low", "high"], ["high"], sf.Schema(orders={"a": ["low", "high"]})) == [0, 1]
    assert found([10**17, 3], ["3.001", "3.000", "1e17"]) == [1, 1]


def test_what_is_missing_in_the_records_is_missing_in_the_dictionary_unless_it_says_so():
    schema = sf.Schema(missing=sf.data.Missing(values=("?",)))
    people = Table(pa.table({"town": ["Rome", "?"]}), schema, untyped=True)
    frame = pa.table({"town": ["?", "Rome", "-"]})
    for missing, expected in ((None, [2, 3]), ("-", [2, 3]), (("?", "-"), [3, 3])):
        both = match_attributes(people, ["town"], Dictionary(frame, missing=missing))
        assert both.sizes(both.everything).tolist() == expected
    assert not (match_attributes(people, ["town"], Dictionary.of(people)).dictionary_values[1] >= 0).any()


# --- bad input --------------------------------------------------------------------------------------------------------


def refused(error, says, *arguments, **keywords):
    with pytest.raises(error) as caught:
        Dictionary(*arguments, **keywords)
    assert says in str(caught.value), str(caught.value)
    return caught.value


def test_bad_dictionaries_are_refused(tmp_path):
    path = tmp_path / "book.csv"
    path.write_text("id,w\na,1\nb,2\na,3\n", encoding="utf-8")
    twice = refused(
        sf.errors.CellError, "the identity 'a' occurs in row 1 and in row 3", path, identity="id", name="phone book"
    )
    assert (twice.file, twice.column, twice.row, twice.value) == (str(path), "id", 3, "a")
    assert "dictionary 'phone book'" in str(twice)
    path.write_text("id,w\na,1\n,2\n", encoding="utf-8")
    assert refused(sf.errors.CellError, "identity is missing", path, identity="id").row == 2
    refused(sf.errors.ColumnError, "Did you mean 'id'", path, identity="idd")
    refused(sf.errors.ColumnError, "no such column", path, columns={"age": "years"})
    refused(sf.errors.ColumnError, "no such column", path, weight="leaning")
    for columns in (["id"], {"age": None}):
        refused(sf.errors.ParameterError, "expected a mapping", path, columns=columns)
    refused(sf.errors.ParameterError, "invalid missing = 5", path, missing=5)
    path.write_text("id,w\n", encoding="utf-8")
    refused(sf.errors.FileError, "no rows", path)
    refused(sf.errors.FileError, "no rows", pa.table({"a": pa.array([], pa.int64())}))
    refused(sf.errors.FileError, "does not exist", tmp_path / "nothing.csv")
    refused(sf.errors.FileError, "is not known from its name", tmp_path / "book.pdf")
    refused(sf.errors.ColumnError, "is not a table", 5)
    refused(sf.errors.CellError, "occurs in row 1 and in row 2", pa.table({"n": [1.0, 1.0]}), identity="n")


@pytest.mark.parametrize(
    ("weights", "error", "says", "row"),
    [
        ([1, -0.5], sf.errors.CellError, "-0.5 is negative", 2),
        ([1, float("nan")], sf.errors.CellError, "missing", 2),
        ([1, None], sf.errors.CellError, "missing", 2),
        ([float("inf"), 1], sf.errors.CellError, "not a number", 1),
        (["much", "1"], sf.errors.CellError, "'much' is not a number", 1),
        ([0, 0], sf.errors.ColumnError, "all weights are 0", None),
    ],
)
def test_bad_weights_are_refused(weights, error, says, row):
    assert refused(error, says, pa.table({"w": weights, "age": [1, 2]}), weight="w").row == row


def match_problem(error, says, data, book, **keywords):
    people = Table(pa.table({"age": [30], "town": ["Rome"]}), sf.Schema())
    with pytest.raises(error) as caught:
        match_attributes(people, keywords.pop("attributes", ["age", "town"]), Dictionary(data, **book), **keywords)
    assert says in str(caught.value), str(caught.value)


def test_what_cannot_be_matched_says_why():
    stranger = pa.table({"id": ["a"], "years": [30]})
    for says in ("'age', 'town'", "the dictionary has 'years'", "columns={"):
        match_problem(sf.errors.ColumnError, says, stranger, {"identity": "id"})
    match_problem(sf.errors.ColumnError, "declared as attribute 'agee'", stranger, {"columns": {"agee": "years"}})
    match_problem(sf.errors.CellError, "'old' is not a number", pa.table({"age": ["30", "old"]}), {"name": "b"})
    same = pa.table({"age": [30]})
    match_problem(sf.errors.ParameterError, "'aged'", same, {}, consistency={"aged": SimilarityConsistency()})
    match_problem(sf.errors.ParameterError, "for attribute 'age'", same, {}, consistency={"age": "jaro"})
    match_problem(sf.errors.ColumnError, "no such column", same, {}, attributes=["age", "pay"])
    match_problem(sf.errors.ColumnError, "no such column", same, {}, identity="name")
    match_problem(sf.errors.ParameterError, "there are no attributes", same, {}, attributes=[])


# --- the order --------------------------------------------------------------------------------------------------------

VALUES = st.sampled_from([None, "17", "17.0", "18", "x"])
PLAIN = {None: None, "17": 17, "17.0": 17, "18": 18, "x": "x"}


def people_of(attributes):
    return st.dictionaries(st.sampled_from("pqr"), st.fixed_dictionaries(dict.fromkeys(attributes, VALUES)), min_size=1)


PEOPLE = st.sampled_from([("a",), ("b",), ("a", "b")]).flatmap(people_of)


def as_dictionary(people):
    names = list(next(iter(people.values())))
    columns = {name: pa.array([row[name] for row in people.values()], pa.string()) for name in names}
    return Dictionary(pa.table({"id": list(people), **columns}), identity="id")


def plain(people):
    return {name: {attribute: PLAIN[cell] for attribute, cell in row.items()} for name, row in people.items()}


@given(PEOPLE, PEOPLE)
def test_the_order_is_the_one_of_the_definition(theta, eta):
    found = precedes(as_dictionary(theta), as_dictionary(eta))
    assert bool(found) == found.holds == naive.precedes(plain(theta), plain(eta))
    if not found:
        assert found.identity in theta
        assert (found.identity in eta) == (found.attribute is not None)
        assert repr(found.identity) in str(found)


@given(PEOPLE, PEOPLE, PEOPLE)
def test_the_order_is_a_partial_one(theta, eta, zeta):
    one, two, three = map(as_dictionary, (theta, eta, zeta))
    assert one.precedes(one)
    if one.precedes(two) and two.precedes(three):
        assert one.precedes(three)
    if one.attributes == two.attributes and one.precedes(two) and two.precedes(one):
        assert plain(theta) == plain(eta)


def test_the_order_says_what_is_against_it():
    staff = Dictionary(pa.table({"id": ["Ann", "Bob"], "age": [30, 41]}), identity="id", name="staff")
    book = Dictionary(pa.table({"id": ["Ann"], "age": [30], "phone": ["1-2"]}), identity="id", name="book")
    assert str(staff.precedes(book)) == "'staff' does not precede 'book': 'Bob' is not in the second"
    more = book.precedes(staff)
    assert more.holds
    assert str(more) == "'book' precedes 'staff'"
    wider = Dictionary(pa.table({"id": ["Ann", "Bob"], "phone": ["1-2", None]}), identity="id", name="wider")
    missing = staff.precedes(wider)
    assert (missing.identity, missing.attribute, missing.values) == ("Ann", "phone", ("(missing)", "1-2"))
    assert "is (missing) in the first and '1-2' in the second" in str(missing)
    assert precedes(staff, wider, attributes=["age"])


def test_the_order_can_be_asked_for_as_the_records_read_it():
    one = Dictionary(pa.table({"id": ["a"], "code": ["250.1"]}), identity="id")
    other = Dictionary(pa.table({"id": ["a"], "code": ["250.10"]}), identity="id")
    assert one.precedes(other)
    codes = Table(pa.table({"code": ["250.1"]}), sf.Schema(kinds={"code": "categorical"}))
    assert not one.precedes(other, like=codes)
    numbers = Table(pa.table({"code": ["250.1"]}), sf.Schema(kinds={"code": "numeric"}))
    assert one.precedes(other, like=numbers)


@pytest.mark.parametrize(
    ("weights", "shares"),
    [
        (["1e308", "1e308"], ["1/2", "1/2"]),
        (["3e308", "1e308"], ["3/4", "1/4"]),
        (["1e-400", "1e-400"], ["1/2", "1/2"]),
        (["1e-400", "3e-400"], ["1/4", "3/4"]),
        (["1e-320", "0"], [1, 0]),
        (["1e-300", "1e-10"], None),
        (["1", "3"], ["1/4", "3/4"]),
    ],
)
def test_weights_beyond_the_range_of_floats(tmp_path, weights, shares):
    """Only their shares matter; a limit is decided on them exactly."""
    path = tmp_path / "book.csv"
    path.write_text("id,age,w\n" + "".join(f"{i},30,{w}\n" for i, w in enumerate(weights)))
    book = Dictionary(path, identity="id", weight="w")
    assert np.isfinite(book.weights.sum())
    people = pa.table({"id": ["0", "1"], "age": [30, 30]})
    given = {"identity": "id", "sensitivity": sf.disclosure.ConstantSensitivity()}
    found = sf.risk(people, sf.Schema(), book, limit="1/2", **given)
    if shares is None:
        assert 0 < found.worst.probabilities[0] < 1e-280
        return
    exact = [Fraction(share) for share in shares]
    assert found.worst.probabilities.tolist() == pytest.approx([float(share) for share in exact])
    assert found.holds, "the shares sum to 1"
    assert not sf.risk(people, sf.Schema(), book, limit="0.49999999999999999999", **given).holds


@pytest.mark.parametrize("weights", [("1e308", "1e-10"), ("1", "1e-400"), ("1e200", "1e-200")])
def test_a_weight_that_would_vanish_is_refused(tmp_path, weights):
    path = tmp_path / "book.csv"
    path.write_text("id,w,age\n" + "".join(f"{i},{w},30\n" for i, w in enumerate(weights)))
    error = refused(sf.errors.CellError, "is too small next to", path, weight="w", identity="id")
    assert (error.column, error.row, error.value is None) == ("w", 2, False)
    assert str(error.file).endswith("book.csv")


@pytest.mark.parametrize("name", [None, "", 3])
def test_a_dictionary_has_a_name(name):
    with pytest.raises(sf.errors.ParameterError, match="invalid name") as caught:
        Dictionary(pa.table({"age": [1]}), name=name)
    assert caught.value.key == "name"


def test_the_identity_is_no_weight():
    with pytest.raises(sf.errors.ParameterError, match="both identity and weight") as caught:
        Dictionary(pa.table({"id": [1, 2], "age": [1, 2]}), identity="id", weight="id")
    assert caught.value.key == "weight"

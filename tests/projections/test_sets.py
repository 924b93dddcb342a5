"""Sets encoded as bits and decoded again; and what a set reveals that its bits do not."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.projections.encoded_sets import MAX_ITEMS, encode_set

ITEMS = ["flu", "a;b", "x=1", "dx=flu", ";", "=", "{}", "0", "1", "b c", "a, b", '"', "ä", "*", "(missing)"]
cells = st.none() | st.lists(st.sampled_from(ITEMS), max_size=5)


@given(st.lists(cells, min_size=1, max_size=12), st.lists(cells, min_size=1, max_size=12))
def test_there_and_back(one, other):
    """Nothing is lost: empty sets, missing ones, items that hold separators, two sets at once."""
    rows = min(len(one), len(other))
    data = pa.table(
        {
            "q": list(range(rows)),
            "dx": pa.array(one[:rows], pa.list_(pa.string())),
            "job": ["cook"] * rows,
            "rx": pa.array(other[:rows], pa.list_(pa.string())),
        }
    )
    assume(any(data["dx"].to_pylist()) and any(data["rx"].to_pylist()))
    table = sf.Table(data, sf.Schema(["q"], ["dx", "job", "rx"]))
    encoded = sf.projections.encode_sets(table)
    assert set(encoded.bits) == {"dx", "rx"}
    assert encoded.table.schema.sensitive == (*encoded.bits["dx"], "job", *encoded.bits["rx"])
    back = encoded.decode()
    assert back.schema.sensitive == ("dx", "job", "rx")
    for name in ("dx", "rx"):
        column = back.column(name)
        assert column.kind is sf.data.Kind.SET
        values = [column.value(int(code)) for code in column.codes]
        assert values == [None if cell is None else frozenset(filter(None, cell)) for cell in data[name].to_pylist()]
        for bit in encoded.bits[name]:
            item = bit.removeprefix(f"{name}=")
            held = [None if value is None else str(int(item in value)) for value in values]
            assert encoded.table.data[bit].to_pylist() == held
    assert back.data.select(["q", "job"]) == data.select(["q", "job"])


def test_text_with_separators_is_encoded_as_it_is_read():
    table = sf.Table(
        pa.table({"dx": ["flu | gout", "", "gout|flu", "?"]}),
        sf.Schema(sensitive=["dx"], kinds={"dx": "set"}, separators={"dx": "|"}, missing=sf.data.Missing(("?",))),
        untyped=True,
    )
    encoded = sf.projections.encode_sets(table)
    assert encoded.table.data.to_pydict() == {"dx=flu": ["1", "0", "1", None], "dx=gout": ["1", "0", "1", None]}
    assert encoded.decode().data.to_pydict() == {"dx": [["flu", "gout"], [], ["flu", "gout"], None]}


def test_a_table_without_sets_stays_as_it_is():
    table = sf.Table(pa.table({"job": ["cook"], "pay": [1]}), sf.Schema(sensitive=["job", "pay"]))
    encoded = sf.projections.encode_sets(table)
    assert encoded.table is table
    assert encoded.decode() is table
    assert encoded.bits == {}


def table_of(cells, name="dx", **more):
    data = pa.table({"q": [0] * len(cells), name: pa.array(cells, pa.list_(pa.string())), **more.pop("columns", {})})
    return sf.Table(data, sf.Schema(["q"], [name], **more))


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (table_of([["flu"]], columns={"dx=flu": [1]}), "'dx=flu'.*'flu'.*existing column"),
        (table_of([[], None]), "no row has an item"),
        (table_of([[f"item {j}"] for j in range(MAX_ITEMS + 1)]), "301 different items"),
        (table_of([["flu"]], distances={"dx": sf.distances.Jaccard()}), "its own distance"),
        (table_of([["flu"]], missing=sf.data.Missing(("0",))), "declared as a missing value"),
    ],
)
def test_sets_that_cannot_be_encoded(table, says):
    with pytest.raises(sf.errors.ColumnError, match=says):
        sf.projections.encode_sets(table)


def test_only_sensitive_sets_are_encoded():
    table = sf.Table(pa.table({"job": ["cook"], "langs": [["en"]]}), sf.Schema(["langs"], ["job"]))
    for name in ("job", "langs"):
        with pytest.raises(sf.errors.ColumnError, match=f"'{name}'"):
            sf.projections.encode_sets(table, [name])
    with pytest.raises(sf.errors.ColumnError, match="no such column"):
        encode_set(table, "lang")


def test_two_sets_whose_bits_have_one_name():
    data = pa.table({"a": [["b=c"]], "a=b": [["c"]]})
    with pytest.raises(sf.errors.ColumnError, match="'a=b=c'"):
        sf.projections.encode_sets(sf.Table(data, sf.Schema(sensitive=["a", "a=b"])))


# what a set shows that its bits do not


def levels(principle, table):
    """The worst level of a principle, for each attribute that it is measured on."""
    return [finding.measurement.level for finding in sf.audit(table.data, table.schema, [principle])]


def test_close_bits_hide_a_set_that_is_not():
    """004.5: every bit is 0-close, and the set that they stand for is only 0.5-close."""
    data = pa.table({"q": [1, 1, 2, 2], "dx": [[], ["a", "b"], ["a"], ["b"]]})
    table = sf.Table(data, sf.Schema(["q"], ["dx"]))
    encoded = sf.projections.encode_sets(table)
    assert levels(sf.TCloseness(1), table) == [Fraction(1, 2)]
    assert levels(sf.TCloseness(1), encoded.table) == [0, 0]
    together = encoded.bits["dx"]
    assert together == ("dx=a", "dx=b")
    assert levels(sf.TCloseness(1, on=together), encoded.table) == [Fraction(1, 2)]


@given(st.lists(st.tuples(st.integers(0, 2), cells), min_size=1, max_size=10))
def test_the_bits_of_a_set_taken_together_are_the_set(rows):
    """For principles that know no nearness."""
    data = pa.table({"q": [q for q, _ in rows], "dx": pa.array([cell for _, cell in rows], pa.list_(pa.string()))})
    assume(any(data["dx"].to_pylist()))
    table = sf.Table(data, sf.Schema(["q"], ["dx"]))
    encoded = sf.projections.encode_sets(table)
    together = encoded.bits["dx"]
    for principle in (sf.TCloseness, sf.DistinctLDiversity, sf.EntropyLDiversity):
        assert levels(principle(1), table) == levels(principle(1, on=together), encoded.table)

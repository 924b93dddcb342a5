"""Tables that are derived from one another share encodings, and a shared encoding equals a new one."""

from __future__ import annotations

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data import column_encoder
from sfumato.data.hierarchy import Flat, Intervals
from sfumato.data.schema import Missing
from sfumato.distances.neighbour_graph import graph_of

KINDS = {"number": "numeric", "order": "ordinal", "word": "categorical", "items": "set", "width": "numeric", "free": "text"}
ORDER = ("low", "mid", "high")

CELLS = st.fixed_dictionaries(
    {
        "number": st.sampled_from(["1", "1.0", "2.5", "-3", "", "100000000000000000000000"]),
        "order": st.sampled_from([*ORDER, ""]),
        "word": st.sampled_from(["a", "b", "c; d"]),
        "items": st.sampled_from(["x", "x;y", "y; x", ""]),
        "width": st.sampled_from(["1", "7", "12", "13.5"]),
        "free": st.sampled_from(["one", "two", "three"]),
    }
)


def schema(**more):
    return sf.Schema(
        kinds=KINDS, orders={"order": ORDER}, hierarchies={"width": Intervals((5, 10)), "word": Flat()}, **more
    )  # fmt: skip


def assert_equal(one, other):
    assert (one.kind, one.size, one.has_missing, one.note) == (other.kind, other.size, other.has_missing, other.note)
    assert one.codes.tolist() == other.codes.tolist()
    for code in range(one.domain):
        assert (one.label(code), one.value(code)) == (other.label(code), other.value(code))
    assert (one.hierarchy is None) == (other.hierarchy is None)
    if one.hierarchy is not None:
        assert one.hierarchy.labels == other.hierarchy.labels
        assert one.paths.tolist() == other.paths.tolist()


@given(st.lists(CELLS, min_size=1, max_size=8), st.data())
def test_taking_rows_equals_encoding_them(people, data):
    table = sf.Table(pa.Table.from_pylist(people), schema(), untyped=True)
    for name in KINDS:
        table.column(name)
    rows = np.array(data.draw(st.lists(st.integers(0, len(people) - 1), min_size=1, max_size=10)))
    part = table.take(rows)
    new = sf.Table(part.data, part.schema, untyped=True)
    for name in KINDS:
        assert_equal(part.column(name), new.column(name))


@pytest.fixture
def encodings(monkeypatch):
    """The names of the columns that are encoded, in order."""
    names = []
    encode = column_encoder._Encoder.encode

    def counted(encoder):
        names.append(encoder.name)
        return encode(encoder)

    monkeypatch.setattr(column_encoder._Encoder, "encode", counted)
    return names


def people(**schema):
    data = {"age": ["30", "31", "x"], "job": ["cook", "smith", None]}
    return sf.Table(pa.table(data), sf.Schema(["age"], ["job"], **schema), untyped=True)


def test_a_declared_kind_is_encoded_once(encodings):
    table = people(kinds={"age": "categorical", "job": "categorical"})
    for name in ("age", "job"):
        table.column(name)
    table.take(np.array([0])).column("age")
    table.with_schema(replace(table.schema, sensitive=())).column("age")
    table.select(["age"], sf.Schema(["age"], kinds={"age": "categorical"})).column("age")
    assert encodings == ["age", "job"]


def test_an_inferred_kind_depends_on_the_rows(encodings):
    table = people()
    assert table.column("age").kind == "categorical"
    assert "row 3" in table.column("age").note
    part = table.take(np.array([0, 1]))
    assert part.column("age").kind == "numeric"
    assert part.column("age").note is None
    declared = table.with_schema(replace(table.schema, kinds={"age": "categorical"}))
    assert declared.column("age").note is None
    assert encodings == ["age", "age"]


def test_another_kind_order_or_marker_is_encoded_anew(encodings):
    table = people(kinds={"job": "categorical"})
    table.column("job")
    for other in (
        replace(table.schema, kinds={"job": "text"}),
        replace(table.schema, kinds={}, orders={"job": ["smith", "cook"]}),
        replace(table.schema, missing=Missing(values=("cook",))),
    ):
        table.with_schema(other).column("job")
    assert encodings == ["job"] * 4


def test_missing_values_are_refused_by_a_schema_that_refuses_them():
    table = people()
    table.column("job")
    with pytest.raises(sf.errors.CellError, match="missing"):
        table.with_schema(replace(table.schema, missing=Missing(policy="refuse"))).column("job")


def test_a_hierarchy_may_change_without_a_new_encoding(encodings):
    table = people(hierarchies={"job": Flat()})
    table.column("job")
    tree = sf.data.Hierarchy.from_rows([["cook", "food", "*"], ["smith", "metal", "*"]])
    other = table.with_schema(replace(table.schema, hierarchies={"job": tree}))
    assert other.column("job").hierarchy is tree
    assert table.with_schema(replace(table.schema, hierarchies={})).column("job").hierarchy is None
    assert encodings == ["job"]
    small = table.with_schema(replace(table.schema, hierarchies={"job": sf.data.Hierarchy.from_rows([["cook", "*"]])}))
    with pytest.raises(sf.errors.HierarchyError, match="smith"):
        small.column("job")


def test_codes_cannot_be_changed():
    table = people()
    with pytest.raises(ValueError, match="read-only"):
        table.column("job").codes[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        table.take(np.array([0])).column("job").codes[0] = 1


def test_attributes_are_cached_and_bounded():
    table = sf.Table(pa.table({f"x{i}": [i, 1] for i in range(20)}), sf.Schema())
    first = table.attribute(["x0"])
    assert table.attribute(["x0"]) is first
    for i in range(20):
        table.attribute([f"x{i}"])
    assert table.attribute(["x0"]) is not first
    assert len(table._attributes) <= 16


def test_graphs_are_shared_by_the_same_rows_in_another_order():
    table = sf.Table(pa.table({"x": [5, 5, 7, 9]}), sf.Schema(sensitive=["x"]))
    attribute = table.attribute(["x"])
    graph = graph_of(attribute, sf.distances.Absolute(), Fraction(2))
    turned = table.take(np.array([3, 2, 1, 0])).attribute(["x"])
    assert turned.codes.tolist() == [2, 1, 0, 0]
    assert graph_of(turned, sf.distances.Absolute(), Fraction(2)) is graph
    for rows in ([0, 1, 2], [0, 2, 2, 3]):
        part = table.take(np.array(rows)).attribute(["x"])
        assert graph_of(part, sf.distances.Absolute(), Fraction(2)) is not graph


def test_the_cache_of_graphs_is_bounded(monkeypatch):
    attribute = sf.Table(pa.table({"x": [*range(64)]}), sf.Schema(sensitive=["x"])).attribute(["x"])
    for epsilon in range(40):
        graph_of(attribute, sf.distances.Absolute(), Fraction(epsilon))
    assert len(attribute.graphs) == 16
    monkeypatch.setattr("sfumato.distances.neighbour_graph._CACHE", 64 * 64 // 8)
    last = graph_of(attribute, sf.distances.Absolute(), Fraction(50))
    assert attribute.graphs == [last]
    assert graph_of(attribute, sf.distances.Absolute(), Fraction(50)) is last


def test_a_graph_does_not_hold_the_order_of_the_rows():
    """A published table shares the graphs of the original, and must not lead to the order of its rows."""
    rng = np.random.default_rng(1)
    data = {"age": rng.integers(20, 60, 40).tolist(), "pay": rng.integers(0, 1000, 40).tolist()}
    requirements = [sf.KAnonymity(4), sf.Dissimilarity(epsilon=20, delta="0.9", k=3)]
    release = sf.anonymize(pa.table(data), sf.Schema(["age"], ["pay"]), requirements)
    original = release.private.original.attribute(["pay"])
    published = release.table.attribute(["pay"])
    assert published.graphs is original.graphs
    assert published.graphs
    for graph in published.graphs:
        for attribute in (graph.attribute, graph.bound.attribute):
            assert attribute.codes.tolist() == sorted(original.codes.tolist())
            assert attribute.columns[0].codes.tolist() == sorted(original.codes.tolist())
        assert graph.bound.column.codes.tolist() == sorted(original.codes.tolist())


def test_an_attribute_sorted_by_value_has_the_same_values():
    table = sf.Table(pa.table({"x": [9, 5, None, 5], "y": ["b", "a", "a", "c"]}), sf.Schema(sensitive=["x", "y"]))
    attribute = table.attribute(["x", "y"])
    ordered = attribute.sorted_by_value
    assert ordered.sorted_by_value is ordered
    assert ordered.codes.tolist() == [0, 1, 2, 3]
    assert [ordered.value(v) for v in range(4)] == [attribute.value(v) for v in range(4)]
    again = type(attribute).of(ordered.columns, attribute.name)
    assert again.codes.tolist() == ordered.codes.tolist()
    assert again.parts.tolist() == attribute.parts.tolist()
    assert [column.codes.dtype for column in ordered.columns] == [column.codes.dtype for column in attribute.columns]


def test_only_named_columns_are_shared():
    """Columns without a name in the call may have other cells, and as many values."""
    schema = sf.Schema(sensitive=["x", "y"])
    one = sf.Table(pa.table({"x": ["p", "q", "p"], "y": [1, 2, 3]}), schema)
    other = sf.Table(pa.table({"x": ["q", "q", "p"], "y": [1, 2, 3]}), schema)
    one.attribute(["x"]), one.attribute(["y"]), other.column("x")
    other.share_columns(one, ["y"])
    assert [name for _, name in other._attributes] == ["y"]
    assert other.attribute(["x"]).counts.tolist() == [1, 2]
    assert [other.attribute(["x"]).label(code) for code in other.attribute(["x"]).codes] == ["q", "q", "p"]


def test_an_attribute_is_not_shared_over_a_column_of_another_encoding():
    data = pa.table({"x": ["1", "2", "10"]})
    numbers = sf.Table(data, sf.Schema(sensitive=["x"], kinds={"x": "numeric"}))
    texts = sf.Table(data, sf.Schema(sensitive=["x"], kinds={"x": "categorical"}))
    numbers.attribute(["x"]), texts.column("x")
    texts.share_columns(numbers, ["x"])
    assert [texts.attribute(["x"]).label(code) for code in texts.attribute(["x"]).codes] == ["1", "2", "10"]


def test_shared_attributes_are_bounded():
    data = pa.table({f"x{i}": [i, 1] for i in range(24)})
    one, two, both = (sf.Table(data, sf.Schema()) for _ in range(3))
    for i in range(12):
        one.attribute([f"x{i}"]), two.attribute([f"x{12 + i}"])
    for table in (one, two):
        both.share_columns(table, data.column_names)
    assert len(both._attributes) == 16
    assert (("x23",), "x23") in both._attributes


def test_threads_may_share_a_table():
    names = [f"x{i}" for i in range(25)]
    wide = sf.Table(pa.table({name: [1, 2, 3] for name in names}), sf.Schema(sensitive=names))
    attribute = sf.Table(pa.table({"x": [*range(50)]}), sf.Schema(sensitive=["x"])).attribute(["x"])

    def work(start):
        for step in range(start, start + 300):
            graph = graph_of(attribute, sf.distances.Absolute(), Fraction(start * 7 + step) % 23)
            assert graph.epsilon == Fraction(start * 7 + step) % 23
            wide.attribute([names[step % 25]])
            if step % 3 == 0:
                wide.with_schema(wide.schema)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(12) as pool:
            list(pool.map(work, range(12)))
    finally:
        sys.setswitchinterval(interval)
    assert len(wide._attributes) == len(attribute.graphs) == 16


def test_nothing_prints_cells():
    """A repr ends up in tracebacks and logs."""
    data = pa.table({"name": ["secret-1", "secret-2"], "x": [987651, 987652]})
    table = sf.Table(data, sf.Schema(sensitive=["x"], identifiers=["name"]), source="postgresql://me:hunter2@host/db")
    tree = sf.data.Hierarchy.from_rows([["secret-1", "*"], ["secret-2", "*"]])
    groups = sf.data.Groups.of(table, ["x"])
    shown = [table, table.column("name"), table.column("x"), table.column("x").numbers, table.attribute(["x"]), groups, tree]
    for thing in shown:
        assert not any(cell in repr(thing) for cell in ("secret", "98765", "hunter2")), thing
    assert repr(table).startswith("<Table: 2 rows, 2 columns; identifiers: name; sensitive: x; from postgresql://me:***@")


def test_pickling_leaves_out_the_caches():
    table = people()
    graph_of(table.attribute(["job"]), sf.distances.Discrete(), Fraction(0))
    copy = pickle.loads(pickle.dumps(table))
    assert copy._columns == copy._attributes == {}
    assert copy.column("job").codes.tolist() == table.column("job").codes.tolist()
    again = pickle.loads(pickle.dumps(table.attribute(["job"])))
    assert again.graphs == []
    assert graph_of(again, sf.distances.Discrete(), Fraction(0)).degrees.tolist() == [0, 0, 0]
    assert copy.attribute(["job"]).counts.tolist() == again.counts.tolist()

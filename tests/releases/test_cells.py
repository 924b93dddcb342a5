"""Published cells are unambiguous: what is written can be read back, whatever the values are."""

from __future__ import annotations

import csv

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.anonymization._anonymize import anonymize
from sfumato.anonymization.recoding import recode
from sfumato.data.groups import Groups
from sfumato.data.table import Table
from sfumato.releases.cell_coverage import CellReader
from sfumato.verification._verify import verify
from standin import Chunks

NASTY = [
    "a",
    "b",
    "a; b",
    "a, b",
    "b, c",
    "c",
    "*",
    "",
    " a",
    "a ",
    "{a}",
    "{a; b}",
    "[a, b]",
    '"',
    '"a"',
    '"*"',
    "a]",
    "x\ny",
]
texts = st.one_of(st.sampled_from(NASTY), st.text('ab;,{}[]"* \n', max_size=5))
NO_MISSING = sf.data.Missing(values=())


def cells(values, groups, schema):
    table = Table(pa.table({"x": values}), schema)
    return table.column("x"), recode(table, Groups(np.array(groups), max(groups) + 1, len(groups))).columns[0]


def covered(column, cell, recoding):
    cover = CellReader([cell], column, recoding)
    return {code for code in range(column.domain) if cover.covers(np.array([0]), np.array([code]))[0]}


@pytest.mark.parametrize(
    ("values", "cell"),
    [
        (["*"], '"*"'),
        ([""], '""'),
        (["[x"], "[x"),
        (["[70-80)"], "[70-80)"),
        (["[7, 8]"], '"[7, 8]"'),
        (["{7}"], '"{7}"'),
        (["[60-70)", "[70-80)"], "{[60-70); [70-80)}"),
        (["a, b"], "a, b"),
        (["a; b", "c"], '{"a; b"; c}'),
        (['say "a"', "c"], '{c; "say ""a"""}'),
        ([" a", "b"], "{a; b}"),
        (["*", "b"], '{"*"; b}'),
        ([None, "b"], "*"),
        ([None, None], None),
    ],
)
def test_sets(values, cell):
    _, found = cells(values, [0] * len(values), sf.Schema(["x"], missing=NO_MISSING))
    assert found.labels == (cell,)


def test_intervals_of_ordinals():
    schema = sf.Schema(["x"], orders={"x": ["a", "b, c", "a, b", "c"]})
    column, found = cells(["a", "a, b", "b, c", "c"], [0, 0, 1, 1], schema)
    assert found.labels == ('[a, "a, b"]', '["b, c", c]')
    assert [covered(column, label, "interval") for label in found.labels] == [{0, 1, 2}, {1, 2, 3}]


@given(st.lists(st.tuples(texts, st.integers(0, 3)), min_size=1, max_size=12))
def test_a_set_says_what_it_holds(drawn):
    groups = np.unique([group for _, group in drawn], return_inverse=True)[1].tolist()
    column, found = cells([text for text, _ in drawn], groups, sf.Schema(["x"], missing=NO_MISSING))
    for group, label in enumerate(found.labels):
        codes = {int(code) for code, g in zip(column.codes, groups, strict=True) if g == group}
        assert covered(column, label, "set") == codes, label


@given(st.lists(texts, min_size=1, max_size=6, unique_by=str.strip), st.data())
def test_an_interval_says_where_it_ends(order, data):
    low, high = sorted(data.draw(st.tuples(*[st.integers(0, len(order) - 1)] * 2)))
    schema = sf.Schema(["x"], orders={"x": order}, missing=NO_MISSING)
    column, found = cells([order[low], order[high]], [0, 0], schema)
    assert covered(column, found.labels[0], "interval") == set(range(low, high + 1)), found.labels


@given(
    st.lists(texts.map(str.strip), min_size=2, max_size=6, unique=True),
    st.lists(texts, min_size=3, max_size=3, unique=True),
    st.data(),
)
def test_an_ancestor_is_a_leaf_or_a_node(leaves, nodes, data):
    rows = [[leaf, nodes[i % 2], nodes[2]] for i, leaf in enumerate(leaves)]
    groups = data.draw(st.lists(st.integers(0, 1), min_size=len(leaves), max_size=len(leaves)))
    groups = np.unique(groups, return_inverse=True)[1].tolist()
    schema = sf.Schema(["x"], hierarchies={"x": sf.Hierarchy.from_rows(rows)}, missing=NO_MISSING)
    column, found = cells(leaves, groups, schema)
    for group, label in enumerate(found.labels):
        codes = {int(code) for code, g in zip(column.codes, groups, strict=True) if g == group}
        assert codes <= covered(column, label, "ancestor"), label
        if label == "*":
            assert len({leaves.index(column.label(code)) % 2 for code in codes}) == 2, "only the root may be a bare *"


@given(st.lists(st.lists(texts.map(str.strip), max_size=3), min_size=1, max_size=8), st.data())
def test_set_valued_values(values, data):
    groups = data.draw(st.lists(st.integers(0, 2), min_size=len(values), max_size=len(values)))
    groups = np.unique(groups, return_inverse=True)[1].tolist()
    column, found = cells(pa.array(values, pa.list_(pa.string())), groups, sf.Schema(["x"]))
    assert len({column.label(code) for code in range(column.size)}) == column.size, "distinct sets, distinct labels"
    for group, label in enumerate(found.labels):
        codes = {int(code) for code, g in zip(column.codes, groups, strict=True) if g == group}
        assert covered(column, label, "set") == codes, label


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_they_survive_the_file(tmp_path, kind):
    table = pa.table({"o": ["a", "b, c", "a, b", "c"] * 6, "w": (NASTY * 2)[:24], "inc": list(range(24))})
    schema = sf.Schema(["o", "w"], ["inc"], orders={"o": ["a", "b, c", "a, b", "c"]}, missing=NO_MISSING)
    for size in (1, 2, 12):
        folder = tmp_path / str(size)
        anonymize(table, schema, sf.KAnonymity(size), method=Chunks(size)).save(folder, format=kind)
        assert verify(folder, table, schema=schema)
    if kind == "csv":
        with (tmp_path / "1" / "data.csv").open(encoding="utf-8", newline="") as file:
            assert {row["w"] for row in csv.DictReader(file)} >= {'"*"', '""', "a; b", '"{a; b}"', '"""a"""'}

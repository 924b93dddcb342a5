"""Classes of rows that agree in what is published unchanged, against cells compared one by one."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.schema import Missing
from sfumato.releases.models import MARKED_SINCE
from sfumato.verification.original_checks import MatchedRows

SCHEMA = pa.schema([("x", pa.string()), ("y", pa.string())])
MISSING = Missing(values=["NA"])

cells = st.sampled_from(["a", "b", "NA", "", " NA ", None])
rows = st.lists(st.tuples(cells, cells), min_size=1, max_size=8)


def compared(published, original, version):
    """Return the rows as they are compared: in a published column only null is missing, in the original also the text NA."""

    def cell(value, meanings):
        if version < MARKED_SINCE:
            return value or ""
        return None if value is None or value.strip() in meanings else value

    mine = [tuple(cell(value, ()) for value in row) for row in published]
    theirs = [(cell(first, ("NA",)), cell(second, ("NA",))) for first, second in original]
    return mine, theirs


@given(rows, rows, st.sampled_from([MARKED_SINCE - 1, MARKED_SINCE]))
def test_rows_are_of_one_class_where_all_cells_agree(published, original, version):
    schema = sf.Schema(sensitive=["x"], other=["y"], kinds={"x": "categorical"}, missing=MISSING)
    tables = [pa.table({"x": [x for x, _ in some], "y": [y for _, y in some]}, SCHEMA) for some in (published, original)]
    found = MatchedRows.of(tables[0], sf.Table(tables[1], schema), ["x", "y"], schema, version)
    mine, theirs = compared(published, original, version)
    numbers = [*found.published.tolist(), *found.original.tolist()]
    keys = [*mine, *theirs]
    assert [[a == b for b in numbers] for a in numbers] == [[a == b for b in keys] for a in keys]
    assert found.classes == len(set(keys)) == max(numbers) + 1
    assert found.surplus() == ((Counter(mine) - Counter(theirs)).total(), (Counter(theirs) - Counter(mine)).total())


@pytest.mark.parametrize(
    ("published", "original", "equal"),
    [
        (["17", "0.50", "x"], [17.0, 0.5, 3.0], [True, True, False]),
        ([17, 0], ["17.00", "-0"], [True, True]),
        (["17.0"], ["17"], [False]),
        ([["b", "a"], ["a"]], [["a", "b"], ["b"]], [True, False]),
        (["a;b", "a;c"], [["a", "b"], ["a", "b"]], [True, False]),
        ([b"\xff", b"a"], [b"\xff", b"b"], [True, False]),
        (["a", "b"], [b"a", b"\xff"], [True, False]),
    ],
    ids=["texts and numbers", "whole numbers and texts", "texts", "lists", "texts and lists", "bytes", "texts and bytes"],
)
def test_cells_of_different_types(published, original, equal):
    schema = sf.Schema(other=["x"])
    table = sf.Table(pa.table({"x": original}), schema)
    found = MatchedRows.of(pa.table({"x": published}), table, ["x"], schema, MARKED_SINCE)
    assert (found.published == found.original).tolist() == equal


def test_a_column_in_several_pieces():
    """Three pieces of the published column, and two of the original one."""
    schema = sf.Schema(other=["x"])
    published = pa.table({"x": pa.chunked_array([["a"], ["b", "c"], []])})
    original = pa.table({"x": pa.chunked_array([["a", "b"], ["d"]])})
    found = MatchedRows.of(published, sf.Table(original, schema), ["x"], schema, MARKED_SINCE)
    assert (found.published == found.original).tolist() == [True, True, False]
    assert found.surplus() == (1, 1)


def test_a_column_that_the_original_does_not_have():
    schema = sf.Schema(other=["x"])
    with pytest.raises(sf.errors.ColumnError, match="'y'"):
        MatchedRows.of(pa.table({"y": [1]}), sf.Table(pa.table({"x": [1]}), schema), ["y"], schema, MARKED_SINCE)

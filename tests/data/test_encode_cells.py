"""Cells with the number of their rows are encoded as the rows themselves are."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.column_encoder import encode_cells, encode_column
from sfumato.data.hierarchy_builders import Frequent
from sfumato.data.schema import Missing

CELLS = ["1", "1.0", "2,5", "x", "X", " x", "", "?", "2020-01-02", "03.04.2021", "low", "high", "a;b", "b;a"]
SCHEMAS = [
    sf.Schema(sensitive=["c"]),
    sf.Schema(sensitive=["c"], missing=Missing(values=("", "?"))),
    sf.Schema(sensitive=["c"], kinds={"c": "set"}),
    sf.Schema(sensitive=["c"], orders={"c": ["low", "high"]}),
    sf.Schema(sensitive=["c"], decimals={"c": ","}),
    sf.Schema(sensitive=["c"], missing=Missing(policy="refuse")),
    sf.Schema(sensitive=["c"], kinds={"c": "categorical"}, hierarchies={"c": Frequent((2,))}),
]


def encoded(encode):
    try:
        column = encode()
    except sf.SfumatoError as error:
        return type(error), error.column
    labels = [column.label(code) for code in range(column.domain)]
    tree = None if column.hierarchy is None else list(column.hierarchy.rows())
    return column.kind, labels, column.counts.tolist(), column.has_missing, column.decimal_comma, column.format, tree


@pytest.mark.parametrize("untyped", [True, False])
@given(st.lists(st.none() | st.sampled_from(CELLS), min_size=1, max_size=9), st.sampled_from(SCHEMAS))
def test_cells_are_encoded_as_rows(untyped, rows, schema):
    counts = Counter(rows)
    cells, numbers = pa.array(list(counts), pa.string()), np.array(list(counts.values()))
    options = {"untyped": untyped, "source": None}
    here = encoded(lambda: encode_column(pa.chunked_array([pa.array(rows, pa.string())]), "c", schema, **options))
    assert encoded(lambda: encode_cells(cells, numbers, "c", schema, **options)) == here


def test_errors_and_notes_name_no_row():
    cells, counts = pa.array(["1", "2", "x", None]), np.array([4, 3, 2, 5])
    note = encode_cells(cells, counts, "c", sf.Schema(sensitive=["c"]), untyped=True, source=None).note
    assert "most of its values are numbers: one cell is 'x'" in note
    schema = sf.Schema(sensitive=["c"], kinds={"c": "numeric"})
    with pytest.raises(sf.errors.CellError, match="'x' is not a number") as raised:
        encode_cells(cells, counts, "c", schema, untyped=True, source=None)
    assert raised.value.row is None
    with pytest.raises(sf.errors.CellError, match="the value is missing in 5 rows, and missing values are refused"):
        encode_cells(cells, counts, "c", sf.Schema(missing=Missing(policy="refuse")), untyped=True, source=None)

"""Files with random damage: read as a table, or refused with a typed error; never another exception."""

from __future__ import annotations

import gzip
import io
import tempfile
from pathlib import Path

import openpyxl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

import sfumato as sf
from damage import damaged_bytes

pytestmark = pytest.mark.fuzz

ROWS = [
    ("name", "age", "born", "ill"),
    ("Ann", 30, "1990-01-02", "flu; cold"),
    ("Bö", 41.5, None, 'g"out'),
    ("C", -1, "x", "*"),
]
TEXT = "\n".join(",".join("" if cell is None else f'"{cell}"' for cell in row) for row in ROWS) + "\n"
DECLARED = sf.Schema(["age", "born"], ["ill"], identifiers=["name"], kinds={"age": "numeric", "ill": "set"})


def _parquet_bytes():
    columns = zip(*ROWS[1:], strict=True)
    table = pa.table(
        {name: [None if v is None else str(v) for v in column] for name, column in zip(ROWS[0], columns, strict=True)}
    )
    sink = io.BytesIO()
    parquet.write_table(table, sink)
    return sink.getvalue()


def _excel_bytes():
    book = openpyxl.Workbook()
    for row in ROWS:
        book.active.append(row)
    sink = io.BytesIO()
    book.save(sink)
    return sink.getvalue()


ORIGINALS = {
    "csv": [TEXT.encode(), TEXT.replace(",", ";").encode("latin-1"), TEXT.encode("utf-16"), TEXT.replace('"', "").encode()],
    "tsv": [TEXT.replace(",", "\t").encode()],
    "csv.gz": [gzip.compress(TEXT.encode())],
    "parquet": [_parquet_bytes()],
    "xlsx": [_excel_bytes()],
}


@pytest.mark.parametrize("kind", ORIGINALS)
@given(data=st.data())
def test_damaged_files_are_read_or_refused(kind, data):
    content = data.draw(damaged_bytes(ORIGINALS[kind]))
    schema = data.draw(st.sampled_from([sf.Schema(), DECLARED]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"people.{kind}"
        path.write_bytes(content)
        try:
            table = sf.read_table(path, schema)
            for name in (*table.schema.quasi_identifiers, *table.schema.sensitive):
                table.column(name)
        except sf.errors.SfumatoError as error:
            assert "people" in str(error) or error.remedy

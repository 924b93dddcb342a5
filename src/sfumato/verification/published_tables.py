"""The two tables that a release stands between: the published one as its file holds it, and the original."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato._audit import table_of
from sfumato.data.schema import Missing, Schema
from sfumato.data.table import Table
from sfumato.io.read_csv import read_csv
from sfumato.io.read_table import read_table
from sfumato.io.spreadsheet_formulas import unescape
from sfumato.releases.manifest import Manifest

_ESCAPED_SINCE = 2
"""The format from which on cells of a CSV that a spreadsheet would run are escaped."""


def published_table(manifest: Manifest, schema: Schema) -> Table:
    """Read the data file of a release; a CSV only as it is written: in UTF-8, with commas."""
    if manifest.data.suffix != ".csv":
        return read_table(manifest.data, schema)
    read = read_csv(manifest.data, ",", "utf-8")
    data = read.data
    if manifest.content["format"] >= _ESCAPED_SINCE:
        names = unescape(pa.array(data.column_names, pa.string())).to_pylist()
        data = pa.Table.from_arrays([_unescaped(column) for column in data.columns], names)
    return Table(data, schema, str(manifest.data), untyped=True, notes=read.notes)


def original_table(manifest: Manifest, original: Any, schema: Schema) -> Table:
    """The original under a schema: a path, read as release.json declares, a frame, or a Table.

    What is missing was decided when the release was made: it is not refused again.
    """
    relaxed = replace(schema, missing=Missing(schema.missing.values))
    if isinstance(original, str | Path):
        return read_table(original, relaxed, **manifest.reading)
    return table_of(original, relaxed)


def _unescaped(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Each distinct cell is looked at once."""
    encoded = column.dictionary_encode().unify_dictionaries()
    if not encoded.num_chunks:
        return column
    before = encoded.chunk(0).dictionary
    after = unescape(before)
    if after.equals(before):
        return column
    return pa.chunked_array([after.take(chunk.indices) for chunk in encoded.chunks])

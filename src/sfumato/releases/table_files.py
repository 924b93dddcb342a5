"""Read the two tables that a verification compares: the published one from its file, and the original."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import compute

from sfumato._audit import table_of
from sfumato.data.original_people import OriginalPeople
from sfumato.data.schema import Kind, Missing, Schema
from sfumato.data.schema_limits import NO_LIMITS
from sfumato.data.table import Table
from sfumato.errors import ReleaseError
from sfumato.io.empty_cells import restore_empty
from sfumato.io.plain_types import unused_value
from sfumato.io.read_csv import read_csv
from sfumato.io.read_table import read_table
from sfumato.io.spreadsheet_formulas import unescape
from sfumato.releases.models import MARKED_SINCE
from sfumato.releases.reader import Manifest, TableFile, TableManifest

_ESCAPED_SINCE = 2
"""The first format in which cells of a CSV that a spreadsheet would run as formulas are escaped."""


def published_schema(schema: Schema, group: str, recodings: Mapping[str, str] | None = None) -> Schema:
    """Return the schema of the published table: quasi-identifiers are texts, and the group column gives the groups.

    `recodings`: how each quasi-identifier is published; without it, no population is kept to compare the cells with.

    >>> published_schema(Schema(["age"], ["income"], kinds={"age": "numeric", "income": "numeric"}), "group").kinds
    {'income': <Kind.NUMERIC: 'numeric'>, 'age': <Kind.CATEGORICAL: 'categorical'>, 'group': <Kind.NUMERIC: 'numeric'>}
    """
    kept = {*schema.sensitive_columns(), *schema.vectors}

    def only(mapping: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in mapping.items() if name in kept}

    def dates(mapping: Mapping[str, Any]) -> dict[str, Any]:  # a published age is no date
        return {name: value for name, value in only(mapping).items() if name not in schema.ages}

    texts = dict.fromkeys(schema.quasi_identifiers, Kind.CATEGORICAL)
    people = None if schema.population is None or recodings is None else schema.population.published(schema, recodings)
    return replace(
        schema,
        population=people,
        identifiers=(),
        other=(),
        kinds=only(schema.kinds) | texts | {group: Kind.NUMERIC},
        orders=only(schema.orders),
        hierarchies=only(schema.hierarchies),
        separators=only(schema.separators),
        formats=dates(schema.formats),
        timezones=dates(schema.timezones),
        ages={},
        recodings={},
        person_id=None,
        household_id=None,
        group=group,
        **NO_LIMITS,
    )


def published_table(manifest: Manifest | TableManifest | TableFile, schema: Schema) -> Table:
    """Read the data file of a release; a CSV is read in UTF-8 and with commas, as it is written.

    Missing cells are null, and nothing else is missing; before format 4 they are as the schema says. A Parquet file must
    not store values that no row has: they may be those of suppressed rows.
    """
    schema = _marked(schema, manifest.format)
    unknown = OriginalPeople(None)  # who compares cells with people must not take the cells for people
    if manifest.data.suffix != ".csv":
        table = read_table(manifest.data, schema)
        refuse_unused_values(manifest.data)
        return table.with_original(unknown)
    read = read_csv(manifest.data, ",", "utf-8")
    data = read.data
    if manifest.format >= _ESCAPED_SINCE:
        names = unescape(pa.array(data.column_names, pa.string())).to_pylist()
        data = pa.Table.from_arrays([_by_cell(unescape, column) for column in data.columns], names)
    if manifest.format >= MARKED_SINCE:
        # in a table with groups; the cells of any other table, and of quasi-identifiers, have quotes of their own
        unchanged = set() if schema.group is None else {*data.column_names} - {schema.group, *schema.quasi_identifiers}
        columns = [
            _by_cell(restore_empty if name in unchanged else _empty_as_null, column)
            for name, column in zip(data.column_names, data.columns, strict=True)
        ]
        data = pa.Table.from_arrays(columns, data.column_names)
    return Table(data, schema, str(manifest.data), untyped=True, notes=read.notes, original=unknown)


def _marked(schema: Schema, version: int) -> Schema:
    """Return the schema of a published table of a format: since format 4 missing cells are null, and nothing else is."""
    return replace(schema, missing=Missing((), schema.missing.policy)) if version >= MARKED_SINCE else schema


def marked_schema(declared: Schema, manifest: TableManifest) -> Schema:
    """Return the schema with which a published table is read; `declared`: that of the original."""
    return _marked(published_schema(declared, manifest.document.group, stated_recodings(manifest)), manifest.format)


def stated_recodings(manifest: TableManifest) -> dict[str, str]:
    """Return how each quasi-identifier is published, as release.json states it."""
    return {column.name: str(column.recoding) for column in manifest.document.columns if column.recoding is not None}


def refuse_unused_values(path: Path) -> None:
    """Raise an error if a Parquet file stores values that no row has."""
    name = unused_value(path)
    if name is not None:
        raise ReleaseError(
            "the file stores values that no row has",
            remedy="Do not publish it; make the release again.",
            file=str(path),
            column=name,
        )


def original_table(manifest: Manifest | TableManifest, original: Any, schema: Schema) -> Table:
    """Return the original under a schema: a path, read as release.json declares, a frame, or a Table.

    The policy for missing values was applied when the release was made; it is not applied again.
    """
    relaxed = replace(schema, missing=Missing(schema.missing.values))
    if isinstance(original, str | Path):
        return read_table(original, relaxed, **manifest.reading_options)
    return table_of(original, relaxed)


def _empty_as_null(cells: pa.Array) -> pa.Array:
    return compute.if_else(compute.equal(cells, ""), None, cells)


def _by_cell(convert: Callable[[pa.Array], pa.Array], column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column with its cells converted; each distinct cell is converted once."""
    encoded = column.dictionary_encode().unify_dictionaries()
    if not encoded.num_chunks:
        return column
    before = encoded.chunk(0).dictionary
    after = convert(before)
    if after.equals(before):
        return column
    return pa.chunked_array([after.take(chunk.indices) for chunk in encoded.chunks])

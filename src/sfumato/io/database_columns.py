"""Columns of a query, batch by batch: converted to what they mean, or refused with the cast to write.

A driver sends values that Arrow has no type for as another type: PostgreSQL's NUMERIC as text, money as a count of cents,
an infinite date as some day. They are recognised by the type that the database declares.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from typing import Any
from uuid import UUID

import pyarrow as pa
from pyarrow import compute

from sfumato.errors import CellError, ColumnError
from sfumato.io.database_names import quoted
from sfumato.io.typed_cells import decimals

_REFUSED = {"money": "numeric", "oid": "bigint", "interval": "text", "timetz": "text"}
"""Types of PostgreSQL that the driver misrepresents, and the type to cast them to."""

_PLAIN_ITEMS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_string, pa.types.is_date)
"""Tests for the item types that an array may have."""

_FIRST, _LAST = date(1, 1, 1), date(9999, 12, 31)
"""Days outside this range are infinite, or their year does not have four digits."""


def read_batches(reader: Iterator[pa.RecordBatch], schema: pa.Schema, source: str) -> pa.Table:
    """Return the table of the batches of a query; repeated texts are dictionary-encoded."""
    twice = [name for place, name in enumerate(schema.names) if name in schema.names[:place]]
    if twice:
        raise ColumnError(
            "several columns have this name", remedy="Name them apart in the query, with AS.", column=twice[0], file=source
        )
    columns = [_Column(field, source) for field in schema]
    rows = 0
    for batch in reader:
        for column, array in zip(columns, batch.columns, strict=True):
            column.append(array, rows)
        rows += batch.num_rows
    return pa.table([column.finish() for column in columns], names=schema.names)


class _Column:
    """One column, built from batches."""

    def __init__(self, field: pa.Field, source: str) -> None:
        self.name, self.source = field.name, source
        self.declared = (field.metadata or {}).get(b"POSTGRESQL:type", b"").decode()
        self.type = field.type.storage_type if isinstance(field.type, pa.BaseExtensionType) else field.type
        self.numeric = self.declared == "numeric"
        self.encoded: bool | None = True if self.numeric or self.declared == "uuid" else None
        """Whether the column is dictionary-encoded; None until the first batch shows whether texts repeat."""
        self.chunks: list[pa.Array] = []
        self._refuse(field.type)

    def _refuse(self, kind: pa.DataType) -> None:
        """Raise an error if the driver misrepresents the values of this type."""
        to = _REFUSED.get(self.declared)
        opaque = isinstance(kind, pa.OpaqueType) and not self.numeric
        if pa.types.is_nested(kind):
            plain = pa.types.is_list(kind) and any(test(kind.value_type) for test in _PLAIN_ITEMS)
            to = None if plain else "text[]" if self.declared.startswith("_") else "text"
        elif opaque or pa.types.is_interval(kind):
            to = to or "text"
        if to is not None:
            raise ColumnError(
                f"columns of the type {self.declared.replace('_', 'array of ', 1) or kind} cannot be read without a cast",
                remedy=f"Cast it in the query, such as {quoted(self.name)}::{to} AS {quoted(self.name)}.",
                file=self.source,
                column=self.name,
            )

    def append(self, array: pa.Array, row: int) -> None:
        """Add the cells of a batch; `row` is the number of its first row."""
        if isinstance(array, pa.ExtensionArray):
            array = array.storage
        if pa.types.is_date(self.type) or pa.types.is_timestamp(self.type):
            self._check_days(array, row)
        if self.declared == "bpchar":  # the padding of char(n) is not part of the value
            array = compute.utf8_rtrim(array, " ")
        if self.encoded is None and pa.types.is_string(array.type):
            self.encoded = compute.count_distinct(array).as_py() <= len(array) // 2
        # store a copy: otherwise each column would keep the driver's memory of the whole batch alive
        self.chunks.append(array.dictionary_encode() if self.encoded else pa.concat_arrays([array[:0], array]))

    def _check_days(self, array: pa.Array, row: int) -> None:
        first, last = (_limit(day, array.type) for day in (_FIRST, _LAST))
        outside = compute.or_(compute.less(array, first), compute.greater(array, last))
        if compute.any(outside).as_py():
            raise CellError(
                "the date is infinite, or outside the years 1 to 9999",
                remedy=f"Fix it, or cast the column in the query: {quoted(self.name)}::text AS {quoted(self.name)}.",
                file=self.source,
                column=self.name,
                row=row + compute.index(outside, True).as_py() + 1,
            )

    def finish(self) -> pa.ChunkedArray:
        """Return the whole column."""
        column = pa.chunked_array(self.chunks, None if self.chunks else self.type)
        if not self.encoded or not self.chunks:
            return column
        whole = column.unify_dictionaries().combine_chunks()
        self.chunks.clear()
        if self.numeric:
            return self._decimals(whole)
        values = whole.dictionary
        if self.declared == "uuid":
            values = pa.array([str(UUID(bytes=value)) for value in values.to_pylist()], pa.string())
        return pa.chunked_array([pa.DictionaryArray.from_arrays(whole.indices, values)])

    def _decimals(self, whole: pa.DictionaryArray) -> pa.ChunkedArray:
        texts: list[Any] = [None if text == "nan" else text for text in whole.dictionary.to_pylist()]
        endless = [text for text in texts if text is not None and text.strip("-").startswith("inf")]
        exact = None if endless else decimals(texts)
        if exact is None:
            problem = "a value is infinite" if endless else "its numbers have more than 76 digits"
            raise ColumnError(
                problem,
                remedy=f"Fix it, or cast the column in the query: {quoted(self.name)}::text AS {quoted(self.name)}.",
                file=self.source,
                column=self.name,
            )
        return pa.chunked_array([exact.take(whole.indices)])


def _limit(day: date, kind: pa.DataType) -> pa.Scalar:
    moment = datetime(day.year, day.month, day.day, *((23, 59, 59) if day == _LAST else ()))
    return pa.scalar(day, kind) if pa.types.is_date(kind) else pa.scalar(moment, pa.timestamp(kind.unit)).cast(kind)

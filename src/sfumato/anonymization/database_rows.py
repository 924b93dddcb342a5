"""The published rows as a table of a database, in the types that the columns have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa

from sfumato.data.column import Column
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.errors import ParameterError
from sfumato.exact.date_numbers import DateNumbers
from sfumato.io.read_spark import is_spark_uri
from sfumato.io.write_database import PendingRows, pending_table
from sfumato.io.write_spark import pending_spark_rows


@contextmanager
def rows_in_database(
    published: Table, schema: Schema, database: str | None, table: str | None, force: bool
) -> Iterator[PendingRows | None]:
    """Write the published rows in a transaction that waits to be committed; yield None if no database is named.

    `database` may be that of Spark: then executors write a folder or a table, which waits to be renamed.
    """
    if (database is None) != (table is None):
        missing = "table" if table is None else "database"
        raise ParameterError(
            f"{missing} is missing: published rows go to a table of a database",
            remedy="Pass database and table.",
            key=missing,
        )
    if database is None or table is None:
        yield None
        return
    if is_spark_uri(database):
        with pending_spark_rows(database, table, typed_rows(published, schema), force=force) as rows:
            yield rows
        return
    separators = {name: schema.separators.get(name, ";") for name in published.data.column_names}
    with pending_table(database, table, typed_rows(published, schema), force=force, separators=separators) as pending:
        yield pending


def typed_rows(published: Table, schema: Schema) -> pa.Table:
    """Return the published rows; numbers and dates that were read from text, because CSV has no types, become typed."""
    data = published.data
    for name in schema.sensitive_columns():
        column = published.column(name)
        if published.untyped and column.numbers is not None:
            typed = _dates(column) if isinstance(column.numbers, DateNumbers) else _numbers(column)
            data = data.set_column(data.column_names.index(name), name, typed)
    return data


def _dates(column: Column) -> pa.ChunkedArray:
    values = [column.value(code) for code in range(column.size)]
    distinct = pa.array(values)  # texts where a database would round the time
    return pa.chunked_array([distinct.take(pa.array(column.codes, mask=column.codes >= column.size))])


def _numbers(column: Column) -> pa.ChunkedArray:
    from sfumato.io.typed_cells import decimals

    labels = [column.label(code) for code in range(column.size)]
    whole = column.numbers is not None and column.numbers.unit == 1 and column.numbers.integers.dtype == np.int64
    distinct = pa.array(map(int, labels), pa.int64()) if whole else decimals(labels)
    if distinct is None:  # more digits than a number of a database can have
        distinct = pa.array(labels, pa.string())
    return pa.chunked_array([distinct.take(pa.array(column.codes, mask=column.codes >= column.size))])

"""The published rows for a database: in the types that the columns have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sfumato.data.column import Column
from sfumato.errors import ParameterError
from sfumato.io.write_database import PendingTable, pending_table

if TYPE_CHECKING:
    from sfumato.anonymization.release import Release


@contextmanager
def rows_in_database(
    release: Release, database: str | None, table: str | None, force: bool
) -> Iterator[PendingTable | None]:
    """Write the published rows into a table that waits to be committed; nothing, if no database is named."""
    if (database is None) != (table is None):
        missing = "table" if table is None else "database"
        raise ParameterError(
            f"the {missing} that the rows go to is not named", remedy="Name the database and the table.", key=missing
        )
    if database is None or table is None:
        yield None
        return
    separators = {name: release.schema.separators.get(name, ";") for name in release.table.data.column_names}
    with pending_table(database, table, typed_rows(release), force=force, separators=separators) as pending:
        yield pending


def typed_rows(release: Release) -> pa.Table:
    """The published table; numbers that were read from text, because CSV has no types, as the numbers that they are."""
    data = release.table.data
    for name in release.schema.sensitive_columns():
        column = release.table.column(name)
        if release.table.untyped and column.numbers is not None:
            data = data.set_column(data.column_names.index(name), name, _numbers(column))
    return data


def _numbers(column: Column) -> pa.ChunkedArray:
    from sfumato.io.typed_cells import decimals

    labels = [column.label(code) for code in range(column.size)]
    whole = column.numbers is not None and column.numbers.unit == 1 and column.numbers.integers.dtype == np.int64
    distinct = pa.array(map(int, labels), pa.int64()) if whole else decimals(labels)
    if distinct is None:  # more digits than any number of a database has here
        distinct = pa.array(labels, pa.string())
    return pa.chunked_array([distinct.take(pa.array(column.codes, mask=column.codes >= column.size))])

"""Write a table by the executors of a Spark session, to a folder or to a table of its catalog: all of it, or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from sfumato.errors import DatabaseError
from sfumato.io.plain_types import as_plain
from sfumato.io.read_spark import SCHEME, refuse_host, required_session
from sfumato.io.write_spark_folder import PendingFolder, folder_of, spark_errors
from sfumato.io.write_spark_table import PendingCatalogTable, parts_of


def check_spark_target(uri: str, table: str) -> None:
    """Raise an error if neither a folder nor a table of Spark is named. Whether it exists is known in the session."""
    refuse_host(uri, "output.database")
    if folder_of(table) is None and parts_of(table) is None:
        raise DatabaseError(
            f"{table!r} is neither a folder of Parquet files nor a table of a catalog, and executors write to nothing else",
            remedy='Write table = "parquet.`/folder/of/the/release`" or table = "database.table".',
            file=f"{SCHEME}://",
            value=table,
        )


@contextmanager
def pending_spark_rows(
    uri: str, table: str, data: pa.Table, *, force: bool = False
) -> Iterator[PendingFolder | PendingCatalogTable]:
    """Write a table and check it; `commit` of the result gives it its name.

    `uri`: that of Spark; `table`: a folder, see `folder_of`, or a table of a catalog, see `parts_of`. Without `commit`, or
    if anything fails, what has the name stays as it was. It is replaced only with `force`, and only if it has the same
    columns, the first of whole numbers, as an earlier release has.
    """
    check_spark_target(uri, table)
    session, folder = required_session(uri), folder_of(table)
    pending = PendingCatalogTable(session, table) if folder is None else PendingFolder(session, folder)
    try:
        with spark_errors(pending.name, "the rows cannot be written"):
            if pending.exists():
                pending.check_replaced(data.column_names, force)
            plain = pa.table({name: as_plain(data.column(name)) for name in data.column_names})
            frame = session.createDataFrame(plain)
            _compare(frame, pending.write(frame), data.num_rows, pending.name)
        yield pending
    finally:
        pending.close()


def _compare(written: Any, back: Any, rows: int, name: str) -> None:
    """Raise an error if executors do not read the rows that were written, in any order."""
    # of equally many rows none is missing, so none is added
    if back.columns != written.columns or back.count() != rows or not written.exceptAll(back).isEmpty():
        raise DatabaseError(
            "the executors do not read what was written, so nothing is published there",
            remedy="Name a folder of a file system that the driver and all executors share, such as hdfs://…, or a table "
            "that is stored there.",
            file=name,
        )

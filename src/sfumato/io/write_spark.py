"""Write a table to a folder of Parquet files by the executors of a Spark session: aside, read back, compared, renamed.

A folder is what Spark can publish in one step: HDFS and local file systems rename it atomically. Tables of a catalog are not
written: without a metastore Spark forgets them with the session, and no catalog replaces a table in one step.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pyarrow as pa

from sfumato.errors import DatabaseError, SfumatoError
from sfumato.io.plain_types import as_plain
from sfumato.io.read_spark import SCHEME, refuse_host, required_session

_REMEDY = "Nothing was published there. Fix the problem, check that the cluster is running, and try again."


class PendingFolder:
    """A folder that is written and checked under another name; `commit` gives it its own."""

    def __init__(self, session: Any, target: str) -> None:
        self.session = session
        base = self._path(target)
        self._files = base.getFileSystem(session._jsc.hadoopConfiguration())
        self.target = self._files.makeQualified(base)
        if self.target.getParent() is None:
            raise _invalid(target)
        self.staging = self._aside()
        self._replaced: Any = None

    def _path(self, text: str) -> Any:
        return self.session._jvm.org.apache.hadoop.fs.Path(text)

    def _aside(self) -> Any:
        # readers of Spark pass over names that begin with an underscore
        return self.session._jvm.org.apache.hadoop.fs.Path(self.target.getParent(), f"_sfumato-{secrets.token_hex(8)}")

    @property
    def name(self) -> str:
        """The folder, for messages."""
        return str(self.target.toString())

    def exists(self) -> bool:
        """Return whether something has the name already."""
        return bool(self._files.exists(self.target))

    def commit(self) -> None:
        """Give the folder its name. A folder that has it is moved aside first, and deleted last."""
        with spark_errors(self.name, "the folder could not be put in place"):
            if self.exists():
                self._replaced = self._aside()
                self._rename(self.target, self._replaced)
            try:
                self._rename(self.staging, self.target)
            except BaseException:
                if self._replaced is not None:
                    self._rename(self._replaced, self.target)
                    self._replaced = None
                raise
            self.staging = None

    def close(self) -> None:
        """Delete what is left aside: the new folder if it was not committed, the old one if it was."""
        for path in filter(None, (self.staging, self._replaced)):
            with suppress(Exception):  # the cluster may be gone
                self._files.delete(path, True)

    def _rename(self, one: Any, other: Any) -> None:
        if not self._files.rename(one, other):
            raise DatabaseError(f"{one.toString()} cannot be renamed", remedy=_REMEDY, file=self.name)


def folder_of(table: str) -> str:
    """Return the folder that a table of Spark names; any other table is an error.

    >>> folder_of("parquet.`/data/open/people`")
    '/data/open/people'
    """
    match = re.fullmatch(r"parquet\.`([^`]+)`", table.strip(), re.IGNORECASE)
    if match is None:
        raise _invalid(table)
    return match[1]


def check_folder(uri: str, table: str) -> None:
    """Raise an error if no folder of Spark is named. Whether it exists is known when the session has started."""
    refuse_host(uri, "output.database")
    folder_of(table)


@contextmanager
def pending_folder(uri: str, table: str, data: pa.Table, *, force: bool = False) -> Iterator[PendingFolder]:
    """Write a table and check it; `commit` of the result gives the folder its name.

    `uri`: that of Spark; `table`: see `folder_of`. Without `commit`, or if anything fails, the folder of that name stays as
    it was. An existing one is replaced only with `force`, and only if it has the same columns, the first of whole numbers,
    as an earlier release has.
    """
    check_folder(uri, table)
    session = required_session(uri)
    pending = PendingFolder(session, folder_of(table))
    try:
        with spark_errors(pending.name, "the folder cannot be written"):
            if pending.exists():
                _check_replaced(session, pending.name, data.column_names, force)
            plain = pa.table({name: as_plain(data.column(name)) for name in data.column_names})
            frame = session.createDataFrame(plain)
            staging = pending.staging.toString()
            frame.write.parquet(staging)
            _compare(frame, session.read.parquet(staging), data.num_rows, pending.name)
        yield pending
    finally:
        pending.close()


def _check_replaced(session: Any, name: str, columns: list[str], force: bool) -> None:
    """Raise an error unless a folder contains an earlier release that may be replaced."""
    if not force:
        raise DatabaseError(
            "a folder of this name exists",
            remedy="Name another, or use force to replace the release in it.",
            file=name,
        )
    found = session.read.parquet(name).dtypes
    existing = [column for column, _ in found]
    if existing != columns or found[0][1] not in ("bigint", "int"):
        raise DatabaseError(
            f"the existing folder has the columns {', '.join(map(repr, existing))}, and an earlier release would have "
            f"{', '.join(map(repr, columns))}; so it is not replaced",
            remedy="Name another folder, or delete it.",
            file=name,
            value=existing,
        )


def _compare(written: Any, back: Any, rows: int, name: str) -> None:
    """Raise an error if executors do not read the rows that were written, in any order."""
    # of equally many rows none is missing, so none is added
    if back.columns != written.columns or back.count() != rows or not written.exceptAll(back).isEmpty():
        raise DatabaseError(
            "the executors do not read what was written, so nothing is published there",
            remedy="Name a folder of a file system that the driver and all executors share, such as hdfs://…",
            file=name,
        )


@contextmanager
def spark_errors(name: str, problem: str) -> Iterator[None]:
    """Turn what Spark raises into an error that says what to do."""
    try:
        yield
    except SfumatoError:
        raise
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
        raise DatabaseError(f"{problem}: {lines[0][:300].rstrip('.')}", remedy=_REMEDY, file=name) from error


def _invalid(table: str) -> DatabaseError:
    return DatabaseError(
        f"{table!r} is not a folder of Parquet files, and executors write to nothing else",
        remedy='Write table = "parquet.`/folder/of/the/release`"; a table of a catalog can be declared over that folder.',
        file=f"{SCHEME}://",
        value=table,
    )

"""Write a table to a folder of Parquet files by the executors of a Spark session: aside, read back, compared, renamed.

A folder is what Spark can publish in one step: HDFS and local file systems rename it atomically.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sfumato.errors import DatabaseError, SfumatoError

_REMEDY = "Nothing was published there. Fix the problem, check that the cluster is running, and try again."


class PendingFolder:
    """A folder that is written and checked under another name; `commit` gives it its own."""

    def __init__(self, session: Any, target: str) -> None:
        self.session = session
        base = self._path(target)
        self._files = base.getFileSystem(session._jsc.hadoopConfiguration())
        self.target = self._files.makeQualified(base)
        if self.target.getParent() is None:
            raise DatabaseError("a file system cannot be replaced", remedy="Name a folder in it.", file=target)
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

    def check_replaced(self, columns: list[str], force: bool) -> None:
        """Raise an error unless the existing folder contains an earlier release that may be replaced."""
        found = self.session.read.parquet(self.name) if force else None
        check_replaced(found, self.name, columns, force, "folder")

    def write(self, frame: Any) -> Any:
        """Write rows to a folder aside; return them as executors read them."""
        aside = self.staging.toString()
        frame.write.parquet(aside)
        return self.session.read.parquet(aside)

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


def folder_of(table: str) -> str | None:
    """Return the folder of Parquet files that a table of Spark names; None if it names none.

    >>> folder_of("parquet.`/data/open/people`"), folder_of("open.people")
    ('/data/open/people', None)
    """
    match = re.fullmatch(r"parquet\.`([^`]+)`", table.strip(), re.IGNORECASE)
    return None if match is None else match[1]


def check_replaced(existing: Any, name: str, columns: list[str], force: bool, noun: str) -> None:
    """Raise an error unless a folder or table, as a frame of Spark, contains an earlier release that may be replaced."""
    if not force:
        raise DatabaseError(
            f"a {noun} of this name exists", remedy="Name another, or use force to replace the release in it.", file=name
        )
    found = existing.dtypes
    names = [column for column, _ in found]
    if names != columns or found[0][1] not in ("bigint", "int"):
        raise DatabaseError(
            f"the existing {noun} has the columns {', '.join(map(repr, names))}, and an earlier release would have "
            f"{', '.join(map(repr, columns))}; so it is not replaced",
            remedy=f"Name another {noun}, or delete it.",
            file=name,
            value=names,
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

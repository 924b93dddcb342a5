"""Write a table to the catalog of a Spark session by its executors: under another name, read back, compared, renamed."""

from __future__ import annotations

import re
import secrets
from contextlib import suppress
from typing import Any

from sfumato.errors import DatabaseError
from sfumato.io.write_spark_folder import check_replaced, spark_errors

_PART = re.compile(r"(\w+)|`([^`/\\:]+)`")
"""A part of a name. Within backticks anything but what makes it a path: sql such as csv.`/data` reads files."""

TEMPORARY = "spark.sfumato.temporary"
"""The setting of a session that is stopped as soon as the release is made."""


class PendingCatalogTable:
    """A table of a catalog that is written and checked under another name; `commit` gives it its own."""

    def __init__(self, session: Any, target: str) -> None:
        self.session = session
        parts = parts_of(target)
        if parts is None:
            raise ValueError(target)
        self._refuse_temporary(parts)
        self._within, self._own = parts[:-1], parts[-1]
        self.name = _quoted(parts)
        self.staging: str | None = self._aside()
        self._replaced: str | None = None

    def _refuse_temporary(self, parts: list[str]) -> None:
        """Raise an error for a catalog that is gone when the session ends, if that is as soon as the release is made."""
        conf = self.session.conf
        in_memory = conf.get("spark.sql.catalogImplementation", "in-memory") == "in-memory" and len(parts) < 3
        if in_memory and conf.get(TEMPORARY, None) is not None:
            raise DatabaseError(
                "the catalog of this session is in memory, so the table would be lost when the session ends",
                remedy='Name a metastore in engine.settings ("spark.sql.catalogImplementation" = "hive"), a table of '
                "another catalog (catalog.database.table), or a folder (parquet.`/folder`).",
                file=_quoted(parts),
            )

    def _aside(self) -> str:
        return _quoted([*self._within, f"_sfumato_{secrets.token_hex(8)}"])

    def exists(self) -> bool:
        """Return whether a table or a view has the name already."""
        return bool(self.session.catalog.tableExists(self.name))

    def check_replaced(self, columns: list[str], force: bool) -> None:
        """Raise an error unless the existing table contains an earlier release that may be replaced."""
        if force:
            found = self.session.catalog.getTable(self.name)
            if found.isTemporary or found.tableType != "MANAGED":
                raise DatabaseError(
                    f"the existing table is not one that Spark manages ({str(found.tableType).lower()}); so it is not "
                    "replaced",
                    remedy="Name another, or drop it.",
                    file=self.name,
                )
        check_replaced(self.session.table(self.name), self.name, columns, force, "table")

    def write(self, frame: Any) -> Any:
        """Write rows under another name; return them as executors read them."""
        frame.write.saveAsTable(self.staging)
        return self.session.table(self.staging)

    def commit(self) -> None:
        """Give the table its name. A table that has it is renamed first, and dropped last."""
        with spark_errors(self.name, "the table could not be put in place"):
            if self.exists():
                aside = self._aside()
                self._rename(self.name, aside)
                self._replaced = aside
            try:
                self._rename(str(self.staging), self.name)
            except BaseException:
                if self._replaced is not None:
                    self._rename(self._replaced, self.name)
                    self._replaced = None
                raise
            self.staging = None

    def close(self) -> None:
        """Drop what is left: the new table if it was not committed, the old one if it was."""
        for name in filter(None, (self.staging, self._replaced)):
            with suppress(Exception):  # the cluster may be gone
                self.session.sql(f"DROP TABLE IF EXISTS {name}")

    def _rename(self, one: str, other: str) -> None:
        self.session.sql(f"ALTER TABLE {one} RENAME TO {other}")


def parts_of(table: str) -> list[str] | None:
    """Return the parts of the name of a table of a catalog: table, database.table or catalog.database.table; else None.

    >>> parts_of("open.`people 2024`"), parts_of("csv.`/data/people`"), parts_of("a b")
    (['open', 'people 2024'], None, None)
    """
    parts, rest = [], table.strip()
    while True:
        match = _PART.match(rest)
        if match is None:
            return None
        parts.append(match[1] or match[2])
        rest = rest[match.end() :]
        if not rest:
            return parts if len(parts) <= 3 else None
        if not rest.startswith("."):
            return None
        rest = rest[1:]


def _quoted(parts: list[str]) -> str:
    return ".".join(f"`{part}`" for part in parts)

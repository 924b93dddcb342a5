"""The table that a config names: read once, and given the schema of each later config without reading it again."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.data.schema import Schema
from sfumato.io.database_uri import is_uri

if TYPE_CHECKING:
    from sfumato.config import Config
    from sfumato.data.table import Table

READING = {"path", "query", "table", "sheet", "delimiter", "encoding"}
"""The keys of [data] that say what is read, and how."""


@dataclass
class OpenedTable:
    """The table as it was read, the same with the last schema, and the state of its file at that time."""

    reading_key: Hashable = None
    _raw: Table | None = None
    _profiled: Table | None = None
    _latest: tuple[Schema, Table] | None = None
    _state: tuple[int, int] | None = None
    _path: Path | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def has_read(self, config: Config) -> bool:
        """Whether the table that a config names was read."""
        return self._raw is not None and _reading_key(config) == self.reading_key

    def read_raw(self, config: Config) -> Table:
        """Return the table that a config names as it was read, without roles."""
        from sfumato.io.read_table import read_table

        with self._lock:
            options = config.data.model_dump(include=READING - {"path"})
            source = config.data_source()
            key = _reading_key(config)
            if key != self.reading_key or self._raw is None:
                path = None if is_uri(str(source)) else Path(source)
                state = _state_of(path)
                raw = read_table(source, Schema(), **options)
                self._raw, self.reading_key, self._path, self._state = raw, key, path, state
                self._latest = self._profiled = None
            return self._raw

    def read(self, config: Config) -> Table:
        """Return the table of a config with its schema. Encoded columns are shared as far as both schemas allow."""
        with self._lock:
            schema, raw = config.schema, self.read_raw(config)
            if self._latest is not None and self._latest[0] == schema:
                return self._latest[1]
            ages = schema.ages or (self._latest is not None and self._latest[0].ages)
            base = raw if self._latest is None or ages else self._latest[1]
            table = base.with_schema(schema)
            if self._profiled is not None:
                table.share_columns(self._profiled, table.data.column_names)
            self._latest = (schema, table)
            return table

    def share(self, profiled: Table) -> None:
        """Let tables that are returned from now on share the columns that were encoded for the profile."""
        with self._lock:
            if self._raw is not None and profiled.data is self._raw.data:
                self._profiled = profiled

    def change_of_file(self) -> str | None:
        """Return how the file differs from what was read: "changed", "missing", or None if it does not."""
        if self._path is None or self._state is None:
            return None
        state = _state_of(self._path)
        return "missing" if state is None else None if state == self._state else "changed"


def _reading_key(config: Config) -> Hashable:
    return (str(config.data_source()), *config.data.model_dump(include=READING - {"path"}).values())


def _state_of(path: Path | None) -> tuple[int, int] | None:
    """Return the size of a file and the time at which it changed; None if there is no file."""
    try:
        return None if path is None else (path.stat().st_size, path.stat().st_mtime_ns)
    except OSError:
        return None

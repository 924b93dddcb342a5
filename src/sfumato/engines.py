"""Where the computation runs: in memory, or with the table and all arrays of its length on disk.

Every engine runs the same code, so the same data and seed give the same bytes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from sfumato.errors import FileError, ParameterError
from sfumato.storage import Storage, active_storage

__all__ = ["Local", "Storage", "Stream"]

_BYTES_PER_BYTE = 10
"""The memory that a release needs for each byte of a CSV file; measured."""

_BYTES_PER_CELL = 100
"""The memory that a release needs for each cell of a Parquet file; measured."""


@dataclass(frozen=True)
class Local:
    """Keep the table in memory."""

    name: ClassVar[str] = "local"

    @contextmanager
    def running(self) -> Iterator[Storage | None]:
        """Run the code inside on this engine; a storage that is active already stays so."""
        yield active_storage()


@dataclass(frozen=True)
class Stream:
    """Read files piece by piece, and keep the table and arrays of its length on disk, in files without names.

    `folder`: where these files are; by default the folder for temporary files. They need about twice the size of the table
    as CSV, and are gone when the process ends, however it ends.

    >>> Stream().name
    'stream'
    """

    folder: str | Path | None = None

    name: ClassVar[str] = "stream"

    def __post_init__(self) -> None:
        if self.folder is not None and not Path(self.folder).is_dir():
            raise FileError("there is no such folder", remedy="Name an existing folder.", file=str(self.folder))

    @contextmanager
    def running(self) -> Iterator[Storage | None]:
        """Run the code inside on this engine; a storage that is active already is used again."""
        with (active_storage() or Storage(self.folder)).active() as storage:
            yield storage


Engine = Local | Stream

ENGINES = (Local.name, Stream.name)
"""The names of the engines, as a config writes them."""


def engine_of(engine: Engine | str | None, data: Any = None, folder: str | Path | None = None) -> Engine:
    """Return the engine of a name; without one that which suits the data: a file larger than memory is streamed.

    >>> engine_of("stream"), engine_of(None, "people.csv")
    (Stream(folder=None), Local())
    """
    if isinstance(engine, Local | Stream):
        return engine
    if engine is None:
        return Stream(folder) if _is_larger_than_memory(data) else Local()
    if engine == Local.name:
        return Local()
    if engine == Stream.name:
        return Stream(folder)
    raise ParameterError(
        f"there is no engine {engine!r}", remedy=f"Write one of: {', '.join(ENGINES)}.", key="engine", value=engine
    )


def _is_larger_than_memory(data: Any) -> bool:
    """Return whether a file probably needs more than half of this machine's memory."""
    if not isinstance(data, str | Path) or not hasattr(os, "sysconf") or not Path(data).is_file():
        return False
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    needed = Path(data).stat().st_size * _BYTES_PER_BYTE
    if Path(data).suffix.lower() in (".parquet", ".pq"):
        from pyarrow import ArrowException, parquet

        try:
            content = parquet.read_metadata(data)
        except (ArrowException, OSError):
            return False  # reading it says why
        needed = content.num_rows * content.num_columns * _BYTES_PER_CELL
    return needed > memory // 2

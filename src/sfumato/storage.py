"""Large arrays on disk in place of memory, so that a table may be larger than memory.

While a storage is active, the arrays that are as long as the table are written to files and mapped into memory. The system
reads the pages that are used and drops them when memory is needed. Code that uses such an array sees no difference.

The files have no name: they are deleted when they are created, and the system frees their space when the last array on them
is gone, also if the process is killed. Nobody else can open them.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import sys
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.errors import FileError

LARGE = 1 << 20
"""Arrays of at least this many bytes are stored on disk."""

_PIECE = 1 << 24
"""Bytes that are written at a time."""


class Storage:
    """Files without names in a folder, for arrays that need not be in memory.

    >>> storage = Storage()
    >>> with storage.active():
    ...     numbers = stored(np.arange(1_000_000))
    >>> int(numbers[-1]), is_stored(numbers)
    (999999, True)
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        """Use a folder that exists; by default the one for temporary files."""
        self.folder = Path(tempfile.gettempdir() if folder is None else folder)
        self._maps: weakref.WeakSet[mmap.mmap] = weakref.WeakSet()

    @contextmanager
    def active(self) -> Iterator[Storage]:
        """Have `stored` write arrays to this storage meanwhile."""
        token = _storage.set(self)
        try:
            yield self
        finally:
            _storage.reset(token)

    @contextmanager
    def new_file(self) -> Iterator[BinaryIO]:
        """Open a file without a name; write to it with `write`."""
        with self._writing():
            file = tempfile.TemporaryFile(dir=self.folder, prefix=".sfumato-")  # noqa: SIM115 - closed below
        with file:
            yield file

    def write(self, file: BinaryIO, values: NDArray[Any] | bytes) -> None:
        """Write an array, or bytes, to the end of a file."""
        content = memoryview(values if isinstance(values, bytes) else values.reshape(-1).view(np.uint8).data)
        with self._writing():
            for start in range(0, len(content), _PIECE):
                file.write(content[start : start + _PIECE])

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Turn a full disk, or a folder that cannot be written, into an error that says what to do."""
        try:
            yield
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            problem = "the disk is full" if full else f"this folder cannot be written: {error.strerror}"
            raise FileError(
                f"{problem}, and the table is too large for memory",
                remedy="Name a folder with enough space as engine.folder, about twice the size of the table.",
                file=str(self.folder),
            ) from error

    def mapped(self, file: BinaryIO) -> mmap.mmap:
        """Return the content of a file as memory; it stays when the file is closed."""
        with self._writing():
            file.flush()
        content = mmap.mmap(file.fileno(), os.fstat(file.fileno()).st_size)
        self._maps.add(content)
        return content

    def opened(self, file: BinaryIO) -> mmap.mmap:
        """Return the content of a file of somebody else, which must not be written."""
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._maps.add(content)
        return content

    def array(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return a copy of an array on disk."""
        with self.new_file() as file:
            self.write(file, np.ascontiguousarray(values))
            self.release()
            return np.frombuffer(self.mapped(file), values.dtype).reshape(values.shape)

    def table(self, data: pa.Table) -> pa.Table:
        """Return a copy of a table on disk, each column in one piece."""
        whole = data.unify_dictionaries().combine_chunks()
        with self.new_file() as file:
            with self._writing(), pa.ipc.new_file(pa.PythonFile(file, "w"), whole.schema) as writer:
                writer.write_table(whole)
            self.release()
            return pa.ipc.open_file(pa.py_buffer(self.mapped(file))).read_all()

    def release(self) -> None:
        """Drop the pages that are in memory; they are read again when they are used."""
        if hasattr(mmap, "MADV_DONTNEED"):
            for content in list(self._maps):
                content.madvise(mmap.MADV_DONTNEED)
        pa.default_memory_pool().release_unused()
        if _trim is not None:
            _trim(0)


def _trimming() -> Any:
    """Return the function of the C library that gives freed memory back to the system; None if it has none."""
    return getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None


_trim = _trimming()

_storage: ContextVar[Storage | None] = ContextVar("storage", default=None)


def active_storage() -> Storage | None:
    """Return the storage that is active; None if arrays stay in memory."""
    return _storage.get()


def stored(values: NDArray[Any]) -> NDArray[Any]:
    """Return an array itself, or a copy on disk if a storage is active and the array is large."""
    storage = _storage.get()
    if storage is None or values.nbytes < LARGE or is_stored(values):
        return values
    return storage.array(values)


def stored_table(data: pa.Table) -> pa.Table:
    """Return a table itself, or a copy on disk if a storage is active and the table is large."""
    storage = _storage.get()
    return data if storage is None or data.nbytes < LARGE else storage.table(data)


def stored_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column itself, or a copy on disk if a storage is active and the column is large."""
    return stored_table(pa.table({"": column})).column(0)


def is_stored(values: NDArray[Any]) -> bool:
    """Return whether an array, or the array that it is part of, is on disk."""
    base: Any = values
    while isinstance(base, np.ndarray | memoryview):
        base = base.base if isinstance(base, np.ndarray) else base.obj
    return isinstance(base, mmap.mmap)

"""The text of a file in UTF-8: decompressed, decoded, in memory or on disk."""

from __future__ import annotations

import codecs
import gzip
import mmap
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from sfumato.errors import FileError
from sfumato.io.size_limits import refuse_expansion
from sfumato.storage import Storage

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

_GZIP = b"\x1f\x8b"

_PIECE = 1 << 24
"""Bytes that are decoded at a time, if the file is not read as a whole."""

Text = bytes | memoryview
Raw = bytes | memoryview | mmap.mmap


def file_text(path: Path, encoding: str | None, storage: Storage | None) -> tuple[Text, str, str | None]:
    """Return the text of a file in UTF-8 with a line break at its end, its encoding, and a remark if that was a guess.

    The encoding is detected unless it is given. With a storage, the text is on disk: the file itself if it is UTF-8.
    """
    raw = _in_memory(path) if storage is None else _mapped(path, storage)
    note = None
    if encoding is None:
        encoding, note = _encoding(raw, storage)
    text = _utf8(raw, encoding, str(path), storage)
    del raw
    start = 0
    while text[start : start + 1] in (b"\r", b"\n"):
        start += 1
    text = text[start:]
    if text[-1:] != b"\n" and (storage is None or len(text) < _PIECE):
        text = bytes(text) + b"\n"  # Arrow fails on a file that is a header without a line break
    return text, encoding, note


def _in_memory(path: Path) -> Raw:
    """Return the content of a file, decompressed; that of a file that is not compressed in memory of Arrow."""
    with _readable(path), path.open("rb") as file:
        start = file.read(2)
        file.seek(0)
        if start == _GZIP:
            return b"".join(_decompressed(file, path))
        content = pa.allocate_buffer(os.fstat(file.fileno()).st_size)
        text = memoryview(content).cast("B")
        text = text[: file.readinto(text)]
        more = file.read()  # of a file that grew meanwhile, or that does not state its size
        return b"".join([text, more]) if more else text


def in_memory_of_arrow(text: Text) -> pa.Buffer:
    """Return bytes in memory that Arrow owns: a copy, unless they are in such memory already.

    A thread of Arrow's reader may release the memory after the reader has returned. For memory of Python it would need the
    interpreter lock; if Python is shutting down at that moment, the process ends with SIGABRT. Memory of Arrow needs none.
    """
    if isinstance(text, memoryview) and isinstance(text.obj, pa.Buffer):
        owner = text.obj
        return owner.slice(np.frombuffer(text, np.uint8).ctypes.data - owner.address if len(text) else 0, len(text))
    content = pa.allocate_buffer(len(text))
    np.frombuffer(content, np.uint8)[:] = np.frombuffer(text, np.uint8)
    return content


def _decompressed(file: BinaryIO, path: Path) -> Iterator[bytes]:
    """Yield the content of a gzip file in pieces; more content than the file can reasonably have is an error."""
    compressed, size = os.fstat(file.fileno()).st_size, 0
    with _readable(path), gzip.open(file) as content:
        while piece := content.read(_PIECE):
            size += len(piece)
            refuse_expansion(size, compressed, str(path))
            yield piece


def _mapped(path: Path, storage: Storage) -> Raw:
    """Return the content of a file, decompressed, as memory that is read when it is used."""
    with _readable(path):
        file = path.open("rb")
    with file:
        with _readable(path):
            start = file.read(2)
            file.seek(0)
        if not start:
            return b""
        if start != _GZIP:
            return storage.opened(file)
        return _on_disk(_decompressed(file, path), storage)


def _on_disk(pieces: Iterator[bytes], storage: Storage) -> Raw:
    with storage.new_file() as target:
        for piece in pieces:
            storage.write(target, piece)
        return storage.mapped(target) if target.tell() else b""


class _readable:  # noqa: N801 - used as a context manager
    """Turn what reading a file may raise into errors that name the file."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):  # includes gzip.BadGzipFile
            reason = error.strerror or str(error)
            raise FileError(
                f"the file cannot be read: {reason}", remedy="Name a readable CSV file.", file=self.path
            ) from error
        if isinstance(error, EOFError | zlib.error):
            raise FileError(
                "the gzip file is truncated or corrupt", remedy="Fetch or compress it again.", file=self.path
            ) from error


def _encoding(raw: Raw, storage: Storage | None) -> tuple[str, str | None]:
    """Return the encoding that the bytes of a file indicate, and a remark if it is a guess."""
    for mark, encoding in _MARKS:
        if raw[: len(mark)] == mark:
            return encoding, None
    if _is_utf8(raw, storage):
        return "utf-8", None
    guess = "cp1252"
    try:
        for start in range(0, len(raw), _PIECE):  # one byte is one character
            str(raw[start : start + _PIECE], guess)
    except UnicodeDecodeError:
        guess = "latin-1"
    return guess, f"not UTF-8, read as {guess}; declare data.encoding to be sure"


def _is_utf8(raw: Raw, storage: Storage | None) -> bool:
    """Return whether bytes are UTF-8, without a copy."""
    content, start = pa.py_buffer(raw), 0
    while start < len(raw):
        end = len(raw)
        if storage is not None and end - start > _PIECE:
            whole_lines = bytes(raw[start : start + _PIECE]).rfind(b"\n") + 1  # no character contains this byte
            end = start + whole_lines if whole_lines else end
            storage.release()
        ends = pa.py_buffer(np.array([0, end - start], np.int64))
        try:
            text = pa.Array.from_buffers(pa.large_string(), 1, [None, ends, content.slice(start, end - start)])
            text.validate(full=True)
        except pa.ArrowInvalid:
            return False
        start = end
    return True


def _utf8(raw: Raw, encoding: str, name: str, storage: Storage | None) -> Text:
    """Return the content of a file in UTF-8 without a byte order mark; the same bytes if they are UTF-8 already."""
    done = 0
    try:
        if codecs.lookup(encoding).name in ("utf-8", "utf-8-sig") and _is_utf8(raw, storage):
            text: Text = raw if isinstance(raw, bytes) else memoryview(raw)
        elif storage is None:
            text = bytes(raw).decode(encoding).encode("utf-8", "replace")
        else:
            decoder = codecs.getincrementaldecoder(encoding)()

            def decoded() -> Iterator[bytes]:
                nonlocal done
                for start in range(0, len(raw), _PIECE):
                    done = start
                    last = start + _PIECE >= len(raw)
                    yield decoder.decode(raw[start : start + _PIECE], last).encode("utf-8", "replace")

            text = memoryview(_on_disk(decoded(), storage))
        return text[len(codecs.BOM_UTF8) :] if text[:3] == codecs.BOM_UTF8 else text
    except (LookupError, UnicodeError) as error:
        if isinstance(error, UnicodeDecodeError):
            place = done + error.start
            line = sum(bytes(raw[start : min(start + _PIECE, place)]).count(b"\n") for start in range(0, place, _PIECE)) + 1
            raise FileError(
                f"byte {place} (line {line}) is not {encoding}",
                remedy="Declare another data.encoding, or leave it out to have it detected.",
                file=name,
            ) from error
        raise FileError(
            f"the encoding {encoding!r} is unknown", remedy='Write one such as "utf-8" or "latin-1".', file=name
        ) from error

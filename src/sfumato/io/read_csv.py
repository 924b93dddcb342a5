"""Read CSV the way a careful person would: every cell as the text that stands there."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from sfumato.errors import FileError
from sfumato.io.header import column_names

DELIMITERS = (",", ";", "\t", "|")
"""What may stand between two cells if nothing is declared."""

_SAMPLE = 64
"""Records that are looked at to find the delimiter."""

_BLOCK = 4 << 20
"""Bytes that are parsed at a time, unless a row is longer."""
_LARGEST_BLOCK = (1 << 31) - 1

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class CsvTable:
    """A CSV file's cells as text, and what a reader should know about how it was read.

    Every column is a dictionary: each distinct cell is held once.
    """

    data: pa.Table
    notes: tuple[str, ...]
    dialect: dict[str, str]
    """The delimiter and the encoding, where they are not the comma and UTF-8."""


def read_csv(path: str | Path, delimiter: str | None = None, encoding: str | None = None) -> CsvTable:
    """Read a CSV file, also compressed with gzip; delimiter and encoding are detected if not declared."""
    name = str(path)
    raw = _bytes(Path(path))
    notes: list[str] = []
    if encoding is None:
        encoding, note = _encoding(raw)
        notes += [f"{name}: {note}"] if note else []
    text = _utf8(raw, encoding, name).removeprefix(codecs.BOM_UTF8).lstrip(b"\r\n")
    del raw
    if delimiter is not None and not (len(delimiter) == 1 and delimiter.isascii() and delimiter not in '"\r\n'):
        raise FileError(
            f"the delimiter {delimiter!r} is not one plain character",
            remedy="Declare one such as , or ; as data.delimiter.",
            file=name,
            value=delimiter,
        )
    if not text.endswith(b"\n"):
        text += b"\n"  # the reader stumbles over a header that is the whole file and does not end
    if text.isspace():
        raise FileError("the file is empty", remedy="Give a file with a header line and rows.", file=name)
    head = text[: 1 << 20].decode("utf-8", "ignore")  # a character may be cut in two
    delimiter = delimiter or _delimiter(head)
    header = _header(head, delimiter, name)
    quotes = _count(text, b'"')
    if quotes % 2:
        _refuse_open_quote(text.decode(), delimiter, name)
    table = _cells(text, delimiter, header, name, quoted=quotes > 0)
    if table.num_rows == 0:
        raise FileError("the file has a header line and no rows", remedy="Give a table with at least one row.", file=name)
    dialect = {"delimiter": delimiter, "encoding": encoding}
    usual = {"delimiter": (",",), "encoding": ("utf-8", "utf-8-sig")}
    return CsvTable(table, tuple(notes), {key: value for key, value in dialect.items() if value not in usual[key]})


def _bytes(path: Path) -> bytes:
    try:
        raw = path.read_bytes()
        return gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    except OSError as error:  # gzip.BadGzipFile is one too
        reason = error.strerror or str(error)
        raise FileError(f"the file cannot be read: {reason}", remedy="Name a readable CSV file.", file=str(path)) from error
    except (EOFError, zlib.error) as error:
        raise FileError(
            "the gzip file is cut off or damaged", remedy="Fetch or compress it again.", file=str(path)
        ) from error


def _encoding(raw: bytes) -> tuple[str, str | None]:
    """The encoding that a file's bytes show, and a note if it is a guess."""
    for mark, encoding in _MARKS:
        if raw.startswith(mark):
            return encoding, None
    if _is_utf8(raw):
        return "utf-8", None
    guess = "cp1252"
    try:
        raw.decode(guess)
    except UnicodeDecodeError:
        guess = "latin-1"
    return guess, f"not UTF-8, read as {guess}; declare data.encoding to be sure"


def _is_utf8(raw: bytes) -> bool:
    """Whether bytes are UTF-8, looked at in place."""
    ends = pa.py_buffer(np.array([0, len(raw)], np.int64))
    try:
        pa.Array.from_buffers(pa.large_string(), 1, [None, ends, pa.py_buffer(raw)]).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _utf8(raw: bytes, encoding: str, name: str) -> bytes:
    """A file's bytes in UTF-8; the bytes themselves if that is what they are."""
    try:
        if codecs.lookup(encoding).name in ("utf-8", "utf-8-sig") and _is_utf8(raw):
            return raw.removeprefix(codecs.BOM_UTF8)
        return raw.decode(encoding).encode("utf-8", "replace")
    except (LookupError, UnicodeError) as error:
        if isinstance(error, UnicodeDecodeError):
            line = raw.count(b"\n", 0, error.start) + 1
            raise FileError(
                f"byte {error.start} (line {line}) is not {encoding}",
                remedy="Declare another data.encoding, or leave it out to have it detected.",
                file=name,
            ) from error
        raise FileError(
            f"the encoding {encoding!r} is unknown", remedy='Write one such as "utf-8" or "latin-1".', file=name
        ) from error


def _count(text: bytes, character: bytes) -> int:
    """How often a character occurs, counted in pieces that stay in the processor's cache."""
    view, step = np.frombuffer(text, np.uint8), 1 << 18
    return sum(int(np.count_nonzero(view[start : start + step] == ord(character))) for start in range(0, len(view), step))


def _records(text: str, delimiter: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def _delimiter(head: str) -> str:
    """The delimiter that cuts most of the first records into the same, largest number of cells."""
    best, score = ",", (0.0, 1)
    for delimiter in DELIMITERS:
        widths = []
        try:
            for record in _records(head, delimiter):
                if record:
                    widths.append(len(record))
                if len(widths) == _SAMPLE:
                    break
        except csv.Error:
            continue
        width, agreeing = Counter(widths).most_common(1)[0] if widths else (1, 0)
        if width > 1 and (agreeing / len(widths), width) > score:
            best, score = delimiter, (agreeing / len(widths), width)
    return best


def _header(head: str, delimiter: str, name: str) -> list[str]:
    try:
        header = next(_records(head, delimiter))
    except csv.Error as error:
        raise FileError(
            f"the header cannot be read: {error}", remedy="Mend it, or declare data.delimiter.", file=name
        ) from error
    return column_names(header, name)


def _refuse_open_quote(text: str, delimiter: str, name: str) -> None:
    """Raise if a quote is still open where the file ends: everything after it would be one cell."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 0
    try:
        for _ in reader:
            line = reader.line_num
    except csv.Error as error:
        if "unexpected end of data" in str(error):
            raise FileError(
                f"a quote opens in the row that starts at line {line + 1} and is never closed",
                remedy="Close it, or double it if it belongs to the cell.",
                file=name,
            ) from error


def _cells(text: bytes, delimiter: str, header: list[str], name: str, *, quoted: bool) -> pa.Table:
    if b"\0" in text:
        line = text.count(b"\n", 0, text.index(b"\0")) + 1
        raise FileError(f"line {line} holds a NUL character", remedy="Save the file as plain text.", file=name)

    def parsed(block: int, across: bool) -> pa.Table:
        return arrow_csv.read_csv(
            pa.BufferReader(text),
            read_options=arrow_csv.ReadOptions(column_names=header, skip_rows_after_names=1, block_size=block),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=across,
                ignore_empty_lines=len(header) > 1,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(header, pa.dictionary(pa.int32(), pa.string())),
                strings_can_be_null=False,
                check_utf8=False,  # it was made sure of
            ),
        )

    # blocks are cut at line breaks, which is fast and noticed if one stands within quotes; then with care for quotes; and
    # at last in one piece, for rows that are longer than a block
    ways = [(_BLOCK, False), *([(_BLOCK, True)] if quoted else []), (min(len(text), _LARGEST_BLOCK), quoted)]
    for block, across in ways:
        try:
            table = parsed(block, across)
            break
        except pa.ArrowInvalid as error:
            problem = error
    else:
        raise _ragged(text.decode(), delimiter, header, name) or FileError(
            f"the file is not CSV: {str(problem).splitlines()[0]}",
            remedy="Declare data.delimiter, or mend the file.",
            file=name,
        ) from problem
    return table.unify_dictionaries().combine_chunks()


def _ragged(text: str, delimiter: str, header: list[str], name: str) -> FileError | None:
    """Find the first record with too few or too many cells."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for row, record in enumerate((record for record in reader if record), start=0):
            if len(record) != len(header):
                shown = delimiter.join(record)
                return FileError(
                    f"line {reader.line_num} (row {row}) has {len(record)} cells, the header has {len(header)}: "
                    f"{shown[:80]!r}",
                    remedy="Quote cells that contain the delimiter, or mend the line.",
                    file=name,
                    row=row,
                    value=shown,
                )
    except csv.Error:
        pass
    return None

"""Read CSV: every cell as the text that the file contains, without any conversion."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from sfumato.data.schema import Schema
from sfumato.errors import FileError
from sfumato.io.file_text import file_text, in_memory_of_arrow
from sfumato.io.size_limits import refuse_columns
from sfumato.io.stored_columns import stored_columns
from sfumato.plurals import count_of
from sfumato.storage import Storage, active_storage

DELIMITERS = (",", ";", "\t", "|")
"""The delimiters that are detected if none is declared."""

_SAMPLE = 64
"""The number of records from which the delimiter is detected."""

_BLOCK = 4 << 20
"""The bytes that are parsed at a time, unless a row is longer."""
_LARGEST_BLOCK = (1 << 31) - 1

_RELEASED = 64
"""After this many pieces of a file that is read from disk, its pages are dropped from memory."""


@dataclass(frozen=True)
class CsvTable:
    """The cells of a CSV file as text, with remarks on how it was read.

    Every column is dictionary-encoded: each distinct cell is stored once.
    """

    data: pa.Table
    notes: tuple[str, ...]
    dialect: dict[str, str]
    """The delimiter and the encoding, if they are not the comma and UTF-8."""


def read_csv(
    path: str | Path, delimiter: str | None = None, encoding: str | None = None, schema: Schema | None = None
) -> CsvTable:
    """Read a CSV file, which may be compressed with gzip; delimiter and encoding are detected unless they are given.

    Memory: the size of the file, twice for a moment if it is compressed, and the encoded columns. If a storage is active,
    the file is read piece by piece, and the columns are on disk; `schema` then says which cells are needed.
    """
    name, storage = str(path), active_storage()
    notes: list[str] = []
    text, encoding, note = file_text(Path(path), encoding, storage)
    notes += [f"{name}: {note}"] if note else []
    if delimiter is not None and not (len(delimiter) == 1 and delimiter.isascii() and delimiter not in '"\r\n'):
        raise FileError(
            f"the delimiter {delimiter!r} is not one ASCII character",
            remedy="Declare one such as , or ; as data.delimiter.",
            file=name,
            value=delimiter,
        )
    start = bytes(text[: 1 << 20])
    if not start or start.isspace():
        raise FileError("the file is empty", remedy="Give a file with a header line and rows.", file=name)
    head = start.decode("utf-8", "ignore")  # the last character may be incomplete
    delimiter = delimiter or _delimiter(head)
    header = _header(head, delimiter, name)
    quotes, nuls = _counts(text, b'"\0', storage)
    if quotes % 2:
        _refuse_open_quote(_lines(pa.py_buffer(text)), delimiter, name)
    if nuls:
        line = 1 + next(number for number, line in enumerate(_lines(pa.py_buffer(text))) if "\0" in line)
        raise FileError(f"line {line} contains a NUL character", remedy="Save the file as plain text.", file=name)
    content = in_memory_of_arrow(text) if storage is None else pa.py_buffer(text)
    del text
    if storage is None:
        table = _cells(content, delimiter, header, name, quotes > 0, _read_whole)
    else:
        reading = partial(_read_to_disk, schema=schema, storage=storage, name=name)
        table = _cells(content, delimiter, header, name, quotes > 0, reading)
    if table.num_rows == 0:
        raise FileError("the file has a header line and no rows", remedy="Give a table with at least one row.", file=name)
    dialect = {"delimiter": delimiter, "encoding": encoding}
    default = {"delimiter": (",",), "encoding": ("utf-8", "utf-8-sig")}
    return CsvTable(table, tuple(notes), {key: value for key, value in dialect.items() if value not in default[key]})


def _lines(content: pa.Buffer) -> io.TextIOWrapper:
    return io.TextIOWrapper(pa.BufferReader(content), "utf-8", newline="")


def _counts(text: bytes | memoryview, characters: bytes, storage: Storage | None) -> list[int]:
    """Count some characters, in pieces that fit into the processor's cache."""
    view, step = np.frombuffer(text, np.uint8), 1 << 18
    counts = [0] * len(characters)
    for start in range(0, len(view), step):
        piece = view[start : start + step]
        counts = [count + int(np.count_nonzero(piece == c)) for count, c in zip(counts, characters, strict=True)]
        if storage is not None and start % (step * _RELEASED) == 0:
            storage.release()  # the pages that were read
    return counts


def _records(text: str, delimiter: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def _delimiter(head: str) -> str:
    """Return the delimiter that splits most of the first records into the same, largest number of cells."""
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
            f"the header cannot be read: {error}", remedy="Fix it, or declare data.delimiter.", file=name
        ) from error
    refuse_columns(len(header), name)
    return column_names(header, name)


def column_names(header: Sequence[str], file: str) -> list[str]:
    """Return a name for every column: its header, or its position if the header is empty.

    >>> column_names(["age", ""], "people.csv")
    ['age', 'column_2']
    """
    names = [cell if cell else f"column_{position}" for position, cell in enumerate(header, start=1)]
    duplicates = [cell for cell, count in Counter(names).items() if count > 1]
    if duplicates:
        raise FileError(
            f"the header contains {', '.join(map(repr, duplicates))} more than once",
            remedy="Give every column a name of its own.",
            file=file,
            value=duplicates,
        )
    return names


def _refuse_open_quote(lines: Iterable[str], delimiter: str, name: str) -> None:
    """Raise an error if a quote is still open at the end of the file: everything after it would be one cell."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    line = 0
    try:
        for _ in reader:
            line = reader.line_num
    except csv.Error as error:
        if "unexpected end of data" in str(error):
            raise FileError(
                f"a quote opens in the row that starts at line {line + 1} and is never closed",
                remedy="Close it, or double it if it is part of the cell.",
                file=name,
            ) from error


Reading = Callable[..., pa.Table]
"""Reads the cells of a CSV with the options of pyarrow."""


def _read_whole(content: pa.Buffer, **options: Any) -> pa.Table:
    return arrow_csv.read_csv(pa.BufferReader(content), **options).unify_dictionaries().combine_chunks()


def _read_to_disk(content: pa.Buffer, *, schema: Schema | None, storage: Storage, name: str, **options: Any) -> pa.Table:
    with arrow_csv.open_csv(pa.BufferReader(content), **options) as batches:
        return stored_columns(batches, batches.schema, schema, storage, name)


def _cells(content: pa.Buffer, delimiter: str, header: list[str], name: str, quoted: bool, read: Reading) -> pa.Table:
    def parse(block: int, across: bool) -> pa.Table:
        return read(
            content,
            read_options=arrow_csv.ReadOptions(column_names=header, skip_rows_after_names=1, block_size=block),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter,
                newlines_in_values=across,
                ignore_empty_lines=len(header) > 1,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(header, pa.dictionary(pa.int32(), pa.string())),
                strings_can_be_null=False,
                check_utf8=False,  # it has been checked
            ),
        )

    # First, blocks are cut at any line break, which is fast, and an error if a line break is inside quotes. Then blocks are
    # cut outside quotes only. Last, the file is one block, for rows that are longer than a block.
    attempts = [(_BLOCK, False), *([(_BLOCK, True)] if quoted else []), (min(content.size, _LARGEST_BLOCK), quoted)]
    for block, across in attempts:
        try:
            return parse(block, across)
        except pa.ArrowInvalid as error:
            problem = error
    raise _ragged_row(_lines(content), delimiter, header, name) or FileError(
        f"the file is not CSV: {str(problem).splitlines()[0]}",
        remedy="Declare data.delimiter, or fix the file.",
        file=name,
    ) from problem


def _ragged_row(lines: Iterable[str], delimiter: str, header: list[str], name: str) -> FileError | None:
    """Return the error for the first record with too few or too many cells."""
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        for row, record in enumerate((record for record in reader if record), start=0):
            if len(record) != len(header):
                shown = delimiter.join(record)
                return FileError(
                    f"line {reader.line_num} has {count_of(len(record), 'cell')}, "
                    f"the header has {len(header)}: {shown[:80]!r}",
                    remedy="Quote cells that contain the delimiter, or fix the line.",
                    file=name,
                    row=row,
                    value=shown,
                )
    except csv.Error:
        pass
    return None

"""Read a sheet of an Excel workbook: each cell with the type that it has in the workbook."""

from __future__ import annotations

import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import IO, Any
from xml.etree import ElementTree

import pyarrow as pa

from sfumato.errors import CellError, FileError, ParameterError
from sfumato.io.optional_packages import import_extra
from sfumato.io.read_csv import column_names
from sfumato.io.size_limits import refuse_columns, refuse_expansion, refuse_extent
from sfumato.io.typed_cells import ColumnBuilder

_AT_ONCE = 4096
"""The number of rows that are read at a time."""

_ERROR = re.compile(rb"<(?:\w+:)?c\s([^>]*\bt=[\"']e[\"'][^>]*)>")
"""The attributes of a cell that contains an error, in the XML of a sheet."""

_UNCALCULATED = re.compile(
    rb"<(?:\w+:)?c(\s[^>]*[^/>])>\s*<(?:\w+:)?f\b(?:[^>]*/>|[^>]*>[^<]*</(?:\w+:)?f>)\s*"
    rb"(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</(?:\w+:)?v>)?\s*</(?:\w+:)?c>"
)
"""A cell with a formula and no value."""

_TEXT = re.compile(rb"\bt=[\"']str[\"']")
_PLACE = re.compile(rb"\br=[\"']([A-Z]+[0-9]+)[\"']")
_REFERENCE = re.compile(rb"\br=[\"']([A-Za-z]*)0*([0-9]{1,9})[\"']")
"""The letters and the digits of a cell, or the number of a row."""


_DAMAGED_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
"""What zipfile raises for corrupt content, and for content that is encrypted or compressed in an unknown way."""


def read_excel(path: str | Path, sheet: str | None = None) -> tuple[pa.Table, tuple[str, ...]]:
    """Read a sheet of an .xlsx or .xlsm file (the first by default), with remarks on how it was read.

    The first row that is not empty is the header; empty rows are skipped.
    """
    name = str(path)
    calamine = import_extra("python_calamine", "excel", "Excel files", name)
    try:
        _refuse_large_content(Path(path), name)
        book = calamine.CalamineWorkbook.from_path(name)
        chosen = _sheet(book.sheet_names, sheet, name)
        _check_cells(Path(path), chosen, name)
        return _table(book.get_sheet_by_name(chosen), f"{name}, sheet {chosen!r}")
    except OSError as error:
        reason = error.strerror or str(error).partition(" (os error")[0]
        raise FileError(f"the file cannot be read: {reason}", remedy="Name a readable Excel file.", file=name) from error
    except calamine.PasswordError as error:
        raise FileError(
            "the workbook is protected by a password", remedy="Save it without a password first.", file=name
        ) from error
    except (calamine.CalamineError, ElementTree.ParseError, KeyError, *_DAMAGED_ZIP) as error:
        raise FileError(
            "the file is not an Excel workbook, or is corrupt", remedy="Save it again as .xlsx.", file=name
        ) from error


def _sheet(names: list[str], sheet: str | None, file: str) -> str:
    if not names:
        raise FileError("the workbook has no sheets", remedy="Name one with a table.", file=file)
    if sheet is None:
        return names[0]
    if sheet not in names:
        listed = ", ".join(map(repr, names))
        raise ParameterError(
            f"there is no sheet {sheet!r}", remedy=f"The sheets are: {listed}.", file=file, key="sheet", value=sheet
        )
    return sheet


def _table(sheet: Any, source: str) -> tuple[pa.Table, tuple[str, ...]]:
    rows = (row for row in sheet.iter_rows() if any(cell != "" for cell in row))
    header = next(rows, None)
    if header is None:
        raise FileError("the sheet is empty", remedy="Name one with a header and rows.", file=source)
    refuse_columns(len(header), source)
    columns = [ColumnBuilder() for _ in header]
    count = 0
    while batch := [row for row, _ in zip(rows, range(_AT_ONCE), strict=False)]:
        count += len(batch)
        for column, cells in zip(columns, zip(*batch, strict=True), strict=True):
            column.extend([None if cell == "" else cell for cell in cells])
    if count == 0:
        raise FileError("the sheet has a header and no rows", remedy="Give a table with at least one row.", file=source)
    titles = ColumnBuilder()
    titles.extend(["", *header])  # as text, whatever they are
    named = [str(title) for title in titles.finish().to_pylist()[1:]]
    kept = [place for place, title in enumerate(named) if title or not columns[place].empty]
    names = column_names(named, source)
    notes = []
    for place in kept:
        odd = columns[place].mixed()
        if odd is not None:
            notes.append(
                f"{source}: column {names[place]!r} mixes types, so it is read as text: row {odd[0] + 1} is {odd[1]!r}; "
                "declare its kind to be sure"
            )
    return pa.table({names[place]: columns[place].finish() for place in kept}), tuple(notes)


def _refuse_large_content(path: Path, file: str) -> None:
    """Raise an error if the parts of a workbook are too large."""
    with zipfile.ZipFile(path) as book:
        refuse_expansion(sum(part.file_size for part in book.infolist()), path.stat().st_size, file)


def _check_cells(path: Path, sheet: str, file: str) -> None:
    """Raise an error for a cell that is far from all others, or with an error value or an uncalculated formula.

    Memory would be needed for every place up to the last cell. Errors and uncalculated formulas would be read as empty.
    """
    columns, rows, cells = set[bytes](), 0, 0
    with zipfile.ZipFile(path) as book, book.open(_part(book, sheet)) as xml:
        for block in _rows(xml):
            references = _REFERENCE.findall(block)
            columns.update({letters for letters, _ in references})
            cells += sum(letters != b"" for letters, _ in references)
            rows = max(rows, max((int(digits) for digits in {digits for _, digits in references}), default=0))
            if found := _ERROR.search(block):
                raise _unknown_value(
                    "the cell contains an error such as #N/A", "Fix the formula, or clear the cell.", found[1], sheet, file
                )
            for found in _UNCALCULATED.finditer(block):
                if not _TEXT.search(found[1]):  # the result of a formula may be an empty text
                    raise _unknown_value(
                        "the cell contains a formula that was never calculated",
                        "Open the workbook in a spreadsheet program and save it.",
                        found[1], sheet, file,
                    )  # fmt: skip
    refuse_extent(rows, max(map(_column_number, columns), default=0), cells, f"{file}, sheet {sheet!r}")


def _column_number(letters: bytes) -> int:
    """Return the number of a column: 1 for A, 27 for AA; 0 without letters."""
    return reduce(lambda number, letter: 26 * number + letter - 64, letters.upper(), 0)


def _unknown_value(problem: str, remedy: str, head: bytes, sheet: str, file: str) -> CellError:
    place = _PLACE.search(head)
    at = f"{sheet}!{place[1].decode()}" if place else sheet
    return CellError(problem, remedy=remedy, file=f"{file}, cell {at}", value=at)


def _rows(xml: IO[bytes]) -> Iterator[bytes]:
    """Yield the XML of a sheet in blocks that end at the end of a row."""
    rest = b""
    while block := xml.read(1 << 20):
        rest += block
        end = max(0, rest.rfind(b"row>"))
        yield rest[:end]
        rest = rest[end:]
    yield rest


def _part(book: zipfile.ZipFile, sheet: str) -> str:
    """Return the file inside the workbook that contains a sheet."""
    relations = {
        relation.get("Id"): relation.get("Target", "")
        for relation in ElementTree.fromstring(book.read("xl/_rels/workbook.xml.rels"))
    }
    for element in ElementTree.fromstring(book.read("xl/workbook.xml")).iter():
        if element.tag.endswith("}sheet") and element.get("name") == sheet:
            identity = next(value for key, value in element.attrib.items() if key.endswith("}id"))
            target = relations[identity]
            return target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join("xl", target))
    raise KeyError(sheet)

"""How large what is read may become: a small file must not fill the memory, by mistake or on purpose.

Limits are far above real tables. An error says what to do if a table really is so large.
"""

from __future__ import annotations

import os

from sfumato.errors import FileError, ParameterError

_SMALL = 1 << 28
"""Content of up to this many bytes (256 MiB) is read, however well it is compressed."""

_RATIO = 100
"""Beyond that, content may be this many times as large as the file. CSV and workbooks compress to a fifth to a fiftieth."""

_SPARSE_CELLS = 10_000_000
"""A sheet whose last cell is at most this many cells from its first is read, however empty it is."""

_SPARSE_RATIO = 20
"""Beyond that, it may extend over this many places for each cell."""

_COLUMNS = 20_000
"""The most columns of a table, unless SFUMATO_COLUMNS says otherwise."""


def refuse_expansion(content: int, compressed: int, file: str) -> None:
    """Raise an error if a compressed file has too large a content.

    >>> refuse_expansion(10**9, 10**8, "people.csv.gz")
    >>> refuse_expansion(10**9, 10**6, "people.csv.gz")
    Traceback (most recent call last):
    ...
    sfumato.errors.FileError: people.csv.gz: the content is more than 256 MiB and more than 100 times as large as the file. \
If it is meant to be so large, decompress it first, or save it as CSV or Parquet.
    """
    if content > max(_SMALL, _RATIO * compressed):
        raise FileError(
            f"the content is more than {_SMALL >> 20} MiB and more than {_RATIO} times as large as the file",
            remedy="If it is meant to be so large, decompress it first, or save it as CSV or Parquet.",
            file=file,
        )


def refuse_extent(rows: int, columns: int, cells: int, file: str) -> None:
    """Raise an error if a sheet extends far beyond its cells: memory is needed for every place, also an empty one.

    >>> refuse_extent(1_048_576, 16_384, 2, "people.xlsx, sheet 'people'")
    Traceback (most recent call last):
    ...
    sfumato.errors.FileError: people.xlsx, sheet 'people': the sheet extends over 1,048,576 rows and 16,384 columns, and \
has only 2 cells. Delete the cells far from the table, or save the table as CSV.
    """
    if rows * columns > max(_SPARSE_CELLS, _SPARSE_RATIO * cells):
        raise FileError(
            f"the sheet extends over {rows:,} rows and {columns:,} columns, and has only {cells:,} cells",
            remedy="Delete the cells far from the table, or save the table as CSV.",
            file=file,
        )


def refuse_columns(count: int, file: str | None) -> None:
    """Raise an error if a table has too many columns.

    >>> refuse_columns(100_000, "people.csv")
    Traceback (most recent call last):
    ...
    sfumato.errors.FileError: people.csv: the table has 100,000 columns, and at most 20,000 are read. Select columns, check \
the delimiter, or set SFUMATO_COLUMNS to a larger number.
    """
    text = os.environ.get("SFUMATO_COLUMNS", str(_COLUMNS))
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text)):
        raise ParameterError(
            f"invalid number {text!r} in the environment variable SFUMATO_COLUMNS",
            remedy="Write a whole number from 1, or unset it.",
            key="SFUMATO_COLUMNS",
            value=text,
        )
    if count > int(text):
        raise FileError(
            f"the table has {count:,} columns, and at most {int(text):,} are read",
            remedy="Select columns, check the delimiter, or set SFUMATO_COLUMNS to a larger number.",
            file=file,
        )

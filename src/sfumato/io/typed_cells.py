"""Build an Arrow column from cells that are Python objects, each of its own type, without loss."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

_WHOLE = 2**53
"""Every whole number up to this is exactly a float."""

_MOST_DIGITS = 76
"""The digits of Arrow's widest decimal."""


class ColumnBuilder:
    """A column that grows by rows: it stores each distinct cell once, and one integer per row.

    >>> column = ColumnBuilder()
    >>> column.extend([5.0, None, 7.0])
    >>> column.finish().to_pylist()
    [5, None, 7]
    """

    def __init__(self) -> None:
        self._cells: list[Any] = []
        self._numbers: dict[type, _CellNumbers] = {}
        self._codes = array("i")

    def extend(self, cells: Sequence[Any]) -> None:
        """Add the cells of further rows."""
        kinds = set(map(type, cells)) - {type(None)}
        if any(kind.__hash__ is None for kind in kinds):  # lists and the like
            self.extend([_text(cell) if type(cell).__hash__ is None else cell for cell in cells])
            return
        # one mapping per type, because 1 == 1.0 == True in Python
        numbers = {kind: self._numbers.setdefault(kind, _CellNumbers(self._cells)) for kind in kinds}
        if len(kinds) == 1:
            (number,) = numbers.values()
            self._codes.extend([-1 if cell is None else number[cell] for cell in cells])
        else:
            self._codes.extend([-1 if cell is None else numbers[type(cell)][cell] for cell in cells])

    @property
    def empty(self) -> bool:
        """Whether no row has a cell."""
        return not self._cells

    def mixed(self) -> tuple[int, str] | None:
        """Return the first row (from 0) whose cell does not fit the first cell, and its text; None if all fit."""
        cells = self._cells
        if not cells or _column(cells) is not None:
            return None
        odd = next(number for number, cell in enumerate(cells) if _family(cell) != _family(cells[0]))
        return int(np.argmax(np.frombuffer(self._codes, np.int32) == odd)), _text(cells[odd])

    def finish(self) -> pa.Array:
        """Return the column: of one type if its cells have one, else as text; repeated texts are dictionary-encoded."""
        distinct = _column(self._cells) if self._cells else pa.nulls(0)
        if distinct is None:
            distinct = pa.array(map(_text, self._cells), pa.string())
        codes = np.frombuffer(self._codes, np.int32)
        rows = pa.array(codes, mask=codes < 0)
        if pa.types.is_string(distinct.type) and 2 * len(distinct) <= len(rows):
            return pa.DictionaryArray.from_arrays(rows, distinct)
        return distinct.take(rows)


class _CellNumbers(dict[Any, int]):
    """The number of each distinct cell; a new cell gets the next number and is appended to the list."""

    def __init__(self, cells: list[Any]) -> None:
        super().__init__()
        self._cells = cells

    def __missing__(self, cell: Any) -> int:
        number = self[cell] = len(self._cells)
        self._cells.append(cell)
        return number


def _family(cell: Any) -> str:
    """Return the family of a cell; cells of one family fit into one column."""
    for kinds, name in (
        (bool, "truth"), ((int, float, Decimal), "number"), (date, "date"), (time, "time"), (bytes, "bytes"),
    ):  # fmt: skip
        if isinstance(cell, kinds):
            return name
    return "text"


def _column(cells: list[Any]) -> pa.Array | None:
    """Return distinct cells as an Arrow array; None if they are of several families."""
    families = {_family(cell) for cell in cells}
    if len(families) > 1:
        return None
    family = families.pop()
    if family == "number":
        return _numbers(cells)
    if family == "date":
        return _dates(cells)
    if family == "text":
        return pa.array(map(_text, cells), pa.string())
    return pa.array(cells, {"truth": pa.bool_(), "time": pa.time64("us"), "bytes": pa.binary()}[family])


def _numbers(cells: list[Any]) -> pa.Array | None:
    floats = [cell for cell in cells if isinstance(cell, float)]
    if not all(math.isfinite(cell) for cell in floats):
        return pa.array([float(cell) for cell in cells], pa.float64())
    if len(floats) == len(cells) and not all(cell.is_integer() and abs(cell) < _WHOLE for cell in floats):
        return pa.array(cells, pa.float64())
    exact = [Decimal(repr(cell)) if isinstance(cell, float) else Decimal(cell) for cell in cells]
    if all(cell == cell.to_integral_value() and abs(cell) < 2**63 for cell in exact):
        return pa.array([int(cell) for cell in exact], pa.int64())
    return decimals([f"{cell:f}" for cell in exact])


def decimals(texts: Iterable[str | None]) -> pa.Array | None:
    """Return numbers that are written without an exponent as Arrow decimals, without loss; None if they are too long.

    >>> decimals(["1.50", "-12", None]).type
    Decimal128Type(decimal128(4, 2))
    """
    strings = pa.array(texts, pa.string())
    whole = places = 0
    for text in strings.drop_null().to_pylist():
        before, _, after = text.removeprefix("-").partition(".")
        whole, places = max(whole, len(before)), max(places, len(after))
    digits = max(1, whole + places)
    if digits > _MOST_DIGITS:
        return None
    return strings.cast(pa.decimal128(digits, places) if digits <= 38 else pa.decimal256(digits, places))


def _dates(cells: list[Any]) -> pa.Array | None:
    moments = [cell for cell in cells if isinstance(cell, datetime)]
    if all(cell.tzinfo is None and cell.time() == time() for cell in moments):
        return pa.array([cell.date() if isinstance(cell, datetime) else cell for cell in cells], pa.date32())
    zoned = {cell.tzinfo is not None for cell in moments}
    if len(zoned) > 1 or (zoned == {True} and len(moments) < len(cells)):
        return None
    if zoned == {True}:
        return pa.array([cell.astimezone(UTC) for cell in cells], pa.timestamp("us", "UTC"))
    return pa.array(
        [cell if isinstance(cell, datetime) else datetime.combine(cell, time()) for cell in cells], pa.timestamp("us")
    )


def _text(cell: Any) -> str:
    """Return a cell as text."""
    return next((write(cell) for kinds, write in _WRITERS if isinstance(cell, kinds)), None) or str(cell)


def _moment(cell: datetime) -> str:
    return cell.date().isoformat() if cell.tzinfo is None and cell.time() == time() else cell.isoformat(" ")


def _duration(cell: timedelta) -> str:
    seconds = cell // timedelta(seconds=1)
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


_WRITERS: tuple[tuple[Any, Callable[[Any], str]], ...] = (
    (bool, lambda cell: "true" if cell else "false"),
    (float, lambda cell: repr(cell + 0.0).removesuffix(".0")),
    (datetime, _moment),
    ((date, time), lambda cell: str(cell.isoformat())),
    (timedelta, _duration),
    (bytes, bytes.hex),
    ((list, dict), lambda cell: json.dumps(cell, ensure_ascii=False, default=str)),
)
"""Writers of cells that are neither text nor a plain number. A datetime is a date too, so it comes first."""

"""The microdata, encoded once: every column as integer codes over its dictionary of distinct values."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.hierarchy import Hierarchy
from sfumato.data.schema import Kind, Schema
from sfumato.errors import CellError, ColumnError, FileError
from sfumato.exact import as_fraction, nearest_float, written
from sfumato.exact.numbers import Numbers, packed, parse_decimal

MISSING = "(missing)"
"""How a missing value is shown."""

_PLAIN_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?", re.ASCII)

_WHOLE_NUMBER = re.compile(r"-?\d{1,18}", re.ASCII)

_MARKS = re.compile(r'[;,{}\[\]"]')
"""What stands around or between the members of a published cell."""


@dataclass(frozen=True, eq=False)
class Column:
    """One encoded column: `values[codes[row]]` is the row's value.

    The values stand in the order of their kind: numbers ascending, an ordinal's as declared, all others by text. If
    cells are missing, one more code, the last, stands for them.
    """

    name: str
    kind: Kind
    codes: NDArray[np.int32]
    labels: Callable[[int], str]
    size: int
    """The number of distinct values, the missing one not counted."""
    has_missing: bool
    numbers: Numbers | None = None
    """The values of a numeric column."""
    texts: Sequence[str] = ()
    """The values of a categorical, ordinal or text column."""
    sets: Sequence[frozenset[str]] = ()
    """The values of a set-valued column."""
    hierarchy: Hierarchy | None = None
    note: str | None = None
    """What a reader should know about how the column was understood."""

    @property
    def domain(self) -> int:
        """The number of codes, the missing one included."""
        return self.size + self.has_missing

    def label(self, code: int) -> str:
        """A value as it is shown."""
        return MISSING if code == self.size else self.labels(code)

    def value(self, code: int) -> Any:
        """A value as Python sees it: a number (a Fraction where a float would round), a text, a frozenset, or None."""
        if code == self.size:
            return None
        if self.numbers is not None:
            number = self.numbers[code]
            if number.denominator == 1:
                return int(number)
            nearest = nearest_float(number)
            return nearest if as_fraction(nearest) == number else number
        return self.sets[code] if self.sets else self.texts[code]

    @cached_property
    def paths(self) -> NDArray[np.int32] | None:
        """For each code and level the hierarchy's node; a missing value has nodes of its own below the root."""
        if self.hierarchy is None:
            return None
        labels = [self.labels(code) for code in range(self.size)]
        if self.numbers is not None:  # 1.50 is the leaf of 1.5
            leaves = {leaf: parse_decimal(leaf) for leaf in self.hierarchy.leaves}
            same = {written(Fraction(number)): leaf for leaf, number in leaves.items() if number is not None}
            labels = [same.get(label, label) for label in labels]
        paths = self.hierarchy.over(labels, self.name)
        if self.has_missing:
            own = [len(nodes) for nodes in self.hierarchy.labels[:-1]] + [0]
            paths = np.vstack([paths, np.array([own], np.int32)])
        return paths


@dataclass(frozen=True, eq=False)
class Table:
    """Microdata with its schema; each column is encoded when it is first needed, and once.

    >>> table = Table(pa.table({"age": [30, 30, 41]}), Schema(quasi_identifiers=["age"]))
    >>> table.rows, table.column("age").codes.tolist(), table.column("age").label(1)
    (3, [0, 0, 1], '41')
    """

    data: pa.Table
    schema: Schema
    source: str | None = None
    """The file that the data came from, to name it in errors."""
    untyped: bool = False
    """Whether all cells are text because the file has no types (CSV); then kinds may be inferred from the text."""
    notes: tuple[str, ...] = ()
    """What a reader should know about how the data was read."""
    reading: Mapping[str, str] = field(default_factory=dict)
    """How the file is read where it is not as usual, as declared or found out: `delimiter`, `encoding`, `sheet`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_columns", {})
        if self.data.num_rows == 0:
            raise FileError("the table has no rows", remedy="Give a table with at least one row.", file=self.source)
        for name in self.schema.named_columns():
            if name not in self.data.column_names:
                raise unknown_column(name, self.data.column_names, self.source)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.data.num_rows)

    def column(self, name: str) -> Column:
        """Return a column, encoded."""
        columns: dict[str, Column] = self._columns  # type: ignore[attr-defined]
        if name not in columns:
            if name not in self.data.column_names:
                raise unknown_column(name, self.data.column_names, self.source)
            columns[name] = _Encoder(self, name).encode()
        return columns[name]


def unknown_column(name: str, known: Sequence[str], source: str | None) -> ColumnError:
    """The error for a column that the data does not have."""
    close = difflib.get_close_matches(name.strip(), known, n=1, cutoff=0.6)
    hint = f"Did you mean {close[0]!r}?" if close else f"The columns are: {', '.join(map(repr, known))}."
    if len(known) == 1 and name in re.split(r"[,;|\t]", known[0]):
        hint = f"The header is read as one column, {known[0][:60]!r}; declare data.delimiter."
    return ColumnError("there is no such column", remedy=hint, file=source, column=name)


class _Encoder:
    """Turns one column of the data into codes."""

    def __init__(self, table: Table, name: str) -> None:
        self.table = table
        self.schema = table.schema
        self.name = name
        self.declared = self.schema.kinds.get(name)

    def encode(self) -> Column:
        """Encode: distinct cells first, then each distinct cell once, then the codes of all rows."""
        data = self.table.data.column(self.name)
        try:
            indices, cells = _distinct(data)
        except (pa.ArrowException, OverflowError, TypeError) as error:
            raise ColumnError(
                f"columns of the type {data.type} cannot be read",
                remedy="Convert it to text, numbers or lists.",
                file=self.table.source,
                column=self.name,
            ) from error
        kind = Kind(self.declared) if self.declared is not None else self._inferred(cells)
        missing = self._missing(cells, kind)
        self._refuse(indices, missing)
        present = np.flatnonzero(~missing)
        encoder = {
            Kind.NUMERIC: self._numeric,
            Kind.CATEGORICAL: self._categorical,
            Kind.TEXT: self._categorical,
            Kind.ORDINAL: self._ordinal,
            Kind.SET: self._set,
        }[kind]
        order, kept = encoder([cells[i] for i in present], present, indices)
        mapping = np.full(len(cells), kept["size"], np.int32)
        mapping[present] = order
        guessed = self.table.untyped and self.declared is None and kind is Kind.CATEGORICAL
        column = Column(
            name=self.name,
            kind=kind,
            codes=mapping[indices],
            has_missing=bool(missing.any()),
            note=self._note(cells, indices) if guessed else None,
            **kept,
        )
        declared = self.schema.hierarchies.get(self.name)
        if declared is not None:
            column = replace(column, hierarchy=_hierarchy(declared, column))
            _ = column.paths  # leaves that the hierarchy misses are an error now, not when first used
        return column

    def _note(self, cells: Sequence[Any], indices: NDArray[np.int64]) -> str | None:
        """Say so if a text column that was taken as categories is mostly numbers: one odd cell may have decided that.

        Codes of one length, such as 01234, are meant as they stand.
        """
        texts = self.schema.missing.texts(None)
        present = [i for i, cell in enumerate(cells) if cell is not None and cell not in texts]
        twins = _same_number([cells[i] for i in present])
        if twins is not None:
            return (
                f"column {self.name!r} is taken as categorical, though its values look like numbers: {twins[0]!r} and "
                f"{twins[1]!r} would be one; declare its kind to be sure"
            )
        odd = [i for i in present if parse_decimal(cells[i]) is None]
        if not odd and len({len(cells[i]) for i in present}) > 1:
            odd = [i for i in present if not _PLAIN_NUMBER.fullmatch(cells[i])]
        if not odd or 2 * len(odd) >= len(present):
            return None
        return (
            f"column {self.name!r} is taken as categorical, though most of its values are numbers: row "
            f"{int(np.argmax(indices == odd[0])) + 1} is {cells[odd[0]]!r}; declare its kind to be sure"
        )

    def _inferred(self, cells: Sequence[Any]) -> Kind:
        present = [cell for cell in cells if cell is not None]
        if self.table.untyped:
            texts = self.schema.missing.texts(None)
            plain = [cell for cell in present if cell not in texts]
            numbers = plain and all(map(_PLAIN_NUMBER.fullmatch, plain)) and _same_number(plain) is None
            return Kind.NUMERIC if numbers else Kind.CATEGORICAL
        kind = self.table.data.schema.field(self.name).type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            return Kind.NUMERIC
        if pa.types.is_nested(kind):
            return Kind.SET
        return Kind.CATEGORICAL

    def _missing(self, cells: Sequence[Any], kind: Kind) -> NDArray[np.bool_]:
        texts = self.schema.missing.texts(kind)
        return np.array([cell is None or (cell if type(cell) is str else str(cell)) in texts for cell in cells], bool)

    def _refuse(self, indices: NDArray[np.int64], missing: NDArray[np.bool_]) -> None:
        if self.schema.missing.policy != "refuse" or not missing.any():
            return
        rows = np.flatnonzero(missing[indices])
        raise CellError(
            f"the value is missing here and in {len(rows) - 1} other rows, and missing values are refused",
            remedy='Fill them in, drop the rows, or set missing.policy = "value".',
            file=self.table.source,
            column=self.name,
            row=int(rows[0]) + 1,
        )

    def _wrong(self, problem: str, cell: Any, index: int, indices: NDArray[np.int64], remedy: str) -> CellError:
        return CellError(
            problem,
            remedy=remedy,
            file=self.table.source,
            column=self.name,
            row=int(np.argmax(indices == index)) + 1,
            value=cell,
        )

    # one method per kind: codes of the distinct cells, and what the column keeps of its values

    def _numeric(
        self, cells: list[Any], present: NDArray[np.int64], indices: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], dict[str, Any]]:
        types = set(map(type, cells))
        if types == {int}:
            numbers = Numbers(packed(cells), Numbers.of([]).unit)
        elif types == {str} and all(map(_WHOLE_NUMBER.fullmatch, cells)):
            numbers = Numbers(packed([*map(int, cells)]), Numbers.of([]).unit)
        else:
            decimals: list[Decimal] = []
            for index, cell in zip(present, cells, strict=True):
                decimal = parse_decimal(cell)
                if decimal is None:
                    remedy = 'Mend the cell, list it under missing.values, or declare kind = "categorical".'
                    raise self._wrong(f"{cell!r} is not a number", cell, index, indices, remedy)
                decimals.append(decimal)
            numbers = Numbers.of(decimals)
        distinct, codes = np.unique(numbers.integers, return_inverse=True)
        kept = Numbers(distinct, numbers.unit)
        return codes.astype(np.int32), {"size": len(kept), "numbers": kept, "labels": kept.label}

    def _categorical(
        self, cells: list[Any], present: NDArray[np.int64], indices: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], dict[str, Any]]:
        del present, indices
        texts = [_text(cell) for cell in cells]
        distinct = sorted(set(texts))
        position = {text: code for code, text in enumerate(distinct)}
        codes = np.array([position[text] for text in texts], np.int32)
        return codes, {"size": len(distinct), "texts": distinct, "labels": distinct.__getitem__}

    def _ordinal(
        self, cells: list[Any], present: NDArray[np.int64], indices: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], dict[str, Any]]:
        order = list(self.schema.orders[self.name])
        position = {text: code for code, text in enumerate(order)}
        codes = np.zeros(len(cells), np.int32)
        for i, (index, cell) in enumerate(zip(present, cells, strict=True)):
            code = position.get(_text(cell))
            if code is None:
                listed = ", ".join(map(repr, order))
                problem = f"{cell!r} is not in the column's order ({listed})"
                raise self._wrong(problem, cell, index, indices, "Add it to the order, or list it under missing.values.")
            codes[i] = code
        return codes, {"size": len(order), "texts": order, "labels": order.__getitem__}

    def _set(
        self, cells: list[Any], present: NDArray[np.int64], indices: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], dict[str, Any]]:
        separator = self.schema.separators.get(self.name, ";")
        sets = []
        for index, cell in zip(present, cells, strict=True):
            if isinstance(cell, str):
                items = [item.strip() for item in cell.split(separator)]
            elif isinstance(cell, tuple):
                items = [_text(item) for item in cell]
            else:
                remedy = f"Give a list, or items with {separator!r} between them."
                raise self._wrong(f"{cell!r} is not a set", cell, index, indices, remedy)
            sets.append(frozenset(item for item in items if item))
        distinct = sorted(set(sets), key=sorted)
        position = {members: code for code, members in enumerate(distinct)}
        codes = np.array([position[members] for members in sets], np.int32)
        labels = ["{" + "; ".join(map(as_member, sorted(members))) + "}" for members in distinct]
        return codes, {"size": len(distinct), "sets": distinct, "labels": labels.__getitem__}


def as_member(text: str) -> str:
    """A text as a member of a set `{a; b}` or an end of an interval: in quotes where it could be misread without.

    >>> as_member("a"), as_member("a; b"), as_member('the "old" one'), as_member("*")
    ('a', '"a; b"', '"the ""old"" one"', '"*"')
    """
    return in_quotes(text) if text in ("", "*") or text != text.strip() or _MARKS.search(text) else text


def in_quotes(text: str) -> str:
    """A text in double quotes, those within it doubled.

    >>> in_quotes("*")
    '"*"'
    """
    return '"' + text.replace('"', '""') + '"'


def _same_number(cells: Sequence[str]) -> tuple[str, str] | None:
    """Two plain numbers that are written differently and equal, such as the codes 250.1 and 250.10."""
    seen: dict[str, str] = {}
    for cell in cells:
        if "." in cell and _PLAIN_NUMBER.fullmatch(cell):
            other = seen.setdefault(cell.rstrip("0").rstrip("."), cell)
            if other != cell:
                return other, cell
    return None


def _text(cell: Any) -> str:
    return cell if isinstance(cell, str) else str(cell)


def _hierarchy(declared: Any, column: Column) -> Hierarchy:
    if isinstance(declared, Hierarchy):
        return declared
    if isinstance(declared, str | Path):
        return Hierarchy.from_file(declared)
    if not hasattr(declared, "build"):
        raise ColumnError(
            f"{declared!r} is no hierarchy",
            remedy="Give a Hierarchy, Intervals, Flat, or the path of a file.",
            column=column.name,
        )
    labels = [column.labels(code) for code in range(column.size)]
    return declared.build(labels, column.name)  # type: ignore[no-any-return]


def _distinct(array: pa.ChunkedArray) -> tuple[NDArray[np.int64], list[Any]]:
    """Return for each row the index of its cell among the distinct cells, and those as Python values (null: None)."""
    kind = array.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        keys = [
            None if cell is None else tuple(sorted(str(item) for item in cell if item is not None))
            for cell in array.to_pylist()
        ]
        position: dict[Any, int] = {}
        codes = [position.setdefault(key, len(position)) for key in keys]
        return np.array(codes, np.int64), list(position)
    encoded = array if pa.types.is_dictionary(kind) else pa.chunked_array([array.combine_chunks().dictionary_encode()])
    encoded = encoded.unify_dictionaries().combine_chunks()
    cells = _cells(encoded.dictionary)
    indices = encoded.indices
    if indices.null_count:
        indices = indices.fill_null(len(cells))
        cells.append(None)
    rows = indices.to_numpy(zero_copy_only=False).astype(np.int64)
    if not pa.types.is_dictionary(kind):
        return rows, cells
    # a dictionary that came with the data may hold cells that no row has
    occurs = np.bincount(rows, minlength=len(cells)) > 0
    if occurs.all():
        return rows, cells
    return (np.cumsum(occurs) - 1)[rows], [cells[i] for i in np.flatnonzero(occurs)]


def _cells(values: pa.Array) -> list[Any]:
    """Distinct cells as Python values; a float as the decimal it stands for (17.0 as 17), not-a-number as missing."""
    if pa.types.is_floating(values.type):
        floats = values.to_numpy(zero_copy_only=False)
        # the shortest decimal depends on the width: 0.1 in 32 bits is 0.1, not 0.10000000149011612
        texts = floats.astype(str) if floats.dtype != np.float64 else map(float.__repr__, floats.tolist())
        return [None if text == "nan" else str(text).removesuffix(".0") for text in texts]
    if pa.types.is_boolean(values.type) or pa.types.is_temporal(values.type):
        values = values.cast(pa.string())
    return values.to_pylist()  # type: ignore[no-any-return]

"""Encode one column of the data: distinct cells first, then each distinct cell once, then the codes of all rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.column import Column, as_member
from sfumato.data.hierarchy import Hierarchy
from sfumato.data.schema import Kind, Schema
from sfumato.data.text_values import same_but_for_case, text_value
from sfumato.errors import CellError, ColumnError
from sfumato.exact.numbers import Numbers, packed, parse_decimal

_PLAIN_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?", re.ASCII)

_COMMA_NUMBER = re.compile(r"-?(0|[1-9]\d*)(,\d+)?", re.ASCII)
"""A plain number that is written with a decimal comma."""

_THOUSANDS = re.compile(r"-?[1-9]\d{0,2}(,\d{3})+", re.ASCII)
"""A number whose commas may separate thousands."""

_FAR = 10_000
"""A number this many times farther away than the range of most others is rather a code for missing."""

_MANY_ROWS = 100
"""In a column with fewer numbers nothing is said about extreme ones."""

_WHOLE_NUMBER = re.compile(r"-?\d{1,18}", re.ASCII)


def encode_column(data: pa.ChunkedArray, name: str, schema: Schema, *, untyped: bool, source: str | None) -> Column:
    """Encode a column. Cost: hashing every cell once, and parsing each distinct cell once.

    `untyped`: all cells are text, and the kind may be inferred from them. `source`: the file, for error messages.
    """
    return _Encoder(data, name, schema, untyped, source).encode()


def build_hierarchy(declared: Any, column: Column) -> Hierarchy:
    """Return the hierarchy that a schema declares for a column: itself, read from a file, or built from the values."""
    if isinstance(declared, Hierarchy):
        return declared
    if isinstance(declared, str | Path):
        return Hierarchy.from_file(declared)
    if not hasattr(declared, "build"):
        raise ColumnError(
            f"{declared!r} is not a hierarchy",
            remedy="Give a Hierarchy, Intervals, Flat, or the path of a file.",
            column=column.name,
        )
    labels = [column.labels(code) for code in range(column.size)]
    return declared.build(labels, column.name)  # type: ignore[no-any-return]


class _Encoder:
    """Turns one column of the data into codes."""

    def __init__(self, data: pa.ChunkedArray, name: str, schema: Schema, untyped: bool, source: str | None) -> None:
        self.data = data
        self.name = name
        self.schema = schema
        self.untyped = untyped
        self.source = source
        self.declared = schema.kinds.get(name)
        self.decimal_comma = schema.decimals.get(name) == ","

    def encode(self) -> Column:
        try:
            # indices[row] is the position of the row's cell in `cells`, which contains each distinct cell once
            indices, cells = _distinct(self.data)
        except (pa.ArrowException, OverflowError, TypeError) as error:
            raise ColumnError(
                f"columns of the type {self.data.type} cannot be read",
                remedy="Convert it to text, numbers or lists.",
                file=self.source,
                column=self.name,
            ) from error
        if self.untyped and self.name not in self.schema.decimals and self.declared in (None, Kind.NUMERIC):
            self.decimal_comma = _has_decimal_commas(self._plain(cells))
        kind = Kind(self.declared) if self.declared is not None else self._inferred_kind(cells)
        self.decimal_comma = self.decimal_comma and kind is Kind.NUMERIC
        missing = self._missing(cells, kind)
        self._refuse_missing(indices, missing)
        present = np.flatnonzero(~missing)
        encoder = {
            Kind.NUMERIC: self._numeric,
            Kind.CATEGORICAL: self._categorical,
            Kind.TEXT: self._categorical,
            Kind.ORDINAL: self._ordinal,
            Kind.SET: self._set,
        }[kind]
        code_of_cell, values = encoder([cells[i] for i in present], present, indices)
        # missing cells keep the code after the last value
        mapping = np.full(len(cells), values["size"], np.int32)
        mapping[present] = code_of_cell
        codes = mapping[indices]
        column = Column(
            name=self.name,
            kind=kind,
            codes=codes,
            has_missing=bool(missing.any()),
            decimal_comma=self.decimal_comma,
            note=self._note(cells, indices, kind, codes, values),
            **values,
        )
        declared = self.schema.hierarchies.get(self.name)
        if declared is not None:
            column = replace(column, hierarchy=build_hierarchy(declared, column))
            _ = column.paths  # values that the hierarchy lacks are an error now, not at first use
        return column

    def _note(
        self, cells: Sequence[Any], indices: NDArray[np.int64], kind: Kind, codes: NDArray[np.int32], values: dict[str, Any]
    ) -> str | None:
        """Return a remark if the reading of the column was a guess that may be wrong, or if values may be the same."""
        notes = []
        if self.untyped and self.declared is None and kind is Kind.CATEGORICAL:
            notes.append(self._note_on_numbers(cells, indices))
        if self.decimal_comma and self.name not in self.schema.decimals:
            notes.append(f"column {self.name!r} is read with decimal commas: 1,5 is 1.5; declare its decimal to be sure")
        if kind is Kind.NUMERIC and values["size"] > 1:
            notes.append(self._note_on_extremes(values["numbers"], codes))
        twins = same_but_for_case(values["texts"]) if kind is Kind.CATEGORICAL else None
        if twins is not None:
            notes.append(
                f"values of column {self.name!r} differ only in letter case and count as different ones: {twins[0]!r} and "
                f"{twins[1]!r}; make them equal if they mean the same"
            )
        return "; ".join(note for note in notes if note is not None) or None

    def _note_on_numbers(self, cells: Sequence[Any], indices: NDArray[np.int64]) -> str | None:
        """Return a remark if a text column inferred as categorical is mostly numbers: one odd cell may have decided that.

        Codes of one length, such as 01234, are taken to be codes.
        """
        plain = self._plain(cells)
        twins = _same_number([cell.replace(",", ".") for cell in plain] if _has_decimal_commas(plain) else plain)
        if twins is not None:
            return (
                f"column {self.name!r} is taken as categorical, though its values look like numbers: {twins[0]!r} and "
                f"{twins[1]!r} would be one; declare its kind to be sure"
            )
        commas = [cell for cell in plain if _THOUSANDS.fullmatch(cell)]
        if commas and all(_THOUSANDS.fullmatch(cell) or _PLAIN_NUMBER.fullmatch(cell) for cell in plain):
            return (
                f"column {self.name!r} is taken as categorical, though its values look like numbers: the comma in "
                f'{commas[0]!r} may be a decimal mark or separate thousands; declare decimal = ",", or remove the commas'
            )
        texts = self.schema.missing.texts(None)
        present = [i for i, cell in enumerate(cells) if cell is not None and cell.strip() not in texts]
        odd = [i for i in present if parse_decimal(cells[i]) is None]
        if not odd and len({len(cells[i]) for i in present}) > 1:
            odd = [i for i in present if not _PLAIN_NUMBER.fullmatch(cells[i].strip())]
        if not odd or 2 * len(odd) >= len(present):
            return None
        return (
            f"column {self.name!r} is taken as categorical, though most of its values are numbers: row "
            f"{int(np.argmax(indices == odd[0])) + 1} is {cells[odd[0]]!r}; declare its kind to be sure"
        )

    def _note_on_extremes(self, numbers: Numbers, codes: NDArray[np.int32]) -> str | None:
        """Return a remark if one extreme number is so far away that it is rather a code for missing, such as 10^18.

        Intervals are measured by the range of the column: such a number makes all of them look narrow.
        """
        present = np.sort(codes[codes < len(numbers)])
        if len(present) < _MANY_ROWS:
            return None
        most = [int(numbers.integers[present[int(share * (len(present) - 1))]]) for share in (0.01, 0.99)]
        reach = _FAR * max(1, most[1] - most[0])
        for code in (0, len(numbers) - 1):
            if not most[0] - reach <= int(numbers.integers[code]) <= most[1] + reach:
                return (
                    f"the value {numbers.label(code)} of column {self.name!r} is very far from the others; if it means "
                    "missing, list it under missing.values"
                )
        return None

    def _plain(self, cells: Sequence[Any]) -> list[str]:
        """Return the distinct texts of an untyped column that are not missing, without surrounding blanks."""
        texts = self.schema.missing.texts(None)
        stripped = dict.fromkeys(str(cell).strip() for cell in cells if cell is not None)
        return [text for text in stripped if text not in texts]

    def _inferred_kind(self, cells: Sequence[Any]) -> Kind:
        if self.untyped:
            plain = self._plain(cells)
            if self.decimal_comma:
                plain = [cell.replace(",", ".") for cell in plain]
            numbers = plain and all(map(_PLAIN_NUMBER.fullmatch, plain)) and _same_number(plain) is None
            return Kind.NUMERIC if numbers else Kind.CATEGORICAL
        kind = self.data.type
        if pa.types.is_dictionary(kind):
            if self._own_order() is not None:
                return Kind.ORDINAL
            kind = kind.value_type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            return Kind.NUMERIC
        if pa.types.is_nested(kind):
            return Kind.SET
        return Kind.CATEGORICAL

    def _own_order(self) -> list[str] | None:
        """Return the values from lowest to highest if the column is a dictionary of texts with an order; else None."""
        kind = self.data.type
        if not pa.types.is_dictionary(kind) or not kind.ordered or not _is_text(kind.value_type):
            return None
        values = self.data.unify_dictionaries().chunk(0).dictionary.to_pylist() if self.data.num_chunks else []
        texts = self.schema.missing.texts(Kind.ORDINAL)
        order = list(dict.fromkeys(text_value(value) for value in values if value is not None))
        return [value for value in order if value not in texts] or None

    def _missing(self, cells: Sequence[Any], kind: Kind) -> NDArray[np.bool_]:
        texts = self.schema.missing.texts(kind)
        written = [cell.strip() if type(cell) is str else str(cell) for cell in cells]
        return np.array([cell is None or text in texts for cell, text in zip(cells, written, strict=True)], bool)

    def _refuse_missing(self, indices: NDArray[np.int64], missing: NDArray[np.bool_]) -> None:
        if self.schema.missing.policy != "refuse" or not missing.any():
            return
        rows = np.flatnonzero(missing[indices])
        raise CellError(
            f"the value is missing here and in {len(rows) - 1} other rows, and missing values are refused",
            remedy='Fill them in, drop the rows, or set missing.policy = "value".',
            file=self.source,
            column=self.name,
            row=int(rows[0]) + 1,
        )

    def _cell_error(self, problem: str, cell: Any, index: int, indices: NDArray[np.int64], remedy: str) -> CellError:
        return CellError(
            problem,
            remedy=remedy,
            file=self.source,
            column=self.name,
            row=int(np.argmax(indices == index)) + 1,  # the first row with this cell
            value=cell,
        )

    # One method per kind. Each takes the distinct cells that are not missing, their positions among all distinct cells,
    # and the position of each row's cell. It returns the code of each cell, and the fields of Column that hold the values.

    def _numeric(
        self, cells: list[Any], present: NDArray[np.int64], indices: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], dict[str, Any]]:
        if self.decimal_comma:
            cells = [cell.replace(",", ".") if isinstance(cell, str) else cell for cell in cells]
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
                    remedy = 'Fix the cell, list it under missing.values, or declare kind = "categorical".'
                    raise self._cell_error(f"{cell!r} is not a number", cell, index, indices, remedy)
                decimals.append(decimal)
            numbers = Numbers.of(decimals)
        # cells that are written differently, such as 1.5 and 1.50, are one value
        distinct, codes = np.unique(numbers.integers, return_inverse=True)
        values = Numbers(distinct, numbers.unit)
        return codes.astype(np.int32), {"size": len(values), "numbers": values, "labels": values.label}

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
        order = list(self.schema.orders.get(self.name) or self._own_order() or ())
        position = {text_value(text): code for code, text in enumerate(order)}
        codes = np.zeros(len(cells), np.int32)
        for i, (index, cell) in enumerate(zip(present, cells, strict=True)):
            code = position.get(_text(cell))
            if code is None:
                listed = ", ".join(map(repr, order))
                problem = f"{cell!r} is not in the column's order ({listed})"
                remedy = "Add it to the order, or list it under missing.values."
                raise self._cell_error(problem, cell, index, indices, remedy)
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
                remedy = f"Give a list, or items separated by {separator!r}."
                raise self._cell_error(f"{cell!r} is not a set", cell, index, indices, remedy)
            sets.append(frozenset(item for item in items if item))
        distinct = sorted(set(sets), key=sorted)
        position = {members: code for code, members in enumerate(distinct)}
        codes = np.array([position[members] for members in sets], np.int32)
        labels = ["{" + "; ".join(map(as_member, sorted(members))) + "}" for members in distinct]
        return codes, {"size": len(distinct), "sets": distinct, "labels": labels.__getitem__}


def _same_number(cells: Sequence[str]) -> tuple[str, str] | None:
    """Return two plain numbers that are equal and written differently, such as the codes 250.1 and 250.10, or 0 and -0."""
    first_spelling: dict[str, str] = {}
    for cell in cells:
        if _PLAIN_NUMBER.fullmatch(cell):
            number = cell.rstrip("0").rstrip(".") if "." in cell else cell
            other = first_spelling.setdefault("0" if number == "-0" else number, cell)
            if other != cell:
                return other, cell
    return None


def _has_decimal_commas(cells: Sequence[str]) -> bool:
    """Whether all cells are plain numbers, some of them with a decimal comma that cannot separate thousands.

    >>> _has_decimal_commas(["1,5", "12"]), _has_decimal_commas(["1,500", "12"]), _has_decimal_commas(["1,5", "1.5"])
    (True, False, False)
    """
    commas = [cell for cell in cells if "," in cell]
    return (
        bool(commas) and all(map(_COMMA_NUMBER.fullmatch, cells)) and not all(_THOUSANDS.fullmatch(cell) for cell in commas)
    )


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _text(cell: Any) -> str:
    return text_value(cell if isinstance(cell, str) else str(cell))


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
    # a dictionary that was part of the data may contain cells that no row has
    occurs = np.bincount(rows, minlength=len(cells)) > 0
    if occurs.all():
        return rows, cells
    return (np.cumsum(occurs) - 1)[rows], [cells[i] for i in np.flatnonzero(occurs)]


def _cells(values: pa.Array) -> list[Any]:
    """Return distinct cells as Python values: a float as the decimal it denotes (17.0 as 17), not-a-number as missing."""
    if pa.types.is_floating(values.type):
        floats = values.to_numpy(zero_copy_only=False)
        # the shortest decimal depends on the width: 0.1 in 32 bits is 0.1, not 0.10000000149011612
        texts = floats.astype(str) if floats.dtype != np.float64 else map(float.__repr__, floats.tolist())
        return [None if text == "nan" else str(text).removesuffix(".0") for text in texts]
    if pa.types.is_boolean(values.type) or pa.types.is_temporal(values.type):
        values = values.cast(pa.string())
    return values.to_pylist()  # type: ignore[no-any-return]

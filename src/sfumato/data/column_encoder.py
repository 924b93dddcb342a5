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
from sfumato.data.date_formats import shapes, timezone_problem
from sfumato.data.date_parsing import DateProblemError, ParsedDates, parse_dates
from sfumato.data.hierarchy import Hierarchy, HierarchyBuilder
from sfumato.data.number_texts import are_plain_numbers, have_decimal_commas, with_points
from sfumato.data.reading_notes import note_on_blanks, note_on_case, note_on_dates, note_on_extremes, note_on_numbers
from sfumato.data.schema import Kind, Schema
from sfumato.data.text_values import text_value
from sfumato.errors import CellError, ColumnError, HierarchyError, SfumatoError
from sfumato.exact.date_numbers import DateNumbers
from sfumato.exact.numbers import Numbers, packed, parse_decimal

_FIRST = 100
"""How many cells must look like dates before all are read as dates."""

_UNREADABLE = (pa.ArrowException, OverflowError, TypeError)
"""What pyarrow raises for a column of a type whose cells cannot be encoded."""

_WHOLE_NUMBER = re.compile(r"-?\d{1,18}", re.ASCII)


def encode_column(data: pa.ChunkedArray, name: str, schema: Schema, *, untyped: bool, source: str | None) -> Column:
    """Encode a column. Cost: hashing every cell once, and parsing each distinct cell once.

    `untyped`: all cells are text, and the kind may be inferred from them. `source`: the file, for error messages.
    """
    return _Encoder(data, name, schema, untyped, source).encode()


def encode_cells(
    cells: pa.Array, counts: NDArray[np.int64], name: str, schema: Schema, *, untyped: bool, source: str | None
) -> Column:
    """Encode distinct cells whose rows are elsewhere. The codes of the result are those of the cells.

    `counts`: the number of rows of each cell. The result is that of `encode_column`, except that the order of the cells may
    decide which of several a remark names, and that errors and remarks name no rows.

    >>> column = encode_cells(pa.array(["9", "30", None]), np.array([1, 5, 2]), "age", Schema(), untyped=True, source=None)
    >>> column.codes.tolist(), column.counts.tolist()
    ([0, 1, 2], [1, 5, 2])
    """
    return _Encoder(pa.chunked_array([cells]), name, schema, untyped, source, counts).encode()


def build_hierarchy(declared: Any, column: Column) -> Hierarchy:
    """Return the hierarchy that a schema declares for a column: itself, read from a file, or built from the values."""
    if isinstance(declared, Hierarchy):
        return declared
    if isinstance(declared, str | Path):
        return Hierarchy.from_file(declared)
    if not hasattr(declared, "build"):
        raise ColumnError(
            f"{declared!r} is not a hierarchy",
            remedy="Give a Hierarchy, a builder such as Intervals or Prefix, or the path of a file.",
            column=column.name,
        )
    labels = [column.labels(code) for code in range(column.size)]
    builder = declared.resolved(column) if isinstance(declared, HierarchyBuilder) else declared
    try:
        return builder.build(labels, column.name)
    except HierarchyError as error:
        row = error.row
        if row is None and column.tally is None and isinstance(error.value, str) and error.value in labels:
            row = int(np.argmax(column.codes == labels.index(error.value))) + 1
        file = error.file or column.source
        raise HierarchyError(
            error.problem, remedy=error.remedy, file=file, key=error.key, column=error.column, row=row, value=error.value
        ) from error


def missing_as_null(data: pa.ChunkedArray, texts: Sequence[str]) -> pa.ChunkedArray:
    """Return a column in which every missing cell is null; `texts`: the cells that mean missing.

    >>> missing_as_null(pa.chunked_array([["a", "?", "", None]]), ("?",)).to_pylist()
    ['a', None, '', None]
    """
    try:
        indices, cells = _distinct(data)
    except _UNREADABLE:  # structs and the like, which no text denotes
        return data
    missing = _are_missing(cells, texts)[indices]
    if not missing.any() or int(missing.sum()) == data.null_count:
        return data
    return data.take(pa.array(np.arange(len(missing)), mask=missing))


def _are_missing(cells: Sequence[Any], texts: Sequence[str]) -> NDArray[np.bool_]:
    """Return which distinct cells are missing."""
    written = [cell.strip() if type(cell) is str else str(cell) for cell in cells]
    return np.array([cell is None or text in texts for cell, text in zip(cells, written, strict=True)], bool)


class _Encoder:
    """Turns one column of the data into codes. `counts`: the rows of each cell, if the data is cells and not rows."""

    def __init__(
        self,
        data: pa.ChunkedArray,
        name: str,
        schema: Schema,
        untyped: bool,
        source: str | None,
        counts: NDArray[np.int64] | None = None,
    ) -> None:
        self.counts = counts
        self.data = data
        self.name = name
        self.schema = schema
        self.untyped = untyped
        self.source = source
        self.declared = schema.kinds.get(name)
        self.decimal_comma = schema.decimals.get(name) == ","
        self.dates: ParsedDates | None = None
        """The dates of the cells, if they were read to infer the kind."""

    def encode(self) -> Column:
        try:
            # indices[row] is the position of the row's cell in `cells`, which contains each distinct cell once
            indices, cells = _distinct(self.data)
        except _UNREADABLE as error:
            raise ColumnError(
                f"columns of the type {self.data.type} cannot be read",
                remedy="Convert it to text, numbers or lists.",
                file=self.source,
                column=self.name,
            ) from error
        if self.untyped and self.name not in self.schema.decimals and self.declared in (None, Kind.NUMERIC):
            self.decimal_comma = have_decimal_commas([str(cells[i]).strip() for i in self._not_missing(cells)])
        kind = Kind(self.declared) if self.declared is not None else self._inferred_kind(cells, indices)
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
            Kind.DATE: self._date,
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
            source=self.source,
            tally=None if self.counts is None else _tally(codes, self.counts, values["size"] + bool(missing.any())),
            **values,
        )
        column = replace(column, note=self._note(cells, indices, column))
        declared = self.schema.hierarchies.get(self.name)
        if declared is not None:
            column = replace(column, hierarchy=build_hierarchy(declared, column))
            _ = column.paths  # values that the hierarchy lacks are an error now, not at first use
        return column

    def _note(self, cells: Sequence[Any], indices: NDArray[np.int64], column: Column) -> str | None:
        """Return a remark if the reading of the column was a guess that may be wrong, or if values may mean the same."""
        notes: list[str | None] = []
        kind = column.kind
        if self.declared is None and kind is Kind.CATEGORICAL:
            present = self._not_missing(cells)
            shown = [cells[i] for i in present]

            def place_of(position: int) -> str:
                row = self._first_row(indices, present[position])
                return "one cell" if row is None else f"row {row}"

            odd = note_on_dates(self.name, shown, place_of)
            notes.append(odd or (note_on_numbers(self.name, shown, place_of) if self.untyped else None))
        if self.decimal_comma and self.name not in self.schema.decimals:
            notes.append(f"column {self.name!r} is read with decimal commas: 1,5 is 1.5; declare its decimal to be sure")
        if column.numbers is not None and kind is Kind.NUMERIC and column.size > 1:
            notes.append(note_on_extremes(self.name, column.numbers, column.counts))
        if kind is Kind.CATEGORICAL:
            # where a column names the groups, the texts of quasi-identifiers decide nothing
            grouped = self.schema.group is not None and self.name in self.schema.quasi_identifiers
            notes.append(None if grouped else note_on_case(self.name, column.texts))
            if self.name in self.schema.sensitive:
                notes.append(note_on_blanks(self.name, [cells[i] for i in self._not_missing(cells)]))
        return "; ".join(note for note in notes if note is not None) or None

    def _not_missing(self, cells: Sequence[Any]) -> list[int]:
        """Return the positions of the distinct cells that are not missing, in a column that is not set-valued."""
        return np.flatnonzero(~self._missing(cells, Kind.CATEGORICAL)).tolist()

    def _inferred_kind(self, cells: Sequence[Any], indices: NDArray[np.int64]) -> Kind:
        if self._own_order() is not None:
            return Kind.ORDINAL
        kind = self.data.type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            return Kind.DATE
        if self.untyped or pa.types.is_string(kind) or pa.types.is_large_string(kind):
            present = self._not_missing(cells)
            texts = [cells[i] for i in present]
            plain = list(dict.fromkeys(text.strip() for text in texts))
            if self.untyped and are_plain_numbers(with_points(plain) if self.decimal_comma else plain):
                return Kind.NUMERIC
            return Kind.DATE if self._are_dates(texts, present, indices) else Kind.CATEGORICAL
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            return Kind.NUMERIC
        return Kind.SET if pa.types.is_nested(kind) else Kind.CATEGORICAL

    def _are_dates(self, texts: list[str], present: Sequence[int], indices: NDArray[np.int64]) -> bool:
        """Return whether all texts are dates; an error if all look like dates and cannot be read as such.

        To publish them as categories would publish a person's exact dates because of one impossible one.
        """
        if not shapes(texts[:_FIRST]):
            return False
        try:
            self.dates = parse_dates(texts, None, None)
        except DateProblemError as problem:
            if not shapes(texts):
                return False
            raise self._date_error(problem, texts, present, indices) from problem
        return True

    def _missing(self, cells: Sequence[Any], kind: Kind) -> NDArray[np.bool_]:
        return _are_missing(cells, self.schema.missing.texts(kind))

    def _own_order(self) -> list[str] | None:
        """Return the values from lowest to highest if the column is a dictionary of texts with an order; else None."""
        kind = self.data.type
        if not pa.types.is_dictionary(kind) or not kind.ordered or not _is_text(kind.value_type):
            return None
        values = self.data.unify_dictionaries().chunk(0).dictionary.to_pylist() if self.data.num_chunks else []
        texts = self.schema.missing.texts(Kind.ORDINAL)
        order = list(dict.fromkeys(text_value(value) for value in values if value is not None))
        return [value for value in order if value not in texts] or None

    def _refuse_missing(self, indices: NDArray[np.int64], missing: NDArray[np.bool_]) -> None:
        if self.schema.missing.policy != "refuse" or not missing.any():
            return
        rows = np.flatnonzero(missing[indices])
        here = f"here and in {len(rows) - 1} other rows"
        if self.counts is not None:
            here = f"in {int(self.counts[rows].sum())} rows"
        raise CellError(
            f"the value is missing {here}, and missing values are refused",
            remedy='Fill them in, drop the rows, or set missing.policy = "value".',
            file=self.source,
            column=self.name,
            row=int(rows[0]) + 1 if self.counts is None else None,
        )

    def _first_row(self, indices: NDArray[np.int64], index: int) -> int | None:
        """Return the number of the first row with a cell; None if the rows are elsewhere."""
        return int(np.argmax(indices == index)) + 1 if self.counts is None else None

    def _cell_error(self, problem: str, cell: Any, index: int, indices: NDArray[np.int64], remedy: str) -> CellError:
        return CellError(
            problem,
            remedy=remedy,
            file=self.source,
            column=self.name,
            row=self._first_row(indices, index),
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

    def _date(
        self, cells: list[Any], present: NDArray[np.int64], indices: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], dict[str, Any]]:
        parsed = self.dates
        if parsed is None:
            kind = self.data.type
            temporal = pa.types.is_temporal(kind.value_type if pa.types.is_dictionary(kind) else kind)
            texts = [_text(cell) for cell in cells]
            pattern = None if temporal else self.schema.formats.get(self.name)
            zone = self.schema.timezones.get(self.name)
            try:
                parsed = parse_dates(texts, pattern, zone, _zone_of_type(kind))
            except DateProblemError as problem:
                raise self._date_error(problem, texts, present, indices) from problem
        distinct, codes = np.unique(parsed.numbers.integers, return_inverse=True)
        values = DateNumbers(distinct, parsed.numbers.unit, parsed.numbers.zone)
        fields = {"size": len(values), "numbers": values, "labels": values.label, "format": parsed.format}
        return codes.astype(np.int32), fields

    def _date_error(
        self,
        problem: DateProblemError,
        texts: Sequence[str],
        present: Sequence[int] | NDArray[np.int64],
        indices: NDArray[np.int64],
    ) -> SfumatoError:
        remedy = problem.remedy if self.declared else f'{problem.remedy.removesuffix(".")}; or declare kind = "categorical".'
        if problem.position is None:
            return ColumnError(problem.problem, remedy=remedy, file=self.source, column=self.name)
        cell = texts[problem.position]
        return self._cell_error(problem.problem, cell, int(present[problem.position]), indices, remedy)

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


def _tally(codes: NDArray[np.int32], counts: NDArray[np.int64], domain: int) -> NDArray[np.int64]:
    """Return the number of rows of each code, given the codes of cells and the number of rows of each cell."""
    rows = np.zeros(domain, np.int64)
    np.add.at(rows, codes, counts)
    return rows


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _text(cell: Any) -> str:
    return text_value(cell if isinstance(cell, str) else str(cell))


def _zone_of_type(kind: pa.DataType) -> str | None:
    """Return the time zone that a type names; None if it is an offset such as +01:00."""
    zone = kind.tz if pa.types.is_timestamp(kind) else None
    return zone if zone is not None and timezone_problem(zone) is None else None


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
    if pa.types.is_timestamp(values.type) and values.type.tz is not None:
        values = values.cast(pa.timestamp(values.type.unit, "UTC"))  # the text of another zone may round its offset
    if pa.types.is_boolean(values.type) or pa.types.is_temporal(values.type):
        values = values.cast(pa.string())
    return values.to_pylist()  # type: ignore[no-any-return]

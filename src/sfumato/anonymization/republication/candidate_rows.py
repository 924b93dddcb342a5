"""Rows with given candidates: those that counterfeits publish, and one for each candidate to measure principles on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.anonymization.republication.matched_people import MatchedPeople
from sfumato.data.schema import Role
from sfumato.data.table import Table
from sfumato.errors import RequirementError
from sfumato.releases.candidates import Candidate
from sfumato.releases.declarations import resolved_schema

Integers = NDArray[np.int64]


def value_table(table: Table, matched: MatchedPeople, *, foreign: bool) -> Table:
    """Return a table whose row v has the candidate v; `foreign`: also those that no row of the table has."""
    resolved = resolved_schema(table)
    known = len(matched.first_rows)
    if not foreign or known == len(matched.values):
        return table.take(matched.first_rows, resolved)
    values = np.arange(len(matched.values))
    rows = np.concatenate([matched.first_rows, np.zeros(len(values) - known, np.int64)])
    return replace(table, data=rows_with(table, matched, rows, values), schema=resolved)


def completed_table(table: Table, matched: MatchedPeople, rows: Integers, values: Integers) -> Table:
    """Return a table with counterfeits below its rows: each has the quasi-identifiers of a row, and a candidate."""
    if not len(rows):
        return table
    data = pa.concat_tables([table.data, rows_with(table, matched, rows, values)])
    return replace(table, data=data.unify_dictionaries(), schema=resolved_schema(table))


def rows_with(table: Table, matched: MatchedPeople, rows: Integers, values: Integers) -> pa.Table:
    """Return copies of some rows, each with a candidate in place of its own, and without identifiers."""
    known = len(matched.first_rows)
    names = {name: table.schema.role(name) for name in table.data.column_names}
    source = np.where(values < known, matched.first_rows[np.minimum(values, known - 1)], rows)
    foreign = np.flatnonzero(values >= known)
    columns = sorted(
        name for name in table.schema.published_columns(list(names)) if names[name] is not Role.QUASI_IDENTIFIER
    )
    result = {}
    for name in table.data.column_names:
        column = table.data.column(name)
        if names[name] is Role.IDENTIFIER:
            result[name] = pa.chunked_array([pa.nulls(len(rows), column.type)])
        elif name not in columns:
            result[name] = column.take(pa.array(rows))
        else:
            cells = column.take(pa.array(source))
            if len(foreign):
                position = columns.index(name)
                texts = [matched.values[value][position] for value in values[foreign].tolist()]
                cells = _replaced(cells, foreign, _typed(texts, column.type, name, table))
            result[name] = cells
    return pa.table(result)


def _replaced(cells: pa.ChunkedArray, at: Integers, new: pa.Array) -> pa.ChunkedArray:
    if pa.types.is_dictionary(cells.type):
        plain = _replaced(cells.cast(cells.type.value_type), at, new.cast(cells.type.value_type))
        return plain.dictionary_encode().cast(cells.type)
    both = pa.concat_arrays([cells.combine_chunks() if cells.num_chunks != 1 else cells.chunk(0), new])
    order = np.arange(len(cells))
    order[at] = len(cells) + np.arange(len(at))
    return pa.chunked_array([both.take(pa.array(order))])


def _typed(texts: Sequence[str | None], kind: pa.DataType, name: str, table: Table) -> pa.Array:
    """Return texts of an earlier release as cells of a type."""
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    try:
        if pa.types.is_list(plain) or pa.types.is_large_list(plain):
            separator = table.schema.separators.get(name, ";")
            items = [None if text is None else [item for item in text.split(separator) if item] for text in texts]
            return pa.array(items, pa.list_(pa.string())).cast(plain)
        return pa.array(texts, pa.string()).cast(plain)
    except pa.ArrowException as error:
        raise RequirementError(
            f"a counterfeit needs a value of an earlier release, which cannot be a cell of the type {plain}",
            remedy="Give the column the type that it had in the earlier version.",
            file=table.source,
            column=name,
        ) from error


def shown(candidate: Candidate) -> str:
    """Return a candidate as it is displayed."""
    return " + ".join("missing" if text is None else text for text in candidate) or "no value"

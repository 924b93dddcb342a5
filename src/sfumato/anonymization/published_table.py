"""The published table: recoded quasi-identifiers, groups under meaningless numbers, rows in an order that tells nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.anonymization.recoding import Recoding, recode
from sfumato.data.groups import Groups
from sfumato.data.schema import Role, Schema
from sfumato.data.table import Table
from sfumato.io.shuffle import Contents, ranks_of, shuffled
from sfumato.releases.table_files import published_schema

GROUP = "group"
"""The name of the group column, if the data has no column of that name."""


@dataclass(frozen=True, eq=False)
class Published:
    """A table as it is published, and how its rows and groups came about (which is never written anywhere)."""

    table: Table
    original: Table
    """The rows that were recoded, in their order."""
    recoded: Recoding
    rows: NDArray[np.int64]
    """For each published row its row in the table that was recoded."""
    of_group: NDArray[np.int64]
    """For each group its published number, from 1."""

    @property
    def group(self) -> str:
        """The name of the group column."""
        return str(self.table.schema.group)


def publish(table: Table, of_row: NDArray[np.int64], seed: int, levels: Sequence[int] | None = None) -> Published:
    """Publish a table under a partition of its rows (numbered from 0, none empty); at `levels`, if those are given.

    Groups get the numbers 1 to m, and rows their order, as `shuffled` says.
    """
    recoded = recode(table, Groups(of_row, int(of_row.max()) + 1, table.rows), levels)
    resolved = resolved_schema(table)
    group = _free(GROUP, table.data.column_names)
    names = [name for name in table.data.column_names if resolved.role(name) is not Role.IDENTIFIER]
    texts = {column.domain.name: recoded.texts(column) for column in recoded.columns}
    plain = {name: texts[name] if name in texts else _compact(table.data.column(name)) for name in names}
    separators = {name: resolved.separators.get(name, ";") for name in resolved.sensitive_columns()}
    rows, of_group = shuffled(Contents.of(plain, table.rows, separators), recoded.groups, seed)
    numbers = pa.array(of_group[of_row[rows]], pa.int64())
    data = pa.table(plain).take(pa.array(rows)) if names else pa.table({})
    data = pa.table({group: numbers, **{name: _compact(data.column(name)) for name in names}})
    found = Table(data, published_schema(resolved, group), untyped=table.untyped)
    found.share_columns(table, resolved.sensitive_columns(), rows)
    return Published(found, table, recoded, rows, of_group)


def resolved_schema(table: Table, names: Sequence[str] | None = None) -> Schema:
    """The schema with the kind of every quasi-identifier and sensitive column stated, so that a file can be read alike.

    `names`: the columns of which it is stated, if they are others.
    """
    schema = table.schema
    names = (*schema.quasi_identifiers, *schema.sensitive_columns()) if names is None else names
    kinds = {**schema.kinds, **{name: table.column(name).kind for name in names}}
    trees = {name: tree for name in schema.hierarchies if (tree := _tree(table, name)) is not None}
    return replace(schema, kinds=kinds, hierarchies=trees)


def _tree(table: Table, name: str) -> Any:
    """A column's hierarchy: as declared if it is built from the values, else read from its file."""
    declared = table.schema.hierarchies[name]
    if hasattr(declared, "build"):
        return declared
    return table.column(name).hierarchy


def _free(name: str, taken: list[str]) -> str:
    """A name for the group column that no column of the data has: group, else group_id, else group_id_2 and so on."""
    number = 1
    while name in taken:
        name = "group_id" if number == 1 else f"group_id_{number}"
        number += 1
    return name


def _compact(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column whose dictionary, if it has one, holds only what occurs, each value once.

    Unless the type is ordered, the values stand by their text: in the order in which they first occurred they would tell
    something of the order of the original.
    """
    if not pa.types.is_dictionary(column.type):
        return column
    encoded = column.unify_dictionaries().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0)
    values = encoded.dictionary
    same = np.arange(len(values))
    if not pa.types.is_nested(values.type):
        same = np.asarray(values.dictionary_encode(null_encoding="encode").indices).astype(np.int64)
        values = values.dictionary_encode(null_encoding="encode").dictionary
    used = np.flatnonzero(np.bincount(same[np.asarray(encoded.indices.drop_null())], minlength=len(values)))
    if not column.type.ordered:
        used = used[np.argsort(ranks_of(values.take(pa.array(used)), "").of_row, kind="stable")]
    place = np.zeros(len(values), np.int32)
    place[used] = np.arange(len(used))
    indices = pa.array(place[same]).take(encoded.indices)
    dictionary = values.take(pa.array(used))
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, dictionary, ordered=column.type.ordered)])


def _plain(table: Table) -> pa.Table:
    """The data with plain texts where the dictionaries are ours: all of a file without types, else quasi-identifiers."""
    names = table.data.column_names if table.untyped else table.schema.quasi_identifiers
    columns = {name: table.data.column(name) for name in table.data.column_names}
    for name in names:
        if pa.types.is_dictionary(columns[name].type):
            columns[name] = columns[name].cast(columns[name].type.value_type)
    return pa.table(columns)


def frame_of(published: Published, data: Any, library: str, kept: NDArray[np.int64]) -> Any:
    """The published table in the library that the data came in; `kept`: the rows of the data that were recoded."""
    table = published.table
    frame = _plain(table)
    if library == "polars":
        import polars

        return polars.from_arrow(frame)
    if library != "pandas":
        return frame
    import pandas

    texts = {published.group, *table.schema.quasi_identifiers}
    chosen = data.iloc[kept[published.rows]].reset_index(drop=True)
    places = {str(name): position for position, name in enumerate(data.columns)}
    columns = {}
    for name in table.data.column_names:
        series = frame.column(name).to_pandas() if name in texts else chosen.iloc[:, places[name]]
        if isinstance(series.dtype, pandas.CategoricalDtype):
            series = series.cat.remove_unused_categories()
            if not series.cat.ordered:  # the order in which they first occurred would tell something of the rows
                series = series.cat.reorder_categories(sorted(series.cat.categories, key=lambda c: (str(c), str(type(c)))))
        elif isinstance(series.dtype, pandas.ArrowDtype) and pa.types.is_dictionary(series.dtype.pyarrow_dtype):
            series = pandas.Series(pandas.arrays.ArrowExtensionArray(table.data.column(name)))
        columns[name] = series
    return pandas.DataFrame(columns)

"""The published table: recoded quasi-identifiers, meaningless group numbers, and rows in an order that reveals nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.anonymization.recoding import Recoding, recode
from sfumato.anonymization.recoding.group_recoding import refuse_long_sets
from sfumato.data.column_encoder import missing_as_null
from sfumato.data.groups import Groups
from sfumato.data.original_people import OriginalPeople
from sfumato.data.schema import Kind, Schema
from sfumato.data.table import Table
from sfumato.io.plain_types import as_plain, plain_type
from sfumato.io.read_spark import is_spark_frame
from sfumato.io.shuffle import Contents, ranks_of, shuffled
from sfumato.releases.declarations import resolved_schema
from sfumato.releases.private import Private
from sfumato.releases.table_files import published_schema
from sfumato.seeds import PUBLIC_SEED
from sfumato.storage import stored, stored_column

GROUP = "group"
"""The name of the group column, if the data has no column of that name."""


class PublishedTable(Private):
    """A table as it is published, and how its rows and groups came about, which must not be published."""

    table: Table
    original: Table
    """The rows that were recoded, in their order."""
    recoding: Recoding
    rows: NDArray[np.int64]
    """For each published row its row in the table that was recoded."""
    of_group: NDArray[np.int64]
    """For each group its published number, from 1."""

    @property
    def group(self) -> str:
        """The name of the group column."""
        return str(self.table.schema.group)

    @property
    def recodings(self) -> dict[str, str]:
        """How each quasi-identifier is published: as intervals, ancestors or sets."""
        return {column.domain.name: str(column.domain.recoding) for column in self.recoding.columns}

    @property
    def levels(self) -> dict[str, int]:
        """The level at which each quasi-identifier is published, if all its cells are at one."""
        levels = self.recoding.levels or ()
        return {column.domain.name: level for column, level in zip(self.recoding.columns, levels, strict=False)}


def publish(
    table: Table, of_row: NDArray[np.int64], order_seed: int = PUBLIC_SEED, levels: Sequence[int] | None = None
) -> PublishedTable:
    """Publish a table under a partition of its rows (numbered from 0, none empty), at `levels` if those are given.

    Groups get the numbers 1 to m, and rows their order, by `shuffled`: permutations by a public seed of an order that
    depends on what is published alone.
    """
    recoding = recode(table, Groups(of_row, int(of_row.max()) + 1, table.rows), levels)
    refuse_long_sets(recoding)
    resolved = resolved_schema(table)
    group = free_name(GROUP, table.data.column_names)
    names = resolved.published_columns(table.data.column_names)
    texts = {column.domain.name: pa.chunked_array([recoding.texts(column)]) for column in recoding.columns}
    columns = {
        name: stored_column(compact_column(texts.pop(name) if name in texts else unchanged_column(table, resolved, name)))
        for name in names
    }
    separators = {name: resolved.separators.get(name, ";") for name in resolved.sensitive_columns()}
    rows, of_group = shuffled(Contents.of(columns, table.rows, separators), recoding.groups, order_seed)
    rows = stored(rows)
    data = pa.table({group: pa.array(of_group[of_row[rows]], pa.int64())})
    for name in names:  # one at a time, because each may be large
        column = pa.table({name: columns.pop(name)}).take(pa.array(rows)).column(name)
        data = data.append_column(name, stored_column(column))  # all rows, so what it holds occurs still
    recodings = {column.domain.name: str(column.domain.recoding) for column in recoding.columns}
    original = (table.original or OriginalPeople(None)).published(recodings)
    published = Table(data, published_schema(resolved, group, recodings), untyped=table.untyped, original=original)
    published.share_columns(table, resolved.sensitive_columns(), rows)
    return PublishedTable(table=published, original=table, recoding=recoding, rows=rows, of_group=of_group)


def unchanged_column(table: Table, resolved: Schema, name: str) -> pa.ChunkedArray:
    """Return a column that is published unchanged, but for its missing cells: they are null, however they are written."""
    kind = Kind(resolved.kinds[name]) if name in resolved.sensitive_columns() else None
    return missing_as_null(table.data.column(name), resolved.missing.texts(kind))


def free_name(name: str, taken: list[str]) -> str:
    """Return a name that no column of the data has: group, otherwise group_id, otherwise group_id_2 and so on.

    >>> free_name("group", ["age"]), free_name("group", ["group", "group_id"])
    ('group', 'group_id_2')
    """
    found, number = name, 1
    while found in taken:
        found = f"{name}_id" if number == 1 else f"{name}_id_{number}"
        number += 1
    return found


def compact_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column that holds only the values that occur: a dictionary or a view may hold those of other rows.

    Unless its type is ordered, a dictionary is sorted by text: the order of first occurrence would reveal something of the
    order of the original. Dictionaries and views inside lists, structs and maps become plain values.
    """
    if pa.types.is_nested(column.type):
        return as_plain(column)
    if pa.types.is_string_view(column.type) or pa.types.is_binary_view(column.type):
        plain = pa.string() if pa.types.is_string_view(column.type) else pa.binary()
        return column.cast(plain).cast(column.type)
    if not pa.types.is_dictionary(column.type):
        return column
    encoded = column.unify_dictionaries().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0)
    values = encoded.dictionary
    same = np.arange(len(values))  # for each entry of the dictionary the first that is equal to it
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


def _may_store_more(kind: pa.DataType) -> bool:
    """Return whether a column of this type may store values that no row has; see `compact_column`."""
    return bool(plain_type(kind) != kind)


def _plain(table: Table) -> pa.Table:
    """Return the data with plain texts in place of our own dictionaries: those of a file without types, or of recoding."""
    names = table.data.column_names if table.untyped else table.schema.quasi_identifiers
    columns = {name: table.data.column(name) for name in table.data.column_names}
    for name in names:
        if pa.types.is_dictionary(columns[name].type):
            columns[name] = columns[name].cast(columns[name].type.value_type)
    return pa.table(columns)


def _with_missing(series: Any, missing: NDArray[np.bool_]) -> Any:
    """Return a series of pandas in which the missing cells have no value, in a type that keeps the others exact."""
    if not (missing & ~series.isna().to_numpy()).any():
        return series
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "iub":
        nullable = {"i": "Int", "u": "UInt"}.get(series.dtype.kind)
        series = series.astype("boolean" if nullable is None else f"{nullable}{8 * series.dtype.itemsize}")
    return series.mask(missing)


def frame_of(published: PublishedTable, data: Any, library: str, kept: NDArray[np.int64]) -> Any:
    """Return the published table in the library that the data came in; `kept`: the rows of the data that were recoded."""
    table = published.table
    frame = _plain(table)
    if is_spark_frame(data):
        return data.sparkSession.createDataFrame(frame)
    if library == "polars":
        import polars

        return polars.from_arrow(frame)
    if library != "pandas":
        return frame
    import pandas

    if len(kept) and int(kept.max()) >= len(data):  # counterfeits, which the data does not contain
        return frame.to_pandas()
    # ages replace dates of birth, which the data still contains
    texts = {published.group, *table.schema.quasi_identifiers, *published.original.schema.ages}
    chosen = data.iloc[kept[published.rows]].reset_index(drop=True)
    places = {str(name): position for position, name in enumerate(data.columns)}
    columns = {}
    for name in table.data.column_names:
        series = frame.column(name).to_pandas() if name in texts else chosen.iloc[:, places[name]]
        series = _with_missing(series, np.asarray(frame.column(name).is_null()))
        if isinstance(series.dtype, pandas.CategoricalDtype):
            series = series.cat.remove_unused_categories()
            if not series.cat.ordered:  # the order of first occurrence would reveal something of the rows
                series = series.cat.reorder_categories(sorted(series.cat.categories, key=lambda c: (str(c), str(type(c)))))
        elif isinstance(series.dtype, pandas.ArrowDtype) and _may_store_more(series.dtype.pyarrow_dtype):
            series = pandas.Series(pandas.arrays.ArrowExtensionArray(table.data.column(name)))
        columns[name] = series
    return pandas.DataFrame(columns)

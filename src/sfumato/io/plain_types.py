"""Arrow types that store only the values of their own rows.

A dictionary, or the buffer of a string view, may also contain values that no row has, such as those of suppressed rows:
selecting rows keeps it whole, and Parquet and pickles then contain it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa


def plain_type(kind: pa.DataType) -> pa.DataType:  # noqa: PLR0911 - one for each kind of type
    """Return the same type without dictionaries and views, at every depth.

    >>> plain_type(pa.list_(pa.struct([("town", pa.dictionary(pa.int32(), pa.string()))])))
    ListType(list<item: struct<town: string>>)
    """
    if pa.types.is_dictionary(kind):
        return plain_type(kind.value_type)
    if pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_binary_view(kind):
        return pa.binary()
    if pa.types.is_struct(kind):
        return pa.struct([_plain_field(kind.field(i)) for i in range(kind.num_fields)])
    if pa.types.is_map(kind):
        return pa.map_(_plain_field(kind.key_field), _plain_field(kind.item_field), keys_sorted=kind.keys_sorted)
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_plain_field(kind.value_field), kind.list_size)
    if pa.types.is_large_list(kind) or pa.types.is_large_list_view(kind):
        return pa.large_list(_plain_field(kind.value_field))
    if pa.types.is_list(kind) or pa.types.is_list_view(kind):
        return pa.list_(_plain_field(kind.value_field))
    return kind


def _plain_field(field: pa.Field) -> pa.Field:
    return field.with_type(plain_type(field.type))


def as_plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column as its plain type.

    >>> towns = pa.array(["Ulm", "Bonn"]).dictionary_encode()
    >>> as_plain(pa.chunked_array([pa.ListArray.from_arrays([0, 1, 2], towns)])).type
    ListType(list<item: string>)
    """
    plain = plain_type(column.type)
    if plain == column.type:
        return column
    if pa.types.is_dictionary(column.type):  # Arrow decodes one level at a time
        return as_plain(column.cast(column.type.value_type))
    if pa.types.is_list_view(column.type) or pa.types.is_large_list_view(column.type):  # Arrow cannot cast all of them
        return pa.chunked_array([pa.array(column.to_pylist(), plain)])
    return column.cast(plain)


def unused_value(path: Path) -> str | None:
    """Return the column of a Parquet file whose dictionary contains a value that no row has; None if there is none.

    A reader of the file can find such a value, though no cell shows it. Only columns of text and bytes are checked, also
    inside lists, structs and maps: Arrow does not return the dictionaries of others.
    """
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        schema = file.schema
        leaves = [schema.column(i) for i in range(len(schema))]
    paths = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
    if not paths:
        return None
    with parquet.ParquetFile(path, read_dictionary=paths) as file:
        for group in range(file.num_row_groups):  # each has its own dictionaries
            data = file.read_row_group(group, columns=paths, use_threads=False)
            for name in data.column_names:
                encoded = [each for chunk in data.column(name).chunks for each in _dictionary_arrays(chunk)]
                if _stores_more(encoded):
                    return str(name)
    return None


def _dictionary_arrays(array: pa.Array) -> Iterator[pa.DictionaryArray]:
    """Yield the dictionary arrays inside an array that was read from a file, whose children contain no other rows."""
    if pa.types.is_dictionary(array.type):
        yield array
    elif pa.types.is_struct(array.type):
        for i in range(array.type.num_fields):
            yield from _dictionary_arrays(array.field(i))
    elif pa.types.is_map(array.type):
        yield from _dictionary_arrays(array.keys)
        yield from _dictionary_arrays(array.items)
    elif hasattr(array, "values"):
        yield from _dictionary_arrays(array.values)


def _stores_more(arrays: list[pa.DictionaryArray]) -> bool:
    """Return whether one of the dictionaries contains a value that is at no index."""
    return any(len(each.indices.drop_null().unique()) < len(each.dictionary) for each in arrays)

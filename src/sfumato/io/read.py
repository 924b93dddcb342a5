"""One door for all data: a file, a frame of pandas, polars or pyarrow, or a table that is already encoded."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.errors import ColumnProblem, FileProblem
from sfumato.io.csv import read_csv
from sfumato.schema import Schema
from sfumato.table import Table

_CSV = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
_PARQUET = (".parquet", ".pq")


def read_table(path: str | Path, schema: Schema, *, delimiter: str | None = None, encoding: str | None = None) -> Table:
    r"""Read a CSV (also .gz) or Parquet file as a table with a schema.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("zip,age\n01234,30\n")
    >>> table = read_table(path, Schema(quasi_identifiers=["zip", "age"]))
    >>> table.column("zip").label(0), table.column("zip").kind.value, table.column("age").kind.value
    ('01234', 'categorical', 'numeric')
    """
    name = str(path).lower()
    if name.endswith(_CSV):
        read = read_csv(path, delimiter, encoding)
        return Table(read.data, schema, str(path), untyped=True, notes=read.notes, dialect=read.dialect)
    if name.endswith(_PARQUET):
        return Table(_parquet(Path(path)), schema, str(path))
    known = ", ".join((*_CSV, *_PARQUET))
    raise FileProblem("the kind of file cannot be told from its name", remedy=f"Use one of: {known}.", file=str(path))


def _parquet(path: Path) -> pa.Table:
    from pyarrow import parquet

    try:
        data = parquet.ParquetFile(path).read()
    except OSError as error:
        reason = error.strerror or "it is not a Parquet file"
        raise FileProblem(
            f"the file cannot be read: {reason}", remedy="Name a readable Parquet file.", file=str(path)
        ) from error
    except pa.ArrowInvalid as error:
        raise FileProblem(
            "the file is not Parquet, or is damaged", remedy="Name a readable Parquet file.", file=str(path)
        ) from error
    _refuse_twice(data, str(path))
    return data


def as_table(data: Any, schema: Schema) -> Table:
    """Return a table of any data: a path, a frame, or anything that speaks Arrow's C stream.

    >>> as_table(pa.table({"age": [30]}), Schema(quasi_identifiers=["age"])).rows
    1
    """
    if isinstance(data, str | Path):
        return read_table(data, schema)
    if isinstance(data, pa.Table):
        frame = data
    elif type(data).__module__.split(".")[0] == "pandas" and hasattr(data, "columns"):
        frame = _from_pandas(data)
    elif hasattr(data, "__arrow_c_stream__"):
        try:
            frame = pa.table(data)
            frame = frame.cast(pa.schema([field.with_type(_without_views(field.type)) for field in frame.schema]))
        except (pa.ArrowException, TypeError) as error:
            raise ColumnProblem(
                f"a {type(data).__name__} cannot be read as a table: {str(error).splitlines()[0]}",
                remedy="Give a frame with columns that Arrow knows.",
            ) from error
    else:
        raise ColumnProblem(
            f"a {type(data).__name__} is no table",
            remedy="Give a path, or a frame of pandas, polars or pyarrow.",
            value=type(data).__name__,
        )
    _refuse_twice(frame, None)
    return Table(frame, schema)


def _without_views(kind: pa.DataType) -> pa.DataType:
    """The same type without string views, which Arrow can hardly compute with."""
    if pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_binary_view(kind):
        return pa.large_binary()
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.large_list(_without_views(kind.value_type))
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _without_views(kind.value_type), kind.ordered)
    return kind


def _from_pandas(data: Any) -> pa.Table:
    names = [str(column) for column in data.columns]
    columns = []
    for position, name in enumerate(names):
        series = data.iloc[:, position]
        try:
            column = pa.array(series, from_pandas=True)
            inner = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
            if isinstance(inner, pa.BaseExtensionType):  # intervals, periods: as they are written
                column = pa.array(series.astype(object).map(str, na_action="ignore"), pa.string(), from_pandas=True)
            columns.append(column)
        except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
            raise ColumnProblem(
                f"the column mixes types that do not go together ({str(error).splitlines()[0]})",
                remedy="Convert it to one type, such as text with .astype(str).",
                column=name,
            ) from error
    return pa.Table.from_arrays([pa.chunked_array(c) if isinstance(c, pa.Array) else c for c in columns], names)


def _refuse_twice(data: pa.Table, source: str | None) -> None:
    twice = [name for name, count in Counter(data.column_names).items() if count > 1]
    if twice:
        raise ColumnProblem(
            "several columns have this name",
            remedy="Give every column a name of its own.",
            column=twice[0],
            file=source,
        )

"""Read data of any kind: a file, a database, or a frame of pandas, polars, pyarrow or Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.errors import ColumnError, FileError, ParameterError
from sfumato.io.database_uri import is_uri, shown
from sfumato.io.missing_files import refuse_missing
from sfumato.io.read_csv import read_csv
from sfumato.io.read_database import read_database
from sfumato.io.read_excel import read_excel
from sfumato.io.read_spark import from_spark, is_spark_frame
from sfumato.io.size_limits import refuse_columns
from sfumato.io.stored_columns import stored_columns
from sfumato.storage import active_storage, stored_table

_CSV = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
_PARQUET = (".parquet", ".pq")
_EXCEL = (".xlsx", ".xlsm")

_BATCH = 1 << 17
"""The number of rows of a Parquet file that are read at a time, if its columns are stored on disk."""


def read_table(
    path: str | Path,
    schema: Schema,
    *,
    query: str | None = None,
    table: str | None = None,
    sheet: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
) -> Table:
    r"""Read a table with a schema: a CSV (also .gz), Parquet or Excel file, or a query or a table of a database.

    `path` is a file, or a database URI such as `postgresql://me@localhost/people` or `sqlite:///people.db`.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("zip,age\n01234,30\n")
    >>> table = read_table(path, Schema(quasi_identifiers=["zip", "age"]))
    >>> table.column("zip").label(0), table.column("zip").kind.value, table.column("age").kind.value
    ('01234', 'categorical', 'numeric')
    """
    name = str(path).lower()
    database = is_uri(path)
    _refuse_unused(path, {"query": query, "table": table}, database, "a database")
    _refuse_unused(path, {"sheet": sheet}, not database and name.endswith(_EXCEL), "an Excel file")
    options = {"delimiter": delimiter, "encoding": encoding, "sheet": sheet}
    declared = {key: value for key, value in options.items() if value is not None}
    if database:
        data, source = read_database(str(path), query, table)
        refuse_duplicates(data.column_names, source)
        return Table(data, schema, source)
    if name.endswith((*_CSV, *_PARQUET, *_EXCEL)):
        refuse_missing(path)
    if name.endswith(_CSV):
        content = read_csv(path, delimiter, encoding, schema)
        reading = {**content.dialect, **declared}
        return Table(content.data, schema, str(path), untyped=True, notes=content.notes, reading=reading)
    if name.endswith(_PARQUET):
        return Table(_parquet(Path(path), schema), schema, str(path))
    if name.endswith(_EXCEL):
        data, notes = read_excel(path, sheet)
        return Table(data, schema, str(path), notes=notes, reading=declared)
    known = ", ".join((*_CSV, *_PARQUET, *_EXCEL))
    raise FileError(
        "the kind of file is not known from its name", remedy=f"Use one of: {known}; or a database URI.", file=str(path)
    )


def _refuse_unused(path: str | Path, options: Mapping[str, str | None], used: bool, where: str) -> None:
    """Raise an error for an option of another kind of source: otherwise it would be ignored silently."""
    for key, value in options.items():
        if value is not None and not used:
            raise ParameterError(
                f"a {key} is given, and this is not {where}", remedy="Remove it.", file=shown(path), key=key, value=value
            )


def _parquet(path: Path, schema: Schema) -> pa.Table:
    from pyarrow import parquet

    storage = active_storage()
    with parquet_errors(path):
        file = parquet.ParquetFile(path)
        refuse_columns(len(file.schema_arrow), str(path))
        if storage is None:
            data = file.read()
        else:
            batches = file.iter_batches(_BATCH, use_threads=False)
            data = stored_columns(batches, file.schema_arrow, schema, storage, str(path))
    refuse_duplicates(data.column_names, str(path))
    return data


@contextmanager
def parquet_errors(path: Path) -> Iterator[None]:
    """Turn what Arrow raises for a Parquet file into an error that says what to do."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or "it is not a Parquet file"
        raise FileError(
            f"the file cannot be read: {reason}", remedy="Name a readable Parquet file.", file=str(path)
        ) from error
    except pa.ArrowInvalid as error:
        raise FileError(
            "the file is not Parquet, or is corrupt", remedy="Name a readable Parquet file.", file=str(path)
        ) from error


def as_table(data: Any, schema: Schema, **options: str) -> Table:
    """Return a table of any data: a path, a database URI, a frame, or any object with an Arrow C stream.

    `options`: how to read a path, as arguments of `read_table`.

    >>> as_table(pa.table({"age": [30]}), Schema(quasi_identifiers=["age"])).rows
    1
    """
    if isinstance(data, str | Path):
        return read_table(data, schema, **options)
    if isinstance(data, pa.Table):
        frame = data
    elif type(data).__module__.split(".")[0] == "pandas" and hasattr(data, "columns"):
        frame = _from_pandas(data)
    elif is_spark_frame(data):
        frame = stored_table(from_spark(data))
    elif hasattr(data, "__arrow_c_stream__"):
        try:
            frame = pa.table(data)
            frame = frame.cast(pa.schema([field.with_type(_without_views(field.type)) for field in frame.schema]))
        except (pa.ArrowException, TypeError) as error:
            raise ColumnError(
                f"a {type(data).__name__} cannot be read as a table: {str(error).splitlines()[0]}",
                remedy="Give a frame whose column types Arrow supports.",
            ) from error
    else:
        raise ColumnError(
            f"a {type(data).__name__} is not a table",
            remedy="Give a path, or a frame of pandas, polars, pyarrow or Spark.",
            value=type(data).__name__,
        )
    refuse_duplicates(frame.column_names, None)
    return Table(frame, schema)


def _without_views(kind: pa.DataType) -> pa.DataType:
    """Return the same type without string views, which few functions of Arrow support."""
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
            column = _exact_integers(series) if series.dtype == object else None
            column = pa.array(series, from_pandas=True) if column is None else column
            inner = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
            if isinstance(inner, pa.BaseExtensionType) and pa.types.is_dictionary(column.type):  # intervals of pandas.cut
                column = pa.array(series.cat.rename_categories(str), from_pandas=True)
            elif isinstance(inner, pa.BaseExtensionType):  # intervals, periods: as text
                column = pa.array(series.astype(object).map(str, na_action="ignore"), pa.string(), from_pandas=True)
            columns.append(column)
        except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
            raise ColumnError(
                f"the column mixes types that do not fit together ({str(error).splitlines()[0]})",
                remedy="Convert it to one type, such as text with .astype(str).",
                column=name,
            ) from error
    return pa.Table.from_arrays([pa.chunked_array(c) if isinstance(c, pa.Array) else c for c in columns], names)


def _exact_integers(series: Any) -> pa.Array | None:
    """Return whole numbers beyond 64 bits as exact decimals; None if the series has none, or anything else."""
    present = series.dropna()
    if not all(type(value) is int for value in present) or all(abs(value) < 2**63 for value in present):
        return None
    return pa.array([Decimal(value) if known else None for value, known in zip(series, series.notna(), strict=True)])


def refuse_duplicates(names: Sequence[str], source: str | None) -> None:
    """Raise an error if two columns have the same name."""
    duplicates = [name for name, count in Counter(names).items() if count > 1]
    if duplicates:
        raise ColumnError(
            "several columns have this name",
            remedy="Give every column a name of its own.",
            column=duplicates[0],
            file=source,
        )

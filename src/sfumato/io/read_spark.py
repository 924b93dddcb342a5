"""Read frames, tables and queries of Spark.

Spark keeps no order of rows: the same query may return them in another order each time. So the rows are sorted by all
columns, and the release depends on the content of the table alone.
"""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa

from sfumato.errors import ColumnError, DatabaseError, ParameterError
from sfumato.part_maps import active_part_map

SCHEME = "spark"
"""The scheme of the URI `spark://`: tables and queries of the session of the engine."""

_UNEQUAL = re.compile("collate|float|double")
"""Types, or types of elements, of which Spark sorts some values that are not the same as if they were."""


def is_spark_frame(data: Any) -> bool:
    """Return whether data is a DataFrame of Spark.

    >>> is_spark_frame("people.csv")
    False
    """
    kind = type(data)
    return kind.__module__.split(".")[0] == "pyspark" and hasattr(data, "toArrow") and hasattr(data, "sparkSession")


def spark_columns(frame: Any) -> dict[str, Any]:
    """Return the columns of a DataFrame of Spark by their names; two of the same name are an error."""
    from pyspark.sql import functions

    names = list(frame.columns)
    duplicates = [name for name in names if names.count(name) > 1]
    if duplicates:
        raise ColumnError(
            "several columns have this name", remedy="Give every column a name of its own.", column=duplicates[0]
        )
    return {name: functions.col("`" + name.replace("`", "``") + "`") for name in names}


def from_spark(frame: Any) -> pa.Table:
    """Return the rows of a DataFrame of Spark, sorted by all its columns."""
    columns = spark_columns(frame)
    # 0.0 and -0.0, and texts whose collation ignores case, are different cells that Spark takes for equal
    ties = [columns[name].cast("string").cast("binary") for name, kind in frame.dtypes if _UNEQUAL.search(kind)]
    try:
        return frame.orderBy(*columns.values(), *ties).toArrow() if columns else frame.toArrow()
    except Exception as error:
        raise _reading_error(error, None, "the DataFrame cannot be read") from error


def is_spark_uri(path: Any) -> bool:
    """Return whether a path names tables of Spark.

    >>> is_spark_uri("spark://"), is_spark_uri("sqlite:///people.db")
    (True, False)
    """
    return str(path).lower().startswith(f"{SCHEME}://")


def read_spark(uri: str, query: str | None, table: str | None) -> tuple[pa.Table, str]:
    """Read the result of a query, or a table, in the session of the engine. Also return its name for messages."""
    frame, source = open_spark(uri, query, table)
    return from_spark(frame), source


def refuse_host(uri: str, key: str) -> None:
    """Raise an error if the URI of tables of Spark names a cluster; `key`: where a config has it."""
    if uri.partition("://")[2].strip("/"):
        raise ParameterError(
            f"the path of tables of Spark is {SCHEME}://, without a cluster",
            remedy=f"Name the cluster as engine.master, and the table as {key.partition('.')[0]}.table.",
            key=key,
            value=uri,
        )


def open_spark(uri: str, query: str | None, table: str | None) -> tuple[Any, str]:
    """Return the result of a query, or a table, as a DataFrame, of which nothing is read yet; and its name for messages."""
    refuse_host(uri, "data.path")
    if query is None and table is None:
        raise ParameterError(
            "neither a table nor a query of Spark is given",
            remedy='Name one, such as table = "people" or table = "parquet.`/data/people`".',
            key="table",
            file=uri,
        )
    source = f"{uri}, {'query' if query is not None else f'table {table}'}"
    sql = f"SELECT * FROM {table}" if query is None else query.strip().rstrip(";")
    try:
        # a query in parentheses can only read
        frame = required_session(uri).sql(f"SELECT * FROM ({sql})")
    except DatabaseError:
        raise
    except Exception as error:
        raise _reading_error(error, source, "the table cannot be read" if query is None else "the query fails") from error
    return frame, source


def active_session() -> Any:
    """Return the session of this process, if there is one: a process has at most one."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context is None:
        return None
    return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()


def required_session(uri: str) -> Any:
    """Return the session that the engine uses; an error if there is none."""
    # that of the engine may still be starting
    session = getattr(active_part_map(), "session", None)
    try:
        session = active_session() if session is None else session
    except ImportError:
        session = None
    if session is None:
        raise DatabaseError(
            "there is no Spark session", remedy='Use the engine spark (engine.name = "spark", or --engine spark).', file=uri
        )
    return session


def _reading_error(error: Exception, source: str | None, what: str) -> DatabaseError:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reason = (lines[0] if lines else type(error).__name__)[:300].rstrip(".")
    return DatabaseError(f"{what}: {reason}", remedy="Fix that, and try again.", file=source or f"{SCHEME}://")

"""Audit a table: which principles hold in it, at what level, and in which groups they fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.audits.audit_result import Audit, Finding
from sfumato.data.groups import Groups
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.data.units import UnitCounts, Units
from sfumato.engines import Engine, Spark, Stream, engine_of
from sfumato.errors import ParameterError, SfumatoError
from sfumato.io.read_spark import is_spark_frame
from sfumato.io.read_table import as_table
from sfumato.part_maps import active_part_map
from sfumato.principles import Principle, PrincipleRequest, View, attributes_of, requested_principles
from sfumato.principles.principle import measurement_of


def audit(
    data: Any,
    schema: Schema | None,
    principles: PrincipleRequest | Sequence[PrincipleRequest],
    *,
    engine: Engine | str | None = None,
) -> Audit:
    """Measure principles on a table.

    `data`: a path, a frame of pandas, polars, pyarrow or Spark, or a `Table` (whose own schema is used if none is given).
    `principles`: one or several, each a principle or a dict with its name and parameters, as in a config. Groups are the
    rows with equal quasi-identifiers, or those with the same value of the schema's group column. `engine`: "local" keeps
    the table in memory, "stream" reads a file piece by piece and keeps the table on disk, "spark" measures a frame of Spark
    by the executors of its cluster, and other data as "stream" does, see `sf.engines`; by default a file that is too large
    for memory is streamed, and a frame of Spark stays where it is. The figures are the same.

    >>> import pyarrow as pa
    >>> from sfumato import Dissimilarity, Schema
    >>> table = pa.table({"zip": ["a"] * 5, "income": [100, 101, 102, 103, 900]})
    >>> schema = Schema(quasi_identifiers=["zip"], sensitive=["income"])
    >>> findings = audit(table, schema, [Dissimilarity(epsilon=3, delta="0.5", k=5)])
    >>> findings.holds, findings[0].levels
    (False, {'risk': Fraction(3, 4), 'k': Fraction(5, 1)})

    A file may be larger than memory:

    >>> import tempfile
    >>> from pyarrow import csv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     csv.write_csv(table, f"{folder}/people.csv")
    ...     streamed = audit(f"{folder}/people.csv", schema, findings[0].principle, engine="stream")
    >>> streamed[0].levels == findings[0].levels
    True
    """
    requested = requested_principles(principles)
    chosen = engine_of(engine, data)
    if isinstance(chosen, Stream) and not isinstance(data, str | Path) and not is_spark_frame(data):
        raise ParameterError(
            f"the engine stream reads files, and the data is a {type(data).__name__}",
            remedy="Pass the path of a CSV or Parquet file, or leave out the engine.",
            key="engine",
            value=chosen.name,
        )
    with chosen.running():
        if isinstance(chosen, Spark) and is_spark_frame(data) and schema is not None:
            return audit_spark(data, schema, requested)
        table = table_of(data, schema)
        for principle in requested:
            principle.check_table(table, attributes_of(principle, table.schema))
        return audit_table(table, requested, library=library_of(data))


def audit_spark(frame: Any, schema: Schema, principles: Sequence[Principle], source: str | None = None) -> Audit:
    """Measure principles on a frame of Spark, by the executors if they can; `source`: its name, for errors.

    What only the driver can measure is measured there, and a note says why.
    """
    from sfumato.audits.cluster_audit import audit_frame
    from sfumato.spark.cluster_parts import ClusterParts
    from sfumato.spark.frame_measurement import driver_reason

    cluster = active_part_map()
    if not isinstance(cluster, ClusterParts):
        raise ParameterError(
            "there is no cluster", remedy="Run this in the context of an engine: engine.running().", key="engine"
        )
    reason = driver_reason(frame, schema, principles)
    if reason is None:
        return audit_frame(frame, schema, principles, cluster, source)
    note = f"the rows were collected and measured by the driver, because {reason}"
    return audit_table(replace(as_table(frame, schema), source=source, notes=(note,)), principles)


def audit_table(
    table: Table, principles: Sequence[Principle], units: Units | None = None, library: str = "pyarrow"
) -> Audit:
    """Measure principles on a table; see `audit`.

    `units`: whose row each row is, where the table does not have the column, because it is published. Then the result does
    not contain them either, only how many there are.
    """
    for name in (*table.schema.quasi_identifiers, *table.schema.sensitive_columns()):
        table.column(name)  # the declarations of every column are checked, measured or not
    groups = Groups.of(table)
    if units is not None:
        groups = groups.counting(units)
    views: dict[tuple[str, ...], View] = {}
    findings = []
    for principle in principles:
        for names in attributes_of(principle, table.schema):
            view = views.setdefault(names, View(table, names, groups))
            attribute = None if principle.scope == "groups" else view.attribute.name
            try:
                measurement = measurement_of(principle, view)
            except SfumatoError as error:
                raise error.inside(table.source, principle.title) from error
            distance = view.distance.name if principle.uses_distance else None
            findings.append(Finding(principle, attribute, measurement, groups.sizes, distance))
    counted = groups.units
    counts = None if counted is None else UnitCounts(counted.noun, counted.count, int(groups.heads.min()))
    return Audit(table, groups if units is None else replace(groups, units=None), tuple(findings), library, counts)


def table_of(data: Any, schema: Schema | None) -> Table:
    """Return a path, a frame or a `Table` as a table with a schema; a `Table` keeps its own unless another is given."""
    if isinstance(data, Table):
        return data if schema is None else data.with_schema(schema)
    if schema is None:
        raise ParameterError("the data has no schema", remedy="Pass the roles of its columns as a Schema.", key="schema")
    return as_table(data, schema)


def library_of(data: Any) -> str:
    """Return the frame library that data came in; pyarrow for files."""
    library = type(data).__module__.split(".")[0]
    return library if library in ("pandas", "polars") else "pyarrow"

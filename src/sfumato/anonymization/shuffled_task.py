"""A task with its rows in a secret order, so that groups cannot be found again by those who know the order of the file.

Every method depends on the order of the rows, if only where rows tie.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.anonymization.methods import Task
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.releases.declarations import resolved_schema
from sfumato.storage import stored, stored_column

Integers = NDArray[np.int64]

_BY_COLUMN = ("kinds", "orders", "hierarchies", "separators", "decimals", "formats", "timezones", "ages")
"""The fields of a schema that declare something about columns which a task may not have."""


def shuffled_task(task: Task, order: Integers) -> Task:
    """Return a task whose row i is the row `order[i]` of another one, with the columns that decide about groups alone.

    >>> import sfumato as sf
    >>> people = sf.Table(pa.table({"name": ["Ann", "Bob"], "age": [30, 41]}), sf.Schema(["age"], identifiers=["name"]))
    >>> shuffled_task(Task(people, ()), np.array([1, 0])).table.data.to_pydict()
    {'age': [41, 30]}
    """
    for attributes, view in task.views.items():
        if attributes:  # what is built before is shared, and need not be built again to publish the groups
            _ = view.attribute
    table, schema = task.table, _task_schema(task.table)
    names = [name for name in table.data.column_names if name in _task_columns(table.schema)]
    rows, columns = pa.array(order), {}
    for name in names:  # one at a time, because each may be large
        columns[name] = stored_column(table.data.select([name]).take(rows).column(0))
    data = pa.table(columns) if columns else table.data.select([]).take(rows)
    part = replace(table, data=data, schema=schema)
    part.share_columns(table, names, order)
    return replace(task, table=part)


def rows_of(of_row: Integers, order: Integers) -> Integers:
    """Return groups of the rows as they were, given those of the rows in an order.

    >>> rows_of(np.array([5, 6, 7]), np.array([2, 0, 1])).tolist()
    [6, 7, 5]
    """
    result = np.empty(len(order), np.int64)
    result[order] = of_row
    return stored(result)


def _task_columns(schema: Schema) -> set[str]:
    """Return the columns that decide about groups."""
    preserved = (name for pair in schema.preserve for name in pair)
    units = (name for name in (schema.person_id, schema.household_id) if name is not None)
    return {*schema.quasi_identifiers, *schema.sensitive_columns(), *preserved, *units}


def _task_schema(table: Table) -> Schema:
    """Return the schema of the columns that decide about groups, with the kinds that they have in the whole table."""
    kept = _task_columns(table.schema)
    # hierarchies are the same objects, so that encoded columns are shared
    schema = replace(resolved_schema(table), hierarchies=table.schema.hierarchies)
    declared: dict[str, Any] = {
        key: {name: value for name, value in getattr(schema, key).items() if name in kept or name in schema.vectors}
        for key in _BY_COLUMN
    }
    return replace(
        schema,
        identifiers=tuple(name for name in schema.identifiers if name in kept),
        other=tuple(name for name in schema.other if name in kept),
        **declared,
    )

"""Describe a schema, principles, the reading of a file and versions as release.json states them."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.data.hierarchy import HierarchyBuilder
from sfumato.data.schema import Kind, Role, Schema
from sfumato.data.table import Table
from sfumato.distances import Custom, Distance
from sfumato.exact import as_fraction, written
from sfumato.principles import Principle
from sfumato.serialization import hierarchy_section, stated
from sfumato.version import __version__


def versions() -> dict[str, str]:
    """Return the versions that determine the bytes of a release."""
    from sfumato.releases.models import VERSIONS  # large, and questions about a table do not need it

    own = {"sfumato": __version__, "python": platform.python_version(), "numpy": np.__version__, "pyarrow": pa.__version__}
    return {name: own[name] if name in own else version(name) for name in VERSIONS}


def describe_reading(source: Table | None) -> dict[str, str]:
    """Return how the file of the original is read; not which sheet of it, which is not published."""
    from sfumato.releases.models import Reading

    options = {} if source is None else source.reading
    return {key: options[key] for key in Reading.model_fields if key in options}


def describe_config(schema: Schema, principles: Sequence[Principle]) -> dict[str, Any]:
    """Return the config of a release with groups: what the schema declares, and the requested principles."""
    published = {*schema.quasi_identifiers, *schema.sensitive_columns()}
    config = describe_schema(schema, published)
    return {**config, "principles": [{"name": p.name, **p.parameters()} for p in principles]}


def describe_schema(schema: Schema, published: AbstractSet[str]) -> dict[str, Any]:
    """Return what a schema declares.

    The hierarchy of a published column is written out row by row, because its file does not come with the release.
    """

    def hierarchy(name: str, declared: Any) -> dict[str, Any] | None:
        if name not in published:
            return None
        return hierarchy_section(declared) or {"rows": declared.rows()}

    config = stated(schema, hierarchy, _distance)
    config["columns"] = {
        name: column
        for name, column in config["columns"].items()
        if name in published or column.get("role") is not None or schema.role(name) not in (None, Role.OTHER)
    }
    config |= {"undeclared": schema.undeclared, "unchanged_limit": written(as_fraction(schema.unchanged_limit))}
    return {key: value for key, value in config.items() if value is not None}


def _distance(distance: Distance | None) -> dict[str, Any] | None:
    """Return a distance with its parameters; a function that was defined in a program has no name to state."""
    if distance is None:
        return None
    if isinstance(distance, Custom):
        named = distance.function if isinstance(distance.function, str) else None
        return {"kind": distance.name, "function": named, "vectorised": distance.vectorised}
    return {"kind": distance.name, **distance.parameters()}


def resolved_schema(table: Table, names: Sequence[str] | None = None) -> Schema:
    """Return the schema with how every quasi-identifier and sensitive column was read, and hierarchies loaded.

    So a file, which may have no types, is read as the table was. `names`: the columns of which that is stated, if
    others.
    """
    schema = table.schema
    names = (*schema.quasi_identifiers, *schema.sensitive_columns()) if names is None else names
    kinds = {**schema.kinds, **{name: table.column(name).kind for name in names}}
    dates = [table.column(name) for name in names if kinds[name] is Kind.DATE]
    formats = {**schema.formats, **{column.name: column.format for column in dates if column.format is not None}}
    zones = {**schema.timezones, **{column.name: column.timezone for column in dates if column.timezone is not None}}
    trees = {name: tree for name in schema.hierarchies if (tree := _tree(table, name)) is not None}
    columns = [table.column(name) for name in names]
    orders = {**schema.orders, **{column.name: tuple(column.texts) for column in columns if column.kind is Kind.ORDINAL}}
    decimals = {**schema.decimals, **{column.name: "," for column in columns if column.decimal_comma}}
    return replace(
        schema, kinds=kinds, orders=orders, decimals=decimals, formats=formats, timezones=zones, hierarchies=trees
    )


def _tree(table: Table, name: str) -> Any:
    """Return a column's hierarchy: the builder, without need of the rows, or the tree that was read from a file."""
    declared = table.schema.hierarchies[name]
    if isinstance(declared, HierarchyBuilder):
        return declared.resolved(table.column(name))
    return declared if hasattr(declared, "build") else table.column(name).hierarchy

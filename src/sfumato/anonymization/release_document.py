"""What release.json says: everything that is needed to verify the release without the program that made it."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sfumato.anonymization.figures.figure_tables import public_figures
from sfumato.anonymization.figures.rounding_steps import in_steps, step_of
from sfumato.data.hierarchy import Hierarchy, Intervals
from sfumato.data.schema import Role, Schema
from sfumato.data.table import Table
from sfumato.distances import Custom, Distance
from sfumato.exact import written
from sfumato.principles import Principle
from sfumato.releases.models import FORMAT, Reading
from sfumato.serialization import hierarchy_section, stated
from sfumato.version import __version__

if TYPE_CHECKING:
    from sfumato.anonymization.release import Release


def described(release: Release) -> dict[str, Any]:
    """A release as plain data: nothing that tells time, place or the order of the original.

    All of it is a function of the published table, the original quasi-identifiers, the schema, the parameters and the
    seed: never of which original row has which sensitive value.
    """
    audit = release.audit.to_dict(0)
    utility = _utility(release)
    return {
        "format": FORMAT,
        **versions(),
        "seed": release.seed,
        "method": {"name": release.method.name, "parameters": release.method.parameters()},
        "rows": audit["rows"],
        "groups": audit["groups"],
        "suppressed": release.suppressed,
        "suppress": written(release.suppress),
        "holds": audit["holds"],
        "group": release.group,
        "columns": _columns(release),
        "config": config_of(release.schema, release.principles),
        "reading": reading_of(release.source),
        "principles": audit["principles"],
        "utility": utility,
        "figures": _figures(release, utility["loss"]["columns"]),
        "notes": list(release.notes),
    }


def versions() -> dict[str, str]:
    """The versions that decide about the bytes of a release."""
    return {
        "sfumato": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "pyarrow": pa.__version__,
        "jinja2": version("jinja2"),
    }


def _utility(release: Release) -> dict[str, Any]:
    """What the release is worth, as far as it may be told.

    The errors of seeded queries are left out: they are exact figures of the original quasi-identifiers together with the
    sensitive values, and whoever draws the same queries can try who in a group has which value until the figures agree.
    What is computed from the original quasi-identifiers alone is told in hundredths, or in the steps of shares if those are
    coarser. Everything else follows from the published table.
    """
    told = release.utility.to_dict(queries=False)
    step = max(step_of(release.original.rows), Fraction(1, 100))
    told["marginals"] = _rounded(told["marginals"], step)
    if any(isinstance(hierarchy, Intervals) for hierarchy in release.schema.hierarchies.values()):
        told["loss"] = _rounded(told["loss"], step)  # a node's share then tells how many original values lie under it
    return told


def reading_of(source: Table | None) -> dict[str, str]:
    """How the original's file is read; not where in it the table stands, which is the publisher's affair."""
    found = {} if source is None else source.reading
    return {key: found[key] for key in Reading.model_fields if key in found}


def _figures(release: Release, loss: Mapping[str, float]) -> dict[str, Any]:
    """The tables that report.html is drawn from."""
    return public_figures(release.original, release.audit, release.recodings, loss, release.seed)


def _rounded(told: Any, step: Fraction) -> Any:
    """The same plain data, its floats in steps."""
    if isinstance(told, dict):
        return {key: _rounded(value, step) for key, value in told.items()}
    if isinstance(told, list):
        return [_rounded(value, step) for value in told]
    return in_steps(told, step) if isinstance(told, float) else told


def _columns(release: Release) -> list[dict[str, Any]]:
    """The published columns in order, each with its role, its kind, and how it is published."""
    how, levels = release.recodings, release.levels
    columns = []
    read = {*release.schema.quasi_identifiers, *release.schema.sensitive_columns()}
    for name in release.table.data.column_names:
        kind = release.schema.kinds.get(name) if name in read else None
        column = {
            "name": name,
            "role": "group" if name == release.group else str(release.schema.role(name)),
            "kind": None if kind is None else str(kind),
            "recoding": how.get(name),
            "level": levels.get(name),
        }
        columns.append({key: value for key, value in column.items() if value is not None})
    return columns


def config_of(schema: Schema, principles: Sequence[Principle]) -> dict[str, Any]:
    """The config of a release: what a schema declares of the columns that are published, and what was asked for."""
    published = {*schema.quasi_identifiers, *schema.sensitive_columns()}
    config = declared_config(schema, published)
    return {**config, "principles": [{"name": p.name, **p.parameters()} for p in principles]}


def declared_config(schema: Schema, published: AbstractSet[str]) -> dict[str, Any]:
    """What a schema declares; a hierarchy of what is published stands in it row by row: files may not travel along."""

    def hierarchy(name: str, declared: Any) -> dict[str, Any] | None:
        if name not in published:
            return None
        return hierarchy_section(declared) or {"rows": _rows(declared)}

    config = stated(schema, hierarchy, _distance)
    config["columns"] = {
        name: column
        for name, column in config["columns"].items()
        if name in published or column.get("role") is not None or schema.role(name) is not Role.OTHER
    }
    return {key: value for key, value in config.items() if value is not None}


def _rows(hierarchy: Hierarchy) -> list[list[str]]:
    labels = [np.array(nodes, object)[path] for nodes, path in zip(hierarchy.labels, hierarchy.paths.T, strict=True)]
    return [list(row) for row in zip(*labels, strict=True)]


def _distance(distance: Distance | None) -> dict[str, Any] | None:
    """A distance with its parameters; a function that was written in the program has no name to give."""
    if distance is None:
        return None
    if isinstance(distance, Custom):
        named = distance.function if isinstance(distance.function, str) else None
        return {"kind": distance.name, "function": named, "vectorised": distance.vectorised}
    return {"kind": distance.name, **distance.parameters()}

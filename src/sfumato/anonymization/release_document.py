"""Describe a grouped release as release.json states it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sfumato.anonymization.figures.figure_tables import public_figures
from sfumato.anonymization.figures.rounding_steps import in_steps, step_of
from sfumato.data.hierarchy import Flat, HierarchyBuilder
from sfumato.data.schema import Schema
from sfumato.exact import written
from sfumato.releases.declarations import describe_config, describe_reading, versions
from sfumato.releases.models import FORMAT

if TYPE_CHECKING:
    from sfumato.anonymization.release import Release


def describe_release(release: Release) -> dict[str, Any]:
    """Return a release as plain data, without time, place or the order of the original.

    Everything is a function of the published table, the original quasi-identifiers, the schema and the parameters:
    never of which original row has which sensitive value, except that a warning may say, in tenths, how far a published
    column undoes the recoding of a quasi-identifier. So it contains everything that is needed to verify the release
    without the program that made it, and nothing that must not be published.
    """
    audit = release.audit.to_dict(0)
    utility = _utility(release)
    return {
        "format": FORMAT,
        **versions(),
        "method": {"name": release.method.name, "parameters": release.method.parameters()},
        **({"resist": list(release.resist)} if release.resist else {}),
        "rows": audit["rows"],
        "groups": audit["groups"],
        "suppressed": release.suppressed,
        "suppress": written(release.suppress),
        "holds": audit["holds"],
        "group": release.group,
        **_units(release),
        "columns": _columns(release),
        "config": describe_config(release.schema, release.principles),
        "reading": describe_reading(release.private.original),
        "principles": audit["principles"],
        "warnings": [warning.to_dict() for warning in release.warnings],
        **_exposure(release),
        "utility": utility,
        "figures": _figures(release, utility["loss"]["columns"]),
        "notes": list(release.notes),
        **({} if release.after is None else {"after": release.after.to_dict()}),
    }


def _exposure(release: Release) -> dict[str, Any]:
    """Return what the table exposes beyond its principles; nothing about columns that it does not have."""
    claims = {"coverage": release.coverage.claim, "unchanged": release.unchanged}
    return {key: claim.to_dict() for key, claim in claims.items() if claim is not None}


def _units(release: Release) -> dict[str, Any]:
    """Return what is counted, if that is not rows: how many there are, and how many the smallest group contains."""
    units = release.audit.units
    claim = None if units is None else {"counted": units.plural, "total": units.total, "smallest": units.least}
    return {} if claim is None else {"units": claim}


def _utility(release: Release) -> dict[str, Any]:
    """Return the utility as far as it may be published.

    The errors of queries are left out. They are exact figures of the original quasi-identifiers together with the
    sensitive values: an attacker who draws the same queries can assign values to people until the figures agree.
    What is computed from the original quasi-identifiers alone is rounded to hundredths, or to the steps of shares if those
    are coarser. Everything else follows from the published table.
    """
    utility = release.utility.to_dict(queries=False)
    bound = {} if release.bound is None else {"bound": release.bound}
    return {**utility, **published_utility(utility, release.schema, release.private.original.rows), **bound}


def published_utility(utility: Mapping[str, Any], schema: Schema, rows: int) -> dict[str, Any]:
    """Return loss and marginals as they may be published; `rows`: the number of rows of the original."""
    step = published_step(rows)
    loss = _rounded(utility["loss"], step) if counts_values(schema) else utility["loss"]
    return {"loss": loss, "marginals": _rounded(utility["marginals"], step)}


def counts_values(schema: Schema) -> bool:
    """Return whether a hierarchy is built from the values: a node's share of the loss then counts original values."""
    trees = schema.hierarchies.values()
    return any(isinstance(tree, HierarchyBuilder) and not isinstance(tree, Flat) for tree in trees)


def published_loss(loss: float, schema: Schema, rows: int) -> float:
    """Return a loss as it may be published; `rows`: the number of rows of the original."""
    return in_steps(loss, published_step(rows)) if counts_values(schema) else loss


def published_step(rows: int) -> Fraction:
    """Return the steps in which figures of the original quasi-identifiers are published; `rows`: those of the original."""
    return max(step_of(rows), Fraction(1, 100))


def _figures(release: Release, loss: Mapping[str, float]) -> dict[str, Any]:
    """Return the tables that report.html is drawn from."""
    everyone = release.private.original.units
    units = None if everyone is None else everyone.take(release.private.rows)
    return public_figures(release.private.original, release.audit, release.recodings, loss, units)


def _rounded(value: Any, step: Fraction) -> Any:
    """Return the same plain data, its floats rounded to multiples of a step."""
    if isinstance(value, dict):
        return {key: _rounded(inner, step) for key, inner in value.items()}
    if isinstance(value, list):
        return [_rounded(inner, step) for inner in value]
    return in_steps(value, step) if isinstance(value, float) else value


def _columns(release: Release) -> list[dict[str, Any]]:
    """Return the published columns in order, each with its role, its kind, and how it is published."""
    columns = []
    typed = {*release.schema.quasi_identifiers, *release.schema.sensitive_columns()}
    for name in release.table.data.column_names:
        kind = release.schema.kinds.get(name) if name in typed else None
        column = {
            "name": name,
            "role": "group" if name == release.group else str(release.schema.role(name)),
            "kind": None if kind is None else str(kind),
            "recoding": release.recodings.get(name),
            "level": release.levels.get(name),
        }
        columns.append({key: value for key, value in column.items() if value is not None})
    return columns

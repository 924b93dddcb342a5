"""Describe an anatomized release as release.json states it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sfumato.exact import written
from sfumato.releases.declarations import describe_config, describe_reading, versions
from sfumato.releases.models import ANATOMIZED, FORMAT

if TYPE_CHECKING:
    from sfumato.anatomy.anatomy_release import Anatomy


def describe_anatomy(anatomy: Anatomy) -> dict[str, Any]:
    """Return an anatomy as plain data. Everything is a function of the published tables, the schema and the parameters.

    There are no errors of counts: they are exact figures about who has which secret.
    """
    return {
        "format": FORMAT,
        "kind": ANATOMIZED,
        **versions(),
        "method": {"name": anatomy.method.name, "parameters": anatomy.method.parameters()},
        "rows": anatomy.people.num_rows,
        "groups": anatomy.audits[0].groups.count,
        "suppressed": anatomy.suppressed,
        "suppress": written(anatomy.suppress),
        "holds": anatomy.holds,
        "group": anatomy.group,
        "count": anatomy.count,
        "alone": anatomy.alone,
        "columns": _columns(anatomy),
        "config": describe_config(anatomy.schema, anatomy.principles),
        "reading": describe_reading(anatomy.private.release.private.original),
        "tables": [
            {
                "attributes": list(block),
                "principles": audit.to_dict(0)["principles"],
                "warnings": [warning.to_dict() for warning in coverage.warnings],
                "coverage": None if coverage.claim is None else coverage.claim.to_dict(),
            }
            for block, audit, coverage in zip(anatomy.plan, anatomy.audits, anatomy.coverage, strict=True)
        ],
        "notes": list(anatomy.notes),
    }


def _columns(anatomy: Anatomy) -> list[dict[str, Any]]:
    """Return the columns of the table of people, each with its role and, if it is a quasi-identifier, its kind."""
    columns = []
    for name in anatomy.people.column_names:
        role = "group" if name == anatomy.group else str(anatomy.schema.role(name))
        kind = {"kind": str(anatomy.schema.kinds[name])} if role == "quasi-identifier" else {}
        columns.append({"name": name, "role": role, **kind})
    return columns

"""Screen 3, the risk of the table as it is: who is singled out, by which columns, and in which groups."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from sfumato._audit import audit
from sfumato.audits.audit_result import Audit, Finding, finding_heading
from sfumato.data.schema import Role
from sfumato.exact.shown_levels import level_shown
from sfumato.principles import KAnonymity, Principle
from sfumato.profiling import Profile
from sfumato.ui.screen import Part, Screen, Snippets, Values
from sfumato.ui.session import Session
from sfumato.ui.singled_out import UNIQUENESS, roles_key

_WORST = 12
"""The groups that are listed."""

_ROWS = 100
"""The rows of a group that are shown."""


def _number(query: Values, name: str) -> int | None:
    text = query.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 12 else None


def _content(session: Session, query: Values) -> Mapping[str, Any]:
    return {"requirement": _number(query, "requirement") or 0, "group": _number(query, "group")}


def _combinations(session: Session, query: Values) -> Mapping[str, Any]:
    profile: Profile = session.profile()
    schema = session.table.schema
    roles = dict.fromkeys(schema.quasi_identifiers, Role.QUASI_IDENTIFIER)
    edited = profile.with_roles({column.name: roles.get(column.name) for column in profile})
    by_size = {1: "One column", 2: "Two columns", 3: "Three columns"}
    found = edited.combinations if schema.quasi_identifiers else ()
    sizes = [(title, [one for one in found if len(one.columns) == size]) for size, title in by_size.items()]
    return {"sizes": [(title, some) for title, some in sizes if some], "rows": profile.rows}


def _groups_key(session: Session, query: Values) -> Hashable:
    return roles_key(session, query), session.key_of("principles"), query.get("requirement"), query.get("group")


def audited(session: Session) -> Audit:
    """Return the audit of the table as it is under the requirements of the config; without any, who is the only one."""

    def compute() -> Audit:
        config = session.config
        principles: tuple[Principle, ...] = () if config is None else config.requested_principles
        return audit(session.table, None, principles or (KAnonymity(2),))

    found: Audit = session.answer("audit", ("audit", roles_key(session, {}), session.key_of("principles")), compute)
    return found


def _groups(session: Session, query: Values) -> Mapping[str, Any]:
    found = audited(session)
    at = min(_number(query, "requirement") or 0, len(found) - 1)
    finding = found[at]
    worst = [_group(found, finding, group) for group in finding.worst_groups(_WORST)]
    return {
        "findings": [finding_heading(one) for one in found],
        "at": at,
        "finding": finding,
        "groups": found.groups.count,
        "rows": found.table.rows,
        "worst": worst,
        "names": list(worst[0]["values"]) if worst else [],
        "parts": [part.name for part in finding.measurement.parts],
    }


def _group(found: Audit, finding: Finding, group: int) -> dict[str, Any]:
    levels = finding.levels_in(group).values()
    return {
        "number": group,
        "rows": found.rows_in(group),
        "values": found.quasi_identifiers(group),
        "holds": finding.holds_in(group),
        "levels": [level_shown(n, part.threshold) for part, n in zip(finding.measurement.parts, levels, strict=True)],
    }


def _group_rows(session: Session, query: Values) -> Mapping[str, Any]:
    group = _number(query, "group")
    if group is None:
        return {"names": [], "cells": [], "group": None}
    found = audited(session)
    frame = found.group_rows(group, _ROWS)
    size = found.rows_in(group)
    cells = list(zip(*(column.to_pylist() for column in frame.columns), strict=True))
    return {"names": frame.column_names, "cells": cells, "group": group, "size": size, "left": size - len(cells)}


def _snippets(session: Session) -> Snippets:
    place = "sfumato.toml" if session.place is None else session.place.name
    return Snippets(
        f"sfumato audit {place}",
        f"import sfumato as sf\n\nconfig = sf.Config.load({place!r})\n"
        "found = sf.audit(config.table(), None, config.requested_principles)\nprint(found)\n"
        "print(found.group_rows(found[0].worst_groups()[0]))\n",
    )


RISK = Screen(
    name="risk",
    title="Risk",
    content=_content,
    snippets=_snippets,
    parts={
        "uniqueness": UNIQUENESS,
        "combinations": Part(roles_key, _combinations),
        "groups": Part(_groups_key, _groups),
        "group_rows": Part(_groups_key, _group_rows),
    },
)

"""Screen 2, the columns: the role and the kind of each, why, what it contains, and its hierarchy."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from sfumato.config import Config
from sfumato.config_edits import remove_principle, set_role, set_values
from sfumato.data.schema import RECODINGS, Kind, Role
from sfumato.errors import ColumnError, ConfigError
from sfumato.profiling.table_profile import ColumnProfile, Profile
from sfumato.ui.hierarchy_editor import (
    BUILDER_FORMS,
    MOST_VALUES,
    edit_groups,
    groups_shown,
    hand_levels,
    hand_rests,
    preview,
    set_hierarchy,
)
from sfumato.ui.screen import Change, Part, Screen, Snippets, Values
from sfumato.ui.session import Session
from sfumato.ui.singled_out import UNIQUENESS, roles_key

ROLES = {
    Role.IDENTIFIER: ("Identifier", "identifies a person by itself; not published"),
    Role.QUASI_IDENTIFIER: ("Quasi-identifier", "outsiders can know it; published in coarser form"),
    Role.SENSITIVE: ("Sensitive", "outsiders should not learn it; published in groups that protect it"),
    Role.OTHER: ("Other", "published unchanged"),
    None: ("Not published", "no role"),
}
"""For each role its name and what happens to such a column."""

_KINDS = [kind for kind in Kind if kind is not Kind.VECTOR]
_SHOWN = 25
"""The values of a column that are listed."""


def _content(session: Session, query: Values) -> Mapping[str, Any]:
    name = query.get("column", "")
    return {"column": name, "editor": query.get("editor", ""), "roles": ROLES, "level": _level(query)}


def _level(query: Values) -> int:
    text = query.get("level", "0")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else 0


def _column_key(session: Session, query: Values) -> Hashable:
    return roles_key(session, query), query.get("column", ""), query.get("editor", ""), query.get("level", "")


def _columns(session: Session, query: Values) -> Mapping[str, Any]:
    profile: Profile = session.profile()
    config = _config(session)
    listed = [_row(profile, column, config) for column in profile]
    vectors = {name: section for name, section in config.columns.items() if section.columns is not None}
    person = config.data.person_id
    return {
        "columns": listed, "roles": ROLES, "kinds": _KINDS, "rows": profile.rows, "vectors": vectors, "person": person,
    }  # fmt: skip


def _row(profile: Profile, column: ColumnProfile, config: Config) -> dict[str, Any]:
    section = config.columns.get(column.name)
    suggestion = column.suggestion
    return {
        "name": column.name,
        "facts": column.facts,
        "role": None if section is None else section.role,
        "kind": None if section is None else section.kind,
        "found_kind": column.kind,
        "suggested": ROLES[suggestion.role][0],
        "differs": (None if section is None else section.role) != suggestion.role,
        "reason": suggestion.reason,
        "certain": suggestion.certain,
        "twin": profile.equivalent_columns.get(column.name),
        "hierarchy": None if section is None or section.hierarchy is None else _hierarchy_word(section.hierarchy),
    }


def _hierarchy_word(declared: Any) -> str:
    if isinstance(declared, str):
        return declared
    keys = declared.model_dump(exclude_defaults=True, exclude_none=True)
    key = next(iter(keys), "none")
    value = keys.get(key)
    if key == "groups":
        return "groups by hand"
    return f"{key} {', '.join(map(str, value))}" if isinstance(value, list) else str(key)


def _values(session: Session, query: Values) -> Mapping[str, Any]:
    """Return one column: its facts, and its values by frequency."""
    name = query.get("column", "")
    profile: Profile = session.profile()
    config = _config(session)
    if name not in session.raw.data.column_names:
        raise ColumnError("there is no such column", remedy="Go back to all columns.", column=name)
    column = session.table.column(name)
    counts = column.counts[: column.size]
    order = np.argsort(-counts, kind="stable")[:_SHOWN]
    found = [(column.label(int(code)), int(counts[code])) for code in order]
    ends = None
    if column.numbers is not None and column.size:
        ends = (column.label(0), column.label(column.size - 1))
    return {
        "row": _row(profile, profile[name], config), "roles": ROLES, "kinds": _KINDS, "rows": profile.rows,
        "values": found, "largest": max((count for _, count in found), default=1),
        "more": column.size - len(found), "ends": ends, "note": column.note,
    }  # fmt: skip


def _hierarchy(session: Session, query: Values) -> Mapping[str, Any]:
    name = query.get("column", "")
    config = _config(session)
    section = config.columns.get(name)
    declared = None if section is None else section.hierarchy
    column = session.table.column(name)
    levels = hand_levels(config, name)
    level = min(_level(query), len(levels or [0]) - 1)
    return {
        "name": name, "role": None if section is None else section.role, "levels": preview(column),
        "declared": None if declared is None else _hierarchy_word(declared),
        "recoding": None if section is None else section.recoding, "recodings": RECODINGS,
        "forms": _suiting(column.kind), "size": column.size, "most": MOST_VALUES, "hand": levels, "level": level,
        "shown": None if levels is None else groups_shown(column, levels, level, hand_rests(config, name)),
    }  # fmt: skip


def _suiting(kind: Kind) -> dict[str, Any]:
    """Return the builders that suit a kind of column."""
    suited = {
        Kind.NUMERIC: ("intervals", "quantiles", "frequent"),
        Kind.DATE: ("dates",),
        Kind.ORDINAL: ("frequent",),
    }.get(kind, ("prefix", "mask", "frequent"))
    return {key: BUILDER_FORMS[key][:3] for key in suited}


def _config(session: Session) -> Config:
    config = session.config
    if config is None:
        raise session.config_error or ConfigError("nothing is open", remedy="Open a table or a config first.")
    return config


def _set_role(session: Session, form: Values, version: int) -> Change:
    name, chosen = form["column"], form.get("role", "")
    role = Role(chosen) if chosen in list(Role) else None
    config = _config(session)
    dropped = [] if role is Role.SENSITIVE else _principles_on(config, name)
    label = f"{name}: {ROLES[role][0].lower()}"
    if dropped:
        label += f"; {len(dropped)} requirement{'s' if len(dropped) > 1 else ''} on it removed"
    kind = None if role is None or name in config.columns else _found_kind(session, name)

    def change(text: str) -> str:
        for number in reversed(dropped):
            text = remove_principle(text, number)
        text = set_role(text, name, None if role is None else str(role))
        return text if kind is None else set_values(text, ["columns", name], {"kind": str(kind)})

    session.edit(label, change, version)
    return Change(label)


def _principles_on(config: Config, name: str) -> list[int]:
    """Return the numbers of the requirements that are stated for a column."""
    on = [principle.get("on") for principle in config.principles]
    return [number for number, one in enumerate(on) if one == name or (isinstance(one, list) and name in one)]


def _found_kind(session: Session, name: str) -> Kind | None:
    profile: Profile = session.profile()
    return profile[name].kind if name in session.raw.data.column_names else None


def _set_kind(session: Session, form: Values, version: int) -> Change:
    name, chosen = form["column"], form.get("kind", "")
    kind = chosen if chosen in list(Kind) else None
    label = f"{name}: {kind or 'kind found from its cells'}"

    def change(text: str) -> str:
        return set_values(text, ["columns", name], {"kind": kind})

    session.edit(label, change, version, check=lambda config: session.check_column(config, name))
    return Change(label)


def _set_recoding(session: Session, form: Values, version: int) -> Change:
    name, chosen = form["column"], form.get("recoding", "")
    recoding = chosen if chosen in RECODINGS else None
    label = f"{name}: published as {recoding or 'suits it'}"
    session.edit(label, lambda text: set_values(text, ["columns", name], {"recoding": recoding}), version)
    return Change(label)


def _set_person(session: Session, form: Values, version: int) -> Change:
    """Say which column identifies the person of a row, if people have several."""
    name = form.get("person", "") or None
    label = "every row is another person" if name is None else f"{name} identifies the person of a row"

    def check(config: Config) -> None:
        _ = session.opened.read(config).units

    session.edit(label, lambda text: set_values(text, ["data"], {"person_id": name}), version, check=check)
    return Change(label)


def _snippets(session: Session) -> Snippets:
    place = "sfumato.toml" if session.place is None else session.place.name
    return Snippets(
        f"sfumato audit {place}",
        f"import sfumato as sf\n\nconfig = sf.Config.load({place!r})\ntable = config.table()\nprint(sf.profile(table))\n",
    )


COLUMNS = Screen(
    name="columns",
    title="Columns",
    content=_content,
    snippets=_snippets,
    actions={
        "role": _set_role,
        "kind": _set_kind,
        "recoding": _set_recoding,
        "person": _set_person,
        "hierarchy": set_hierarchy,
        "groups": edit_groups,
    },
    parts={
        "uniqueness": UNIQUENESS,
        "columns": Part(roles_key, _columns),
        "values": Part(_column_key, _values),
        "hierarchy": Part(_column_key, _hierarchy),
    },
)

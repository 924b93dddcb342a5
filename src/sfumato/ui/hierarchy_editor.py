"""The hierarchy of a column, built by a builder or grouped by hand: what is shown, and the changes of the config."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sfumato.config import Config
from sfumato.config_edits import set_value, set_values
from sfumato.data.column import Column
from sfumato.errors import ConfigError, HierarchyError
from sfumato.ui.group_levels import Levels, levels_of, moved, renamed, rests
from sfumato.ui.screen import Change, Values
from sfumato.ui.session import Session

MOST_VALUES = 1000
"""Values of a column that can be grouped by hand; with more, a builder or a file is the better way."""

_EXAMPLES = 5
"""The nodes that are named on each level of a preview."""


def preview(column: Column) -> list[dict[str, Any]]:
    """Return the levels of a column's hierarchy: how many nodes each has, the smallest, and the largest ones by name."""
    if column.hierarchy is None or column.paths is None:
        return []
    counts = column.counts
    found = []
    for level in range(1, column.hierarchy.height):
        nodes = column.paths[:, level]
        labels = column.hierarchy.labels[level]
        rows = np.bincount(nodes, weights=counts, minlength=len(labels)).astype(np.int64)
        used = np.flatnonzero(rows)
        largest = used[np.argsort(-rows[used], kind="stable")][:_EXAMPLES]
        found.append(
            {
                "level": level,
                "nodes": len(used),
                "smallest": int(rows[used].min()),
                "examples": [(labels[n] if n < len(labels) else "missing", int(rows[n])) for n in largest],
                "more": len(used) - len(largest),
            }
        )
    return found


def hand_levels(config: Config, name: str) -> Levels | None:
    """Return the groups that the config states for a column; None if it states no groups."""
    section = config.columns.get(name)
    declared = None if section is None else section.hierarchy
    if declared is None or isinstance(declared, str) or declared.groups is None:
        return None
    return [{group: list(inside) for group, inside in level.items()} for level in declared.groups]


def hand_rests(config: Config, name: str) -> list[str]:
    """Return the names of what is in no group, one per level."""
    section = config.columns.get(name)
    declared = (
        None if section is None or section.hierarchy is None or isinstance(section.hierarchy, str) else section.hierarchy
    )
    return rests(None if declared is None else declared.rest, len(hand_levels(config, name) or [{}]))


def groups_shown(column: Column, levels: Levels, level: int, rest: Sequence[str]) -> dict[str, Any]:
    """Return what the editor of one level shows: the groups with what they contain, and what is in none, by frequency."""
    rows = {column.labels(code): int(column.counts[code]) for code in range(column.size)}
    for below, left_over in zip(levels[:level], rest, strict=False):
        inside = {member for members in below.values() for member in members}
        left = sum(count for member, count in rows.items() if member not in inside)
        rows = {group: sum(rows.get(member, 0) for member in members) for group, members in below.items()}
        if left:
            rows[left_over] = left
    placed = {member for members in levels[level].values() for member in members}
    order = sorted(rows, key=lambda member: -rows[member])

    def with_rows(members: Any) -> list[tuple[str, int]]:
        return [(member, rows.get(member, 0)) for member in members]

    return {
        "groups": [(g, sum(rows.get(m, 0) for m in members), with_rows(members)) for g, members in levels[level].items()],
        "rest": rest[level],
        "ungrouped": with_rows(member for member in order if member not in placed),
    }


def _numbers(text: str) -> list[str]:
    return [part for part in re.split(r"[,;\s]+", text) if part]


def _whole(text: str) -> list[int]:
    parts = _numbers(text)
    if not parts or not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        raise HierarchyError(f"{text!r} is not a list of whole numbers", remedy="Enter some, such as 3, 2, 1.", value=text)
    return [int(part) for part in parts]


def _bounded(text: str) -> list[int | str]:
    parts = _numbers(text)
    if not parts:
        raise HierarchyError("no width is given", remedy="Enter some, such as 5, 10, 20.", value=text)
    return [int(part) if part.isascii() and part.isdigit() else part for part in parts]


BUILDER_FORMS: dict[str, tuple[str, str, str, Callable[[str], Any]]] = {
    "intervals": ("Intervals of numbers", "Widths, each a multiple of the one before", "5, 10, 20", _bounded),
    "quantiles": ("Ranges with about as many rows each", "Numbers of ranges, from fine to coarse", "20, 10, 5", _whole),
    "prefix": ("Prefixes of codes", "Lengths, from long to short", "3, 2, 1", _whole),
    "mask": ("Masked codes", "Numbers of masked characters", "1, 2, 3", _whole),
    "dates": ("Periods of the calendar", "Periods, from short to long", "month, quarter, year", _numbers),
    "frequent": ("The most frequent values, the rest merged", "Numbers of values that are kept", "20, 5", _whole),
}
"""For each builder that takes a list: what it makes, what the list means, an example, and how the list is read."""


def set_hierarchy(session: Session, form: Values, version: int) -> Change:
    """Give a column the hierarchy of a builder, groups to fill in by hand, or none."""
    name, builder = form["column"], form.get("builder", "")
    if builder == "none":
        return _change(session, name, version, f"{name}: no hierarchy", None)
    if builder == "flat":
        return _change(session, name, version, f"{name}: no level between its values and *", {"flat": True})
    if builder == "groups":
        return _begin_groups(session, name, version)
    if builder not in BUILDER_FORMS:
        raise ConfigError(f"there is no builder {builder!r}", remedy="Choose another one.", value=builder)
    title, _, _, read = BUILDER_FORMS[builder]
    return _change(session, name, version, f"{name}: {title.lower()}", {builder: read(form.get("steps", ""))})


def _begin_groups(session: Session, name: str, version: int) -> Change:
    column = session.table.column(name)
    if column.size > MOST_VALUES:
        raise HierarchyError(
            f"{column.size:,} values are too many to group by hand",
            remedy="Use a builder, or a file: sfumato hierarchy writes one to fill in.",
            column=name,
        )
    levels = levels_of(column.hierarchy) if column.hierarchy is not None and column.hierarchy.height > 1 else [{}]
    return _change(session, name, version, f"{name}: groups by hand", {"groups": levels, "rest": _rest(None, levels)})


def _rest(declared: Sequence[str] | None, levels: Levels) -> str | list[str]:
    names = rests(declared, len(levels))
    return names[0] if len(names) == 1 else names


def edit_groups(session: Session, form: Values, version: int) -> Change:
    """Move values to another group, rename a group, or add or remove a level."""
    name, stated = form["column"], form.get("level", "0")
    level = int(stated) if stated.isascii() and stated.isdigit() and len(stated) < 4 else -1
    config = session.config
    levels = None if config is None else hand_levels(config, name)
    if levels is None or not 0 <= level < len(levels):
        raise ConfigError("the config states no such groups", remedy="Reload the page.", column=name)
    members = [key.removeprefix("value:") for key in form if key.startswith("value:")]
    step = form.get("step", "move")
    to = form.get("new", "").strip() or form.get("to", "")
    if step == "move":
        if not members:
            raise HierarchyError("nothing is selected", remedy="Tick the values to move.", column=name)
        where = f"to {to!r}" if to else "to no group"
        what = repr(members[0]) if len(members) == 1 else f"{len(members)} values"
        return _change_groups(session, name, version, f"{name}: {what} {where}", moved(levels, level, members, to))
    if step.startswith("rename:"):
        old = step.removeprefix("rename:")
        new = form.get(f"name:{old}", old).strip()
        return _change_groups(session, name, version, f"{name}: {old!r} is now {new!r}", renamed(levels, level, old, new))
    if step == "level":
        return _change_groups(session, name, version, f"{name}: a further level", [*levels, {}])
    if step == "unlevel" and len(levels) > 1:
        return _change_groups(session, name, version, f"{name}: without level {level + 1}", levels[:level])
    raise ConfigError("there is no such change", remedy="Reload the page.", column=name)


def _change_groups(session: Session, name: str, version: int, label: str, levels: Levels) -> Change:
    config = session.config
    rest = None if config is None else hand_rests(config, name)
    return _change(session, name, version, label, {"groups": levels, "rest": _rest(rest, levels)})


def _change(session: Session, name: str, version: int, label: str, hierarchy: Mapping[str, Any] | None) -> Change:
    def changed(text: str) -> str:
        if hierarchy is None:
            return set_values(text, ["columns", name], {"hierarchy": None, "recoding": None})
        return set_value(text, ["columns", name, "hierarchy"], hierarchy)

    session.edit(label, changed, version, check=lambda config: session.check_column(config, name))
    return Change(label)

"""Changes of groups of values that a person makes by hand: pure functions on what a config states as `groups`."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.data.hierarchy import Hierarchy
from sfumato.errors import HierarchyError

Levels = list[dict[str, list[str]]]
"""For each level its groups: the name, and the values or the groups of the level below that it contains."""

REST = "other"
"""The name of the group of everything that is in no other one; on further levels with a number."""


def rests(declared: str | Sequence[str] | None, levels: int) -> list[str]:
    """Return the name of the rest on each level: as declared, as far as that can be, because a label has one meaning only.

    >>> rests(None, 2), rests("misc", 1), rests("misc", 2), rests(["a"], 2)
    (['other', 'other 2'], ['misc'], ['misc', 'misc 2'], ['a', 'a 2'])
    """
    known = [declared] if isinstance(declared, str) else list(declared or [REST])
    return [*known, *(f"{known[0]} {level}" for level in range(len(known) + 1, levels + 1))][:levels]


def moved(levels: Levels, level: int, members: Sequence[str], to: str) -> Levels:
    """Return the levels with members in another group, which is new if there is none of that name; "" is no group.

    >>> moved([{"lung": ["flu", "asthma"], "gut": ["ulcer"]}], 0, ["asthma"], "gut")
    [{'lung': ['flu'], 'gut': ['ulcer', 'asthma']}]
    >>> moved([{"lung": ["flu"]}, {"chest": ["lung"]}], 0, ["flu"], "")
    [{}, {}]
    """
    result = _copied(levels)
    groups = result[level]
    for name in groups:
        groups[name] = [member for member in groups[name] if member not in set(members)]
    if to:
        groups.setdefault(to, []).extend(members)
    for name in [name for name, inside in groups.items() if not inside]:
        del groups[name]
        if level + 1 < len(result) and any(name in inside for inside in result[level + 1].values()):
            result = moved(result, level + 1, [name], "")
    return result


def renamed(levels: Levels, level: int, old: str, new: str) -> Levels:
    """Return the levels with another name of a group.

    >>> renamed([{"lung": ["flu"]}, {"chest": ["lung"]}], 0, "lung", "airways")
    [{'airways': ['flu']}, {'chest': ['airways']}]
    """
    if not new.strip():
        raise HierarchyError("a group needs a name", remedy="Enter one.", value=new)
    if new != old and new in levels[level]:
        raise HierarchyError(f"there is a group {new!r} already", remedy="Enter another name.", value=new)
    result = _copied(levels)
    result[level] = {new if name == old else name: inside for name, inside in result[level].items()}
    if level + 1 < len(result):
        above = result[level + 1]
        result[level + 1] = {n: [new if member == old else member for member in inside] for n, inside in above.items()}
    return result


def levels_of(hierarchy: Hierarchy) -> Levels:
    """Return a hierarchy as groups, so that it can be changed by hand; its root and its single values are left out.

    >>> levels_of(Hierarchy.from_rows([["flu", "lung", "*"], ["asthma", "lung", "*"], ["gout", "gout", "*"]]))
    [{'lung': ['flu', 'asthma'], 'gout': ['gout']}]
    """
    rows = hierarchy.rows()
    levels: Levels = []
    for level in range(1, hierarchy.height):
        groups: dict[str, list[str]] = {}
        for row in rows:
            inside = groups.setdefault(row[level], [])
            if row[level - 1] not in inside:
                inside.append(row[level - 1])
        levels.append(groups)
    return levels


def _copied(levels: Levels) -> Levels:
    return [{name: list(inside) for name, inside in groups.items()} for groups in levels]

"""Check that the cells of a full-domain release are nodes of the stated level of each quasi-identifier's hierarchy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sfumato.data.hierarchy import Hierarchy, HierarchyBuilder
from sfumato.data.schema import Kind, Schema
from sfumato.releases.cells import WITHHELD, hierarchy_cell, interval_end, is_quoted, is_set_value, is_value, unquote
from sfumato.releases.models import GroupedTable
from sfumato.verification.checks import Check
from sfumato.verification.row_facts import RowFacts


def level_check(document: GroupedTable, facts: RowFacts, declared: Schema) -> Check | None:
    """Check the levels that release.json states against the published cells; None if it states none."""
    levels = {column.name: column.level for column in document.columns if column.level is not None}
    if not levels:
        return None
    for name in {**dict.fromkeys(declared.quasi_identifiers), **levels}:
        if name not in declared.quasi_identifiers or name not in levels:
            return Check("levels", False, f"levels are stated for the quasi-identifiers or for none; {name!r} differs")
        hierarchy, kind = declared.hierarchies.get(name), Kind(declared.kinds[name])
        problem = level_problem(levels[name], facts.texts(name), hierarchy, kind)
        if problem is not None:
            return Check("levels", False, f"{problem} of {name!r}")
    stated = ", ".join(f"{name} {level}" for name, level in levels.items())
    return Check("levels", True, f"every cell is a node of the stated level: {stated}")


def level_problem(level: Any, cells: Iterable[str | None], hierarchy: Any, kind: Kind) -> str | None:
    """Return the problem with the first cell that is not a node of a level, or with the level itself; None if all are.

    Without a hierarchy there are two levels, the values and `*`. Missing values are a node of their own below the root.

    >>> from sfumato.data.hierarchy import Intervals
    >>> level_problem(1, ["[30, 40)", None, "31"], Intervals((10,)), Kind.NUMERIC)
    "'31' is not a node of level 1"
    """
    height = getattr(hierarchy, "height", 1)
    if not isinstance(level, int) or isinstance(level, bool) or not 0 <= level <= height:
        return f"{level!r} is not a level of the hierarchy"
    nodes: Mapping[str, Any] = {}
    if isinstance(hierarchy, Hierarchy):
        plain = kind in (Kind.NUMERIC, Kind.DATE, Kind.SET)
        nodes = dict.fromkeys(hierarchy_cell(label, level, height, plain) for label in hierarchy.labels[level])
    for cell in cells:
        if level == height:
            fits = cell == WITHHELD
        elif not cell:
            fits = True
        elif isinstance(hierarchy, Hierarchy):
            # before format 3 more labels were in quotes
            fits = cell in nodes or (is_quoted(cell) and unquote(cell) in nodes)
        elif level == 0:
            fits = _is_value(cell, kind)
        else:
            label = unquote(cell) if is_quoted(cell) else cell
            fits = isinstance(hierarchy, HierarchyBuilder) and hierarchy.is_node(label, level)
        if not fits:
            return f"{cell!r} is not a node of level {level}"
    return None


def _is_value(cell: str, kind: Kind) -> bool:
    """Return whether a cell is a single value of a kind."""
    if kind in (Kind.NUMERIC, Kind.DATE):
        return interval_end(cell, kind is Kind.DATE) is not None
    if kind is Kind.SET:
        return is_set_value(cell)
    return is_value(cell)

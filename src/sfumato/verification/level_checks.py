"""Whether the cells of a full-domain release are what it says: nodes of one level of each quasi-identifier's hierarchy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from sfumato.data.hierarchy import Hierarchy, Intervals
from sfumato.data.schema import Kind, Schema
from sfumato.exact import as_fraction
from sfumato.exact.numbers import parse_decimal
from sfumato.releases.manifest import Manifest
from sfumato.verification.cell_coverage import QUOTED, end_of_interval, node_cell
from sfumato.verification.checks import Check


def level_check(manifest: Manifest, published: pa.Table, declared: Schema) -> Check | None:
    """Check the levels that release.json tells against the published cells; None if it tells none."""
    told = {column["name"]: column["level"] for column in manifest.content["columns"] if "level" in column}
    if not told:
        return None
    for name in {**dict.fromkeys(declared.quasi_identifiers), **told}:
        if name not in declared.quasi_identifiers or name not in told:
            return Check("levels", False, f"a level is told of some columns, and {name!r} is not as they are")
        hierarchy, kind = declared.hierarchies.get(name), Kind(declared.kinds[name])
        cells = published.column(name).unique().to_pylist()
        problem = level_problem(told[name], cells, hierarchy, kind)
        if problem is not None:
            return Check("levels", False, f"{problem} of {name!r}")
    shown = ", ".join(f"{name} {level}" for name, level in told.items())
    return Check("levels", True, f"every cell is a node of the level that is told: {shown}")


def level_problem(level: Any, cells: Iterable[str | None], hierarchy: Any, kind: Kind) -> str | None:
    """The first cell that is no node of a level; or that there is no such level.

    Without a hierarchy there are the values and `*`; missing values are a node of their own below that.

    >>> level_problem(1, ["[30, 40)", None, "31"], Intervals((10,)), Kind.NUMERIC)
    "'31' is no node of level 1"
    """
    height = len(hierarchy.widths) + 1 if isinstance(hierarchy, Intervals) else getattr(hierarchy, "height", 1)
    if not isinstance(level, int) or isinstance(level, bool) or not 0 <= level <= height:
        return f"{level!r} is no level of the hierarchy"
    nodes: Mapping[str, Any] = {}
    if isinstance(hierarchy, Hierarchy):
        plain = kind in (Kind.NUMERIC, Kind.SET)
        nodes = dict.fromkeys(node_cell(label, level, height, plain) for label in hierarchy.labels[level])
    for cell in cells:
        if level == height:
            fits = cell == "*"
        elif not cell:
            fits = True
        elif isinstance(hierarchy, Hierarchy):
            fits = cell in nodes
        elif level == 0:
            fits = _is_value(cell, kind)
        else:
            fits = isinstance(hierarchy, Intervals) and _is_interval(cell, hierarchy, level)
        if not fits:
            return f"{cell!r} is no node of level {level}"
    return None


def _is_value(cell: str, kind: Kind) -> bool:
    """Whether a cell is a value itself, and not several or none."""
    if kind is Kind.NUMERIC:
        return parse_decimal(cell) is not None
    if kind is Kind.SET:
        return cell.startswith("{") and not cell.startswith("{{")
    return cell != "*" and (cell[0] not in '[{"' or QUOTED.fullmatch(cell) is not None)


def _is_interval(cell: str, intervals: Intervals, level: int) -> bool:
    """Whether a cell is one of the half-open intervals of a level."""
    ends = cell[1:-1].split(", ") if cell.startswith("[") and cell.endswith(")") else []
    numbers = [end_of_interval(end) for end in ends]
    if len(numbers) != 2 or numbers[0] is None or numbers[1] is None:
        return False
    width, origin = as_fraction(intervals.widths[level - 1]), as_fraction(intervals.origin)
    return numbers[1] - numbers[0] == width and (numbers[0] - origin) % width == 0

"""Check what a table exposes beyond its principles: count it again, from the published file alone.

The counting shares nothing with the code that made the release: pyarrow groups the rows by their cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyarrow import compute

from sfumato.data.schema import Role, Schema
from sfumato.data.table import Table
from sfumato.errors import ColumnError
from sfumato.exact import as_fraction, written
from sfumato.io.write_files import cell_texts
from sfumato.plurals import count_of
from sfumato.principles import Principle
from sfumato.principles.scope import covered_attributes
from sfumato.releases.exposure_models import NEAR_CONSTANT, UncoveredWarning, share_text
from sfumato.releases.models import MARKED_SINCE, GroupedTable
from sfumato.verification.checks import Check

_EXPOSED_SINCE = 3
"""The first format that states what a table exposes beyond its principles."""

_OLDER = "not checked: a release of an older format does not state it"


def exposure_checks(
    document: GroupedTable, table: Table, declared: Schema, principles: Sequence[Principle], version: int
) -> list[Check]:
    """Check the warnings and figures on sensitive attributes, and the rows that unchanged columns single out.

    `table`: the published one. `declared`: the schema of the original. `version`: of the format.
    """
    if version < _EXPOSED_SINCE:
        return [Check("warnings", None, _OLDER), Check("unchanged", None, _OLDER)]
    groups = pa.array(table.column(document.group).codes)
    return [
        _warnings_check(document, table, declared, principles, groups),
        _unchanged_check(document, table, declared, groups, version),
    ]


def _warnings_check(
    document: GroupedTable, table: Table, declared: Schema, principles: Sequence[Principle], groups: pa.Array
) -> Check:
    """Check that release.json warns of each sensitive attribute that no requirement covers, with the true figures."""
    if document.warnings is None:
        return Check("warnings", False, "release.json does not state them")
    covered = covered_attributes(principles, declared) if declared.sensitive else set()
    values = {name: [pa.array(table.column(c).codes) for c in declared.components(name)] for name in declared.sensitive}
    warnings: list[dict[str, Any]] = []
    accepted: list[dict[str, Any]] = []
    for name in declared.sensitive:
        if name in covered:
            continue
        figures = {"attribute": name, **_constant(groups, values[name])}
        if name in declared.accepted:
            accepted.append({**figures, "reason": declared.accepted[name]})
        else:
            warnings.append({"kind": "uncovered", **figures})
    stated_here = [claim.to_dict() for claim in document.warnings if isinstance(claim, UncoveredWarning)]
    problem = _first_difference(stated_here, warnings, "warnings")
    coverage = None
    if declared.sensitive:
        unique = _unique([column for columns in values.values() for column in columns])
        coverage = {"near_constant": written(NEAR_CONSTANT), "unique_rows": unique, "accepted": accepted}
    stated = None if document.coverage is None else document.coverage.to_dict()
    problem = problem or _first_difference(stated, coverage, "coverage")
    uncovered = [claim["attribute"] for claim in warnings]
    detail = (
        f"as stated, no requirement covers {', '.join(map(repr, uncovered))}"
        if uncovered
        else "a requirement covers every sensitive attribute, or it is accepted"
    )
    return Check("warnings", problem is None, problem or detail)


def _unchanged_check(document: GroupedTable, table: Table, declared: Schema, groups: pa.Array, version: int) -> Check:
    """Check how many rows the columns that are published unchanged single out, and that these are within the limit."""
    names = [name for name in table.data.column_names if name != document.group and declared.role(name) is Role.OTHER]
    stated = None if document.unchanged is None else document.unchanged.to_dict()
    if not names:
        problem = None if stated is None else "release.json states figures, but no column is published unchanged"
        return Check("unchanged", problem is None, problem or "no column is published unchanged")
    columns = [_texts(table.data.column(name), name, version) for name in names]
    limit = as_fraction(declared.unchanged_limit)
    rows = _unique(columns)
    counted = {
        "columns": names,
        "limit": written(limit),
        "rows": rows,
        "rows_in_groups": _unique([groups, *columns]),
        "by_column": {name: _unique([column]) for name, column in zip(names, columns, strict=True)},
    }
    problem = _first_difference(stated, counted, "unchanged")
    if problem is None and rows > limit * table.rows:
        problem = f"singled out: {share_text(rows, table.rows)}, and the limit is {written(limit)}"
    detail = f"{count_of(rows, 'row')} singled out by {count_of(len(names), 'column')}, within the limit {written(limit)}"
    return Check("unchanged", problem is None, problem or detail)


def _first_difference(stated: Any, counted: Any, where: str) -> str | None:
    """Return where a stated value first differs from the one that was counted; None if they agree."""
    if isinstance(stated, Mapping) and isinstance(counted, Mapping) and stated.keys() == counted.keys():
        pairs: Iterable[tuple[str, Any, Any]] = ((f"{where}.{key}", stated[key], counted[key]) for key in counted)
    elif isinstance(stated, list) and isinstance(counted, list) and len(stated) == len(counted):
        pairs = ((f"{where}[{i}]", one, other) for i, (one, other) in enumerate(zip(stated, counted, strict=True)))
    else:
        return None if stated == counted else f"release.json states {where} = {stated!r}, but it is {counted!r}"
    return next(filter(None, (_first_difference(one, other, place) for place, one, other in pairs)), None)


def _texts(column: pa.ChunkedArray, name: str, version: int) -> pa.Array:
    """Return the cells as they are in a CSV; cells that a CSV cannot contain as Python's.

    Null is an empty text where the format does not distinguish them.
    """
    try:
        texts = cell_texts(column, name)
        return texts if version >= MARKED_SINCE else texts.fill_null("")
    except ColumnError:
        return pa.array([repr(cell) for cell in column.to_pylist()], pa.string())


def _counted(columns: Sequence[pa.Array]) -> pa.Table:
    """Return the distinct rows of some columns, and in the column `count_all` how often each occurs."""
    names = [str(number) for number in range(len(columns))]
    return pa.table(dict(zip(names, columns, strict=True))).group_by(names).aggregate([([], "count_all")])


def _unique(columns: Sequence[pa.Array]) -> int:
    """Return the number of rows that no other row equals."""
    return int(compute.sum(compute.equal(_counted(columns)["count_all"], 1)).as_py())


def _constant(groups: pa.Array, values: Sequence[pa.Array]) -> dict[str, int]:
    """Count the groups, and their rows, in which all rows, or nearly all, have the same value."""
    counted = _counted([groups, *values]).group_by("0")
    each = counted.aggregate([("count_all", "count"), ("count_all", "sum"), ("count_all", "max")]).to_pydict()
    distinct, sizes, largest = (each[f"count_all_{what}"] for what in ("count", "sum", "max"))
    constant = [size for size, values in zip(sizes, distinct, strict=True) if values == 1]
    share, whole = NEAR_CONSTANT.as_integer_ratio()
    near = [size for size, most in zip(sizes, largest, strict=True) if whole * most >= share * size]
    return {
        "constant_groups": len(constant),
        "constant_rows": sum(constant),
        "near_constant_groups": len(near),
        "near_constant_rows": sum(near),
    }

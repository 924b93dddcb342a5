"""Check what a table exposes beyond its principles: count it again, from the published file alone.

The counting shares nothing with the code that made the release; see `row_facts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sfumato.data.schema import Role, Schema
from sfumato.exact import as_fraction, written
from sfumato.plurals import count_of
from sfumato.principles import Principle
from sfumato.principles.scope import covered_attributes
from sfumato.releases.exposure_models import NEAR_CONSTANT, UncoveredWarning, share_text
from sfumato.releases.models import GroupedTable, SecretsTable
from sfumato.verification.checks import Check
from sfumato.verification.row_facts import RowFacts

_EXPOSED_SINCE = 3
"""The first format that states what a table exposes beyond its principles."""

_OLDER = "not checked: a release of an older format does not state it"


def exposure_checks(
    document: GroupedTable, facts: RowFacts, declared: Schema, principles: Sequence[Principle], version: int
) -> list[Check]:
    """Check the warnings and figures on sensitive attributes, and the rows that unchanged columns single out.

    `facts`: of the published table. `declared`: the schema of the original. `version`: of the format.
    """
    if version < _EXPOSED_SINCE:
        return [Check("warnings", None, _OLDER), Check("unchanged", None, _OLDER)]
    return [
        warnings_check(document, facts, declared, principles),
        _unchanged_check(document, facts, declared, version),
    ]


def warnings_check(
    document: GroupedTable | SecretsTable, facts: RowFacts, declared: Schema, principles: Sequence[Principle]
) -> Check:
    """Check that release.json warns of each sensitive attribute that no requirement covers, with the true figures."""
    if document.warnings is None:
        return Check("warnings", False, "release.json does not state them")
    covered = covered_attributes(principles, declared) if declared.sensitive else set()
    warnings: list[dict[str, Any]] = []
    accepted: list[dict[str, Any]] = []
    for name in declared.sensitive:
        if name in covered:
            continue
        figures = {"attribute": name, **facts.constant(declared.components(name))}
        if name in declared.accepted:
            accepted.append({**figures, "reason": declared.accepted[name]})
        else:
            warnings.append({"kind": "uncovered", **figures})
    stated_here = [claim.to_dict() for claim in document.warnings if isinstance(claim, UncoveredWarning)]
    problem = _first_difference(stated_here, warnings, "warnings")
    coverage = None
    if declared.sensitive:
        unique = facts.unique_values([column for name in declared.sensitive for column in declared.components(name)])
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


def _unchanged_check(document: GroupedTable, facts: RowFacts, declared: Schema, version: int) -> Check:
    """Check how many rows the columns that are published unchanged single out, and that these are within the limit."""
    table = facts.table
    names = [name for name in table.data.column_names if name != document.group and declared.role(name) is Role.OTHER]
    stated = None if document.unchanged is None else document.unchanged.to_dict()
    if not names:
        problem = None if stated is None else "release.json states figures, but no column is published unchanged"
        return Check("unchanged", problem is None, problem or "no column is published unchanged")
    limit = as_fraction(declared.unchanged_limit)
    rows = facts.unique_texts(names, version)
    counted = {
        "columns": names,
        "limit": written(limit),
        "rows": rows,
        "rows_in_groups": facts.unique_texts(names, version, in_groups=True),
        "by_column": {name: facts.unique_texts([name], version) for name in names},
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

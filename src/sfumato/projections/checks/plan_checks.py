"""Checks of the plan of a projected release: its attributes, and the thresholds on its ratios."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from sfumato.data.schema import Schema
from sfumato.errors import SfumatoError
from sfumato.exact import as_fraction
from sfumato.plurals import count_of
from sfumato.releases.models import ProjectedDocument, ThresholdClaim
from sfumato.verification.checks import Check

_THRESHOLDS = [("alpha", "association loss"), ("beta", "information exposure")]
"""The key and the name of each threshold that release.json must state, in this order."""

_ROUNDING = Fraction(1, 200)
"""A ratio in hundredths may differ from the exact one by this much."""

_TOLERANCE = 1e-9
"""Irrational figures may differ in their last digits between machines."""


def plan_check(document: ProjectedDocument, declared: Schema) -> Check:
    """Check that the plan contains every attribute of the declared schema exactly once, in canonical order."""
    problem = next(_plan_problems(document, declared), None)
    size = f"{count_of(len(document.attributes), 'attribute')} in {count_of(len(document.plan), 'table')}"
    return Check(
        "plan", problem is None, problem or f"{size}, each in one; the tables share the quasi-identifiers and nothing else"
    )


def _plan_problems(document: ProjectedDocument, declared: Schema) -> Iterator[str]:
    plan, sets, harmless = document.plan, document.sets, document.harmless
    if not all([document.attributes, *plan, *sets.values(), *harmless.values()]):
        yield "release.json contains an empty list of attributes, of a table, of bits or of harmless values"
    if not sets.keys() <= set(declared.sensitive):
        yield "release.json states bits of a set that is not a sensitive attribute"
    attributes = [part for name in declared.sensitive for part in sets.get(name, [name])]
    if document.attributes != attributes:
        yield "the attributes in release.json are not those of its config"
    placed = [name for block in plan for name in block]
    repeated = [name for name in attributes if placed.count(name) > 1]
    if repeated:
        yield f"{', '.join(map(repr, repeated))} is in two tables, which can then be joined by it"
    missing = [name for name in attributes if name not in placed]
    if missing:
        yield f"{', '.join(map(repr, missing))} is in no table"
    if len(placed) != len(attributes):
        yield "a table contains a column that is not a sensitive attribute"
    if not harmless.keys() <= set(attributes):
        yield "release.json states harmless values of a column that is not a sensitive attribute"
    if not _in_canonical_order(plan, attributes):
        yield "the tables are not in the order of their attributes"
    if len(plan) != len(document.tables):
        yield f"the plan has {count_of(len(plan), 'table')}, but release.json describes {len(document.tables)}"
    if not document.holds:
        yield "release.json states that the requirements do not hold"


def _in_canonical_order(plan: Sequence[Sequence[str]], attributes: Sequence[str]) -> bool:
    """Return whether attributes are in the declared order and tables in that of their first attribute.

    Any other order would carry information about how the plan was found.
    """
    position = {name: index for index, name in enumerate(attributes)}
    blocks = [[position.get(name, -1) for name in block] for block in plan]
    return blocks == sorted(sorted(block) for block in blocks)


def threshold_checks(document: ProjectedDocument, measured: Mapping[str, float] | None, suppressed: bool) -> list[Check]:
    """Compare the stated ratios with their thresholds and, if they were measured on the original, with the measurement."""
    if [(claim.key, claim.name) for claim in document.thresholds] != _THRESHOLDS:
        keys = " and ".join(key for key, _ in _THRESHOLDS)
        return [Check("thresholds", False, f"release.json must state {keys}, each once, in this order")]
    return [_threshold_check(claim, measured, suppressed) for claim in document.thresholds]


def quality_checks(document: ProjectedDocument) -> list[Check]:
    """Compare the discernibility of every table with the limit; the sizes of its groups are counted with its utility."""
    claim = document.quality
    if claim is None:
        return []
    try:
        limit = as_fraction(claim.wanted, "discernibility")
    except SfumatoError as error:
        return [Check("discernibility", False, f"invalid limit: {error.problem}")]
    measured = [table.utility.classes.discernibility for table in document.tables]
    if claim.discernibility != measured:
        return [Check("discernibility", False, "the stated values are not those of the utility of the tables")]
    if max(measured) > limit or not claim.holds:
        return [Check("discernibility", False, f"it is {max(measured):,} in a table, required at most {claim.wanted}")]
    return [Check("discernibility", True, f"at most {max(measured):,} in each table, required at most {claim.wanted}")]


def _threshold_check(claim: ThresholdClaim, measured: Mapping[str, float] | None, suppressed: bool) -> Check:
    """Check one ratio: what release.json states, and then, if it is known, the ratio of the original."""
    try:
        limit = as_fraction(claim.wanted, claim.key)
    except SfumatoError as error:
        return Check(claim.name, False, f"invalid threshold: {error.problem}")
    stated = f"{claim.measured}, required at most {claim.wanted}"
    if not 0 <= claim.measured <= 1 or not claim.holds:
        return Check(claim.name, False, f"release.json states no ratio within its threshold: {claim.measured!r}")
    if not 0 <= limit <= 1 or Fraction(str(claim.measured)) > limit + _ROUNDING:
        return Check(claim.name, False, f"the ratio is {stated}")
    if measured is None:
        return Check(claim.name, None, f"{stated}; not measured again without the original")
    if suppressed:
        reason = "not measured again: it is the ratio of the published rows, and release.json does not state which those are"
        return Check(claim.name, None, f"{stated}; {reason}")
    return _measured_check(claim, limit, measured[claim.key])


def _measured_check(claim: ThresholdClaim, limit: Fraction, ratio: float) -> Check:
    """Compare a ratio of the original with what release.json states, and with its threshold."""
    if not math.isclose(claim.measured, ratio, abs_tol=float(_ROUNDING) + _TOLERANCE):
        return Check(claim.name, False, f"release.json states {claim.measured}, but the ratio is {ratio:.4f}")
    if ratio > float(limit) + _TOLERANCE:
        return Check(claim.name, False, f"the ratio is {ratio:.4f}, required at most {float(limit):g}")
    return Check(claim.name, True, f"measured again: {claim.measured}, required at most {float(limit):g}")

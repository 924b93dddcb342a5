"""Measure the principles of a published table again, and compare them with what release.json states."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.audits.audit_result import Finding, finding_heading, worst_shown
from sfumato.data.table import Table
from sfumato.principles import Principle, attributes_of
from sfumato.releases.models import PrincipleClaim
from sfumato.verification.checks import Check
from sfumato.verification.declaration_checks import as_plain_data
from sfumato.verification.row_facts import RowFacts
from sfumato.verification.unit_checks import CountedUnits

NO_PEOPLE = "whom the cells of each group cover is known only beside the original"

NO_POPULATION = "a release does not contain the population that it was compared with; pass a schema or a config that has it"

_RELATIVE_TOLERANCE = 1e-9
"""Levels that are not rational numbers may differ in their last digits from machine to machine."""


def principle_checks(
    stated: Sequence[PrincipleClaim],
    facts: RowFacts,
    principles: Sequence[Principle],
    unavailable: Sequence[str],
    counted: CountedUnits,
) -> list[Check]:
    """Measure every principle again, and compare the verdict and the levels with those that release.json states.

    A principle that needs a distance function which is not available fails: a release must not pass for want of a check.
    Where people are counted and nobody says whose row a row is, nothing is measured, and the checks are not made.
    """
    if counted.unknown is not None:
        return _unmeasured(stated, facts.table, principles, counted.unknown)
    published = facts.table
    known = [principle for principle in principles if unknown_people(principle, published) is None]
    measurable = [p for p in known if not (unavailable and p.uses_distance)]
    findings = facts.measured(measurable, counted.units) if measurable else None
    by_principle: dict[int, list[tuple[Finding, dict[str, Any]]]] = {}
    if findings is not None:
        for finding, entry in zip(findings, findings.to_dict(0)["principles"], strict=True):
            by_principle.setdefault(id(finding.principle), []).append((finding, entry))
    checks, claims = [], _Claims(stated)
    for principle in principles:
        reason = unknown_people(principle, published)
        if reason is not None:
            checks += _unmeasured_claims(principle, claims, published, reason)
            continue
        if principle not in measurable:
            for names in attributes_of(principle, published.schema):
                claims.take(principle.name, principle.parameters(), " + ".join(names))
            detail = (
                "not measured again: the distance is a function of the publisher's own; pass schema=…, or a config, "
                "that contains it"
            )
            checks.append(Check(principle.label, False, detail))
            continue
        for finding, entry in by_principle[id(principle)]:
            claim = claims.take(entry["name"], entry["parameters"], entry["attribute"])
            checks.append(_compare(finding, entry, claim))
    problem = claims.problem()
    if problem is not None:
        checks.append(Check("principles", False, problem))
    if not principles:
        checks.append(Check("principles", False, "release.json states no principle, so the release guarantees nothing"))
    return checks


def unknown_people(principle: Principle, published: Table) -> str | None:
    """Return why the people with whom a principle compares published cells are unknown; None if they are not."""
    if principle.uses_population and published.schema.population is None:
        return NO_POPULATION
    people = published.original
    return NO_PEOPLE if principle.uses_original and (people is None or not people.known) else None


def _unmeasured(stated: Sequence[PrincipleClaim], table: Table, principles: Sequence[Principle], reason: str) -> list[Check]:
    """Return for each principle whether release.json states that it holds; the level itself is not checked."""
    checks, claims = [], _Claims(stated)
    for principle in principles:
        checks += _unmeasured_claims(principle, claims, table, reason)
    problem = claims.problem() or (None if principles else "release.json states no principle")
    return [*checks, *([] if problem is None else [Check("principles", False, problem)])]


def _unmeasured_claims(principle: Principle, claims: _Claims, table: Table, reason: str) -> list[Check]:
    attributes = attributes_of(principle, table.schema)
    return [_unmeasured_claim(principle, claims, " + ".join(names) or None, reason) for names in attributes]


def _unmeasured_claim(principle: Principle, claims: _Claims, attribute: str | None, reason: str) -> Check:
    """Return whether release.json states that a principle holds, whose level is not measured for a reason."""
    claim = claims.take(principle.name, principle.parameters(), attribute)
    heading = principle.label + (f" on {attribute}" if attribute else "")
    if claim is None or not claim.holds:
        return Check(heading, False, "release.json does not state that it holds")
    return Check(heading, None, f"not checked: {reason}")


class _Claims:
    """What release.json states about each principle, taken one by one as the principles are measured again."""

    def __init__(self, claims: Sequence[PrincipleClaim]) -> None:
        self.left = dict(enumerate(claims))
        self.order: list[int] = []

    def take(self, name: str, parameters: Mapping[str, Any], attribute: str | None) -> PrincipleClaim | None:
        """Return the claim about a principle on an attribute, once; None if there is none, or none is left."""
        wanted = name, as_plain_data(parameters), attribute
        for position, claim in self.left.items():
            if (claim.name, claim.parameters, claim.attribute) == wanted:
                self.order.append(position)
                return self.left.pop(position)
        return None

    def problem(self) -> str | None:
        """Return what is wrong with the claims that were not taken, or with their order; None if nothing is."""
        if self.left:
            others = [claim.label + (f" on {claim.attribute}" if claim.attribute else "") for claim in self.left.values()]
            return f"release.json states {' and '.join(others)}, but that is not requested"
        if self.order != sorted(self.order):
            return "release.json states the principles in another order than it requests them"
        return None


def _compare(finding: Finding, entry: Mapping[str, Any], claim: PrincipleClaim | None) -> Check:
    """Compare a principle, measured again as `entry`, with what release.json states about it."""
    heading = finding_heading(finding)
    levels = ", ".join(worst_shown(part) for part in finding.measurement.parts)
    if not finding.holds:
        return Check(heading, False, f"does not hold: {levels}; wanted {', '.join(entry['wanted'].values())}")
    if claim is None:
        return Check(heading, False, f"release.json does not state it; measured: {levels}")
    rational = not any(isinstance(level, float) for level in finding.levels.values())
    stated = claim.to_dict()
    for key, value in entry.items():
        other = stated.get(key)
        if other == value or (not rational and key in ("measured", "exact") and _close(other, value)):
            continue
        return Check(heading, False, f"release.json states {key} = {other!r}, but it is {value!r}")
    return Check(heading, True, f"measured again: {levels}")


def _close(stated: Any, measured: Mapping[str, Any]) -> bool:
    """Return whether levels agree up to the tolerance for numbers that are not rational."""
    try:
        return stated.keys() == measured.keys() and all(
            stated[key] == value or math.isclose(float(stated[key]), float(value), rel_tol=_RELATIVE_TOLERANCE)
            for key, value in measured.items()
        )
    except (AttributeError, TypeError, ValueError, OverflowError):
        return False

"""Publish several sensitive attributes in several tables: find a plan, and the groups of each of its tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sfumato.attribute import Attribute
from sfumato.auditing import library_of, listed, table_of
from sfumato.errors import ColumnProblem, ParameterProblem, Unreached
from sfumato.exact import Number, as_fraction, written
from sfumato.methods import Method
from sfumato.principles import Principle, attributes_of
from sfumato.progress import Progress, silent
from sfumato.projections import (
    Dependence,
    Harmless,
    Plan,
    PlanSearch,
    Spread,
    Tradeoff,
    harmless_values,
    search_plans,
    spread,
    tradeoff,
)
from sfumato.release.anonymize import check, checked_seed, checked_share, reading_notes
from sfumato.release.blocks import Blocks
from sfumato.release.projection import Projection, Threshold
from sfumato.release.publish import resolved_schema
from sfumato.release.release import Release
from sfumato.schema import Role, Schema
from sfumato.table import Table

SETS = ("bits", "whole")
"""What becomes of a set-valued attribute: a bit for each item, or one attribute whose values are sets."""

_OPEN = Threshold(Fraction(1), "open")


def project(
    data: Any,
    schema: Schema | None,
    principles: Sequence[Principle] | Principle,
    *,
    alpha: Number | None = None,
    beta: Number | None = None,
    plan: Iterable[Iterable[str]] | None = None,
    harmless: Harmless | None = None,
    sets: str = "bits",
    search: str = "auto",
    method: Method | str | None = None,
    seed: int = 0,
    suppress: Number = 0,
    progress: Progress = silent,
) -> Projection:
    """Publish several sensitive attributes in several tables, so that none betrays another (paper 004).

    Every table has all quasi-identifiers and some of the sensitive attributes, and every principle holds in it. `alpha`: how
    much of the association between attributes may be lost (Γ_α), from 0 to 1; `beta`: how much of what one attribute can
    betray of another may be exposed (Γ_β). Without either, both are taken from the knee of the trade-off; without one of
    them, it is the least that can be had beside the other. `plan`: the attributes of each table, if you know; it is
    checked, and none is searched for. `harmless`: for an attribute the values that harm nobody, or a function that says so.
    `sets`: "bits" spreads a set into one attribute for each item, "whole" keeps it. `search`: "greedy" (CODIP*),
    "exhaustive", or "auto".

    A principle on one attribute holds in the table where that stands; one on several taken together keeps them together.
    `suppress`: the largest share of rows that each table may drop. The rest is as for `anonymize`. If there is no such plan,
    `Unreached` says which threshold failed, by how much, and which plan is nearest.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({
    ...     "age": [30, 31, 32, 33, 50, 51, 52, 53],
    ...     "sex": ["f", "m"] * 4,
    ...     "title": ["ms", "mr"] * 4,
    ...     "rich": ["yes", "yes", "no", "no"] * 2,
    ... })
    >>> schema = sf.Schema(["age"], ["sex", "title", "rich"])
    >>> projection = project(people, schema, [sf.KAnonymity(4), sf.TCloseness("0.1")], alpha="0.1", beta="0.1")
    >>> projection.plan.label, [release.audit.holds for release in projection.releases]
    ('sex + title | rich', [True, True])
    """
    asked = listed(principles)
    seed, share = checked_seed(seed), checked_share(suppress)
    limits = {"alpha": checked_limit(alpha, "alpha"), "beta": checked_limit(beta, "beta")}
    source = table_of(data, schema)
    progress("measuring how the attributes depend on one another")
    apart, dependence = attributes_apart(source, sets, harmless)
    _check_principles(apart, asked)
    curve = tradeoff(dependence)
    blocks = Blocks(apart.table, apart.bits, asked, method, seed, share, progress)
    if plan is not None:
        chosen, found = _given(plan, apart, dependence.names), None
        thresholds = {key: _OPEN if limit is None else Threshold(limit, "given") for key, limit in limits.items()}
        _check_plan(chosen, dependence, thresholds, blocks)
    else:
        thresholds = _thresholds(limits, curve)
        progress("looking for a plan")
        found = _search(dependence, thresholds, blocks, search, source)
        assert found.found is not None
        chosen = found.found.plan
    releases = tuple(blocks.release(block) for block in chosen.blocks)
    left_out = tuple(name for name in source.data.column_names if source.schema.role(name) is Role.OTHER)
    return Projection(
        plan=chosen,
        releases=releases,
        dependence=dependence,
        tradeoff=curve,
        search=found,
        alpha=thresholds["alpha"],
        beta=thresholds["beta"],
        principles=asked,
        seed=seed,
        source=source,
        table=apart.table,
        sets=apart.bits,
        schema=resolved_schema(source),
        harmless=_told_harmless(harmless or {}, apart.table, chosen, releases),
        left_out=left_out,
        library=library_of(data),
        notes=_notes(thresholds, left_out, apart),
        reading=(*reading_notes(source), *dependence.notes),
    )


def checked_limit(value: Number | None, key: str) -> Fraction | None:
    """A threshold on a plan: from 0 to 1, or None if it is left open.

    >>> checked_limit("0.3", "alpha")
    Fraction(3, 10)
    """
    if value is None:
        return None
    limit = as_fraction(value, key)
    if not 0 <= limit <= 1:
        raise ParameterProblem(
            f"{key} = {written(limit)} is out of range",
            remedy="It is a share: write a number from 0 to 1, such as 0.3.",
            key=key,
            value=value,
        )
    return limit


def attributes_apart(source: Table, sets: str = "bits", harmless: Harmless | None = None) -> tuple[Spread, Dependence]:
    """The table with its sets as they are to be published, and how its sensitive attributes depend on one another.

    >>> import pyarrow as pa
    >>> people = Table(pa.table({"age": [1, 2], "dx": [["a"], ["a", "b"]]}), Schema(["age"], ["dx"]))
    >>> attributes_apart(people)[1].names
    ('dx=a', 'dx=b')
    """
    check(source, ())
    if sets not in SETS:
        raise ParameterProblem(
            f"sets = {sets!r} is unknown", remedy=f"Write one of: {', '.join(SETS)}.", key="sets", value=sets
        )
    apart = spread(source) if sets == "bits" else Spread(source, {})
    if len(apart.table.schema.sensitive) < 2:
        raise ColumnProblem(
            "there is one sensitive attribute, and a plan is about several"
            if apart.table.schema.sensitive
            else "there is no sensitive attribute, and a plan is about several",
            remedy="Publish it in one table with: anonymize. Or declare other columns as sensitive.",
            file=source.source,
            column=next(iter(apart.table.schema.sensitive), None),
        )
    return apart, Dependence.of(apart.table, harmless=harmless)


def _check_principles(apart: Spread, asked: Sequence[Principle]) -> None:
    """Refuse a principle on what is no attribute; a set may be named, and so may its bits."""
    named = replace(apart.table.schema, sensitive=(*apart.table.schema.sensitive, *apart.bits))
    for principle in asked:
        attributes_of(principle, named)


def _given(plan: Iterable[Iterable[str]], apart: Spread, names: Sequence[str]) -> Plan:
    """The plan that is given; a set that is named stands for all of its bits."""
    blocks = [[block] if isinstance(block, str) else list(block) for block in plan]
    return Plan.of([[part for name in block for part in apart.bits.get(name, (name,))] for block in blocks], names)


def _thresholds(limits: Mapping[str, Fraction | None], curve: Tradeoff) -> dict[str, Threshold]:
    """What is asked of a plan: as given; else as the knee of the trade-off has it, or the least beside what is given."""
    if all(limit is None for limit in limits.values()):
        return {"alpha": Threshold(curve.alpha, "knee"), "beta": Threshold(curve.beta, "knee")}
    found = {key: Threshold(limit, "given") for key, limit in limits.items() if limit is not None}
    if "alpha" not in found:
        found["alpha"] = Threshold(curve.least_alpha(found["beta"].limit), "least")
    if "beta" not in found:
        found["beta"] = Threshold(curve.least_beta(found["alpha"].limit), "least")
    return found


def _taken_together(principle: Principle, sets: Mapping[str, Sequence[str]]) -> set[str]:
    """The attributes that a principle names to be taken together, a set as its bits; none if it names just one."""
    on = getattr(principle, "on", None)
    names = () if on is None else (on,) if isinstance(on, str) else on
    found = {part for name in names for part in sets.get(name, (name,))}
    return found if len(found) > 1 else set()


def _monotone(blocks: Blocks) -> bool:
    """Whether a table can only be harder to publish for every attribute more (paper 004, Theorem 1)."""
    return not any(
        _taken_together(principle, blocks.sets) or (getattr(principle, "on", None) or principle.scope) == "whole"
        for principle in blocks.principles
    )


def _search(
    dependence: Dependence, thresholds: Mapping[str, Threshold], blocks: Blocks, search: str, source: Table
) -> PlanSearch:
    found = search_plans(
        dependence,
        thresholds["alpha"].limit,
        thresholds["beta"].limit,
        blocks.reachable,
        search,
        monotone=_monotone(blocks),
        start=_bound(blocks, dependence.names),
    )
    if found.found is None:
        known = [error for block in found.refused[:1] if isinstance(error := blocks.of(block), Unreached)]
        why = f". {' + '.join(found.refused[0])}: {known[0].problem}" if known and "principles" in found.failed else ""
        raise Unreached(
            f"nothing is published: {found.why}{why}",
            remedy=_remedy(found),
            file=source.source,
            key=", ".join(found.failed),
            value=None if found.nearest is None else found.nearest.plan.label,
        )
    return found


def _remedy(found: PlanSearch) -> str:
    words = {"alpha": "raise alpha", "beta": "raise beta", "principles": "ask for less of the principles"}
    some = [words[key] for key in ("alpha", "beta", "principles") if key in found.failed]
    if "alpha" in found.failed and "beta" not in found.failed:
        some.insert(1, "raise beta")
    text = ", or ".join(some)
    return f"{text[:1].upper()}{text[1:]}; or give a plan of your own."


def _bound(blocks: Blocks, names: Sequence[str]) -> Plan:
    """The plan of the most tables that keeps together what principles take together."""
    tables = [{name} for name in names]
    for principle in blocks.principles:
        together = _taken_together(principle, blocks.sets)
        joined = set().union(*(table for table in tables if table & together))
        tables = [table for table in tables if not table & together] + ([joined] if joined else [])
    return Plan.of(tables, names)


def _check_plan(plan: Plan, dependence: Dependence, thresholds: Mapping[str, Threshold], blocks: Blocks) -> None:
    """Check a plan that is given as CODIP does: both thresholds, and the principles in every table."""
    weighed = dependence.weighed(plan)
    verdicts = {
        "alpha": (dependence.loses_at_most, weighed.association_loss, "loses", "of the association between attributes"),
        "beta": (dependence.exposes_at_most, weighed.information_exposure, "exposes", "of what one attribute can betray"),
    }
    for key, (within, ratio, verb, what) in verdicts.items():
        limit = thresholds[key].limit
        if not within(plan, limit):
            raise Unreached(
                f"the plan {plan.label} {verb} {ratio:.4f} {what}, and {key} = {written(limit)}; nothing is published",
                remedy=f"Raise {key}, or let a plan be searched for.",
                key=key,
                value=ratio,
            )
    for block in plan.blocks:
        blocks.release(block)


def _told_harmless(harmless: Harmless, table: Table, plan: Plan, releases: Sequence[Release]) -> dict[str, list[str | None]]:
    """The published values that are not sensitive, as they are told: those of suppressed rows are nobody's affair."""
    found = {}
    for block, release in zip(plan.blocks, releases, strict=True):
        for name in block:
            if name not in harmless:
                continue
            attribute = Attribute.of(table, table.schema.components(name), name)
            harms = harmless_values(attribute, harmless[name])
            shown = Attribute.of(release.table, release.schema.components(name), name)
            there = {shown.told(value) for value in range(len(shown))}
            labels = [attribute.told(value) for value in range(len(attribute)) if harms[value]]
            found[name] = [label for label in labels if label in there]
    return {name: found[name] for name in plan.attributes if found.get(name)}


def _notes(thresholds: Mapping[str, Threshold], left_out: Sequence[str], apart: Spread) -> tuple[str, ...]:
    """What a reader of the release should know."""
    notes = []
    for key, threshold in thresholds.items():
        if threshold.origin in ("knee", "least"):
            how = "the knee of the trade-off has" if threshold.origin == "knee" else "the trade-off allows beside the other"
            notes.append(f"{key} was not given: {written(threshold.limit)} is what {how}, rounded up to hundredths")
    for name, bits in apart.bits.items():
        notes.append(f"the set {name!r} is published as {len(bits)} bits, one for each item")
    if left_out:
        names = ", ".join(map(repr, left_out))
        notes.append(f"left out, because they would link the tables row by row: {names}")
    return tuple(notes)

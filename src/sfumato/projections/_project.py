"""Publish several sensitive attributes in several tables: find a plan, and the groups of each of its tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sfumato._audit import table_of
from sfumato.anonymization._anonymize import check, checked_seed, checked_share, reading_notes
from sfumato.anonymization.methods import Method
from sfumato.anonymization.published_table import resolved_schema
from sfumato.data.attribute import Attribute
from sfumato.data.schema import Role, Schema
from sfumato.data.table import Table
from sfumato.errors import ColumnError, ParameterError
from sfumato.exact import Number, as_fraction, written
from sfumato.plurals import count_of
from sfumato.principles import Principle, PrincipleRequest, attributes_of, requested_principles
from sfumato.progress import Progress, silent
from sfumato.projections import (
    Dependence,
    EncodedSets,
    Harmless,
    Plan,
    check_search,
    harmless_values,
    listed_harmless,
    spread,
    tradeoff,
)
from sfumato.projections.common_people import Round, Same, same_people
from sfumato.projections.given_plan import left_of, plan_of, tables_of
from sfumato.projections.plan_choice import checked_plan, found_plan
from sfumato.projections.projected_tables import Blocks
from sfumato.projections.projection import Projection

SETS = ("bits", "whole")
"""What becomes of a set-valued attribute: a bit for each item, or one attribute whose values are sets."""


def project(
    data: Any,
    schema: Schema | None,
    principles: PrincipleRequest | Sequence[PrincipleRequest],
    *,
    alpha: Number | None = None,
    beta: Number | None = None,
    plan: Plan | Iterable[Iterable[str]] | str | None = None,
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
    betray of another may be exposed (Γ_β). Without either, the plan at the knee of the trade-off is taken, or the
    nearest to it whose tables can satisfy the principles; without one of them, the plan that has the least of it beside the
    other. `plan`: the attributes of each table, if you know, or a text such as "a,b|c"; it is checked, and none is searched
    for. `harmless`: for an attribute the values that harm nobody, or a function that says so.
    `sets`: "bits" spreads a set into one attribute for each item, "whole" keeps it. `search`: "greedy" (CODIP*),
    "exhaustive", or "auto".

    A principle on one attribute holds in the table where that stands; one on several taken together keeps them together.
    `suppress`: the largest share of rows that may be dropped, the same from every table. The rest is as for `anonymize`. If
    there is no such plan, `RequirementError` says which threshold failed, by how much, and which plan is nearest.

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
    asked = requested_principles(principles)
    seed, share = checked_seed(seed), checked_share(suppress)
    limits = {"alpha": checked_limit(alpha, "alpha"), "beta": checked_limit(beta, "beta")}
    check_search(search)
    given = None if plan is None else tables_of(plan)
    source = table_of(data, schema)
    harms = None if harmless is None else listed_harmless(harmless)

    def made(people: Table, rows: Any, harms: Harmless | None, share: Fraction) -> Round:
        progress("measuring how the attributes depend on one another")
        apart, dependence = attributes_apart(people, sets, harms)
        _check_principles(apart, asked)
        curve = tradeoff(dependence)
        blocks = Blocks(apart.table, apart.bits, rows, asked, method, seed, share, progress)
        if given is not None:
            tables = given if people is source else left_of(given, apart)
            choice = checked_plan(plan_of(tables, apart, dependence.names), dependence, limits, blocks)
        else:
            progress("looking for a plan")
            choice = found_plan(dependence, curve, limits, blocks, search)
        return Round(apart, dependence, curve, choice, tuple(blocks.release(block) for block in choice.plan.blocks))

    found = same_people(source, data, harms, share, made)
    choice, last = found.last.choice, found.last
    left_out = tuple(name for name in source.data.column_names if source.schema.role(name) is Role.OTHER)
    return Projection(
        plan=choice.plan,
        releases=last.releases,
        dependence=last.dependence,
        tradeoff=last.curve,
        search=choice.search,
        alpha=choice.thresholds["alpha"],
        beta=choice.thresholds["beta"],
        principles=asked,
        seed=seed,
        source=source,
        table=last.apart.table,
        sets=last.apart.bits,
        schema=resolved_schema(source),
        harmless=_told_harmless(found.harmless, last),
        left_out=left_out,
        notes=_notes(found, asked, left_out),
        reading=(*reading_notes(source), *last.dependence.notes),
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
        raise ParameterError(
            f"{key} = {written(limit)} is out of range",
            remedy="It is a share: write a number from 0 to 1, such as 0.3.",
            key=key,
            value=value,
        )
    return limit


def attributes_apart(source: Table, sets: str = "bits", harmless: Harmless | None = None) -> tuple[EncodedSets, Dependence]:
    """The table with its sets as they are to be published, and how its sensitive attributes depend on one another.

    >>> import pyarrow as pa
    >>> people = Table(pa.table({"age": [1, 2], "dx": [["a"], ["a", "b"]]}), Schema(["age"], ["dx"]))
    >>> attributes_apart(people)[1].names
    ('dx=a', 'dx=b')
    """
    check(source, ())
    if sets not in SETS:
        raise ParameterError(
            f"sets = {sets!r} is unknown", remedy=f"Write one of: {', '.join(SETS)}.", key="sets", value=sets
        )
    apart = spread(source) if sets == "bits" else EncodedSets(source, {})
    for name in apart.bits.keys() & (harmless or {}).keys():
        raise ParameterError(
            f"harmless values are given for the set {name!r}, which is published as bits",
            remedy=f'Give them for its bits, such as {{"{apart.bits[name][0]}": ["0"]}}; or keep sets whole.',
            key="harmless",
            column=name,
        )
    if len(apart.table.schema.sensitive) < 2:
        raise ColumnError(
            "there is one sensitive attribute, and a plan is about several"
            if apart.table.schema.sensitive
            else "there is no sensitive attribute, and a plan is about several",
            remedy="Publish it in one table with: anonymize. Or declare other columns as sensitive.",
            file=source.source,
            column=next(iter(apart.table.schema.sensitive), None),
        )
    return apart, Dependence.of(apart.table, harmless=harmless)


def _check_principles(apart: EncodedSets, asked: Sequence[Principle]) -> None:
    """Refuse a principle on what is no attribute; a set may be named, and so may its bits."""
    named = replace(apart.table.schema, sensitive=(*apart.table.schema.sensitive, *apart.bits))
    for principle in asked:
        attributes_of(principle, named)


def _told_harmless(harmless: Harmless, last: Round) -> dict[str, list[str | None]]:
    """The published values that are not sensitive, as they are told."""
    found = {}
    for name in (name for name in last.choice.plan.attributes if name in harmless):
        attribute = Attribute.of(last.apart.table, last.apart.table.schema.components(name), name)
        harms = harmless_values(attribute, harmless[name])
        found[name] = [attribute.told(value) for value in range(len(attribute)) if harms[value]]
    return {name: labels for name, labels in found.items() if labels}


_FROM = {
    "knee": "that of the knee of the trade-off",
    "near": "that of the plan nearest to the knee of the trade-off whose tables can satisfy the principles",
    "least": "the least of all plans within the other threshold whose tables can satisfy the principles",
}
"""Where a threshold that was not given comes from."""


def _notes(found: Same, asked: Sequence[Principle], left_out: Sequence[str]) -> tuple[str, ...]:
    """What a reader of the release should know."""
    choice, notes = found.last.choice, []
    for key, threshold in choice.thresholds.items():
        if threshold.origin in _FROM:
            limit = written(threshold.limit)
            notes.append(f"{key} was not given: {limit} is {_FROM[threshold.origin]}, rounded up to hundredths")
    if found.dropped:
        rows = f"{count_of(found.dropped, 'row')} of {found.rows:,}"
        notes.append(f"{rows} were suppressed, the same in every table; both ratios are those of the others")
    for name, bits in found.last.apart.bits.items():
        notes.append(f"the set {name!r} is published as {count_of(len(bits), 'bit')}, one for each item")
    whole = [each.label for each in asked if (getattr(each, "on", None) or each.scope) == "whole"]
    if whole and len(choice.plan) > 1:
        notes.append(f"{', '.join(whole)}: measured on all attributes of each table, for no table has them all")
    if left_out:
        names = ", ".join(map(repr, left_out))
        notes.append(f"left out, because they would link the tables row by row: {names}")
    return tuple(notes)

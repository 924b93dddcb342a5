"""Publish several sensitive attributes in several tables: find a plan, and the groups of each of its tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sfumato._audit import table_of
from sfumato.anonymization._anonymize import check, reading_notes
from sfumato.anonymization.methods import Method
from sfumato.anonymization.undeclared_columns import undeclared_note
from sfumato.anonymization.unit_groups import refuse_units
from sfumato.data.schema import Role, Schema
from sfumato.data.table import Table
from sfumato.errors import ColumnError, ParameterError
from sfumato.exact import Number, written
from sfumato.parameters import check_discernibility, check_ratio, check_share
from sfumato.plurals import count_of
from sfumato.principles import Principle, PrincipleRequest, attributes_of, requested_principles
from sfumato.progress import Progress, silent
from sfumato.projections.common_people import CommonPeople, ProjectionRound, publish_common_people
from sfumato.projections.encoded_sets import EncodedSets, encode_sets
from sfumato.projections.plan_choice import RequestedLimits, check_plan, find_plan
from sfumato.projections.plans.dependence import Dependence
from sfumato.projections.plans.harmless_values import Harmless, harmless_mask, normalize_harmless
from sfumato.projections.plans.plan import Plan, parse_plan
from sfumato.projections.plans.tradeoff_curve import tradeoff
from sfumato.projections.projected_tables import DiscernibilityLimit, ProjectedTables
from sfumato.projections.projection import PrivateProjection, Projection
from sfumato.projections.projection_parameters import check_search, check_sets
from sfumato.registry import PROJECTED_ATTACKS
from sfumato.releases.declarations import resolved_schema
from sfumato.seeds import secret_seed


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
    discernibility: Number | None = None,
    attacks: Sequence[str] | None = None,
    method: Method | str | None = None,
    seed: int | None = None,
    suppress: Number = 0,
    progress: Progress = silent,
) -> Projection:
    """Publish several sensitive attributes in several tables, so that one attribute does not reveal another.

    Every table contains all quasi-identifiers and some of the sensitive attributes, and satisfies every principle. The
    method is that of Fang, Ashrafi & Ng (2011).

    `alpha`: the largest share of the association between attributes that may be lost (Γ_α), from 0 to 1. `beta`: the
    largest share of the information that one attribute can reveal about another that may be exposed (Γ_β). Without both, the
    plan at the knee of the trade-off is used, or the nearest one whose tables can satisfy the principles. Without one of
    them, the plan with the smallest value of it within the other threshold is used.
    `plan`: the attributes of each table, as lists or as a text such as "a,b|c"; it is checked, and no plan is searched for.
    `harmless`: for an attribute the values that harm nobody, or a function that returns whether a value is harmless.
    `sets`: "bits" encodes a set as one attribute for each item, "whole" keeps it.
    `search`: "greedy" (CODIP*), "exhaustive", or "auto".
    `discernibility`: the largest sum of the squared sizes of the groups of each table, where a suppressed row costs all rows
    (d_m in the paper): a limit on the loss of the quasi-identifiers. A table above it counts as one that cannot be
    published.
    `attacks`: the attacks that the internal report shows, by name; by default the built-in ones.

    A principle on one attribute holds in the table that contains it; a principle on several attributes together keeps them
    in one table. `suppress`: the largest share of rows that may be dropped, the same rows from every table. The other
    parameters are those of `anonymize`. If there is no such plan, `RequirementError` states which threshold failed, by how
    much, and which plan is nearest.

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
    # Long because of its docstring: the parameters are explained once, here.
    check_search(search)
    for name in attacks or ():
        PROJECTED_ATTACKS.find(name, key="attacks")  # fail before the work, also for a plug-in that cannot be loaded
    request = _Request(
        principles=requested_principles(principles),
        limits={
            key: None if value is None else check_ratio(value, key) for key, value in (("alpha", alpha), ("beta", beta))
        },
        plan=None if plan is None else parse_plan(plan),
        sets=sets,
        search=search,
        discernibility=check_discernibility(discernibility),
        method=method,
        attacks=None if attacks is None else tuple(attacks),
        seed=secret_seed(seed),
        progress=progress,
    )
    share = check_share(suppress)
    source = table_of(data, schema)
    values = None if harmless is None else normalize_harmless(harmless)
    result = publish_common_people(source, data, values, share, lambda *people: _project_once(request, source, *people))
    return _assemble(request, source, result)


@dataclass(frozen=True, eq=False)
class _Request:
    """The checked parameters of `project` that stay the same if rows are suppressed and the projection is repeated."""

    principles: tuple[Principle, ...]
    limits: RequestedLimits
    plan: list[list[str]] | None
    sets: str
    search: str
    discernibility: Fraction | None
    method: Method | str | None
    attacks: tuple[str, ...] | None
    seed: int
    progress: Progress


def _project_once(
    request: _Request, source: Table, people: Table, rows: Any, harmless: Harmless | None, share: Fraction
) -> ProjectionRound:
    """Measure, choose a plan and anonymize its tables, for some of the people of the source."""
    request.progress("measuring how the attributes depend on one another")
    encoded, dependence = measure_attributes(people, request.sets, harmless)
    _check_principles(encoded, request.principles)
    curve = tradeoff(dependence)  # also for an explicit plan: the internal report shows it
    tables = ProjectedTables(
        encoded.table, encoded.bits, rows, request.principles, request.method, request.seed, share, request.progress,
        DiscernibilityLimit(request.discernibility, source.rows),
    )  # fmt: skip
    if request.plan is not None:
        # In the first round an unknown name is the publisher's mistake; later a bit may have lost its last row.
        names = request.plan if people is source else _existing(request.plan, encoded)
        plan = Plan.of([encoded.expand(block) for block in names], dependence.names)
        choice = check_plan(plan, dependence, request.limits, tables)
    else:
        request.progress("searching for a plan")
        choice = find_plan(dependence, curve, request.limits, tables, request.search)
    releases = tuple(tables.release(block) for block in choice.plan.blocks)
    return ProjectionRound(encoded, dependence, curve, choice, releases)


def _existing(tables: Sequence[Sequence[str]], encoded: EncodedSets) -> list[list[str]]:
    """Return the tables of a plan without bits that no remaining row has."""
    names = {*encoded.table.schema.sensitive, *encoded.bits}
    remaining = [[name for name in block if name in names] for block in tables]
    return [block for block in remaining if block]


def _assemble(request: _Request, source: Table, result: CommonPeople) -> Projection:
    last, choice = result.last, result.last.choice
    return Projection(
        plan=choice.plan,
        releases=last.releases,
        rows=source.rows,
        alpha=choice.thresholds["alpha"],
        beta=choice.thresholds["beta"],
        discernibility=request.discernibility,
        principles=request.principles,
        sets=last.encoded.bits,
        schema=resolved_schema(source),
        harmless=_harmless_labels(result.harmless, last),
        left_out=tuple(name for name in source.data.column_names if source.schema.role(name) in (None, Role.OTHER)),
        notes=_notes(result, request.principles, source),
        private=PrivateProjection(
            seed=request.seed,
            source=source,
            table=last.encoded.table,
            dependence=last.dependence,
            tradeoff=last.curve,
            search=choice.search,
            reading=(*reading_notes(source), *last.dependence.notes),
            attack_names=request.attacks,
        ),
    )


def measure_attributes(
    source: Table, sets: str = "bits", harmless: Harmless | None = None
) -> tuple[EncodedSets, Dependence]:
    """Return the table with its sets as they are published, and how its sensitive attributes depend on one another.

    >>> import pyarrow as pa
    >>> people = Table(pa.table({"age": [1, 2], "dx": [["a"], ["a", "b"]]}), Schema(["age"], ["dx"]))
    >>> measure_attributes(people)[1].names
    ('dx=a', 'dx=b')
    """
    check(source, ())
    refuse_units(source, "project")
    check_sets(sets)
    encoded = encode_sets(source) if sets == "bits" else EncodedSets(source, {})
    for name in encoded.bits.keys() & (harmless or {}).keys():
        raise ParameterError(
            f"harmless values are declared for the set {name!r}, which is published as bits",
            remedy=f'Declare them for its bits, such as {{"{encoded.bits[name][0]}": ["0"]}}; or keep sets whole.',
            key="harmless",
            column=name,
        )
    sensitive = encoded.table.schema.sensitive
    if len(sensitive) < 2:
        raise ColumnError(
            f"a projection needs at least two sensitive attributes; the table has {'one' if sensitive else 'none'}",
            remedy="Publish a single table with: anonymize. Or declare other columns as sensitive.",
            file=source.source,
            column=next(iter(sensitive), None),
        )
    return encoded, Dependence.of(encoded.table, harmless=harmless)


def _check_principles(encoded: EncodedSets, principles: Sequence[Principle]) -> None:
    """Raise an error for a principle on an unknown attribute; the name of a set and those of its bits are valid."""
    schema = replace(encoded.table.schema, sensitive=(*encoded.table.schema.sensitive, *encoded.bits))
    for principle in principles:
        attributes_of(principle, schema)
        if principle.uses_original:
            raise ParameterError(
                f"a plan cannot satisfy {principle.title}: whom the cells of all tables together cover is not measured",
                remedy="Leave that principle out, or publish one table with sf.anonymize.",
                key="principles",
                value=principle.name,
            )


def _harmless_labels(harmless: Harmless, last: ProjectionRound) -> dict[str, list[str | None]]:
    """Return the published values that are harmless, as the release shows them."""
    labels: dict[str, list[str | None]] = {}
    for name in (name for name in last.choice.plan.attributes if name in harmless):
        attribute = last.encoded.table.attribute(last.encoded.table.schema.components(name), name)
        mask = harmless_mask(attribute, harmless[name])
        labels[name] = [attribute.label_or_none(value) for value in range(len(attribute)) if mask[value]]
    return {name: values for name, values in labels.items() if values}


_ORIGIN_NOTES = {
    "knee": "that of the knee of the trade-off",
    "near": "that of the plan nearest to the knee of the trade-off whose tables can satisfy the principles",
    "least": "the smallest of all plans within the other threshold whose tables can satisfy the principles",
}
"""The origin of a threshold that was not given."""


def _notes(result: CommonPeople, principles: Sequence[Principle], source: Table) -> tuple[str, ...]:
    """Return what a reader of the release should know."""
    choice, notes = result.last.choice, []
    for key, threshold in choice.thresholds.items():
        if threshold.origin in _ORIGIN_NOTES:
            limit = written(threshold.limit)
            notes.append(f"{key} was not given: {limit} is {_ORIGIN_NOTES[threshold.origin]}, rounded up to hundredths")
    if result.suppressed:
        rows = f"{count_of(result.suppressed, 'row')} of {result.rows:,}"
        notes.append(f"{rows} were suppressed, the same in every table; both ratios are those of the remaining rows")
    for name, bits in result.last.encoded.bits.items():
        notes.append(f"the set {name!r} is published as {count_of(len(bits), 'bit')}, one for each item")
    whole = [each.label for each in principles if (getattr(each, "on", None) or each.scope) == "whole"]
    if whole and len(choice.plan) > 1:
        notes.append(f"{', '.join(whole)}: measured on all attributes of each table, because no table has all attributes")
    undeclared = undeclared_note(source)
    notes += [] if undeclared is None else [undeclared]
    left_out = [name for name in source.data.column_names if source.schema.role(name) is Role.OTHER]
    if left_out:
        names = ", ".join(map(repr, left_out))
        notes.append(f"left out, because they would link the tables row by row: {names}")
    return tuple(notes)

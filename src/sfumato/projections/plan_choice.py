"""The plan to publish: the publisher's own, or the result of a search; and the thresholds that the release then states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sfumato.errors import RequirementError
from sfumato.exact import written
from sfumato.principles import Principle
from sfumato.projections.plans.dependence import Dependence, PlanRatios
from sfumato.projections.plans.plan import Plan
from sfumato.projections.plans.plan_search import PlanSearch, search_plans
from sfumato.projections.plans.tradeoff_curve import Tradeoff
from sfumato.projections.projected_tables import ProjectedTables

RequestedLimits = Mapping[str, Fraction | None]
"""The requested "alpha" and "beta"; None where there is no requirement."""

_EVERY_TABLE = ("groups", "each", "whole")
"""The scopes of principles that apply to every table."""


@dataclass(frozen=True)
class Threshold:
    """A threshold on a plan, and its origin.

    >>> Threshold(Fraction(3, 10), "given").limit
    Fraction(3, 10)
    """

    limit: Fraction
    origin: str
    """"given" by the publisher; "knee" of the trade-off; "near": of the plan nearest to the knee whose tables can satisfy
    the principles; "least": of all plans within the other threshold; "open": no requirement on the publisher's own plan."""


@dataclass(frozen=True)
class PlanChoice:
    """A plan, its thresholds, and the search that led to it."""

    plan: Plan
    thresholds: Mapping[str, Threshold]
    search: PlanSearch | None = None
    """None for the publisher's own plan."""


def check_plan(plan: Plan, dependence: Dependence, limits: RequestedLimits, tables: ProjectedTables) -> PlanChoice:
    """Check the publisher's own plan as CODIP does: both thresholds, and the principles in every table."""
    ratios = dependence.ratios(plan)
    verdicts = {
        "alpha": (dependence.loses_at_most, ratios.association_loss, "loses", "of the association between attributes"),
        "beta": (dependence.exposes_at_most, ratios.information_exposure, "exposes", "of the exposable information"),
    }
    for key, (within, ratio, verb, quantity) in verdicts.items():
        limit = limits[key]
        if limit is not None and not within(plan, limit):
            raise RequirementError(
                f"the plan {plan.label} {verb} {ratio:.4f} {quantity}, above {key} = {written(limit)}; nothing is published",
                remedy=f"Raise {key}, or omit the plan to search for one.",
                key=key,
                value=ratio,
            )
    for block in plan.blocks:
        tables.release(block)  # raises if the principles cannot be reached
    thresholds = {
        key: Threshold(Fraction(1), "open") if limit is None else Threshold(limit, "given") for key, limit in limits.items()
    }
    return PlanChoice(plan, thresholds)


def find_plan(
    dependence: Dependence, curve: Tradeoff, limits: RequestedLimits, tables: ProjectedTables, search: str
) -> PlanChoice:
    """Find a plan within the requested limits whose tables can satisfy the principles.

    A limit that is not requested does not constrain the search. Without both, the plan nearest to the knee of the trade-off
    is chosen; without one of them, the plan with the smallest value of it. The reached value becomes the threshold.
    """
    # The plan of the curve needs no search if its tables can satisfy the principles, which is the usual case.
    candidate = _curve_candidate(dependence, curve, limits)
    if candidate is not None and all(map(tables.reachable, candidate.plan.blocks)):
        return _choice(dependence, limits, _search_of_curve(dependence, curve, candidate), candidate)
    open_keys = [key for key, limit in limits.items() if limit is None]
    result = _search(dependence, _search_limits(dependence, limits, candidate), tables, search)
    best = result.best
    # The limits of the candidate are targets, not requirements: the nearest plan is acceptable if both are open, the
    # smallest exposure if β is open. An open α is 1 and cannot fail.
    if best is None and open_keys:
        best = result.nearest if len(open_keys) == 2 else result.least_beta if open_keys == ["beta"] else None
    if best is None:
        if open_keys:  # repeat the search without limits that nobody requested, so that the error does not mention them
            limits_or_one = {key: Fraction(1) if limit is None else limit for key, limit in limits.items()}
            result = _search(dependence, limits_or_one, tables, search)
        raise _no_plan(result, tables)
    return _choice(dependence, limits, replace(result, best=best, failures=()), curve.knee)


def _search_limits(dependence: Dependence, limits: RequestedLimits, candidate: PlanRatios | None) -> dict[str, Fraction]:
    """Return the thresholds of the search; open ones are those of the candidate of the curve.

    If only alpha is open it is 1, because a search minimizes the loss anyway.
    """
    alpha, beta = limits["alpha"], limits["beta"]
    substitutes = (
        (Fraction(1), Fraction(0)) if candidate is None or beta is not None else dependence.hundredths(candidate.plan)
    )
    return {"alpha": substitutes[0] if alpha is None else alpha, "beta": substitutes[1] if beta is None else beta}


def _curve_candidate(dependence: Dependence, curve: Tradeoff, limits: RequestedLimits) -> PlanRatios | None:
    """Return the plan of the curve that would be chosen if the tables of all plans could satisfy the principles."""
    alpha, beta = limits["alpha"], limits["beta"]
    if alpha is None and beta is None:
        return curve.knee
    if alpha is None and beta is not None:
        within = [point for point in curve.points if dependence.exposes_at_most(point.plan, beta)]
        return min(within, key=lambda point: point.association_loss, default=None)
    if beta is None and alpha is not None:
        within = [point for point in curve.points if dependence.loses_at_most(point.plan, alpha)]
        return min(within, key=lambda point: point.information_exposure, default=None)
    return None


def _search_of_curve(dependence: Dependence, curve: Tradeoff, candidate: PlanRatios) -> PlanSearch:
    """Return the search result for a plan that is taken from the curve without a search."""
    alpha, beta = dependence.hundredths(candidate.plan)
    steps = (f"taken from the trade-off: {candidate}",)
    return PlanSearch(alpha, beta, candidate, (), candidate, candidate, candidate, (candidate,), (), curve.exhaustive, steps)


def _choice(dependence: Dependence, limits: RequestedLimits, search: PlanSearch, target: PlanRatios) -> PlanChoice:
    """Return the choice of a search, with the origin of each threshold; `target`: the plan of the curve."""
    assert search.best is not None
    plan = search.best.plan
    reached = dict(zip(limits, dependence.hundredths(plan), strict=True))
    both_open = all(limit is None for limit in limits.values())
    origin = ("knee" if plan == target.plan else "near") if both_open else "least"
    thresholds = {
        key: Threshold(reached[key], origin) if limit is None else Threshold(limit, "given") for key, limit in limits.items()
    }
    return PlanChoice(plan, thresholds, search)


def _search(dependence: Dependence, limits: Mapping[str, Fraction], tables: ProjectedTables, search: str) -> PlanSearch:
    return search_plans(
        dependence,
        limits["alpha"],
        limits["beta"],
        tables.reachable,
        search,
        monotone=_is_monotone(tables),
        start=_start_plan(tables, dependence),
    )


def _joint_attributes(principle: Principle, sets: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the attributes that a principle is required on together, sets as their bits; empty if it is only one."""
    on = getattr(principle, "on", None)
    names = () if on is None else (on,) if isinstance(on, str) else on
    attributes = {part for name in names for part in sets.get(name, (name,))}
    return attributes if len(attributes) > 1 else set()


def _is_monotone(tables: ProjectedTables) -> bool:
    """Return whether every additional attribute makes a table harder to publish (Fang, Ashrafi & Ng 2011, Theorem 1)."""
    scopes = [getattr(principle, "on", None) or principle.scope for principle in tables.principles]
    if not any(scope in _EVERY_TABLE for scope in scopes):  # a table without a principle may need one more attribute
        return False
    return "whole" not in scopes and not any(_joint_attributes(principle, tables.sets) for principle in tables.principles)


def _start_plan(tables: ProjectedTables, dependence: Dependence) -> Plan:
    """Return the finest plan that keeps together the attributes that principles are required on together.

    An attribute without a principle joins the attribute with one that it shares most information with.
    """
    names, information = dependence.names, dependence.information
    protected = [index for index, name in enumerate(names) if tables.has_principle((name,))]
    bonds = [_joint_attributes(principle, tables.sets) for principle in tables.principles]
    for index in sorted({*range(len(names))} - {*protected}):
        bonds.append({names[index], names[max(protected, key=lambda other: information[index, other])]})
    # Union of overlapping bonds, as in Kruskal's algorithm: each bond joins the blocks that it touches.
    blocks = [{name} for name in names]
    for bond in bonds:
        union = set().union(*(block for block in blocks if block & bond))
        blocks = [block for block in blocks if not block & bond] + ([union] if union else [])
    return Plan.of(blocks, names)


def _no_plan(search: PlanSearch, tables: ProjectedTables) -> RequirementError:
    """Return the error that states what failed, by how much, and which plan is nearest."""
    errors = [
        error for block in search.unreachable_blocks[:1] if isinstance(error := tables.result(block), RequirementError)
    ]
    reason = ""
    if errors and "principles" in search.failures:
        reason = f". {' + '.join(search.unreachable_blocks[0])}: {errors[0].problem}"
    remedies = {"alpha": "raise alpha", "beta": "raise beta", "principles": "relax the principles"}
    if tables.quality.limit is not None:
        remedies["principles"] += " or raise discernibility"
    if errors and not tables.has_principle(search.unreachable_blocks[0]):
        remedies["principles"] = "require a principle that applies to every table, such as k-anonymity"
    advice = [remedies[key] for key in ("alpha", "beta", "principles") if key in search.failures]
    # A larger β admits plans with a smaller Γ_α, so it also helps if only α failed.
    if "alpha" in search.failures and "beta" not in search.failures:
        advice.insert(1, "raise beta")
    text = ", or ".join(advice)
    return RequirementError(
        f"nothing is published: {search.summary}{reason}",
        remedy=f"{text[:1].upper()}{text[1:]}; or pass your own plan.",
        file=tables.table.source,
        key=", ".join(search.failures),
        value=None if search.nearest is None else search.nearest.plan.label,
    )

"""The plan to publish: the one that is given, or the one that is found; and the thresholds that are then told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sfumato.errors import RequirementError
from sfumato.exact import written
from sfumato.principles import Principle
from sfumato.projections import Dependence, Plan, PlanRatios, PlanSearch, Tradeoff, search_plans
from sfumato.projections.projected_tables import Blocks
from sfumato.projections.projection import Threshold

Limits = Mapping[str, Fraction | None]
"""What is asked of alpha and beta; None where nothing is."""

_EVERYWHERE = ("groups", "each", "whole")
"""Where a principle is measured if it speaks of every table."""


@dataclass(frozen=True)
class Choice:
    """A plan, what is told of its thresholds, and how it was found."""

    plan: Plan
    thresholds: Mapping[str, Threshold]
    search: PlanSearch | None = None
    """None if the plan was given."""


def checked_plan(plan: Plan, dependence: Dependence, limits: Limits, blocks: Blocks) -> Choice:
    """Check a plan that is given as CODIP does: both thresholds, and the principles in every table."""
    weighed = dependence.weighed(plan)
    verdicts = {
        "alpha": (dependence.loses_at_most, weighed.association_loss, "loses", "of the association between attributes"),
        "beta": (dependence.exposes_at_most, weighed.information_exposure, "exposes", "of what one attribute can betray"),
    }
    for key, (within, ratio, verb, what) in verdicts.items():
        limit = limits[key]
        if limit is not None and not within(plan, limit):
            raise RequirementError(
                f"the plan {plan.label} {verb} {ratio:.4f} {what}, and {key} = {written(limit)}; nothing is published",
                remedy=f"Raise {key}, or let a plan be searched for.",
                key=key,
                value=ratio,
            )
    for block in plan.blocks:
        blocks.release(block)
    told = {k: Threshold(Fraction(1), "open") if limit is None else Threshold(limit, "given") for k, limit in limits.items()}
    return Choice(plan, told)


def found_plan(dependence: Dependence, curve: Tradeoff, limits: Limits, blocks: Blocks, search: str) -> Choice:
    """Look for a plan within what is asked, whose tables can satisfy the principles.

    A threshold that is not asked for bounds nothing. Without either, the plan nearest to the knee of the trade-off is taken;
    without one of them, the plan that has the least of it. What was reached is then told as the threshold.
    """
    wish = _wish(dependence, curve, limits)
    if wish is not None and all(map(blocks.reachable, wish.plan.blocks)):
        return _told(dependence, limits, _taken(dependence, curve, wish), wish)
    left_open = [key for key, limit in limits.items() if limit is None]
    found = _search(dependence, _marks(dependence, limits, wish), blocks, search)
    best = found.found
    if best is None and left_open:
        best = found.nearest if len(left_open) == 2 else found.least_beta if left_open == ["beta"] else None
    if best is None:
        if left_open:  # what is said should not speak of marks that nobody asked for
            found = _search(dependence, {k: Fraction(1) if v is None else v for k, v in limits.items()}, blocks, search)
        raise _none(found, blocks)
    return _told(dependence, limits, replace(found, found=best, failed=()), curve.knee)


def _marks(dependence: Dependence, limits: Limits, wish: PlanRatios | None) -> dict[str, Fraction]:
    """The thresholds to search with: where nothing is asked, those that the plan of the curve has.

    If just alpha is left open it bounds nothing, for a search takes the plan that loses least anyway.
    """
    alpha, beta = limits["alpha"], limits["beta"]
    marks = (Fraction(1), Fraction(0)) if wish is None or beta is not None else dependence.hundredths(wish.plan)
    return {"alpha": marks[0] if alpha is None else alpha, "beta": marks[1] if beta is None else beta}


def _wish(dependence: Dependence, curve: Tradeoff, limits: Limits) -> PlanRatios | None:
    """The plan of the curve that would be taken if the tables of all plans could satisfy the principles."""
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


def _taken(dependence: Dependence, curve: Tradeoff, wish: PlanRatios) -> PlanSearch:
    """The search that was none: the plan of the curve will do."""
    alpha, beta = dependence.hundredths(wish.plan)
    steps = (f"taken from the trade-off: {wish}",)
    return PlanSearch(alpha, beta, wish, (), wish, wish, wish, (wish,), (), curve.exhaustive, steps)


def _told(dependence: Dependence, limits: Limits, found: PlanSearch, wish: PlanRatios) -> Choice:
    assert found.found is not None
    plan = found.found.plan
    reached = dict(zip(limits, dependence.hundredths(plan), strict=True))
    both = all(limit is None for limit in limits.values())
    origin = ("knee" if plan == wish.plan else "near") if both else "least"
    told = {
        key: Threshold(reached[key], origin) if limit is None else Threshold(limit, "given") for key, limit in limits.items()
    }
    return Choice(plan, told, found)


def _search(dependence: Dependence, limits: Mapping[str, Fraction], blocks: Blocks, search: str) -> PlanSearch:
    return search_plans(
        dependence,
        limits["alpha"],
        limits["beta"],
        blocks.reachable,
        search,
        monotone=_monotone(blocks),
        start=_bound(blocks, dependence),
    )


def _taken_together(principle: Principle, sets: Mapping[str, Sequence[str]]) -> set[str]:
    """The attributes that a principle names to be taken together, a set as its bits; none if it names just one."""
    on = getattr(principle, "on", None)
    names = () if on is None else (on,) if isinstance(on, str) else on
    found = {part for name in names for part in sets.get(name, (name,))}
    return found if len(found) > 1 else set()


def _monotone(blocks: Blocks) -> bool:
    """Whether a table can only be harder to publish for every attribute more (paper 004, Theorem 1)."""
    where = [getattr(principle, "on", None) or principle.scope for principle in blocks.principles]
    if not any(on in _EVERYWHERE for on in where):  # a table of which no principle speaks may need one more attribute
        return False
    return "whole" not in where and not any(_taken_together(principle, blocks.sets) for principle in blocks.principles)


def _bound(blocks: Blocks, dependence: Dependence) -> Plan:
    """The plan of the most tables that keeps together what principles take together.

    An attribute of which none speaks stands with the one, of those of which some does, that it shares most with.
    """
    names, shared = dependence.names, dependence.information
    spoken = [place for place, name in enumerate(names) if blocks.promised((name,))]
    bonds = [_taken_together(principle, blocks.sets) for principle in blocks.principles]
    for place in sorted({*range(len(names))} - {*spoken}):
        bonds.append({names[place], names[max(spoken, key=lambda other: shared[place, other])]})
    tables = [{name} for name in names]
    for together in bonds:
        joined = set().union(*(table for table in tables if table & together))
        tables = [table for table in tables if not table & together] + ([joined] if joined else [])
    return Plan.of(tables, names)


def _none(found: PlanSearch, blocks: Blocks) -> RequirementError:
    """The error that says what failed, by how much, and which plan is nearest."""
    known = [error for block in found.refused[:1] if isinstance(error := blocks.of(block), RequirementError)]
    why = f". {' + '.join(found.refused[0])}: {known[0].problem}" if known and "principles" in found.failed else ""
    words = {"alpha": "raise alpha", "beta": "raise beta", "principles": "ask for less of the principles"}
    if known and not blocks.promised(found.refused[0]):
        words["principles"] = "ask for a principle that holds in every table, such as k-anonymity"
    some = [words[key] for key in ("alpha", "beta", "principles") if key in found.failed]
    if "alpha" in found.failed and "beta" not in found.failed:
        some.insert(1, "raise beta")
    text = ", or ".join(some)
    return RequirementError(
        f"nothing is published: {found.why}{why}",
        remedy=f"{text[:1].upper()}{text[1:]}; or give a plan of your own.",
        file=blocks.table.source,
        key=", ".join(found.failed),
        value=None if found.nearest is None else found.nearest.plan.label,
    )

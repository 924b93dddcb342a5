"""Look for a plan within both thresholds whose tables can satisfy the principles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.exact import Number, as_fraction, written
from sfumato.plurals import count_of
from sfumato.projections.codip import Codip
from sfumato.projections.dependence import Dependence, PlanRatios
from sfumato.projections.partitions import FEW, MOST, Partitions
from sfumato.projections.plan import Plan, label_of
from sfumato.projections.reachability import Asking, Block, Doomed, Reachable

SEARCHES = ("auto", "greedy", "exhaustive")
"""How plans may be looked for."""

_AT_A_TIME = 1 << 10
"""Of so many plans at a time those with refused blocks are passed over."""

_SURE = 1e-9
"""Ratios this far from a threshold are on the side that the float says."""


@dataclass(frozen=True, eq=False)
class PlanSearch:
    """What a search for a plan came to; what failed, and what is near, if it found none.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> from sfumato.data.table import Table
    >>> people = pa.table({"sex": ["f", "f", "m", "m"], "title": ["ms", "ms", "mr", "mr"], "rich": ["y", "n", "y", "n"]})
    >>> dependence = Dependence.of(Table(people, Schema(sensitive=["sex", "title", "rich"])))
    >>> search = search_plans(dependence, "0.2", "0.3")
    >>> print(search.found)
    sex + title | rich: Γ_α 0.0000, Γ_β 0.0000
    """

    alpha: Fraction
    beta: Fraction
    found: PlanRatios | None
    """The plan to publish; None if none was found within both thresholds and the principles."""
    failed: tuple[str, ...]
    """Why none was found: "alpha" (plans within β lose more), "beta" (no plan that can satisfy the principles is within
    β), "principles" (plans within both were refused, or single attributes were)."""
    nearest: PlanRatios | None
    """Of the plans examined the one that is above the thresholds by the least, Γ_α and Γ_β taken together."""
    least_alpha: PlanRatios | None
    """Of the plans within β, the one that loses least: its Γ_α is the α that could be wished for."""
    least_beta: PlanRatios | None
    """Of the plans within α, the one that exposes least: its Γ_β is the β that could be wished for."""
    examined: tuple[PlanRatios, ...]
    """The plans that were found to be able to satisfy the principles."""
    refused: tuple[Block, ...]
    """The blocks that were found not to be."""
    exhaustive: bool
    """Whether all plans were looked at; else CODIP* merged its way."""
    steps: tuple[str, ...]
    """What was merged and what refused, in words."""

    @property
    def why(self) -> str:
        """The result in a sentence or two."""
        if self.found is not None:
            return f"{self.found}, within α = {written(self.alpha)} and β = {written(self.beta)}"
        said = [f"no plan was found with Γ_α at most {written(self.alpha)} and Γ_β at most {written(self.beta)}"]
        if self.refused and "principles" in self.failed:
            said.append(f"the principles cannot be reached on {', or on '.join(map(label_of, self.refused[:5]))}")
        if self.least_alpha is not None:
            said.append(f"within this β the least Γ_α is {self.least_alpha.association_loss:.4f}")
        if self.least_beta is not None:
            said.append(f"within this α the least Γ_β is {self.least_beta.information_exposure:.4f}")
        if self.nearest is not None:
            said.append(f"the nearest plan is {self.nearest}")
        return "; ".join(said)


def search_plans(
    dependence: Dependence,
    alpha: Number,
    beta: Number,
    reachable: Reachable = lambda block: True,
    search: str = "auto",
    *,
    monotone: bool = False,
    start: Plan | None = None,
) -> PlanSearch:
    """Find a plan with Γ_α ≤ α and Γ_β ≤ β, every block of which can satisfy the principles.

    `reachable(block)` says whether the projected table of a block can; it is asked at most once for a block, and only for
    plans that β allows, unless the wish fails and what is near is looked for. If it is `monotone` (a block that holds a
    refused one is refused as well), fewer blocks are asked for.

    "greedy" is CODIP*, which begins with each attribute apart, or with the plan `start`: then what stands together there
    does so to the end. "exhaustive" looks at all plans, and finds the one that loses least within β (to 12 places; of
    equal ones the one that exposes least); up to 12 attributes. "auto" does so up to 10 attributes, and else is greedy.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> from sfumato.data.table import Table
    >>> people = pa.table({"job": ["a", "a", "b", "b"], "pay": ["x", "x", "x", "y"], "rich": ["y", "n", "n", "n"]})
    >>> dependence = Dependence.of(Table(people, Schema(sensitive=["job", "pay", "rich"])))
    >>> print(search_plans(dependence, "0.6", "0.25").found)
    job + pay | rich: Γ_α 0.5822, Γ_β 0.2111
    >>> search_plans(dependence, "0.3", "0.25").failed
    ('alpha',)
    """
    limits = Limits(_ratio(alpha, "alpha"), _ratio(beta, "beta"))
    asking = Asking(reachable, monotone)
    check_search(search)
    count = len(dependence.names)
    if search == "exhaustive" and count > MOST:
        raise ParameterError(
            f"{count_of(count, 'attribute')} have too many plans to look at all of them",
            remedy=f'That is done up to {MOST}; write search = "greedy".',
            key="search",
            value=search,
        )
    if search == "exhaustive" or (search == "auto" and count <= FEW):
        return _Exhaustive(dependence, limits, asking).result()
    return _greedy(dependence, limits, asking, start or Plan.apart(dependence.names))


def check_search(search: Any) -> None:
    """Refuse a search that there is not."""
    if search not in SEARCHES:
        raise ParameterError(
            f"search = {search!r} is unknown", remedy=f"Write one of: {', '.join(SEARCHES)}.", key="search", value=search
        )


@dataclass(frozen=True)
class Limits:
    """The thresholds."""

    alpha: Fraction
    beta: Fraction

    def excess(self, weighed: PlanRatios) -> float:
        """How far a plan is above both together."""
        loss, exposure = weighed.association_loss, weighed.information_exposure
        return max(loss - float(self.alpha), 0.0) + max(exposure - float(self.beta), 0.0)


def _ratio(value: Number, name: str) -> Fraction:
    ratio = as_fraction(value, name)
    if not 0 <= ratio <= 1:
        raise ParameterError(
            f"{name} = {value} is out of its range",
            remedy="It is a share: write a number from 0 to 1.",
            key=name,
            value=value,
        )
    return ratio


def _greedy(dependence: Dependence, limits: Limits, asking: Asking, start: Plan) -> PlanSearch:
    alone = [block for block in start.blocks if not asking(block)]
    if alone:
        told = tuple(f"the principles cannot be reached on {label_of(block)} alone" for block in alone)
        none = None, None, None
        return PlanSearch(limits.alpha, limits.beta, None, ("principles",), *none, (), tuple(asking.refused), False, told)
    codip = Codip(dependence, asking)
    path = codip.run(limits.beta, start)
    within = dependence.exposes_at_most(start, limits.beta)
    if within and dependence.loses_at_most(path.last.plan, limits.alpha):
        return _summed_up(dependence, limits, path.plans, path.last, (), asking, False, path.steps)
    failed = ("beta",) if not within else ("alpha", "principles") if path.held_back else ("alpha",)
    beyond = codip.run(Fraction(1), path.last.plan, until=limits.alpha)
    steps = path.steps
    if beyond.steps:
        steps = (*steps, "no merge is left within β; beyond it:", *beyond.steps)
    plans = (*path.plans, *beyond.plans[1:])
    return _summed_up(dependence, limits, plans, None, failed, asking, False, steps)


@dataclass(frozen=True, eq=False)
class _Exhaustive:
    """All plans, least loss first: the first that is within β and can satisfy the principles is the best."""

    dependence: Dependence
    limits: Limits
    asking: Asking

    def result(self) -> PlanSearch:
        within = Partitions.of(self.dependence, float(self.limits.beta) + _SURE)
        order = within.by_loss()
        examined: list[PlanRatios] = []
        found = None
        for plan in self._reachable(within, order):
            weighed = self.dependence.weighed(plan)
            examined.append(weighed)
            if self.dependence.loses_at_most(plan, self.limits.alpha):
                found = weighed
            if found or weighed.association_loss > float(self.limits.alpha) + _SURE:
                break
        steps = [f"{count_of(len(within), 'plan')} within β, looked at from the least Γ_α on"]
        steps += [f"the principles cannot be reached on {label_of(block)}" for block in self.asking.refused]
        failed: tuple[str, ...] = ()
        if found is None:
            others = self._others()
            reasons = {
                "alpha": bool(examined),
                "beta": bool(others) and not examined,
                "principles": self._refused_one(within, order) or not (examined or others),
            }
            failed = tuple(reason for reason, holds in reasons.items() if holds)
            known = {weighed.plan for weighed in examined}
            examined += [other for other in others if other.plan not in known]
        return _summed_up(self.dependence, self.limits, examined, found, failed, self.asking, True, tuple(steps))

    def _refused_one(self, within: Partitions, order: NDArray[np.int64]) -> bool:
        """Whether a plan within both thresholds was refused: the one that loses least would be."""
        plans = (within.plan(int(index)) for index in order)
        best = next((plan for plan in plans if self.dependence.exposes_at_most(plan, self.limits.beta)), None)
        return best is not None and self._light(best)

    def _others(self) -> list[PlanRatios]:
        """The nearest plan, and the one that exposes least within α; of all that can satisfy the principles."""
        alpha, beta = float(self.limits.alpha), float(self.limits.beta)
        every = Partitions.of(self.dependence)
        near = every.by_excess(alpha, beta)
        light = every.by_excess(alpha, -1.0)
        light = light[every.loss[light] <= alpha + _SURE]
        nearest = next(self._reachable(every, near, within_beta=False), None)
        lightest = next(filter(self._light, self._reachable(every, light, within_beta=False)), None)
        return [self.dependence.weighed(plan) for plan in dict.fromkeys([nearest, lightest]) if plan is not None]

    def _light(self, plan: Plan) -> bool:
        return self.dependence.loses_at_most(plan, self.limits.alpha)

    def _reachable(self, plans: Partitions, order: NDArray[np.int64], within_beta: bool = True) -> Iterator[Plan]:
        """The plans that can satisfy the principles (and are within β), in the order given."""
        doomed = Doomed(self.dependence.names, self.asking)
        for start in range(0, len(order), _AT_A_TIME):
            some = order[start : start + _AT_A_TIME]
            blocks = plans.blocks(some)
            left = ~doomed.among(blocks)
            for index, held in zip(some[left], blocks[left], strict=True):
                plan = plans.plan(int(index))
                if doomed.among(held) or (within_beta and not self._within_beta(plan, float(plans.exposure[index]))):
                    continue
                # a large block is the likeliest to be refused, and then the others need not be asked for
                if all(map(self.asking, sorted(plan.blocks, key=len, reverse=True))):
                    yield plan

    def _within_beta(self, plan: Plan, exposure: float) -> bool:
        gap = exposure - float(self.limits.beta)
        return gap < 0 if abs(gap) > _SURE else self.dependence.exposes_at_most(plan, self.limits.beta)


def _summed_up(
    dependence: Dependence,
    limits: Limits,
    examined: Iterable[PlanRatios],
    found: PlanRatios | None,
    failed: tuple[str, ...],
    asking: Asking,
    exhaustive: bool,
    steps: tuple[str, ...],
) -> PlanSearch:
    """The result, with what is near if nothing was found."""
    plans = tuple(examined)
    within_beta = [weighed for weighed in plans if dependence.exposes_at_most(weighed.plan, limits.beta)]
    within_alpha = [weighed for weighed in plans if dependence.loses_at_most(weighed.plan, limits.alpha)]
    return PlanSearch(
        limits.alpha,
        limits.beta,
        found,
        failed,
        found or min(plans, key=limits.excess, default=None),
        min(within_beta, key=lambda w: (w.association_loss, w.information_exposure), default=None),
        min(within_alpha, key=lambda w: (w.information_exposure, w.association_loss), default=None),
        plans,
        tuple(asking.refused),
        exhaustive,
        steps,
    )

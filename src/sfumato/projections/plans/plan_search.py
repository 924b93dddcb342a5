"""Search for a plan within both thresholds whose tables can satisfy the principles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.exact import Number, written
from sfumato.parameters import check_ratio
from sfumato.plurals import count_of
from sfumato.projections.plans.codip import Codip
from sfumato.projections.plans.dependence import Dependence, PlanRatios
from sfumato.projections.plans.partitions import AUTO_EXHAUSTIVE_LIMIT, EXHAUSTIVE_LIMIT, Partitions
from sfumato.projections.plans.plan import Plan, block_label
from sfumato.projections.plans.reachability import Block, ReachabilityCache, Reachable, UnreachableBlocks
from sfumato.projections.projection_parameters import check_search

_CHUNK = 1 << 10
"""Plans with unreachable blocks are filtered out this number of plans at a time."""

_MARGIN = 1e-9
"""A ratio this far from a threshold is on the side that its float is on."""


@dataclass(frozen=True, eq=False)
class PlanSearch:
    """The result of a search for a plan; if there is none, the reasons and the nearest plans.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> from sfumato.data.table import Table
    >>> people = pa.table({"sex": ["f", "f", "m", "m"], "title": ["ms", "ms", "mr", "mr"], "rich": ["y", "n", "y", "n"]})
    >>> dependence = Dependence.of(Table(people, Schema(sensitive=["sex", "title", "rich"])))
    >>> search = search_plans(dependence, "0.2", "0.3")
    >>> print(search.best)
    sex + title | rich: Γ_α 0.0000, Γ_β 0.0000
    """

    alpha: Fraction
    beta: Fraction
    best: PlanRatios | None
    """The plan to publish; None if no plan meets both thresholds and the principles."""
    failures: tuple[str, ...]
    """Why there is none: "alpha" (plans within β lose more), "beta" (no plan that can satisfy the principles is within
    β), "principles" (plans within both thresholds, or single attributes, cannot satisfy the principles)."""
    nearest: PlanRatios | None
    """Of the reachable plans the one with the smallest sum of excesses over both thresholds."""
    least_alpha: PlanRatios | None
    """Of the reachable plans within β, the one that loses least: its Γ_α is the smallest possible α."""
    least_beta: PlanRatios | None
    """Of the reachable plans within α, the one that exposes least: its Γ_β is the smallest possible β."""
    reachable_plans: tuple[PlanRatios, ...]
    """The plans that were tested and can satisfy the principles."""
    unreachable_blocks: tuple[Block, ...]
    """The blocks that were tested and cannot."""
    exhaustive: bool
    """Whether all plans were examined; otherwise CODIP* merged blocks."""
    steps: tuple[str, ...]
    """The steps of the search in words."""

    @property
    def summary(self) -> str:
        """The result in one or two sentences."""
        if self.best is not None:
            return f"{self.best}, within α = {written(self.alpha)} and β = {written(self.beta)}"
        parts = [f"no plan has Γ_α at most {written(self.alpha)} and Γ_β at most {written(self.beta)}"]
        if self.unreachable_blocks and "principles" in self.failures:
            blocks = ", or on ".join(map(block_label, self.unreachable_blocks[:5]))
            parts.append(f"the principles cannot be reached on {blocks}")
        if self.least_alpha is not None:
            parts.append(f"within this β the smallest Γ_α is {self.least_alpha.association_loss:.4f}")
        if self.least_beta is not None:
            parts.append(f"within this α the smallest Γ_β is {self.least_beta.information_exposure:.4f}")
        if self.nearest is not None:
            parts.append(f"the nearest plan is {self.nearest}")
        return "; ".join(parts)


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

    `reachable(block)` returns whether the projected table of a block can satisfy them. It is called at most once per block,
    and only for plans within β, unless no plan meets the thresholds and the nearest plans are computed. `monotone` declares
    that a superset of an unreachable block is unreachable; this saves calls.

    "greedy" is CODIP*. It starts with one attribute per block, or with the plan `start`, whose blocks are never split.
    "exhaustive" examines all plans, up to 12 attributes, and returns the one with the smallest Γ_α within β (to 12 decimals;
    of equal ones the one with the smallest Γ_β). "auto" is exhaustive up to 10 attributes and greedy above.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> from sfumato.data.table import Table
    >>> people = pa.table({"job": ["a", "a", "b", "b"], "pay": ["x", "x", "x", "y"], "rich": ["y", "n", "n", "n"]})
    >>> dependence = Dependence.of(Table(people, Schema(sensitive=["job", "pay", "rich"])))
    >>> print(search_plans(dependence, "0.6", "0.25").best)
    job + pay | rich: Γ_α 0.5822, Γ_β 0.2111
    >>> search_plans(dependence, "0.3", "0.25").failures
    ('alpha',)
    """
    limits = Limits(check_ratio(alpha, "alpha"), check_ratio(beta, "beta"))
    reachability = ReachabilityCache(reachable, monotone)
    check_search(search)
    count = len(dependence.names)
    if search == "exhaustive" and count > EXHAUSTIVE_LIMIT:
        raise ParameterError(
            f"{count_of(count, 'attribute')} have too many plans for an exhaustive search",
            remedy=f'It is available up to {EXHAUSTIVE_LIMIT} attributes; write search = "greedy".',
            key="search",
            value=search,
        )
    if search == "exhaustive" or (search == "auto" and count <= AUTO_EXHAUSTIVE_LIMIT):
        return _ExhaustiveSearch(dependence, limits, reachability).run()
    return _greedy_search(dependence, limits, reachability, start or Plan.singletons(dependence.names))


@dataclass(frozen=True)
class Limits:
    """Both thresholds."""

    alpha: Fraction
    beta: Fraction

    def excess(self, ratios: PlanRatios) -> float:
        """Return the sum of a plan's excesses over both thresholds."""
        loss, exposure = ratios.association_loss, ratios.information_exposure
        return max(loss - float(self.alpha), 0.0) + max(exposure - float(self.beta), 0.0)


def _greedy_search(dependence: Dependence, limits: Limits, reachability: ReachabilityCache, start: Plan) -> PlanSearch:
    # CODIP* only merges: if a block of the start is unreachable, no plan that it can find is feasible.
    unreachable = [block for block in start.blocks if not reachability(block)]
    if unreachable:
        steps = tuple(f"the principles cannot be reached on {block_label(block)} alone" for block in unreachable)
        return _result(dependence, limits, (), None, ("principles",), reachability, False, steps)
    codip = Codip(dependence, reachability)
    path = codip.run(limits.beta, start)
    within_beta = dependence.exposes_at_most(start, limits.beta)
    if within_beta and dependence.loses_at_most(path.last.plan, limits.alpha):
        return _result(dependence, limits, path.plans, path.last, (), reachability, False, path.steps)
    failures = ("beta",) if not within_beta else ("alpha", "principles") if path.blocked_by_principles else ("alpha",)
    # Continue beyond β until α is met, to report the nearest plans.
    beyond = codip.run(Fraction(1), path.last.plan, until=limits.alpha)
    steps = path.steps
    if beyond.steps:
        steps = (*steps, "no merge is left within β; beyond it:", *beyond.steps)
    plans = (*path.plans, *beyond.plans[1:])
    return _result(dependence, limits, plans, None, failures, reachability, False, steps)


@dataclass(frozen=True, eq=False)
class _ExhaustiveSearch:
    """All plans by increasing loss: the first that is within β and can satisfy the principles is the best."""

    dependence: Dependence
    limits: Limits
    reachability: ReachabilityCache

    def run(self) -> PlanSearch:
        # Floats preselect the plans within β, with a margin; exact verdicts decide below.
        within = Partitions.of(self.dependence, float(self.limits.beta) + _MARGIN)
        order = within.by_loss()
        examined: list[PlanRatios] = []
        best = None
        for plan in self._reachable_plans(within, order):
            ratios = self.dependence.ratios(plan)
            examined.append(ratios)
            if self.dependence.loses_at_most(plan, self.limits.alpha):
                best = ratios
            # Plans come by increasing loss: above α no later plan can be within it.
            if best or ratios.association_loss > float(self.limits.alpha) + _MARGIN:
                break
        steps = [f"examined {count_of(len(within), 'plan')} within β by increasing Γ_α"]
        steps += [f"the principles cannot be reached on {block_label(block)}" for block in self.reachability.unreachable]
        failures: tuple[str, ...] = ()
        if best is None:
            # Only now are plans above β considered, because their blocks need expensive tests.
            others = self._nearby_plans()
            reasons = {
                "alpha": bool(examined),
                "beta": bool(others) and not examined,
                "principles": self._principles_failed(within, order) or not (examined or others),
            }
            failures = tuple(reason for reason, applies in reasons.items() if applies)
            plans = {ratios.plan for ratios in examined}
            examined += [other for other in others if other.plan not in plans]
        return _result(self.dependence, self.limits, examined, best, failures, self.reachability, True, tuple(steps))

    def _principles_failed(self, within: Partitions, order: NDArray[np.int64]) -> bool:
        """Return whether a plan within both thresholds is unreachable: the one that loses least would be such a plan."""
        plans = (within.plan(int(index)) for index in order)
        best = next((plan for plan in plans if self.dependence.exposes_at_most(plan, self.limits.beta)), None)
        return best is not None and self._within_alpha(best)

    def _nearby_plans(self) -> list[PlanRatios]:
        """Return the nearest reachable plan, and the reachable plan within α that exposes least."""
        alpha, beta = float(self.limits.alpha), float(self.limits.beta)
        plans = Partitions.of(self.dependence)
        # The first reachable plan in each of two orders.
        by_excess = plans.by_excess(alpha, beta)
        by_exposure = plans.by_excess(alpha, -1.0)  # β = -1: every exposure is an excess
        by_exposure = by_exposure[plans.loss[by_exposure] <= alpha + _MARGIN]
        nearest = next(self._reachable_plans(plans, by_excess, within_beta=False), None)
        reachable = self._reachable_plans(plans, by_exposure, within_beta=False)
        least_exposed = next(filter(self._within_alpha, reachable), None)
        return [self.dependence.ratios(plan) for plan in dict.fromkeys([nearest, least_exposed]) if plan is not None]

    def _within_alpha(self, plan: Plan) -> bool:
        return self.dependence.loses_at_most(plan, self.limits.alpha)

    def _reachable_plans(self, plans: Partitions, order: NDArray[np.int64], within_beta: bool = True) -> Iterator[Plan]:
        """Yield the plans that can satisfy the principles (and are within β), in the given order."""
        unreachable = UnreachableBlocks(self.dependence.names, self.reachability)
        for start in range(0, len(order), _CHUNK):
            chunk = order[start : start + _CHUNK]
            blocks = plans.blocks(chunk)
            candidates = ~unreachable.any_in(blocks)
            for index, plan_blocks in zip(chunk[candidates], blocks[candidates], strict=True):
                plan = plans.plan(int(index))
                # Blocks may have been found unreachable since the chunk was filtered.
                if unreachable.any_in(plan_blocks):
                    continue
                if within_beta and not self._within_beta(plan, float(plans.exposure[index])):
                    continue
                # A large block is the likeliest to be unreachable, and then the others need no test.
                if all(map(self.reachability, sorted(plan.blocks, key=len, reverse=True))):
                    yield plan

    def _within_beta(self, plan: Plan, exposure: float) -> bool:
        gap = exposure - float(self.limits.beta)
        return gap < 0 if abs(gap) > _MARGIN else self.dependence.exposes_at_most(plan, self.limits.beta)


def _result(
    dependence: Dependence,
    limits: Limits,
    examined: Iterable[PlanRatios],
    best: PlanRatios | None,
    failures: tuple[str, ...],
    reachability: ReachabilityCache,
    exhaustive: bool,
    steps: tuple[str, ...],
) -> PlanSearch:
    """Assemble the result, with the nearest plans."""
    plans = tuple(examined)
    within_beta = [ratios for ratios in plans if dependence.exposes_at_most(ratios.plan, limits.beta)]
    within_alpha = [ratios for ratios in plans if dependence.loses_at_most(ratios.plan, limits.alpha)]
    return PlanSearch(
        limits.alpha,
        limits.beta,
        best,
        failures,
        best or min(plans, key=limits.excess, default=None),
        min(within_beta, key=lambda r: (r.association_loss, r.information_exposure), default=None),
        min(within_alpha, key=lambda r: (r.information_exposure, r.association_loss), default=None),
        plans,
        tuple(reachability.unreachable),
        exhaustive,
        steps,
    )

"""CODIP*: merge the two blocks that share most information, as long as the plan stays within its limits.

Section 5 of Fang, Ashrafi & Ng (2011).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

from sfumato.projections.plans.dependence import Dependence, PlanRatios
from sfumato.projections.plans.plan import Plan, block_label
from sfumato.projections.plans.reachability import Block, ReachabilityCache

_DECIMALS = 12
"""Average information that agrees in this number of decimals counts as equal."""

_MARGIN = 1e-9
"""A ratio this far from a threshold is on the side that its float is on."""


@dataclass(frozen=True)
class MergePath:
    """The plans that a run of CODIP* passed, from first to last, and its steps in words."""

    plans: tuple[PlanRatios, ...]
    steps: tuple[str, ...]
    blocked_by_principles: bool
    """Whether the principles prevented a merge that β allowed."""

    @property
    def last(self) -> PlanRatios:
        """The plan at the end of the run."""
        return self.plans[-1]


@dataclass(frozen=True, eq=False)
class Codip:
    """CODIP* over the attributes of a table.

    Each step merges the two blocks whose union has the largest mean mutual information (AvgI), among those that keep
    Γ_β ≤ β and whose union can satisfy the principles. The printed algorithm stops at the first pair that cannot be
    merged. This one tries the next best pair, until no pair is left or all attributes are in one block. Ties are broken by
    the order of the attributes.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> from sfumato.data.table import Table
    >>> people = pa.table({"sex": ["f", "f", "m", "m"], "title": ["ms", "ms", "mr", "mr"], "rich": ["y", "n", "y", "n"]})
    >>> dependence = Dependence.of(Table(people, Schema(sensitive=["sex", "title", "rich"])))
    >>> print(Codip(dependence).run(Fraction(0)).last)
    sex + title | rich: Γ_α 0.0000, Γ_β 0.0000
    """

    dependence: Dependence
    reachability: ReachabilityCache = field(default_factory=lambda: ReachabilityCache(lambda block: True))
    _scores: dict[Block, float] = field(default_factory=dict)
    _ratios: dict[Plan, PlanRatios] = field(default_factory=dict)

    def run(self, beta: Fraction, start: Plan | None = None, until: Fraction | None = None) -> MergePath:
        """Merge blocks, starting from a plan (by default one attribute per block).

        Stops when Γ_α ≤ `until`, or when no merge is possible within β and the principles.
        """
        plan = Plan.singletons(self.dependence.names) if start is None else start
        plans, steps = [self._ratios_of(plan)], []
        # Γ_β grows with every merge, so a pair that exceeds β once exceeds it in all later plans.
        above_beta: set[tuple[Block, Block]] = set()
        blocked, progressing = False, True
        while progressing and (until is None or not self.dependence.loses_at_most(plan, until)):
            progressing = False
            for u, w in self._pairs_by_information(plan):
                pair = plan.blocks[u], plan.blocks[w]
                # Skip pairs that were rejected before; they are not reported again in `steps`.
                if pair in above_beta or self.reachability.excludes(plan.union(u, w)):
                    continue
                ratios = self._ratios_of(plan.merge(u, w))
                label = f"{block_label(pair[0])} with {block_label(pair[1])}"
                # The cheap test first: β is arithmetic, the principles need groups for a table.
                if not self._within(ratios, beta):
                    above_beta.add(pair)
                    steps.append(f"did not merge {label}: Γ_β would be {ratios.information_exposure:.4f}")
                elif not self.reachability(plan.union(u, w)):
                    blocked = True
                    steps.append(f"did not merge {label}: the principles cannot be reached on both together")
                else:
                    plan, progressing = ratios.plan, True
                    plans.append(ratios)
                    figures = f"Γ_α {ratios.association_loss:.4f}, Γ_β {ratios.information_exposure:.4f}"
                    steps.append(f"merged {label}: {figures}")
                    break  # the ranking of pairs has changed: start over with the new plan
        return MergePath(tuple(plans), tuple(steps), blocked)

    def _pairs_by_information(self, plan: Plan) -> Iterator[tuple[int, int]]:
        """Yield pairs of blocks by the mean mutual information of their union, largest first."""
        pairs = combinations(range(len(plan)), 2)
        return iter(sorted(pairs, key=lambda pair: (-self._score(plan.union(*pair)), pair)))

    def _score(self, block: Block) -> float:
        if block not in self._scores:
            self._scores[block] = round(self.dependence.average_information(block), _DECIMALS)
        return self._scores[block]

    def _ratios_of(self, plan: Plan) -> PlanRatios:
        if plan not in self._ratios:
            self._ratios[plan] = self.dependence.ratios(plan)
        return self._ratios[plan]

    def _within(self, ratios: PlanRatios, beta: Fraction) -> bool:
        """Return whether Γ_β ≤ β, exactly.

        Γ_β is a ratio of sums without negative terms, so its float is accurate far beyond the margin.
        """
        gap = ratios.information_exposure - float(beta)
        return gap < 0 if abs(gap) > _MARGIN else self.dependence.exposes_at_most(ratios.plan, beta)

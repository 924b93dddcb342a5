"""CODIP*: merge the two blocks that share most, as long as the plan stays feasible (paper 004, section 5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

from sfumato.projections.dependence import Dependence, PlanRatios
from sfumato.projections.plan import Plan, label_of
from sfumato.projections.reachability import Asking, Block

_PLACES = 12
"""Average information that agrees in so many places counts as equal."""

_CLEAR = 1e-9
"""Ratios this far from a threshold are on the side that the float says."""


@dataclass(frozen=True)
class Path:
    """The plans that a run of CODIP* went through, first to last, and what it did in words."""

    plans: tuple[PlanRatios, ...]
    steps: tuple[str, ...]
    held_back: bool
    """Whether the principles refused a merge that β allowed."""

    @property
    def last(self) -> PlanRatios:
        """The plan that the run ended with."""
        return self.plans[-1]


@dataclass(frozen=True, eq=False)
class Codip:
    """CODIP* over the attributes of a table.

    Each step merges the two blocks whose union has the largest mean mutual information (AvgI), among those that keep
    Γ_β ≤ β and whose union can satisfy the principles. The printed algorithm stops at the first pair that cannot be
    merged; here the next best pair is tried, until none is left or all attributes are in one block. Equal means are taken in
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
    asking: Asking = field(default_factory=lambda: Asking(lambda block: True))
    _scores: dict[Block, float] = field(default_factory=dict)
    _plans: dict[Plan, PlanRatios] = field(default_factory=dict)

    def run(self, beta: Fraction, start: Plan | None = None, until: Fraction | None = None) -> Path:
        """Merge from a plan (all apart, if none is given) on; until Γ_α ≤ `until`, or no merge is left within β."""
        plan = Plan.apart(self.dependence.names) if start is None else start
        plans, steps = [self._weighed(plan)], []
        above: set[tuple[Block, Block]] = set()  # Γ_β grows with every merge: what is too much now stays so
        held_back, merged = False, True
        while merged and (until is None or not self.dependence.loses_at_most(plan, until)):
            merged = False
            for u, w in self._ranked(plan):
                pair = plan.blocks[u], plan.blocks[w]
                if pair in above or self.asking.doomed(plan.union(u, w)):
                    continue
                candidate = plan.merged(u, w)
                told = f"{label_of(pair[0])} with {label_of(pair[1])}"
                weighed = self._weighed(candidate)
                if not self._within(weighed, beta):
                    above.add(pair)
                    steps.append(f"not {told}: Γ_β would be {weighed.information_exposure:.4f}")
                elif not self.asking(plan.union(u, w)):
                    held_back = True
                    steps.append(f"not {told}: the principles cannot be reached on them together")
                else:
                    plan, merged = candidate, True
                    plans.append(weighed)
                    ratios = f"Γ_α {weighed.association_loss:.4f}, Γ_β {weighed.information_exposure:.4f}"
                    steps.append(f"merged {told}: {ratios}")
                    break
        return Path(tuple(plans), tuple(steps), held_back)

    def _ranked(self, plan: Plan) -> Iterator[tuple[int, int]]:
        """Pairs of blocks by the mean mutual information of their union, largest first."""
        pairs = combinations(range(len(plan)), 2)
        return iter(sorted(pairs, key=lambda pair: (-self._score(plan.union(*pair)), pair)))

    def _score(self, block: Block) -> float:
        if block not in self._scores:
            self._scores[block] = round(self.dependence.average_information(block), _PLACES)
        return self._scores[block]

    def _weighed(self, plan: Plan) -> PlanRatios:
        if plan not in self._plans:
            self._plans[plan] = self.dependence.weighed(plan)
        return self._plans[plan]

    def _within(self, weighed: PlanRatios, beta: Fraction) -> bool:
        """Whether Γ_β ≤ β, exactly. Γ_β is a ratio of sums without negative terms: its float is right to many places."""
        gap = weighed.information_exposure - float(beta)
        return gap < 0 if abs(gap) > _CLEAR else self.dependence.exposes_at_most(weighed.plan, beta)

"""The trade-off between association and exposure: the curve of Γ_β against Γ_α, and its knee.

Figure 5 of Fang, Ashrafi & Ng (2011) shows such a curve.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sfumato.exact import written
from sfumato.projections.plans.codip import Codip
from sfumato.projections.plans.dependence import Dependence, PlanRatios
from sfumato.projections.plans.partitions import AUTO_EXHAUSTIVE_LIMIT, Partitions

_BETA_STEP = Fraction(1, 10**9)
"""β is set this far below the exposure of the last plan, so that CODIP* finds another plan."""

_FLAT = 1e-9
"""A curve that is nowhere further below the chord than this is a straight line."""


@dataclass(frozen=True, eq=False)
class Tradeoff:
    """The Pareto-optimal plans, from the smallest Γ_α to the smallest Γ_β, and the knee of their curve.

    The knee is the plan furthest below the chord between the two ends, after both ratios are rescaled to the range from 0 to
    1, so it does not depend on their scales. If no plan lies below the chord, less exposure costs the same everywhere; the
    knee is then the plan whose larger rescaled ratio is smallest, and of equal ones the one that exposes less.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> from sfumato.data.table import Table
    >>> people = pa.table({"job": ["a", "a", "b", "b"], "pay": ["x", "x", "x", "y"], "rich": ["y", "n", "n", "n"]})
    >>> curve = tradeoff(Dependence.of(Table(people, Schema(sensitive=["job", "pay", "rich"]))))
    >>> for point in curve.points:
    ...     print(point)
    job + pay + rich: Γ_α 0.0000, Γ_β 1.0000
    job + pay | rich: Γ_α 0.5822, Γ_β 0.2111
    job | pay | rich: Γ_α 1.0000, Γ_β 0.0000
    >>> curve.knee.plan.label, str(curve.alpha), str(curve.beta)
    ('job + pay | rich', '59/100', '11/50')
    """

    points: tuple[PlanRatios, ...]
    """Plans that no other plan beats in both ratios: among all plans if `exhaustive`, otherwise among those that CODIP*
    finds as β decreases from 1 to 0."""
    merges: tuple[PlanRatios, ...]
    """The plans that CODIP* passes with β = 1: from one table per attribute to a single table."""
    exhaustive: bool
    knee: PlanRatios
    explanation: str
    """Why this plan is the knee, and which α and β admit it, in words."""

    @property
    def alpha(self) -> Fraction:
        """The α that admits the knee: its Γ_α, rounded up to hundredths."""
        return _round_up(self.knee.association_loss)

    @property
    def beta(self) -> Fraction:
        """The β that admits the knee: its Γ_β, rounded up to hundredths."""
        return _round_up(self.knee.information_exposure)


def tradeoff(dependence: Dependence) -> Tradeoff:
    """Compute the trade-off between association and exposure: over all plans up to 10 attributes, by CODIP* above.

    Principles are not considered: the two ratios depend on the plan alone.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> from sfumato.data.table import Table
    >>> people = pa.table({"sex": ["f", "f", "m", "m"], "title": ["ms", "ms", "mr", "mr"], "rich": ["y", "n", "y", "n"]})
    >>> tradeoff(Dependence.of(Table(people, Schema(sensitive=["sex", "title", "rich"])))).knee.plan.label
    'sex + title | rich'
    """
    codip = Codip(dependence)
    merges = codip.run(Fraction(1)).plans
    exhaustive = len(dependence.names) <= AUTO_EXHAUSTIVE_LIMIT
    if exhaustive:
        # All plans are enumerated, so the front is that of all plans; `merges` is still reported for comparison.
        plans = Partitions.of(dependence)
        points = [dependence.ratios(plans.plan(index)) for index in plans.pareto_front()]
    else:
        points = _pareto_front([*merges, *_plans_by_falling_beta(codip)])
    knee, explanation = _find_knee(points)
    return Tradeoff(tuple(points), merges, exhaustive, knee, explanation)


def _plans_by_falling_beta(codip: Codip) -> list[PlanRatios]:
    """Return the plans at the end of CODIP* as β decreases from 1 to 0."""
    ends = [codip.run(Fraction(1)).last]
    # β just below the last exposure forces a different plan, so each run lowers the exposure and the loop ends.
    while ends[-1].information_exposure > _BETA_STEP:
        ends.append(codip.run(Fraction(ends[-1].information_exposure) - _BETA_STEP).last)
    return ends


def _pareto_front(plans: Sequence[PlanRatios]) -> list[PlanRatios]:
    """Return the plans that no other plan beats in both ratios, by Γ_α."""
    front: list[PlanRatios] = []
    for ratios in sorted(plans, key=lambda r: (round(r.association_loss, 12), round(r.information_exposure, 12))):
        if not front or ratios.information_exposure < front[-1].information_exposure - 1e-12:
            front.append(ratios)
    return front


def _find_knee(points: Sequence[PlanRatios]) -> tuple[PlanRatios, str]:
    """Return the point furthest below the chord, and its explanation."""
    if len(points) == 1:
        only = points[0]
        return only, f"no plan is better in either ratio than {only}: there is no trade-off. {_advice(only)}"
    first, last = points[0], points[-1]
    loss_range = last.association_loss - first.association_loss
    exposure_range = first.information_exposure - last.information_exposure

    def rescaled(ratios: PlanRatios) -> tuple[float, float]:
        loss = (ratios.association_loss - first.association_loss) / loss_range
        return loss, (ratios.information_exposure - last.information_exposure) / exposure_range

    # The chord runs from (0, 1) to (1, 0); the depth of a point below it is proportional to 1 − loss − exposure.
    knee = max(points, key=lambda ratios: (1 - sum(rescaled(ratios)), -ratios.information_exposure))
    depth = 1 - sum(rescaled(knee))
    if depth <= _FLAT:
        knee = min(points, key=lambda ratios: (round(max(rescaled(ratios)), 12), ratios.information_exposure))
        return (
            knee,
            f"the curve has no knee: less exposure costs the same everywhere. The balanced plan is {knee}. {_advice(knee)}",
        )
    decrease = first.information_exposure - knee.information_exposure
    remaining_loss = last.association_loss - knee.association_loss
    return knee, (
        f"the knee is {knee}. Up to it, Γ_β falls by {decrease:.4f} at the price of "
        f"{knee.association_loss - first.association_loss:.4f} of Γ_α; the last {knee.information_exposure:.4f} of Γ_β "
        f"would cost another {remaining_loss:.4f}. {_advice(knee)}"
    )


def _advice(ratios: PlanRatios) -> str:
    alpha, beta = _round_up(ratios.association_loss), _round_up(ratios.information_exposure)
    return f"α = {written(alpha)} and β = {written(beta)} admit it"


def _round_up(ratio: float) -> Fraction:
    return Fraction(min(math.ceil(round(ratio * 100, 9)), 100), 100)

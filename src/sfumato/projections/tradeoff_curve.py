"""What less exposure costs in association: the curve of Γ_β against Γ_α, and its knee (paper 004, Fig. 5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sfumato.exact import written
from sfumato.projections.codip import Codip
from sfumato.projections.dependence import Dependence, PlanRatios
from sfumato.projections.partitions import FEW, Partitions

_STEP = Fraction(1, 10**9)
"""How far β is set below what the last plan exposed, to make CODIP* find another."""

_FLAT = 1e-9
"""A curve that is nowhere further below the chord than this is a straight line."""


@dataclass(frozen=True, eq=False)
class Tradeoff:
    """The plans worth a choice, from the least Γ_α to the least Γ_β, and the knee of their curve.

    The knee is the plan furthest below the chord between the two ends, after both ratios are stretched to run from 0 to
    1; it does not depend on their scales. Where no plan lies below the chord, less exposure costs as much all along, and
    the plan whose larger stretched ratio is least is taken, of equal ones the one that exposes less.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> from sfumato.data.table import Table
    >>> people = pa.table({"job": ["a", "a", "b", "b"], "pay": ["x", "x", "x", "y"], "rich": ["y", "n", "n", "n"]})
    >>> curve = tradeoff(Dependence.of(Table(people, Schema(sensitive=["job", "pay", "rich"]))))
    >>> for weighed in curve.points:
    ...     print(weighed)
    job + pay + rich: Γ_α 0.0000, Γ_β 1.0000
    job + pay | rich: Γ_α 0.5822, Γ_β 0.2111
    job | pay | rich: Γ_α 1.0000, Γ_β 0.0000
    >>> curve.knee.plan.label, str(curve.alpha), str(curve.beta)
    ('job + pay | rich', '59/100', '11/50')
    """

    points: tuple[PlanRatios, ...]
    """Plans of which none is beaten in both ratios by another one: of all plans if `exhaustive`, else of those that
    CODIP* finds as β falls from 1 to 0."""
    merges: tuple[PlanRatios, ...]
    """The plans that CODIP* goes through with β = 1: from each attribute apart to all in one table."""
    exhaustive: bool
    knee: PlanRatios
    why: str
    """What speaks for the knee, and what to write for α and β, in words."""

    @property
    def alpha(self) -> Fraction:
        """The α to wish for to get a plan such as the knee: its Γ_α, rounded up to hundredths."""
        return _rounded_up(self.knee.association_loss)

    @property
    def beta(self) -> Fraction:
        """The β to wish for to get a plan such as the knee: its Γ_β, rounded up to hundredths."""
        return _rounded_up(self.knee.information_exposure)


def tradeoff(dependence: Dependence) -> Tradeoff:
    """The trade-off between association and exposure: all plans up to 10 attributes, above them those of CODIP*.

    Principles are not asked for: the two ratios depend on the plan alone.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> from sfumato.data.table import Table
    >>> people = pa.table({"sex": ["f", "f", "m", "m"], "title": ["ms", "ms", "mr", "mr"], "rich": ["y", "n", "y", "n"]})
    >>> tradeoff(Dependence.of(Table(people, Schema(sensitive=["sex", "title", "rich"])))).knee.plan.label
    'sex + title | rich'
    """
    codip = Codip(dependence)
    merges = codip.run(Fraction(1)).plans
    few = len(dependence.names) <= FEW
    if few:
        every = Partitions.of(dependence)
        points = [dependence.weighed(every.plan(index)) for index in every.front()]
    else:
        points = _unbeaten([*merges, *_falling(codip)])
    knee, why = _knee(points)
    return Tradeoff(tuple(points), merges, few, knee, why)


def _falling(codip: Codip) -> list[PlanRatios]:
    """The plans that CODIP* ends with as β falls from 1 to 0."""
    ends = [codip.run(Fraction(1)).last]
    while ends[-1].information_exposure > _STEP:
        ends.append(codip.run(Fraction(ends[-1].information_exposure) - _STEP).last)
    return ends


def _unbeaten(plans: Sequence[PlanRatios]) -> list[PlanRatios]:
    """Those that no other one beats in both ratios, least Γ_α first."""
    found: list[PlanRatios] = []
    for weighed in sorted(plans, key=lambda w: (round(w.association_loss, 12), round(w.information_exposure, 12))):
        if not found or weighed.information_exposure < found[-1].information_exposure - 1e-12:
            found.append(weighed)
    return found


def _knee(points: Sequence[PlanRatios]) -> tuple[PlanRatios, str]:
    """The point furthest below the chord, and what to say of it."""
    if len(points) == 1:
        only = points[0]
        return only, f"no plan is better in either ratio than {only}: there is nothing to trade. {_advice(only)}"
    first, last = points[0], points[-1]
    lost = last.association_loss - first.association_loss
    exposed = first.information_exposure - last.information_exposure

    def stretched(weighed: PlanRatios) -> tuple[float, float]:
        loss = (weighed.association_loss - first.association_loss) / lost
        return loss, (weighed.information_exposure - last.information_exposure) / exposed

    knee = max(points, key=lambda weighed: (1 - sum(stretched(weighed)), -weighed.information_exposure))
    depth = 1 - sum(stretched(knee))
    if depth <= _FLAT:
        knee = min(points, key=lambda weighed: (round(max(stretched(weighed)), 12), weighed.information_exposure))
        return (
            knee,
            f"the curve has no knee: less exposure costs the same all along. The balanced plan is {knee}. {_advice(knee)}",
        )
    fallen = first.information_exposure - knee.information_exposure
    left = last.association_loss - knee.association_loss
    return knee, (
        f"the knee is {knee}. Down to it Γ_β falls by {fallen:.4f} at the price of "
        f"{knee.association_loss - first.association_loss:.4f} of Γ_α; the last {knee.information_exposure:.4f} of Γ_β "
        f"would cost another {left:.4f}. {_advice(knee)}"
    )


def _advice(weighed: PlanRatios) -> str:
    alpha, beta = _rounded_up(weighed.association_loss), _rounded_up(weighed.information_exposure)
    return f"α = {written(alpha)} and β = {written(beta)} admit it"


def _rounded_up(ratio: float) -> Fraction:
    return Fraction(min(math.ceil(round(ratio * 100, 9)), 100), 100)

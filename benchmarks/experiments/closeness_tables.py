"""Figures 8 and 9 of Fang, Ashrafi & Ng (2011), Section 7.2, as tables, and the success of attacks on the same plans.

The recoding is full-domain generalization. Every transformation is measured (see `transformations`). Each projected table of
a plan has the transformation that is best for it. Discernibility is in units of 10⁹ for 98,839 rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

from benchmarks.experiments.plan_tables import BETA, Subject
from benchmarks.experiments.transformations import Transformations
from benchmarks.measurement import Row
from sfumato.attacks import AttackerView, background_join, intersection
from sfumato.data.table import Table
from sfumato.exact import as_fraction
from sfumato.projections import PlanRatios, search_plans

K = 2
"""The k of Figure 8."""
DISCERNIBILITY_LIMIT = 3.5
"""The limit of discernibility of Figure 9."""
ALPHA_WITH_CLOSENESS = Fraction(3, 10)
"""α of the plans that are searched for closeness; at 0.2 the search gains nothing."""
_T_STEPS = 200
"""The number of steps of t from 0 to 1."""
_PAPER_ROWS = 98_839


def closeness_table(subject: Subject, transformations: Transformations) -> Iterator[Row]:
    """Yield Figure 8: the best closeness of plans under limits of discernibility, and the improvement on one table.

    In the column `chosen`, "by dependence" marks the plans of CODIP* without a closeness requirement, and "for closeness"
    the plan of CODIP* for the smallest t, in steps of 0.005, for which it finds one with α = 0.3 and β = 0.5.
    """
    attributes = len(subject.dependence.names)
    plans = {n: ratios for n, ratios in subject.plans.items() if n in (1, *subject.points.numbers, attributes)}
    for most in subject.points.thresholds:
        limit = scaled_limit(subject.table, most)
        one_table = transformations.best_of(subject.plans[1].plan.blocks, K, limit)
        rows = [("by dependence", ratios) for ratios in plans.values()]
        closest = closest_plan(subject, transformations, limit)
        if closest is not None:
            rows.append(("for closeness", closest))
        for chosen, ratios in rows:
            best = transformations.best_of(ratios.plan.blocks, K, limit)
            yield {
                **subject.common,
                "k": K,
                "discernibility": most,
                "transformations": int(transformations.valid(K, limit).sum()),
                "chosen": chosen,
                "tables": len(ratios.plan),
                "association_loss": round(ratios.association_loss, 4),
                "information_exposure": round(ratios.information_exposure, 4),
                "closeness": _rounded(best),
                "improvement": "" if not one_table or best is None else round(float(1 - best / one_table), 4),
            }


def closest_plan(subject: Subject, transformations: Transformations, limit: float, k: int = K) -> PlanRatios | None:
    """Return the plan of CODIP* for the smallest t for which it finds one; None if it finds none."""
    dependence = subject.dependence
    for step in range(_T_STEPS + 1):
        admissible = partial(can_be_close, transformations, Fraction(step, _T_STEPS), k, limit)
        search = search_plans(dependence, ALPHA_WITH_CLOSENESS, BETA, admissible, "greedy", monotone=True)
        if search.best is not None:
            return search.best
    return None


def can_be_close(transformations: Transformations, t: Fraction, k: int, limit: float, block: tuple[str, ...]) -> bool:
    """Return whether a projected table with these attributes can be t-close in groups of at least k rows."""
    best = transformations.best(block, k, limit)
    return best is not None and best <= t


def anonymizations_table(subject: Subject, transformations: Transformations) -> Iterator[Row]:
    """Yield Figure 9: by k, the number of valid transformations, the closeness of one table, and the plans that reach t."""
    limit = scaled_limit(subject.table, DISCERNIBILITY_LIMIT)
    between = [ratios for n, ratios in subject.plans.items() if 1 < n < len(subject.dependence.names)]
    for k in subject.points.smallest:
        best = [transformations.best_of(ratios.plan.blocks, k, limit) for ratios in between]
        yield {
            **subject.common,
            "discernibility": DISCERNIBILITY_LIMIT,
            "k": k,
            "transformations": int(transformations.valid(k, limit).sum()),
            "of": transformations.count,
            "one_table": _rounded(transformations.best_of(subject.plans[1].plan.blocks, k, limit)),
            "for_closeness": _rounded(_best_for_closeness(subject, transformations, limit, k)),
            "each_apart": _rounded(transformations.best_of(subject.plans[max(subject.plans)].plan.blocks, k, limit)),
            "plans": len(between),
            **{f"t_{t}": sum(b is not None and b <= as_fraction(t) for b in best) for t in subject.points.closeness},
        }


def attacks_table(subject: Subject, transformations: Transformations) -> Iterator[Row]:
    """Yield the success of attacks on each plan at k = 2, in the finest groups and in those that are best for closeness.

    A gain is the increase in confidence about one attribute from another, averaged over people and over all ordered pairs of
    attributes. A background join gains nothing from a pair in two tables, and an inference nothing from a pair in one table.
    `truth` is the same for the belief in the true value.
    """
    limit = scaled_limit(subject.table, DISCERNIBILITY_LIMIT)
    names = subject.dependence.names
    pairs = len(names) * (len(names) - 1)
    for groups in ("finest", "closest"):
        for tables, ratios in subject.plans.items():
            subject.notify(f"attacks on {tables} tables in the {groups} groups")
            views = []
            for block in ratios.plan.blocks:
                levels = transformations.finest(K) if groups == "finest" else transformations.best_levels(block, K, limit)
                if levels is not None:
                    views.append(AttackerView(block, transformations.groups(levels)))
            if len(views) < tables:
                continue  # no transformation of some table is within the limit
            joins, crossed = background_join(subject.table, views).joins, intersection(subject.table, views)
            yield {
                **subject.common,
                "groups": groups,
                "tables": tables,
                "association_loss": round(ratios.association_loss, 4),
                "information_exposure": round(ratios.information_exposure, 4),
                "join_pairs": len(joins),
                "join_gain": round(float(sum(join.mean_gain for join in joins)) / pairs, 6),
                "join_newly_certain": sum(join.newly_certain for join in joins),
                "inference_pairs": len(crossed.inferences),
                "inference_gain": round(sum(each.mean_gain for each in crossed.inferences) / pairs, 6),
                "inference_truth": round(sum(each.truth - each.truth_before for each in crossed.inferences) / pairs, 6),
                "inference_newly_certain": sum(each.newly_certain for each in crossed.inferences),
                "k": crossed.k,
                "l": crossed.l,
                "link": round(float(crossed.links[0].largest), 4),
                "stated_bound": round(float(crossed.links[0].bound), 4),
                "corrected_bound": round(float(crossed.links[0].corrected_bound), 4),
            }


def _best_for_closeness(subject: Subject, transformations: Transformations, limit: float, k: int) -> Fraction | None:
    plan = closest_plan(subject, transformations, limit, k)
    return None if plan is None else transformations.best_of(plan.plan.blocks, k, limit)


def scaled_limit(table: Table, most: float) -> float:
    """Scale a limit of discernibility, in units of 10⁹ for the rows of the paper, to the rows of a table."""
    return most * 1e9 * (table.rows / _PAPER_ROWS) ** 2


def _rounded(value: Fraction | None) -> float | str:
    return "" if value is None else round(float(value), 4)

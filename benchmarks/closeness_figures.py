"""The experiments of paper 004, Section 7.2, again: Figures 8 and 9 as tables, and beside them what attacks reach.

Full-domain generalization: every transformation is looked at (see `transformations`), and each projected table of a plan has
the one that is best for it. Discernibility is told in units of 10⁹, as of 98,839 rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

from benchmarks.plan_figures import BETA, Row, Subject
from benchmarks.transformations import Transformations
from sfumato.attacks import AttackerView, background_join, intersection
from sfumato.data.table import Table
from sfumato.exact import as_fraction
from sfumato.projections import PlanRatios, search_plans

K = 2
"""Of Figure 8."""
MOST = 3.5
"""The largest discernibility of Figure 9."""
LOSS = Fraction(3, 10)
"""α where closeness is asked for: at 0.2 nothing is gained."""
_STEPS = 200
"""Of t, from 0 to 1."""
_PAPER_ROWS = 98_839


def closeness_table(subject: Subject, transformations: Transformations) -> Iterator[Row]:
    """Figure 8: the best closeness of plans with so many tables under limits of discernibility, and what that improves.

    `chosen`: "by dependence" are the plans of CODIP* that nobody asked to be close. "for closeness" is the plan of CODIP*
    for the smallest t, in steps of 0.005, at which it finds one with α = 0.3 and β = 0.5.
    """
    every = len(subject.dependence.names)
    plans = {n: w for n, w in subject.plans.items() if n in (1, *subject.points.numbers, every)}
    for most in subject.points.thresholds:
        limit = limit_of(subject.table, most)
        whole = transformations.best_of(subject.plans[1].plan.blocks, K, limit)
        rows = [("by dependence", weighed) for weighed in plans.values()]
        asked = asked_for(subject, transformations, limit)
        if asked is not None:
            rows.append(("for closeness", asked))
        for chosen, weighed in rows:
            best = transformations.best_of(weighed.plan.blocks, K, limit)
            yield {
                **subject.start,
                "k": K,
                "discernibility": most,
                "transformations": int(transformations.valid(K, limit).sum()),
                "chosen": chosen,
                "tables": len(weighed.plan),
                "association_loss": round(weighed.association_loss, 4),
                "information_exposure": round(weighed.information_exposure, 4),
                "closeness": _rounded(best),
                "improvement": "" if not whole or best is None else round(float(1 - best / whole), 4),
            }


def asked_for(subject: Subject, transformations: Transformations, limit: float, k: int = K) -> PlanRatios | None:
    """The plan of CODIP* for the smallest t at which there is one; None if there is none."""
    dependence = subject.dependence
    for step in range(_STEPS + 1):
        t = Fraction(step, _STEPS)
        search = search_plans(dependence, LOSS, BETA, partial(close, transformations, t, k, limit), "greedy", monotone=True)
        if search.best is not None:
            return search.best
    return None


def close(transformations: Transformations, t: Fraction, k: int, limit: float, block: tuple[str, ...]) -> bool:
    """Whether a projected table with these attributes can be t-close in groups of k."""
    best = transformations.best(block, k, limit)
    return best is not None and best <= t


def anonymizations_table(subject: Subject, transformations: Transformations) -> Iterator[Row]:
    """Figure 9: for each k the transformations that are left, the closeness of one table, and how many plans reach t."""
    limit = limit_of(subject.table, MOST)
    between = [w for n, w in subject.plans.items() if 1 < n < len(subject.dependence.names)]
    for k in subject.points.smallest:
        best = [transformations.best_of(weighed.plan.blocks, k, limit) for weighed in between]
        yield {
            **subject.start,
            "discernibility": MOST,
            "k": k,
            "transformations": int(transformations.valid(k, limit).sum()),
            "of": transformations.count,
            "one_table": _rounded(transformations.best_of(subject.plans[1].plan.blocks, k, limit)),
            "for_closeness": _rounded(_best_asked_for(subject, transformations, limit, k)),
            "each_apart": _rounded(transformations.best_of(subject.plans[max(subject.plans)].plan.blocks, k, limit)),
            "plans": len(between),
            **{f"t_{t}": sum(b is not None and b <= as_fraction(t) for b in best) for t in subject.points.closeness},
        }


def attacks_table(subject: Subject, transformations: Transformations) -> Iterator[Row]:
    """What attackers reach on each plan at k = 2, in the finest groups and in those that are best for closeness.

    A gain is the rise of confidence from one attribute to another, the mean over people and over all ordered pairs of
    attributes: a background join gains nothing from a pair in two tables, an inference nothing from a pair in one. `truth`
    is the same for the belief in the true value.
    """
    limit = limit_of(subject.table, MOST)
    names = subject.dependence.names
    pairs = len(names) * (len(names) - 1)
    for groups in ("finest", "closest"):
        for tables, weighed in subject.plans.items():
            subject.tell(f"attacks on {tables} tables in the {groups} groups")
            seen = []
            for block in weighed.plan.blocks:
                levels = transformations.finest(K) if groups == "finest" else transformations.best_levels(block, K, limit)
                if levels is not None:
                    seen.append(AttackerView(block, transformations.groups(levels)))
            if len(seen) < tables:
                continue  # no transformation is within the limit
            joined, crossed = background_join(subject.table, seen).joins, intersection(subject.table, seen)
            yield {
                **subject.start,
                "groups": groups,
                "tables": tables,
                "association_loss": round(weighed.association_loss, 4),
                "information_exposure": round(weighed.information_exposure, 4),
                "join_pairs": len(joined),
                "join_gain": round(float(sum(join.mean_gain for join in joined)) / pairs, 6),
                "join_newly_certain": sum(join.newly_certain for join in joined),
                "inference_pairs": len(crossed.inferences),
                "inference_gain": round(sum(each.mean_gain for each in crossed.inferences) / pairs, 6),
                "inference_truth": round(sum(each.truth - each.truth_before for each in crossed.inferences) / pairs, 6),
                "inference_newly_certain": sum(each.newly_certain for each in crossed.inferences),
                "k": crossed.k,
                "l": crossed.l,
                "link": round(float(crossed.links[0].largest), 4),
                "stated": round(float(crossed.links[0].bound), 4),
                "mended": round(float(crossed.links[0].corrected_bound), 4),
            }


def _best_asked_for(subject: Subject, transformations: Transformations, limit: float, k: int) -> Fraction | None:
    weighed = asked_for(subject, transformations, limit, k)
    return None if weighed is None else transformations.best_of(weighed.plan.blocks, k, limit)


def limit_of(table: Table, most: float) -> float:
    """A limit of discernibility in 10⁹ of the paper's rows, as of the rows at hand."""
    return most * 1e9 * (table.rows / _PAPER_ROWS) ** 2


def _rounded(value: Fraction | None) -> float | str:
    return "" if value is None else round(float(value), 4)

"""The experiments of paper 004, Section 7.2, again: Figures 8 and 9 as tables, and beside them what attacks reach.

Full-domain generalization: every transformation is looked at (see `transformations`), and each projected table of a plan has
the one that is best for it. Discernibility is told in units of 10⁹, as of 98,839 rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from sfumato.attacks import Seen, background_join, intersection
from sfumato.benchmarks.plan_figures import Row, Subject
from sfumato.benchmarks.transformations import Transformations, grouped
from sfumato.exact import as_fraction
from sfumato.projections import Weighed

K = 2
"""Of Figure 8."""
MOST = 3.5
"""The largest discernibility of Figure 9."""
_PAPER_ROWS = 98_839


def closeness_table(subject: Subject, transformations: Transformations) -> Iterator[Row]:
    """Figure 8: the best closeness of plans with so many tables under limits of discernibility, and what that improves."""
    chosen = {n: w for n, w in subject.plans.items() if n in (1, *subject.points.numbers, len(subject.dependence.names))}
    for most in subject.points.thresholds:
        limit = _limit(subject, most)
        whole = transformations.best_of(subject.plans[1].plan.blocks, K, limit)
        for tables, weighed in chosen.items():
            best = transformations.best_of(weighed.plan.blocks, K, limit)
            yield {
                **subject.start,
                "k": K,
                "discernibility": most,
                "transformations": int(transformations.valid(K, limit).sum()),
                "tables": tables,
                "closeness": _rounded(best),
                "improvement": "" if not whole or best is None else round(float(1 - best / whole), 4),
            }


def anonymizations_table(subject: Subject, transformations: Transformations) -> Iterator[Row]:
    """Figure 9: for each k the transformations that are left, the closeness of one table, and how many plans reach t."""
    limit = _limit(subject, MOST)
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
            "each_apart": _rounded(transformations.best_of(subject.plans[max(subject.plans)].plan.blocks, k, limit)),
            "plans": len(between),
            **{f"t_{t}": sum(b is not None and b <= as_fraction(t) for b in best) for t in subject.points.closeness},
        }


def attacks_table(subject: Subject, transformations: Transformations) -> Iterator[Row]:
    """What attackers reach on each plan at k = 2, every table transformed as is best for its closeness.

    `joins`: ways to read one attribute from another in the same table; the confidence is the mean over them and over people.
    `inferences`: the same for attributes in different tables, by one who knows how they depend.
    """
    limit = _limit(subject, MOST)
    for tables, weighed in subject.plans.items():
        subject.tell(f"attacks on {tables} tables")
        seen = _seen(subject, transformations, weighed, limit)
        if seen is None:
            continue
        joined, crossed = background_join(subject.table, seen), intersection(subject.table, seen)
        yield {
            **subject.start,
            "tables": tables,
            "association_loss": round(weighed.association_loss, 4),
            "information_exposure": round(weighed.information_exposure, 4),
            "joins": len(joined.joins),
            "join_before": _mean([float(join.before.mean) for join in joined.joins]),
            "join_after": _mean([float(join.after.mean) for join in joined.joins]),
            "join_certain_before": sum(join.before.certain for join in joined.joins),
            "join_certain": sum(join.after.certain for join in joined.joins),
            "inferences": len(crossed.inferences),
            "inference_before": _mean([float(each.before.mean) for each in crossed.inferences]),
            "inference_after": _mean([float(each.after.mean) for each in crossed.inferences]),
            "inference_certain_before": sum(each.before.certain for each in crossed.inferences),
            "inference_certain": sum(each.after.certain for each in crossed.inferences),
            "link_largest": round(float(crossed.links[0].largest), 4),
            "link_stated": round(float(crossed.links[0].stated), 4),
            "link_mended": round(float(crossed.links[0].mended), 4),
        }


def _seen(subject: Subject, transformations: Transformations, weighed: Weighed, limit: float) -> list[Seen] | None:
    seen = []
    for block in weighed.plan.blocks:
        levels = transformations.best_levels(block, K, limit)
        if levels is None:
            return None
        seen.append(Seen(block, grouped(subject.table, levels)))
    return seen


def _limit(subject: Subject, most: float) -> float:
    """A limit of discernibility in 10⁹ of the paper's rows, as of the rows at hand."""
    return most * 1e9 * (subject.table.rows / _PAPER_ROWS) ** 2


def _rounded(value: Fraction | None) -> float | str:
    return "" if value is None else round(float(value), 4)


def _mean(values: list[float]) -> float | str:
    return round(float(np.mean(values)), 4) if values else ""

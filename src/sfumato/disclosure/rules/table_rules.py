"""The best rule that discloses k cells in the whole table (Lebanon et al. 2006, Δ₁): the records' least losses, combined.

The least loss with exactly k cells is a knapsack with one choice per record. At a price per cell each record chooses on
its own. The price at which the number of cells is closest to k, and not above, gives a lower bound and a rule that lacks
a few cells. These are added exactly: among all ways to deviate from that rule there is a best one in which no deviations
of records cancel out, so few records deviate, and for each deviation only the cheapest few matter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.disclosure.rules.choice_losses import Choices
from sfumato.disclosure.rules.disclosure_rule import DisclosureRule, mean
from sfumato.disclosure.rules.record_rules import LeastLosses
from sfumato.kernels.knapsack import deviate, hull_steps

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_SUMS = 2**28
"""The partial sums that are stored, over all records that may deviate; if more were needed, the gap stays open."""


class Sizes(NamedTuple):
    """The number of cells of each record, and a bound on the sum of losses of all ways to disclose that many in total."""

    sizes: Integers
    bound: float
    closed: bool
    """Whether nothing loses less."""


def best_of_table(choices: Choices, options: LeastLosses, cells: int) -> DisclosureRule:
    """Combine the records' least losses so that k cells are disclosed in total; if there are fewer, all of them."""
    of_record = choices.of_record
    target = min(cells, int(choices.counts[of_record].sum()))
    result = sizes_for(options.least, choices.counts, of_record, target)
    risk = mean(options.least[of_record, result.sizes])
    bound = risk if result.closed else min(risk, result.bound / choices.records)
    if not np.array_equal(options.bounds, options.least):
        bound = min(risk, sizes_for(options.bounds, choices.counts, of_record, target).bound / choices.records)
    how = "the least losses of the records were combined"
    if np.isinf(bound):
        how = "this number of cells cannot be disclosed at a finite risk"
    return DisclosureRule(choices.rule(options.choices[of_record, result.sizes]), risk, bound, cells - target, how)


def sizes_for(least: Floats, counts: Integers, of_record: Integers, target: int) -> Sizes:
    """Find how many cells each record discloses so that the total is as wanted and the sum of losses is least.

    `least[g, c]` is the loss of a record like g, which has `counts[g]` values, with c cells. An infinite loss is accepted
    only where it is unavoidable.

    >>> least = np.array([[0.0, 1.0, 9.0], [0.0, 2.0, 3.0]])
    >>> sizes_for(least, np.array([2, 2]), np.array([0, 1]), 3)
    Sizes(sizes=array([1, 2]), bound=4.0, closed=True)
    """
    if not len(of_record):
        return Sizes(np.zeros(0, np.int64), 0.0, True)
    # replace unavoidable infinite losses by a number above all finite sums, so that they are taken last
    finite = np.isfinite(least)
    high = 1.0 + 2.0 * float(np.where(finite, least, 0.0).max(axis=1)[of_record].sum())
    least = np.where(~finite & (np.arange(least.shape[1]) <= counts[:, None]), high, least)
    price, sizes = _price(least, of_record, target)
    # cost of each number of cells above the record's cheapest at the price: 0 for the one that it takes
    reduced = least - price * np.arange(least.shape[1])
    reduced -= reduced.min(axis=1, keepdims=True)
    reduced[of_record, sizes] = 0.0  # exactly 0, whatever rounding did
    lacking = target - int(sizes.sum())
    bound = float(np.sum(least[of_record, sizes])) + price * lacking
    result = _add_lacking_cells(reduced, of_record, sizes, lacking, bound) if lacking else Sizes(sizes, bound, True)
    return result._replace(bound=np.inf) if result.bound >= high else result


def _price(least: Floats, of_record: Integers, target: int) -> tuple[float, Integers]:
    """The price per cell at which the total comes closest to the wanted one from below, and the cells of each record."""
    # take the steps of all hulls in the order of their slopes until the target is reached
    groups, slopes, widths, ends = _hulls(least)
    copies = np.bincount(of_record, minlength=len(least))
    order = np.argsort(slopes, kind="stable")  # stable: within a record slopes ascend, so its steps stay in order
    groups, slopes, widths, ends = groups[order], slopes[order], widths[order], ends[order]
    before = np.cumsum(widths * copies[groups])
    whole = int(np.searchsorted(before, target, side="right"))  # the number of steps that all copies take
    of_group = np.zeros(len(least), np.int64)
    np.maximum.at(of_group, groups[:whole], ends[:whole])
    sizes = of_group[of_record]
    if whole == len(groups):
        return 0.0 if not whole else float(slopes[-1]), sizes
    # of the next step only as many copies as fit
    left = target - (int(before[whole - 1]) if whole else 0)
    some = np.flatnonzero(of_record == groups[whole])[: left // widths[whole]]
    sizes[some] = ends[whole]
    return float(slopes[whole]), sizes


def _hulls(least: Floats) -> tuple[Integers, Floats, Integers, Integers]:
    """The steps of the lower convex hull of each record's losses: whose, how steep, how wide, and up to how many cells."""
    room = least.size
    groups, slopes, widths, ends = (
        np.empty(room, np.int64),
        np.empty(room),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
    )
    count = hull_steps(least, groups, slopes, widths, ends)
    return groups[:count], slopes[:count], widths[:count], ends[:count]


def _add_lacking_cells(reduced: Floats, of_record: Integers, sizes: Integers, lacking: int, bound: float) -> Sizes:
    """Let a few records deviate so that the lacking cells are disclosed, at the least cost above the bound."""
    # `limit`, the cost of a simple repair, bounds every deviation of an optimal one; `width` bounds its partial sums
    deviations = _cheapest(reduced, of_record, sizes, lacking)
    limit = deviations.by_one_or_two(lacking)
    records, steps, costs = deviations.within(limit)
    lowest, highest = int(steps[0]), int(steps[-1])
    width = (max(highest, 0) - min(lowest, 0) + lacking) * max(highest, -lowest)
    narrow = max(highest + lacking, min(width, MOST_SUMS // len(records)))
    taken = np.zeros((len(records), 2 * narrow + 1), np.uint8)
    deviate(costs, lowest, lacking, narrow, taken)
    # read the deviations backwards from the sum that was reached
    out, at = sizes.copy(), narrow + lacking
    for r in range(len(records) - 1, -1, -1):
        if taken[r, at]:
            step = lowest + int(taken[r, at]) - 1
            out[records[r]] += step
            at -= step
    return Sizes(out, bound, narrow == width)


class _Deviations(NamedTuple):
    """The records that may change their number of cells, and the cost of each change."""

    records: Integers
    steps: Integers
    costs: Floats

    def by_one_or_two(self, lacking: int) -> float:
        """The least cost at which one record, or two, disclose the lacking cells."""
        limit = np.inf
        order = np.argsort(self.costs, axis=0, kind="stable")[:2]
        for at, step in enumerate(self.steps.tolist()):
            if step == lacking:
                limit = min(limit, float(self.costs[order[0, at], at]))
            other = np.searchsorted(self.steps, lacking - step)
            if other < len(self.steps) and self.steps[other] == lacking - step:
                for one in order[:, at].tolist():
                    for two in order[:, other].tolist():
                        if one != two:
                            limit = min(limit, float(self.costs[one, at] + self.costs[two, other]))
        return limit

    def within(self, limit: float) -> _Deviations:
        """The deviations that cost no more than a limit."""
        costs = np.where(self.costs <= limit, self.costs, np.inf)
        rows, columns = np.isfinite(costs).any(axis=1), np.flatnonzero(np.isfinite(costs).any(axis=0))
        some = slice(columns[0], columns[-1] + 1)
        return _Deviations(self.records[rows], self.steps[some], np.ascontiguousarray(costs[rows][:, some]))


def _cheapest(reduced: Floats, of_record: Integers, sizes: Integers, lacking: int) -> _Deviations:
    """For every deviation the records with the least cost, as many as might deviate together."""
    most = reduced.shape[1] - 1
    steps = np.arange(-most, most + 1)

    def cost(records: Integers, step: int) -> Floats:
        to = sizes[records] + step
        there = (to >= 0) & (to <= most) & (step != 0)
        return np.where(there, reduced[of_record[records], np.clip(to, 0, most)], np.inf)

    everybody = np.arange(len(sizes))
    possible = [step for step in steps.tolist() if np.isfinite(cost(everybody, step)).any()]
    few = max(possible, default=0) - min(possible, default=0) + lacking
    kept: set[int] = set()
    for step in possible:
        costs = cost(everybody, step)
        kept.update(np.argsort(costs, kind="stable")[:few].tolist())
    records = np.array(sorted(kept), np.int64)
    return _Deviations(records, steps, np.column_stack([cost(records, step) for step in steps.tolist()]))

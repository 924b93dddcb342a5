"""The best rule that discloses k cells in all (paper 002, Δ₁): each record's least losses, combined.

Losing least with exactly k cells is a knapsack with one choice per record. At a price per cell each record chooses on its
own; the price at which the cells come out next to k gives a bound, and a rule that lacks a few cells. The few are then
found exactly: among all ways to deviate from that rule there is a best one in which no records' deviations cancel out, so
few records deviate, and for each deviation only the cheapest few need be looked at.
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
"""How many sums, over all records that may deviate, are remembered; if more were needed the gap stays open."""


class Sizes(NamedTuple):
    """How many cells each record discloses, and a bound on the sum of losses of all ways to disclose as many in all."""

    sizes: Integers
    bound: float
    closed: bool
    """Whether nothing loses less."""


def best_of_table(choices: Choices, options: LeastLosses, cells: int) -> DisclosureRule:
    """Combine the records' least losses so that k cells are disclosed in all; if there are fewer, all of them."""
    of_record = choices.of_record
    wanted = min(cells, int(choices.counts[of_record].sum()))
    found = sizes_for(options.least, choices.counts, of_record, wanted)
    risk = mean(options.least[of_record, found.sizes])
    bound = risk if found.closed else min(risk, found.bound / choices.records)
    if not np.array_equal(options.bounds, options.least):
        bound = min(risk, sizes_for(options.bounds, choices.counts, of_record, wanted).bound / choices.records)
    how = "each record's least losses were combined"
    if np.isinf(bound):
        how = "so many cells cannot be disclosed at a finite risk"
    return DisclosureRule(choices.rule(options.choices[of_record, found.sizes]), risk, bound, cells - wanted, how)


def sizes_for(least: Floats, counts: Integers, of_record: Integers, wanted: int) -> Sizes:
    """How many cells each record discloses so that they are as many as wanted and the losses add up to the least.

    `least[g, c]` is what a record like g, which has `counts[g]` values, loses with c cells. A loss that is infinite is
    accepted only where it must be.

    >>> least = np.array([[0.0, 1.0, 9.0], [0.0, 2.0, 3.0]])
    >>> sizes_for(least, np.array([2, 2]), np.array([0, 1]), 3)
    Sizes(sizes=array([1, 2]), bound=4.0, closed=True)
    """
    if not len(of_record):
        return Sizes(np.zeros(0, np.int64), 0.0, True)
    finite = np.isfinite(least)
    high = 1.0 + 2.0 * float(np.where(finite, least, 0.0).max(axis=1)[of_record].sum())
    least = np.where(~finite & (np.arange(least.shape[1]) <= counts[:, None]), high, least)
    price, sizes = _price(least, of_record, wanted)
    reduced = least - price * np.arange(least.shape[1])
    reduced -= reduced.min(axis=1, keepdims=True)
    reduced[of_record, sizes] = 0.0  # but for rounding they are
    lacking = wanted - int(sizes.sum())
    bound = float(np.sum(least[of_record, sizes])) + price * lacking
    found = _closed(reduced, of_record, sizes, lacking, bound) if lacking else Sizes(sizes, bound, True)
    return found._replace(bound=np.inf) if found.bound >= high else found


def _price(least: Floats, of_record: Integers, wanted: int) -> tuple[float, Integers]:
    """The price per cell at which records disclose next to as many as wanted, and not more; and how many each does."""
    groups, slopes, widths, ends = _hulls(least)
    copies = np.bincount(of_record, minlength=len(least))
    order = np.argsort(slopes, kind="stable")  # within a record slopes ascend, so that its steps stay in order
    groups, slopes, widths, ends = groups[order], slopes[order], widths[order], ends[order]
    before = np.cumsum(widths * copies[groups])
    whole = int(np.searchsorted(before, wanted, side="right"))  # so many steps are made by all copies
    of_group = np.zeros(len(least), np.int64)
    np.maximum.at(of_group, groups[:whole], ends[:whole])
    sizes = of_group[of_record]
    if whole == len(groups):
        return 0.0 if not whole else float(slopes[-1]), sizes
    left = wanted - (int(before[whole - 1]) if whole else 0)
    some = np.flatnonzero(of_record == groups[whole])[: left // widths[whole]]
    sizes[some] = ends[whole]
    return float(slopes[whole]), sizes


def _hulls(least: Floats) -> tuple[Integers, Floats, Integers, Integers]:
    """The steps of the lower convex hull of each record's losses: whose, how steep, how wide, and to how many cells."""
    room = least.size
    groups, slopes, widths, ends = (
        np.empty(room, np.int64),
        np.empty(room),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
    )
    count = hull_steps(least, groups, slopes, widths, ends)
    return groups[:count], slopes[:count], widths[:count], ends[:count]


def _closed(reduced: Floats, of_record: Integers, sizes: Integers, lacking: int, bound: float) -> Sizes:
    """Let a few records deviate so that the cells that are lacking come in, at the least cost above the bound."""
    deviations = _cheapest(reduced, of_record, sizes, lacking)
    limit = deviations.by_one_or_two(lacking)
    records, steps, costs = deviations.within(limit)
    lowest, highest = int(steps[0]), int(steps[-1])
    width = (max(highest, 0) - min(lowest, 0) + lacking) * max(highest, -lowest)
    narrow = max(highest + lacking, min(width, MOST_SUMS // len(records)))
    taken = np.zeros((len(records), 2 * narrow + 1), np.uint8)
    deviate(costs, lowest, lacking, narrow, taken)
    out, at = sizes.copy(), narrow + lacking
    for r in range(len(records) - 1, -1, -1):
        if taken[r, at]:
            step = lowest + int(taken[r, at]) - 1
            out[records[r]] += step
            at -= step
    return Sizes(out, bound, narrow == width)


class _Deviations(NamedTuple):
    """The records that may disclose more or fewer cells than they do, and what that costs, by how many."""

    records: Integers
    steps: Integers
    costs: Floats

    def by_one_or_two(self, lacking: int) -> float:
        """The least cost at which one record, or two, bring in what is lacking."""
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
        """Those that cost no more than a limit."""
        costs = np.where(self.costs <= limit, self.costs, np.inf)
        rows, columns = np.isfinite(costs).any(axis=1), np.flatnonzero(np.isfinite(costs).any(axis=0))
        some = slice(columns[0], columns[-1] + 1)
        return _Deviations(self.records[rows], self.steps[some], np.ascontiguousarray(costs[rows][:, some]))


def _cheapest(reduced: Floats, of_record: Integers, sizes: Integers, lacking: int) -> _Deviations:
    """For every deviation the records to which it costs least, as many as might deviate together."""
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

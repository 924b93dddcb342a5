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

from sfumato.disclosure.rules.choices import Choices
from sfumato.disclosure.rules.found import Best, mean
from sfumato.disclosure.rules.options import Options
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


def best_of_table(choices: Choices, options: Options, cells: int) -> Best:
    """Combine the records' least losses so that k cells are disclosed in all; if there are fewer, all of them."""
    of_record, at = choices.of_record, np.arange(len(options.counts))[choices.of_record]
    total = int(options.counts[of_record].sum())
    wanted = min(cells, total)
    found = sizes_for(options.least, of_record, wanted)
    how = "each record's least losses were combined"
    if found is None:
        found = sizes_for(_costly(options.least, options.counts), of_record, wanted)
        how = "so many cells cannot be disclosed at a finite risk"
    rule = choices.rule(options.choices[at, found.sizes])
    risk = mean(options.least[at, found.sizes])
    if np.isinf(risk):
        bound = risk
    elif not np.array_equal(options.bounds, options.least):
        under = sizes_for(options.bounds, of_record, wanted)
        bound = min(risk, under.bound / choices.records) if under else risk
    else:
        bound = risk if found.closed else min(risk, found.bound / choices.records)
    return Best(rule, risk, bound, cells - wanted, how)


def sizes_for(least: Floats, of_record: Integers, wanted: int) -> Sizes | None:
    """How many cells each record discloses so that they are as many as wanted and the losses add up to the least.

    `least[g, c]` is what a record like g loses with c cells, infinite where it cannot; None if then nothing is possible.

    >>> least = np.array([[0.0, 1.0, 9.0], [0.0, 2.0, 3.0]])
    >>> sizes_for(least, np.array([0, 1]), 3)
    Sizes(sizes=array([1, 2]), bound=4.0, closed=True)
    """
    if not len(of_record):
        return Sizes(np.zeros(0, np.int64), 0.0, True)
    finite = np.isfinite(least)
    first, last = finite.argmax(axis=1), least.shape[1] - 1 - finite[:, ::-1].argmax(axis=1)
    if not finite[of_record, first[of_record]].all() or not first[of_record].sum() <= wanted <= last[of_record].sum():
        return None
    price, sizes = _price(least, of_record, wanted, first)
    reduced = least - price * np.arange(least.shape[1])
    reduced -= reduced.min(axis=1, keepdims=True)
    reduced[np.arange(len(least))[of_record], sizes] = 0.0  # but for rounding they are
    lacking = wanted - int(sizes.sum())
    value = float(np.sum(least[of_record, sizes]))
    bound = value + price * lacking
    if not lacking:
        return Sizes(sizes, bound, True)
    return _closed(reduced, of_record, sizes, lacking, bound)


def _price(least: Floats, of_record: Integers, wanted: int, first: Integers) -> tuple[float, Integers]:
    """The price per cell at which records disclose next to as many as wanted, and not more; and how many each does."""
    groups, slopes, widths, ends = _hulls(least)
    copies = np.bincount(of_record, minlength=len(least))
    order = np.argsort(slopes, kind="stable")  # within a record slopes ascend, so that its steps stay in order
    groups, slopes, widths, ends = groups[order], slopes[order], widths[order], ends[order]
    lacking = wanted - int((first * copies).sum())
    before = np.cumsum(widths * copies[groups])
    whole = int(np.searchsorted(before, lacking, side="right"))  # so many steps are made by all copies
    of_group = first.copy()
    np.maximum.at(of_group, groups[:whole], ends[:whole])
    sizes = of_group[of_record]
    if whole == len(groups):
        return 0.0 if not whole else float(slopes[-1]), sizes
    left = lacking - (int(before[whole - 1]) if whole else 0)
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


def _closed(reduced: Floats, of_record: Integers, sizes: Integers, lacking: int, bound: float) -> Sizes | None:
    """Let a few records deviate so that the cells that are lacking come in, at the least cost above the bound."""
    deviations = _cheapest(reduced, of_record, sizes, lacking)
    limit = deviations.by_one_or_two(lacking)
    records, steps, costs = deviations.within(limit)
    if not len(records):
        return None
    lowest, highest = int(steps[0]), int(steps[-1])
    width = (max(highest, 0) - min(lowest, 0) + lacking) * max(highest, -lowest)
    narrow = max(highest + lacking, min(width, MOST_SUMS // len(records)))
    taken = np.zeros((len(records), 2 * narrow + 1), np.uint8)
    cost = deviate(costs, lowest, lacking, narrow, taken)
    if cost == np.inf:
        return None
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
        if not len(columns):
            return _Deviations(self.records[:0], self.steps[:0], self.costs[:0])
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


def _costly(least: Floats, counts: Integers) -> Floats:
    """The same losses with infinite ones so high that as few as possible are taken."""
    finite = np.isfinite(least)
    high = 1.0 + 2.0 * float(np.where(finite, least, 0.0).max(axis=1).sum())
    there = np.arange(least.shape[1]) <= counts[:, None]
    return np.where(there & ~finite, high, least)

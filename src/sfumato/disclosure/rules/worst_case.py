"""The minimax rule where each record, or the whole table, discloses k cells: the least worst case over dictionaries.

The worst case does not separate by record: what one record loses in one dictionary another may make up for. But for each
record and number of cells only those choices matter that no other beats in every dictionary, and they are few.
"""

from __future__ import annotations

import time

import numpy as np

from sfumato.disclosure.rules.choices import Choices, spread
from sfumato.disclosure.rules.closing import closed
from sfumato.disclosure.rules.columns import Columns, Demand, Integers, Selection
from sfumato.disclosure.rules.few import best_of_few
from sfumato.disclosure.rules.found import Best, mean
from sfumato.disclosure.rules.prices import Prices, best_prices
from sfumato.disclosure.rules.whole_table import sizes_for
from sfumato.kernels.columns import fronts
from sfumato.progress import Progress


def worst_of_records(choices: Choices, cells: int, progress: Progress, seconds: float) -> Best:
    """The minimax rule that discloses k cells of each record."""
    counts = choices.counts
    columns = _unbeaten(choices, np.minimum(counts, cells), np.minimum(counts, cells), progress)
    demand = Demand.of("record", choices.attributes, [])
    short = int((counts < cells)[choices.of_record].sum())
    return _best(choices, columns, demand, short, seconds)


def worst_of_table(choices: Choices, cells: int, progress: Progress, seconds: float) -> Best:
    """The minimax rule that discloses k cells in all."""
    total = int(choices.counts[choices.of_record].sum())
    columns = _unbeaten(choices, np.zeros_like(choices.counts), choices.counts, progress)
    demand = Demand.of("table", choices.attributes, [min(cells, total)])
    return _best(choices, columns, demand, max(0, cells - total), seconds)


def _unbeaten(choices: Choices, low: Integers, high: Integers, progress: Progress) -> Columns:
    """For each distinct record the choices that no other of as many cells beats in every dictionary."""
    masks, losses, room = [], [], np.empty(1024, np.int64)
    for at, record in enumerate(choices.distinct.tolist()):
        if at % 256 == 0:
            progress("weighing choices", at / len(choices.distinct))
        table = choices.losses(record)
        count = fronts(table, low[at], high[at], room)
        while count < 0:
            room = np.empty(2 * len(room), np.int64)
            count = fronts(table, low[at], high[at], room)
        masks.append(spread(room[:count], choices.candidates(record)))
        losses.append(table[:, room[:count]])
    return Columns.gathered(masks, losses, np.bincount(choices.of_record, minlength=len(choices.distinct)))


def _best(choices: Choices, columns: Columns, demand: Demand, short: int, seconds: float) -> Best:
    found = best_of_few(columns, demand)
    how = "every choice that no other beats was weighed"
    if found is None:
        until = time.monotonic() + seconds
        prices = best_prices(columns, demand, None, until - seconds / 2)
        found = closed(columns, demand, prices, _first(columns, demand, prices, choices.of_record), until)
        how = "shares of the dictionaries gave a bound, and an integer program a rule"
    return best_of_selection(choices, columns, found, short, how)


def best_of_selection(choices: Choices, columns: Columns, found: Selection, short: int, how: str) -> Best:
    """The rule that a selection makes, its risk and bound per record; what was written as high is infinite."""
    column = columns.of_records(found.taken, choices.of_record)
    losses = columns.losses[:, column]
    risk = max(mean(np.where(row >= columns.high, np.inf, row)) for row in losses)
    bound = np.inf if found.bound >= columns.high else found.bound / max(choices.records, 1)
    if np.isinf(bound):
        how = "so many cells cannot be disclosed at a finite risk"
    return Best(choices.rule(columns.choices[column]), risk, min(bound, risk), short, how)


def _first(columns: Columns, demand: Demand, prices: Prices, of_record: Integers) -> Integers:
    """A selection that meets the demand, near the bound: mixed as the prices say, then brought to the number of cells."""
    if not len(demand):
        return mixed(columns, prices, of_record)
    most = int(demand.members.shape[1])
    cost, sizes = prices.shares @ columns.losses, demand.used(columns.choices)[:, 0].astype(np.int64)
    order = np.lexsort((-cost, columns.group))  # the cheapest of each size is written last
    least, which = np.full((len(columns.copies), most + 1), np.inf), np.zeros((len(columns.copies), most + 1), np.int64)
    least[columns.group[order], sizes[order]] = cost[order]
    which[columns.group[order], sizes[order]] = order
    counts = most - np.isfinite(least)[:, ::-1].argmax(axis=1)
    found = sizes_for(least, counts, of_record, int(demand.cells[0]))
    return np.bincount(which[of_record, found.sizes], minlength=len(columns.choices)).astype(np.int64)


def mixed(columns: Columns, prices: Prices, of_record: Integers) -> Integers:
    """Let records take part in the selections that the prices were found by, in their proportions, spread evenly."""
    ends = np.cumsum(prices.parts)
    spots = (np.arange(len(of_record)) * GOLDEN) % 1.0 * ends[-1]
    part = np.minimum(np.searchsorted(ends, spots, side="right"), len(ends) - 1)
    return np.bincount(prices.columns[part, of_record], minlength=len(columns.choices)).astype(np.int64)


GOLDEN = 0.6180339887498949
"""Multiples of it spread evenly over the unit interval, however many are taken."""

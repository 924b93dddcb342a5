"""The minimax rule where each record, or the whole table, discloses k cells: the least worst case over dictionaries.

The worst case does not separate by record: a loss of one record in one dictionary may be offset by another record. But
for each record and number of cells only the choices matter that no other dominates in every dictionary, and they are few.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.disclosure.rules.choice_losses import Choices, widen
from sfumato.disclosure.rules.disclosure_rule import DisclosureRule, mean
from sfumato.disclosure.rules.price_bounds import Prices, best_prices, bound_at, close_gap, mix_selections
from sfumato.disclosure.rules.record_rules import Search
from sfumato.disclosure.rules.selections import Columns, Demand, Floats, Integers, Selection, best_of_few
from sfumato.disclosure.rules.table_rules import sizes_for
from sfumato.kernels.choice_columns import fronts
from sfumato.progress import Progress


def worst_case_of_records(choices: Choices, cells: int, progress: Progress) -> DisclosureRule:
    """The minimax rule that discloses k cells of each record."""
    sizes = np.minimum(choices.counts, cells)
    demand = Demand.of("record", choices.columns, [])
    short = int((choices.counts < cells)[choices.of_record].sum())
    return _best(choices, _pareto_columns(choices, sizes, sizes, progress), demand, short)


def worst_case_of_table(choices: Choices, cells: int, progress: Progress) -> DisclosureRule:
    """The minimax rule that discloses k cells in total."""
    total = int(choices.counts[choices.of_record].sum())
    demand = Demand.of("table", choices.attributes, [min(cells, total)])
    columns_offered = _pareto_columns(choices, np.zeros_like(choices.counts), choices.counts, progress)
    return _best(choices, columns_offered, demand, max(0, cells - total))


def worst_case_by_cells(choices: Choices, progress: Progress) -> Floats:
    """The least worst case of disclosing k cells of each record, for every k."""
    columns_offered = _pareto_columns(choices, np.zeros_like(choices.counts), choices.counts, progress)
    demand, numbers = Demand.of("record", choices.attributes, []), choices.attributes + 1
    risks = []
    for cells in range(numbers):
        sizes = np.minimum(choices.counts, cells)
        columns = columns_offered.columns.of_sizes(sizes)
        same = columns_offered.under is columns_offered.columns
        mine = _OfferedColumns(columns, columns if same else columns_offered.under.of_sizes(sizes))
        risks.append(_best(choices, mine, demand, 0).risk)
    return np.array(risks)


class _OfferedColumns(NamedTuple):
    """The choices of the records, and the columns that a bound is computed from."""

    columns: Columns
    under: Columns
    """The same columns; where a search stopped early, also its bound, as if that were a choice."""


def _pareto_columns(choices: Choices, low: Integers, high: Integers, progress: Progress) -> _OfferedColumns:
    """For each distinct record the choices that no other with as many cells dominates in every dictionary."""
    masks, losses, under_masks, under_losses = [], [], [], []
    for at, record in enumerate(choices.distinct.tolist()):
        if at % 256 == 0:
            progress("weighing choices", at / len(choices.distinct))
        candidates = choices.candidates(record)
        if choices.tabled(record):
            table, space = choices.losses(record), choices.space(record)
            some = _front(table, space.sizes, low[at], high[at])
            masks.append(widen(space.masks[some], candidates))
            losses.append(table[:, some])
            under_masks.append(masks[-1][:0])
            under_losses.append(losses[-1][:, :0])
        else:
            search = Search(choices, record)
            result = [search.pareto_choices(size) for size in range(low[at], high[at] + 1)]
            masks.append(widen(np.concatenate([one.choices for one in result]), candidates))
            losses.append(np.concatenate([one.losses for one in result], axis=1))
            unfinished = [one for one in result if not one.closed]
            under_masks.append(widen(np.array([one.choices[0] for one in unfinished], np.int64), candidates))
            under_losses.append(np.array([one.bound for one in unfinished]).reshape(-1, choices.dictionaries).T)
    columns = Columns.concatenate(masks, losses, choices.copies, choices.high)
    if not any(map(len, under_masks)):
        return _OfferedColumns(columns, columns)
    both = [np.concatenate(pair) for pair in zip(masks, under_masks, strict=True)]
    lost = [np.concatenate(pair, axis=1) for pair in zip(losses, under_losses, strict=True)]
    return _OfferedColumns(columns, Columns.concatenate(both, lost, choices.copies, choices.high))


def _front(table: Floats, sizes: NDArray[np.int32], low: int, high: int) -> Integers:
    """The choices of `low` to `high` cells that no other with as many dominates."""
    room = 256
    while True:
        out = np.empty(room, np.int64)
        count = fronts(table, sizes, low, high, out)
        if count >= 0:
            return out[:count]
        room *= 4


def _best(choices: Choices, columns_offered: _OfferedColumns, demand: Demand, short: int) -> DisclosureRule:
    columns, complete = columns_offered.columns, columns_offered.under is columns_offered.columns
    result = best_of_few(columns, demand) if complete else None
    how = "every Pareto-optimal choice was compared"
    if result is None:
        prices = best_prices(columns, demand, choices.dictionaries)
        first = _first(columns, demand, prices, choices.of_record)
        prices = prices._replace(bound=bound_at(columns_offered.under, demand, prices))
        result = close_gap(columns, demand, prices, first, np.inf if complete else 0.0)
        how = "shares of the dictionaries gave a bound, an integer program a rule"
    return best_of_selection(choices, columns, result, short, how)


def best_of_selection(choices: Choices, columns: Columns, result: Selection, short: int, how: str) -> DisclosureRule:
    """The rule of a selection, its risk and bound per record; losses of `high` become infinite again."""
    column = columns.of_records(result.taken, choices.of_record)
    losses = columns.losses[:, column]
    risk = max(mean(np.where(row >= columns.high, np.inf, row)) for row in losses)
    bound = np.inf if result.bound > columns.high / 2 else result.bound / max(choices.records, 1)
    if np.isinf(bound):
        how = "this number of cells cannot be disclosed at a finite risk"
    return DisclosureRule(choices.rule(columns.choices[column]), risk, min(bound, risk), short, how)


def _first(columns: Columns, demand: Demand, prices: Prices, of_record: Integers) -> Integers:
    """A selection that meets the demand, close to the bound: mixed by the prices, then adjusted to the number of cells."""
    if not len(demand):
        return columns.taken(mix_selections(prices, of_record), of_record)
    most = int(demand.members.shape[1])
    cost, sizes = prices.shares @ columns.losses, demand.used(columns.choices)[:, 0].astype(np.int64)
    order = np.lexsort((-cost, columns.group))  # the cheapest of each size comes last and overwrites the others
    least, which = np.full((len(columns.copies), most + 1), np.inf), np.zeros((len(columns.copies), most + 1), np.int64)
    least[columns.group[order], sizes[order]] = cost[order]
    which[columns.group[order], sizes[order]] = order
    counts = most - np.isfinite(least)[:, ::-1].argmax(axis=1)
    result = sizes_for(least, counts, of_record, int(demand.cells[0]))
    return np.bincount(which[of_record, result.sizes], minlength=len(columns.choices)).astype(np.int64)

"""The best rule that discloses each attribute of k records (paper 002, Δ₃): under a prior, and in the worst case.

What a record discloses of one attribute changes what it loses by another, and which records disclose an attribute binds
them together. At a price per cell of each attribute every record chooses on its own, which gives a bound; prices are
sought at which it is highest. The choices made there nearly meet the demand: single cells are given and taken where that
costs least, and an integer program over the choices that are nearly as cheap improves what comes out.
"""

from __future__ import annotations

import numpy as np

from sfumato.disclosure.rules.branch_and_bound import losses_at
from sfumato.disclosure.rules.choice_tables import Held, Wanted
from sfumato.disclosure.rules.choices import Choices
from sfumato.disclosure.rules.gap_closing import closed
from sfumato.disclosure.rules.optimal_rule import DisclosureRule
from sfumato.disclosure.rules.priced_choices import Offers, offered
from sfumato.disclosure.rules.prices import Prices, best_prices, mixed
from sfumato.disclosure.rules.record_choices import Columns, Selection
from sfumato.disclosure.rules.selection_repair import Repair
from sfumato.disclosure.rules.small_selection import best_of_few
from sfumato.disclosure.rules.worst_case import best_of_selection
from sfumato.progress import Progress

OFFERS = 2**18
"""How many choices, of all records together, are looked at where the rule is improved; of each record at least a few."""
FEW = 32


def best_of_attributes(choices: Choices, cells: int, progress: Progress) -> DisclosureRule:
    """Find a rule that discloses each attribute of k records, or of all that have a value, and a bound."""
    wanted, short = Wanted.of(choices, cells), int((choices.present.sum(axis=0) < cells).sum())
    demand = wanted.demand
    if not len(demand) or not cells:
        return _only(choices, short, bool(cells))
    held = Held(choices, wanted, progress)
    prices = best_prices(held, held.demand, choices.dictionaries)
    offers = offered(choices, wanted, held, prices, max(FEW, OFFERS // len(choices.distinct)), progress)
    prices = prices._replace(bound=float(offers.least @ choices.copies + prices.of_sets @ demand.cells))
    if offers.beyond == np.inf:
        columns = offers.columns(choices.copies, choices.high)
        found = best_of_few(columns, demand)
        if found is not None:
            return best_of_selection(choices, columns, found, short, "every choice of each record's cells was weighed")
    repair = _repaired(choices, held, prices, offers)
    columns = offers.also(Offers.of_records(choices, repair.masks, repair.losses)).columns(choices.copies, choices.high)
    found = closed(columns, demand, prices, columns.taken(repair.masks, choices.of_record), offers.beyond)
    how = "prices of the attributes' cells gave a bound, and repair and an integer program a rule"
    return best_of_selection(choices, columns, found, short, how)


def _repaired(choices: Choices, held: Held, prices: Prices, offers: Offers) -> Repair:
    """What each record discloses, the demand met: the better of two beginnings.

    One is the cheapest choice of each record at the prices; the other is mixed from several prices where tables are held.
    """
    columns = offers.columns(choices.copies, choices.high)
    which = columns.cheapest(prices.shares, held.wanted.demand.prices(prices.of_sets))
    begin = columns.choices[which][choices.of_record]
    place = np.full(len(choices.distinct), -1, np.int64)
    place[held.some] = np.arange(len(held.some))
    known = np.flatnonzero(place[choices.of_record] >= 0)
    other = begin.copy()
    other[known] = mixed(prices, place[choices.of_record[known]])
    repairs = [Repair(choices, held.wanted, held, masks, prices.shares) for masks in (begin, other)]
    for repair in repairs:
        repair.meet()
        repair.exchange()
    return min(repairs, key=lambda repair: float(repair.losses.sum(axis=1).max()))


def _only(choices: Choices, short: int, everything: bool) -> DisclosureRule:
    """The only rule there is: all of every record, or nothing."""
    masks = np.where(choices.present & everything, 1 << np.arange(choices.attributes), 0).sum(axis=1)[choices.distinct]
    losses = [losses_at(choices, record, masks[[at]]) for at, record in enumerate(choices.distinct.tolist())]
    columns = Columns.gathered([masks[[at]] for at in range(len(masks))], losses, choices.copies, choices.high)
    worst = float(columns.totals(choices.copies).max(initial=0.0))
    return best_of_selection(choices, columns, Selection(choices.copies, worst, worst), short, "there is but one rule")

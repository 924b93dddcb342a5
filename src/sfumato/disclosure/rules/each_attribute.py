"""The best rule that discloses each attribute of k records (paper 002, Δ₃): under a prior, and in the worst case.

What a record discloses of one attribute changes what it loses by another, and which records disclose an attribute binds
them together. At a price per cell of each attribute every record chooses on its own, which gives a bound; prices are
sought at which it is highest. The choices made there nearly meet the demand: single cells are given and taken where that
costs least, and an integer program over the choices that are nearly as cheap improves what comes out.
"""

from __future__ import annotations

import time

import numpy as np

from sfumato.disclosure.rules.choices import Choices
from sfumato.disclosure.rules.closing import closed
from sfumato.disclosure.rules.columns import Columns, Demand, Integers, Selection
from sfumato.disclosure.rules.few import best_of_few
from sfumato.disclosure.rules.found import Best
from sfumato.disclosure.rules.offers import NEAREST, Offers, Wanted, offered
from sfumato.disclosure.rules.prices import Prices, best_prices, mixed
from sfumato.disclosure.rules.repair import repaired
from sfumato.disclosure.rules.searching import losses_at
from sfumato.disclosure.rules.worst_case import best_of_selection
from sfumato.progress import Progress

MOST_COLUMNS = 2**19
"""Up to so many choices, of all records together, are all looked at at once; of more, the nearest to the cheapest."""
TURNS = 6
"""How often records offer their choices at new prices."""
CLOSE = 1e-6
"""Prices are good enough if at most this share is to be gained by others."""


def best_of_attributes(choices: Choices, cells: int, progress: Progress, seconds: float) -> Best:
    """Find a rule that discloses each attribute of k records, or of all that have a value, and a bound."""
    wanted, short = Wanted.of(choices, cells), int((choices.present.sum(axis=0) < cells).sum())
    demand, every = wanted.demand, np.arange(len(choices.distinct))
    if not len(demand) or not cells:
        return _only(choices, short, bool(cells))
    if wanted.count(choices, every) <= MOST_COLUMNS:
        offers = offered(choices, wanted, None, MOST_COLUMNS, every, progress)
        columns = offers.columns(choices.copies, choices.high)
        found = best_of_few(columns, demand)
        if found is not None:
            return best_of_selection(choices, columns, found, short, "every choice of each record's cells was weighed")
        until = time.monotonic() + seconds
        prices = best_prices(columns, demand, None, until - seconds / 2)
        masks = columns.choices[mixed(prices, choices.of_record)]
    else:
        until = time.monotonic() + seconds
        offers, prices, masks = _by_turns(choices, wanted, progress, until - seconds / 2)
    masks, losses = repaired(choices, wanted, masks, prices.shares)
    columns = offers.also(Offers.of_records(choices, masks, losses)).columns(choices.copies, choices.high)
    first = columns.taken(masks, choices.of_record)
    found = closed(columns, demand, prices, first, until, offers.beyond)
    how = "prices of the attributes' cells gave a bound, and repair and an integer program a rule"
    return best_of_selection(choices, columns, found, short, how)


def _only(choices: Choices, short: int, everything: bool) -> Best:
    """The only rule there is: all of every record, or nothing."""
    masks = np.where(choices.present & everything, 1 << np.arange(choices.attributes), 0).sum(axis=1)[choices.distinct]
    losses = [losses_at(choices, record, masks[[at]]) for at, record in enumerate(choices.distinct.tolist())]
    columns = Columns.gathered([masks[[at]] for at in range(len(masks))], losses, choices.copies, choices.high)
    worst = float(columns.totals(choices.copies).max(initial=0.0))
    return best_of_selection(choices, columns, Selection(choices.copies, worst, worst), short, "there is but one rule")


def _by_turns(choices: Choices, wanted: Wanted, progress: Progress, until: float) -> tuple[Offers, Prices, Integers]:
    """Let all records offer their cheapest choices at prices, and find new prices for what was offered, by turns.

    The first prices are those of a part of the records. A bound holds only where all choices of all records were looked at.
    Returned are all that was offered, the best prices with their bound, and what each record discloses.
    """
    demand, every = wanted.demand, np.arange(len(choices.distinct))
    at = _first_prices(choices, wanted, progress, until)
    offers, best, masks = None, at, np.zeros(0, np.int64)
    for _ in range(TURNS):
        new = offered(choices, wanted, at, NEAREST, every, progress)
        bound = float(new.least @ choices.copies + at.of_sets @ demand.cells)
        if offers is None or bound > best.bound:
            offers, best = new if offers is None else new.also(offers), at._replace(bound=bound)
        else:
            offers = offers.also(new)
        columns = offers.columns(choices.copies, choices.high)
        at = best_prices(columns, demand, (best.shares, best.of_sets), until)
        masks = columns.choices[mixed(at, choices.of_record)]
        if at.bound - best.bound <= CLOSE * abs(at.bound) or time.monotonic() > until:
            break
    return offers, best, masks


def _first_prices(choices: Choices, wanted: Wanted, progress: Progress, until: float) -> Prices:
    """Prices for so many of the records, evenly taken, as have all their choices looked at; all wanting their part."""
    tabled = np.array([at for at, record in enumerate(choices.distinct.tolist()) if choices.tabled(record)], np.int64)
    some, step = tabled, 1
    while wanted.count(choices, some) > MOST_COLUMNS // 4 and len(some) > 1:
        step *= 2
        some = tabled[::step]
    columns = offered(choices, wanted, None, MOST_COLUMNS, some, progress).columns(choices.copies[some], choices.high)
    part = choices.copies[some] @ choices.present[choices.distinct[some]]
    whole = choices.present.sum(axis=0)
    demand = wanted.demand
    share = np.divide(part, whole, out=np.zeros(len(whole)), where=whole > 0)[wanted.free]
    return best_prices(columns, Demand(demand.members, demand.cells * share), None, until)

"""The choices that records offer at given prices, where each attribute is disclosed of a given number of records."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.disclosure.rules.branch_and_bound import Search
from sfumato.disclosure.rules.choice_tables import Held, Wanted
from sfumato.disclosure.rules.choices import Choices, packed, spread
from sfumato.disclosure.rules.prices import Prices
from sfumato.disclosure.rules.record_choices import Columns, Floats, Integers
from sfumato.kernels.choice_columns import priced, with_and_without
from sfumato.progress import Progress


class Offers(NamedTuple):
    """Some choices of each distinct record, and what all of its choices come to at the prices at which they were offered."""

    masks: list[Integers]
    losses: list[Floats]
    least: Floats
    """No choice of a record is cheaper than this."""
    beyond: float
    """A choice that is not among them is dearer than the cheapest of its record by more than this."""

    @classmethod
    def of_records(cls, choices: Choices, masks: Integers, losses: Floats) -> Offers:
        """What each record discloses, offered once by each distinct one."""
        order = np.lexsort((masks, choices.of_record))
        new = np.r_[True, (np.diff(choices.of_record[order]) != 0) | (np.diff(masks[order]) != 0)]
        first = order[new]
        ends = np.searchsorted(choices.of_record[first], np.arange(1, len(choices.distinct)))
        return cls(np.split(masks[first], ends), np.split(losses[:, first], ends, axis=1), np.zeros(0), 0.0)

    def columns(self, copies: Integers, high: float) -> Columns:
        """As columns."""
        return Columns.gathered(self.masks, self.losses, copies, high)

    def also(self, others: Offers) -> Offers:
        """Together with others."""
        masks, losses = [], []
        for mine, theirs, lost, more in zip(self.masks, others.masks, self.losses, others.losses, strict=True):
            every, first = np.unique(np.r_[mine, theirs], return_index=True)
            masks.append(every)
            losses.append(np.concatenate([lost, more], axis=1)[:, first])
        return self._replace(masks=masks, losses=losses)


def offered(choices: Choices, wanted: Wanted, held: Held, at_prices: Prices, nearest: int, progress: Progress) -> Offers:
    """Let each distinct record offer its cheapest choices at the prices; `nearest` is how many, or all that it has."""
    prices = wanted.demand.prices(at_prices.of_sets)
    masks, losses, least, beyond = [], [], np.empty(len(choices.distinct)), np.inf
    for group, record in enumerate(choices.distinct.tolist()):
        if group % 256 == 0:
            progress("offering choices", group / len(choices.distinct))
        if choices.tabled(record):
            table, free = held.table(group), wanted.free_of(choices, record)
            cost = np.empty(table.shape[1])
            priced(table, at_prices.shares, prices[free], cost)
            mine, further = _nearest(cost, len(free), nearest)
            least[group], beyond, lost = cost[mine].min(), min(beyond, further), table[:, mine]
            masks.append(spread(mine, free) | wanted.forced_of(choices, record))
        else:
            search, candidates = Search(choices, record), choices.candidates(record)
            found = search.cheapest(at_prices.shares, prices[candidates], packed(wanted.forced, candidates))
            lost, least[group], beyond = search.losses(found.choices), found.bound[0], 0.0
            masks.append(spread(found.choices, candidates))
        losses.append(lost)
    return Offers(masks, losses, least, beyond)


def _nearest(cost: Floats, candidates: int, nearest: int) -> tuple[Integers, float]:
    """The choices that cost least, and for each candidate the cheapest with and without it; how much dearer others are."""
    if len(cost) <= nearest:
        return np.arange(len(cost)), np.inf
    order = np.argpartition(cost, nearest)[: nearest + 1]
    further = float(cost[order].max() - cost[order].min())
    either = np.empty((candidates, 2), np.int64)
    with_and_without(cost, candidates, either)
    return np.unique(np.r_[order, either[either >= 0]]), further

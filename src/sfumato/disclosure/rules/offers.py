"""The choices that records offer at given prices, where each attribute is disclosed of a given number of records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sfumato.disclosure.rules.choices import Choices, packed, spread
from sfumato.disclosure.rules.columns import Columns, Demand, Floats, Integers
from sfumato.disclosure.rules.prices import Prices
from sfumato.disclosure.rules.searching import Search
from sfumato.kernels.columns import priced
from sfumato.progress import Progress

NEAREST = 64
"""How many choices of each record are remembered, those nearest to its cheapest."""


@dataclass(frozen=True, eq=False)
class Wanted:
    """Of how many records each attribute is to be disclosed."""

    cells: Integers
    """By attribute; no more than the records that have a value."""
    forced: int
    """The attributes that every record discloses that has a value, as a mask."""
    free: Integers
    """The other attributes."""

    @classmethod
    def of(cls, choices: Choices, cells: int) -> Wanted:
        """That of k records for each attribute, or of all that have a value."""
        there = choices.present.sum(axis=0).astype(np.int64)
        wanted = np.minimum(there, cells)
        free = np.flatnonzero(wanted < there)
        return cls(wanted, sum(1 << j for j in np.flatnonzero(wanted == there).tolist()), free)

    def count(self, choices: Choices, some: Integers) -> float:
        """How many choices some of the distinct records have together; infinite if one must be searched."""
        records = choices.distinct[some]
        bits = (self.forced >> np.arange(choices.attributes)) & 1 == 1
        counts = choices.counts[some] - choices.present[records][:, bits].sum(axis=1)
        return float((2.0**counts).sum()) if all(map(choices.tabled, records.tolist())) else np.inf

    @property
    def demand(self) -> Demand:
        """As the prices are found for it: the free attributes, each alone."""
        return Demand(np.eye(len(self.cells))[self.free], self.cells[self.free].astype(np.float64))


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


def offered(
    choices: Choices, wanted: Wanted, at_prices: Prices | None, nearest: int, some: Integers, progress: Progress
) -> Offers:
    """Let the distinct records told offer their cheapest choices at the prices, and those that are nearest to them.

    `nearest` is how many; all are offered where there are no more, and then no prices are needed.
    """
    shares = np.zeros(choices.dictionaries) if at_prices is None else at_prices.shares
    prices = np.zeros(choices.attributes) if at_prices is None else wanted.demand.prices(at_prices.of_sets)
    masks, losses, least, beyond = [], [], np.empty(len(some)), np.inf
    for at, record in enumerate(choices.distinct[some].tolist()):
        if at % 256 == 0:
            progress("weighing choices", at / len(some))
        candidates = choices.candidates(record)
        forced = packed(wanted.forced, candidates)
        if choices.tabled(record):
            table = choices.losses(record)
            cost = np.empty(table.shape[1])
            priced(table, shares, prices[candidates], forced, choices.high, cost)
            count = table.shape[1] >> forced.bit_count()
            if count > nearest:
                order = np.argpartition(cost, nearest)[: nearest + 1]
                order = order[np.argsort(cost[order], kind="stable")]
                beyond = min(beyond, float(cost[order[-1]] - cost[order[0]]))
                mine = np.sort(order[:-1])
            else:
                mine = np.flatnonzero(np.isfinite(cost))
            least[at] = cost[mine].min()
            lost = table[:, mine]
        else:
            search = Search(choices, record)
            found = search.cheapest(shares, prices[candidates], forced)
            mine, lost, least[at], beyond = found.choices, search.losses(found.choices), found.bound[0], 0.0
        masks.append(spread(mine, candidates))
        losses.append(lost)
    return Offers(masks, losses, least, beyond)

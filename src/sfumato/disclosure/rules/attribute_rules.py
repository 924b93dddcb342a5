"""The best rule that discloses each attribute of k records (Lebanon et al. 2006, Δ₃), under a prior or in the worst case.

What a record discloses of one attribute changes its loss by another, and which records disclose an attribute ties them
together. At a price per cell of each attribute every record chooses on its own, which gives a bound; the prices with the
highest bound are searched. The choices at these prices nearly meet the demand: single cells are disclosed or withheld
where that costs least, and an integer program over the choices that are nearly as cheap improves the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sfumato.disclosure.rules.choice_losses import Choices, narrow, widen
from sfumato.disclosure.rules.disclosure_rule import DisclosureRule
from sfumato.disclosure.rules.price_bounds import Prices, best_prices, close_gap, mix_selections
from sfumato.disclosure.rules.record_rules import Search, losses_of_masks
from sfumato.disclosure.rules.selections import Columns, Demand, Floats, Integers, Selection, best_of_few
from sfumato.disclosure.rules.worst_case_rules import best_of_selection
from sfumato.kernels.choice_columns import cheapest_of_tables, cheapest_with_and_without, reduced_losses, widen_masks
from sfumato.progress import Progress

ROOM = 2**24
"""The most numbers that are stored in tables."""


@dataclass(frozen=True, eq=False)
class AttributeQuotas:
    """The number of records that disclose each attribute."""

    cells: Integers
    """By attribute; at most the records that have a value."""
    free: Integers
    """The attributes that not every record with a value discloses."""
    forced: int
    """The other attributes, as a mask."""

    @classmethod
    def of(cls, choices: Choices, cells: int) -> AttributeQuotas:
        """Quotas of k records for each attribute, or of all that have a value."""
        there = choices.present.sum(axis=0).astype(np.int64)
        quotas = np.minimum(there, cells)
        return cls(quotas, np.flatnonzero(quotas < there), sum(1 << j for j in np.flatnonzero(quotas == there).tolist()))

    @property
    def demand(self) -> Demand:
        """The demand for prices: of each free attribute alone."""
        return Demand(np.eye(len(self.cells))[self.free], self.cells[self.free].astype(np.float64))

    def free_of(self, choices: Choices, record: int) -> Integers:
        """The free attributes of which a record has a value."""
        return np.asarray(self.free[choices.present[record, self.free]])

    def forced_of(self, choices: Choices, record: int) -> int:
        """What a record discloses in any case, as a mask over all attributes."""
        return int(self.forced & sum(1 << j for j in choices.candidates(record).tolist()))


def free_choice_losses(choices: Choices, quotas: AttributeQuotas, record: int) -> Floats:
    """The loss of a record for every choice of its free candidates, all others disclosed; infinite losses as `high`."""
    candidates, free = choices.candidates(record), quotas.free_of(choices, record)
    table = choices.losses(record)
    if len(free) < len(candidates):
        places = np.array([1 << b for b, j in enumerate(candidates.tolist()) if j in set(free.tolist())], np.int64)
        at = np.array([narrow(quotas.forced, candidates)], np.int64)
        for place in places:
            at = np.r_[at, at | place]
        table = table[:, at]
    return np.minimum(table, choices.high)


class ChoiceTables:
    """Tables of all choices for distinct records: all of them if there is room, otherwise every n-th."""

    def __init__(self, choices: Choices, quotas: AttributeQuotas, progress: Progress) -> None:
        self.choices, self.quotas = choices, quotas
        tabled = [at for at, record in enumerate(choices.distinct.tolist()) if choices.tabled(record)]
        sizes = 2.0 ** choices.present[choices.distinct][:, quotas.free].sum(axis=1)[tabled] * choices.dictionaries
        # every step-th record, so that the stored tables fit into the room and represent all records
        step = max(1, int(np.ceil(sizes.sum() / ROOM)))
        self.some = np.array(tabled[::step], np.int64)
        self.copies = choices.copies[self.some]
        self.free = [quotas.free_of(choices, record) for record in choices.distinct[self.some].tolist()]
        self.forced = np.array([quotas.forced_of(choices, record) for record in choices.distinct[self.some]], np.int64)
        self.starts = np.cumsum([0, *(1 << len(free) for free in self.free)]).astype(np.int64)
        self.tables = np.empty((choices.dictionaries, self.starts[-1]))
        for at, record in enumerate(choices.distinct[self.some].tolist()):
            if at % 256 == 0:
                progress("weighing choices", at / len(self.some))
            self.tables[:, self.starts[at] : self.starts[at + 1]] = free_choice_losses(choices, quotas, record)
        self._place = {group: at for at, group in enumerate(self.some.tolist())}

    @property
    def demand(self) -> Demand:
        """The demand on these records: their part of the whole."""
        whole = self.choices.copies @ self.choices.present[self.choices.distinct][:, self.quotas.free]
        part = self.copies @ self.choices.present[self.choices.distinct[self.some]][:, self.quotas.free]
        demand = self.quotas.demand
        return Demand(demand.members, demand.cells * part / np.maximum(whole, 1))

    def table(self, group: int) -> Floats:
        """The losses of a distinct record for every choice of its free candidates: stored, or computed again."""
        at = self._place.get(group)
        if at is None:
            return free_choice_losses(self.choices, self.quotas, int(self.choices.distinct[group]))
        return self.tables[:, self.starts[at] : self.starts[at + 1]]

    def select(self, shares: Floats, prices: Floats) -> tuple[Integers, Floats]:
        """The choice that each record takes at prices by attribute, and its loss in each dictionary."""
        of_candidate = np.cumsum([0, *map(len, self.free)]).astype(np.int64)
        candidates = np.concatenate([np.zeros(0, np.int64), *self.free])
        out = np.zeros(len(self.some), np.int64)
        work = np.empty(int(np.diff(self.starts).max(initial=1)))
        cheapest_of_tables(self.starts, self.tables, of_candidate, candidates, shares, prices, work, out)
        losses = self.tables[:, self.starts[:-1] + out]
        widen_masks(out, of_candidate, candidates)
        return out | self.forced, losses


class Offers(NamedTuple):
    """Some choices of each distinct record, and bounds on all its choices at the prices at which they were offered."""

    masks: list[Integers]
    losses: list[Floats]
    least: Floats
    """No choice of a record is cheaper than this."""
    beyond: float
    """A choice that is not offered exceeds the cheapest of its record by more than this."""

    @classmethod
    def of_records(cls, choices: Choices, masks: Integers, losses: Floats) -> Offers:
        """What each record discloses, offered once by each distinct record."""
        order = np.lexsort((masks, choices.of_record))
        new = np.r_[True, (np.diff(choices.of_record[order]) != 0) | (np.diff(masks[order]) != 0)]
        first = order[new]
        ends = np.searchsorted(choices.of_record[first], np.arange(1, len(choices.distinct)))
        return cls(np.split(masks[first], ends), np.split(losses[:, first], ends, axis=1), np.zeros(0), 0.0)

    def columns(self, copies: Integers, high: float) -> Columns:
        """As columns."""
        return Columns.concatenate(self.masks, self.losses, copies, high)

    def also(self, others: Offers) -> Offers:
        """Together with other offers."""
        masks, losses = [], []
        for mine, theirs, lost, more in zip(self.masks, others.masks, self.losses, others.losses, strict=True):
            every, first = np.unique(np.r_[mine, theirs], return_index=True)
            masks.append(every)
            losses.append(np.concatenate([lost, more], axis=1)[:, first])
        return self._replace(masks=masks, losses=losses)


def offer_choices(
    choices: Choices, quotas: AttributeQuotas, tables: ChoiceTables, at_prices: Prices, nearest: int, progress: Progress
) -> Offers:
    """Let each distinct record offer its `nearest` cheapest choices at the prices, or all that it has."""
    prices = quotas.demand.prices(at_prices.of_sets)
    masks, losses, least, beyond = [], [], np.empty(len(choices.distinct)), np.inf
    for group, record in enumerate(choices.distinct.tolist()):
        if group % 256 == 0:
            progress("offering choices", group / len(choices.distinct))
        if choices.tabled(record):
            table, free = tables.table(group), quotas.free_of(choices, record)
            cost = np.empty(table.shape[1])
            reduced_losses(table, at_prices.shares, prices[free], cost)
            mine, further = _nearest(cost, len(free), nearest)
            least[group], beyond, lost = cost[mine].min(), min(beyond, further), table[:, mine]
            masks.append(widen(mine, free) | quotas.forced_of(choices, record))
        else:
            search, candidates = Search(choices, record), choices.candidates(record)
            result = search.cheapest(at_prices.shares, prices[candidates], narrow(quotas.forced, candidates))
            lost, least[group], beyond = search.losses(result.choices), result.bound[0], 0.0
            masks.append(widen(result.choices, candidates))
        losses.append(lost)
    return Offers(masks, losses, least, beyond)


def _nearest(cost: Floats, candidates: int, nearest: int) -> tuple[Integers, float]:
    """The cheapest choices, and the cheapest with and without each candidate; how much more all others cost."""
    if len(cost) <= nearest:
        return np.arange(len(cost)), np.inf
    order = np.argpartition(cost, nearest)[: nearest + 1]
    further = float(cost[order].max() - cost[order].min())
    either = np.empty((candidates, 2), np.int64)
    cheapest_with_and_without(cost, candidates, either)
    return np.unique(np.r_[order, either[either >= 0]]), further


SWEEPS = 10
"""The most passes over all attributes for exchanges that pay."""
PAYS = 1e-12
"""An exchange pays if it lowers the total loss by more than this share."""


class Repair:
    """The disclosed cells of each record, its loss in each dictionary, and the cost of flipping each of its cells.

    Flipping cells of one attribute leaves the numbers of the others unchanged, and so do exchanges, in which one record
    discloses an attribute in place of another.
    """

    def __init__(
        self, choices: Choices, quotas: AttributeQuotas, tables: ChoiceTables, masks: Integers, shares: Floats
    ) -> None:
        self.choices, self.quotas, self.tables, self.shares = choices, quotas, tables, shares
        self.masks = masks.copy()
        self.losses = np.empty((choices.dictionaries, len(masks)))
        self.costs = np.full((len(masks), choices.attributes), np.inf)
        self._update(np.arange(len(masks)))

    def _update(self, records: Integers) -> None:
        """Compute the losses of records, and the cost, in the given shares, of flipping each of their free cells."""
        for record in records[np.argsort(self.choices.of_record[records], kind="stable")].tolist():
            free, mask = self.quotas.free_of(self.choices, record), int(self.masks[record])
            lost = self._losses(int(self.choices.of_record[record]), np.r_[mask, mask ^ (1 << free)], free)
            cost = self.shares @ lost
            self.losses[:, record], self.costs[record, free] = lost[:, 0], cost[1:] - cost[0]

    def _losses(self, group: int, masks: Integers, free: Integers) -> Floats:
        """The losses of a distinct record for given choices in each dictionary; infinite losses as `high`."""
        record = int(self.choices.distinct[group])
        if self.choices.tabled(record):
            return self.tables.table(group)[:, [narrow(mask, free) for mask in masks.tolist()]]
        return np.minimum(losses_of_masks(self.choices, record, masks), self.choices.high)

    def _flip(self, records: Integers, j: int) -> None:
        self.masks[records] ^= 1 << j
        self._update(records)

    def _by_cost(self, j: int, disclosed: bool) -> Integers:
        """The records that disclose an attribute, or could, in the order of the cost of flipping it."""
        there = np.flatnonzero(self.choices.present[:, j] & (((self.masks >> j) & 1 == 1) == disclosed))
        return there[np.argsort(self.costs[there, j], kind="stable")]

    def meet(self) -> None:
        """Flip cells until the demand is met: attribute by attribute, once."""
        for j in self.quotas.free.tolist():
            lacking = int(self.quotas.cells[j]) - int(((self.masks >> j) & 1).sum())
            self._flip(self._by_cost(j, lacking < 0)[: abs(lacking)], j)

    def exchange(self) -> None:
        """Let records disclose an attribute in place of others while that pays."""
        for _ in range(SWEEPS):
            total, paid = float((self.shares @ self.losses).sum()), False
            for j in self.quotas.free.tolist():
                disclosing, taken = self._by_cost(j, True), self._by_cost(j, False)
                count = min(len(disclosing), len(taken))
                gains = self.costs[disclosing[:count], j] + self.costs[taken[:count], j]
                pays = int(np.searchsorted(gains, -PAYS * total))
                if pays:
                    self._flip(np.r_[disclosing[:pays], taken[:pays]], j)
                    paid = True
            if not paid:
                break


OFFERS = 2**18
"""The choices of all records together that are considered when the rule is improved; at least a few per record."""
FEW = 32


def best_of_attributes(choices: Choices, cells: int, progress: Progress) -> DisclosureRule:
    """Find a rule that discloses each attribute of k records, or of all that have a value, and a bound."""
    quotas, short = AttributeQuotas.of(choices, cells), int((choices.present.sum(axis=0) < cells).sum())
    demand = quotas.demand
    if not len(demand) or not cells:
        return _only(choices, short, bool(cells))
    # 1. prices, from the records with stored tables; 2. offers of all records at these prices, which make the bound exact
    tables = ChoiceTables(choices, quotas, progress)
    prices = best_prices(tables, tables.demand, choices.dictionaries)
    offers = offer_choices(choices, quotas, tables, prices, max(FEW, OFFERS // len(choices.distinct)), progress)
    prices = prices._replace(bound=float(offers.least @ choices.copies + prices.of_sets @ demand.cells))
    # 3. all choices are offered: small cases are solved exactly
    if offers.beyond == np.inf:
        columns = offers.columns(choices.copies, choices.high)
        result = best_of_few(columns, demand)
        if result is not None:
            return best_of_selection(choices, columns, result, short, "every choice of each record's cells was compared")
    # 4. otherwise repair a selection that nearly meets the quotas, and close the gap to the bound
    repair = _repair(choices, tables, prices, offers)
    columns = offers.also(Offers.of_records(choices, repair.masks, repair.losses)).columns(choices.copies, choices.high)
    result = close_gap(columns, demand, prices, columns.taken(repair.masks, choices.of_record), offers.beyond)
    how = "prices of the attributes gave a bound, repair and an integer program a rule"
    return best_of_selection(choices, columns, result, short, how)


def _repair(choices: Choices, tables: ChoiceTables, prices: Prices, offers: Offers) -> Repair:
    """Compute what each record discloses with the demand met: the better of two starts.

    One start is the cheapest choice of each record at the prices; the other is mixed from several prices where tables are
    stored.
    """
    columns = offers.columns(choices.copies, choices.high)
    which = columns.cheapest(prices.shares, tables.quotas.demand.prices(prices.of_sets))
    begin = columns.choices[which][choices.of_record]
    place = np.full(len(choices.distinct), -1, np.int64)
    place[tables.some] = np.arange(len(tables.some))
    stored = np.flatnonzero(place[choices.of_record] >= 0)
    other = begin.copy()
    other[stored] = mix_selections(prices, place[choices.of_record[stored]])
    repairs = [Repair(choices, tables.quotas, tables, masks, prices.shares) for masks in (begin, other)]
    for repair in repairs:
        repair.meet()
        repair.exchange()
    return min(repairs, key=lambda repair: float(repair.losses.sum(axis=1).max()))


def _only(choices: Choices, short: int, everything: bool) -> DisclosureRule:
    """The only rule there is: all of every record, or nothing."""
    masks = np.where(choices.present & everything, 1 << np.arange(choices.attributes), 0).sum(axis=1)[choices.distinct]
    losses = [losses_of_masks(choices, record, masks[[at]]) for at, record in enumerate(choices.distinct.tolist())]
    columns = Columns.concatenate([masks[[at]] for at in range(len(masks))], losses, choices.copies, choices.high)
    worst = float(columns.totals(choices.copies).max(initial=0.0))
    return best_of_selection(choices, columns, Selection(choices.copies, worst, worst), short, "there is only one rule")

"""Single cells given and taken until each attribute is disclosed of as many records as wanted, and exchanged if it pays."""

from __future__ import annotations

import numpy as np

from sfumato.disclosure.rules.branch_and_bound import losses_at
from sfumato.disclosure.rules.choice_tables import Held, Wanted
from sfumato.disclosure.rules.choices import Choices, packed
from sfumato.disclosure.rules.record_choices import Floats, Integers

SWEEPS = 10
"""How often all attributes are gone through for exchanges that pay."""
PAYS = 1e-12
"""An exchange pays if it lowers what is lost by more than this share of it."""


class Repair:
    """What each record discloses, what it loses in each dictionary, and what it costs to turn over each of its cells.

    To turn over cells of one attribute leaves the others as they are, and so do exchanges, in which one record discloses an
    attribute in place of another.
    """

    def __init__(self, choices: Choices, wanted: Wanted, held: Held, masks: Integers, shares: Floats) -> None:
        self.choices, self.wanted, self.held, self.shares = choices, wanted, held, shares
        self.masks = masks.copy()
        self.losses = np.empty((choices.dictionaries, len(masks)))
        self.costs = np.full((len(masks), choices.attributes), np.inf)
        self._look(np.arange(len(masks)))

    def _look(self, records: Integers) -> None:
        """Find what records lose, and what it would cost, in the shares told, to turn over each of their free cells."""
        for record in records[np.argsort(self.choices.of_record[records], kind="stable")].tolist():
            free, mask = self.wanted.free_of(self.choices, record), int(self.masks[record])
            lost = self._losses(int(self.choices.of_record[record]), np.r_[mask, mask ^ (1 << free)], free)
            cost = self.shares @ lost
            self.losses[:, record], self.costs[record, free] = lost[:, 0], cost[1:] - cost[0]

    def _losses(self, group: int, masks: Integers, free: Integers) -> Floats:
        """What a distinct record loses by given choices in each dictionary; infinite losses as high."""
        record = int(self.choices.distinct[group])
        if self.choices.tabled(record):
            return self.held.table(group)[:, [packed(mask, free) for mask in masks.tolist()]]
        return np.minimum(losses_at(self.choices, record, masks), self.choices.high)

    def _turn(self, records: Integers, j: int) -> None:
        self.masks[records] ^= 1 << j
        self._look(records)

    def _by_cost(self, j: int, disclosed: bool) -> Integers:
        """The records that disclose an attribute, or could; those first where it costs least to turn it over."""
        there = np.flatnonzero(self.choices.present[:, j] & (((self.masks >> j) & 1 == 1) == disclosed))
        return there[np.argsort(self.costs[there, j], kind="stable")]

    def meet(self) -> None:
        """Give or take cells until the demand is met: attribute by attribute, once."""
        for j in self.wanted.free.tolist():
            lacking = int(self.wanted.cells[j]) - int(((self.masks >> j) & 1).sum())
            self._turn(self._by_cost(j, lacking < 0)[: abs(lacking)], j)

    def exchange(self) -> None:
        """Let records disclose an attribute in place of others while that pays."""
        for _ in range(SWEEPS):
            total, paid = float((self.shares @ self.losses).sum()), False
            for j in self.wanted.free.tolist():
                given, taken = self._by_cost(j, True), self._by_cost(j, False)
                count = min(len(given), len(taken))
                gains = self.costs[given[:count], j] + self.costs[taken[:count], j]
                pays = int(np.searchsorted(gains, -PAYS * total))
                if pays:
                    self._turn(np.r_[given[:pays], taken[:pays]], j)
                    paid = True
            if not paid:
                break

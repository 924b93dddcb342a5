"""Tables of what every choice loses, held for as many records as there is room for, where attributes are bound together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.disclosure.rules.choices import Choices, packed
from sfumato.disclosure.rules.record_choices import Demand, Floats, Integers
from sfumato.kernels.choice_columns import cheapest_of_tables, spread_each
from sfumato.progress import Progress

ROOM = 2**24
"""How many numbers may be held."""


@dataclass(frozen=True, eq=False)
class Wanted:
    """Of how many records each attribute is to be disclosed."""

    cells: Integers
    """By attribute; no more than the records that have a value."""
    free: Integers
    """The attributes of which not every record that has a value discloses it."""
    forced: int
    """The others, as a mask."""

    @classmethod
    def of(cls, choices: Choices, cells: int) -> Wanted:
        """That of k records for each attribute, or of all that have a value."""
        there = choices.present.sum(axis=0).astype(np.int64)
        wanted = np.minimum(there, cells)
        return cls(wanted, np.flatnonzero(wanted < there), sum(1 << j for j in np.flatnonzero(wanted == there).tolist()))

    @property
    def demand(self) -> Demand:
        """As prices are found for it: of the free attributes, each alone."""
        return Demand(np.eye(len(self.cells))[self.free], self.cells[self.free].astype(np.float64))

    def free_of(self, choices: Choices, record: int) -> Integers:
        """The free attributes of which a record has a value."""
        return np.asarray(self.free[choices.present[record, self.free]])

    def forced_of(self, choices: Choices, record: int) -> int:
        """What a record discloses in any case, as a mask over all attributes."""
        return int(self.forced & sum(1 << j for j in choices.candidates(record).tolist()))


def narrowed(choices: Choices, wanted: Wanted, record: int) -> Floats:
    """What a record loses by every choice of its free candidates, the others disclosed; infinite losses as high."""
    candidates, free = choices.candidates(record), wanted.free_of(choices, record)
    table = choices.losses(record)
    if len(free) < len(candidates):
        places = np.array([1 << b for b, j in enumerate(candidates.tolist()) if j in set(free.tolist())], np.int64)
        at = np.array([packed(wanted.forced, candidates)], np.int64)
        for place in places:
            at = np.r_[at, at | place]
        table = table[:, at]
    return np.minimum(table, choices.high)


class Held:
    """Records, evenly taken out of the distinct ones, with a table of each; all of them where there is room."""

    def __init__(self, choices: Choices, wanted: Wanted, progress: Progress) -> None:
        self.choices, self.wanted = choices, wanted
        tabled = [at for at, record in enumerate(choices.distinct.tolist()) if choices.tabled(record)]
        sizes = 2.0 ** choices.present[choices.distinct][:, wanted.free].sum(axis=1)[tabled] * choices.dictionaries
        step = max(1, int(np.ceil(sizes.sum() / ROOM)))
        self.some = np.array(tabled[::step], np.int64)
        self.copies = choices.copies[self.some]
        self.free = [wanted.free_of(choices, record) for record in choices.distinct[self.some].tolist()]
        self.forced = np.array([wanted.forced_of(choices, record) for record in choices.distinct[self.some]], np.int64)
        self.starts = np.cumsum([0, *(1 << len(free) for free in self.free)]).astype(np.int64)
        self.tables = np.empty((choices.dictionaries, self.starts[-1]))
        for at, record in enumerate(choices.distinct[self.some].tolist()):
            if at % 256 == 0:
                progress("weighing choices", at / len(self.some))
            self.tables[:, self.starts[at] : self.starts[at + 1]] = narrowed(choices, wanted, record)
        self._place = {group: at for at, group in enumerate(self.some.tolist())}

    @property
    def demand(self) -> Demand:
        """What these records are to disclose: their part of what all are."""
        whole = self.choices.copies @ self.choices.present[self.choices.distinct][:, self.wanted.free]
        part = self.copies @ self.choices.present[self.choices.distinct[self.some]][:, self.wanted.free]
        demand = self.wanted.demand
        return Demand(demand.members, demand.cells * part / np.maximum(whole, 1))

    def table(self, group: int) -> Floats:
        """What a distinct record loses by every choice of its free candidates: held, or found again."""
        at = self._place.get(group)
        if at is None:
            return narrowed(self.choices, self.wanted, int(self.choices.distinct[group]))
        return self.tables[:, self.starts[at] : self.starts[at + 1]]

    def select(self, shares: Floats, prices: Floats) -> tuple[Integers, Floats]:
        """The choice that each record takes at prices by attribute, and what it loses in each dictionary."""
        of_candidate = np.cumsum([0, *map(len, self.free)]).astype(np.int64)
        candidates = np.concatenate([np.zeros(0, np.int64), *self.free])
        out = np.zeros(len(self.some), np.int64)
        work = np.empty(int(np.diff(self.starts).max(initial=1)))
        cheapest_of_tables(self.starts, self.tables, of_candidate, candidates, shares, prices, work, out)
        losses = self.tables[:, self.starts[:-1] + out]
        spread_each(out, of_candidate, candidates)
        return out | self.forced, losses

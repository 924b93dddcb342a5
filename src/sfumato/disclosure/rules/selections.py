"""One choice per record where records are optimized together: what there is to choose from, and small cases exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.disclosure.rules.choice_losses import MOST_ATTRIBUTES
from sfumato.kernels.choice_columns import cheapest

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Demand:
    """The number of cells to disclose of each of several sets of attributes."""

    members: Floats
    """Whether attribute j is in set q: 1 or 0."""
    cells: Floats
    """The number of cells of each set."""

    @classmethod
    def of(cls, per: str, attributes: int, target: Sequence[int]) -> Demand:
        """The demand of a set of rules: of all attributes together, of each, or none if records are independent.

        >>> Demand.of("table", 3, [4]).members.tolist(), Demand.of("record", 3, []).members.shape
        ([[1.0, 1.0, 1.0]], (0, 3))
        """
        sets = {"table": np.ones((1, attributes)), "record": np.zeros((0, attributes)), "attribute": np.eye(attributes)}
        return cls(sets[per], np.array(target, np.float64))

    def __len__(self) -> int:
        return len(self.members)

    def used(self, choices: Integers) -> Floats:
        """The cells of each set that each choice discloses, by choice and set."""
        out = np.zeros((len(choices), len(self)))
        for q, j in np.argwhere(self.members).tolist():
            out[:, q] += (choices >> j) & 1
        return out

    def prices(self, of_sets: Floats) -> Floats:
        """The price of each attribute's cells from the prices of the sets."""
        return np.asarray(of_sets @ self.members)


@dataclass(frozen=True, eq=False)
class Columns:
    """The choices of each distinct record: masks over all attributes, and their losses in each dictionary.

    An infinite loss is replaced by `high`, which is more than twice the sum of all finite losses: it is taken only where
    nothing finite is possible.
    """

    starts: Integers
    choices: Integers
    losses: Floats
    """By dictionary and column."""
    copies: Integers
    """The number of records that are like each distinct one."""
    high: float

    @classmethod
    def concatenate(cls, masks: Sequence[Integers], losses: Sequence[Floats], copies: Integers, high: float) -> Columns:
        """Concatenate the choices of all distinct records."""
        starts = np.cumsum([0, *map(len, masks)]).astype(np.int64)
        every = np.concatenate(losses, axis=1)
        return cls(starts, np.concatenate(masks), np.where(np.isfinite(every), every, high), copies, high)

    @cached_property
    def group(self) -> Integers:
        """The distinct record of each column."""
        return np.repeat(np.arange(len(self.copies)), np.diff(self.starts))

    def of_sizes(self, sizes: Integers) -> Columns:
        """Keep the choices with a given number of cells, record by record."""
        mine = sum((self.choices >> j) & 1 for j in range(MOST_ATTRIBUTES)) == sizes[self.group]
        starts = np.concatenate([[0], np.cumsum(mine)])[self.starts]
        return Columns(starts, self.choices[mine], self.losses[:, mine], self.copies, self.high)

    def cheapest(self, shares: Floats, prices: Floats) -> Integers:
        """The column that each distinct record takes at given shares of dictionaries and prices of attributes."""
        which = np.zeros(len(self.copies), np.int64)
        cheapest(self.starts, self.choices, self.losses, shares, prices, which)
        return which

    def select(self, shares: Floats, prices: Floats) -> tuple[Integers, Floats]:
        """The choice that each distinct record takes, and its loss in each dictionary."""
        which = self.cheapest(shares, prices)
        return self.choices[which], self.losses[:, which]

    def totals(self, taken: Integers) -> Floats:
        """The sum of losses in each dictionary if column n is taken `taken[n]` times."""
        some = np.flatnonzero(taken)
        return np.asarray(self.losses[:, some] @ taken[some].astype(np.float64))

    def used(self, taken: Integers, demand: Demand) -> Floats:
        """The disclosed cells of each set if column n is taken `taken[n]` times."""
        some = np.flatnonzero(taken)
        return np.asarray(taken[some].astype(np.float64) @ demand.used(self.choices[some]))

    def taken(self, masks: Integers, of_record: Integers) -> Integers:
        """How often each column is taken if each record takes the one with its mask, which must exist."""
        order = np.lexsort((self.choices, self.group))
        keys = np.rec.fromarrays([self.group[order], self.choices[order]])
        at = order[np.searchsorted(keys, np.rec.fromarrays([of_record, masks], dtype=keys.dtype))]
        return np.bincount(at, minlength=len(self.choices)).astype(np.int64)

    def of_records(self, taken: Integers, of_record: Integers) -> Integers:
        """The column of each record; records that are alike are served in order."""
        order = np.argsort(of_record, kind="stable")
        out = np.empty(len(of_record), np.int64)
        out[order] = np.repeat(np.arange(len(taken)), taken)
        return out


class Selection(NamedTuple):
    """How often each column is taken, its worst total, and a bound on the worst total of any selection."""

    taken: Integers
    worst: float
    bound: float


MOST_LOOKS = 200_000
"""Comparisons of two partial selections; a case that needs more is not small."""


class PartialSelection(NamedTuple):
    """A selection for the records so far: the losses in each dictionary, the last column, and its predecessor."""

    lost: tuple[float, ...]
    last: int
    before: PartialSelection | None


def best_of_few(columns: Columns, demand: Demand) -> Selection | None:
    """Find the selection that meets the demand with the least worst total; None if the case is not small.

    Dynamic programming over the records: of two partial selections with the same numbers of cells, one that loses no less
    in any dictionary is dropped.
    """
    used = demand.used(columns.choices).astype(np.int64)
    target = tuple(int(cells) for cells in demand.cells)
    # partial selections by the cells that they disclose of each set; each list is a Pareto front of losses
    ways = {(0,) * len(demand): [PartialSelection((0.0,) * len(columns.losses), -1, None)]}
    looks = 0
    for g in np.repeat(np.arange(len(columns.copies)), columns.copies).tolist():
        own = range(columns.starts[g], columns.starts[g + 1])
        looks += len(own) * sum(len(some) ** 2 for some in ways.values())
        if looks > MOST_LOOKS:
            return None
        after: dict[tuple[int, ...], list[PartialSelection]] = {}
        for cells, before in ways.items():
            for at in own:
                losses = columns.losses[:, at].tolist()
                now = tuple(one + other for one, other in zip(cells, used[at].tolist(), strict=True))
                if all(have <= want for have, want in zip(now, target, strict=True)):
                    for way in before:
                        lost = tuple(one + other for one, other in zip(way.lost, losses, strict=True))
                        _keep(after.setdefault(now, []), PartialSelection(lost, at, way))
        ways = after
    best = way = min(ways[target], key=lambda way: max(way.lost))
    # follow the predecessors back to the empty selection
    taken = np.zeros(len(columns.choices), np.int64)
    while way.before is not None:
        taken[way.last] += 1
        way = way.before
    return Selection(taken, max(best.lost), max(best.lost))


def _keep(ways: list[PartialSelection], way: PartialSelection) -> None:
    """Keep a partial selection unless another loses no more anywhere, and drop those that it dominates."""
    for other in ways:
        if all(one <= two for one, two in zip(other.lost, way.lost, strict=True)):
            return
    ways[:] = [other for other in ways if any(one < two for one, two in zip(other.lost, way.lost, strict=True))]
    ways.append(way)

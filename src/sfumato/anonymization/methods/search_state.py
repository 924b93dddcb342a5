"""The groups while they are being made: an order of the rows, the state of the search, and its passes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.cell_share_arrays import shares_over
from sfumato.anonymization.methods.method import FINDING, Task
from sfumato.anonymization.methods.search_constraints import Limits, scratch_counts
from sfumato.kernels.cell_shares import SET, share
from sfumato.kernels.local_search import State, blend, settle_all
from sfumato.kernels.order_cuts import cut_order
from sfumato.kernels.row_order import tree_order

DEAR = 1000.0
"""A price of excess that no loss can pay."""

_FINE = 16
"""Random orders are split down to sets of so many rows."""

_PATIENCE = 5
"""So many passes are made before one that brings nothing ends them."""

_LOOKS = 200_000
"""About so many partners are looked at in a pass over bad rows alone."""

_NEARLY_ALL = 0.8
"""From this share of bad groups on, nearly every group is bad."""


class SearchState:
    """Rows in groups, with what the search needs to know of them."""

    def __init__(self, task: Task, limits: Limits, seed: int) -> None:
        self.task = task
        self.limits = limits
        self.rows = task.table.rows
        self.shares = shares_over(task.domains)
        self.crowds = limits.crowd_arrays(self.rows)
        self.shapes = limits.shape_arrays()
        self.place = np.ascontiguousarray(task.places)
        self.random = np.array([(seed * 0x9E3779B97F4A7C15 + 0x2545F4914F6CDD1D) % 2**64 or 1], np.uint64)
        self.dealt_size = limits.roomiest(2 * limits.least)
        self.can_be_dealt = len(limits.crowds) == 1 and not limits.shapes
        self.most = 2 * self.dealt_size + 1
        self.order = np.arange(self.rows)
        self.coarse = np.zeros(self.rows + 1, np.int64)
        self.span = (0.0, 1.0)
        """Between which shares of the whole work the passes that come next lie."""
        self.state: State

    def cut(self, price: float, shuffled: bool = False) -> None:
        """Order the rows, and cut the order into groups."""
        self.good_order(shuffled)
        cuts = np.zeros(self.rows + 1, np.int64)
        cut_order(
            self.shares, self.place, self.crowds, self.shapes, self.order, self.limits.least, self.most, price, cuts
        )  # fmt: skip
        labels, end, group = np.empty(self.rows, np.int64), self.rows, 0
        while end > 0:
            labels[self.order[cuts[end] : end]] = group
            end, group = int(cuts[end]), group + 1
        self.regroup(labels)

    def good_order(self, shuffled: bool = False) -> None:
        """Take the order that saves most; or, shuffled, one drawn at random."""
        self.order = np.arange(self.rows)
        self.coarse[:] = 0
        tree_order(self.shares, self.place, self.order, self.coarse, 1, shuffled, self.random)

    def in_line(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The groups along a good order, by the mean of where their rows stand; and where each row stands."""
        self.good_order()
        position = np.empty(self.rows, np.int64)
        position[self.order] = np.arange(self.rows)
        where = np.bincount(self.labels, weights=position) / self.state.size
        return np.argsort(where, kind="stable"), position

    def stretch(self, rows: NDArray[np.int64]) -> float:
        """What the cells of a group of these rows would cost, a set counted as if it told nothing."""
        low, high = self.place[rows].min(axis=0), self.place[rows].max(axis=0)
        return self._stretch(low, high)

    def joined_cost(self, one: int, other: int) -> float:
        """What the cells of two groups would cost together, a set counted as if it told nothing."""
        st = self.state
        return self._stretch(np.minimum(st.low[one], st.low[other]), np.maximum(st.high[one], st.high[other]))

    def _stretch(self, low: NDArray[np.int32], high: NDArray[np.int32]) -> float:
        total = 0.0
        for j in range(len(low)):
            apart = self.shares.kind[j] == SET and low[j] != high[j]
            total += 1.0 if apart else float(share(self.shares, j, int(low[j]), int(high[j]), 0))
        return total

    def regroup(self, labels: NDArray[np.int64]) -> None:
        """Take these groups, numbered from 0, and work out all that is known of them."""
        count, d = int(labels.max()) + 1, self.place.shape[1]
        size = np.bincount(labels, minlength=count)
        room = size + np.maximum(8, size // 2)
        first = np.concatenate([[0], np.cumsum(room)[:-1]])
        by_group = np.argsort(labels, kind="stable")
        member = np.full(int(room.sum()), -1, np.int64)
        within = np.arange(self.rows) - np.repeat(np.cumsum(size) - size, size)
        member[np.repeat(first, size) + within] = by_group
        low, low_next, high, high_next = (np.zeros((count, d), np.int32) for _ in range(4))
        self.state = State(
            self.place, labels.copy(), first, room, size, member, low, low_next, high, high_next,
            loss=np.zeros(count), excess=np.zeros(count),
            degree=np.zeros((len(self.limits.crowds), self.rows), np.int64),
            gain=np.zeros(self.rows), best=np.zeros(count), relief=np.zeros(self.rows), freed=np.zeros(count),
            counts=scratch_counts(self.shapes), values=np.zeros(self.rows + 1, np.int64),
            seen=np.zeros(int(self.shares.size.max()) + 2, np.int64), clock=np.zeros(1, np.int64),
        )  # fmt: skip
        settle_all(self.shares, self.crowds, self.shapes, self.state)

    @property
    def labels(self) -> NDArray[np.int64]:
        """Each row's group."""
        return np.asarray(self.state.group)

    @property
    def excess(self) -> float:
        """What all groups together lack."""
        return float(self.state.excess.sum())

    @property
    def bad_rows(self) -> int:
        """How many rows are in groups with excess."""
        return int(self.state.size[self.state.excess > 0].sum())

    @property
    def loss(self) -> float:
        """The loss: mean over rows and attributes."""
        cells = self.rows * max(1, len(self.task.domains))
        return float(self.state.loss.sum()) / cells

    @property
    def rank(self) -> tuple[bool, float, float]:
        """Less is better: groups without excess first, then less loss."""
        return self.excess > 0, self.excess, self.loss

    def new_order(self) -> None:
        """Draw a random order of the rows in which near rows stand together."""
        tree_order(self.shares, self.place, self.order, self.coarse, _FINE, True, self.random)

    def passes(self, count: int) -> Iterator[int]:
        """Count passes, and tell how far the work has got."""
        low, high = self.span
        for i in range(count):
            self.task.progress(FINDING, low + (high - low) * i / count)
            yield i

    def turn(self, tries: int, window: int, heat: float, price: float, focus: bool = False) -> int:
        """One pass along the order."""
        window = max(1, min(window, self.rows // 2))
        return int(
            blend(
                self.shares, self.crowds, self.shapes, self.state, self.order, tries, window, heat, price,
                self.limits.least, focus, self.random,
            )
        )  # fmt: skip

    def blend_in(self, effort: int) -> None:
        """Raise the price of excess slowly over all rows, then look further and further around what is left.

        Where histograms are wrong in nearly every group a low price moves nothing: it starts high, with more heat.
        """
        if not self.limits.crowds and (self.state.excess > 0).mean() > _NEARLY_ALL:
            prices = np.geomspace(20.0, 70.0, 8 * effort)
            for i in self.passes(len(prices)):
                self.new_order()
                self.turn(4, 100, 0.5, float(prices[i]))
            return
        prices = np.geomspace(0.3, 2.0, 10 * effort)
        for i in self.passes(len(prices)):
            self.new_order()
            self.turn(8, 40, 0.005, float(prices[i]))
        self.focus(10 * effort)

    def blend_hard(self, effort: int) -> None:
        """Where nearly everybody is crowded: a high price from the start, rows that came far, and a falling heat."""
        passes = 30 * effort
        for i in self.passes(passes):
            heat = max(0.0, 1.0 - i / (passes - 3))
            if self.excess > 0:
                self.new_order()
                self.turn(16, int(400 * 2 ** min(i / 2, 8)), heat, 200.0, focus=True)
            self.new_order()
            before = self.excess
            self.turn(8, 100, heat, 200.0)
            if i >= _PATIENCE and self.excess > max(0.98 * before, self.rows / 20):
                return  # hopeless: more of the same will not do

    def focus(self, passes: int, window: float = 100) -> None:
        """Look only at rows of groups with excess, ever further."""
        for price in np.geomspace(2.0, 8.0, passes):
            if self.excess <= 0:
                return
            self.new_order()
            self.turn(16, int(window), 0.02, float(price), focus=True)
            window *= 1.5

    def polish(self, effort: int) -> None:
        """Lower the loss at a price of excess that no loss can pay, until it stops falling."""
        window = 1000
        for _ in self.passes(20 * effort):
            loss, excess = self.loss, self.excess
            self.new_order()
            if excess > 0:
                self.turn(min(64, 1 + _LOOKS // self.bad_rows), window, 0.0, DEAR, focus=True)
                window *= 2
            self.turn(8, 40, 0.0, DEAR)
            if loss - self.loss < 5e-4 * loss and self.excess >= 0.98 * excess:
                return

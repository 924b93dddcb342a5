"""The state of glaze's search: an order of the rows, their groups, and the passes that improve them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.group_arrays import group_arrays
from sfumato.anonymization.methods.method import FINDING
from sfumato.anonymization.methods.search_problem import SearchProblem
from sfumato.data.groups import dense_ranks
from sfumato.kernels.best_cuts import best_cuts
from sfumato.kernels.cell_shares import SET, share
from sfumato.kernels.group_dissolution import dissolve_groups
from sfumato.kernels.local_search import exchange_rows, open_rows
from sfumato.kernels.order_cuts import coarse_ends, cut_order
from sfumato.kernels.pair_cuts import cut_pairs, sample_members
from sfumato.kernels.rotations import rotate_rows
from sfumato.kernels.row_order import tree_order
from sfumato.kernels.search_arrays import SearchArrays
from sfumato.kernels.spread_swaps import swap_by_spread

_PROHIBITIVE = 1000.0
"""The least price of one unit of excess that no saving in loss can outweigh; see `SearchState.prohibitive`."""

_LEAF = 16
"""Random orders are split down to sets of this many rows."""

_PATIENCE = 5
"""The number of passes before a pass without progress ends the search."""

VISITS = 6.0
"""The rows that annealing visits, for each row of the problem."""

_COUNTED_VISITS = 0.3
"""Under conditions on histograms alone, annealing visits this share of them: a visit is costly, and moves help later."""

_MORE_VISITS, _FEW_LOSSY = 2.2, 0.5
"""Annealing visits up to so many times more rows where less than this share of the rows is in groups with a loss."""

_BETWEEN_CUTS = 0.25
"""The rows that annealing visits between two cuts of pairs, for each row of the problem."""

_FIRST_PRICE, _LAST_PRICE = 0.15, 20.0
"""The price of excess while annealing: at first a row trades excess for little loss, in the end for nearly any."""

_HEAT = 0.12
"""The heat at which annealing begins."""

_WINDOWS = (40, 10, 20)
"""How far rows look for partners while the loss is lowered, pass by pass."""

_ROUNDS, _COUNTED_ROUNDS = 5, 4
"""The number of rounds that lower the loss, and the number under conditions on histograms alone."""

_JOINED, _COUNTED_JOINED = 24, 64
"""How many groups each row of a group that may be dissolved tries, and how many under conditions on histograms alone."""

_MORE_ROUNDS = 3
"""How many times more rounds there are where few rows are in groups with a loss, at most."""

_REACH = 2
"""A group is cut anew together with each of this many groups that follow it along an order."""

_GATHERINGS = 4
"""How often the rows of packed groups are gathered in wide windows."""

_LARGEST_PAIR = 96
"""Pairs of more rows are not cut anew: the cost grows with the square of their number."""

_FINELY_CUT = 128
"""An order may be cut before every row if groups of more rows than this are not made."""

_LOOKS = 200_000
"""About the number of partners that are tried in a pass over the rows with excess."""

_PASS_WORK = 1 << 12
"""The members of groups that a pass may look at, for each row of the problem: a bound that only large groups reach."""

_LEAST_WORK = 1 << 22
"""The members of groups that a pass may look at in a problem of any size."""

_NEARLY_ALL = 0.8
"""From this share of groups with excess on, nearly all groups have excess."""


class SearchState:
    """The rows of a problem in groups, with what the search needs to know about them.

    The arrays of `arrays` are owned by this object; kernels update them in place. `regroup` replaces them all. The state of
    the random numbers is `random`: every pass draws from it, so the order of the calls matters for the result.
    """

    def __init__(self, problem: SearchProblem, seed: int) -> None:
        self.problem = problem
        self.constraints = constraints = problem.constraints
        self.rows = problem.rows
        self.shares = problem.shares
        self.neighbour_limits = constraints.neighbour_limit_arrays(self.rows)
        self.conditions = constraints.condition_arrays()
        self.place = np.ascontiguousarray(problem.places)
        # xorshift needs a state other than 0; the multiplier (2^64 / φ) spreads small seeds over all bits
        self.random = np.array([(seed * 0x9E3779B97F4A7C15 + 0x2545F4914F6CDD1D) % 2**64 or 1], np.uint64)
        self.packed_size = constraints.roomiest_size(2 * constraints.least)
        """The size of groups that rows are packed into: the one that leaves most room for neighbours."""
        self.can_be_packed = len(constraints.neighbour_limits) == 1 and not constraints.conditions
        """Whether packing is possible: it respects one limit on neighbours and nothing else."""
        self.most = 2 * self.packed_size + 1
        """The largest group that the cut makes."""
        self.order = np.arange(self.rows)
        self.coarse = np.zeros(self.rows + 1, np.int64)
        """For each position of the order the number of rows of the set that was split there; see `tree_order`."""
        self.visits = VISITS
        self.span = (0.0, 1.0)
        """The share of the whole work at which the next passes begin and end; for the progress."""
        self.has_rare_values = 0 < constraints.most_groups(self.rows) < self.rows // self.most
        """Whether values are too rare for groups of the usual size, each of which must have several values."""
        self._slow = 4e-3 if self.can_be_cut_again else 1e-3
        """A round that lowers the loss by less than this share ends the search; rounds over large groups are costly."""
        self.arrays: SearchArrays
        self._best: tuple[tuple[bool, float, float], NDArray[np.int64]] | None = None

    def cut(self, price: float, shuffled: bool = False) -> None:
        """Order the rows, and cut the order into groups so that loss + price · excess is least."""
        self.order_rows(shuffled)
        cuts, ends = np.zeros(self.rows + 1, np.int64), np.empty(self.rows + 1, bool)
        step = self.cut_step
        coarse_ends(self.coarse, step, self.constraints.least, ends)
        most = self.most + 2 * (step - 1)  # so that the last rows, too, have an end where they can be cut
        if step == 1 and self.neighbour_limits.windowed.size:
            most = self._roomy_size(most)
        cut_order(
            self.shares, self.place, self.neighbour_limits, self.conditions, self.order, ends, self.constraints.least,
            most, price, cuts,
        )  # fmt: skip
        # cuts[end] is where the run that ends there begins: follow it from the end
        labels, end, group = np.empty(self.rows, np.int64), self.rows, 0
        while end > 0:
            labels[self.order[cuts[end] : end]] = group
            end, group = int(cuts[end]), group + 1
        self.regroup(labels)

    def _roomy_size(self, most: int) -> int:
        """Return the largest size of groups for a cut under limits on neighbours, at most `most`.

        Groups only a little larger than the roomiest ones leave most room for exchanges. A table of fewer rows may have no
        cut into groups of such sizes.
        """
        least, roomy = self.constraints.least, self.packed_size + max(2, self.packed_size // 5)
        return min(most, roomy) if self.rows >= least * (least // (roomy - least) + 1) else most

    @property
    def cut_step(self) -> int:
        """The number of positions of an order of which one may be cut: 1, and more for large groups.

        From there on the cost of the cut does not grow with the size of the groups, or, with limits on neighbours, with its
        square. A quarter of a group at most, so that groups of allowed sizes can always be cut.
        """
        ratio = self.most / _FINELY_CUT
        return max(1, min(int(ratio**2 if self.neighbour_limits.windowed.size else ratio), self.constraints.least // 4))

    def order_rows(self, shuffled: bool = False) -> None:
        """Order the rows so that similar rows are adjacent; `shuffled`: by random splits instead of the best ones."""
        self.order = np.arange(self.rows)
        self.coarse[:] = 0
        tree_order(self.shares, self.place, self.order, self.coarse, 1, shuffled, self.random)

    def group_order(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the groups along the best order, by the mean position of their rows; and the position of each row."""
        self.order_rows()
        position = np.empty(self.rows, np.int64)
        position[self.order] = np.arange(self.rows)
        mean = np.bincount(self.labels, weights=position) / self.arrays.size
        return np.argsort(mean, kind="stable"), position

    def cost_of_rows(self, rows: NDArray[np.int64]) -> float:
        """Return an upper bound on the cost of the cells of a group of these rows: a set of values counts as `*`."""
        low, high = self.place[rows].min(axis=0), self.place[rows].max(axis=0)
        return self._cost_between(low, high)

    def cost_of_union(self, one: int, other: int) -> float:
        """Return an upper bound on the cost of the cells of two groups together: a set of values counts as `*`."""
        low, high = self.arrays.low, self.arrays.high
        return self._cost_between(np.minimum(low[one], low[other]), np.maximum(high[one], high[other]))

    def _cost_between(self, low: NDArray[np.int32], high: NDArray[np.int32]) -> float:
        total = 0.0
        for j in range(len(low)):
            several = self.shares.kind[j] == SET and low[j] != high[j]
            total += 1.0 if several else float(share(self.shares, j, int(low[j]), int(high[j]), 0))
        return total

    def regroup(self, labels: NDArray[np.int64]) -> None:
        """Replace the groups by these, numbered from 0 without gaps, and compute all arrays from them."""
        self.arrays = group_arrays(self.place, labels, self.shares, self.neighbour_limits, self.conditions)

    @property
    def labels(self) -> NDArray[np.int64]:
        """The group of each row; owned by the arrays, so copy it before the next pass."""
        return np.asarray(self.arrays.group)

    @property
    def excess(self) -> float:
        """The excess of all groups together."""
        return float(self.arrays.excess.sum())

    @property
    def bad_rows(self) -> int:
        """The number of rows in groups with excess."""
        return int(self.arrays.size[self.arrays.excess > 0].sum())

    @property
    def lossy_rows(self) -> int:
        """The number of rows in groups with a loss."""
        return int(self.arrays.size[self.arrays.loss > 0].sum())

    @property
    def loss(self) -> float:
        """The mean loss over rows and attributes."""
        cells = self.rows * max(1, self.problem.columns)
        return float(self.arrays.loss.sum()) / cells

    @property
    def rank(self) -> tuple[bool, float, float]:
        """A key by which states compare, less being better: no excess, then less excess, then less loss."""
        return self.excess > 0, self.excess, self.loss

    def remember(self) -> None:
        """Keep the groups as they are now if they are the best so far, so that no later step can lose them."""
        if self._best is None or self.rank < self._best[0]:
            self._best = self.rank, self.labels.copy()

    def return_to_best(self) -> None:
        """Go back to the best groups that were remembered, unless the present ones are better."""
        self.remember()
        assert self._best is not None
        if self._best[0] < self.rank:
            self.regroup(np.unique(self._best[1], return_inverse=True)[1])

    @property
    def prohibitive(self) -> float:
        """A price of excess that no saving in loss can outweigh, however large the groups are.

        A group that gets excess gets at least 0.5, and a change saves no more than the loss of two groups.
        """
        return max(_PROHIBITIVE, 8.0 * float(self.arrays.room.max()) * float(self.shares.weight.sum()))

    @property
    def can_be_cut_again(self) -> bool:
        """Whether groups can be cut at the best allowed places: histograms are counted, neighbours would be costly."""
        return bool(self.constraints.conditions) and not self.constraints.neighbour_limits

    @property
    def needs_large_groups(self) -> bool:
        """Whether a rare value makes some groups large: those of Mondrian and the best cuts are then good starts."""
        return self.can_be_cut_again and (self.has_rare_values or self.constraints.bounds_shares)

    def cut_again(self, labels: NDArray[np.int64], slack: float = 0.0) -> None:
        """Cut groups into smaller ones where that saves most, while each part has an excess of at most `slack` per row."""
        order = np.argsort(labels, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(np.bincount(labels))])
        smaller = np.empty(self.rows, np.int64)
        best_cuts(
            self.shares, self.place, self.conditions, order, offsets, self.constraints.least, slack, smaller
        )  # fmt: skip
        self.regroup(smaller)

    def new_order(self) -> None:
        """Draw a random order of the rows that a pass may change, and one of each group; similar rows are adjacent."""
        st = self.arrays
        self.order = open_rows(
            st.first, st.size, st.member, st.loss, st.gain, st.relief, self.can_be_cut_again, self.constraints.least,
            self.random,
        )  # fmt: skip
        tree_order(self.shares, self.place, self.order, self.coarse, _LEAF, True, self.random)

    def passes(self, count: int) -> Iterator[int]:
        """Yield the numbers of the passes, and report the progress before each."""
        low, high = self.span
        for i in range(count):
            self.problem.progress(FINDING, low + (high - low) * i / count)
            yield i

    @property
    def pass_work(self) -> int:
        """The members of groups that a pass may look at."""
        return max(_LEAST_WORK, _PASS_WORK * self.rows)

    def exchange_pass(
        self, tries: int, window: int, heat: float, price: float, focus: bool = False, neutral: bool = False
    ) -> int:
        """Make one pass along the order; see `kernels.local_search.exchange_rows`. Return the number of changes."""
        window = max(1, min(window, len(self.order) // 2))
        # under conditions on histograms groups differ much in size and cost: a row may move to a cheaper one that covers it
        moves = self.can_be_cut_again and not focus
        return int(
            exchange_rows(
                self.shares, self.neighbour_limits, self.conditions, self.arrays, self.order, tries, window, heat, price,
                self.constraints.least, focus, moves, neutral, self.pass_work, self.random,
            )
        )  # fmt: skip

    def cut_pairs(self, price: float, reach: int = _REACH) -> int:
        """Cut pairs of near groups anew; see `kernels.pair_cuts.cut_pairs`. Return the number of changes."""
        order = sample_members(self.arrays.first, self.arrays.size, self.arrays.member, self.random)
        tree_order(self.shares, self.place, order, self.coarse, 1, True, self.random)
        most = min(_LARGEST_PAIR, 4 * self.most)
        return int(
            cut_pairs(
                self.shares, self.neighbour_limits, self.conditions, self.arrays, order, reach, price,
                self.constraints.least, np.empty((3, most), np.int64), np.empty(most + 1),
            )
        )  # fmt: skip

    def dissolve(self, tries: int, window: int, price: float) -> int:
        """Dissolve groups whose rows cost less elsewhere; see `kernels.group_dissolution`. Return their number."""
        order = sample_members(self.arrays.first, self.arrays.size, self.arrays.member, self.random)
        tree_order(self.shares, self.place, order, self.coarse, 1, True, self.random)
        largest = min(_LARGEST_PAIR // 2, 2 * self.most)
        dissolved = int(
            dissolve_groups(
                self.shares, self.neighbour_limits, self.conditions, self.arrays, order, tries,
                max(1, min(window, len(order) // 2)), price, self.pass_work, np.empty(largest, np.int64), np.empty(largest),
                self.random,
            )
        )  # fmt: skip
        if dissolved:
            self.regroup(dense_ranks(self.labels))
        return dissolved

    def rotate(self, tries: int, window: int, price: float) -> int:
        """Rotate rows over three groups; see `kernels.rotations.rotate_rows`. Return the number of changes."""
        self.new_order()
        window = max(1, min(window, len(self.order) // 2))
        return int(
            rotate_rows(
                self.shares, self.neighbour_limits, self.conditions, self.arrays, self.order, tries, window, price,
                self.constraints.least, self.pass_work, self.random,
            )
        )  # fmt: skip

    def gather(self, tries: int, window: int, price: float) -> int:
        """Swap rows so that the rows of each group lie closer together; return the number of swaps.

        See `kernels.spread_swaps.swap_by_spread`.
        """
        rows = np.flatnonzero(self.arrays.loss[self.arrays.group] > 0)
        tree_order(self.shares, self.place, rows, self.coarse, _LEAF, True, self.random)
        scale = np.where(self.shares.kind == SET, 0.0, self.shares.weight / np.maximum(1, self.shares.size - 1))
        return int(
            swap_by_spread(
                self.shares, self.neighbour_limits, self.conditions, self.arrays, rows, tries,
                max(1, min(window, len(rows) // 2)), price, np.empty(self.arrays.low.shape), scale, self.pass_work,
                self.random,
            )
        )  # fmt: skip

    def exchange(self, effort: int) -> None:
        """Raise the price of excess slowly over all rows, then search further and further around what is left.

        Where nearly every group fails a histogram condition, a low price moves nothing: it starts high, with more heat.
        """
        if not self.constraints.neighbour_limits and (self.arrays.excess > 0).mean() > _NEARLY_ALL:
            prices = np.geomspace(20.0, 70.0, 8 * effort)
            for i in self.passes(len(prices)):
                self.new_order()
                self.exchange_pass(4, 100, 0.5, float(prices[i]))
            return
        self.anneal(effort)
        self.exchange_bad_rows(10 * effort)

    def anneal(self, effort: int) -> None:
        """Raise the price of excess from one at which rows still trade excess for loss, while the heat falls.

        The price rises with the work done, in rows visited: passes over few open rows are cheap, so there are more of them.
        """
        low, high = self.span
        more = min(_MORE_VISITS, max(1.0, _FEW_LOSSY * self.rows / max(1, self.lossy_rows)))
        if self.can_be_cut_again:
            more *= _COUNTED_VISITS
        work, budget, cut_at = 0, self.visits * more * effort * self.rows, 0.0
        while work < budget:
            done = work / budget
            self.problem.progress(FINDING, low + (high - low) * done)
            price = _FIRST_PRICE * (_LAST_PRICE / _FIRST_PRICE) ** done
            self.new_order()
            # swaps that change nothing lead to others that do
            self.exchange_pass(8, 40, _HEAT * (1 - done), price, neutral=True)
            # the rows that stand for their groups in the order are cheap; and there is a limit to the number of passes
            work += max(len(self.order) - len(self.arrays.size) // 2, self.rows // 20)
            if work >= cut_at:  # its cost does not depend on the number of open rows
                self.cut_pairs(price)
                cut_at = work + _BETWEEN_CUTS * self.rows

    def exchange_crowded(self, effort: int) -> None:
        """Exchange where most rows have too many neighbours: a high price from the start, wide windows, falling heat."""
        passes = 30 * effort
        for i in self.passes(passes):
            heat = max(0.0, 1.0 - i / (passes - 3))
            if self.excess > 0:
                self.new_order()
                self.exchange_pass(16, int(400 * 2 ** min(i / 2, 8)), heat, 200.0, focus=True)
            self.new_order()
            before = self.excess
            self.exchange_pass(8, 100, heat, 200.0)
            if i >= _PATIENCE and self.excess > max(0.98 * before, self.rows / 20):
                return  # much excess is left and it hardly falls: further passes will not remove it
        # packed groups are spread over the whole table
        for _ in range(_GATHERINGS * effort):
            self.gather(16, 200, self.prohibitive)

    def exchange_bad_rows(self, passes: int, window: float = 100) -> None:
        """Exchange only rows of groups with excess, in a growing window."""
        for price in np.geomspace(20.0, 50.0, passes):
            if self.excess <= 0:
                return
            self.new_order()
            self.exchange_pass(16, int(window), 0.02, float(price), focus=True)
            window *= 1.5

    def exchange_shares(self, effort: int) -> None:
        """Raise the price of excess where the share of each value is bounded: values that are too frequent move away."""
        prices = np.geomspace(1.0, 50.0, 8 * effort)
        for i in self.passes(len(prices)):
            self.new_order()
            self.exchange_pass(2, 100, 0.1, float(prices[i]))

    def lower_loss(self, effort: int, rounds: int | None = None) -> None:
        """Lower the loss at a prohibitive price of excess, until either stops falling.

        Each of the rounds cuts, rotates, gathers, dissolves and exchanges.
        """
        window = 1000
        if rounds is None:
            rounds = _COUNTED_ROUNDS if self.can_be_cut_again else _ROUNDS
        if self.constraints.neighbour_limits:  # a round takes time for the rows of groups with a loss
            rounds = min(_MORE_ROUNDS * rounds, rounds * self.rows // max(1, self.lossy_rows))
        for _ in self.passes(rounds * effort):
            loss, excess = self.loss, self.excess
            if excess <= 0:
                self.cut_pairs(self.prohibitive)
                self.rotate(16, 40, self.prohibitive)
                self.gather(4, 20, self.prohibitive)
                self.dissolve(_COUNTED_JOINED if self.can_be_cut_again else _JOINED, 40, self.prohibitive)
            for near in _WINDOWS:
                if self.excess > 0:  # the fewer bad rows there are, the more partners each of them tries
                    self.new_order()
                    self.exchange_pass(min(64, 1 + _LOOKS // self.bad_rows), window, 0.0, self.prohibitive, focus=True)
                    window *= 2
                self.new_order()
                self.exchange_pass(8, near, 0.0, self.prohibitive)
            if self.excess < 0.98 * excess:
                continue
            # excess that a round does not lower needs repair: to lower the loss of groups that will be merged is wasted
            if self.excess > 0 or loss - self.loss < self._slow * loss:
                return

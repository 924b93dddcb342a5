"""Deal the rows of a forest of blocks to groups: sees the secrets and the order of the forest, never a quasi-identifier."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.block_forest import Forest
from sfumato.anonymization.methods.cell_share_arrays import share_arrays
from sfumato.anonymization.methods.group_arrays import group_arrays
from sfumato.anonymization.methods.search_constraints import SearchConstraints
from sfumato.kernels.balanced_deals import deal_units

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

_TRIES, _SWEEPS, _PATIENCE = 48, 60, 4
"""How many rows of its block a row tries, how many sweeps there are, and how many without progress."""

_LARGEST_UNION = 1024
"""Units of more rows are not tried as one group under limits on neighbours: the cost grows with the square of the rows."""

_PARTNERS = 48
"""How many members are tried, one at a time, as the partner of a member that cannot be dealt alone."""

_LARGEST_UNIT = 12
"""The largest number of members that are dealt together."""

_LARGER_TRIES = 16
"""How many sets of members of each larger number are tried."""

_NO_CELLS = share_arrays([])
"""What cells cost where nothing but secrets counts."""


def deal_forest(forest: Forest, constraints: SearchConstraints) -> tuple[Integers, Flags]:
    """Return the group of each row, numbered from 0, and for each group whether it could be dealt.

    A block is *covered* if its rows can be dealt to groups that satisfy the constraints. A pair is covered if both blocks
    are, or if it can be dealt as a whole: each group then takes equally many rows of both. In a pool, pairs that are not
    covered are dealt together with other pairs, as few as possible, each group taking equally many rows of all their
    blocks. Pools that are not covered are dealt together with other pools in the same way. What is left fails. The result
    depends on the secrets in the order of the forest, and on nothing else.
    """
    deals = BlockDeals(forest.pools.reshape(-1, forest.block_rows), constraints)
    pools, pairs = forest.pools.shape[:2]
    covered = deals.deal(np.arange(2 * pairs * pools)[:, None])
    covered = deals.cover_nodes(covered, 1, 2)
    covered = deals.cover_nodes(covered, 2, pairs)
    failing = deals.cover_members(covered.reshape(1, -1), 2 * pairs)[0]
    deals.join_failing(failing, 2 * pairs)
    rest = BlockDeals(forest.rest[None, :], constraints)
    rest_fails = np.zeros(0, bool)
    if len(forest.rest):
        rest_fails = ~rest.deal(np.zeros((1, 1), np.int64))
    rows = np.concatenate([deals.blocks.ravel(), rest.blocks.ravel()])
    labels = np.empty(len(rows), np.int64)
    labels[rows] = np.concatenate([deals.labels.ravel(), rest.labels.ravel() + deals.count])
    fails = np.concatenate([np.repeat(failing, 2 * pairs * forest.block_rows), np.repeat(rest_fails, len(forest.rest))])
    present, labels = np.unique(labels, return_inverse=True)
    fine = np.ones(len(present), bool)
    fine[labels[rows[fails]]] = False
    return labels, fine


class BlockDeals:
    """Blocks of rows and how they are dealt so far. A *unit* is a set of blocks that are dealt together."""

    def __init__(self, blocks: Integers, constraints: SearchConstraints) -> None:
        self.blocks, self.constraints = blocks, constraints
        self.labels = np.repeat(np.arange(len(blocks)), blocks.shape[1]).reshape(blocks.shape)
        """The group of each row of each block."""
        self.count = len(blocks)
        """All groups have lower numbers."""

    @property
    def block_rows(self) -> int:
        """The number of rows of a block."""
        return int(self.blocks.shape[1])

    def deal(self, units: Integers) -> Flags:
        """Deal units of equally many blocks, `units[u]`, to groups; return which of them can be dealt. Others stay."""
        done = np.zeros(len(units), bool)
        left = np.arange(len(units))
        for parts in self.part_counts(units.shape[1]):
            if not len(left):
                break
            part_of, fine = self._dealt(units[left], parts)
            found = left[fine]
            labels = self.count + np.arange(len(found))[:, None] * parts + part_of[fine]
            self.labels[units[found].ravel()] = labels.reshape(-1, self.block_rows)
            self.count += len(found) * parts
            done[found] = True
            left = left[~fine]
        return done

    def part_counts(self, blocks: int) -> list[int]:
        """Return the numbers of groups that a unit of some blocks is dealt to, in the order in which they are tried.

        First as many as possible, then the number that leaves most room for neighbours, half as many, and one.
        """
        rows, least = self.block_rows, self.constraints.least
        if blocks * rows < least:
            return []
        most = max(parts for parts in range(1, rows + 1) if parts == 1 or rows // parts * blocks >= least)

        def room(parts: int) -> Fraction:
            sizes = {rows // parts * blocks, -(-rows // parts) * blocks}
            limits = self.constraints.neighbour_limits
            return min((Fraction(one.allowed(size) + 1, size) for one in limits for size in sizes), default=Fraction(0))

        roomiest = max(range((most + 1) // 2, most + 1), key=lambda parts: (room(parts), parts))
        counts = dict.fromkeys((most, roomiest, max(1, most // 2), 1))
        if self.constraints.neighbour_limits and blocks * rows > _LARGEST_UNION and most > 1:
            del counts[1]
        return list(counts)

    def _dealt(self, units: Integers, parts: int) -> tuple[Integers, Flags]:
        """Deal units to a number of parts each; return the part of each row, and in which units no part has excess."""
        rows, size = self.blocks[units].ravel(), self.block_rows
        constraints = self.constraints.with_values(self.constraints.values_of(rows))
        limits, conditions = constraints.neighbour_limit_arrays(len(rows)), constraints.condition_arrays()
        of_block = np.arange(size) * parts // size  # a part takes the same share of every block
        labels = (np.arange(len(units))[:, None] * parts + np.tile(of_block, units.shape[1])).ravel()
        arrays = group_arrays(np.zeros((len(rows), 0), np.int32), labels, _NO_CELLS, limits, conditions)
        if parts > 1:
            deal_units(
                _NO_CELLS, limits, conditions, arrays, size, units.shape[1] * size, parts, _TRIES, _SWEEPS, _PATIENCE,
                np.ones(1, np.uint64),
            )  # fmt: skip
        part_of = np.asarray(arrays.group).reshape(len(units), -1) - np.arange(len(units))[:, None] * parts
        return part_of, arrays.excess.reshape(len(units), parts).max(axis=1) <= 0

    def cover_nodes(self, covered: Flags, blocks: int, members: int) -> Flags:
        """Cover nodes of some members of `blocks` blocks each; return which nodes are covered.

        `covered`: which members are. A node is covered if all its members are, or are dealt together with others of it.
        """
        failing: Flags = np.any(self.cover_members(covered.reshape(-1, members), blocks), axis=1)
        last = np.flatnonzero(failing)
        if len(last):  # all members together, also those that are covered
            failing[last] = ~self.deal((last[:, None] * members * blocks) + np.arange(members * blocks))
        return ~failing

    def cover_members(self, covered: Flags, blocks: int) -> Flags:
        """Deal members that are not covered together with others of their node; return which members are left."""
        nodes = [_Node(flags) for flags in covered]
        while True:
            tried: dict[int, list[tuple[int, list[int]]]] = {}
            for number, node in enumerate(nodes):
                unit = node.next_unit()
                if unit is not None:
                    tried.setdefault(len(unit), []).append((number, unit))
            if not tried:
                left = np.zeros(covered.shape, bool)
                for number, node in enumerate(nodes):
                    left[number, sorted(node.left)] = True
                return left
            for units in tried.values():
                first = np.array([[number * covered.shape[1] + member for member in unit] for number, unit in units])
                dealt = self.deal((first[:, :, None] * blocks + np.arange(blocks)).reshape(len(units), -1))
                for (number, unit), fine in zip(units, dealt.tolist(), strict=True):
                    nodes[number].report(unit, fine)

    def join_failing(self, failing: Flags, blocks: int) -> None:
        """Make one group of all rows of each member of `blocks` blocks that fails."""
        for member in np.flatnonzero(failing):
            self.labels[member * blocks : (member + 1) * blocks] = self.count
            self.count += 1


class _Node:
    """The members of a node: which are dealt together with others, and what is tried next for one that is not covered."""

    def __init__(self, covered: Flags) -> None:
        # members that are not covered come first: two of them may help each other
        self.order = [*np.flatnonzero(~covered).tolist(), *np.flatnonzero(covered).tolist()]
        self.open = np.flatnonzero(~covered).tolist()
        """Members that are not covered, in the order in which units for them are tried."""
        self.left: set[int] = set()
        """Members for which no unit was found."""
        self.used: set[int] = set()
        """Members that are dealt together with others."""
        self.size, self.start = 2, 0

    def next_unit(self) -> list[int] | None:
        """Return the members that are tried together next; None if nothing is left to try."""
        while self.open:
            first = self.open[0]
            others = [member for member in self.order if member != first and member not in self.used | self.left]
            most = min(len(others), _PARTNERS if self.size == 2 else _LARGER_TRIES)
            if self.size <= min(_LARGEST_UNIT, len(others) + 1) and self.start < most:
                return [first, *(others[(self.start + i) % len(others)] for i in range(self.size - 1))]
            self.start, self.size = 0, self.size + 1
            if self.size > min(_LARGEST_UNIT, len(others) + 1):
                self.left.add(self.open.pop(0))
                self.size = 2
        return None

    def report(self, unit: list[int], fine: bool) -> None:
        """Note whether the members that were tried together could be dealt."""
        self.start += 1
        if fine:
            self.used |= set(unit)
            self.open = [member for member in self.open if member not in self.used]
            self.size, self.start = 2, 0

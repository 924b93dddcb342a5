"""Swaps of two people between groups that would have lowered the loss, and for which secrets they were impossible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods import Task
from sfumato.anonymization.methods.group_arrays import group_arrays
from sfumato.anonymization.methods.search_constraints import SearchConstraints, scratch_counts
from sfumato.attacks.constrained_secrets import ConstrainedSecret
from sfumato.kernels.row_order import tree_order
from sfumato.kernels.swap_enumeration import find_swaps
from sfumato.kernels.swap_verdicts import entry_degrees, swap_verdicts

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

_ORDERS, _WINDOW, _LEAF = 8, 50, 16
"""Near groups are those of rows at most so far away in so many random orders, which are split down to so many rows."""

_PARTNERS = 24
"""The number of members of a group that are tried as partners, as in the search itself."""

_PER_ROW = 100
"""The number of swaps that are kept for each row and order."""

_STRETCH = 500
"""A sample of groups consists of stretches of this many rows along an order."""

_TABLE_WORK = 300_000_000
"""The number of steps in which verdicts are found, about; beyond it, swaps are left out at random."""

_MESSAGE_WORK = 60_000_000
"""The number of verdicts that are read in a round, about; beyond it, swaps are left out at random."""


@dataclass(frozen=True, eq=False)
class UnmadeSwaps:
    """Pairs of people in different groups, each of whom could have been in the other's group at a lower loss."""

    one: Integers
    other: Integers
    attacked: Flags
    """For each group whether its people are attacked: all groups, or those of a sample."""

    def __len__(self) -> int:
        return len(self.one)


def unmade_swaps(task: Task, group: Integers, people: int, seed: int = 0) -> UnmadeSwaps:
    """Return swaps between near groups that would lower the loss, as the method measures it.

    `group`: that of each row of the task. `people`: about this many are attacked; the swaps are those of their rows.
    """
    space = task.search_space
    places, rows = np.ascontiguousarray(space.places), len(group)
    nothing = SearchConstraints(1, (), ())
    arrays = group_arrays(
        places, group, space.shares, nothing.neighbour_limit_arrays(rows), nothing.condition_arrays()
    )  # fmt: skip
    stratum = np.zeros(len(arrays.size), np.int64)
    if task.strata is not None:
        stratum[group] = task.strata.of_row
    random = np.array([seed * 2 + 1], np.uint64)
    coarse, order = np.zeros(rows + 1, np.int64), np.arange(rows)
    tree_order(space.shares, places, order, coarse, 1, False, random)
    attacked = _sampled(order, group, people)
    chosen = np.flatnonzero(attacked[group])
    found = []
    one, other = (np.empty(_PER_ROW * len(chosen), np.int64) for _ in range(2))
    saving, position = np.empty(len(one)), np.empty(rows, np.int64)
    for _ in range(_ORDERS):
        order = np.arange(rows)
        tree_order(space.shares, places, order, coarse, _LEAF, True, random)
        position[order] = np.arange(rows)
        count = find_swaps(
            space.shares, arrays, stratum, chosen, order, position, _WINDOW, _PARTNERS, _PER_ROW,
            np.full(len(arrays.size), -1, np.int64), one, other, saving,
        )  # fmt: skip
        low, high = np.minimum(one[:count], other[:count]), np.maximum(one[:count], other[:count])
        found.append(low * rows + high)
    pairs = np.unique(np.concatenate(found))
    return UnmadeSwaps(pairs // rows, pairs % rows, attacked)


def _sampled(order: Integers, group: Integers, people: int) -> Flags:
    """Return the groups that are attacked: all, or those that begin in random stretches of an order, for about `people`.

    Whole stretches, because a group is attacked through the groups near it.
    """
    count = int(group.max()) + 1
    if len(group) <= people:
        return np.ones(count, bool)
    position = np.empty(len(group), np.int64)
    position[order] = np.arange(len(group))
    begin = np.full(count, len(group))
    np.minimum.at(begin, group, position)
    # stretches in which groups begin, in random order, until they have about as many people as are wanted
    stretch = begin // _STRETCH
    inside = np.bincount(stretch, weights=np.bincount(group, minlength=count))
    shuffled = np.random.default_rng(len(group)).permutation(np.flatnonzero(inside))
    before = np.cumsum(inside[shuffled]) - inside[shuffled]
    chosen = np.zeros(len(inside), bool)
    chosen[shuffled[before < max(1, people - _STRETCH // 2)]] = True
    return np.asarray(chosen[stretch])


@dataclass(frozen=True, eq=False)
class SwapVerdicts:
    """The secrets of the groups that swaps are about, and which pairs of secrets would have made a swap impossible."""

    groups: Integers
    """The groups, ascending; the fields below number them from 0."""
    first: Integers
    """Where the secrets of each group begin in `value` and `count`; one more at the end."""
    value: Integers
    count: Integers
    size: Integers
    one: Integers
    """For each swap one person, whose group has a lower number than that of the other."""
    other: Integers
    table: Integers
    """For each swap where its verdicts begin in `breaks`: for each secret of the one group, those of the other."""
    breaks: Flags
    here: Integers
    """For each swap the group of the one person, and that of the other."""
    there: Integers
    left_out: int
    """The number of swaps that were left out for lack of time."""


def swap_verdicts_of(swaps: UnmadeSwaps, secret: ConstrainedSecret, group: Integers) -> SwapVerdicts:
    """Return for each swap which pairs of secrets would have broken a requirement of the attribute."""
    used = swaps.attacked.copy()
    used[group[swaps.one]] = used[group[swaps.other]] = True
    groups = np.flatnonzero(used)
    local = np.full(len(used), -1)
    local[groups] = np.arange(len(groups))
    of_row = local[group]
    inside = of_row >= 0
    keys, count = np.unique(of_row[inside] * secret.width + secret.codes[inside], return_counts=True)
    owner, value = np.divmod(keys, secret.width)
    distinct = np.bincount(owner, minlength=len(groups))
    first = np.concatenate([[0], np.cumsum(distinct)])
    ordered = of_row[swaps.one] < of_row[swaps.other]
    one, other = np.where(ordered, swaps.one, swaps.other), np.where(ordered, swaps.other, swaps.one)
    kept = _affordable(distinct[of_row[one]], distinct[of_row[other]], of_row[one] * len(groups) + of_row[other])
    pairs, pair = np.unique((of_row[one] * len(groups) + of_row[other])[kept], return_inverse=True)
    here, there = np.divmod(pairs, max(1, len(groups)))
    entries = distinct[here] * distinct[there]
    table = np.cumsum(entries) - entries
    breaks = np.zeros(int(entries.sum()), bool)
    size = np.bincount(of_row[inside], minlength=len(groups))
    # any row with a value stands for it
    row = np.zeros(secret.width, np.int64)
    row[secret.codes] = np.arange(len(group))
    limits = secret.constraints.neighbour_limit_arrays(len(group))
    conditions = secret.constraints.condition_arrays()
    degree = np.zeros((len(limits.windowed), len(value)), np.int64)
    entry_degrees(limits, first, row[value], count, degree)
    swap_verdicts(
        limits, conditions, first, row[value], count, degree, size, here, there, table, scratch_counts(conditions), breaks
    )
    return SwapVerdicts(
        groups, first, value, count, size, one[kept], other[kept], table[pair.reshape(-1)], breaks,
        of_row[one[kept]], of_row[other[kept]], int((~kept).sum()),
    )  # fmt: skip


def _affordable(ones: Integers, others: Integers, pair: Integers) -> Flags:
    """Return which swaps are used, by the secrets of both groups and the number of the pair of groups: all, or a sample."""
    kept = np.ones(len(pair), bool)
    draw = np.random.default_rng(len(pair))
    for work, most, unit in (
        (ones * others * (ones + others), _TABLE_WORK, pair),
        (ones * others, _MESSAGE_WORK, np.arange(len(pair))),
    ):
        _, number, position = np.unique(unit, return_index=True, return_inverse=True)
        shuffled = draw.permutation(len(number))
        enough = np.cumsum(work[number[shuffled]]) <= most
        chosen = np.zeros(len(number), bool)
        chosen[shuffled[enough]] = True
        kept &= chosen[position.reshape(-1)]
    return kept

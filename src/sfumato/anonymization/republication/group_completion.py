"""Complete groups that fail: add a new person with a candidate that is missing, or merge with a group that has it.

Somebody left, and took a candidate along that others of the group still need. The nearest new person who has it takes the
place, or the nearest group that contains it joins, whichever costs less.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.republication.group_costs import Extents, GroupCosts
from sfumato.anonymization.republication.multisets import Multisets
from sfumato.anonymization.republication.partition_checks import NONE, Findings, Partition, PartitionChecks
from sfumato.progress import Progress, silent

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_NEAREST = 12
"""How many new people, and how many groups, with a wanted candidate are considered for a group."""

_ANYBODY = 48
"""The same for a group that fails by itself, to which any candidate may help."""

_TESTED = 48
"""How many partners of a group are tested, the cheapest first."""

ROW, GROUP = 0, 1
"""What a partner is: a new person, by the number of the row, or a group."""


class Partners(NamedTuple):
    """Pairs of a group and a partner that it may get."""

    group: Integers
    what: Integers
    """ROW or GROUP."""
    number: Integers
    cost: Floats
    """By how much the total cost rises."""

    def take(self, at: Integers) -> Partners:
        """Return some of the pairs."""
        return Partners(self.group[at], self.what[at], self.number[at], self.cost[at])


class GroupCompletion:
    """Completes groups in rounds: in each, every failing group gets at most one partner, the cheapest that is free."""

    def __init__(self, checks: PartitionChecks, costs: GroupCosts, stratum: Integers, progress: Progress = silent) -> None:
        self.checks = checks
        self.costs = costs
        self.stratum = stratum
        self.progress = progress

    def complete(self, partition: Partition, *, wholly: bool) -> Partition:
        """Return groups of which as few fail as this finds. New people may get a group; nobody loses the group.

        `wholly`: a group gets only a partner with which nothing fails. Otherwise also one that makes no more fail than
        before, so that groups grow until they hold; that is the last resort, because many groups may become one.
        """
        findings = self.checks(partition)
        failing = findings.groups[findings.fails]
        before = len(failing)
        while len(failing):
            self.progress("completing groups", 1 - len(failing) / max(1, before))
            chosen = self._chosen(partition, failing, wholly)
            if not chosen:
                break
            partition = joined(partition, chosen)
            again = self.checks(partition, np.intersect1d(failing, partition.groups))
            failing = again.groups[again.fails]
        return partition

    def _chosen(self, partition: Partition, failing: Integers, wholly: bool) -> list[tuple[int, int, int]]:
        """Return for each failing group a partner that fits, as (group, what, number); nobody is a partner twice."""
        findings = self.checks(partition, failing)
        found = [*self._near(partition, findings)]
        pairs = Partners(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
        # the cheapest of each group
        order = np.lexsort((pairs.cost, pairs.group))
        pairs = pairs.take(order)
        rank = np.arange(len(order)) - np.searchsorted(pairs.group, pairs.group)
        pairs = pairs.take(np.flatnonzero(rank < _TESTED))
        pairs = pairs.take(np.flatnonzero(self._fits(partition, pairs, findings, wholly)))
        chosen: list[tuple[int, int, int]] = []
        used: set[tuple[int, int]] = set()
        for at in np.argsort(pairs.cost, kind="stable").tolist():
            own, partner = (GROUP, int(pairs.group[at])), (int(pairs.what[at]), int(pairs.number[at]))
            if own not in used and partner not in used:
                used |= {own, partner}
                chosen.append((own[1], *partner))
        return chosen

    def _fits(self, partition: Partition, pairs: Partners, findings: Findings, wholly: bool) -> NDArray[np.bool_]:
        """Return for each pair whether the group may get the partner: all unions are checked at once."""
        merging, joining = np.flatnonzero(pairs.what == GROUP), np.flatnonzero(pairs.what == ROW)

        def unions(of_group: Integers) -> tuple[Integers, Integers]:
            members = Members.of(of_group, partition.end)
            one, owner = members.of_groups(pairs.group)
            other, others = members.of_groups(pairs.number[merging])
            return np.concatenate([owner, merging[others]]), np.concatenate([one, other])

        owner, rows = unions(partition.label)
        false_owner, false = unions(partition.false_group)
        found = self.checks.of_members(
            np.concatenate([owner, joining]),
            np.concatenate([rows, pairs.number[joining]]),
            len(pairs.group),
            false_owner,
            partition.false_value[false],
        )
        if wholly:
            return ~found.fails
        before = np.zeros(partition.end, np.int64)
        every = self.checks(partition)
        np.add.at(before, every.groups[every.atom_group[~every.atom_holds]], 1)
        held = np.ones(partition.end, bool)
        held[findings.groups] = findings.holds
        after = np.bincount(found.atom_group[~found.atom_holds], minlength=len(pairs.group))
        allowed = before[pairs.group]
        allowed[merging] += before[pairs.number[merging]]
        return np.asarray((after <= allowed) & (found.holds | ~held[pairs.group]))

    def _near(self, partition: Partition, findings: Findings) -> Iterator[Partners]:
        """Yield pairs of a failing group and a partner near it that has a candidate which the group lacks."""
        people, extents = self.checks.people, self.costs.extents(partition)
        centres, label = self.costs.centres(partition), partition.label
        yield Partners(NONE, NONE, NONE, np.zeros(0))
        inside, free = np.flatnonzero(label >= 0), np.flatnonzero(label < 0)
        own_stratum = np.zeros(partition.end, np.int64)
        own_stratum[label[inside]] = self.stratum[inside]
        mean = float(extents.cost @ extents.size) / max(1, len(inside))

        def near(groups: Integers, rows: Integers, others: Integers, most: int) -> Iterator[Partners]:
            for what, numbers, points in ((ROW, rows, self.costs.points), (GROUP, others, centres)):
                i, j = nearest(centres[groups], points[numbers], most + (what == GROUP))
                one, other = groups[i], numbers[j]
                fits = own_stratum[one] == (self.stratum if what == ROW else own_stratum)[other]
                fits &= (what == ROW) | (one != other)
                one, other = one[fits], other[fits]
                yield Partners(one, np.full(len(one), what), other, self._cost(what, extents, one, other, mean))

        anything, wanting, wanted = _wants(findings, people.sets)
        if len(anything):
            yield from near(findings.groups[anything], free, partition.groups, _ANYBODY)
        published = Multisets.of(label[inside], people.value[inside], partition.end)
        by_value = np.argsort(published.values, kind="stable")
        free = free[np.argsort(people.value[free], kind="stable")]
        values, ordered = published.values[by_value], people.value[free]
        for value in np.unique(wanted).tolist():
            groups = findings.groups[wanting[wanted == value]]
            rows = free[slice(*np.searchsorted(ordered, [value, value + 1]))]
            others = published.owner[by_value[slice(*np.searchsorted(values, [value, value + 1]))]]
            yield from near(groups, rows, others, _NEAREST)

    def _cost(self, what: int, extents: Extents, one: Integers, other: Integers, mean: float) -> Floats:
        if what == GROUP:
            return self.costs.merged(extents, one, extents, other)
        # whoever joins here costs nothing elsewhere
        return self.costs.merged(extents, one, self.costs.of_rows(other), np.arange(len(other))) - mean


class Members(NamedTuple):
    """The rows of groups, group by group."""

    rows: Integers
    offsets: Integers

    @classmethod
    def of(cls, label: Integers, end: int) -> Members:
        """List the rows of the groups up to a number; rows with a negative group are left out."""
        rows = np.flatnonzero(label >= 0)
        rows = rows[np.argsort(label[rows], kind="stable")]
        return cls(rows, np.searchsorted(label[rows], np.arange(end + 1)))

    def of_groups(self, groups: Integers) -> tuple[Integers, Integers]:
        """Return the rows of some groups, and to which of these each belongs."""
        sizes = np.diff(self.offsets)[groups]
        first = np.cumsum(sizes) - sizes
        at = np.arange(int(sizes.sum())) + np.repeat(self.offsets[groups] - first, sizes)
        return self.rows[at], np.repeat(np.arange(len(groups)), sizes)


def joined(partition: Partition, pairs: list[tuple[int, int, int]]) -> Partition:
    """Return the partition in which each group of `pairs` has its partner; no group occurs twice."""
    into = np.arange(partition.end + 1)
    label = partition.label.copy()
    for group, what, number in pairs:
        if what == GROUP:
            into[number] = group
        else:
            label[number] = group
    into[-1] = -1  # rows without a group
    return Partition(into[label], into[partition.false_group], partition.false_value)


def _wants(findings: Findings, sets: Multisets) -> tuple[Integers, Integers, Integers]:
    """Return which groups want anybody, and pairs of a group and a candidate that an atom of it lacks, by position."""
    failing = np.flatnonzero(findings.fails[findings.atom_group] & ~findings.atom_holds)
    at, which = sets.entries(findings.atom_set[failing])
    lacking = sets.counts[at] > findings.common.count_of(failing[which], sets.values[at])
    group, value = findings.atom_group[failing[which[lacking]]], sets.values[at[lacking]]
    pairs = np.unique(np.column_stack([group, value]), axis=0)
    anything = ~findings.holds
    anything[pairs[:, 0]] = False
    return np.flatnonzero(anything), pairs[:, 0], pairs[:, 1]


def nearest(points: Floats, others: Floats, most: int) -> tuple[Integers, Integers]:
    """Return for each point the nearest other points, as pairs of positions."""
    from scipy.spatial import cKDTree

    most = min(most, len(others))
    if not most or not len(points):
        return NONE, NONE
    _, found = cKDTree(others).query(points, most)
    found = np.asarray(found, np.int64).reshape(len(points), most)
    return np.repeat(np.arange(len(points)), most), found.ravel()

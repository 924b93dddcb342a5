"""Split groups that are larger than they need to be, where both halves meet all requirements."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.republication.group_costs import GroupCosts
from sfumato.anonymization.republication.partition_checks import Partition, PartitionChecks

Integers = NDArray[np.int64]


def split_groups(checks: PartitionChecks, costs: GroupCosts, partition: Partition, least: int) -> Partition:
    """Cut groups along their costliest attributes, again and again, while every half meets the requirements.

    `least`: the fewest people of a group. Groups with counterfeits stay whole. Cost: for each generation of cuts one check
    of the large groups for each attribute.
    """
    large = large_groups(partition, partition.groups, least)
    while len(large):
        order = np.argsort(-costs.extents(partition).columns, axis=1, kind="stable")
        made: list[Integers] = []
        waiting = large
        for attempt in range(order.shape[1]):
            trial, halves = _cut(costs, partition, waiting, order[:, attempt])
            if not len(halves):
                continue
            findings = checks(trial, halves.ravel())
            fine = ~findings.fails.reshape(halves.shape).any(axis=1)
            # halves are the group itself and a new one: the new one goes back where a half fails
            into = np.arange(trial.end + 1)
            into[halves[~fine, 1]] = halves[~fine, 0]
            into[-1] = -1
            label = into[trial.label]
            partition = partition.relabelled(label)
            made.append(halves[fine].ravel())
            waiting = np.setdiff1d(waiting, halves[fine, 0])
        large = large_groups(partition, np.unique(np.concatenate(made)) if made else np.zeros(0, np.int64), least)
    return partition


def large_groups(partition: Partition, groups: Integers, least: int) -> Integers:
    """Return those of some groups that are large enough for two, and contain no counterfeit."""
    sizes = np.bincount(partition.label[partition.label >= 0], minlength=partition.end)
    return np.setdiff1d(groups[sizes[groups] >= 2 * max(1, least)], partition.false_group)


def _cut(
    costs: GroupCosts, partition: Partition, groups: Integers, attribute: Integers
) -> tuple[Partition, NDArray[np.int64]]:
    """Cut some groups in two, each along an attribute, next to its middle; return pairs of a group and its new half."""
    label = partition.label
    inside = np.zeros(partition.end + 1, bool)
    inside[groups] = True
    rows = np.flatnonzero(inside[label] & (label >= 0))
    place = costs.places[rows, attribute[label[rows]]]
    order = np.lexsort((place, label[rows]))
    rows, place = rows[order], place[order]
    own = label[rows]
    starts = np.searchsorted(own, groups)
    sizes = np.searchsorted(own, groups, "right") - starts
    which = np.repeat(np.arange(len(groups)), sizes)
    within = np.arange(len(rows)) - starts[which]
    # a cut before a row whose place differs from that of the row before it
    cuts = np.flatnonzero((within > 0) & (place != np.concatenate([place[:1], place[:-1]])))
    far = np.abs(2 * within[cuts] - sizes[which[cuts]])
    best = np.lexsort((far, which[cuts]))
    first = best[np.unique(which[cuts][best], return_index=True)[1]]
    chosen = cuts[first]
    halves = np.column_stack([groups[which[chosen]], partition.end + np.arange(len(chosen))])
    at = np.full(len(groups), len(rows))
    at[which[chosen]] = within[chosen]
    number = np.zeros(len(groups), np.int64)
    number[which[chosen]] = halves[:, 1]
    after = within >= at[which]
    label = label.copy()
    label[rows[after]] = number[which[after]]
    return partition.relabelled(label), halves

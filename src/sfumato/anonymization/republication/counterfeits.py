"""Counterfeits: published rows that stand for nobody, so that others keep a candidate whose owner has left."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.republication.partition_checks import Findings, Partition, PartitionChecks

Integers = NDArray[np.int64]


def with_counterfeits(checks: PartitionChecks, partition: Partition) -> Partition:
    """Add a counterfeit to each failing group, again and again, until nothing fails that counterfeits can repair.

    A counterfeit has a candidate that people of the group had in all earlier groups, and lack here. A group that fails by
    itself, or in spite of all these, keeps no counterfeit.
    """
    findings = checks(partition)
    failing = findings.groups[findings.fails]
    while len(failing):
        findings = checks(partition, failing)
        group, value = _lacking(checks, findings)
        hopeless = np.setdiff1d(findings.groups[findings.fails], group)
        kept = ~np.isin(partition.false_group, hopeless)
        partition = Partition(
            partition.label,
            np.concatenate([partition.false_group[kept], group]),
            np.concatenate([partition.false_value[kept], value]),
        )
        failing = np.intersect1d(failing, group)
    return _without_spare(checks, partition)


def _without_spare(checks: PartitionChecks, partition: Partition) -> Partition:
    """Remove counterfeits without which nothing fails, at most one of a group at a time."""
    tried = np.zeros(len(partition.false_group), bool)
    while not tried.all():
        waiting = np.flatnonzero(~tried)
        groups, first = np.unique(partition.false_group[waiting], return_index=True)
        chosen = waiting[first]
        tried[chosen] = True
        kept = np.ones(len(tried), bool)
        kept[chosen] = False
        trial = Partition(partition.label, partition.false_group[kept], partition.false_value[kept])
        needed = checks(trial, groups).fails | checks(partition, groups).fails
        kept[chosen[needed]] = True
        partition = Partition(partition.label, partition.false_group[kept], partition.false_value[kept])
        tried = tried[kept]
    return partition


def _lacking(checks: PartitionChecks, findings: Findings) -> tuple[Integers, Integers]:
    """Return for each failing group a candidate that a failing atom lacks, one that is not left at all if there is one."""
    sets = checks.people.sets
    failing = np.flatnonzero(~findings.atom_holds)
    at, which = sets.entries(findings.atom_set[failing])
    left = findings.common.count_of(failing[which], sets.values[at])
    lacking = np.flatnonzero(sets.counts[at] > left)
    group = findings.atom_group[failing[which[lacking]]]
    order = np.lexsort((sets.values[at[lacking]], left[lacking], group))
    first = order[np.unique(group[order], return_index=True)[1]]
    return findings.groups[group[first]], sets.values[at[lacking[first]]]

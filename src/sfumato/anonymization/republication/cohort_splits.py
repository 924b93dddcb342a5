"""Take people with the same history out of a group that is larger than they need, with those whose candidates they need."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.republication.group_costs import GroupCosts
from sfumato.anonymization.republication.group_splits import large_groups
from sfumato.anonymization.republication.multisets import Multisets
from sfumato.anonymization.republication.partition_checks import Partition, PartitionChecks

Integers = NDArray[np.int64]

_MOST = 24
"""How many cohorts of a group are tried in a generation of splits."""


def split_cohorts(checks: PartitionChecks, costs: GroupCosts, partition: Partition, least: int) -> Partition:
    """Split groups in two while both parts meet the requirements: a cohort with those whom it needs, and the others.

    A cohort consists of the people of a group who have the same signatures. Those whom it needs are, for each candidate of
    the signature that it lacks, the nearest person of the group who has it.
    """
    waiting = large_groups(partition, partition.groups, least)
    while len(waiting):
        made: list[Integers] = []
        parts = _parts(checks, costs, partition, waiting, least)
        for attempt in range(max(map(len, parts.values()), default=0)):
            chosen = {group: options[attempt] for group, options in parts.items() if attempt < len(options)}
            if not chosen:
                break
            groups = np.array(list(chosen), np.int64)
            new = partition.end + np.arange(len(groups))
            label = partition.label.copy()
            for number, rows in zip(new.tolist(), chosen.values(), strict=True):
                label[rows] = number
            findings = checks(partition.relabelled(label), np.concatenate([groups, new]))
            fine = np.asarray(~findings.fails.reshape(2, -1).any(axis=0))
            for group, good in zip(groups.tolist(), fine.tolist(), strict=True):
                if good:
                    del parts[group]
                else:
                    label[chosen[group]] = group
            partition = partition.relabelled(label)
            made += [groups[fine], new[fine]]
        waiting = large_groups(partition, np.concatenate(made) if made else waiting[:0], least)
    return partition


def _parts(
    checks: PartitionChecks, costs: GroupCosts, partition: Partition, groups: Integers, least: int
) -> dict[int, list[Integers]]:
    """Return for each group parts that may be taken out, the largest cohorts first."""
    people, inside = checks.people, np.isin(partition.label, groups)
    rows = np.flatnonzero(inside)
    keys = np.column_stack([partition.label[rows], people.signatures[rows]])
    order = np.lexsort(keys.T[::-1])
    rows, keys = rows[order], keys[order]
    starts = np.flatnonzero(np.concatenate([[True], (keys[1:] != keys[:-1]).any(axis=1)]))
    cohorts: dict[int, list[Integers]] = {}
    for cohort in np.split(rows, starts[1:]):
        cohorts.setdefault(int(partition.label[cohort[0]]), []).append(cohort)
    members = {int(group): np.flatnonzero(partition.label == group) for group in groups}
    found: dict[int, list[Integers]] = {}
    for group, own in cohorts.items():
        if len(own) < 2:
            continue
        for cohort in sorted(own, key=len, reverse=True)[:_MOST]:
            part = _completed(people.value, people.sets, people.signatures, costs, cohort, members[group])
            if least <= len(part) <= len(members[group]) - least:
                found.setdefault(group, []).append(part)
    return found


def _completed(
    value: Integers, sets: Multisets, signatures: Integers, costs: GroupCosts, cohort: Integers, members: Integers
) -> Integers:
    """Return a cohort with the nearest members of its group who have the candidates that it lacks."""
    signature = int(signatures[cohort[0], 0])
    others = np.setdiff1d(members, cohort)
    if signature < 0 or not len(others):
        return cohort
    entries = slice(sets.offsets[signature], sets.offsets[signature + 1])
    own = value[cohort]
    far = ((costs.points[others] - costs.points[cohort].mean(axis=0)) ** 2).sum(axis=1)
    near = others[np.argsort(far, kind="stable")]
    taken = []
    for wanted, times in zip(sets.values[entries].tolist(), sets.counts[entries].tolist(), strict=True):
        lacking = times - int((own == wanted).sum())
        if lacking > 0:
            taken.append(near[value[near] == wanted][:lacking])
    return np.concatenate([cohort, *taken])

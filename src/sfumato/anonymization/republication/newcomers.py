"""Let new people join groups near them, where that costs less than a group of new people alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.republication.group_completion import ROW, joined, nearest
from sfumato.anonymization.republication.group_costs import GroupCosts
from sfumato.anonymization.republication.partition_checks import Partition, PartitionChecks

Integers = NDArray[np.int64]

_NEAREST = 8
"""How many groups near a new person are considered."""

_ROUNDS = 20
"""How often groups of new people are dissolved at most; a round adds at most one person to a group."""


def place_newcomers(
    checks: PartitionChecks, costs: GroupCosts, stratum: Integers, partition: Partition, first: int
) -> Partition:
    """Dissolve groups of new people whose members cost less in other groups, all of them or none.

    `first`: the number of the first group of new people; all others have lower numbers. A group of new people that fails is
    dissolved at any cost. A new person joins no group that fails, and none that would fail then.
    """
    refused: set[tuple[int, int]] = set()
    for _ in range(_ROUNDS):
        groups = partition.groups
        new, old = groups[groups >= first], groups[groups < first]
        if not len(new) or not len(old):
            break
        findings = checks(partition)
        failing = set(findings.groups[findings.fails].tolist())
        old = np.array([group for group in old.tolist() if group not in failing], np.int64)
        chosen = _chosen(costs, stratum, partition, new, old, failing, refused)
        if not chosen:
            break
        trial = joined(partition, [pair for pairs in chosen for pair in pairs])
        again = checks(trial, np.array([group for pairs in chosen for group, _, _ in pairs], np.int64))
        bad = set(again.groups[again.fails].tolist())
        good = []
        for pairs in chosen:
            wrong = [(group, row) for group, _, row in pairs if group in bad]
            refused.update(wrong)
            good += [] if wrong else pairs
        partition = joined(partition, good)
    return partition


def _chosen(
    costs: GroupCosts,
    stratum: Integers,
    partition: Partition,
    new: Integers,
    old: Integers,
    failing: set[int],
    refused: set[tuple[int, int]],
) -> list[list[tuple[int, int, int]]]:
    """Return for each group of new people to dissolve which group each of its rows joins; no group gets two rows."""
    label, extents = partition.label, costs.extents(partition)
    rows = np.flatnonzero(np.isin(label, new))
    own_stratum = np.zeros(partition.end, np.int64)
    own_stratum[label] = stratum
    who, where = nearest(costs.points[rows], costs.centres(partition)[old], _NEAREST)
    row, group = rows[who], old[where]
    fits = stratum[row] == own_stratum[group]
    row, group = row[fits], group[fits]
    cost = costs.merged(extents, group, costs.of_rows(row), np.arange(len(row)))
    options: dict[int, list[tuple[float, int]]] = {}
    for at in np.argsort(cost, kind="stable").tolist():
        if (int(group[at]), int(row[at])) not in refused:
            options.setdefault(int(row[at]), []).append((float(cost[at]), int(group[at])))
    members: dict[int, list[int]] = {}
    for member in rows.tolist():
        members.setdefault(int(label[member]), []).append(member)
    gains = []
    for number, own in members.items():
        if all(member in options for member in own):
            gain = float(extents.cost[number] * extents.size[number]) - sum(options[member][0][0] for member in own)
            gains.append((np.inf if number in failing else gain, number))
    used: set[int] = set()
    chosen = []
    for gain, number in sorted(gains, reverse=True):
        if gain <= 0:
            break
        pairs, taken, spent = [], set(used), 0.0
        for member in members[number]:
            free = next(((price, target) for price, target in options[member] if target not in taken), None)
            if free is None:
                break
            spent += free[0]
            taken.add(free[1])
            pairs.append((free[1], ROW, member))
        whole = float(extents.cost[number] * extents.size[number])
        if len(pairs) == len(members[number]) and (number in failing or spent < whole):
            used = taken
            chosen.append(pairs)
    return chosen

"""Find groups for a new version of a table in which nobody's candidates are narrowed below the requirements.

People who were in one group stay together. Groups that fail, because somebody left or changed, are completed with new people
or merged with other groups. The method groups the new people who are left. Large groups are split where possible.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods import Method, Task
from sfumato.anonymization.republication.cohort_splits import split_cohorts
from sfumato.anonymization.republication.counterfeits import with_counterfeits
from sfumato.anonymization.republication.group_completion import GroupCompletion
from sfumato.anonymization.republication.group_costs import GroupCosts
from sfumato.anonymization.republication.group_splits import split_groups
from sfumato.anonymization.republication.newcomers import place_newcomers
from sfumato.anonymization.republication.partition_checks import Partition, PartitionChecks, People
from sfumato.anonymization.republication.requirement_verdicts import RequirementVerdicts
from sfumato.anonymization.unit_groups import find_groups
from sfumato.data.groups import combination_ranks
from sfumato.errors import ParameterError, RequirementError
from sfumato.progress import silent
from sfumato.releases.declarations import resolved_schema
from sfumato.seeds import secret_order

Integers = NDArray[np.int64]


def republished_groups(
    task: Task, people: People, verdicts: RequirementVerdicts, method: Method, seed: int, *, counterfeits: bool
) -> Partition:
    """Return groups of all rows. Some may fail, of which the caller suppresses the rows.

    `counterfeits`: whether counterfeits may be added. The search sees the rows in an order that only the seed reveals.
    """
    order = secret_order(seed, task.table.rows)
    people = people.take(order)
    checks = PartitionChecks(people, verdicts)
    costs = GroupCosts(task.search_space, order)
    stratum = np.zeros(len(order), np.int64) if task.strata is None else task.strata.of_row[order]
    completion = GroupCompletion(checks, costs, stratum, task.progress)
    partition = Partition(_blocks(people, stratum))
    partition = completion.complete(partition, wholly=True)
    new = np.flatnonzero(partition.label < 0)
    if len(new):
        task.progress("grouping new people")
        label = partition.label.copy()
        label[new] = partition.end + _groups_of_new(task, order[new], method, seed)
        partition = place_newcomers(checks, costs, stratum, partition.relabelled(label), partition.end)
    partition = completion.complete(partition, wholly=True)
    task.progress("splitting groups")
    least = max((principle.implied_k or 1 for principle in task.principles), default=1)
    partition = split_groups(checks, costs, partition, least)
    partition = split_cohorts(checks, costs, partition, least)
    if counterfeits:
        partition = with_counterfeits(checks, partition)
    if checks(partition).fails.any():
        partition = completion.complete(partition, wholly=False)
        if counterfeits:
            partition = with_counterfeits(checks, partition)
    label = np.empty(len(order), np.int64)
    label[order] = partition.label
    return partition.relabelled(label)


def _blocks(people: People, stratum: Integers) -> Integers:
    """Return for each row the group that it starts in: with those of the same last group, as far as cells may join them."""
    known = np.flatnonzero(~people.new)
    label = np.full(len(people.block), -1)
    label[known] = combination_ranks(
        [people.block[known].astype(np.int32), stratum[known].astype(np.int32)],
        [int(people.block.max()) + 1, int(stratum.max()) + 1],
    )
    return label


def _groups_of_new(task: Task, rows: Integers, method: Method, seed: int) -> Integers:
    """Return groups of new people; each alone if there are too few of them for a group."""
    table = task.table.take(rows, resolved_schema(task.table))
    try:
        part = replace(Task(table, task.principles), progress=silent)
        return np.asarray(find_groups(part, method, seed).of_row, np.int64)
    except (ParameterError, RequirementError):
        return np.arange(len(rows))

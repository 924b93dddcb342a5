"""Find groups for a new version of a table: lineages continue with the same candidates, and new people form new groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods import Method, Task
from sfumato.anonymization.republication.group_costs import GroupCosts
from sfumato.anonymization.republication.matched_people import MatchedPeople
from sfumato.anonymization.republication.new_lineages import Holds, completing_values, groups_of_new
from sfumato.anonymization.republication.slot_filling import filled_slots
from sfumato.seeds import secret_order

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RepublishedGroups:
    """Groups of rows, each of which is a lineage; -1 for a row that is in none."""

    label: Integers
    false_group: Integers
    """The group of each counterfeit."""
    false_value: Integers
    """The candidate of each counterfeit."""
    new: Integers
    """The rows that are in a new lineage, or in none although they are new."""
    vacant: int
    """How many slots of lineages are vacant that are not published."""


def republished_groups(
    task: Task, matched: MatchedPeople, method: Method, seed: int, counterfeits: int, holds: Holds
) -> RepublishedGroups:
    """Continue every lineage of which somebody is left, and let a method group the new people who fill no slot.

    `counterfeits`: how many may be added. `holds`: whether the requirements hold in multisets of candidates. New people are
    considered in an order that only the seed reveals.
    """
    order = secret_order(seed, task.table.rows)
    stratum = np.zeros(len(order), np.int64) if task.strata is None else task.strata.of_row
    task.progress("filling slots")
    costs = GroupCosts(task.search_space)
    found = filled_slots(matched, costs, stratum, order, counterfeits)
    label = np.full(len(order), -1)
    for (lineage, _), row in found.holder.items():
        label[row] = lineage
    false = [(lineage, matched.lineages[lineage][slot]) for lineage, slots in found.vacant.items() for slot in slots]
    new = np.flatnonzero(matched.new & (label < 0))
    if len(new):
        task.progress("grouping new people")
        label[new] = len(matched.lineages) + groups_of_new(task, new, method, seed)
        false += completing_values(matched, new, label[new], holds, counterfeits - len(false))
    group, value = np.array(false, np.int64).reshape(-1, 2).T
    vacant = sum(len(matched.lineages[lineage]) for lineage in found.dropped) - sum(
        lineage in found.dropped for lineage, _ in matched.holder
    )
    return RepublishedGroups(label, group, value, new, vacant)

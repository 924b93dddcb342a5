"""Groups of new people who fill no slot: by a method and, where too few different people are new, with counterfeits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods import Method, Task
from sfumato.anonymization.republication.matched_people import MatchedPeople
from sfumato.anonymization.unit_groups import find_groups, merged_groups
from sfumato.data.groups import dense_ranks
from sfumato.errors import ParameterError, RequirementError
from sfumato.releases.declarations import resolved_schema

Integers = NDArray[np.int64]
Holds = Callable[[Sequence[Sequence[int]]], list[bool]]
"""Whether the requirements hold in each of some multisets of candidates."""


def groups_of_new(task: Task, rows: Integers, method: Method, seed: int) -> Integers:
    """Return groups of new people; those that fail are merged with others as far as that helps."""
    part = Task(task.table.take(rows, resolved_schema(task.table)), task.principles)
    try:
        of_row = np.asarray(find_groups(part, method, seed).of_row, np.int64)
        return of_row if part.satisfied(of_row).all() else merged_groups(part, of_row)
    except (ParameterError, RequirementError):  # fewer people than k, or limits that keep too few of them together
        return np.zeros(len(rows), np.int64) if task.strata is None else dense_ranks(task.strata.of_row[rows])


def completing_values(
    matched: MatchedPeople, rows: Integers, of_row: Integers, holds: Holds, most: int
) -> list[tuple[int, int]]:
    """Return counterfeits, as pairs of a group and a candidate, with which groups that fail satisfy the requirements.

    `most`: how many there may be in all; small groups are completed first. A group that cannot be completed gets none. The
    candidates are those of most people of the table that the group does not contain, one after another.
    """
    frequent = [int(value) for value in np.argsort(-np.bincount(matched.value), kind="stable")]
    members: dict[int, list[int]] = {}
    for row, group in zip(rows.tolist(), of_row.tolist(), strict=True):
        members.setdefault(group, []).append(int(matched.value[row]))
    fails = [group for group, good in zip(members, holds(list(members.values())), strict=True) if not good]
    found: list[tuple[int, int]] = []
    for group in sorted(fails, key=lambda group: len(members[group])):
        added: list[int] = []
        while len(added) < most - len(found):
            counts = Counter([*members[group], *added])
            added.append(min(frequent, key=lambda value: counts[value]))  # of equal ones the most frequent
            if holds([[*members[group], *added]])[0]:
                found += [(group, value) for value in added]
                break
    return found

"""The condition on republished groups: each of them, and what is left of everybody's candidates, meets the requirements."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.republication.multisets import Multisets
from sfumato.anonymization.republication.requirement_verdicts import RequirementVerdicts

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


NONE: Integers = np.zeros(0, np.int64)
"""No numbers."""


@dataclass(frozen=True, eq=False)
class People:
    """The rows of a new version: what each publishes, and the candidates that the person has from earlier releases."""

    value: Integers
    """The candidate of each row."""
    signatures: Integers
    """Two columns: for each row the signature of all earlier groups of the person, and that since the candidate last
    changed; -1 where there is none."""
    block: Integers
    """A number that people share who were last in the same group; -1 for people who are new."""
    sets: Multisets
    """The signatures."""

    @property
    def new(self) -> Flags:
        """Who is new."""
        return np.asarray(self.block < 0)

    def take(self, rows: Integers) -> People:
        """Return some of the rows, in their order."""
        return People(self.value[rows], self.signatures[rows], self.block[rows], self.sets)


@dataclass(frozen=True, eq=False)
class Partition:
    """Groups of rows, and counterfeits in them. `label[row]` is the group of a row, -1 if it has none; gaps are allowed."""

    label: Integers
    false_group: Integers = field(default_factory=NONE.copy)
    """The group of each counterfeit."""
    false_value: Integers = field(default_factory=NONE.copy)
    """The candidate of each counterfeit."""

    @property
    def end(self) -> int:
        """A number beyond all groups."""
        return int(self.label.max(initial=-1)) + 1

    @property
    def groups(self) -> Integers:
        """The groups that have rows."""
        return np.unique(self.label[self.label >= 0])

    def relabelled(self, label: Integers) -> Partition:
        """Return other groups of the rows, with the same counterfeits."""
        return Partition(label, self.false_group, self.false_value)


@dataclass(frozen=True, eq=False)
class Findings:
    """What is wrong with some groups. An atom is a group with a signature that people of it have."""

    groups: Integers
    holds: Flags
    """For each of the groups whether its own candidates meet the requirements."""
    atom_group: Integers
    """For each atom the position of its group."""
    atom_set: Integers
    """For each atom its signature."""
    atom_holds: Flags
    common: Multisets
    """For each atom what is left of the signature."""

    @property
    def fails(self) -> Flags:
        """For each of the groups whether it, or an atom of it, does not meet the requirements."""
        bad = ~self.holds
        bad[self.atom_group[~self.atom_holds]] = True
        return bad


class PartitionChecks:
    """Checks groups of people against the requirements, exactly."""

    def __init__(self, people: People, verdicts: RequirementVerdicts) -> None:
        self.people = people
        self.verdicts = verdicts

    def __call__(self, partition: Partition, groups: Integers | None = None) -> Findings:
        """Check some groups, or all."""
        groups = partition.groups if groups is None else groups
        position = np.full(max(partition.end, int(groups.max(initial=-1)) + 1) + 1, -1)  # the last is for rows without one
        position[groups] = np.arange(len(groups))
        inside, false = position[partition.label], position[partition.false_group]
        rows = np.flatnonzero(inside >= 0)
        found = self.of_members(inside[rows], rows, len(groups), false[false >= 0], partition.false_value[false >= 0])
        return replace(found, groups=groups)

    def of_members(
        self, owner: Integers, rows: Integers, count: int, false_owner: Integers = NONE, false_value: Integers = NONE
    ) -> Findings:
        """Check groups that may overlap: `owner[i]` contains the row `rows[i]`; groups are numbered from 0 to `count`."""
        people, sets = self.people, self.people.sets
        values = np.concatenate([people.value[rows], false_value])
        published = Multisets.of(np.concatenate([owner, false_owner]), values, count)
        width = max(1, len(sets))
        keys = owner[:, None] * width + people.signatures[rows]
        atom_group, atom_set = np.divmod(np.unique(keys[people.signatures[rows] >= 0]), width)
        common = sets.common(atom_set, published, atom_group)
        holds = self.verdicts(published)
        return Findings(np.arange(count), holds, atom_group, atom_set, self.verdicts(common), common)

"""Fill the slots of people who left with new people who have the same candidate, at the least loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.republication.group_costs import GroupCosts
from sfumato.anonymization.republication.matched_people import MatchedPeople

Integers = NDArray[np.int64]
Slot = tuple[int, int]
"""The number of a lineage, and that of a slot in it."""

_AT_ONCE = 1500
"""The number of slots, and of new people, that are assigned to one another at once; takes cubic time."""

_PRICE = 1.0
"""A counterfeit is preferred to a new person who raises the loss by more than this many rows whose cells are all `*`."""

_FORBIDDEN = 1e12
"""The cost of somebody whom limits on cells keep out of a group."""


@dataclass(eq=False)
class FilledSlots:
    """Who occupies which slot; what is left of it if a lineage cannot be published."""

    holder: dict[Slot, int]
    """The row of each slot that is occupied."""
    vacant: dict[int, list[int]] = field(default_factory=dict)
    """For each lineage the slots that nobody occupies: those of counterfeits."""
    dropped: set[int] = field(default_factory=set)
    """The lineages that are not published."""

    @property
    def counterfeits(self) -> int:
        """How many slots are vacant."""
        return sum(map(len, self.vacant.values()))


def filled_slots(
    matched: MatchedPeople, costs: GroupCosts, stratum: Integers, order: Integers, counterfeits: int
) -> FilledSlots:
    """Assign new people to the slots of people who left, so that the loss is least, and drop lineages with vacant slots.

    `order`: the order in which rows are considered where costs tie. `counterfeits`: how many slots may stay vacant: those
    for which there is nobody, and those that would cost most, if they cost more than a counterfeit is worth. The lineage
    with the largest share of vacant slots is dropped first, and those who were assigned to it are assigned again.
    """
    found = FilledSlots(dict(matched.holder))
    rows: dict[int, list[int]] = {}
    for (lineage, _), row in found.holder.items():
        rows.setdefault(lineage, []).append(row)
    # limits on cells may keep people apart whose quasi-identifiers changed
    found.dropped = {lineage for lineage, own in rows.items() if len(set(stratum[own].tolist())) > 1}
    open_slots: dict[int, list[Slot]] = {}
    for lineage in sorted(rows.keys() - found.dropped):
        for slot, value in enumerate(matched.lineages[lineage]):
            if (lineage, slot) not in found.holder:
                open_slots.setdefault(value, []).append((lineage, slot))
    new = order[matched.new[order]]
    paid: dict[Slot, float] = {}
    for value, slots in open_slots.items():
        free = new[matched.value[new] == value]
        for some, people in _portions(slots, free, rows, costs):
            paid |= _assign(found, some, people, rows, costs, stratum)
    spare = counterfeits - sum(map(len, open_slots.values())) + len(paid)
    dear = sorted((one for one, cost in paid.items() if cost > _PRICE * costs.width), key=lambda one: (-paid[one], one))
    for costly in dear[: max(0, spare)]:
        del found.holder[costly]
    for slots in open_slots.values():
        for lineage, slot in slots:
            if (lineage, slot) not in found.holder:
                found.vacant.setdefault(lineage, []).append(slot)
    _drop(found, matched, rows, stratum, counterfeits)
    return found


def _portions(
    slots: list[Slot], people: Integers, rows: dict[int, list[int]], costs: GroupCosts
) -> Iterator[tuple[list[Slot], Integers]]:
    """Cut many slots and people into portions, each with those who are near one another along one order."""
    portions = -(-max(len(slots), len(people)) // _AT_ONCE)
    if portions <= 1:
        yield slots, people
        return
    place = costs.places / np.maximum(1, costs.places.max(axis=0))
    along = place @ np.linspace(1, 2, place.shape[1])  # any fixed line
    by_slot = np.argsort([along[rows[lineage][0]] for lineage, _ in slots], kind="stable")
    by_person = np.argsort(along[people], kind="stable")
    for some, others in zip(np.array_split(by_slot, portions), np.array_split(by_person, portions), strict=True):
        yield [slots[at] for at in some.tolist()], people[others]


def _assign(
    found: FilledSlots,
    slots: list[Slot],
    people: Integers,
    rows: dict[int, list[int]],
    costs: GroupCosts,
    stratum: Integers,
) -> dict[Slot, float]:
    """Assign people to slots of one candidate at the least cost, and return the cost of each slot that is filled."""
    from scipy.optimize import linear_sum_assignment

    if not slots or not len(people):
        return {}
    lineages = list(dict.fromkeys(lineage for lineage, _ in slots))
    cost = costs.of_joining([rows[lineage] for lineage in lineages], people)
    cost[stratum[[rows[lineage][0] for lineage in lineages]][:, None] != stratum[people][None, :]] = _FORBIDDEN
    position = {lineage: at for at, lineage in enumerate(lineages)}
    cost = cost[[position[lineage] for lineage, _ in slots]]
    paid = {}
    for slot, person in zip(*linear_sum_assignment(cost), strict=True):
        if cost[slot, person] < _FORBIDDEN:
            found.holder[slots[slot]] = int(people[person])
            paid[slots[slot]] = float(cost[slot, person])
    return paid


def _drop(
    found: FilledSlots, matched: MatchedPeople, rows: dict[int, list[int]], stratum: Integers, counterfeits: int
) -> None:
    """Drop lineages until no more slots are vacant than counterfeits are allowed."""
    for lineage in found.dropped:
        _release(found, lineage, len(matched.lineages[lineage]))
    # the largest share of vacant slots last, from where lineages are dropped
    waiting = sorted(found.vacant, key=lambda lineage: (len(found.vacant[lineage]) / len(rows[lineage]), lineage))
    while found.counterfeits > counterfeits:
        lineage = waiting.pop()
        if lineage not in found.vacant:
            continue  # somebody took the slot meanwhile
        del found.vacant[lineage]
        found.dropped.add(lineage)
        members = set(rows[lineage])
        for row in _release(found, lineage, len(matched.lineages[lineage])):
            if row not in members:
                _take_vacant(found, matched, rows, stratum, row)


def _release(found: FilledSlots, lineage: int, slots: int) -> list[int]:
    """Return the rows that occupied the slots of a lineage, and leave it empty."""
    return [found.holder.pop((lineage, slot)) for slot in range(slots) if (lineage, slot) in found.holder]


def _take_vacant(
    found: FilledSlots, matched: MatchedPeople, rows: dict[int, list[int]], stratum: Integers, row: int
) -> None:
    """Give a new person a slot that is vacant and has the same candidate, if there is one."""
    value = int(matched.value[row])
    for lineage, slots in found.vacant.items():
        for slot in slots:
            if matched.lineages[lineage][slot] == value and stratum[rows[lineage][0]] == stratum[row]:
                found.holder[lineage, slot] = row
                slots.remove(slot)
                if not slots:
                    del found.vacant[lineage]
                return

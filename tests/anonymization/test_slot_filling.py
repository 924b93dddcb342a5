"""New people take the slots of people who left, at the least loss that any assignment has."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.anonymization.methods import Task
from sfumato.anonymization.republication.group_costs import GroupCosts
from sfumato.anonymization.republication.matched_people import MatchedPeople
from sfumato.anonymization.republication.slot_filling import filled_slots


def matched(values, lineages, holder):
    first = np.array([values.index(value) for value in range(max(values) + 1)])
    return MatchedPeople(np.array(values), [(str(v),) for v in range(9)], first, lineages, holder, np.zeros(0, np.int64), 0)


def extent(ages, rows):
    return (max(ages[row] for row in rows) - min(ages[row] for row in rows)) / 60 * len(rows)


@given(st.lists(st.integers(20, 80), min_size=4, max_size=8))
def test_the_assignment_is_the_best(ages):
    """Two lineages, of which each lost somebody with the value 0; everybody else is new and has it."""
    ages = [20, 80, *ages]
    values = [1, 1] + [0] * (len(ages) - 2)
    table = sf.Table(pa.table({"age": ages}), sf.Schema(["age"], kinds={"age": "numeric"}))
    people = matched(values, [(1, 0), (1, 0)], {(0, 0): 0, (1, 0): 1})
    costs = GroupCosts(Task(table, ()).search_space)
    found = filled_slots(people, costs, np.zeros(len(ages), np.int64), np.arange(len(ages)), 0)
    new = range(2, len(ages))
    best = min(extent(ages, [0, a]) + extent(ages, [1, b]) for a, b in permutations(new, 2))
    made = extent(ages, [0, found.holder[0, 1]]) + extent(ages, [1, found.holder[1, 1]])
    assert abs(made - best) < 1e-9
    assert not found.vacant
    assert not found.dropped


@given(
    st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=4), min_size=1, max_size=4),
    st.lists(st.integers(0, 3), max_size=6),
    st.integers(0, 4),
    st.randoms(use_true_random=False),
)
def test_what_is_published_is_complete(lineages, new, counterfeits, random):
    """Every slot of a lineage is occupied by somebody with its value, or vacant within the limit; the rest is dropped."""
    values, holder = [], {}
    for lineage, own in enumerate(lineages):
        for slot, value in enumerate(own):
            if random.random() < 0.6:
                holder[lineage, slot] = len(values)
                values.append(value)
    values += new
    if not holder:
        return
    values += [value for value in range(4) if value not in values]  # every candidate has a row
    people = matched(values, [tuple(own) for own in lineages], holder)
    table = sf.Table(pa.table({"age": np.arange(len(values))}), sf.Schema(["age"], kinds={"age": "numeric"}))
    found = filled_slots(
        people,
        GroupCosts(Task(table, ()).search_space),
        np.zeros(len(values), np.int64),
        np.arange(len(values)),
        counterfeits,
    )
    assert len(set(found.holder.values())) == len(found.holder)
    assert found.counterfeits <= counterfeits
    known = {lineage for lineage, _ in holder}
    for lineage in known - found.dropped:
        for slot, value in enumerate(lineages[lineage]):
            vacant = slot in found.vacant.get(lineage, [])
            assert vacant != ((lineage, slot) in found.holder)
            assert vacant or values[found.holder[lineage, slot]] == value
            assert (lineage, slot) not in holder or found.holder[lineage, slot] == holder[lineage, slot]
    assert not any(lineage in found.dropped or lineage not in known for lineage, _ in found.holder)

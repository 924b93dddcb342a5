"""The listing of groups: exactly the sets of rows that cost little enough, as trying all sets shows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.anonymization import Task
from sfumato.anonymization.exact_search.listed_groups import GroupSearch
from sfumato.anonymization.exact_search.possible_groups import PossibleGroups


@given(
    st.lists(
        st.tuples(st.one_of(st.none(), st.integers(0, 9)), st.sampled_from("abc"), st.integers(0, 6)), min_size=3, max_size=7
    ),
    st.sampled_from([sf.KAnonymity(2), sf.Dissimilarity(1, "0.5", 2), sf.DistinctLDiversity(2), sf.FrequencyLDiversity(2)]),
    st.floats(0, 4),
    st.integers(0, 2**31),
)
def test_exactly_the_groups_near_their_charges_are_listed(rows, principle, most, seed):
    ages, towns, secrets = zip(*rows, strict=True)
    frame = pa.table({"age": pa.array(ages, pa.int64()), "town": towns, "secret": secrets})
    schema = sf.Schema(["age", "town"], ["secret"], kinds={"age": "numeric", "secret": "numeric"})
    task = Task(sf.Table(frame, schema), (principle,))
    charge = np.random.default_rng(seed).uniform(-1, 3, len(rows))
    listing = GroupSearch(task, 10**6).listed(charge, most, 200)
    possible = PossibleGroups.of(task)
    charged = np.array([charge[[i for i in range(len(rows)) if mask >> i & 1]].sum() for mask in possible.masks.tolist()])
    wanted = possible.costs - charged <= most + 1e-9
    assert listing.complete
    assert sorted(listing.masks.tolist()) == possible.masks[wanted].tolist()
    costs = dict(zip(possible.masks.tolist(), possible.costs.tolist(), strict=True))
    assert [costs[mask] for mask in listing.masks.tolist()] == pytest.approx(listing.costs.tolist())


def test_a_listing_without_room_or_steps_is_not_complete():
    table = sf.Table(pa.table({"age": list(range(10))}), sf.Schema(["age"]))
    task = Task(table, (sf.KAnonymity(2),))
    assert not GroupSearch(task, 10**6).listed(np.zeros(10), 50.0, 20).complete
    assert not GroupSearch(task, 10).listed(np.zeros(10), 50.0, 2000).complete
    assert GroupSearch(task, 10**6).listed(np.zeros(10), 50.0, 2000).complete

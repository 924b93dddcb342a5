"""How many individuals are consistent with each row, by the join, against loops over all of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import unset
from sfumato.kernels.dictionary_join import joined_counts


def counted(rows, people, related, weights):
    """Sort both sides, join them, and return the counts and sums in the order of the rows."""
    m, values = related.shape[0], related.shape[1]
    shift = values * np.arange(m)  # values are numbered over all attributes
    near = [np.flatnonzero(related[j, a]) + values * j for j in range(m) for a in range(values)]
    starts, near = np.cumsum([0, *map(len, near)]), np.concatenate(near).astype(np.int32)
    mine = np.ascontiguousarray((rows + shift).astype(np.int32))
    theirs = np.where(people >= 0, people + shift, -1).astype(np.int32)
    place, order = np.lexsort(mine.T[::-1]), np.lexsort(theirs.T[::-1])
    counts, sums = unset(len(rows), np.int64), unset(len(rows))
    sorted_weights = weights[order] if len(weights) else weights
    joined_counts(mine[place], np.ascontiguousarray(theirs[order].T), starts, near, sorted_weights, counts, sums)
    back = np.argsort(place)
    return counts[back].tolist(), sums[back].tolist()


def naive(rows, people, related, weights):
    def fits(row, person):
        return all(b < 0 or related[j, a, b] for j, (a, b) in enumerate(zip(row, person, strict=True)))

    found = [[v for v, person in enumerate(people.tolist()) if fits(row, person)] for row in rows.tolist()]
    return [len(who) for who in found], [sum(weights[v] if len(weights) else 1 for v in who) for who in found]


@given(st.integers(0, 2**32 - 1))
def test_joined_counts(seed):
    random = np.random.default_rng(seed)
    m, values = random.integers(1, 5), random.integers(1, 12)
    related = random.random((m, values, values)) < random.choice([0.05, 0.3, 0.9], (m, 1, 1))
    rows = random.integers(0, values, (random.integers(1, 8), m))
    people = random.integers(0, values, (random.integers(1, 40), m))
    people[random.random(people.shape) < random.choice([0, 0.3])] = -1
    weights = random.integers(0, 5, len(people)).astype(float) if random.random() < 0.5 else np.zeros(0)
    assert counted(rows, people, related, weights) == naive(rows, people, related, weights)


def test_more_intervals_than_there_is_room_for_at_first():
    """A value that fits 150 values of each of two attributes splits the dictionary into thousands of intervals."""
    people = np.array([(a, b) for a in range(0, 150, 2) for b in range(0, 150, 2)])
    related = np.ones((2, 150, 150), bool)
    assert counted(np.array([[0, 0], [1, 7]]), people, related, np.zeros(0)) == ([75 * 75] * 2, [75 * 75] * 2)

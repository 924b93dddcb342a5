"""Cuts that save most: parts are large enough, satisfy the condition, and none can be cut further."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import condition_arrays, random_domain, random_places, share_arrays
from sfumato.kernels.best_cuts import best_cuts
from sfumato.kernels.group_excess import DISTINCT, GAIN


@pytest.mark.parametrize("kind", [DISTINCT, GAIN])
@given(st.integers(0, 2**31), st.integers(1, 30), st.integers(1, 4))
def test_every_allowed_cut_is_made(kind, seed, rows, least):
    draw = np.random.default_rng(seed)
    domains = [random_domain(draw) for _ in range(2)]
    place, value = random_places(draw, domains, rows), draw.integers(0, 4, rows)
    counts = np.bincount(value, minlength=4)
    table = (counts / rows).tolist()
    condition = {"kind": kind, "first": 2 if kind == DISTINCT else 0.5, "number": [max(p, 1e-9) for p in table]}

    def allowed(part):
        if len(part) < least:
            return False
        present = np.bincount(value[part], minlength=4)
        if kind == DISTINCT:
            return (present > 0).sum() >= 2
        return all(present[v] <= len(part) * table[v] * 1.5 + 1e-9 for v in range(4) if counts[v])

    start = np.sort(draw.integers(0, 2, rows))  # two groups, or one
    offsets = np.concatenate([[0], np.cumsum(np.bincount(np.unique(start, return_inverse=True)[1]))])
    label, order = np.full(rows, -1, np.int64), np.arange(rows)
    conditions = condition_arrays([condition], [np.append(value, 3)])
    groups = best_cuts(share_arrays(domains, draw), place, conditions, order, offsets, least, 0.0, label)
    assert sorted(order.tolist()) == list(range(rows))
    assert sorted(set(label.tolist())) == list(range(groups))
    for g in range(groups):
        part = np.flatnonzero(label == g)
        assert len(set(start[part].tolist())) == 1, "groups are cut, never joined"
        if len(part) < (start == start[part[0]]).sum():
            assert allowed(part)
        for j in range(2):
            for p in np.unique(place[part, j])[:-1]:
                low, high = part[place[part, j] <= p], part[place[part, j] > p]
                saves = domains[j].share(place[part, j].tolist()) > min(
                    domains[j].share(place[low, j].tolist()), domains[j].share(place[high, j].tolist())
                )
                assert not (saves and allowed(low) and allowed(high)), "a further cut was possible"

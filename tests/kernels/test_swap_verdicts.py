"""Verdicts on swaps: what the excess of both groups is after each exchange of two secrets."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import limit_excess
from naive_swaps import breaks
from search_cases import SearchCase
from sfumato.anonymization.methods.search_constraints import scratch_counts
from sfumato.kernels.swap_verdicts import entry_degrees, swap_verdicts


@given(st.integers(0, 2**31), st.integers(4, 16), st.booleans())
def test_a_swap_breaks_what_either_group_fails_after_it(seed, rows, with_condition):
    case = SearchCase(seed, rows, with_condition, groups=3)
    groups = [case.value[case.arrays.group == g].tolist() for g in range(len(case.arrays.size))]
    entries = [sorted(set(group)) for group in groups]
    first = np.concatenate([[0], np.cumsum([len(entry) for entry in entries])])
    stand_in = {value: row for row, value in enumerate(case.value.tolist())}
    row = np.array([stand_in[value] for entry in entries for value in entry])
    count = np.array([group.count(value) for group, entry in zip(groups, entries, strict=True) for value in entry])
    degree = np.zeros((1, len(row)), np.int64)
    entry_degrees(case.limits, first, row, count, degree)
    pairs = [(a, b) for a in range(len(groups)) for b in range(a + 1, len(groups))]
    here, there = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    size = np.array([len(group) for group in groups])
    lengths = [len(entries[a]) * len(entries[b]) for a, b in pairs]
    table, found = np.cumsum([0, *lengths]), np.zeros(sum(lengths), bool)
    scratch = scratch_counts(case.conditions)
    swap_verdicts(
        case.limits, case.conditions, first, row, count, degree, size, here, there, table[:-1].copy(), scratch, found
    )

    def holds(values):
        return limit_excess(case.limit, values) == 0 and len(set(values)) >= case.distinct

    expected = [breaks(groups[a], groups[b], u, v, holds) for a, b in pairs for u in entries[a] for v in entries[b]]
    assert found.tolist() == expected
    assert not scratch[0].any()

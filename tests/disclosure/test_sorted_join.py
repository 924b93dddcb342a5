"""Counts by the join of sorted tables equal those of one record at a time, whatever each record discloses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.disclosure.matching import common_values, sorted_join
from sfumato.disclosure.matching import matching as matching_module
from sfumato.disclosure.matching.matching import Matching


@given(st.integers(0, 2**32 - 1))
def test_join(seed):
    random = np.random.default_rng(seed)
    n, people, m = random.integers(1, 12), random.integers(1, 30), random.integers(1, 5)
    mine, theirs = random.integers(-1, 4, (n, m)), random.integers(-1, 4, (people, m))
    theirs[:, random.random(m) < 0.2] = -1  # attributes of which the dictionary knows nothing
    both = Matching.of_codes(mine, theirs, own=random.integers(-1, people, n))
    if random.random() < 0.5:
        both = replace(both, weights=random.integers(0, 5, people).astype(float))
    rule = random.random((n, m)) < 0.7
    shares = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching_module, "_MANY", 0)
        patch.setattr(sorted_join, "_SORT", int(random.choice([0, 1000])))  # by sorting, or by bits of common values
        patch.setattr(common_values, "BLOCK", 8)
        counts, sums, among = both.match(rule, shares.append)
        without = both.outcomes_without(rule)[0]

    def fits(i, v):
        return all(not rule[i, j] or mine[i, j] < 0 or theirs[v, j] in (-1, mine[i, j]) for j in range(m))

    found = [[v for v in range(people) if fits(i, v)] for i in range(n)]
    assert counts.tolist() == [len(who) for who in found]
    assert sums.tolist() == [sum(both.weights[v] if len(both.weights) else 1 for v in who) for who in found]
    assert among.tolist() == [own in who for own, who in zip(both.own.tolist(), found, strict=True)]
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 for share in shares)
    for j in range(m):
        rest = rule & (np.arange(m) != j)
        shown = (rule & both.everything)[:, j]
        assert without[:, j] == pytest.approx(np.where(shown, both.probabilities(rest), 0))


def test_common_values_of_many_people():
    """Of values that fit many people, whatever a record discloses of them: as if each record were matched alone."""
    random = np.random.default_rng(5)
    theirs = random.choice([-1, 0, 1, 2, 3], (300, 6), p=[0.05, 0.5, 0.3, 0.1, 0.05])
    both = Matching.of_codes(theirs, theirs)
    rule = random.random(theirs.shape) < 0.5
    rows = np.where(rule & (theirs >= 0), both.values, np.int32(-1))
    common = common_values.has_common_values(both, rows)
    assert 50 < common.sum() < 300
    expected = [
        sum(all(not rule[i, j] or -1 in (a[j], b[j]) or a[j] == b[j] for j in range(6)) for b in theirs)
        for i, a in enumerate(theirs)
    ]
    assert common_values.counts_by_bits(both, rows[common]).tolist() == np.array(expected)[common].tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching_module, "_MANY", 0)
        assert both.sizes(rule).tolist() == expected

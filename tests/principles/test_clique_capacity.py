"""How many rows of a clique groups can contain, against sums over all sizes of groups; its limits by their definition."""

from __future__ import annotations

from bisect import bisect_left
from fractions import Fraction
from functools import lru_cache

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from sfumato.principles import clique_capacity as module
from sfumato.principles.clique_capacity import admits, clique_capacity, largest_delta_admitting

DELTA = st.fractions(0, 1, max_denominator=12)


def held(size, delta):
    """Return how many pairwise near rows a group of a size can contain: ⌊(1−δ)(s−1)⌋ + 1."""
    return (1 - delta) * (size - 1) // 1 + 1


def least_of(k, delta):
    return max(k, 2) if delta else k


@lru_cache
def best_sum(rows, least, delta):
    """Return the most that groups of at least `least` contain together; None if no such groups have all rows."""
    if rows == 0:
        return 0
    rests = [(best_sum(rows - size, least, delta), size) for size in range(least, rows + 1)]
    return max((rest + held(size, delta) for rest, size in rests if rest is not None), default=None)


@given(st.integers(1, 60), st.integers(1, 20), DELTA)
@example(rows=1, k=1, delta=Fraction(0))
@example(rows=1, k=1, delta=Fraction(1, 2))
def test_the_tight_capacity_is_the_best_sum(rows, k, delta):
    best = best_sum(rows, least_of(k, delta), delta)
    assert clique_capacity(rows, k, delta) == (best or 0)
    assert [c for c in range(rows + 2) if admits(rows, k, delta, c)] == ([] if best is None else list(range(best + 1)))


@given(st.integers(1, 60), st.integers(1, 20), DELTA, st.sampled_from([3, 20_000]))
@example(rows=18, k=4, delta=Fraction(1, 5), sizes=20_000)
@example(rows=19, k=7, delta=Fraction(4, 5), sizes=20_000)
@example(rows=14, k=6, delta=Fraction(5, 7), sizes=20_000)
@example(rows=22, k=6, delta=Fraction(3, 5), sizes=20_000)
@example(rows=18, k=2, delta=Fraction(1, 5), sizes=3)
@example(rows=23, k=1, delta=Fraction(2, 7), sizes=3)
def test_the_quick_limits(rows, k, delta, sizes):
    """The sum is between them. The upper one is the largest share of a size, or (1−δ) of what groups add to one row each."""
    least = least_of(k, delta)
    assume(least <= rows)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "_SIZES", sizes)
        lower, upper = module._limits.__wrapped__(rows, least, delta)
    assert lower <= module._largest_sum(rows, least, delta) == best_sum(rows, least, delta) <= upper
    groups, stop = rows // least, min(rows, least + sizes)
    best = max(range(least, stop + 1), key=lambda size: Fraction(held(size, delta), size))
    share = Fraction(held(best, delta), best)
    if stop < rows:  # a size that was not examined has a share of (1−δ) + δ/s at most
        share = max(share, 1 - delta + delta / (stop + 1))
    assert upper == min(rows * share // 1, groups + (1 - delta) * (rows - groups) // 1)
    count, rest = divmod(rows, best)
    absorbed = (count - 1) * held(best, delta) + held(best + rest, delta)
    apart = count * held(best, delta) + held(rest, delta) if rest >= least else 0
    assert lower == max(absorbed, apart)


def test_beyond_the_tight_range_the_upper_limit_stands_for_the_sum(monkeypatch):
    """δ = 4/5: two of six rows can be near, so three of nine; but groups of 9, or of 4 and 5, contain two."""
    delta = Fraction(4, 5)
    for tight, most in ((9, 2), (8, 3)):
        monkeypatch.setattr(module, "TIGHT", tight)
        assert clique_capacity(9, 4, delta) == most
        assert [count for count in range(5) if admits(9, 4, delta, count)] == list(range(most + 1))


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 40))
@example(rows=1, k=1, count=1)
@example(rows=2, k=1, count=1)
@example(rows=11, k=1, count=10)
def test_the_largest_delta_that_a_clique_admits(rows, k, count):
    """The verdict changes only where (1−δ)(s−1) is a whole number."""
    assume(k <= rows and count <= rows)
    shares = sorted({Fraction(j, s) for s in range(1, rows) for j in range(s + 1)} or {Fraction(1)})
    first = bisect_left(shares, count, key=lambda share: clique_capacity(rows, k, 1 - share))
    assert largest_delta_admitting(rows, k, count) == 1 - shares[first]


@given(st.integers(20_000, 10**7), st.integers(1, 2000), st.fractions(0, 1, max_denominator=1000), st.floats(0, 1))
def test_beyond_the_tight_range_the_limits_stay_close(n, k, delta, share):
    """An upper limit, never below what sizes of one kind reach; and δ found by bisection is where it turns."""
    best = max((n // s) * held(s, delta) for s in (max(k, 2), k + 1, 2 * k, n))
    most = clique_capacity(n, k, delta)
    assert best <= most <= n
    count = max(1, int(share * n))
    turn = largest_delta_admitting(n, k, count)
    assert clique_capacity(n, k, turn) >= count
    assert turn == 1 or clique_capacity(n, k, turn + Fraction(1, n**2)) < count

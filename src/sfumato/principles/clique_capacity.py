"""How many rows of a clique a partition into groups can take in.

In a group of s rows that satisfies δ, no more than t(s) + 1 = ⌊(1−δ)(s−1)⌋ + 1 rows can be pairwise near. So a set of
pairwise near rows can be no larger than the largest Σ (t(sᵢ)+1) over sizes sᵢ ≥ k that add up to n.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

TIGHT = 10_000
"""Up to this many rows the largest sum is computed exactly; beyond, an upper limit at most a few rows above it."""

_SIZES = 2 * TIGHT
"""How many sizes are examined for the one with the largest share; what larger ones can reach is bounded."""


def allowed_neighbours(size: int, delta: Fraction) -> int:
    """Return t = ⌊(1−δ)(size−1)⌋: how many ε-neighbours a value may have in a group of a size.

    >>> [allowed_neighbours(size, Fraction("0.8")) for size in (10, 11)]
    [1, 2]
    """
    return (delta.denominator - delta.numerator) * (size - 1) // delta.denominator


def least_size(k: int, delta: Fraction) -> int:
    """Return the smallest size of a group that can satisfy (ε,δ)^k-dissimilarity.

    A group of one has risk 1 by definition, so only δ = 0 allows it.

    >>> least_size(1, Fraction(0)), least_size(1, Fraction("0.1")), least_size(5, Fraction("0.1"))
    (1, 2, 5)
    """
    return max(k, 2) if delta > 0 else k


def clique_capacity(rows: int, k: int, delta: Fraction) -> int:
    """Return how many rows of a clique groups of at least k can contain under δ; 0 if no such groups exist.

    >>> clique_capacity(100, 10, Fraction("0.8")), clique_capacity(100, 10, Fraction(1))
    (27, 10)
    """
    least = least_size(k, delta)
    if least > rows:
        return 0
    lower, upper = _limits(rows, least, delta)
    return upper if lower == upper or rows > TIGHT else _largest_sum(rows, least, delta)


def admits(rows: int, k: int, delta: Fraction, count: int) -> bool:
    """Return whether `clique_capacity` is at least a count, without computing it where a quick limit decides.

    >>> admits(100, 10, Fraction("0.8"), 27), admits(100, 10, Fraction("0.8"), 28)
    (True, False)
    """
    least = least_size(k, delta)
    if least > rows:
        return False
    lower, upper = _limits(rows, least, delta)
    if count <= lower or count > upper:
        return count <= lower
    return rows > TIGHT or count <= _largest_sum(rows, least, delta)


def largest_delta_admitting(rows: int, k: int, count: int) -> Fraction:
    """Return the largest δ at which `admits` accepts a count of rows of a clique; k is at most the number of rows n.

    t(s) jumps only where (1−δ)(s−1) is whole, so the answer has a denominator below n, and bisection finds it. Far beyond
    `TIGHT` rows the result may be too small, by less than 1/n².

    >>> delta = largest_delta_admitting(100, 10, 27)
    >>> delta, clique_capacity(100, 10, delta)
    (Fraction(4, 5), 27)
    """
    if rows < 2:
        return Fraction(0)
    if admits(rows, k, Fraction(1), count):
        return Fraction(1)
    low, high = Fraction(0), Fraction(1)  # bounds on 1 − δ: the lower is too small, the upper is enough
    width = Fraction(1, 2 * rows**2)
    while high - low >= width:
        middle = (low + high) / 2
        if admits(rows, k, 1 - middle, count):
            high = middle
        else:
            low = middle
    # Two fractions with denominators up to n are at least twice this width apart, so at most one lies in the interval.
    nearest = min(high, high.limit_denominator(rows))
    return 1 - (nearest if admits(rows, k, 1 - nearest, count) else high)


@lru_cache(maxsize=4096)
def _limits(rows: int, least: int, delta: Fraction) -> tuple[int, int]:
    """Return a sum that some sizes reach, and one that no sizes exceed."""
    p, q = delta.denominator - delta.numerator, delta.denominator  # 1 − δ = p/q

    def capacity(size: int) -> int:
        return allowed_neighbours(size, delta) + 1

    size, value = least, capacity(least)
    best_size, best = size, value
    # Phase 1: the size s with the largest share (t(s)+1)/s. The share is at most (1−δ) + δ/s, so larger sizes need not be
    # examined once that is not above the best. Only sizes at which t jumps can improve it: `size` steps from jump to jump.
    stop = min(rows, least + _SIZES)
    while p and size <= stop and (p * size + q - p) * best_size > best * q * size:
        if value * best_size > best * size:
            best_size, best = size, value
        size, value = -(-value * q // p) + 1, value + 1
    groups = rows // least
    share = max(Fraction(best, best_size), 1 - delta + delta / (stop + 1))  # no row more than the best if stop = rows
    upper = min(int(rows * share), groups + p * (rows - groups) // q)

    # Phase 2: two partitions that come close: the best size with the rest absorbed, or apart.
    count, rest = divmod(rows, best_size)
    absorbed = (count - 1) * best + capacity(best_size + rest)
    apart = count * best + capacity(rest) if rest >= least else 0
    return max(absorbed, apart), upper


@lru_cache(maxsize=4096)
def _largest_sum(rows: int, least: int, delta: Fraction) -> int:
    """Return the largest Σ (t(sᵢ)+1) with sᵢ ≥ least and Σ sᵢ = n, by dynamic programming.

    Rows left over join a group, so Σ sᵢ ≤ n gives the same. Only sizes whose own value exceeds what smaller sizes reach
    together matter, and they are few. Cost: n times their number.
    """
    best = np.zeros(rows + 1, np.int64)
    sizes = np.zeros(0, np.int64)
    values = np.zeros(0, np.int64)
    for size in range(least, rows + 1):
        most = max(int(best[size - 1]), int((best[size - sizes] + values).max(initial=0)))
        value = allowed_neighbours(size, delta) + 1
        if value > most:
            sizes, values = np.append(sizes, size), np.append(values, value)
        best[size] = max(most, value)
    return int(best[rows])

"""How many tuples of a clique a partition can hold at all.

In a group of s rows that satisfies δ, no more than t(s) + 1 = ⌊(1−δ)(s−1)⌋ + 1 tuples can be pairwise near. So a set of
pairwise near tuples can be no larger than the largest Σ (t(sᵢ)+1) over sizes sᵢ ≥ k that add up to n.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from sfumato.anonymization.feasibility.degree_bounds import allowed, least_size

TIGHT = 10_000
"""Up to so many rows the largest sum is found exactly; beyond, an upper limit that is at most a few tuples above it."""

_SIZES = 2 * TIGHT
"""So many sizes are looked at for the one with the largest share; what larger ones can reach is bounded."""


def clique_capacity(rows: int, k: int, delta: Fraction) -> int:
    """The most tuples of a clique that groups of at least k can hold under δ; 0 if no such groups exist.

    Source: the pigeonhole argument above; the errata of paper 001 state it as a share, the largest (t(s)+1)/s.

    >>> clique_capacity(100, 10, Fraction("0.8")), clique_capacity(100, 10, Fraction(1))
    (27, 10)
    """
    least = least_size(k, delta)
    if least > rows:
        return 0
    lower, upper = _limits(rows, least, delta)
    return upper if lower == upper or rows > TIGHT else _largest_sum(rows, least, delta)


def admits(rows: int, k: int, delta: Fraction, count: int) -> bool:
    """Whether `clique_capacity` is at least a count, without computing it where a quick limit decides.

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
    """The largest δ at which `admits` says that groups of at least k can hold so many tuples of a clique; k is at most n.

    t(s) jumps only where (1−δ)(s−1) is whole; so the answer has a denominator below n, and bisection finds it. Far beyond
    `TIGHT` rows it may be short of it, by less than 1/n².

    >>> delta = largest_delta_admitting(100, 10, 27)
    >>> delta, clique_capacity(100, 10, delta)
    (Fraction(4, 5), 27)
    """
    if rows < 2:
        return Fraction(0)
    if admits(rows, k, Fraction(1), count):
        return Fraction(1)
    low, high = Fraction(0), Fraction(1)  # of 1 − δ: too little, enough
    width = Fraction(1, 2 * (rows - 1) ** 2)
    while high - low >= width:
        middle = (low + high) / 2
        if admits(rows, k, 1 - middle, count):
            high = middle
        else:
            low = middle
    # two fractions with denominators below n are at least twice this width apart
    nearest = high.limit_denominator(rows - 1)
    return 1 - (nearest if low < nearest <= high and admits(rows, k, 1 - nearest, count) else high)


@lru_cache(maxsize=4096)
def _limits(rows: int, least: int, delta: Fraction) -> tuple[int, int]:
    """A sum that some sizes reach, and one that none exceeds."""
    p, q = delta.denominator - delta.numerator, delta.denominator  # 1 − δ = p/q
    size, value = least, p * (least - 1) // q + 1
    best_size, best = size, value
    # the share is at most (1−δ) + δ/s, so larger sizes need not be looked at once that is not above the best
    stop = min(rows, least + _SIZES)
    while p and size <= stop and (p * size + q - p) * best_size > best * q * size:
        if value * best_size > best * size:
            best_size, best = size, value
        size, value = -(-value * q // p) + 1, value + 1
    groups = rows // least
    share = Fraction(best, best_size)
    if stop < rows:
        share = max(share, 1 - delta + delta / (stop + 1))
    upper = min(int(rows * share), groups + p * (rows - groups) // q)

    def held(size: int) -> int:
        return p * (size - 1) // q + 1

    count, rest = divmod(rows, best_size)
    absorbed = (count - 1) * best + held(best_size + rest)
    apart = count * best + held(rest) if rest >= least else 0
    small, more = divmod(rows, groups)
    even = (groups - more) * held(small) + more * held(small + 1)
    return max(absorbed, apart, even), upper


@lru_cache(maxsize=4096)
def _largest_sum(rows: int, least: int, delta: Fraction) -> int:
    """The largest Σ (t(sᵢ)+1), sᵢ ≥ least, Σ sᵢ = n. Rows left over join a group, so Σ sᵢ ≤ n is as good.

    Only sizes whose own value exceeds what smaller ones reach together matter, and they are few. Cost: n times those.
    """
    best = np.zeros(rows + 1, np.int64)
    sizes = np.zeros(0, np.int64)
    values = np.zeros(0, np.int64)
    for size in range(least, rows + 1):
        most = max(int(best[size - 1]), int((best[size - sizes] + values).max(initial=0)))
        value = allowed(size, delta) + 1
        if value > most:
            sizes, values = np.append(sizes, size), np.append(values, value)
        best[size] = max(most, value)
    return int(best[rows])

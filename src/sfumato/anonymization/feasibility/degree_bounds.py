"""Bounds on Θ, the largest degree of the ε-neighbour graph, up to which groups are guaranteed.

A bound proves that groups exist; where it fails, nothing follows. A partition of n rows into m groups of sizes that differ
by at most one has the sizes q = ⌊n/m⌋ and s = ⌈n/m⌉, and t(p) = ⌊(1−δ)(p−1)⌋ is how many neighbours a value may have in a
group of size p. Three arguments give a guarantee:

    swaps    exchanging two rows lowers the number of neighbouring pairs within groups as long as some value has too many,
             if Θ·(p+s−2) < (t(p)+1)·(n−p+s) for each size p that occurs
    proper   Θ ≤ m−1: the rows can be spread so that no group holds two neighbours (Hajnal and Szemerédi, 1970)
    whole    Θ ≤ t(n): the table as one group satisfies it

Why swaps go on: let v have d > t(p) neighbours in its group V of p rows, and let no exchange of v for a row w of another
group W lower the number of pairs. Then w has at least d − D_W(v) + [v near w] neighbours in V without v, where D_W(v) is
v's number of neighbours in W. Sum over all w: on the left at most (p−1)Θ − d pairs, as the d neighbours of v in V have v
itself as one of theirs; on the right at least d(n−p) − (s−1)(Θ−d). So Θ·(p+s−2) ≥ d(n−p+s).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from sfumato.errors import ParameterError
from sfumato.exact import Number, as_fraction, written
from sfumato.principles.clique_capacity import allowed_neighbours, least_size


def lemma_2(groups: int, neighbours: int) -> Fraction:
    """Return m(t+1)/2: Lemma 2 of Wang & Liu (2010), for m groups of equal size with at most t neighbours for each value.

    >>> lemma_2(groups=100, neighbours=1)
    Fraction(100, 1)
    """
    return Fraction(groups * (neighbours + 1), 2)


def inequality_4(rows: int, k: int, delta: Number) -> Fraction:
    """Return Inequality (4) of Wang & Liu (2010) as printed, (n/2)·(1 − (1 − 1/k)·δ). It is **not valid**: it drops a floor.

    At n = 12, k = 3, δ = 0.7, Θ = 3 it holds, yet swaps can get stuck.

    >>> inequality_4(rows=1000, k=10, delta="0.8"), lemma_2(100, allowed_neighbours(10, Fraction("0.8")))
    (Fraction(140, 1), Fraction(100, 1))
    """
    return Fraction(rows, 2) * (1 - (1 - Fraction(1, k)) * as_fraction(delta, "delta"))


def theorem_3(theta: int, groups: int) -> int:
    """Return ⌈2Θ/m⌉ − 1: with m equitable groups no value need have more neighbours in its group.

    Theorem 3 of Wang & Liu (2010) states 2Θ/m − 1, which need not be a whole number and is negative for small Θ. At Θ = 0
    the result is 0.

    >>> theorem_3(theta=5, groups=4), theorem_3(theta=1, groups=4), theorem_3(theta=0, groups=4)
    (2, 0, 0)
    """
    return max(0, -(-2 * theta // groups) - 1)


def sizes_of(rows: int, groups: int) -> tuple[int, ...]:
    """Return the sizes of an equitable partition: ⌊n/m⌋, and ⌈n/m⌉ if that differs. It exists for every m up to n.

    >>> sizes_of(29, 2), sizes_of(30, 3)
    ((14, 15), (10,))
    """
    q, rest = divmod(rows, groups)
    return (q, q + 1) if rest else (q,)


def equitable_bound(rows: int, groups: int, delta: Number) -> Fraction:
    """Return (t+1)(q·m+1)/(q+s−1) with t = t(q): swaps succeed while Θ is **below** it. `swap_bound` is sharper.

    >>> equitable_bound(rows=14, groups=4, delta=1)
    Fraction(13, 6)
    """
    q, s = min(sizes_of(rows, groups)), max(sizes_of(rows, groups))
    return Fraction((allowed_neighbours(q, as_fraction(delta, "delta")) + 1) * (q * groups + 1), q + s - 1)


def swap_bound(rows: int, groups: int, delta: Number) -> int:
    """Return the largest Θ up to which swaps lead any equitable partition to one that satisfies δ.

    It is the largest whole Θ with Θ·(p+s−2) < (t(p)+1)·(n−p+s) for each size p that occurs; the module docstring proves it.
    It is never below Lemma 2 or `equitable_bound`, and at most n−1, since no value has more neighbours.

    >>> swap_bound(rows=1000, groups=100, delta="0.8"), swap_bound(rows=14, groups=4, delta=1)
    (111, 2)
    """
    return _swap_bound(rows, groups, as_fraction(delta, "delta"))


def _swap_bound(rows: int, groups: int, exact: Fraction) -> int:
    """Return `swap_bound` of an exact δ; it is computed for thousands of numbers of groups."""
    if groups == 1:  # nothing to swap: the table satisfies δ or not
        return allowed_neighbours(rows, exact)
    sizes = sizes_of(rows, groups)
    s, largest = sizes[-1], rows - 1
    for p in sizes:
        if allowed_neighbours(p, exact) < p - 1:  # else no number of neighbours in a group of this size is too large
            largest = min(largest, ((allowed_neighbours(p, exact) + 1) * (rows - p + s) - 1) // (p + s - 2))
    return largest


def splits(rows: int, least: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield numbers of groups, with their sizes, that represent all equitable partitions with no group below a size.

    The bounds depend on the sizes only, so for each pair of sizes the largest number of groups is yielded, from few groups
    to many. There are about 2√n of them.

    >>> list(splits(7, least=2))
    [(1, (7,)), (2, (3, 4)), (3, (2, 3))]
    """
    groups = 1
    while groups <= rows // least:
        q = rows // groups
        last = rows // q
        uneven = last if rows % q else last - 1
        if uneven >= groups:
            yield uneven, (q, q + 1)
        if uneven < last:
            yield last, (q,)
        groups = last + 1


@dataclass(frozen=True)
class DegreeBounds:
    """What is guaranteed for a number of rows, δ and k: groups exist if Θ is at most `guaranteed`. See `bounds`."""

    rows: int
    delta: Fraction
    k: int
    groups: int
    """m: the largest number of groups, none smaller than k (or than 2, if δ > 0)."""
    sizes: tuple[int, ...]
    """The sizes of m equitable groups."""
    allowed: int
    """t: how many neighbours a value may have in the smallest of them."""
    lemma_2: Fraction
    """m(t+1)/2: Wang & Liu (2010)."""
    equitable: Fraction
    """(t+1)(q·m+1)/(q+s−1), strictly: Lemma 2 corrected for sizes that differ."""
    inequality_4: Fraction
    """As printed by Wang & Liu (2010); not valid, and never used."""
    swaps: int
    """The largest Θ for which swaps are guaranteed, at the best number of groups."""
    swap_groups: int
    """That number of groups."""
    proper: int
    """m − 1."""
    whole: int
    """t(n)."""

    @property
    def guaranteed(self) -> int:
        """The largest Θ for which groups are guaranteed to exist."""
        return max(self.swaps, self.proper, self.whole)

    def reason(self, theta: int) -> str | None:
        """Explain why groups exist at a Θ, as many as are guaranteed; return None if no bound proves it."""
        m = most_groups(self.rows, self.k, self.delta, theta)
        if not m:
            return None
        if theta < m:
            return f"{m} groups without any two neighbours exist (Θ = {theta} is below {m}: Hajnal and Szemerédi)"
        if m == 1:
            return f"the table as one group satisfies it; no more is guaranteed (Θ = {theta} is at most t = {self.whole})"
        bound = swap_bound(self.rows, m, self.delta)
        return f"{m} groups exist that satisfy it (Θ = {theta} is at most {bound}: swaps lead equitable groups to it)"

    def to_dict(self) -> dict[str, Any]:
        """Return the bounds as plain data, exact numbers as they are written."""
        return {
            "rows": self.rows,
            "delta": written(self.delta),
            "k": self.k,
            "groups": self.groups,
            "sizes": list(self.sizes),
            "allowed": self.allowed,
            "lemma_2": written(self.lemma_2),
            "equitable_below": written(self.equitable),
            "inequality_4_not_valid": written(self.inequality_4),
            "swaps": self.swaps,
            "swap_groups": self.swap_groups,
            "proper": self.proper,
            "whole": self.whole,
            "guaranteed": self.guaranteed,
        }


def bounds(rows: int, k: int, delta: Number) -> DegreeBounds:
    """Return the bounds on Θ for a number of rows; groups may be larger than k, whatever the bound at k itself.

    Source: Wang & Liu (2010), Section IV, corrected. t depends on each group's own size and is not smooth: at δ = 0.8 groups
    of 11 (t = 2) are easier than groups of 10 (t = 1). So all numbers of groups with no group below k are tried.

    >>> found = bounds(rows=1000, k=10, delta="0.8")
    >>> found.lemma_2, found.swaps, found.swap_groups, found.guaranteed
    (Fraction(100, 1), 136, 90, 199)
    """
    exact = as_fraction(delta, "delta")
    if not 0 <= exact <= 1:
        raise ParameterError(
            f"delta = {written(exact)} is out of range", remedy="Give a number from 0 to 1.", key="delta", value=delta
        )
    least = least_size(k, exact)
    if not 1 <= least <= rows:
        raise ParameterError(
            f"k = {k} does not fit {rows} rows: no group can contain {least}",
            remedy=f"Give k at least 1 and at most {rows}, or more rows.",
            key="k",
            value=k,
        )
    groups = rows // least
    sizes = sizes_of(rows, groups)
    t = allowed_neighbours(sizes[0], exact)
    swaps, swap_groups = _best_swaps(rows, least, exact)
    return DegreeBounds(
        rows=rows,
        delta=exact,
        k=k,
        groups=groups,
        sizes=sizes,
        allowed=t,
        lemma_2=lemma_2(groups, t),
        equitable=equitable_bound(rows, groups, exact),
        inequality_4=inequality_4(rows, k, exact),
        swaps=swaps,
        swap_groups=swap_groups,
        proper=groups - 1,
        whole=allowed_neighbours(rows, exact),
    )


@lru_cache(256)
def _best_swaps(rows: int, least: int, exact: Fraction) -> tuple[int, int]:
    """Return the largest Θ for which swaps are guaranteed, and its number of groups; a frontier asks for it often."""
    alone = rows // least == 1
    return max((_swap_bound(rows, m, exact), m) for m, _ in splits(rows, least) if m > 1 or alone)


def most_groups(rows: int, k: int, delta: Number, theta: int) -> int:
    """Return the largest number of equitable groups of at least k guaranteed at a Θ; 1: the table itself; 0: no bound holds.

    >>> [most_groups(1000, 10, "0.8", theta) for theta in (50, 99, 120, 136, 137, 199, 200)]
    [100, 100, 90, 90, 1, 1, 0]
    """
    exact = as_fraction(delta, "delta")
    tried = [groups for groups, _ in splits(rows, least_size(k, exact))]
    return next((groups for groups in reversed(tried) if _guaranteed(rows, groups, exact, theta)), 0)


def largest_delta(rows: int, k: int, theta: int, groups: int = 1) -> Fraction | None:
    """Return the largest δ that is guaranteed at a Θ, with at least a number of groups of at least k; exact, solved for δ.

    None if that many groups do not fit. Otherwise there is one, since δ = 0 allows everything.

    >>> delta = largest_delta(rows=1000, k=10, theta=136, groups=2)
    >>> delta, most_groups(1000, 10, delta, 136), most_groups(1000, 10, delta + Fraction(1, 10**9), 136)
    (Fraction(4, 5), 90, 1)
    """
    if rows // k < groups:
        return None
    if rows // max(k, 2) >= max(groups, theta + 1):
        return Fraction(1)
    best = Fraction(0)
    if groups == 1 and rows > 1:
        best = 1 - Fraction(theta, rows - 1)
    for count, sizes in splits(rows, max(k, 2)):
        s = sizes[-1]
        # t(p) + 1 above a number is t(p) at least its floor, and t(p) at least j is δ at most 1 − j/(p−1)
        if count >= groups:
            best = max(best, 1 - max(Fraction(theta * (p + s - 2) // (rows - p + s), p - 1) for p in sizes))
    return best


def largest_size(rows: int, delta: Number, theta: int, groups: int = 1) -> int | None:
    """Return the largest size that at least a number of groups are guaranteed to reach at a Θ and δ; None without a bound.

    >>> largest_size(1000, "0.8", theta=136, groups=2), largest_size(1000, "0.8", theta=136), bounds(1000, 11, "0.8").swaps
    (11, 1000, 136)
    """
    exact = as_fraction(delta, "delta")
    for count, sizes in splits(rows, least_size(1, exact)):
        # the largest number of groups with these sizes represents all of them
        if count >= groups and _guaranteed(rows, count, exact, theta):
            return sizes[0]
    return None


def _guaranteed(rows: int, groups: int, delta: Fraction, theta: int) -> bool:
    """Return whether a number of equitable groups exists at a Θ, by one of the three arguments."""
    return theta < groups or theta <= _swap_bound(rows, groups, delta)

"""What exchanges of rows between groups can and cannot guarantee: Lemma 1 of Wang & Liu (2010), and cycles of rows.

The paper exchanges two rows at a time, and expects a better bound if rows may be transferred in a cycle. Here is the answer,
for m groups of q to s rows and Θ the largest degree. A start is *stuck* if some row has more than t neighbours in its group
and no cycle of rows in different groups lowers the number of neighbouring pairs within groups.

**With t = 0 the bound is better, and cycles of three are enough.** Let v have d ≥ 1 neighbours in its group V and let the
start be stuck. Call a row outside V tied if it has a neighbour in V other than v, and free otherwise.

1.  At least m − Θ other groups contain no neighbour of v. Let A be all their rows. A swap with v does not help, so every row
    of A is tied.
2.  Let Z be one of the other groups, with a free row x, and let h be the number of its tied rows. The cycle of v, a row u
    of A and x does not help, nor does the swap of v and x. So u, and also v, has a neighbour in Z other than x. This holds
    for every free x: u has two neighbours in Z, or one that is tied. A tied row has a neighbour in V − v, and so at most
    Θ − 1 neighbours in A ∪ v.
3.  Let there be z such groups Z, with H tied rows in all, and let a = |A| + 1. The rows of A ∪ v have at most Θ − 1
    neighbours in these groups, so 2az − H(Θ−1) ≤ a(Θ−1); and z ≤ Θ − 1, since v has a neighbour in each.
4.  The rows of V − v have at most T = (s−1)Θ − 1 neighbours outside V. All rows of the other m − 1 − z groups are tied, so
    q(m−1−z) + H ≤ T.

By 4 and 3, m − 1 ≤ (T−H)/q + (Θ−1)(1 + H/a)/2. The right side is linear in H, which is from 0 to T − q(m−Θ), and
a ≥ q(m−Θ) + 1. At the one end that is Θ(2s+q−2) ≥ 2qm − q + 2, at the other Θ(s+2q−1) ≥ 2qm + 2. If neither holds, no start
is stuck. For large groups this is about 2m/3, where swaps alone guarantee about m/2.

**With larger t it is hardly better, whatever the length.** Let every row have r neighbours in each other group and none in
its own, except one row v with t + 1 neighbours in its group, each of which has only v there. A row that takes the
place of w gets at least r − 1 neighbours (r, if the two are no neighbours), and at most t + 1 pairs are resolved, those of
v. So a cycle of two or more rows changes the number of pairs by at least 2(r−1) − (t+1), which is not negative for
r = ⌈(t+3)/2⌉. Such starts exist, with Θ = r(m−1) + t + 1, and no bound for cycles of any length can reach that. Its ratio
to what swaps guarantee tends to 1 as t and m grow.
"""

from __future__ import annotations

from sfumato.anonymization.feasibility.degree_bounds import sizes_of, swap_bound
from sfumato.exact import Number


def lemma_1(theta: int, groups: int, neighbours: int) -> int:
    """Return m − ⌊Θ/(t+1)⌋, or 0: for any row, at least so many of m groups contain at most t of its neighbours.

    Lemma 1 of Wang & Liu (2010), which calls it g: the number of movable groups. It holds for every partition into m groups,
    and whatever their sizes. With the defaults of the paper, 50,000 rows, k = 10 and δ = 0.8, m is 5,000 and t is 1:

    >>> lemma_1(theta=4999, groups=5000, neighbours=1)
    2501

    In the graph of its Example 4 the third value has three neighbours, and two groups need not contain a movable one:

    >>> lemma_1(theta=3, groups=2, neighbours=0), lemma_1(theta=3, groups=2, neighbours=1)
    (0, 1)
    """
    return max(0, groups - theta // (neighbours + 1))


def cycle_bound(rows: int, groups: int, delta: Number) -> int:
    """Return the largest Θ up to which swaps and cycles of three lead any equitable partition to one that satisfies δ.

    It is at least `swap_bound`, and exceeds it if groups of more than three rows may contain no neighbours (t = 0). The
    module docstring proves it.

    >>> swap_bound(rows=1000, groups=100, delta=1), cycle_bound(rows=1000, groups=100, delta=1)
    (55, 69)
    """
    sizes = sizes_of(rows, groups)
    q, s = sizes[0], sizes[-1]
    most = min((2 * q * groups - q + 1) // (2 * s + q - 2), (2 * q * groups + 1) // (s + 2 * q - 1)) if groups > 1 else 0
    return max(swap_bound(rows, groups, delta), min(most, groups - 1))


def stuck_degree(groups: int, neighbours: int) -> int:
    """Return ⌈(t+3)/2⌉(m−1) + t + 1: at this Θ, there are starts that no cycle helps, of any length.

    They exist for all groups of at least t + 2 rows. So no bound for cycles can be as large. The module
    docstring constructs them. Groups that satisfy the requirement may exist.

    >>> stuck_degree(groups=100, neighbours=0), stuck_degree(groups=100, neighbours=9)
    (199, 604)
    """
    return -(-(neighbours + 3) // 2) * (groups - 1) + neighbours + 1

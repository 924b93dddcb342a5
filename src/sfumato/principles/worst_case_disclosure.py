"""The largest probability of a secret after k facts, by the dynamic program of Martin et al. (2007), exactly.

The worst facts are implications with one conclusion A: "if A₁, then A", …, "if Aₖ, then A", where each Aᵢ and A say that a
person has a value. They leave the probability of A in the ratio 1 : R to that of its opposite, with
R = P(neither A nor any Aᵢ) / P(A). So the facts to look for are those with the smallest R. In one group, with statements
about k₀ ≥ k₁ ≥ … values of as many people, the smallest probability that none is true is that of the most frequent values:
Π (n − i − the count of the kᵢ most frequent values) / (n − i). Groups are independent, so probabilities multiply.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from heapq import nsmallest
from itertools import accumulate

Profile = Sequence[int]
"""The size of a group, and the counts of its most frequent values, largest first."""

Row = list[Fraction]
"""For each number of statements, from 0, the smallest probability that none of them is true."""


def least_probabilities(profile: Profile, most: int) -> Row:
    """Return the smallest probability that none of 0, 1, …, `most` statements about people of one group is true.

    Cost: the number of partitions of each number up to `most`, at worst.

    >>> [str(p) for p in least_probabilities([4, 2, 1, 1], 3)]
    ['1', '1/2', '1/6', '0']
    """
    size, *counts = profile
    covered = list(accumulate(counts, initial=0))

    @cache
    def best(person: int, largest: int, left: int) -> Fraction:
        """Return the smallest probability for people from number `person` on, with at most `largest` values each."""
        if not left or person == size:
            return Fraction(1)
        found = Fraction(1)
        for values in range(1, min(largest, left) + 1):
            free = size - person - covered[min(values, len(counts))]
            if free <= 0:
                return Fraction(0)
            found = min(found, Fraction(free, size - person) * best(person + 1, values, left - values))
        return found

    return [best(0, most, count) for count in range(most + 1)]


def disclosures(profiles: Sequence[Profile], times: Sequence[int], k: int) -> list[Fraction]:
    """Return for the groups of each profile the largest probability of a value for one of their people after k facts.

    `times`: how many groups have each profile. Cost: for each profile `least_probabilities`, and for each of up to k·(k+1)
    groups whose facts may matter to others a program of k² steps for each of these.

    >>> [str(level) for level in disclosures([[4, 2, 1, 1], [2, 1, 1]], [1, 1], 1)]
    ['3/4', '1']
    """
    rows = [least_probabilities(profile, k + 1) for profile in profiles]
    # of each number of statements only the groups with the smallest probabilities matter: of k + 1 groups one is neither
    # the group of A nor one of the k − 1 groups of the other statements
    useful: set[int] = set()
    for count in range(1, k + 1):
        useful.update(nsmallest(k + 1, range(len(rows)), key=lambda number, count=count: rows[number][count]))  # type: ignore[misc]
    copies = {number: min(times[number], k + 1) for number in sorted(useful)}
    everywhere = _together([rows[number] for number, count in copies.items() for _ in range(count)], k)
    levels = []
    for number, (profile, row) in enumerate(zip(profiles, rows, strict=True)):
        elsewhere = everywhere
        if number in copies:
            left = copies | {number: min(times[number] - 1, k + 1)}
            elsewhere = _together([rows[other] for other, count in left.items() for _ in range(count)], k)
        ratio = min(row[here + 1] * elsewhere[k - here] for here in range(k + 1)) * Fraction(profile[0], profile[1])
        levels.append(1 / (1 + ratio))
    return levels


def _together(rows: Sequence[Row], k: int) -> Row:
    """Return the smallest probability that none of 0 to k statements about people of several groups is true."""
    found = [Fraction(1)] * (k + 1)
    for row in rows:
        found = [min(found[count - here] * row[here] for here in range(count + 1)) for count in range(k + 1)]
    return found

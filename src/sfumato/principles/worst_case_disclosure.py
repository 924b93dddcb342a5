"""The largest probability of a secret after k facts, by the dynamic program of Martin et al. (2007), exactly.

The worst facts are implications with one conclusion A: "if A₁, then A", …, "if Aₖ, then A", where each Aᵢ and A say that a
person has a value. They leave the probability of A in the ratio 1 : R to that of its opposite, with
R = P(neither A nor any Aᵢ) / P(A). So the facts to look for are those with the smallest R. In one group, with statements
about k₀ ≥ k₁ ≥ … values of as many people, the smallest probability that none is true is that of the most frequent values:
Π (n − i − the count of the kᵢ most frequent values) / (n − i). Groups are independent, so probabilities multiply.

The program may count one group twice: two sets of statements about it, as if they were about different groups. That changes
nothing. Make the statements about different people of the group, as one set. Its probability is at most the product of the
two: a factor 1 − count / (n − i) decreases with i, and in the order of all these people nobody comes earlier than in that of
one set. (If the group has fewer people, a factor is 0.) So sets about different groups reach the smallest product.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
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


def disclosures(profiles: Sequence[Profile], k: int) -> list[Fraction]:
    """Return for a group of each profile the largest probability of a value for one of its people after k facts.

    `profiles`: those of all groups of a release. Cost: for each profile `least_probabilities`, and k² steps for all.

    >>> [str(level) for level in disclosures([[4, 2, 1, 1], [2, 1, 1]], 1)]
    ['3/4', '1']
    >>> [str(level) for level in disclosures([[5, 1, 1], [3, 1, 1]], 1)]
    ['3/11', '1/2']
    """
    rows = [least_probabilities(profile, k + 1) for profile in profiles]
    # the smallest probability for statements about people of one group, then of several groups
    anywhere = [min(row[count] for row in rows) for count in range(k + 1)]
    for count in range(2, k + 1):
        anywhere[count] = min(anywhere[count - here] * anywhere[here] for here in range(count))
    levels = []
    for (size, most_frequent, *_), row in zip(profiles, rows, strict=True):
        ratio = min(row[here + 1] * anywhere[k - here] for here in range(k + 1)) * Fraction(size, most_frequent)
        levels.append(1 / (1 + ratio))
    return levels

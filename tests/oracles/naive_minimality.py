"""What an attacker who knows the method believes after a release, by counting every assignment of secrets."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from itertools import permutations, product

Released = frozenset[tuple[frozenset[int], tuple[tuple[Hashable, int], ...]]]


def released(secrets: Sequence[Hashable], groups: Sequence[int]) -> Released:
    """Return what everybody sees who knows the quasi-identifiers: who is in which group, and the secrets of each."""
    members = defaultdict(list)
    for person, group in enumerate(groups):
        members[group].append(person)
    return frozenset(
        (frozenset(people), tuple(sorted(Counter(secrets[person] for person in people).items())))
        for people in members.values()
    )


def largest_surprise(runs: Iterable[tuple[Sequence[Hashable], Sequence[int]]]) -> Fraction:
    """Return by how much a belief about a person exceeds the share of the secret in the group, at most.

    `runs`: equally likely assignments of secrets to people, each with the groups that the method makes of it.
    """
    seen: dict[Released, Counter[tuple[int, Hashable]]] = defaultdict(Counter)
    often: Counter[Released] = Counter()
    for secrets, groups in runs:
        key = released(secrets, groups)
        often[key] += 1
        seen[key].update(enumerate(secrets))
    most = Fraction(0)
    for key, count in often.items():
        for people, counts in key:
            for person, (secret, number) in product(people, counts):
                most = max(most, abs(Fraction(seen[key][person, secret], count) - Fraction(number, len(people))))
    return most


def arrangements(secrets: Sequence[Hashable]) -> list[tuple[Hashable, ...]]:
    """Return every assignment of secrets to people."""
    return sorted(set(permutations(secrets)))


def forest_orders(shape: tuple[int, int, int, int]) -> list[list[int]]:
    """Return every order of the rows 0, 1, … of a forest that permutes pools, pairs, blocks and rows within each other."""

    def orders(first: int, sizes: tuple[int, ...]) -> list[list[int]]:
        if not sizes:
            return [[first]]
        width = 1
        for size in sizes[1:]:
            width *= size
        parts = [orders(first + i * width, sizes[1:]) for i in range(sizes[0])]
        return [
            [row for part in chosen for row in part]
            for order in permutations(range(sizes[0]))
            for chosen in product(*(parts[i] for i in order))
        ]

    return orders(0, shape)

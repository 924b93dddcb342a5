"""Whether the secrets of groups can be those of their people, against every assignment of people to rows."""

from __future__ import annotations

from collections import Counter
from itertools import permutations, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from naive_anatomy import fits, some_assignment
from sfumato.anatomy.checks import group_links
from sfumato.anatomy.checks.group_links import are_certain, are_linked, unlinked_secrets
from sfumato.data.groups import Groups
from sfumato.verification.original_checks import MatchedRows


@st.composite
def cases(draw):
    """True rows of a person and a secret, the groups of some of them, and secrets of each group: theirs, or others'."""
    pairs = draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=6))
    rows = draw(st.permutations(range(len(pairs))))[: draw(st.integers(1, len(pairs)))]
    groups = draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    order = draw(st.one_of(st.just(range(len(rows))), st.permutations(range(len(rows)))))
    numbers = np.unique(groups, return_inverse=True)[1].tolist()
    return pairs, list(rows), numbers, [pairs[rows[i]][1] for i in order]


def as_arrays(pairs, rows, groups, secrets):
    who, what = (np.array([pair[i] for pair in pairs]) for i in (0, 1))
    people = MatchedRows(who[rows], who, 3)
    return people, Groups(np.array(groups), max(groups) + 1, len(rows)), MatchedRows(np.array(secrets), what, 3)


def as_oracle(pairs, rows, groups, secrets):
    people = [({"who": pairs[row][0]}, group) for row, group in zip(rows, groups, strict=True)]
    found = {}
    for group, secret in zip(groups, secrets, strict=True):
        found.setdefault(group, Counter())[(secret,)] += 1
    return people, [(("what",), found)], [{"who": who, "what": what} for who, what in pairs]


@given(cases())
def test_against_every_assignment(case):
    pairs, rows, groups, _ = case
    people, grouped, matched = as_arrays(*case)
    its = np.array(groups)
    unlinked = unlinked_secrets(people, grouped, matched, its)
    possible = some_assignment(*as_oracle(*case))
    if possible:
        assert unlinked == 0
    if len(rows) == len(pairs) and are_certain(people, grouped):
        assert (unlinked == 0) == possible
    assert are_linked(np.array(rows), grouped, matched, its) == fits(*as_oracle(*case), rows)


@given(cases())
def test_the_most_secrets_that_people_of_their_group_can_have(case):
    """Group by group, the largest matching of people and secrets in which no pair occurs more often than in the original."""
    pairs, rows, groups, secrets = case
    times = Counter(pairs)
    total = 0
    for group in set(groups):
        here = [pairs[row][0] for row, own in zip(rows, groups, strict=True) if own == group]
        its = [secret for secret, own in zip(secrets, groups, strict=True) if own == group]
        best = 0
        for order, kept in product(permutations(its), product([True, False], repeat=len(its))):
            used = Counter((who, what) for who, what, keep in zip(here, order, kept, strict=True) if keep)
            if all(count <= times[pair] for pair, count in used.items()):
                best = max(best, sum(kept))
        total += len(its) - best
    assert unlinked_secrets(*as_arrays(*case), np.array(groups)) == total


@given(cases())
def test_people_are_certain_if_equal_ones_are_in_one_group(case):
    pairs, rows, groups, _ = case
    homes = {}
    for row, group in zip(rows, groups, strict=True):
        homes.setdefault(pairs[row][0], set()).add(group)
    assert are_certain(*as_arrays(*case)[:2]) == all(len(each) == 1 for each in homes.values())


def test_too_many_pairs_are_not_compared(monkeypatch):
    people, groups, secrets = as_arrays([(0, 0), (1, 1)], [0, 1], [0, 0], [0, 1])
    assert unlinked_secrets(people, groups, secrets, groups.of_row) == 0
    monkeypatch.setattr(group_links, "MOST_PAIRS", 3)
    assert unlinked_secrets(people, groups, secrets, groups.of_row) is None

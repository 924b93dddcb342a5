"""Replay: who knows the file but for two secrets runs the method again, and sees which assignment gives the groups.

The attacker knows the quasi-identifiers of everybody, so also who is in which group, the order of the file, and the secrets
of everybody but two members of one group. The release shows which two secrets these have, and not who has which: a blind
guess is right in half of the cases. An attacker who knows the seed runs the method on both assignments. If only one of them
gives the published groups, it is the true one.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.anonymization.methods import method_of
from sfumato.anonymization.unit_groups import find_groups
from sfumato.data.groups import renumber
from sfumato.seeds import secret_seed

ROWS, TABLES = 80, 10
REQUIREMENTS = {
    "glaze": (sf.KAnonymity(3), sf.FrequencyLDiversity(3)),
    "xcolor": (sf.Dissimilarity(epsilon=1, delta="0.5", k=4),),
}
SMALL = (0, 1, 2)
"""The seeds that an attacker tries who hopes that the publisher chose a small one."""


def people(number):
    draw = np.random.default_rng(number)
    return draw.integers(20, 70, ROWS), draw.integers(0, 2, ROWS), draw.integers(0, 5, ROWS)


def groups_of(method, columns, secrets, seed):
    """Return the group of each row of a file, as everybody who knows the quasi-identifiers sees it."""
    table = sf.Table(pa.table({"age": columns[0], "sex": columns[1], "pay": secrets}), sf.Schema(["age", "sex"], ["pay"]))
    return renumber(find_groups(sf.anonymization.Task(table, REQUIREMENTS[method]), method_of(method, {}), seed).of_row)


def pair_in(groups, secrets, draw):
    """Return two members of a group with different secrets."""
    while True:
        one, other = draw.choice(ROWS, 2, replace=False)
        if groups[one] == groups[other] and secrets[one] != secrets[other]:
            return one, other


def success(method, seed, tried):
    """Return how often the attacker names who has which secret; an undecided attacker is right in half of the cases."""
    draw, right = np.random.default_rng(9), 0.0
    for number in range(TABLES):
        *columns, secrets = people(number)
        published = groups_of(method, columns, secrets, secret_seed(seed))
        one, other = pair_in(published, secrets, draw)
        swapped = secrets.copy()
        swapped[[one, other]] = secrets[[other, one]]
        gives = [
            any(np.array_equal(groups_of(method, columns, guess, each), published) for each in tried)
            for guess in (secrets, swapped)
        ]
        right += 0.5 if gives[0] == gives[1] else float(gives[0])
    return right / TABLES


@pytest.mark.parametrize("method", REQUIREMENTS)
def test_a_seed_that_is_known_or_small_reveals_secrets(method):
    """What a secret seed prevents; it also shows that the next test could fail."""
    assert success(method, 2, SMALL) > 0.8


@pytest.mark.parametrize("method", REQUIREMENTS)
def test_a_seed_that_was_drawn_reveals_nothing(method, drawn_seeds):
    """No run of the attacker gives the groups, so the attacker stays undecided; one in ten may do so by chance."""
    assert abs(success(method, None, SMALL) - 0.5) <= 1 / TABLES

"""Inference of sensitive values against the oracle, and on releases with and without a weakness."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given

import naive_row_attacks as naive
from sfumato.attacks import AttributeInference
from small_releases import NAMES, small_release, small_releases


@given(small_releases())
def test_agrees_with_the_oracle(case):
    results = {result.about: result for result in AttributeInference().run(case.attacked)}
    assert len(results) == 4
    for secret in ("ill", "pay"):
        for known, about in ((2, "all quasi-identifiers"), (1, "1 of 2 quasi-identifiers")):
            result = results[f"{secret}, from {about}"]
            sets = list(combinations(NAMES, known))
            runs = [naive.inferred(case.people, case.rows, names, secret, True) for names in sets]
            chances = [naive.mean([chance for chance, _, _ in run]) for run in runs]
            assert result.success.share == pytest.approx(float(naive.mean(chances)))
            people = list(zip(*runs, strict=True))
            assert result.certain == sum(any(certain for _, certain, _ in person) for person in people)
            assert result.right == sum(any(right for _, _, right in person) for person in people)
            without = [naive.inferred(case.people, case.rows, names, secret, False) for names in sets]
            expected = naive.mean([naive.mean([chance for chance, _, _ in run]) for run in without])
            assert result.baselines["without the person's own row"].share == pytest.approx(float(expected))


def people(count, seed=0):
    random = np.random.default_rng(seed)
    ills = random.choice(["flu", "gout", "ulcer"], count, p=[0.5, 0.3, 0.2])
    return [{"age": n, "town": "a", "ill": str(ill), "pay": 5, "plan": "x"} for n, ill in enumerate(ills, start=1)]


def test_the_own_row_reveals_the_value():
    everybody = people(100)
    case = small_release(everybody, [{"age": str(p["age"]), "town": "a"} for p in everybody])
    result = AttributeInference().run(case.attacked)[0]
    assert (result.success.share, result.certain, result.right) == (1.0, 100, 100)
    assert result.exceeds


def test_what_statistics_reveal_is_not_counted():
    """Illness depends on age alone: it is guessed, but as well without the own row."""
    everybody = people(100)
    for person in everybody:
        person["ill"] = "flu" if person["age"] <= 50 else "gout"
    case = small_release(everybody, [{"age": "[1, 50]" if p["age"] <= 50 else "[51, 100]", "town": "a"} for p in everybody])
    result = AttributeInference().run(case.attacked)[0]
    assert result.success.share == result.baselines["without the person's own row"].share == 1.0
    assert result.exceeds is False


def test_one_large_group_reveals_what_the_table_does():
    everybody = people(300)
    case = small_release(everybody, [{"age": "*", "town": "*"}] * 300)
    result = AttributeInference().run(case.attacked)[0]
    assert result.success.share == result.baselines["the most frequent value of the table"].share
    assert (result.gain, result.certain) == (0, 0)

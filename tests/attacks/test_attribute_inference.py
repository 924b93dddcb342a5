"""Inference of sensitive values against the oracle, and on releases with and without a weakness."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given

import naive_row_attacks as naive
from sfumato.attacks import AttributeInference
from small_releases import NAMES, small_release, small_releases


@given(small_releases(several=True))
def test_agrees_with_the_oracle(case):
    results = {result.about: result for result in AttributeInference().run(case.attacked)}
    assert len(results) == 4
    attacked = case.attacked_rows
    for secret in ("ill", "pay"):
        for known, about in ((2, "all quasi-identifiers"), (1, "1 of 2 quasi-identifiers")):
            result = results[f"{secret}, from {about}"]

            def runs(own_row, secret=secret, known=known):
                sets = combinations(NAMES, known)
                found = [naive.inferred(case.people, case.rows, names, secret, own_row, case.who) for names in sets]
                return [[run[row] for row in attacked] for run in found]

            chances = [naive.mean([chance for chance, _, _ in run]) for run in runs(True)]
            assert result.success.share == pytest.approx(float(naive.mean(chances)))
            people = list(zip(*runs(True), strict=True))
            assert result.certain == sum(any(certain for _, certain, _ in person) for person in people)
            assert result.right == sum(any(right for _, _, right in person) for person in people)
            expected = naive.mean([naive.mean([chance for chance, _, _ in run]) for run in runs(False)])
            several = len({*case.who}) < len(case.who)
            without = result.baselines[f"without the person's own row{'s' * several}"]
            assert without.share == pytest.approx(float(expected))


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


def test_other_rows_of_a_person_are_no_statistics_about_other_people():
    """Everybody has an age and an illness of their own, in two rows: other people say nothing about it."""
    who = [n // 2 for n in range(100)]
    everybody = [{"age": n + 1, "town": "a", "ill": f"ill {n}", "pay": 5, "plan": "x"} for n in who]
    texts = [{"age": str(person["age"]), "town": "a"} for person in everybody]
    found = AttributeInference().run(small_release(everybody, texts, who=who).attacked)[0]
    assert (found.success.share, found.success.tried, found.certain) == (1.0, 50, 50)
    assert found.baselines["without the person's own rows"].share == 0
    assert found.exceeds
    # whoever takes each row for another person finds the secret in the other row
    rows = AttributeInference().run(small_release(everybody, texts).attacked)[0]
    assert rows.baselines["without the person's own row"].share == 1


def test_one_large_group_of_people_with_several_rows_reveals_nothing():
    everybody, who = people(300), [n // 3 for n in range(300)]
    result = AttributeInference().run(small_release(everybody, [{"age": "*", "town": "*"}] * 300, who=who).attacked)[0]
    assert result.success.tried == 100
    assert result.success.share == result.baselines["the most frequent value of the table"].share
    assert (result.exceeds, result.certain) == (False, 0)

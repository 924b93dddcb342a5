"""The 95 % intervals of rates cover the true rate in simulation, by themselves and in attacks on samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks import Rate
from sfumato.attacks.attacked_sources import attacked_release
from sfumato.registry import ATTACKS


@pytest.mark.parametrize("share", [0.02, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("tried", [50, 400])
def test_counted_rates(share, tried):
    right = np.random.default_rng(tried).binomial(tried, share, 1_000)
    rates = [Rate.of(int(count), tried) for count in right]
    assert np.mean([rate.low <= share <= rate.high for rate in rates]) >= 0.92


def test_mean_chances():
    random = np.random.default_rng(1)
    chances = 1 / random.integers(1, 9, (1_000, 100))
    true = np.mean(1 / np.arange(1, 9))
    rates = [Rate.mean(row) for row in chances]
    assert np.mean([rate.low <= true <= rate.high for rate in rates]) >= 0.95


@pytest.fixture(scope="module")
def attacked():
    random = np.random.default_rng(2)
    frame = pa.table(
        {
            "age": random.integers(20, 60, 1_500),
            "sex": random.choice(["f", "m"], 1_500),
            "ill": random.choice(["flu", "gout", "ulcer"], 1_500, p=[0.5, 0.3, 0.2]),
        }
    )
    schema = sf.Schema(["age", "sex"], ["ill"])
    return attacked_release(sf.anonymize(frame, schema, sf.KAnonymity(5), method="mondrian"))


@pytest.mark.parametrize("name", ["homogeneity", "linkage", "linkability", "inference"])
def test_attacks_on_samples_cover_what_all_people_give(attacked, name):
    attack = ATTACKS[name]()
    whole = attack.run(attacked)
    random = np.random.default_rng(3)
    inside = []
    for _ in range(60):
        part = replace(attacked, sample=100)
        part.__dict__["targets"] = np.sort(random.choice(len(attacked.rows), 100, replace=False))
        inside += [
            one.success.low <= all_people.success.share <= one.success.high
            for one, all_people in zip(attack.run(part), whole, strict=True)
        ]
    assert np.mean(inside) >= 0.92

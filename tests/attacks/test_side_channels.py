"""Side channels: silent on releases of sfumato; order, group numbers, spellings and metadata are found where planted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from naive_swaps import predicted, rank_correlation
from sfumato.attacks import side_channels
from sfumato.attacks.attacked_sources import attacked_release
from sfumato.attacks.side_channels import SideChannels

SCHEMA = sf.Schema(["age"], ["ill"])


@pytest.fixture(scope="module")
def release():
    draw = np.random.default_rng(0)
    data = pa.table({"age": draw.integers(20, 60, 600), "ill": [f"d{x}" for x in draw.integers(0, 5, 600)]})
    return sf.anonymize(data, SCHEMA, sf.KAnonymity(3), seed=1)


def run(seen):
    return SideChannels().run(seen)[0]


def test_a_release_is_in_an_order_that_says_nothing(release):
    result = run(attacked_release(release))
    assert not result.exceeds
    assert 0.01 < result.baselines["rows in random order"].share < 0.04
    for what in ("rows", "group numbers"):
        largest = max(map(abs, result.figures[f"rank correlation of {what}"].values()))
        assert largest < 1.5 * result.figures[f"largest correlation of {what} by chance"]
    assert result.figures["columns that spell a value in several ways"] == {}


@pytest.mark.parametrize("backwards", [False, True])
def test_the_order_of_the_original_is_noticed(release, backwards):
    seen = attacked_release(release)
    order = np.arange(600)[::-1] if backwards else np.arange(600)
    result = run(replace(seen, row_of_person=order.copy()))
    assert result.success.share == 1
    assert result.exceeds
    assert result.figures["positions predicted by"] == "position"
    assert abs(result.figures["rank correlation of rows"]["the order of the original"]) == 1


def test_group_numbers_in_the_order_of_the_original_are_noticed(release):
    seen = attacked_release(release)
    result = run(replace(seen, group_of_person=np.arange(600) // 3))
    assert result.figures["positions predicted by"] == "group number"
    assert result.success.share == 1
    assert result.figures["rank correlation of group numbers"]["the order of the original"] == 1


@given(st.permutations(range(12)))
def test_predictions_are_those_of_the_definition(order):
    clue = np.array(order)
    assert side_channels._predicted(clue, np.arange(12)) == predicted(order, 0.12)


@given(st.lists(st.integers(0, 4), min_size=2, max_size=9), st.integers(0, 2**31))
def test_correlations_are_those_of_ranks(values, seed):
    number = np.random.default_rng(seed).permutation(len(values)).astype(float)
    found = side_channels._correlation(number, np.array([side_channels._ranks(np.array(values))]))
    assert found[0] == pytest.approx(rank_correlation(number.tolist(), values), abs=1e-9)


def test_spellings_and_metadata_are_reported(tmp_path):
    data = pa.table({"age": ["30", "30", "31", "31"], "ill": ["0.10", "0.1", "2", "2"]})
    schema = sf.Schema(["age"], ["ill"], kinds={"ill": "numeric", "age": "numeric"})
    release = sf.anonymize(data, schema, sf.KAnonymity(2), seed=0)
    assert run(attacked_release(release)).figures["columns that spell a value in several ways"] == {"ill": 1}
    file = tmp_path / "data.parquet"
    pq.write_table(data.replace_schema_metadata({"note": "hidden"}), file)
    figures = run(replace(attacked_release(release), file=file)).figures
    assert figures["metadata of the file"] == ["note"]


def test_without_a_key_nothing_is_measured(release, tmp_path):
    release.save(tmp_path / "out", key=tmp_path / "key.json")
    original = release.private.original
    skipped = sf.attack(tmp_path / "out", original, attacks=["side-channels"]).skipped
    assert "needs its key" in skipped[0].reason
    assert (
        sf.attack(tmp_path / "out", original, key=tmp_path / "key.json", attacks=["side-channels"])[0].success.tried == 600
    )

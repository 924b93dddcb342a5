"""k^m-anonymity against a naive count of every combination, and in methods, releases and projections."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import sfumato as sf
from sfumato.principles import k_m_anonymity
from small_tables import by_group, tables

sets = st.one_of(st.frozensets(st.sampled_from("pqrstu"), max_size=5), st.none())


@given(tables(sets, most_rows=12, most_groups=3), st.integers(1, 4), st.integers(1, 4))
def test_every_combination_is_counted(rows, k, m):
    column = pa.array([None if one is None else sorted(one) for _, one in rows], pa.list_(pa.string()))
    frame = pa.table({"q": [g for g, _ in rows], "s": column})
    part = sf.audit(frame, sf.Schema(["q"], ["s"]), sf.KMAnonymity(k, m))[0].measurement.parts[0]
    levels = [naive.rarest_combination([one or () for one in group], m) for group in by_group(rows)]
    assert [part.at(g) for g in range(len(levels))] == levels
    assert part.holds.tolist() == [level >= k for level in levels]


def test_values_that_are_not_sets_are_sets_of_one():
    frame = pa.table({"q": [0, 0, 0, 1, 1], "s": ["a", "a", "b", "c", None]})
    part = sf.audit(frame, sf.Schema(["q"], ["s"]), sf.KMAnonymity(2, 3))[0].measurement.parts[0]
    assert [part.at(0), part.at(1)] == [Fraction(1), Fraction(1)]
    empty = pa.table({"q": [0, 0], "s": pa.array([[], []], pa.list_(pa.string()))})
    assert math.isinf(sf.audit(empty, sf.Schema(["q"], ["s"]), sf.KMAnonymity(9, 9))[0].measurement.level)


def baskets(rows):
    draw = np.random.default_rng(4)
    usual = [["bread", "milk"], ["bread", "tea"], ["milk", "tea"], ["bread", "milk", "tea"], []]
    chosen = draw.integers(0, len(usual), rows)
    return pa.table({"age": draw.integers(20, 60, rows), "bought": [usual[i] for i in chosen]})


@pytest.mark.parametrize("method", ["auto", "mondrian", "lattice"])
def test_methods_and_verification(method, tmp_path):
    people = baskets(200)
    schema = sf.Schema(["age"], ["bought"], hierarchies={"age": sf.Intervals((10, 20))})
    release = sf.anonymize(people, schema, sf.KMAnonymity(3, 2), method=method, seed=0)
    assert len(set(release.frame.column("group").to_pylist())) > 1
    folder = release.save(tmp_path / "out")
    assert sf.verify(folder, people).holds
    groups = {}
    for group, items in zip(*(release.frame.column(name).to_pylist() for name in ("group", "bought")), strict=True):
        groups.setdefault(group, []).append(tuple(items))
    assert min(naive.rarest_combination(group, 2) for group in groups.values()) >= 3


def test_an_impossible_table_is_known_before_the_search():
    people = pa.table({"age": [20, 30, 40], "bought": [["a", "b"], ["a"], ["b"]]})
    with pytest.raises(sf.SfumatoError, match="k\\^m-anonymity"):
        sf.anonymize(people, sf.Schema(["age"], ["bought"]), sf.KMAnonymity(2, 2), seed=0)


def test_too_many_combinations(monkeypatch):
    monkeypatch.setattr(k_m_anonymity, "MOST", 100)
    with pytest.raises(sf.errors.ParameterError, match=r"'bought' have [\d,]+ combinations of up to 2 items"):
        sf.audit(baskets(200), sf.Schema(["age"], ["bought"]), sf.KMAnonymity(2, 2))


@pytest.mark.parametrize("parameters", [{"k": 0, "m": 1}, {"k": 1, "m": 0}, {"k": 1, "m": 1.5}])
def test_bad_parameters(parameters):
    with pytest.raises(sf.errors.ParameterError, match="is not a whole number from 1"):
        sf.KMAnonymity(**parameters)

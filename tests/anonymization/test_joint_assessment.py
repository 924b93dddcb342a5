"""Joint verdicts against all partitions of small tables, each measured by its definition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import naive
import sfumato as sf
from all_partitions import all_partitions
from sfumato.anonymization import joint_feasibility
from sfumato.anonymization.joint_assessment import dealt_rows

REQUIREMENTS = [
    (sf.KAnonymity, lambda p, g: len(g) >= p.k),
    (sf.DistinctLDiversity, lambda p, g: naive.distinct(g) >= p.l),
    (sf.FrequencyLDiversity, lambda p, g: naive.frequency_l(g) >= p.l),
    (lambda n: sf.AlphaKAnonymity(Fraction(1, n), 2), lambda p, g: len(g) >= 2 and naive.alpha(g) <= p.alpha),
    (
        lambda n: sf.Dissimilarity(n, "0.6"),
        lambda p, g: naive.risk(g, lambda v, w: abs(v - w) <= p.epsilon) <= Fraction("0.4"),
    ),
    (
        lambda n: sf.Dissimilarity(1, Fraction(n, 5), 2),
        lambda p, g: len(g) >= 2 and naive.risk(g, lambda v, w: abs(v - w) <= 1) <= 1 - p.delta,
    ),
]

requested = st.lists(st.tuples(st.integers(0, len(REQUIREMENTS) - 1), st.integers(1, 4)), min_size=1, max_size=3)
values = st.lists(st.integers(0, 6), min_size=1, max_size=6)


def good_partitions(principles, oracles, rows, allowed=lambda group: True):
    for groups in all_partitions(len(rows)):
        if all(
            allowed(group) and holds(p, [rows[i] for i in group])
            for group in groups
            for p, holds in zip(principles, oracles, strict=True)
        ):
            yield groups


@given(values, requested)
@example([1, 2, 3, 4, 5, 6], [(0, 3), (4, 2)])
def test_verdicts_and_nearest_requirements(rows, wanted):
    principles = [REQUIREMENTS[which][0](n) for which, n in wanted]
    oracles = [REQUIREMENTS[which][1] for which, _ in wanted]
    table = sf.Table(pa.table({"x": rows}), sf.Schema(sensitive=["x"]))
    found = joint_feasibility(table, None, principles)
    good = list(good_partitions(principles, oracles, rows))
    if found.verdict == "impossible":
        assert not good
        assert found.groups == 0
    elif found.verdict == "guaranteed":
        assert any(len(groups) == found.groups for groups in good)
    quick = joint_feasibility(table, None, principles, nearby="quick")
    assert (quick.verdict == "impossible") == (found.verdict == "impossible")
    assert quick.groups <= found.groups
    for near in found.nearest:
        changed = [*principles]
        changed[near.position] = near.principle
        assert near.principle != principles[near.position]
        if len(wanted) == 1:
            assert joint_feasibility(table, None, changed).verdict != "impossible"


@given(values, st.integers(2, 6), st.integers(2, 6))
def test_nothing_stricter_than_the_nearest_is_possible(rows, k, l):
    """Between the nearest requirement and the requested one, all partitions fail."""
    table = sf.Table(pa.table({"x": rows}), sf.Schema(sensitive=["x"]))
    principles = [sf.KAnonymity(k), sf.DistinctLDiversity(l)]
    found = joint_feasibility(table, None, principles)
    nearest = {near.parameter: near.value for near in found.nearest}
    assert all(near.value < (k, l)[near.position] for near in found.nearest)
    if found.verdict == "impossible" and k <= len(rows):
        assert nearest["l"] == len(set(rows))  # the table as one group is the best for both
    assert found.verdict != "open"


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=6), st.integers(1, 3), st.integers(1, 3))
def test_rows_that_limits_keep_apart(rows, k, l):
    """Rows of a value that never mixes are in groups of their own."""
    table = sf.Table(
        pa.table({"end": ["died" if died else "home" for _, died in rows], "x": [x for x, _ in rows]}),
        sf.Schema(["end"], ["x"], never_mix={"end": ["died"]} if any(died for _, died in rows) else {}),
    )
    principles = [sf.KAnonymity(k), sf.DistinctLDiversity(l)]
    found = joint_feasibility(table, None, principles)
    good = list(
        good_partitions(
            principles,
            [REQUIREMENTS[0][1], REQUIREMENTS[1][1]],
            [x for x, _ in rows],
            lambda group: len({rows[i][1] for i in group}) == 1,
        )
    )
    assert (found.verdict == "impossible") == (not good)
    assert not found.groups or any(len(groups) == found.groups for groups in good)


def test_people_are_dealt_with_all_their_rows():
    table = sf.Table(
        pa.table({"who": [1, 1, 2, 3, 3, 4], "x": [1, 2, 1, 5, 6, 7]}), sf.Schema(sensitive=["x"], person_id="who")
    )
    found = joint_feasibility(table, None, sf.KAnonymity(2))
    assert (found.verdict, found.groups) == ("guaranteed", 2)
    assert joint_feasibility(table, None, sf.KAnonymity(5)).verdict == "impossible"


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=30), st.integers(1, 6))
def test_dealing_spreads_values_evenly(rows, groups):
    stratum, key = (np.array(column) for column in zip(*rows, strict=True))
    stratum = np.unique(stratum, return_inverse=True)[1]
    of_row = dealt_rows(stratum, [key], groups)
    assert sorted(set(of_row.tolist())) == list(range(int(of_row.max()) + 1))
    for s in set(stratum.tolist()):
        mine = sorted(set(of_row[stratum == s].tolist()))
        assert all((of_row[stratum != s] != group).all() for group in mine)
        for value in {*key.tolist()}:
            counts = [int(((of_row == group) & (key == value)).sum()) for group in mine]
            assert max(counts) - min(counts) <= 1


@pytest.mark.parametrize(("suppress", "verdict"), [("0", "impossible"), ("0.5", "open")])
def test_rows_that_may_be_dropped(suppress, verdict):
    table = pa.table({"x": ["a", "a", "a", "b"]})
    found = joint_feasibility(table, sf.Schema(sensitive=["x"]), sf.FrequencyLDiversity(2), suppress=suppress)
    assert found.verdict == verdict

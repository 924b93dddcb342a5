"""A large table is searched in parts: a partition whose groups are as valid as those of the whole, whatever the threads."""

from __future__ import annotations

import os
import pickle
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.anonymization.methods import Task
from sfumato.anonymization.methods.part_difficulty import Difficulty, crowding_share
from sfumato.anonymization.methods.part_search import failing_groups, search_part
from sfumato.anonymization.methods.partition_plan import LEAF, PartitionPlan, plan_parts
from sfumato.anonymization.methods.partitioned_search import part_seed, rows_around, search_in_parts, settled
from sfumato.anonymization.methods.search_problem import SearchProblem
from sfumato.anonymization.methods.search_state import SearchState

THOROUGH = os.environ.get("SFUMATO_PROFILE") == "thorough"

PRINCIPLES = [
    (sf.KAnonymity(3),),
    (sf.Dissimilarity(epsilon=2, delta="0.6", k=4),),
    (sf.AlphaKAnonymity(alpha="0.4", k=3),),
    (sf.DistinctLDiversity(3),),
    (sf.FrequencyLDiversity(3),),
    (sf.EntropyLDiversity("2.5"),),
    (sf.RecursiveLDiversity(c=2, l=2),),
    (sf.EpsilonMAnonymity(epsilon=2, m=3),),
    (sf.EpsilonMAnonymity(epsilon="0.3", m=2, nearness="relative"),),
    (sf.KEAnonymity(k=3, e=10),),
    (sf.VarianceControl(20),),
    (sf.TCloseness("0.4"),),
    (sf.TCloseness("0.2", ground="ordered"),),
    (sf.BetaLikeness(4),),
    (sf.DeltaDisclosure("2.5"),),
    (sf.KAnonymity(4), sf.Dissimilarity(epsilon=1, delta="0.7"), sf.TCloseness("0.3", ground="ordered")),
]
TREE = sf.Hierarchy.from_rows([["a", "X", "*"], ["b", "X", "*"], ["c", "Y", "*"], ["d", "Y", "*"], ["e", "Z", "*"]])


def task_of(rows, seed, principles, **schema):
    """A line with missing values, a tree, a set, and a secret that depends on the line and has rare values."""
    draw = np.random.default_rng(seed)
    age = draw.integers(18, 80, rows)
    secret = np.minimum(29, draw.exponential(8, rows) + (age > 60) * draw.integers(0, 9, rows)).astype(int)
    frame = pa.table(
        {
            "age": pa.array(age, mask=draw.random(rows) < 0.03),
            "place": draw.choice(list("abcde"), rows),
            "town": draw.choice([f"t{i}" for i in range(12)], rows),
            "secret": secret + 1,
        }
    )
    declared = sf.Schema(["age", "place", "town"], ["secret"], hierarchies={"place": TREE}, **schema)
    return Task(sf.Table(frame, declared), principles)


@given(st.integers(0, 2**31), st.sampled_from(PRINCIPLES), st.sampled_from([450, 700]), st.sampled_from([60, 150, 400]))
@settings(max_examples=1_000 if THOROUGH else 10)
def test_parts_are_as_valid_as_the_whole(seed, principles, rows, size):
    """Wherever a search of the whole table satisfies the principles, so does one in parts, also in very small ones."""
    task = task_of(rows, seed, principles)
    problem = SearchProblem.of(task)
    whole, parts = search_part(problem, seed), search_in_parts(problem, seed, size=size)
    assert sorted(set(parts.tolist())) == list(range(parts.max() + 1))
    assert task.satisfied(parts).all() or not task.satisfied(whole).all()
    assert (task.satisfied(parts) | failing_groups(problem, parts)).all(), "the search knows what fails"


@pytest.mark.parametrize("principles", [PRINCIPLES[1], PRINCIPLES[3]], ids=str)
def test_the_number_of_threads_does_not_matter(principles):
    problem = SearchProblem.of(task_of(1_800, 3, principles))
    found = [search_in_parts(problem, 5, size=450, workers=workers) for workers in (1, 2, 4)]
    assert found[0].tolist() == found[1].tolist() == found[2].tolist()


def test_the_environment_limits_the_threads(monkeypatch):
    task = task_of(2_500, 3, PRINCIPLES[1])

    class SmallParts(sf.Glaze):
        part_rows = 400

    found = []
    for workers in ("1", "3", ""):
        monkeypatch.setenv("SFUMATO_WORKERS", workers)
        found.append(SmallParts().group(task, 1).of_row.tolist())
    assert found[0] == found[1] == found[2]
    for wrong in ("0", "-1", "many", "1.5"):
        monkeypatch.setenv("SFUMATO_WORKERS", wrong)
        with pytest.raises(sf.errors.ParameterError, match="SFUMATO_WORKERS"):
            SmallParts().group(task, 1)


def test_a_problem_can_be_sent_to_another_process():
    problem = SearchProblem.of(task_of(500, 1, PRINCIPLES[-1]))
    part = problem.restricted(np.arange(100, 400), problem.progress)
    copy = pickle.loads(pickle.dumps(part))
    assert search_part(part, 3).tolist() == search_part(copy, 3).tolist()


def test_different_seeds_rounds_and_parts_have_different_seeds():
    seeds = {part_seed(*each) for each in ((0, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0), (2**127, 0, 0))}
    assert len(seeds) == 5
    assert all(0 <= seed < 2**64 for seed in seeds)


# ------------------------------------------------------------------------------ limits, people, weights


class TinyParts(sf.Glaze):
    """Glaze that searches every table in parts."""

    part_rows = 100


def people(rows, seed):
    draw = np.random.default_rng(seed)
    return pa.table(
        {
            "who": np.sort(draw.integers(0, rows // 2, rows)),
            "age": draw.integers(18, 80, rows),
            "end": draw.choice(["home", "died", "moved"], rows, p=[0.6, 0.3, 0.1]),
            "town": draw.choice(list("abcdefgh"), rows),
            "pay": draw.integers(1, 400, rows),
        }
    )


@pytest.mark.parametrize(
    "schema",
    [
        sf.Schema(["age", "end", "town"], ["pay"], never_mix={"end": ["died"]}),
        sf.Schema(["age", "end", "town"], ["pay"], person_id="who"),
        sf.Schema(["age", "end", "town"], ["pay"], weights={"age": 5}, identifiers=["who"]),
        sf.Schema(["age", "end", "town"], ["pay"], preserve=[("age", "pay")], identifiers=["who"]),
    ],
    ids=["strata", "people", "weights", "associations"],
)
def test_a_release_of_parts_holds(schema):
    table = people(1_500, 4)
    kept = table if schema.person_id or schema.identifiers else table.drop_columns(["who"])
    principle = sf.Dissimilarity(epsilon=3, delta="0.6", k=5)
    release = sf.anonymize(kept, schema, principle, method=TinyParts(), seed=2)
    assert all(finding.holds for finding in release.audit)
    assert release.audit.groups.count > 100


# ------------------------------------------------------------------------------ the plan


@given(st.integers(0, 2**31), st.sampled_from(PRINCIPLES), st.sampled_from([40, 200]), st.integers(1, 4))
@settings(max_examples=500 if THOROUGH else 20)
def test_a_plan_divides_every_row(seed, principles, size, every):
    """From all rows or a sample; whole or chunk by chunk; and no part that fits is cut."""
    problem = SearchProblem.of(task_of(700, seed, principles))
    sample = np.arange(0, problem.rows, every)
    constraints = problem.constraints.restricted(sample)
    plan = plan_parts(problem.places[sample], problem.shares, constraints, size, problem.rows)
    again = plan_parts(problem.places[sample], problem.shares, constraints, size, problem.rows)
    parts = plan.parts_of(problem.places)
    assert parts.tolist() == again.parts_of(problem.places).tolist()
    assert set(parts[sample].tolist()) == set(range(plan.count)), "no part of the sample is empty"
    assert set(parts.tolist()) == set(range(plan.count))
    chunks = [plan.parts_of(problem.places[start : start + 97], start) for start in range(0, 700, 97)]
    assert np.concatenate(chunks).tolist() == parts.tolist()
    shifted = plan_parts(problem.places[sample], problem.shares, constraints, size, problem.rows, plan)
    assert set(shifted.parts_of(problem.places[sample]).tolist()) == set(range(shifted.count))


def test_parts_have_the_requested_size_where_nothing_is_hard():
    problem = SearchProblem.of(task_of(4_000, 1, (sf.KAnonymity(3),)))
    plan = plan_parts(problem.places, problem.shares, problem.constraints, 500)
    sizes = np.bincount(plan.parts_of(problem.places))
    assert sizes.max() <= 500
    assert sizes.min() >= 100, "a quarter of the size, less what ties take"
    shifted = plan_parts(problem.places, problem.shares, problem.constraints, 500, shifted=plan)
    assert (
        len(set(zip(plan.attribute, plan.place, strict=True)) & set(zip(shifted.attribute, shifted.place, strict=True)))
        < (plan.attribute != LEAF).sum() // 2 + 1
    ), "most cuts are others"


def test_a_cut_that_leaves_a_hard_side_is_refused():
    """Those above 60 have one secret: alone they cannot satisfy the principle, so no cut separates them from the others."""
    rows = 4_000
    draw = np.random.default_rng(0)
    age, district = draw.integers(20, 80, rows), draw.integers(0, 8, rows)
    secret = np.where((age > 60) & (draw.random(rows) < 0.9), 0, draw.integers(1, 1_000, rows))
    table = pa.table({"age": age, "district": district, "secret": secret})
    schema = sf.Schema(["age", "district"], ["secret"], kinds={"district": "numeric"}, weights={"age": 3})
    task = Task(sf.Table(table, schema), (sf.Dissimilarity(epsilon=0, delta="0.6", k=5),))
    problem = SearchProblem.of(task)
    parts = plan_parts(problem.places, problem.shares, problem.constraints, 400).parts_of(problem.places)
    assert parts.max() > 2
    assert all((secret[parts == part] == 0).mean() < 0.5 for part in range(parts.max() + 1)), "three rows of six at most"
    easy = replace(problem.constraints, neighbour_limits=())
    parts = plan_parts(problem.places, problem.shares, easy, 400).parts_of(problem.places)
    assert any((secret[parts == part] == 0).mean() > 0.5 for part in range(parts.max() + 1)), "otherwise a cut would"
    assert task.satisfied(search_in_parts(problem, 0, size=400)).all()


def test_equal_rows_are_dealt_out_in_turn():
    """No cut divides rows whose quasi-identifiers are equal, however many they are."""
    plan = PartitionPlan(np.array([LEAF]), np.array([0]), np.array([0]), np.array([3]))
    places = np.zeros((10, 1), np.int32)
    assert plan.parts_of(places, first_row=2).tolist() == [2, 0, 1, 2, 0, 1, 2, 0, 1, 2]
    problem = SearchProblem.of(Task(sf.Table(pa.table({"x": ["a"] * 900}), sf.Schema(["x"])), (sf.KAnonymity(2),)))
    plan = plan_parts(problem.places, problem.shares, problem.constraints, 50)
    sizes = np.bincount(plan.parts_of(problem.places))
    assert len(sizes) == 2
    assert sizes.tolist() == [450, 450]


@given(st.lists(st.integers(0, 12), min_size=1, max_size=30), st.integers(0, 4))
def test_crowding_is_the_largest_set_of_values_that_are_all_near(secrets, epsilon):
    table = sf.Table(pa.table({"x": [1] * len(secrets), "secret": secrets}), sf.Schema(["x"], ["secret"]))
    problem = SearchProblem.of(Task(table, (sf.Dissimilarity(epsilon=epsilon, delta="0.5", k=2),)))
    largest = max(
        len(some)
        for some in (
            [s for s in secrets if low <= s <= low + epsilon]  # along a line, all are near iff the extremes are
            for low in secrets
        )
    )
    limit = problem.constraints.neighbour_limits[0]
    assert crowding_share(limit, np.arange(len(secrets))) == pytest.approx(largest / len(secrets))


@given(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=30))
def test_crowding_in_a_taxonomy_is_that_of_the_largest_class(secrets):
    """Bits instead of windows: values are near if they have the same parent, so nearness is transitive."""
    tree = sf.Hierarchy.from_rows([[v, "XYZ"["abcdefg".index(v) % 3], "*"] for v in "abcdefg"])
    schema = sf.Schema(["x"], ["secret"], hierarchies={"secret": tree}, distance=sf.distances.Taxonomy())
    table = sf.Table(pa.table({"x": [1] * len(secrets), "secret": secrets}), schema)
    problem = SearchProblem.of(Task(table, (sf.Dissimilarity(epsilon="0.5", delta="0.5", k=2),)))
    classes = np.array(["abcdefg".index(v) % 3 for v in secrets])
    limit = problem.constraints.neighbour_limits[0]
    assert crowding_share(limit, np.arange(len(secrets))) == pytest.approx(np.bincount(classes).max() / len(secrets))


def test_a_part_without_common_or_without_rare_values_is_hard():
    secrets = np.where(np.arange(1_000) % 10 == 0, 2, 1)
    table = sf.Table(pa.table({"x": np.arange(1_000), "secret": secrets}), sf.Schema(["x"], ["secret"]))
    common, rare = np.flatnonzero(secrets == 1)[:300], np.flatnonzero(secrets == 2)
    for principle, hard in (
        (sf.DistinctLDiversity(2), common),
        (sf.TCloseness("0.15"), common),
        (sf.DeltaDisclosure(1), common),
        (sf.BetaLikeness(1), rare),
    ):
        difficulty = Difficulty(SearchProblem.of(Task(table, (sf.KAnonymity(5), principle))).constraints)
        assert difficulty.allows(np.arange(300)), principle.label
        assert not difficulty.allows(hard), principle.label


# ------------------------------------------------------------------------------ pools


def test_failing_groups_are_solved_with_those_around_them():
    """All rows of some groups have one secret; the groups around them have what they need."""
    rows = 1_200
    secrets = np.where(np.arange(rows) % 100 < 6, -1, np.arange(rows))
    table = sf.Table(pa.table({"x": np.arange(rows), "secret": secrets}), sf.Schema(["x"], ["secret"]))
    task = Task(table, (sf.Dissimilarity(epsilon=0, delta="0.8", k=6),))
    problem, labels = SearchProblem.of(task), np.arange(rows) // 6
    failing = failing_groups(problem, labels)
    assert failing.sum() == 12, "a group in every hundred rows has four or six of the six equal ones, and two are allowed"
    around = rows_around(problem, labels, failing, 300)
    assert set(np.flatnonzero(failing[labels])) <= set(around.tolist())
    assert 300 <= len(around) < 400
    assert not set(labels[around]) & set(np.delete(labels, around)), "whole groups"
    solved = settled(problem, labels, failing, 0, 1, size=100)
    assert task.satisfied(solved).all()
    pool = set(rows_around(problem, labels, failing, 8 * int(failing[labels].sum())).tolist())
    far = [g for g in range(200) if not pool & set(np.flatnonzero(labels == g))]
    assert len(far) > 90
    for g in far:  # groups that are not in the pool stay as they are
        assert set(np.flatnonzero(solved == solved[labels == g][0])) == set(np.flatnonzero(labels == g))


def test_large_groups_that_no_search_satisfies_end(monkeypatch):
    """Nearly every row is a neighbour of half of the others, and k is larger than a part: whole, in parts and in pools.

    Each pass is bounded by the rows, not by the pairs in groups of k. That is shown by the work that it counts.
    """
    rows, passes, exchange_pass = 900, [], SearchState.exchange_pass

    def counted(state, *arguments, **options):
        before, arrays = int(state.arrays.work[0]), state.arrays
        changes = exchange_pass(state, *arguments, **options)
        passes.append((int(arrays.work[0]) - before) / state.pass_work)
        return changes

    monkeypatch.setattr(SearchState, "exchange_pass", counted)
    frame = sf.synthetic_census(rows, seed=5).select(["age", "sex", "race", "marital", "income"])
    schema = sf.Schema(["age", "sex", "race", "marital"], ["income"])
    task = Task(sf.Table(frame, schema), (sf.Dissimilarity(24, "0.5", 4), sf.KAnonymity(2 * rows // 5)))
    grouping = TinyParts().group(task, 0)
    assert not task.satisfied(grouping.of_row).all()
    assert 0.5 < max(passes) < 1.1, "the budget of a pass, and one try"
    assert len(passes) < 2_000


def test_what_no_grouping_satisfies_ends():
    """Half of the rows have one secret: the pool grows to the whole table, and the search ends."""
    secrets = np.where(np.arange(150) % 2 == 0, -1, np.arange(150))
    table = sf.Table(pa.table({"x": np.arange(150), "secret": secrets}), sf.Schema(["x"], ["secret"]))
    task = Task(table, (sf.Dissimilarity(epsilon=0, delta=1, k=4),))
    grouping = TinyParts().group(task, 0)
    assert not task.satisfied(grouping.of_row).all()

"""Glaze: it groups all rows, satisfies every supported principle, finds solutions that exist, and loses little."""

from __future__ import annotations

import os
from statistics import median

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from exhaustive import best_loss, loss_of, random_case, table_of
from sfumato.anonymization.methods import method_of
from sfumato.anonymization.methods.cell_share_arrays import share_arrays
from sfumato.anonymization.methods.part_search import search_part
from sfumato.anonymization.methods.search_constraints import SearchConstraints, scratch_counts
from sfumato.anonymization.methods.search_problem import SearchProblem
from sfumato.anonymization.recoding import recode
from sfumato.anonymization.utility import mean_loss
from sfumato.kernels.cell_shares import share
from sfumato.kernels.group_excess import histogram_excess
from sfumato.kernels.group_packing import pack
from sfumato.registry import METHODS

CASES = 2_000 if os.environ.get("SFUMATO_PROFILE") == "thorough" else 60

SUPPORTED = [
    sf.KAnonymity(4),
    sf.Dissimilarity(epsilon=3, delta="0.6", k=4),
    sf.AlphaKAnonymity(alpha="0.4", k=4),
    sf.DistinctLDiversity(3),
    sf.FrequencyLDiversity(3),
    sf.EntropyLDiversity("2.5"),
    sf.RecursiveLDiversity(c=2, l=2),
    sf.PSensitivity(p=3, k=4),
    sf.EpsilonMAnonymity(epsilon=2, m=3),
    sf.EpsilonMAnonymity(epsilon="0.3", m=2, nearness="relative"),
    sf.DeltaLDiversity(delta=1, l=3),
    sf.KEAnonymity(k=3, e=10),
    sf.VarianceControl(20),
    sf.TCloseness("0.45"),
    sf.TCloseness("0.2", ground="ordered"),
    sf.BetaLikeness(6),
    sf.BetaLikeness(6, variant="enhanced"),
]


def people(rows, seed, secrets=range(1, 31)):
    draw = np.random.default_rng(seed)
    return pa.table(
        {
            "age": draw.integers(18, 80, rows),
            "sex": draw.choice(["f", "m"], rows),
            "place": draw.choice(list("abcde"), rows),
            "secret": draw.choice(list(secrets), rows),
        }
    )


def task_of(frame, *principles, **schema):
    tree = sf.Hierarchy.from_rows([["a", "X", "*"], ["b", "X", "*"], ["c", "Y", "*"], ["d", "Y", "*"], ["e", "Z", "*"]])
    declared = sf.Schema(["age", "sex", "place"], ["secret"], hierarchies={"place": tree}, **schema)
    return sf.anonymization.Task(sf.Table(frame, declared), principles)


@pytest.mark.parametrize("principle", SUPPORTED, ids=lambda p: p.label)
def test_every_principle_is_supported(principle):
    task = task_of(people(600, seed=1), principle)
    assert task.satisfied(np.zeros(600, np.int64)).all() or not principle.monotone, "the whole table must satisfy it"
    grouping = sf.Glaze().group(task)
    assert len(grouping.of_row) == 600
    assert np.unique(grouping.of_row).tolist() == list(range(grouping.count))
    assert task.satisfied(grouping.of_row).all()
    assert grouping.count > 5, "the table is not merged into a few groups"


def test_several_principles_at_once():
    principles = [sf.KAnonymity(5), sf.Dissimilarity(epsilon=2, delta="0.7"), sf.TCloseness("0.3", ground="ordered")]
    task = task_of(people(500, seed=2), *principles, sf.DistinctLDiversity(4))
    grouping = sf.Glaze().group(task)
    assert task.satisfied(grouping.of_row).all()
    assert grouping.count > 3


def test_a_principle_that_is_not_supported_is_an_error():
    task = task_of(people(50, seed=3), sf.NTCloseness(n=20, t="0.5"))
    with pytest.raises(sf.errors.ParameterError, match="mondrian"):
        sf.Glaze().group(task)


@pytest.mark.parametrize("name", [*METHODS, "auto"])
def test_same_seed_same_groups(name):
    task = task_of(people(400, seed=4), sf.Dissimilarity(epsilon=2, delta="0.6", k=5))
    method = method_of(name, {})
    assert method.group(task, 7).of_row.tolist() == method.group(task, 7).of_row.tolist()


def test_seeds_differ():
    task = task_of(people(1000, seed=4), sf.Dissimilarity(epsilon=2, delta="0.8", k=5))
    assert sf.Glaze().group(task, 1).of_row.tolist() != sf.Glaze().group(task, 2).of_row.tolist()


def test_more_effort_loses_no_more():
    """Over several seeds: a search that has converged wins or loses by chance."""
    task = task_of(people(3000, seed=5), sf.Dissimilarity(epsilon=2, delta="0.7", k=5))

    def loss(effort, seed):
        of_row = sf.Glaze(effort=effort).group(task, seed).of_row
        assert task.satisfied(of_row).all()
        return published_loss(task, of_row)

    seeds = range(4)
    assert sum(loss(4, seed) for seed in seeds) < 1.01 * sum(loss(1, seed) for seed in seeds)


@pytest.mark.parametrize("effort", [0, -1, 1.5, True, "2"])
def test_effort_is_a_whole_number(effort):
    with pytest.raises(sf.errors.ParameterError, match="effort"):
        sf.Glaze(effort=effort)


def test_it_finds_solutions_that_exist_and_loses_little():
    """Against all partitions of small tables: a solution in at least 99 of 100, the median loss within 5 % of the best."""
    possible, missed, ratios = 0, [], []
    for seed in range(CASES):
        rows, principle, fine = random_case(seed)
        best = best_loss(rows, fine)
        task = sf.anonymization.Task(table_of(rows), (principle,))
        of_row = sf.Glaze().group(task).of_row
        groups = [np.flatnonzero(of_row == g).tolist() for g in range(of_row.max() + 1)]
        found = all(fine([rows[i][3] for i in group]) for group in groups)
        assert found == bool(task.satisfied(of_row).all())
        if best is None:
            assert not found
            continue
        possible += 1
        if not found:
            missed.append((seed, principle.label))
            continue
        loss = loss_of(groups, rows)
        assert loss >= best
        ratios.append(1 if loss == best else float(loss / best) if best else float("inf"))
    print(f"{possible} possible, missed: {missed}; optimal: {ratios.count(1)}")
    assert len(missed) <= possible / 100, missed
    assert median(ratios) <= 1.05


def test_larger_groups_where_k_itself_is_too_tight():
    """At δ = 0.8 ten rows allow one neighbour, eleven allow two: k = 10 leads to groups of eleven."""
    # three equal values: one neighbour too many for each in a group of ten
    secrets = [value for value in range(0, 400, 100) for _ in range(3)][:11]
    frame = pa.table({"age": list(range(22)), "secret": secrets * 2})
    table = sf.Table(frame, sf.Schema(["age"], ["secret"]))
    task = sf.anonymization.Task(table, (sf.Dissimilarity(epsilon=1, delta="0.8", k=10),))
    grouping = sf.Glaze().group(task)
    assert sorted(np.bincount(grouping.of_row).tolist()) == [11, 11]
    assert task.satisfied(grouping.of_row).all()


@given(st.integers(0, 2**31), st.integers(2, 5), st.sampled_from(["0.5", "0.7", "0.8", "1"]), st.integers(0, 4))
def test_packed_groups_have_no_neighbour_too_many(seed, k, delta, epsilon):
    task = task_of(people(60, seed, secrets=range(12)), sf.Dissimilarity(epsilon=epsilon, delta=delta, k=k))
    constraints = SearchConstraints.of(task)
    size = constraints.roomiest_size(2 * constraints.least)
    out = np.empty(60, np.int64)
    left = pack(constraints.neighbour_limit_arrays(60), np.arange(60), size, 60 // size, out)
    assert left == (out < 0).sum()
    assert np.bincount(out[out >= 0]).min(initial=size) >= size
    kept = np.flatnonzero(out >= 0)
    if len(kept):
        part = sf.anonymization.Task(sf.Table(task.table.data.take(pa.array(kept)), task.table.schema), task.principles)
        assert part.satisfied(np.unique(out[kept], return_inverse=True)[1]).all()


@given(st.integers(0, 2**31), st.sampled_from([p for p in SUPPORTED if p.monotone]))
def test_no_excess_means_satisfied(seed, principle):
    """The excess that the search lowers is 0 exactly where the principle holds."""
    task = task_of(people(40, seed, secrets=range(1, 9)), principle)
    constraints = SearchConstraints.of(task)
    draw = np.random.default_rng(seed)
    of_row = draw.integers(0, 4, 40)
    _, of_row = np.unique(of_row, return_inverse=True)
    exact = task.satisfied(of_row)
    conditions = constraints.condition_arrays()
    for group in range(of_row.max() + 1):
        rows = np.flatnonzero(of_row == group)
        missing = sum(
            histogram_excess(conditions, h, condition.values[rows].copy(), len(rows), scratch_counts(conditions))
            for h, condition in enumerate(constraints.conditions)
        )
        for limit in constraints.neighbour_limits:
            values = limit.values[rows]
            most = max(int((values == v).sum()) for v in values) - 1
            missing += max(0, most - limit.allowed(len(rows)))
        missing += len(rows) < (principle.implied_k or 1)
        assert (missing == 0) == exact[group]


@given(st.integers(0, 2**31))
def test_costs_in_the_search_are_the_shares_that_are_published(seed):
    """Intervals, ordinal intervals and trees, missing values too."""
    draw = np.random.default_rng(seed)
    frame = pa.table(
        {
            "age": pa.array([None if x == 7 else int(x) for x in draw.integers(0, 9, 12)], pa.int64()),
            "size": draw.choice(["S", "M", "L", "XL"], 12),
            "place": draw.choice(list("abcde"), 12),
        }
    )
    tree = sf.Hierarchy.from_rows([["a", "X", "*"], ["b", "X", "*"], ["c", "Y", "*"], ["d", "Y", "*"], ["e", "Z", "*"]])
    schema = sf.Schema(["age", "size", "place"], orders={"size": ["S", "M", "L", "XL"]}, hierarchies={"place": tree})
    task = sf.anonymization.Task(sf.Table(frame, schema), (sf.KAnonymity(1),))
    shares = share_arrays(task.domains)
    for j, domain in enumerate(task.domains):
        for low in range(domain.size + 1):
            for high in range(low, domain.size + 1):
                assert share(shares, j, low, high, 1) == pytest.approx(domain.share(low, high))


def test_a_large_tree_is_searched_level_by_level():
    """Beyond 512 leaves there is no table of pairs."""
    rows = [[f"{i:04}", f"{i // 10:03}", f"{i // 100:02}", "*"] for i in range(1000)]
    draw = np.random.default_rng(0)
    frame = pa.table({"zip": [f"{i:04}" for i in draw.integers(0, 1000, 300)], "secret": draw.integers(0, 50, 300)})
    schema = sf.Schema(["zip"], ["secret"], hierarchies={"zip": sf.Hierarchy.from_rows(rows)})
    task = sf.anonymization.Task(sf.Table(frame, schema), (sf.KAnonymity(3),))
    shares, domain = share_arrays(task.domains), task.domains[0]
    for low, high in [(0, 1), (3, 17), (5, 999), (10, 19), (20, 150)]:
        assert share(shares, 0, low, high, 1) == pytest.approx(domain.share(low, high))
    assert task.satisfied(sf.Glaze().group(task).of_row).all()


def test_sets_of_values():
    """Categories without a hierarchy are published as sets, and groups are made so that the sets are small."""
    draw = np.random.default_rng(0)
    frame = pa.table({"town": draw.choice([f"t{i}" for i in range(30)], 300), "secret": draw.integers(0, 9, 300)})
    task = sf.anonymization.Task(
        sf.Table(frame, sf.Schema(["town"], ["secret"])), (sf.KAnonymity(5), sf.DistinctLDiversity(3))
    )
    grouping = sf.Glaze().group(task)
    assert task.satisfied(grouping.of_row).all()
    recoded = recode(task.table, sf.data.Groups.partition(task.table, grouping.of_row, grouping.count))
    assert mean_loss(recoded) < 0.05, "about ten rows per town: few towns are mixed"


@pytest.mark.parametrize("k", [300, 600, 1000])
def test_a_table_of_twice_k_rows_makes_two_groups(k):
    draw = np.random.default_rng(k)
    people = pa.table({"age": draw.integers(0, 1000, 2 * k), "town": draw.integers(0, 40, 2 * k)})
    task = sf.anonymization.Task(sf.Table(people, sf.Schema(["age", "town"])), (sf.KAnonymity(k),))
    assert np.bincount(sf.Glaze().group(task).of_row).tolist() == [k, k]


def test_too_few_rows_for_two_groups():
    task = task_of(people(7, seed=0), sf.KAnonymity(4))
    assert sf.Glaze().group(task).of_row.tolist() == [0] * 7


@given(st.integers(0, 2**31), st.sampled_from([*SUPPORTED, sf.DeltaDisclosure("2.5")]), st.sampled_from([60, 500]))
@settings(max_examples=2_000 if os.environ.get("SFUMATO_PROFILE") == "thorough" else 25)
def test_never_worse_than_mondrian(seed, principle, rows):
    """Where Mondrian satisfies the principle, glaze does, and loses no more."""
    draw = np.random.default_rng(seed)
    secrets = draw.choice(np.arange(1, 31), rows, p=np.arange(30, 0, -1) / 465)  # some are rare
    task = task_of(people(rows, seed).set_column(3, "secret", pa.array(secrets)), principle)
    mondrian, glaze = sf.Mondrian().group(task), sf.Glaze().group(task, seed)
    bad = [int(np.bincount(g.of_row)[~task.satisfied(g.of_row)].sum()) for g in (mondrian, glaze)]
    assert bad[1] <= bad[0]
    if bad[0] == bad[1]:
        assert published_loss(task, glaze.of_row) <= published_loss(task, mondrian.of_row) + 1e-12


@pytest.mark.parametrize(
    "principle", [sf.BetaLikeness(2), sf.DeltaDisclosure(2), sf.TCloseness("0.2")], ids=lambda p: p.name
)
@pytest.mark.parametrize("sensitive", ["education", "workclass", "marital"])
def test_the_search_alone_loses_less_than_mondrian_where_groups_must_be_like_the_table(sensitive, principle):
    """Without the groups of Mondrian as a start: such principles need large groups around rare values."""
    columns = [name for name in ("age", "sex", "marital", "race", "education") if name != sensitive]
    table = sf.Table(sf.synthetic_census(3000, seed=1), sf.Schema(columns, [sensitive]))
    task = sf.anonymization.Task(table, (principle, sf.KAnonymity(5)))
    mondrian, found = sf.Mondrian().group(task).of_row, search_part(SearchProblem.of(task), seed=0)
    assert task.satisfied(found).all()
    assert published_loss(task, found) < published_loss(task, mondrian)


def published_loss(task, of_row):
    return mean_loss(recode(task.table, sf.data.Groups.partition(task.table, of_row, int(of_row.max()) + 1)))


def test_the_number_of_groups_is_bounded_by_rare_values():
    """Ten rows have the rare value, and two values are required: no more than ten groups."""
    frame = people(500, seed=0, secrets=[1]).set_column(3, "secret", pa.array([2] * 10 + [1] * 490))
    task = task_of(frame, sf.DistinctLDiversity(2), sf.KAnonymity(4))
    assert SearchConstraints.of(task).most_groups(500) == 10
    grouping = sf.Glaze().group(task)
    assert task.satisfied(grouping.of_row).all()
    assert 1 < grouping.count <= 10

"""The method exact, and the feasibility of small tables, against all groupings by definition."""

from __future__ import annotations

import os
import random
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from all_partitions import all_partitions, graph_table
from exhaustive import best_loss, loss_of, random_case, table_of
from sfumato.anonymization import Task
from sfumato.anonymization.exact_search import PossibleGroups
from sfumato.anonymization.exact_search import cheapest_partition as programs
from sfumato.anonymization.exact_search.best_partition import best_partition
from sfumato.anonymization.exact_search.cheapest_partition import cheapest_partition
from sfumato.anonymization.exact_search.leftovers import settled_leftovers
from sfumato.anonymization.exact_search.possible_groups import allowed_groups
from sfumato.anonymization.methods.exact import Exact
from sfumato.registry import PRINCIPLES

THOROUGH = os.environ.get("SFUMATO_PROFILE") == "thorough"
INSTANCES = 3_000 if THOROUGH else 40
PROGRAMS = 600 if THOROUGH else 12


def people(rows, seed):
    draw = random.Random(seed)
    return table_of(
        [(draw.randint(20, 80), draw.choice("fm"), draw.choice("abcde"), draw.randint(0, 30)) for _ in range(rows)]
    )


def groups_of(of_row):
    return [np.flatnonzero(of_row == group).tolist() for group in range(int(of_row.max()) + 1)]


def test_every_small_instance_is_decided_with_the_least_loss():
    """Against all partitions by definition: the same verdict, and the same loss; in the thorough profile 3,000 tables."""
    possible = 0
    for seed in range(INSTANCES):
        rows, principle, fine = random_case(seed)
        best = best_loss(rows, fine)
        task = Task(table_of(rows), (principle,))
        grouping = Exact().group(task)
        assert grouping.private == (
            "no grouping satisfies the requirements: it was proven"
            if best is None
            else "no grouping loses less: it was proven",
        )
        verdict = sf.feasibility(task.table, None, principle, nearby=False).verdict
        assert verdict == ("impossible" if best is None else "guaranteed")
        if best is not None:
            possible += 1
            groups = groups_of(grouping.of_row)
            assert all(fine([rows[i][3] for i in group]) for group in groups)
            assert float(loss_of(groups, rows)) == pytest.approx(float(best), abs=1e-12)
    assert 0 < possible < INSTANCES


def test_linear_programs_agree_with_all_partitions():
    """The search for up to 60 rows, on tables that are small enough to try all partitions."""
    proofs = []
    for seed in range(PROGRAMS):
        rows, principle, fine = random_case(seed)
        best = best_loss(rows, fine)
        result = cheapest_partition(Task(table_of(rows), (principle,)))
        proofs.append(result.proof)
        if best is None:
            assert (result.proof, result.of_row) == ("none", None)
        else:
            assert result.proof == "best"
            cost = 3 * len(rows) * float(best)
            assert result.cost == pytest.approx(cost, abs=1e-6)
            assert all(fine([rows[i][3] for i in group]) for group in groups_of(result.of_row))
    assert "best" in proofs


@pytest.mark.parametrize("distance", [sf.distances.Absolute(), sf.distances.Lp()], ids=["along an order", "pair by pair"])
@pytest.mark.parametrize("shape", ["ball", "clique", "chain", "cycle"])
def test_linear_programs_leave_out_no_group_of_another_shape(shape, distance):
    """Conditions that guide a search may exclude groups in which a principle holds; a proof may exclude none."""
    found = []
    for seed in range(200 if THOROUGH else 5):
        draw = random.Random(seed)
        secrets = {"secret": [draw.randint(0, 12) for _ in range(7)], "other": [draw.randint(0, 2) for _ in range(7)]}
        names = ["secret"] if isinstance(distance, sf.distances.Absolute) else [*secrets]
        frame = pa.table({"age": [draw.randint(20, 80) for _ in range(7)], **secrets})
        table = sf.Table(frame, sf.Schema(["age"], names, distance=distance))
        epsilon = 1 if len(names) == 1 else "0.15"
        task = Task(table, (sf.Dissimilarity(epsilon, "0.5", 2, on="whole", shape=shape),))
        groups = PossibleGroups.of(task)
        best, result = best_partition(groups), cheapest_partition(task)
        assert result.proof == ("none" if best is None else "best")
        if best is not None:
            cost = dict(zip(groups.masks.tolist(), groups.costs.tolist(), strict=True))
            least = sum(cost[sum(1 << i for i in group)] for group in groups_of(best))
            assert result.cost == pytest.approx(least, abs=1e-6)
        found.append(best is not None)
    assert any(found)


@pytest.mark.parametrize(
    "principle", [sf.Dissimilarity(epsilon=1, delta=1, k=3), sf.FrequencyLDiversity(3), sf.DistinctLDiversity(4)]
)
def test_tables_between_the_limits_are_proven(principle):
    task = Task(people(24, 1), (principle,))
    grouping = Exact().group(task)
    assert grouping.private == ("no grouping loses less: it was proven",)
    assert task.satisfied(grouping.of_row).all()
    glaze = sf.Glaze().group(task).of_row
    rows = len(glaze)
    loss, other = (
        sf.anonymization.recode(task.table, sf.data.Groups(of_row, int(of_row.max()) + 1, rows))
        for of_row in (grouping.of_row, glaze)
    )
    assert (
        sum(c.shares @ loss.groups.sizes for c in loss.columns)
        <= sum(c.shares @ other.groups.sizes for c in other.columns) + 1e-9
    )


def test_the_limits_give_a_bound_and_no_proof(monkeypatch):
    task = Task(people(40, 2), (sf.KAnonymity(4),))
    known = sf.Glaze().group(task).of_row
    monkeypatch.setattr(programs, "_PROGRAMS", 40)
    monkeypatch.setattr(programs, "_LISTED", 20)
    found = cheapest_partition(task, known)
    assert found.proof == "open"
    assert 0 < found.bound < found.cost
    stopped = cheapest_partition(task, known, steps=1000)
    assert stopped.proof == "open"
    assert 0 <= stopped.bound <= found.cost
    assert stopped.of_row is not None


def test_a_ring_is_impossible():
    """Five values in a ring, each near two: pairs of others exist, but five rows are not pairs."""
    ring = graph_table(5, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)])
    result = sf.feasibility(ring, None, sf.Dissimilarity("0.5", 1, 2))
    assert result.verdict == "impossible"
    assert "all groupings" in result.certificate.sentence
    square = graph_table(4, [(0, 1), (1, 2), (2, 3), (3, 0)])
    assert sf.feasibility(square, None, sf.Dissimilarity("0.5", 1, 2)).verdict == "guaranteed", "opposite corners"


def test_several_attributes_are_decided_together():
    """Either attribute alone allows pairs, and both together do not."""
    frame = pa.table({"a": ["x", "x", "y", "y"], "b": ["p", "p", "p", "q"]})
    for principle, verdict in ((sf.FrequencyLDiversity(2, on="a"), "guaranteed"), (sf.FrequencyLDiversity(2), "impossible")):
        assert sf.feasibility(frame, sf.Schema(sensitive=["a", "b"]), principle).verdict == verdict
    near = sf.Dissimilarity(1, 1, 2, on="each")
    for pay, hours, verdict in (([1, 2, 8, 9], [1, 8, 2, 9], "guaranteed"), ([1, 2, 8, 9], [5, 3, 6, 4], "impossible")):
        table = pa.table({"pay": pay, "hours": hours})
        result = sf.feasibility(table, sf.Schema(sensitive=["pay", "hours"]), near)
        fine = [
            partition
            for partition in all_partitions(4)
            if all(
                len(g) > 1 and all(abs(x[i] - x[j]) > 1 for x in (pay, hours) for i in g for j in g if i < j)
                for g in partition
            )
        ]
        assert (verdict, result.verdict) == (("guaranteed" if fine else "impossible"),) * 2


@pytest.mark.parametrize("name", [name for name, kind in PRINCIPLES.items() if not kind.compares_groups])
def test_sets_of_rows_are_measured_as_groups_of_the_table(name):
    """All sets at once have the verdicts that each has as a group of the whole table."""
    example = PRINCIPLES[name].example()
    draw = random.Random(name)
    task = (
        Task(people(7, 5), (example.principle,))
        if name != "n-t-closeness"
        else Task(people(7, 5), (sf.NTCloseness(3, "0.5"),))
    )
    if task.principles[0].uses_population:  # the people themselves and twenty others
        table = task.table
        everyone = sf.Population(pa.concat_tables([table.data, people(20, 6).data]))
        task = Task(table.with_schema(replace(table.schema, population=everyone)), task.principles)
    sets = [np.array(sorted(draw.sample(range(7), draw.randint(1, 6)))) for _ in range(25)]
    together = allowed_groups(task, sets).tolist()
    alone = [bool(task.satisfied(np.isin(np.arange(7), rows, invert=True).astype(np.int64))[0]) for rows in sets]
    assert together == alone


def test_leftovers_of_a_search_are_settled():
    """Two groups that fail, and one that has what they lack: only together are they grouped."""
    frame = pa.table({"age": [20, 21, 40, 41, 60, 61, 62], "ill": ["a", "a", "a", "a", "b", "b", "c"]})
    task = Task(sf.Table(frame, sf.Schema(["age"], ["ill"])), (sf.DistinctLDiversity(2),))
    settled = settled_leftovers(task, np.array([0, 0, 1, 1, 2, 2, 2]))
    assert task.satisfied(settled).all()
    fine = np.array([0, 1, 2, 2, 0, 1, 2])
    assert settled_leftovers(task, fine).tolist() == fine.tolist()


def test_costs_are_those_that_methods_minimise():
    table = people(6, 8)
    weighted = table.with_schema(sf.Schema(["age"], ["secret"], weights={"age": 2}))
    assert PossibleGroups.of(Task(weighted, (sf.KAnonymity(6),))).costs.tolist() == [6.0]


def test_larger_tables_are_grouped_by_glaze():
    task = Task(people(61, 3), (sf.KAnonymity(3),))
    grouping = Exact().group(task, 5)
    assert grouping.of_row.tolist() == sf.Glaze().group(task, 5).of_row.tolist()
    assert "glaze" in grouping.notes[0]


def test_a_release_of_the_best_groups():
    frame = pa.table({"age": [20, 21, 22, 60, 61, 62], "ill": ["a", "b", "a", "b", "a", "b"]})
    release = sf.anonymize(frame, sf.Schema(["age"], ["ill"]), [sf.KAnonymity(3), sf.DistinctLDiversity(2)], method="exact")
    assert release.audit.groups.count == 2
    with pytest.raises(sf.errors.RequirementError, match="nothing is published"):
        sf.anonymize(frame, sf.Schema(["age"], ["ill"]), sf.DistinctLDiversity(3), method="exact")

"""The method deal: its groups say what their counts say, and nothing more."""

from __future__ import annotations

import os
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv

import sfumato as sf
from sfumato.anonymization.methods.block_deals import deal_forest
from sfumato.anonymization.methods.block_forest import Forest, forest_shape, make_forest
from sfumato.anonymization.methods.block_size import choose_block_rows
from sfumato.anonymization.methods.method import Task
from sfumato.anonymization.methods.search_problem import SearchProblem
from sfumato.cli import main
from sfumato.data.groups import renumber
from tests.oracles.naive_minimality import arrangements, forest_orders, largest_surprise

THOROUGH = os.environ.get("SFUMATO_PROFILE") == "thorough"

PRINCIPLES = {
    "frequency": (sf.KAnonymity(2), sf.FrequencyLDiversity(2)),
    "distinct": (sf.DistinctLDiversity(2),),
    "distinct 3": (sf.DistinctLDiversity(3),),
    "dissimilarity": (sf.Dissimilarity(epsilon=1, delta=1, k=2),),
    "closeness": (sf.KAnonymity(2), sf.TCloseness("0.4", "ordered")),
    "size": (sf.KAnonymity(2),),
}
SHAPES = [(1, 1, 2, 2), (1, 1, 2, 3), (3, 1, 2, 1), *([(1, 2, 2, 2), (2, 1, 2, 2)] if THOROUGH else [])]
"""Pools, pairs, blocks and rows: tables of 4 to 8 people."""


def table_of(secrets: list[int], ages: list[int] | None = None) -> sf.Table:
    data = pa.table({"age": ages or list(range(len(secrets))), "x": secrets})
    return sf.Table(data, sf.Schema(["age"], ["x"], kinds={"x": "numeric"}))


def dealt(shape: tuple[int, int, int, int], secrets: list[int], rest: int, name: str):
    """Yield every assignment of secrets, in every order of the forest, with the groups that are dealt."""
    rows = int(np.prod(shape))
    constraints = Task(table_of(secrets), PRINCIPLES[name]).search_constraints
    orders = forest_orders(shape)
    for seen in arrangements(secrets):
        # row i of the table has the i-th secret: rows in an order in which the secrets are `seen`
        left = sorted(range(len(secrets)), key=lambda row: secrets[row])
        rank = sorted(range(len(seen)), key=lambda place: seen[place])
        at = np.empty(len(seen), np.int64)
        at[rank] = left
        placed = constraints.with_values(constraints.values_of(at))
        forest = Forest(np.arange(rows).reshape(shape), np.arange(rows, rows + rest))
        groups, _ = deal_forest(forest, placed)
        for order in orders:
            people = [*order, *range(rows, rows + rest)]
            whose, where = [0] * len(seen), [0] * len(seen)
            for place, person in enumerate(people):
                whose[person], where[person] = seen[place], int(groups[place])
            yield whose, where


def multisets(size: int) -> list[list[int]]:
    """Return every multiset of 2 or 3 different secrets, up to their names."""
    found = {tuple(sorted(Counter(one).values())): one for one in product(range(3), repeat=size) if len(set(one)) > 1}
    return [sorted(one) for one in found.values()]


CASES = [
    (shape, secrets, rest, name)
    for shape in SHAPES
    for rest in ((0, 2) if THOROUGH and np.prod(shape) < 8 else (0,))
    for secrets in multisets(int(np.prod(shape)) + rest)
    for name in PRINCIPLES
]


def test_beliefs_are_the_shares_of_groups():
    tables = 0
    for shape, secrets, rest, name in CASES:
        runs = list(dealt(shape, secrets, rest, name))
        tables += len(runs)
        assert largest_surprise(runs) == 0, (shape, secrets, rest, name)
    assert tables > (11_711 if THOROUGH else 3000)


def test_a_rest_is_dealt_by_itself():
    runs = list(dealt((1, 1, 2, 2), [0, 0, 0, 1, 1, 2], 2, "distinct"))
    assert largest_surprise(runs) == 0


def test_the_cases_have_blocks_that_fail_alone():
    """Without such blocks the theorem would be true of blocks alone. People 0 and 1 are always in one block."""
    together = {where[0] == where[1] for _, where in dealt((1, 1, 2, 2), [0, 0, 1, 1], 0, "distinct")}
    assert together == {True, False}


def test_the_oracle_finds_glaze():
    ages = [1, 2, 3, 11, 12]
    runs = []
    for secrets in arrangements([0, 0, 0, 1, 2]):
        task = Task(table_of(list(secrets), ages), (sf.DistinctLDiversity(2),))
        runs.append((secrets, sf.Glaze().group(task).of_row.tolist()))
    assert largest_surprise(runs) > 0


def test_the_oracle_finds_unequal_halves():
    """Two leaves of 2 and 3 rows: both if both have two values, else their union."""

    def groups(secrets: tuple[int, ...]) -> list[int]:
        fine = len(set(secrets[:2])) > 1 and len(set(secrets[2:])) > 1
        return [0, 0, 1, 1, 1] if fine else [0] * 5

    runs = [(secrets, groups(secrets)) for secrets in arrangements([0, 0, 0, 1, 1])]
    assert largest_surprise(runs) > 0


def test_orders_of_a_forest_are_equally_likely():
    shape = (1, 2, 2, 1)
    forest, draw = Forest(np.arange(4).reshape(shape), np.zeros(0, np.int64)), np.random.default_rng(0)
    seen = Counter(tuple(forest.shuffled(draw).pools.ravel().tolist()) for _ in range(4000))
    assert set(seen) == {tuple(order) for order in forest_orders(shape)}
    assert max(abs(count - 500) for count in seen.values()) < 100  # more than four standard deviations


def forest_of(table: sf.Table, principles: tuple[sf.Principle, ...], block: int, seed: int) -> Forest:
    return make_forest(SearchProblem.of(Task(table, principles)), block, seed)


def test_a_forest_does_not_depend_on_secrets():
    draw = np.random.default_rng(3)
    ages = draw.integers(20, 60, 50).tolist()
    first, other = (
        forest_of(table_of(draw.permutation(np.arange(50) % 5).tolist(), ages), PRINCIPLES["frequency"], 3, 1)
        for _ in range(2)
    )
    assert first.pools.tolist() == other.pools.tolist() and first.rest.tolist() == other.rest.tolist()


def test_the_size_of_blocks_depends_on_counts_only():
    draw = np.random.default_rng(4)
    secrets = np.repeat(np.arange(6), [40, 30, 20, 10, 5, 5])
    sizes = {
        choose_block_rows(
            Task(table_of(draw.permutation(secrets).tolist()), PRINCIPLES["frequency"]).search_constraints, 110
        )
        for _ in range(3)
    }
    assert len(sizes) == 1


@given(rows=st.integers(1, 2000), block=st.integers(1, 40))
def test_shapes_leave_no_row_over_or_enough_for_a_block(rows: int, block: int):
    pools, pairs = forest_shape(rows, block)
    rest = rows - pools * pairs * 2 * block
    assert rest == 0 or rest >= min(rows, block)


@given(st.data())
def test_groups_take_equally_many_rows_of_each_block(data: st.DataObject):
    rows = data.draw(st.integers(4, 40))
    secrets = data.draw(st.lists(st.integers(0, 4), min_size=rows, max_size=rows))
    name, block = data.draw(st.sampled_from(sorted(PRINCIPLES))), data.draw(st.integers(2, 4))
    table = table_of(secrets, data.draw(st.lists(st.integers(0, 9), min_size=rows, max_size=rows)))
    task = Task(table, PRINCIPLES[name])
    forest = forest_of(table, PRINCIPLES[name], block, 0)
    members = np.sort(np.concatenate([forest.pools.ravel(), forest.rest]))
    assert members.tolist() == list(range(rows))
    groups, fine = deal_forest(forest, task.search_constraints)
    assert task.satisfied(renumber(groups)).sum() >= fine.sum()
    for group in range(len(fine)):
        shares = {
            int((groups[one] == group).sum()) for one in forest.pools.reshape(-1, block) if (groups[one] == group).any()
        }
        assert len(shares) <= 1
        assert not fine[group] or task.satisfied(np.where(groups == group, 0, 1) if (groups != group).any() else groups)[0]


def test_deal_satisfies_principles_and_is_deterministic():
    people = sf.synthetic_census(rows=600, seed=2).select(["age", "sex", "race", "workclass", "income"])
    schema = sf.Schema(["age", "sex", "race"], ["workclass", "income"])
    required = [sf.KAnonymity(4), sf.DistinctLDiversity(2), sf.Dissimilarity(epsilon=2, delta="0.5", k=4, on="income")]
    one, again = (sf.anonymize(people, schema, required, resist=["minimality"], seed=5) for _ in range(2))
    assert one.audit.holds and one.frame.equals(again.frame)
    assert one.document.resist == ["minimality"] and one.method == sf.Deal()


def test_limits_on_cells_are_honoured():
    people = sf.synthetic_census(rows=400, seed=2).select(["age", "sex", "workclass"])
    schema = sf.Schema(["age", "sex"], ["workclass"], never_mix={"sex": ["female"]})
    release = sf.anonymize(people, schema, [sf.KAnonymity(3), sf.DistinctLDiversity(2)], resist="minimality", seed=0)
    assert len(set(release.frame["sex"].to_pylist())) == 2


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"resist": ["learning"]}, "resist"),
        ({"resist": 3}, "resist"),
        ({"method": "glaze"}, "resist"),
        ({"method": sf.Mondrian()}, "resist"),
        ({"principles": sf.NTCloseness(n=2, t="0.9")}, "method.name"),
        ({"schema": sf.Schema(["age"], ["x"], person_id="who")}, "person_id"),
        ({"schema": sf.Schema(["age"], ["x"], preserve=[("age", "x")])}, "preserve"),
    ],
)
def test_what_the_proof_does_not_cover_is_refused(changes, key):
    data = pa.table({"age": [1, 2, 3, 4], "x": [1, 2, 1, 2], "who": [1, 1, 2, 3]})
    arguments = {"schema": sf.Schema(["age"], ["x"]), "principles": sf.KAnonymity(2), "resist": ["minimality"], **changes}
    with pytest.raises(sf.errors.ParameterError) as caught:
        sf.anonymize(data, **arguments)
    assert caught.value.key == key


def test_another_class_with_the_same_name_does_not_resist():
    class Deal(sf.Method):
        name = "deal"

        def group(self, task, seed=0):
            raise AssertionError

    with pytest.raises(sf.errors.ParameterError, match="does not resist"):
        sf.anonymize(table_of([1, 2]), None, sf.KAnonymity(2), method=Deal(), resist=["minimality"])


def test_what_cannot_be_dealt_is_refused_or_suppressed():
    people = pa.table({"age": list(range(40)), "x": [0] * 24 + list(range(1, 17))})
    schema, required = sf.Schema(["age"], ["x"]), [sf.KAnonymity(2), sf.FrequencyLDiversity("1.7")]
    release = sf.anonymize(people, schema, sf.KAnonymity(2), resist=["minimality"], seed=0)
    assert release.audit.holds and release.suppressed == 0
    with pytest.raises(sf.errors.RequirementError):
        sf.anonymize(people, schema, required, resist=["minimality"], seed=0)


def test_unmade_swaps_say_nothing():
    people = sf.synthetic_census(rows=1500, seed=3).select(["age", "sex", "race", "marital", "workclass"])
    schema = sf.Schema(["age", "sex", "race", "marital"], ["workclass"])
    release = sf.anonymize(people, schema, [sf.KAnonymity(3), sf.DistinctLDiversity(2)], resist=["minimality"], seed=1)
    (swaps,) = sf.attack(release, attacks=["swap-optimality"])
    assert not swaps.exceeds
    again = swaps.baselines["secrets dealt again within groups"].share
    assert abs(float(swaps.success.share) - float(again)) < Fraction(3, 100)


def test_verify_checks_what_a_release_states(tmp_path):
    people = sf.synthetic_census(rows=200, seed=2).select(["age", "workclass"])
    release = sf.anonymize(people, sf.Schema(["age"], ["workclass"]), sf.KAnonymity(2), resist=["minimality"], seed=0)
    folder = release.save(tmp_path / "out", key=tmp_path / "key.json")
    assert {check.name: check.holds for check in sf.verify(folder).checks}["resist"]
    again = sf.replay(folder, people, key=tmp_path / "key.json").save(tmp_path / "again")
    assert (again / "release.json").read_bytes() == (folder / "release.json").read_bytes()
    text = (folder / "release.json").read_text(encoding="utf-8").replace('"name": "deal"', '"name": "glaze"')
    (folder / "release.json").write_text(text, encoding="utf-8")
    failing = [check for check in sf.verify(folder).checks if check.holds is False]
    assert "the method glaze does not resist" in " ".join(check.detail for check in failing)


def test_the_command_line_takes_what_must_be_withstood(tmp_path):
    people = sf.synthetic_census(rows=200, seed=2).select(["age", "workclass"])
    sf.Config.of(sf.Schema(["age"], ["workclass"]), "people.csv", [sf.KAnonymity(3)]).save(tmp_path / "sfumato.toml")
    csv.write_csv(people, tmp_path / "people.csv")
    call = ["anonymize", str(tmp_path / "sfumato.toml"), "--output", str(tmp_path / "out"), "--resist"]
    assert CliRunner().invoke(main, [*call, "learning"]).exit_code == 2
    done = CliRunner().invoke(main, [*call, "minimality"])
    assert done.exit_code == 0, done.output
    assert '"resist": [' in (tmp_path / "out" / "release.json").read_text(encoding="utf-8")

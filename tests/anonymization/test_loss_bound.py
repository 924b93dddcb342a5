"""Bounds on the loss: never above that of the best of all groupings, often near it, and the same for any order of rows."""

from __future__ import annotations

import os
import pickle
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import naive_shapes
import sfumato as sf
from best_grouping import best_groupings, line_share, ordinal_share, set_share, tree_share
from exhaustive import best_loss, random_case, table_of
from sfumato.anonymization import loss_bound
from sfumato.anonymization.loss_bounds import charges
from sfumato.anonymization.loss_bounds.covering_classes import covering_options
from sfumato.anonymization.loss_bounds.published_bound import published_bound, stated_bound
from sfumato.anonymization.recoding import domains_of
from small_tables import ORDER, TREE
from tampered_releases import state, stated

CASES = 2_000 if os.environ.get("SFUMATO_PROFILE") == "thorough" else 100

CELLS = {
    "age": st.one_of(st.none(), st.integers(0, 12)),
    "height": st.integers(0, 100),
    "size": st.one_of(st.none(), st.sampled_from(ORDER)),
    "town": st.one_of(st.none(), st.sampled_from("abc")),
    "sex": st.sampled_from("fm"),
    "place": st.one_of(st.none(), st.sampled_from(sorted(TREE))),
}
HOW = {"age": "interval", "height": "interval", "size": "interval", "town": "set", "sex": "set", "place": "ancestor"}


def share_of(name, values):
    if name == "size":
        return ordinal_share(values, ORDER)
    if name == "place":
        return tree_share(TREE)
    return set_share(values) if HOW[name] == "set" else line_share(values)


def schema_of(names):
    return sf.Schema(
        names,
        ["secret"],
        kinds={name: "numeric" for name in ("age", "height") if name in names} | {"secret": "numeric"},
        orders={"size": ORDER} if "size" in names else {},
        hierarchies={"place": sf.Hierarchy.from_rows(TREE.values())} if "place" in names else {},
        recodings={name: HOW[name] for name in names},
    )


def requirement(draw):
    """A principle, and whether a list of secrets satisfies it, by definition."""
    k, epsilon, l = draw(st.integers(1, 4)), draw(st.integers(0, 3)), draw(st.integers(2, 3))
    part = Fraction(draw(st.sampled_from(["1/2", "2/3", "3/4", "1"])))

    def near(x, y):
        return abs(x - y) <= epsilon

    return draw(
        st.sampled_from(
            [
                (sf.KAnonymity(k), lambda s: len(s) >= k),
                (
                    sf.Dissimilarity(epsilon=epsilon, delta=part, k=k),
                    lambda s: len(s) >= k and naive.risk(s, near) <= 1 - part,
                ),
                (
                    sf.Dissimilarity(epsilon=epsilon, delta=part, k=k, shape="ball"),
                    lambda s: len(s) >= k and Fraction(naive_shapes.ball_of_numbers(s, epsilon), len(s)) <= 1 - part,
                ),
                (
                    sf.Dissimilarity(epsilon=epsilon, delta=part, k=k, shape="clique"),
                    lambda s: len(s) >= k and Fraction(naive_shapes.clique(s, near), len(s)) <= 1 - part,
                ),
                (
                    sf.Dissimilarity(epsilon=epsilon, delta=part, k=k, shape="cycle"),
                    lambda s: len(s) >= k and Fraction(naive_shapes.cycle(s, near), len(s)) <= 1 - part,
                ),
                (
                    sf.AlphaKAnonymity(alpha=part, k=k),
                    lambda s: len(s) >= k and Fraction(max(map(s.count, s)), len(s)) <= part,
                ),
                (sf.FrequencyLDiversity(l), lambda s: max(map(s.count, s)) * l <= len(s)),
                (sf.DistinctLDiversity(l), lambda s: len(set(s)) >= l),
                (
                    sf.EpsilonMAnonymity(epsilon=epsilon, m=l),
                    lambda s: all(sum(near(x, y) for y in s) * l <= len(s) for x in s),
                ),
            ]
        )
    )


@st.composite
def cases(draw):
    """A small table of some columns, a requirement, and how many rows may be suppressed."""
    names = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=4, unique=True))
    rows = draw(st.lists(st.tuples(*(CELLS[name] for name in names), st.integers(0, 6)), min_size=2, max_size=7))
    return names, rows, requirement(draw), draw(st.integers(0, 1))


@given(cases())
def test_no_grouping_loses_less_than_the_bound(case):
    names, rows, (principle, fine), dropped = case
    *columns, secrets = ([row[j] for row in rows] for j in range(len(names) + 1))
    types = [pa.string() if name in ("size", "town", "sex", "place") else pa.int64() for name in names]
    frame = pa.table({name: pa.array(column, kind) for name, column, kind in zip(names, columns, types, strict=True)})
    table = sf.Table(frame.append_column("secret", pa.array(secrets)), schema_of(names))
    shares = [share_of(name, column) for name, column in zip(names, columns, strict=True)]
    best = best_groupings(columns, shares, lambda group: fine([secrets[i] for i in group]), dropped)
    for how in (False, True):
        for number in range(len(best)):
            bound = loss_bound(table, [principle], suppress=Fraction(number, len(rows)), secrets=how)
            assert bound >= 0
            # up to this number of rows may be suppressed
            assert all(Fraction(bound) <= least for least in best[: number + 1] if least is not None)


def test_bounds_of_small_tables_are_near_the_best():
    """Of all random tables with a loss, how much of it the bound proves, at least; and never more than all of it."""
    ratios = []
    for seed in range(CASES):
        rows, principle, fine = random_case(seed)
        best = best_loss(rows, fine)
        if best:
            bound = loss_bound(table_of(rows), [principle])
            assert Fraction(bound) <= best
            ratios.append(bound / float(best))
    assert len(ratios) > CASES / 3
    assert np.median(ratios) > 0.6


def test_a_table_whose_best_groups_are_apart():
    """Three clusters at equal distances: the bound is the loss of the clusters, which is 1/20 for each row."""
    ages = [0, 1, 10, 11, 19, 20]
    table = sf.Table(pa.table({"age": ages}), sf.Schema(["age"]))
    assert loss_bound(table, [sf.KAnonymity(2)]) == pytest.approx(1 / 20)


def test_rows_of_large_classes_pay_for_an_outlier():
    """An outlier must be with two of the others, whatever they lose on their own: nothing."""
    table = sf.Table(pa.table({"age": [30] * 9 + [40]}), sf.Schema(["age"]))
    assert loss_bound(table, [sf.KAnonymity(3)]) == pytest.approx(3 / 10)
    assert loss_bound(table, [sf.KAnonymity(3)], suppress="0.1") == pytest.approx(1 / 10), "the outlier is suppressed"


def test_near_secrets_raise_the_bound():
    """Rows whose secrets are all near need others, far away; k alone does not."""
    frame = pa.table({"age": [20, 20, 20, 20, 60, 60, 60, 60], "pay": [1, 1, 2, 2, 50, 50, 51, 51]})
    table = sf.Table(frame, sf.Schema(["age"], ["pay"]))
    requirement = sf.Dissimilarity(epsilon=1, delta=1, k=2)
    assert loss_bound(table, [requirement], secrets=False) == 0
    assert loss_bound(table, [requirement]) == pytest.approx(1)


def test_the_order_of_the_rows_does_not_matter():
    draw = np.random.default_rng(3)
    frame = pa.table({"age": draw.integers(0, 80, 300), "town": draw.choice(list("abcdef"), 300)})
    schema = sf.Schema(["age", "town"])
    one = loss_bound(sf.Table(frame, schema), [sf.KAnonymity(4)])
    other = loss_bound(sf.Table(frame.take(pa.array(draw.permutation(300))), schema), [sf.KAnonymity(4)])
    assert one == pytest.approx(other, rel=1e-12)
    assert one > 0


def test_fewer_steps_give_a_lower_bound(monkeypatch):
    """Where the search stops early the bound is looser, and no error."""
    draw = np.random.default_rng(4)
    frame = pa.table({f"x{j}": draw.integers(0, 20, 200) for j in range(5)})
    table = sf.Table(frame, sf.Schema(frame.column_names))
    bounds = []
    for steps in (100, 20_000, 5_000_000):
        monkeypatch.setattr(charges, "_STEPS", 0)
        monkeypatch.setattr(charges, "_LEAST_STEPS", steps)
        bounds.append(loss_bound(table, [sf.KAnonymity(3)]))
    assert bounds[0] == 0
    assert bounds[0] <= bounds[1] <= bounds[2]
    assert bounds[2] > 0


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=12, unique=True))
def test_grids_cover_every_interval_at_no_more_than_its_cost(numbers):
    table = sf.Table(pa.table({"x": numbers}), sf.Schema(["x"]))
    domain = domains_of(table)[0]
    options = covering_options(domain)
    for low in range(domain.size):
        for high in range(low, domain.size):
            covering = [o for o in options if len(set(o.label[low : high + 1].tolist())) == 1]
            assert min(option.cost[low] for option in covering) <= domain.share(low, high)


@given(st.floats(0, 1), st.floats(0, 1), st.sampled_from([500, 100_000]))
def test_a_stated_bound_is_not_above_the_bound(bound, loss, rows):
    stated = stated_bound(bound, loss, rows)
    assert 0 <= stated <= min(bound, loss) * (1 + 1e-15)
    assert loss == 0 or stated >= min(bound, loss) - 0.0100001 * loss


def test_few_rows_have_coarse_steps():
    assert stated_bound(0.4, 0.5, 10) == 0.25, "steps of five rows: halves of the loss"


@pytest.fixture(scope="module")
def people():
    draw = np.random.default_rng(9)
    return pa.table(
        {
            "age": draw.integers(20, 80, 600),
            "town": draw.choice(["Bonn", "Jena", "Kiel", "Ulm"], 600),
            "pay": draw.integers(10, 40, 600),
        }
    )


SCHEMA = sf.Schema(["age", "town"], ["pay"])


def test_a_release_states_a_bound(people):
    release = sf.anonymize(people, SCHEMA, sf.KAnonymity(5), seed=1)
    bound = loss_bound(release.private.original, release.principles, secrets=False, recodings=release.recodings)
    assert 0.6 * release.loss < release.bound <= bound <= release.loss
    assert release.document.utility.bound == release.bound
    assert f"no grouping has less than {100 * release.bound:.4g} %" in repr(release)
    assert pickle.loads(pickle.dumps(release)).bound == release.bound


def test_the_stated_bound_does_not_depend_on_secrets(people):
    shuffled = people.set_column(2, "pay", people["pay"].take(pa.array(np.random.default_rng(1).permutation(600))))
    requirement = sf.Dissimilarity(epsilon=2, delta="0.5", k=4)
    bounds = [
        published_bound(sf.Table(frame, SCHEMA), [requirement], 0, {"age": "interval", "town": "set"}, 0.5)
        for frame in (people, shuffled)
    ]
    assert bounds[0] == bounds[1] > 0
    exact = [loss_bound(sf.Table(frame, SCHEMA), [requirement]) for frame in (people, shuffled)]
    assert exact[0] != exact[1]


def test_verify_computes_the_bound_again(people, tmp_path):
    sf.anonymize(people, SCHEMA, sf.KAnonymity(5), seed=1, suppress="0.01").save(tmp_path / "out")
    assert sf.verify(tmp_path / "out", people).holds
    for change in (lambda utility: utility.update(bound=utility["bound"] * 1.01), lambda utility: utility.pop("bound")):
        content = stated(tmp_path / "out")
        change(content["utility"])
        state(tmp_path / "out", content)
        (check,) = [check for check in sf.verify(tmp_path / "out", people).checks if check.holds is False]
        assert (check.name, check.detail) == ("figures", "utility.bound is not what the table and its original give")


def test_releases_without_a_bound(people, monkeypatch):
    schema = sf.Schema(["age"], hierarchies={"age": sf.Quantiles((4, 2))}, recodings={"age": "ancestor"})
    table = sf.Table(people.select(["age"]), schema)
    assert published_bound(table, [sf.KAnonymity(5)], 0, {"age": "ancestor"}, 0.5) is not None
    assert published_bound(table, [sf.KAnonymity(5)], "0.1", {"age": "ancestor"}, 0.5) is None
    monkeypatch.setattr("sfumato.anonymization.loss_bounds.published_bound.MOST_ROWS", 599)
    release = sf.anonymize(people, SCHEMA, sf.KAnonymity(5), seed=1)
    assert release.bound is None
    assert "bound" not in release.to_dict()["utility"]

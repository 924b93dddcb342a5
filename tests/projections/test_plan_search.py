"""The search for a plan: compared with naive CODIP* and all partitions; errata, tested blocks, and failures."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_plans as naive
import sfumato as sf
from small_plans import THRESHOLDS, columns, dependence_of

NEAR = 1e-9


class Oracle:
    """Returns whether the principles can be reached on a block, and records its calls."""

    def __init__(self, unreachable):
        self.unreachable, self.calls = set(unreachable), []

    def __call__(self, block):
        self.calls.append(block)
        return block not in self.unreachable


def blocks_of(names):
    return list(chain.from_iterable(combinations(names, size) for size in range(1, len(names) + 1)))


@st.composite
def cases(draw):
    """A table, thresholds, and some unreachable blocks of any size."""
    people = draw(columns(most=5))
    unreachable = draw(st.sets(st.sampled_from(blocks_of(list(people))), max_size=4))
    return people, Fraction(draw(st.sampled_from(THRESHOLDS))), Fraction(draw(st.sampled_from(THRESHOLDS))), unreachable


def lists(plan):
    return [list(block) for block in plan.blocks]


@given(cases())
def test_greedy_is_codip_star(case):
    people, alpha, beta, unreachable = case
    unreachable = {block for block in unreachable if len(block) > 1}
    comp, ref = dependence_of(people), naive.Table(people)
    oracle = Oracle(unreachable)
    search = sf.projections.search_plans(comp, alpha, beta, oracle, "greedy")
    plan = ref.codip(beta, lambda block: block not in unreachable)
    if naive.at_most(ref.association_loss(plan), alpha):
        assert lists(search.best.plan) == plan
        assert not search.failures
    else:
        assert search.best is None
        assert "alpha" in search.failures
        assert search.least_alpha.association_loss == pytest.approx(float(ref.association_loss(plan)), abs=NEAR)
        assert plan in [lists(ratios.plan) for ratios in search.reachable_plans]
    assert len(set(oracle.calls)) == len(oracle.calls)
    check_plans(search, ref, unreachable)


@given(cases())
def test_exhaustive_search_finds_the_smallest_loss(case):
    people, alpha, beta, unreachable = case
    comp, ref = dependence_of(people), naive.Table(people)
    oracle = Oracle(unreachable)
    search = sf.projections.search_plans(comp, alpha, beta, oracle)
    best = ref.best(beta, lambda block: block not in unreachable)
    assert search.exhaustive
    if best and naive.at_most(ref.association_loss(best[0]), alpha):
        assert search.best.association_loss == pytest.approx(float(ref.association_loss(best[0])), abs=NEAR)
        light = min(map(ref.information_exposure, best))
        assert search.best.information_exposure == pytest.approx(float(light), abs=NEAR)
        assert lists(search.best.plan) in best
    else:
        assert search.best is None
        check_failures(search, ref, unreachable)
    assert len(set(oracle.calls)) == len(oracle.calls)
    check_plans(search, ref, unreachable)


def check_failures(search, ref, unreachable):
    """Compare the failures and the nearest plans with all partitions."""
    plans = [plan for plan in naive.partitions(ref.names) if not unreachable & set(map(tuple, plan))]
    within_beta = [plan for plan in plans if naive.at_most(ref.information_exposure(plan), search.beta)]
    within_alpha = [plan for plan in plans if naive.at_most(ref.association_loss(plan), search.alpha)]
    assert ("alpha" in search.failures) == bool(within_beta)
    assert ("beta" in search.failures) == bool(plans and not within_beta)
    met = [
        plan
        for plan in naive.partitions(ref.names)
        if naive.at_most(ref.information_exposure(plan), search.beta)
        and naive.at_most(ref.association_loss(plan), search.alpha)
    ]
    assert ("principles" in search.failures) == bool(met or not plans)
    if within_beta:
        least = min(map(ref.association_loss, within_beta))
        assert search.least_alpha.association_loss == pytest.approx(float(least), abs=NEAR)
    if within_alpha:
        least = min(map(ref.information_exposure, within_alpha))
        assert search.least_beta.information_exposure == pytest.approx(float(least), abs=NEAR)
    assert (search.nearest is None) == (not plans)
    if plans:
        nearest = min(excess(float(ref.association_loss(p)), float(ref.information_exposure(p)), search) for p in plans)
        people = excess(search.nearest.association_loss, search.nearest.information_exposure, search)
        assert people == pytest.approx(nearest, abs=NEAR)


def excess(loss, exposure, search):
    return max(loss - float(search.alpha), 0) + max(exposure - float(search.beta), 0)


def check_plans(search, ref, unreachable):
    """Every reported plan can be published, and has its own ratios."""
    for ratios in search.reachable_plans:
        assert not unreachable & set(ratios.plan.blocks)
        assert ratios.association_loss == pytest.approx(float(ref.association_loss(ratios.plan.blocks)), abs=NEAR)
    assert set(search.unreachable_blocks) <= unreachable
    assert search.summary
    assert (search.best is None) == bool(search.failures)


@given(cases())
def test_monotone_principles_need_fewer_calls(case):
    """A superset of an unreachable block is not tested; the result is the same."""
    people, alpha, beta, unreachable = case
    comp = dependence_of(people)
    closed = {block for block in blocks_of(list(people)) if any(set(small) <= set(block) for small in unreachable)}
    for search in ("greedy", "exhaustive"):
        some, every = Oracle(closed), Oracle(closed)
        one = sf.projections.search_plans(comp, alpha, beta, some, search, monotone=True)
        other = sf.projections.search_plans(comp, alpha, beta, every, search)
        assert one.best == other.best
        assert one.failures == other.failures
        assert set(some.calls) <= set(every.calls)


@given(cases(), st.randoms())
def test_the_order_of_rows_does_not_matter(case, random):
    people, alpha, beta, _ = case
    rows = len(next(iter(people.values())))
    order = random.sample(range(rows), rows)
    other = {name: [values[row] for row in order] for name, values in people.items()}
    for search in ("greedy", "exhaustive"):
        one, same = (
            sf.projections.search_plans(dependence_of(each), alpha, beta, search=search) for each in (people, other)
        )
        assert one.best == same.best
        assert one.reachable_plans == same.reachable_plans
        assert one.steps == same.steps


def test_blocks_above_beta_are_not_tested():
    comp = dependence_of({"a": list("xxyyz"), "b": list("xyyyz"), "c": list("zyxyx"), "d": list("xyzxy")})
    for search in ("greedy", "exhaustive"):
        oracle = Oracle(())
        sf.projections.search_plans(comp, 1, "0.2", oracle, search)
        assert oracle.calls
        for block in oracle.calls:
            rest = [(name,) for name in comp.names if name not in block]
            assert comp.exposes_at_most(sf.projections.Plan.of([block, *rest], comp.names), "0.2")


def test_blocks_of_the_start_plan_are_not_split():
    comp = dependence_of({"a": list("xxyyz"), "b": list("xyyyz"), "c": list("zyxyx"), "d": list("xyzxy")})
    start = sf.projections.Plan.of([["a", "d"], ["b"], ["c"]], comp.names)
    oracle = Oracle(())
    search = sf.projections.search_plans(comp, 1, "0.9", oracle, "greedy", start=start)
    assert any({"a", "d"} <= set(block) for block in search.best.plan.blocks)
    assert ("a",) not in oracle.calls
    beyond = sf.projections.search_plans(comp, "0.5", "0.01", search="greedy", start=start)
    assert beyond.failures == ("beta",)
    assert beyond.least_alpha is None
    assert beyond.least_beta.association_loss <= 0.5


# errata


FIRST_STOP = {"a": "zxxyzyyxyxxyzz", "b": "yxyyyyyyyxzxzz", "c": "zxxxyxyyxxxxxx", "d": "zzzxyxyxyxzzzz"}
"""The values of fourteen rows. After b and d are merged, the next merge exceeds β = 0.35, but others do not."""


def test_the_next_best_pair_is_tried():
    """Erratum 004.3: the printed search stops at Γ_α 0.789 although 0.443 is feasible."""
    people = {name: list(values) for name, values in FIRST_STOP.items()}
    ref, beta = naive.Table(people), Fraction("0.35")
    printed = ref.codip(beta, go_on=False)
    assert round(float(ref.association_loss(printed)), 3) == 0.789
    search = sf.projections.search_plans(dependence_of(people), "0.5", beta, search="greedy")
    assert round(search.best.association_loss, 3) == 0.443
    assert search.best.information_exposure <= 0.35
    assert any(step.startswith("did not merge") for step in search.steps)


def test_one_block_left_is_the_plan():
    """Erratum 004.3: with one block left there is no pair; the plan before the last merge would be wrong."""
    people = {"a": list("xxyy"), "b": list("xyyy"), "c": list("xyxx")}
    search = sf.projections.search_plans(dependence_of(people), 0, 1, search="greedy")
    assert search.best.plan == sf.projections.Plan.single_table("abc")
    assert search.best.association_loss == 0.0


# failures


def test_a_single_attribute_whose_principles_cannot_be_reached():
    comp = dependence_of({"a": list("xxyy"), "b": list("xyyy"), "c": list("xyxx")})
    search = sf.projections.search_plans(comp, 1, 1, lambda block: block != ("b",), "greedy")
    assert search.best is search.nearest is None
    assert search.failures == ("principles",)
    assert search.unreachable_blocks == (("b",),)
    assert "b" in search.summary
    together = sf.projections.search_plans(comp, 1, 1, lambda block: block != ("b",))
    assert together.best is not None, "an exhaustive search may publish it together with another attribute"


def test_reachable_thresholds_are_reported():
    comp = dependence_of({"a": list("xxyyz"), "b": list("xyyyz"), "c": list("zyxyx"), "d": list("xyzxy")})
    for search in ("greedy", "exhaustive"):
        failed = sf.projections.search_plans(comp, "0.1", "0.1", search=search)
        assert failed.failures == ("alpha",)
        again = sf.projections.search_plans(
            comp, Fraction(failed.least_alpha.association_loss) + Fraction(1, 10**9), "0.1", search=search
        )
        assert again.best.plan == failed.least_alpha.plan
        beta = min(Fraction(failed.least_beta.information_exposure) + Fraction(1, 10**9), 1)
        assert sf.projections.search_plans(comp, "0.1", beta).best is not None
        assert "0.1" in failed.summary


@pytest.mark.parametrize(
    ("thresholds", "message"),
    [
        ({"alpha": "1.5", "beta": 0}, "alpha = 1.5"),
        ({"alpha": 0, "beta": -1}, "beta = -1"),
        ({"alpha": "much", "beta": 0}, "alpha = 'much'"),
        ({"alpha": 0, "beta": float("nan")}, "beta"),
        ({"alpha": 0, "beta": 0, "search": "clever"}, "auto, greedy, exhaustive"),
    ],
)
def test_thresholds_out_of_range(thresholds, message):
    with pytest.raises(sf.errors.ParameterError, match=message):
        sf.projections.search_plans(dependence_of({"a": ["x"], "b": ["y"]}), **thresholds)


def test_too_many_attributes_for_an_exhaustive_search():
    comp = dependence_of({f"a{j}": list("xyxxyx"[j % 3 :]) + ["z"] * (j % 3) for j in range(13)})
    with pytest.raises(sf.errors.ParameterError, match="13 attributes"):
        sf.projections.search_plans(comp, 1, 1, search="exhaustive")
    assert not sf.projections.search_plans(comp, 1, 1).exhaustive


# plans


def test_plans_are_canonical():
    plan = sf.projections.Plan.of([["d", "b"], "c", ["a"]], ["a", "b", "c", "d"])
    assert plan.blocks == (("a",), ("b", "d"), ("c",))
    assert plan == sf.projections.Plan.of([("c",), ("a",), ("b", "d")], ["a", "b", "c", "d"])
    assert plan.label == str(plan) == "a | b + d | c"
    assert plan.merge(2, 0) == sf.projections.Plan.of([["a", "c"], ["b", "d"]], ["a", "b", "c", "d"])


@given(st.permutations("abcdef"), st.data())
def test_merging_keeps_plans_canonical(names, data):
    plan = sf.projections.Plan.singletons(names)
    while len(plan) > 1:
        u, w = data.draw(st.sampled_from(list(combinations(range(len(plan)), 2))))
        plan = plan.merge(u, w)
        assert plan == sf.projections.Plan.of(plan.blocks, names)
    assert plan == sf.projections.Plan.single_table(names)


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([["diagnosis"], ["jobb"]], "'jobb'.*Did you mean 'job'"),
        ([["diagnosis", "job"], ["job"]], "'job'.*twice"),
        ([["diagnosis"]], "leaves out 'job'"),
        ([["diagnosis", "job"], []], "empty"),
    ],
)
def test_invalid_plans(blocks, message):
    with pytest.raises(sf.SfumatoError, match=message):
        sf.projections.Plan.of(blocks, ["diagnosis", "job"])

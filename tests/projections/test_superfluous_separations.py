"""What can be left out of a plan, against every coarser plan; and that searches return plans with nothing to leave out."""

from __future__ import annotations

import os
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_plans as naive
import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.projections import Plan, superfluous_separations
from small_plans import THRESHOLDS, columns, dependence_of
from test_plan_search import blocks_of, lists

EXAMPLES = settings(max_examples=10_000 if os.environ.get("SFUMATO_PROFILE") == "thorough" else 30)


@st.composite
def cases(draw, monotone=None):
    """A table, β, and unreachable blocks; with `monotone`, all that contain one of them."""
    people = draw(columns(most=4))
    blocks = blocks_of(list(people))
    unreachable = draw(st.sets(st.sampled_from([block for block in blocks if len(block) > 1]), max_size=3))
    if draw(st.booleans()) if monotone is None else monotone:
        unreachable = {block for block in blocks if any(set(small) <= set(block) for small in unreachable)}
        return people, Fraction(draw(st.sampled_from(THRESHOLDS))), unreachable, True
    return people, Fraction(draw(st.sampled_from(THRESHOLDS))), unreachable, False


def coarser(plan, names):
    """Every plan whose tables are unions of those of a plan, other than itself."""
    for other in naive.partitions(names):
        if other != plan and all(any(set(block) <= set(union) for union in other) for block in plan):
            yield other


def admissible(ref, plan, beta, unreachable):
    """The coarser plans within β that lose less and whose new tables are reachable, by the definitions."""
    loss = ref.association_loss(plan)
    for other in coarser(plan, ref.names):
        new = [tuple(block) for block in other if block not in plan]
        if (
            naive.at_most(ref.information_exposure(other), beta)
            and naive.less(loss, ref.association_loss(other)) > naive.SAME
            and not unreachable.intersection(new)
        ):
            yield other


@EXAMPLES
@given(cases(), st.randoms(use_true_random=False))
def test_a_plan_is_minimal_if_no_coarser_plan_is_allowed(case, random):
    people, beta, unreachable, monotone = case
    comp, ref = dependence_of(people), naive.Table(people)
    plan = random.choice(naive.partitions(list(people)))
    found = superfluous_separations(
        comp, Plan.of(plan, comp.names), beta, lambda block: block not in unreachable, monotone=monotone
    )
    allowed = list(admissible(ref, plan, beta, unreachable))
    assert bool(found) == bool(allowed)
    for ratios in found:
        assert lists(ratios.plan) in allowed
        assert len([block for block in ratios.plan.blocks if list(block) not in plan]) == 1
    assert [ratios.association_loss for ratios in found] == sorted(ratios.association_loss for ratios in found)


@EXAMPLES
@given(cases(monotone=True), st.sampled_from(["greedy", "exhaustive"]))
def test_searches_leave_nothing_out(case, search):
    """The plan of a search is minimal: of CODIP* if more attributes never help, of the exhaustive search always."""
    people, beta, unreachable, _ = case
    comp, ref = dependence_of(people), naive.Table(people)
    best = sf.projections.search_plans(comp, 1, beta, lambda block: block not in unreachable, search).best
    assert best is not None
    assert not list(admissible(ref, lists(best.plan), beta, unreachable))
    assert not superfluous_separations(comp, best.plan, beta, lambda block: block not in unreachable)


def test_three_tables_may_be_joined_although_no_two_can():
    """A principle on all three together is reachable only there; pairs alone would call the plan minimal."""
    people = {"a": ["x", "y"] * 4, "b": ["p", "q"] * 4, "c": ["u", "v"] * 4}
    comp = dependence_of(people)
    plan = Plan.singletons(comp.names)
    (joined,) = superfluous_separations(comp, plan, 0, lambda block: len(block) != 2)
    assert joined.plan == Plan.single_table(comp.names)
    assert not superfluous_separations(comp, plan, 0, lambda block: len(block) != 2, monotone=True)


def test_independent_attributes_may_stay_apart():
    """Joining them preserves nothing."""
    comp = dependence_of({"a": ["x", "x", "y", "y"], "b": ["p", "q"] * 2})
    assert not superfluous_separations(comp, Plan.singletons(comp.names), 1)


def test_too_many_tables_and_invalid_thresholds():
    comp = dependence_of({f"a{i}": ["x", "y"] for i in range(17)})
    plan = Plan.singletons(comp.names)
    with pytest.raises(ParameterError, match="17 tables"):
        superfluous_separations(comp, plan, 1)
    assert superfluous_separations(comp, plan, 1, monotone=True)
    with pytest.raises(ParameterError, match="beta"):
        superfluous_separations(comp, plan, 2)

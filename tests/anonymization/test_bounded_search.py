"""The search within a budget: its bound holds whenever it stops, and without a limit it finds the optimum."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.anonymization.methods.full_domain import search_lattice
from sfumato.anonymization.methods.full_domain.bounded_search import BoundedSearch
from sfumato.registry import LOSSES
from test_transformation_search import CASES, Case


def task_of(case):
    return sf.anonymization.Task(case.table, case.principles, suppress=case.limit)


@pytest.mark.parametrize("loss", LOSSES)
def test_without_a_limit_it_is_as_good_as_trying_everything(loss):
    for seed in range(list(LOSSES).index(loss), 3 * CASES, len(LOSSES)):
        case = Case(seed)
        if not case.measurable:
            continue
        settled = bool(seed % 2)
        least, levels, _ = case.best(loss, settle=settled)
        found = BoundedSearch(task_of(case), loss, settled=settled).best()
        context = seed, case.principles, case.limit
        assert found.proven, context
        if least is None:
            assert found.score is None, context
            continue
        assert (float(found.score), found.levels) == (pytest.approx(float(least), abs=1e-6), levels), context
        if loss != "entropy":
            assert found.score == least, context


@given(st.integers(0, 10**6), st.sampled_from(list(LOSSES)), st.integers(1, 25))
def test_whenever_it_stops_its_bound_is_not_above_the_least_loss(seed, loss, checks):
    case = Case(seed)
    if not case.measurable:
        return
    least, levels, _ = case.best(loss, settle=False)
    found = BoundedSearch(task_of(case), loss, settled=False).best(checks=checks)
    assert found.checked <= checks
    if least is None:
        assert found.score is None
        return
    rounding = 1e-6 if loss == "entropy" else 0
    assert found.lowest <= float(least) * (1 + 1e-12) + rounding
    assert found.score is None or found.score >= least - Fraction(rounding)
    if found.proven:
        assert found.levels == levels
    again = BoundedSearch(task_of(case), loss, settled=False).best(checks=checks)
    assert again == found


def flags(rows, columns, seed=0):
    draw = np.random.default_rng(seed)
    return pa.table({f"q{j}": pa.array(draw.integers(0, 2, rows).astype(str)) for j in range(columns)})


def test_a_lattice_too_large_for_memory_has_an_answer_with_a_gap():
    """Of independent flags, any few can be published: every set of five is a way to satisfy k, and no set of eight."""
    table, names = flags(400, 40), [f"q{j}" for j in range(40)]
    found = sf.full_domain(table, sf.Schema(names), sf.KAnonymity(5), count=True)
    assert (found.transformations, found.admissible) == (2**40, None)
    assert found.checked <= 2000
    assert not found.proven
    assert "not proven optimal, gap 0." in repr(found)
    published = [name for name in names if found.levels[name] == 0]
    assert found.score == pytest.approx(1 - len(published) / 40)
    # what is published satisfies k, by a count of its own; the gap is honest about sets of the same size
    counts = table.group_by(published).aggregate([([], "count_all")])["count_all"].to_pylist()
    assert min(counts) >= 5
    assert found.score - found.gap <= 1 - len(published) / 40
    # nothing can be added to it
    for more in set(names) - set(published):
        finer = table.group_by([*published, more]).aggregate([([], "count_all")])["count_all"].to_pylist()
        assert min(finer) < 5
    assert sf.full_domain(table, sf.Schema(names), sf.KAnonymity(5)).levels == found.levels


def test_a_large_lattice_whose_optimum_is_proven():
    """Thirty columns, of which only three tell rows apart, and not all three together."""
    draw = np.random.default_rng(3)
    columns = {f"same{j}": ["x"] * 300 for j in range(27)}
    columns |= {f"free{j}": draw.integers(0, 6, 300).astype(str).tolist() for j in range(3)}
    table, schema = pa.table(columns), sf.Schema(list(columns))
    found = sf.full_domain(table, schema, sf.KAnonymity(4))
    best = max(
        size
        for size in range(4)
        for chosen in combinations([f"free{j}" for j in range(3)], size)
        if min(table.group_by(list(chosen)).aggregate([([], "count_all")])["count_all"].to_pylist()) >= 4
    )
    assert found.transformations == 2**30
    assert found.proven
    assert found.gap == 0
    assert sum(found.levels[f"free{j}"] == 0 for j in range(3)) == best


def test_a_release_of_a_large_lattice_says_that_it_is_not_proven():
    names = [f"q{j}" for j in range(30)]
    table = flags(200, 30, seed=1)
    release = sf.anonymize(table, sf.Schema(names), sf.KAnonymity(5), method=sf.Lattice(), suppress="0.1")
    assert release.audit.holds
    assert any("not proven to be optimal" in note and "1,073,741,824" in note for note in release.notes)
    assert any("not proven optimal, gap 0." in note for note in release.private.notes)


def test_a_large_lattice_without_an_admissible_transformation():
    names = [f"q{j}" for j in range(25)]
    table = flags(60, 25).append_column("ill", pa.array(["flu"] * 59 + ["gout"]))
    task = sf.anonymization.Task(sf.Table(table, sf.Schema(names, ["ill"])), (sf.FrequencyLDiversity(2),))
    _, result = search_lattice(task, "mean", settled=False)
    assert (result.score, result.proven, result.suppressed) == (None, True, 60)
    with pytest.raises(sf.errors.RequirementError, match="33,554,432 transformations checked: none of them is admissible"):
        sf.full_domain(table, sf.Schema(names, ["ill"]), sf.FrequencyLDiversity(2))

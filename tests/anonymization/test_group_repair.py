"""Groups with excess are repaired: partners from the whole table, packing, exchanges where guaranteed, merging last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.anonymization.methods import Grouping, Method, Task, packing
from sfumato.anonymization.methods.group_repair import colour_if_guaranteed, merge_groups, repair, search_everywhere
from sfumato.anonymization.methods.packing import TablePacking, pack_table, repack_around
from sfumato.anonymization.methods.search_problem import SearchProblem
from sfumato.anonymization.methods.search_state import SearchState

ROWS = 240
FAIR = sf.Dissimilarity(epsilon=0, delta="0.75", k=8)


def task_of(*principles, secrets=None):
    secrets = np.arange(ROWS) // 8 if secrets is None else secrets
    frame = pa.table({"age": np.arange(ROWS) * 7 % 97, "secret": secrets})
    return Task(sf.Table(frame, sf.Schema(["age"], ["secret"])), principles)


def state_of(*principles, secrets=None, groups=None):
    """Return groups of eight by secret: all rows of a group are neighbours."""
    state = SearchState(SearchProblem.of(task_of(*principles, secrets=secrets)), seed=1)
    state.regroup(np.arange(ROWS) // 8 if groups is None else groups)
    return state


def satisfied(state, *principles, secrets=None):
    labels = np.unique(state.labels, return_inverse=True)[1]
    assert np.bincount(labels).min() >= state.constraints.least
    return task_of(*principles, secrets=secrets).satisfied(labels).all()


@pytest.mark.parametrize("step", [pack_table, repack_around, colour_if_guaranteed, lambda state: repair(state, 1)])
def test_each_step_repairs_a_table_in_which_every_group_is_bad(step):
    state = state_of(FAIR)
    assert state.excess == ROWS * (7 - 1), "each row has seven neighbours, and may have one"
    step(state)
    assert state.excess == 0
    assert satisfied(state, FAIR)


def test_rows_left_over_join_groups_that_exist():
    """Reopened groups leave unused numbers: no row may get such a number for itself."""
    state = state_of(FAIR)
    state.order_rows()
    packing = TablePacking(state)

    def pack_part(start, stop):
        packing.labels[:], packing.made = 7, 9
        packing.labels[state.order[-3:]] = -1
        return np.arange(stop - 3, stop)

    packing.pack_part = pack_part
    assert set(packing.group_all().tolist()) == {7}


def test_the_last_bad_rows_find_distant_partners():
    """Two groups with one secret each are at the two ends of the table; all other groups have different secrets."""
    secrets = np.concatenate([np.zeros(8, int), np.arange(1, ROWS - 15), np.full(8, -1)])
    state = state_of(FAIR, secrets=secrets)
    assert (state.arrays.excess > 0).sum() == 2
    search_everywhere(state)
    assert state.excess == 0
    assert satisfied(state, FAIR, secrets=secrets)


def test_many_bad_groups_share_the_rows_that_are_packed_again(monkeypatch):
    """No grouping satisfies it, so every circle fails, up to the largest: together they must not be groups times rows."""
    secrets = np.where(np.arange(ROWS) % 2 == 0, 0, np.arange(ROWS))
    state = state_of(sf.Dissimilarity(epsilon=0, delta=1, k=2), secrets=secrets, groups=np.arange(ROWS) // 4)
    assert (state.arrays.excess > 0).sum() == ROWS / 4
    packed = []

    def pack_rows(state, rows, groups):
        packed.append(len(rows))
        return np.full(len(rows), -1)

    monkeypatch.setattr(packing, "pack_rows", pack_rows)
    repack_around(state)
    # a circle that is too large is not packed, and the circles before it are half as large each
    assert len(packed) >= ROWS / 4, "each bad group is tried"
    assert sum(packed) <= 2 * packing._REPACKED * ROWS


def test_merging_satisfies_monotone_principles():
    state = state_of(sf.KAnonymity(8), sf.DistinctLDiversity(3))
    while state.excess > 0:
        groups = len(state.arrays.size)
        merge_groups(state)
        assert len(state.arrays.size) < groups
    assert satisfied(state, sf.KAnonymity(8), sf.DistinctLDiversity(3))


def test_an_impossible_requirement_fails_in_few_rows():
    """Half of the rows share a secret: no grouping satisfies it, and the table is not merged into one bad group."""
    secrets = np.where(np.arange(ROWS) % 2 == 0, 0, np.arange(ROWS))
    task = task_of(sf.Dissimilarity(epsilon=0, delta=1, k=4), secrets=secrets)
    grouping = sf.Glaze().group(task)
    assert grouping.count > 10
    assert not task.satisfied(grouping.of_row).all()


@dataclass(frozen=True)
class Never(Method):
    name: ClassVar[str] = "never"

    def group(self, task: Task, seed: int = 0) -> Grouping:
        raise AssertionError("no search may start for an impossible requirement")


def test_an_impossible_requirement_is_refused_before_any_search():
    frame = pa.table({"age": list(range(20)), "ill": ["flu"] * 6 + list("abcdefghijklmn")})
    schema, requirement = sf.Schema(["age"], ["ill"]), sf.Dissimilarity(epsilon=0, delta=1, k=4)
    with pytest.raises(sf.errors.RequirementError, match="flu makes up 6 of the 20 rows"):
        sf.anonymize(frame, schema, requirement, method=Never())
    release = sf.anonymize(frame, schema, requirement, suppress="0.3")
    assert 0 < release.suppressed <= 6
    assert release.audit.holds


def test_auto_takes_a_method_that_supports_the_principles():
    frame = pa.table({"age": [20, 21, 40, 41] * 5, "ill": list("abcd") * 5})
    schema = sf.Schema(["age"], ["ill"])
    assert sf.anonymize(frame, schema, sf.NTCloseness(n=10, t=1)).method == sf.Mondrian()
    assert sf.anonymize(frame, schema, sf.KAnonymity(2)).method == sf.Glaze()


@pytest.mark.parametrize("suppress", [0, "0.5"])
@pytest.mark.parametrize("requirement", [sf.DistinctLDiversity(4), sf.PSensitivity(p=4, k=4)], ids=lambda r: r.name)
def test_no_suppression_creates_a_fourth_value(requirement, suppress):
    """Nothing is searched for, whether rows may be suppressed or not, and suppression is not offered."""
    frame = pa.table({"age": list(range(30)), "ill": ["flu", "gout", "cold"] * 10})
    steps = []
    with pytest.raises(sf.errors.RequirementError, match="on ill: ") as caught:
        sf.anonymize(
            frame,
            sf.Schema(["age"], ["ill"]),
            requirement,
            suppress=suppress,
            progress=lambda step, share=None: steps.append(step),
        )
    assert steps == ["assessing feasibility"]
    assert "suppress" not in caught.value.remedy


def test_a_solved_table_stays_solved():
    """Lowering the loss after the repair once broke groups again: the price of excess was worth paying in large groups."""
    table = sf.Table(sf.synthetic_census(3000, seed=1), sf.Schema(["age", "sex", "marital", "race"], ["workclass"]))
    task = Task(table, (sf.DeltaDisclosure(2),))
    grouping = sf.Glaze().group(task)
    assert task.satisfied(grouping.of_row).all()
    assert grouping.count > 1


def test_the_best_state_is_kept():
    state = state_of(sf.KAnonymity(8), sf.DistinctLDiversity(3), secrets=np.arange(ROWS) % 8)
    state.remember()
    state.regroup(np.zeros(ROWS, np.int64))
    state.return_to_best()
    assert state.labels.tolist() == (np.arange(ROWS) // 8).tolist()

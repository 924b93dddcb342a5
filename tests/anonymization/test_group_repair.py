"""What is left bad is mended: partners sought everywhere, rows dealt anew, exchanges where promised, merging last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.anonymization.methods import Grouping, Method, Task
from sfumato.anonymization.methods.group_repair import exchange_if_promised, mend, merge, shake
from sfumato.anonymization.methods.packing import Dealer, deal, deal_around
from sfumato.anonymization.methods.search_constraints import Limits
from sfumato.anonymization.methods.search_state import SearchState

ROWS = 240
FAIR = sf.Dissimilarity(epsilon=0, delta="0.75", k=8)


def canvas_of(*principles, secrets=None, groups=None):
    """Groups of eight by secret: everybody is the neighbour of everybody in the group."""
    secrets = np.arange(ROWS) // 8 if secrets is None else secrets
    frame = pa.table({"age": np.arange(ROWS) * 7 % 97, "secret": secrets})
    task = Task(sf.Table(frame, sf.Schema(["age"], ["secret"])), principles)
    canvas = SearchState(task, Limits.of(task), seed=1)
    canvas.regroup(np.arange(ROWS) // 8 if groups is None else groups)
    return canvas


def satisfied(canvas):
    labels = np.unique(canvas.labels, return_inverse=True)[1]
    assert np.bincount(labels).min() >= canvas.limits.least
    return canvas.task.satisfied(labels).all()


@pytest.mark.parametrize("how", [deal, deal_around, exchange_if_promised, lambda c: mend(c, 1)])
def test_each_way_mends_a_table_in_which_all_is_bad(how):
    canvas = canvas_of(FAIR)
    assert canvas.excess == ROWS * (7 - 1), "each has seven neighbours, and may have one"
    how(canvas)
    assert canvas.excess == 0
    assert satisfied(canvas)


def test_rows_left_over_join_groups_that_still_are():
    """Groups that were taken back and dealt again leave numbers that no group has: no row may go there alone."""
    canvas = canvas_of(FAIR)
    canvas.good_order()
    dealer = Dealer(canvas)

    def dealt(start, stop):
        dealer.labels[:], dealer.made = 7, 9
        dealer.labels[canvas.order[-3:]] = -1
        return np.arange(stop - 3, stop)

    dealer.deal = dealt
    assert set(dealer.labels_of_all().tolist()) == {7}


def test_the_last_bad_rows_find_partners_far_away():
    """Two groups of one secret each, at the two ends of the table; all others hold different secrets."""
    secrets = np.concatenate([np.zeros(8, int), np.arange(1, ROWS - 15), np.full(8, -1)])
    canvas = canvas_of(FAIR, secrets=secrets)
    assert (canvas.state.excess > 0).sum() == 2
    shake(canvas)
    assert canvas.excess == 0
    assert satisfied(canvas)


def test_merging_serves_what_is_monotone():
    canvas = canvas_of(sf.KAnonymity(8), sf.DistinctLDiversity(3))
    while canvas.excess > 0:
        groups = len(canvas.state.size)
        merge(canvas)
        assert len(canvas.state.size) < groups
    assert satisfied(canvas)


def test_what_cannot_be_mended_fails_in_few_rows():
    """Half of the rows share a secret: no grouping will do, and the table is not merged into one bad group for it."""
    secrets = np.where(np.arange(ROWS) % 2 == 0, 0, np.arange(ROWS))
    task = canvas_of(sf.Dissimilarity(epsilon=0, delta=1, k=4), secrets=secrets).task
    grouping = sf.Glaze().group(task)
    assert grouping.count > 10
    assert not task.satisfied(grouping.of_row).all()


@dataclass(frozen=True)
class Never(Method):
    name: ClassVar[str] = "never"

    def group(self, task: Task, seed: int = 0) -> Grouping:
        raise AssertionError("nobody should look for groups that cannot be")


def test_what_is_impossible_is_said_before_any_search():
    frame = pa.table({"age": list(range(20)), "ill": ["flu"] * 6 + list("abcdefghijklmn")})
    schema, wish = sf.Schema(["age"], ["ill"]), sf.Dissimilarity(epsilon=0, delta=1, k=4)
    with pytest.raises(sf.errors.RequirementError, match="flu makes up 6 of the 20 rows"):
        sf.anonymize(frame, schema, wish, method=Never())
    release = sf.anonymize(frame, schema, wish, suppress="0.3")
    assert 0 < release.suppressed <= 6
    assert release.audit.holds


def test_auto_takes_a_method_that_serves():
    frame = pa.table({"age": [20, 21, 40, 41] * 5, "ill": list("abcd") * 5})
    schema = sf.Schema(["age"], ["ill"])
    assert sf.anonymize(frame, schema, sf.NTCloseness(n=10, t=1)).method == sf.Mondrian()
    assert sf.anonymize(frame, schema, sf.KAnonymity(2)).method == sf.Glaze()

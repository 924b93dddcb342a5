"""Certificates against (ε,δ)^k-dissimilarity: the sizes that groups can have, and what a certificate states."""

from __future__ import annotations

from fractions import Fraction

import sfumato as sf
from all_partitions import graph_table, number_table
from sfumato.principles import View
from sfumato.principles.proximity_certificate import Crowding, excluded, own_size, too_small


def test_the_smallest_group_that_leaves_no_rows_or_enough_for_another():
    for rows in range(1, 30):
        for k in range(1, rows + 1):
            for delta in (Fraction(0), Fraction(1, 2)):
                least = max(k, 2) if delta else k
                sizes = [size for size in range(least, rows + 1) if rows - size == 0 or rows - size >= least]
                assert not sizes or own_size(rows, k, delta) == sizes[0]


def certificate_of(table, **parameters):
    return sf.Dissimilarity(**parameters).certificate(View(table, ["x"]).as_one_group())


def test_what_is_stated_of_a_crowd():
    """One of 8 values is near all others; in a group of two, ⌈0.1 · 1⌉ must be far from it, so 6 may be near it."""
    found = certificate_of(graph_table(8, {(0, v) for v in range(1, 8)}), epsilon="0.5", delta="0.1", k=2)
    assert (found.kind, found.values, found.count, found.rows, found.most) == ("crowd", ("0",), 7, 8, 6)
    assert (found.share, found.bound) == (Fraction(7, 8), Fraction(6, 8))
    # near six others; in a group of four, ⌈0.5 · 3⌉ must be far from it
    found = certificate_of(graph_table(8, {(0, v) for v in range(1, 7)}), epsilon="0.5", delta="0.5", k=4)
    assert (found.kind, found.values, found.count, found.rows, found.most) == ("crowd", ("0",), 6, 8, 5)


def test_what_is_stated_of_a_clique():
    """Values 1 to 5 are pairwise near; of two groups of four rows, each may contain two of them at δ = 2/3."""
    found = certificate_of(number_table([1, 2, 3, 4, 5, 50, 90, 200]), epsilon=4, delta="2/3", k=4)
    assert (found.kind, found.values, found.count, found.rows, found.most) == ("clique", ("1", "2", "3", "4", "5"), 5, 8, 4)


def test_too_few_rows():
    assert "one row" in certificate_of(number_table([7]), epsilon=0, delta="0.5", k=1).sentence
    found = too_small(3, 2)
    assert (found.kind, found.rows) == ("size", 2)
    assert found.sentence == "no group can hold 3 of 2"


def test_a_table_of_the_smallest_group_is_not_excluded():
    crowding = Crowding.of(View(number_table([1, 9]), ["x"]).graph(Fraction(0)))
    assert [excluded(crowding, Fraction(1), k) for k in (1, 2, 3)] == [False, False, True]

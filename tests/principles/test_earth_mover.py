"""The earth mover's distance from tables of any number of rows, from several at once, and from sums beyond 64 bits."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import sfumato as sf
from sfumato.data.groups import Histogram
from sfumato.principles.earth_mover import Target, emd

RANKS = "abcde"
PATHS = {"a": "aX*", "b": "bX*", "c": "cY*", "d": "dY*", "e": "eY*"}
ORACLES = {
    "equal": naive.emd_equal,
    "ordered": lambda group, table: naive.emd_ordered(group, table, RANKS),
    "hierarchical": lambda group, table: naive.emd_hierarchical(group, table, PATHS),
}


def distances(ground, groups, tables, times):
    """Return the distance of each group from its table, in which every row occurs so many times."""
    extra = {"hierarchies": {"x": sf.Hierarchy.from_rows(PATHS.values())}} if ground == "hierarchical" else {}
    schema = sf.Schema(sensitive=["x"], orders={"x": [*RANKS]} if ground == "ordered" else {}, **extra)
    attribute = sf.Table(pa.table({"x": list(RANKS)}), schema).attribute(["x"])
    counted = [[(RANKS.index(value), count) for value, count in sorted(Counter(group).items())] for group in groups]
    values, counts = np.array([entry for entries in counted for entry in entries]).T
    offsets = np.cumsum([0, *map(len, counted)])
    totals = np.array([[table.count(value) * n for value in RANKS] for table, n in zip(tables, times, strict=True)])
    found = emd(attribute, Histogram(offsets, values, counts), ground, Target(totals, np.arange(len(groups))))
    return [found[g] for g in range(len(groups))]


values = st.lists(st.sampled_from(RANKS), min_size=1, max_size=6)


@pytest.mark.parametrize("ground", ORACLES)
@given(st.lists(st.tuples(values, values), min_size=1, max_size=4))
def test_groups_with_a_table_each(ground, pairs):
    groups = [group for group, _ in pairs]
    tables = [[*table, *group] for group, table in pairs]
    expected = [ORACLES[ground](group, table) for group, table in zip(groups, tables, strict=True)]
    assert distances(ground, groups, tables, [1] * len(pairs)) == expected


def test_a_group_that_reaches_all_rows_of_its_table_but_one():
    """Five of six rows are a, as in the table; the sixth goes from e to b, three steps of four."""
    assert distances("ordered", ["aaaaae", "e"], ["aaaaab", "e"], [1, 1]) == [Fraction(1, 6) * Fraction(3, 4), 0]


@pytest.mark.parametrize("exponent", [52, 53])
@pytest.mark.parametrize("ground", ORACLES)
def test_sums_that_do_not_fit(ground, exponent):
    """Groups of 1 and 60 rows, and tables of 5 and of 10 · 2⁵² or 10 · 2⁵³ rows.

    The largest product of the rows of a group, the rows of its table and the levels or ranks is above 2⁶² from 2⁵² on
    (equal: from 2⁵³ on), and denominators are above 2⁶³.
    """
    groups, tables = ["a", "a" * 30 + "d" * 30], [RANKS, "aaaabbccde"]
    expected = [ORACLES[ground](group, table) for group, table in zip(groups, tables, strict=True)]
    assert distances(ground, groups, tables, [1, 2**exponent]) == expected


def test_the_smallest_sum_that_does_not_fit():
    """Two rows of a value that half of 2⁶¹ rows have: twice the product of both numbers of rows is 2⁶³."""
    assert distances("equal", ["aa"], ["ab"], [2**60]) == [Fraction(1, 2)]


def test_an_order_has_no_place_for_a_missing_value():
    frame = pa.table({"q": [1, 1], "x": ["1", ""]})
    schema = sf.Schema(quasi_identifiers=["q"], sensitive=["x"], kinds={"x": "numeric"})
    with pytest.raises(sf.errors.SfumatoError, match="missing"):
        sf.audit(frame, schema, [sf.TCloseness(1, ground="ordered")])

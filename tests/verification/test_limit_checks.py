"""Limits on cells by their definition: a cell mixes no values that are kept apart, and is a node of an allowed level."""

from __future__ import annotations

from types import SimpleNamespace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.verification.limit_checks import limits_check

PATHS = {"a": "XPU", "b": "XPU", "c": "cPU", "d": "YYU", "e": "YYU", "f": "fQV"}
"""What is above each value, but for the root; `c`, `Y` and `f` are nodes of two levels."""
TREE = {value: (value, *nodes, "*") for value, nodes in PATHS.items()}
HIERARCHY = sf.Hierarchy.from_rows(list(TREE.values()))

cells_in_order = st.lists(st.sampled_from(sorted(set().union(*TREE.values()))), min_size=1, max_size=5, unique=True)
values_that_occur = st.lists(st.sampled_from(sorted(TREE)), min_size=1, unique=True)


def checked(cells, values, recoding="ancestor", **limits):
    schema = sf.Schema(["q"], hierarchies={"q": HIERARCHY}, recodings={"q": recoding}, **limits)
    original = sf.Table(pa.table({"q": pa.array(values, pa.string())}), schema)
    return limits_check(SimpleNamespace(texts=lambda name: cells), original, schema, {"q": recoding}, "")


def mixes(covered, class_of):
    return len({class_of(value) for value in covered}) > 1


@given(cells_in_order, values_that_occur, st.integers(0, 3), st.integers(1, 40))
def test_no_cell_is_coarser_than_allowed(cells, values, coarsest, at_once):
    """The first cell that mixes values is named, and if none does the first that no allowed level has."""
    covered = {cell: [value for value in values if cell in TREE[value]] for cell in cells}
    mixing = [cell for cell in cells if mixes(covered[cell], lambda value: TREE[value][coarsest])]
    allowed = {node for path in TREE.values() for node in path[: coarsest + 1]}
    coarse = [cell for cell in cells if cell not in allowed]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sfumato.verification.limit_checks._AT_ONCE", at_once)
        check = checked(cells, values, coarsest={"q": coarsest})
    assert check.holds == (not mixing and not coarse)
    if mixing:
        assert check.detail == f"the cell {mixing[0]!r} mixes values that are kept apart of 'q'"
    elif coarse:
        assert check.detail == f"the cell {coarse[0]!r} is coarser than level {coarsest} of 'q'"


@given(st.lists(st.lists(st.sampled_from("abcdef"), min_size=2, unique=True), min_size=1, max_size=3), values_that_occur)
def test_no_set_mixes_values_that_are_kept_apart(sets, values):
    classes = [[value] for value in values[:2]]
    check = checked([f"{{{'; '.join(sorted(one))}}}" for one in sets], values, "set", never_mix={"q": classes})
    assert check.holds == (not any(mixes(set(one) & set(values), lambda v: v if [v] in classes else None) for one in sets))


def test_without_limits_nothing_is_checked():
    assert checked(["*"], ["a", "f"]) is None

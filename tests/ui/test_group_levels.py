"""Groups by hand: nothing is lost or doubled, whatever is moved or renamed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data import NamedGroups
from sfumato.errors import HierarchyError
from sfumato.ui.group_levels import REST, levels_of, moved, renamed, rests

VALUES = ["a", "b", "c", "d", "e"]
NAMES = st.sampled_from(["", "x", "y", "z"])
MOVES = st.lists(st.tuples(st.integers(0, 1), st.lists(st.sampled_from(VALUES), min_size=1, unique=True), NAMES), max_size=8)


def where(levels, value):
    """The groups of a value on each level, as the library builds them."""
    return NamedGroups(levels, rest=rests(None, len(levels))).build(VALUES, "c").rows()[VALUES.index(value)][1:-1]


@given(MOVES)
def test_moves(moves):
    """Each value is where it was moved last; each level lists what it contains once, and only what exists below."""
    levels, expected = [{}, {}], dict.fromkeys(VALUES, "")
    for level, members, to in moves:
        if level == 0:
            levels = moved(levels, 0, members, to)
            expected |= dict.fromkeys(members, to)
        else:
            groups = [name for name in levels[0] if ord(name[0]) % 2]
            if groups:
                levels = moved(levels, 1, groups, to and f"up {to}")
        listed = [member for members in levels[0].values() for member in members]
        assert sorted(listed) == sorted(value for value, to in expected.items() if to)
        above = [member for members in levels[1].values() for member in members]
        assert len(above) == len(set(above))
        assert set(above) <= set(levels[0])
        assert all(members for groups in levels for members in groups.values())
    for value, to in expected.items():
        assert where(levels, value)[0] == (to or REST)


@given(MOVES)
def test_a_new_name_changes_nothing_else(moves):
    levels = [{}, {}]
    for _, members, to in moves:
        levels = moved(levels, 0, members, to)
    if not levels[0]:
        return
    old = next(iter(levels[0]))
    levels = moved(levels, 1, [old], "up")
    after = renamed(levels, 0, old, "new")
    assert list(after[0].values()) == list(levels[0].values())
    assert [one if one != "new" else old for one in after[0]] == list(levels[0])
    for value in VALUES:
        assert where(after, value)[1] == where(levels, value)[1]


def test_names_that_exist_or_are_empty_are_refused():
    levels = [{"x": ["a"], "y": ["b"]}]
    for name in ("y", " "):
        with pytest.raises(HierarchyError):
            renamed(levels, 0, "x", name)


@given(st.lists(st.integers(0, 2), min_size=5, max_size=5))
def test_a_hierarchy_becomes_the_same_groups(groups):
    rows = [[value, f"g{group}", f"h{group % 2}", "*"] for value, group in zip(VALUES, groups, strict=True)]
    tree = sf.Hierarchy.from_rows(rows)
    assert NamedGroups(levels_of(tree)).build(VALUES, "c").rows() == rows

"""Downcoding and tight ends against their definition, on the smallest cells, and on cells with ends on a grid."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from attacked_tables import grouped, one
from naive_group_attacks import members, occurrence
from sfumato.attacks import Downcoding, NotMeasured

TABLE, EQUAL = "values as frequent as in the table", "all values equally frequent"

TREE = [
    ["a", "X", "V", "*"],
    ["b", "X", "V", "*"],
    ["c", "Y", "V", "*"],
    ["d", "Y", "V", "*"],
    ["e", "Z", "W", "*"],
    ["f", "Z", "W", "*"],
    ["g", "Z", "W", "*"],
]


def agrees(result, expected):
    assert result.success.tried == len(expected)
    for rate, at in ((result.success, 0), (result.baselines[TABLE], 1), (result.baselines[EQUAL], 2)):
        assert rate.share == pytest.approx(float(sum(one[at] for one in expected)) / len(expected))


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 12)), min_size=1, max_size=14),
    st.sampled_from([1, 5]),
)
def test_ends_of_intervals_occur_as_often_as_the_definition_says(rows, grid):
    groups, ages = zip(*rows, strict=True)
    ends = {
        group: (min(ages[i] for i in people) // grid * grid, -(-max(ages[i] for i in people) // grid) * grid)
        for group, people in members(groups).items()
    }
    cells = [str(low) if low == high else f"[{low}, {high}]" for low, high in map(ends.get, groups)]
    # groups with equal cells are one group for a reader
    keys = [ends[group] for group in groups]
    release = grouped(groups, {}, {"age": list(ages)}, cells={"age": cells})
    claims = [(key, {end}) for key in sorted(set(keys)) if key[0] != key[1] for end in key]
    covered = {key: set(range(key[0], key[1] + 1)) for key in keys}
    if not claims:
        with pytest.raises(NotMeasured, match="no published cell"):
            Downcoding().run(release)
        return
    result = one(Downcoding().run(release))
    agrees(result, occurrence(keys, list(ages), claims, covered))
    assert result.certain == 0  # how another tool makes cells is not known


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abcdefg")), min_size=1, max_size=12))
def test_two_children_of_a_node_occur(rows):
    groups, towns = zip(*rows, strict=True)
    paths = {path[0]: path for path in TREE}
    node = {}
    for group, people in members(groups).items():
        below = [paths[towns[i]] for i in people]
        level = next(level for level in range(4) if len({path[level] for path in below}) == 1)
        node[group] = (below[0][level], level)
    keys = [node[group] for group in groups]
    covered = {key: {path[0] for path in TREE if path[key[1]] == key[0]} for key in keys}
    claims = []
    for label, level in sorted(set(keys)):
        children = {path[level - 1] for path in TREE if path[level] == label} if level else set()
        if len(children) == 2:
            claims += [((label, level), {path[0] for path in TREE if path[level - 1] == child}) for child in children]
    tree = sf.Hierarchy.from_rows(TREE)
    release = grouped(
        groups, {}, {"town": list(towns)}, cells={"town": [label for label, _ in keys]}, hierarchies={"town": tree}
    )
    if not claims:
        with pytest.raises(NotMeasured):
            Downcoding().run(release)
        return
    result = one(Downcoding().run(release))
    agrees(result, occurrence(keys, list(towns), claims, covered))
    assert result.success.share == 1  # the cells are the lowest common ancestors


@given(st.lists(st.sampled_from(["a", "b", "c; d", "*"]), min_size=4, max_size=10), st.integers(0, 3))
def test_members_of_sets_occur(towns, seed):
    people = pa.table({"town": towns})
    release = sf.anonymize(people, sf.Schema(["town"]), sf.KAnonymity(2), method="mondrian", seed=seed)
    found = sf.attack(release, attacks=["downcoding"])
    groups = release.audit.groups
    sizes = [len(set(values)) for values in _values(release, towns).values()]
    expected = sum(size for size in sizes if size > 1)
    if not expected:
        assert found.skipped[0].attack == "downcoding"
        return
    assert (found[0].success.tried, found[0].certain, found[0].right) == (expected,) * 3
    exact = sum(len(set(v)) == len(v) > 1 for v in _values(release, towns).values())
    assert found[0].figures["town"]["cells whose exact content follows"] == exact
    assert groups.count == len(sizes)


def _values(release, towns):
    return {
        group: [towns[int(row)] for row in release.private.rows[release.audit.groups.of_row == group]]
        for group in range(release.audit.groups.count)
    }


def test_tight_ends_are_found_and_ends_on_a_grid_are_not():
    draw = np.random.default_rng(3)
    people = pa.table({"pay": draw.integers(0, 1000, 300).tolist(), "zip": draw.integers(0, 3, 300).tolist()})
    schema = sf.Schema(["pay", "zip"])
    tight = sf.attack(sf.anonymize(people, schema, sf.KAnonymity(3), method="mondrian", seed=0), attacks=["downcoding"])[0]
    assert tight.success.share == 1
    assert tight.certain == tight.right == tight.success.tried
    assert tight.exceeds
    # everybody in a group of five years, chosen without regard to who is in it, and a random part of it
    ages, part = draw.integers(20, 80, 1500).tolist(), draw.integers(0, 25, 1500)
    low = np.array(ages) // 5 * 5
    cells = {"age": [f"[{one}, {one + 4}]" for one in low.tolist()], "part": [str(one) for one in part.tolist()]}
    loose = one(Downcoding().run(grouped(range(1500), {}, {"age": ages, "part": part.tolist()}, cells=cells)))
    assert loose.success.share < 1
    assert not loose.exceeds
    assert loose.baselines[TABLE].low <= loose.success.share <= loose.baselines[TABLE].high


def test_two_rows_in_an_interval_are_known_exactly():
    release = sf.anonymize(pa.table({"age": [20, 24, 40, 49]}), sf.Schema(["age"]), sf.KAnonymity(2), seed=0)
    figures = sf.attack(release, attacks=["downcoding"])[0].figures["age"]
    assert figures["cells whose exact content follows"] == 2
    assert figures["a person has the value of a random end"] == 0.5
    assert figures["a person has a random value"] == 0.5  # two values of the table are in each interval


def test_the_root_has_claims_unless_values_are_missing():
    sexes = ["f", "m", "f", "m", None]
    tree = sf.Hierarchy.from_rows([["f", "*"], ["m", "*"]])
    whole = grouped(range(4), {}, {"sex": sexes[:4]}, cells={"sex": ["*"] * 4}, hierarchies={"sex": tree})
    assert one(Downcoding().run(whole)).success.tried == 2
    with pytest.raises(NotMeasured):
        Downcoding().run(grouped(range(5), {}, {"sex": sexes}, cells={"sex": ["*"] * 5}, hierarchies={"sex": tree}))


def test_cells_of_lattice_are_not_the_smallest():
    people = pa.table({"town": ["a", "a", "c", "d"]})
    schema = sf.Schema(["town"], hierarchies={"town": sf.Hierarchy.from_rows(TREE)})
    found = sf.attack(sf.anonymize(people, schema, sf.KAnonymity(2), method="lattice"), attacks=["downcoding"])
    assert found[0].certain == 0
    assert found[0].success.share == 0.75  # a and not b, c and d
    assert any("on one level" in note for note in found[0].notes)

"""Every shape of a breach against its definition: numbers, taxonomies, sets, several columns, several rows per person."""

from __future__ import annotations

import dataclasses
import re
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import naive_shapes as shapes
import sfumato as sf
from sfumato import testing
from sfumato.principles import describe
from sfumato.principles.shapes import SHAPES, near_set_counts, shape_named
from small_tables import TREE, by_group, measured, numbers, tables

OTHERS = ("ball", "clique", "chain", "cycle")
BY_GRAPH = {"clique": shapes.clique, "chain": shapes.chain, "cycle": shapes.cycle}
RADII = st.sampled_from(["0", "1/8", "1/4", "1/3", "3/8", "1/2", "2/3", "1"])
EPSILONS = st.sampled_from(["0", "0.1", "0.2", "0.4", "0.7", "1", "9"])


def agree(rows, principle, groups, sizes, draw, **schema):
    """`same_levels` for rows (group, value)."""
    frame = pa.table({"q": [g for g, _ in rows], "s": [v for _, v in rows]})
    same_levels(frame, sf.Schema(["q"], ["s"], **schema), principle, groups, sizes, draw)


def same_levels(frame, schema, principle, groups, sizes, draw):
    """The levels are those of the definition, as shares of the group, and so are the verdicts at a threshold near them."""
    levels = [Fraction(size, len(group)) for group, size in zip(groups, sizes, strict=True)]
    delta = draw(st.sampled_from([1 - level for level in levels] + [Fraction(1, 2), Fraction(1)]))
    part = sf.audit(frame, schema, dataclasses.replace(principle, delta=delta))[0].measurement.parts[0]
    assert part.name == "share"
    assert [part.at(g) for g in range(len(groups))] == levels
    assert part.holds.tolist() == [level <= 1 - delta for level in levels]


@pytest.mark.parametrize("shape", OTHERS)
@given(rows=tables(numbers, most_rows=9, most_groups=2), epsilon=EPSILONS, data=st.data())
def test_numbers(shape, rows, epsilon, data):
    groups, radius = by_group([(g, Fraction(v)) for g, v in rows]), Fraction(epsilon)
    if shape == "ball":
        sizes = [shapes.ball_of_numbers(group, radius) for group in groups]
    else:
        sizes = [BY_GRAPH[shape](group, lambda x, y: abs(x - y) <= radius) for group in groups]
    agree(rows, sf.Dissimilarity(epsilon, 0, shape=shape), groups, sizes, data.draw, kinds={"s": "numeric"})


TREE_OF_VALUES = sf.Hierarchy.from_rows(TREE.values())


@settings(max_examples=settings.default.max_examples // 2)
@given(tables(st.sampled_from("abcde"), most_rows=7, most_groups=2), st.sampled_from(["0", "1/2", "1"]), st.data())
def test_all_shapes_are_one_in_a_taxonomy(rows, epsilon, data):
    groups = by_group(rows)
    sizes = [
        shapes.chain(group, lambda x, y: Fraction(naive.common_level(TREE[x], TREE[y]), 2) <= Fraction(epsilon))
        for group in groups
    ]
    declared = {"distance": sf.distances.Taxonomy(), "hierarchies": {"s": TREE_OF_VALUES}}
    for shape in OTHERS:
        agree(rows, sf.Dissimilarity(epsilon, 0, shape=shape), groups, sizes, data.draw, **declared)


SETS = st.frozensets(st.sampled_from("uvw"), min_size=1)


@pytest.mark.parametrize("shape", OTHERS)
@settings(max_examples=settings.default.max_examples // 2)
@given(rows=tables(SETS, most_rows=7, most_groups=2), epsilon=RADII, data=st.data())
def test_sets(shape, rows, epsilon, data):
    """No order and no geometry: the centre of a ball is any value of the table, also of the other group."""

    def near(x, y):
        return naive.jaccard(x, y) <= Fraction(epsilon)

    groups, domain = by_group(rows), {value for _, value in rows}
    if shape == "ball":
        sizes = [shapes.ball(group, near, domain) for group in groups]
    else:
        sizes = [BY_GRAPH[shape](group, near) for group in groups]
    lists = [(g, sorted(value)) for g, value in rows]
    principle = sf.Dissimilarity(epsilon, 0, shape=shape)
    agree(lists, principle, groups, sizes, data.draw, distance=sf.distances.Jaccard())


@settings(max_examples=settings.default.max_examples // 3)
@given(tables(SETS, most_rows=7, most_groups=2), RADII, st.integers(1, 20), st.data())
def test_balls_of_more_values_than_are_stored_pair_by_pair(rows, epsilon, at_once, data):
    def near(x, y):
        return naive.jaccard(x, y) <= Fraction(epsilon)

    sizes = [shapes.ball(group, near, {value for _, value in rows}) for group in by_group(rows)]
    lists = [(g, sorted(value)) for g, value in rows]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(near_set_counts, "BITSET", 0)
        patch.setattr(near_set_counts, "_BLOCK", at_once)
        principle = sf.Dissimilarity(epsilon, 0, shape="ball")
        agree(lists, principle, by_group(rows), sizes, data.draw, distance=sf.distances.Jaccard())


def test_a_pair_of_values_takes_one_bit():
    attribute = sf.Table(pa.table({"s": list(range(200))}), sf.Schema(sensitive=["s"])).attribute(["s"])
    graph = sf.distances.NeighbourGraph(attribute, sf.distances.Absolute(), 3)
    bits = near_set_counts._bits(graph, np.arange(200))
    assert bits.nbytes <= 200 * (200 + 64) / 8, "whole words of 64 bits"
    assert sum(int(word).bit_count() for word in bits.ravel()) == sum(
        abs(v - w) <= 3 for v in range(200) for w in range(200)
    )


POINTS = st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from("mf"))
SPAN = 4


def terms(p, q):
    return [abs(p[0] - q[0]) / Fraction(SPAN), abs(p[1] - q[1]) / Fraction(SPAN)]


NORMS = {
    1: (lambda p, q: sum(terms(p, q)) / 2, lambda p: (Fraction(p[0] + p[1], 2 * SPAN), Fraction(p[0] - p[1], 2 * SPAN))),
    "inf": (lambda p, q: max(terms(p, q)), lambda p: (Fraction(p[0], SPAN), Fraction(p[1], SPAN))),
    2: (lambda p, q: sum(t * t for t in terms(p, q)) / 2, None),
}
"""For each p the distance of two points, squared for p = 2; and coordinates in which balls are boxes."""


@pytest.mark.parametrize("p", NORMS)
@settings(max_examples=settings.default.max_examples // 2)
@given(
    rows=tables(POINTS, most_rows=7, most_groups=2),
    epsilon=st.sampled_from(["0", "1/8", "1/4", "3/8", "1/2", "1"]),
    data=st.data(),
)
def test_points_of_two_columns(p, rows, epsilon, data):
    """Under L^1 and the maximum the centre of a ball is any point; under L^2 it is a value of the table."""
    distance, wide = NORMS[p]
    radius = Fraction(epsilon) ** (2 if p == 2 else 1)

    def near(v, w):
        return distance(v, w) <= radius

    groups = by_group(rows)
    ranges = {"x": [0, SPAN], "y": [0, SPAN]}
    schema = sf.Schema(["q"], ["x", "y"], distance=sf.distances.Lp(p=p, ranges=ranges), kinds=dict.fromkeys("xy", "numeric"))
    frame = pa.table({"q": [g for g, _ in rows], **{name: [v[j] for _, v in rows] for j, name in enumerate("xy")}})
    for shape in OTHERS:
        if shape != "ball":
            sizes = [BY_GRAPH[shape](group, near) for group in groups]
        elif wide is None:
            sizes = [shapes.ball(group, near, [v for _, v in rows]) for group in groups]
        else:
            sizes = [shapes.ball_of_points(group, radius, wide) for group in groups]
        same_levels(frame, schema, sf.Dissimilarity(epsilon, 0, shape=shape), groups, sizes, data.draw)


@pytest.mark.parametrize("p", [1, "inf"])
@settings(max_examples=settings.default.max_examples // 2)
@given(
    rows=tables(POINTS, most_rows=6, most_groups=2),
    epsilon=st.sampled_from(["0", "1/8", "1/4", "1/3", "1/2", "1"]),
    data=st.data(),
)
def test_a_name_beside_two_columns(p, rows, epsilon, data):
    """A centre has the name of all values of its ball if another costs more than ε; else it is a value of the table."""

    def distance(v, w):
        parts = [*terms(v, w), Fraction(v[2] != w[2])]
        return max(parts) if p == "inf" else sum(parts) / 3

    radius, wide = Fraction(epsilon), NORMS[p][1]
    name_costs = 1 if p == "inf" else Fraction(1, 3)

    def fullest(group):
        if name_costs <= radius and p == 1:
            return shapes.ball(group, lambda v, w: distance(v, w) <= radius, [v for _, v in rows])
        if name_costs <= radius:
            return shapes.ball_of_points(group, radius, wide)
        # two of the three terms of the sum: the radius in coordinates that are divided by two
        box = radius * 3 / 2 if p == 1 else radius
        return max(shapes.ball_of_points([v for v in group if v[2] == name], box, wide) for name in {v[2] for v in group})

    groups = by_group(rows)
    lp = sf.distances.Lp(p=p, ranges={"x": [0, SPAN], "y": [0, SPAN]})
    schema = sf.Schema(["q"], ["x", "y", "z"], distance=lp, kinds=dict.fromkeys("xy", "numeric"))
    frame = pa.table({"q": [g for g, _ in rows], **{name: [v[j] for _, v in rows] for j, name in enumerate("xyz")}})
    near = lambda v, w: distance(v, w) <= radius  # noqa: E731
    for shape, sizes in (("ball", list(map(fullest, groups))), ("clique", [shapes.clique(group, near) for group in groups])):
        same_levels(frame, schema, sf.Dissimilarity(epsilon, 0, shape=shape), groups, sizes, data.draw)


PEOPLE = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3), st.integers(0, 6)), min_size=1, max_size=9)
"""(group, person, value)"""


@pytest.mark.parametrize("shape", ["ball", "clique"])
@pytest.mark.parametrize("kind", ["numeric", "set"])
@settings(max_examples=settings.default.max_examples // 2)
@given(rows=PEOPLE, data=st.data())
def test_people_with_several_rows_count_once_in_the_worst_choice(shape, kind, rows, data):
    people: dict[int, dict[int, set]] = {}
    for group, person, value in rows:
        people.setdefault(group, {}).setdefault(person, set()).add(value)
    groups = [list(members.values()) for _, members in sorted(people.items())]
    # as sets, numbers are near if their binary digits are
    digits = {v: frozenset(str(place) for place in range(3) if v + 1 >> place & 1) for v in range(7)}

    def near(v, w):
        return abs(v - w) <= 1 if kind == "numeric" else naive.jaccard(digits[v], digits[w]) <= Fraction(1, 2)

    def level(choice):
        if shape == "clique":
            return shapes.clique(choice, near)
        if kind == "numeric":
            return shapes.ball_of_numbers(choice, 1)
        return shapes.ball(choice, near, {value for _, _, value in rows})

    sizes = [shapes.worst_choice(members, level) for members in groups]
    values = [v if kind == "numeric" else sorted(digits[v]) for _, _, v in rows]
    frame = pa.table({"q": [g for g, _, _ in rows], "id": [p for _, p, _ in rows], "s": values})
    distance = sf.distances.Absolute() if kind == "numeric" else sf.distances.Jaccard()
    schema = sf.Schema(["q"], ["s"], person_id="id", distance=distance)
    epsilon = 1 if kind == "numeric" else "1/2"
    same_levels(frame, schema, sf.Dissimilarity(epsilon, 0, shape=shape), groups, sizes, data.draw)


@pytest.mark.parametrize("shape", ["chain", "cycle"])
def test_chains_and_cycles_need_one_value_per_person(shape):
    frame = pa.table({"q": [0, 0, 0], "id": [1, 1, 2], "s": [1, 5, 9]})
    with pytest.raises(sf.errors.ColumnError, match="has several values"):
        sf.audit(frame, sf.Schema(["q"], ["s"], person_id="id"), sf.Dissimilarity(1, "0.5", shape=shape))


def test_values_missing_are_near_one_another_only():
    frame = pa.table({"q": [0] * 5, "s": [1, 2, None, None, None]})
    schema = sf.Schema(["q"], ["s"], kinds={"s": "numeric"})
    for shape in OTHERS:
        assert sf.audit(frame, schema, sf.Dissimilarity(9, "0.5", shape=shape))[0].measurement.level == Fraction(3, 5)


@pytest.mark.parametrize("shape", OTHERS)
def test_what_a_shape_declares_is_true(shape):
    """Monotone, histogram only, certificates and the rest, on numbers and on a distance without order."""
    principle = sf.Dissimilarity(1, "0.4", 2, shape=shape)
    assert principle.monotone is shape_named(shape).monotone is (shape in ("ball", "clique"))
    testing.check_principle(principle)
    schema = sf.Schema(["q"], ["s"], kinds={"s": "text"}, distance=sf.distances.Jaro())
    testing.check_principle(sf.Dissimilarity("0.2", "0.4", 2, shape=shape), schema, ["anna", "hanna", "anne", "bob", "rob"])


@pytest.mark.parametrize(
    ("shape", "epsilon", "one", "other", "levels"),
    [
        ("chain", 1, [0, 2], [1, 3], ("1/2", "1/2", "1")),
        ("cycle", 2, [0, 1, 4, 5], [2, 3, 30, 31], ("1/2", "1/2", "3/4")),
    ],
)
def test_chains_and_cycles_are_not_monotone(shape, epsilon, one, other, levels):
    """The counter-examples that their descriptions state."""
    found = [
        measured([(0, v) for v in group], sf.Dissimilarity(epsilon, 0, shape=shape)) for group in (one, other, one + other)
    ]
    assert [level.level for level in found] == [Fraction(level) for level in levels]
    stated = describe(sf.Dissimilarity(epsilon, 0, shape=shape)).merging
    assert f"{{{','.join(map(str, one))}}} and {{{','.join(map(str, other))}}} at ε = {epsilon}" in stated


@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=8),
    st.lists(st.integers(0, 12), min_size=1, max_size=8),
    st.integers(0, 3),
)
def test_the_share_of_a_union_is_at_most_the_larger_one(one, other, epsilon):
    """Also where neither holds: why balls and cliques are monotone, whatever the threshold."""
    for shape in ("ball", "clique"):
        principle = sf.Dissimilarity(epsilon, 0, shape=shape)
        levels = [measured([(0, v) for v in group], principle).level for group in (one, other, one + other)]
        assert levels[2] <= max(levels[:2])


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_says_what_it_is(shape):
    example = sf.Dissimilarity.example(shape)
    words = describe(example.principle)
    assert example.principle.shape == shape
    assert words.parameters.keys() == {field.name for field in dataclasses.fields(sf.Dissimilarity)}
    for text in (words.definition, words.plain, words.body):
        assert re.fullmatch(r"[A-Z].*\.", text)
    assert words.merging == "Monotone." if words.monotone else re.fullmatch(r"Not monotone: .+\.", words.merging)
    assert re.fullmatch(r"Does not protect against .+\.", words.not_protected)
    assert "(2010)" in words.source
    explanation = sf.explain("dissimilarity", shape=shape)
    assert {line.holds for line in explanation.measured.lines()} == {True, False}
    for line in explanation.measured.lines():
        top, bottom = line.group.sum.split("/")
        assert Fraction(int(top), int(bottom)) == pytest.approx(Fraction(line.levels[0]), abs=1e-4)


def test_what_is_no_shape():
    with pytest.raises(sf.errors.ParameterError, match=r"shape = 'disc' is unknown.*star, ball, clique, chain, cycle"):
        sf.Dissimilarity(1, "0.5", shape="disc")
    with pytest.raises(sf.errors.ParameterError, match="Did you mean 'clique'"):
        sf.explain("dissimilarity", shape="cliqe")
    with pytest.raises(sf.errors.ParameterError, match="k-anonymity has no shapes"):
        sf.explain("k-anonymity", shape="ball")


def test_the_star_is_written_as_before():
    assert sf.Dissimilarity(1, "0.5", shape="star").parameters() == {"epsilon": "1", "delta": "0.5", "k": 1}
    assert sf.Dissimilarity(1, "0.5", shape="ball").as_dissimilarity() is None
    assert sf.Dissimilarity(1, "0.5").as_dissimilarity() == sf.Dissimilarity(1, "0.5", shape="star")

"""Every shape of a breach against its definition: numbers, taxonomies, sets, several columns, and people with several rows."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import naive_shapes as shapes
import sfumato as sf
from sfumato.exact import written
from small_tables import TREE, by_group, measured, numbers, tables

OTHERS = ("ball", "clique", "chain", "cycle")
BY_GRAPH = {"clique": shapes.clique, "chain": shapes.chain, "cycle": shapes.cycle}
EPSILONS = st.sampled_from(["0", "0.1", "0.2", "0.4", "0.7", "1", "9"])


def agree(found, groups, sizes, draw):
    """The levels are those of the definition, as shares of the group, and so are the verdicts at a threshold near them."""
    levels = [Fraction(size, len(group)) for group, size in zip(groups, sizes, strict=True)]
    delta = draw(st.sampled_from([1 - level for level in levels] + [Fraction(1, 2), Fraction(1)]))
    part = found(written(delta)).parts[0]
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
    agree(
        lambda delta: measured(rows, sf.Dissimilarity(epsilon, delta, shape=shape), numeric=True), groups, sizes, data.draw
    )


@settings(max_examples=settings.default.max_examples // 2)
@given(tables(st.sampled_from("abcde"), most_rows=8, most_groups=2), st.sampled_from(["0", "1/2", "1"]), st.data())
def test_all_shapes_are_one_in_a_taxonomy(rows, epsilon, data):
    height = 2

    def near(x, y):
        return Fraction(naive.common_level(TREE[x], TREE[y]), height) <= Fraction(epsilon)

    groups = by_group(rows)
    sizes = [shapes.chain(group, near) for group in groups]
    for shape in OTHERS:
        found = lambda delta, shape=shape: measured(  # noqa: E731
            rows,
            sf.Dissimilarity(epsilon, delta, shape=shape),
            distance=sf.distances.Taxonomy(),
            hierarchies={"s": sf.Hierarchy(dict(TREE))} if hasattr(sf, "Hierarchy") else {"s": TREE},
        )
        agree(found, groups, sizes, data.draw)


SETS = st.frozensets(st.sampled_from("uvw"), max_size=3)


@pytest.mark.parametrize("shape", OTHERS)
@settings(max_examples=settings.default.max_examples // 2)
@given(
    rows=tables(SETS, most_rows=7, most_groups=2), epsilon=st.sampled_from(["0", "1/3", "1/2", "2/3", "1"]), data=st.data()
)
def test_sets(shape, rows, epsilon, data):
    """No order and no geometry: the centre of a ball is any value of the table, also of the other group."""

    def near(x, y):
        return naive.jaccard(x, y) <= Fraction(epsilon)

    groups, domain = by_group(rows), {value for _, value in rows}
    if shape == "ball":
        sizes = [shapes.ball(group, near, domain) for group in groups]
    else:
        sizes = [BY_GRAPH[shape](group, near) for group in groups]
    texts = [(g, ";".join(sorted(value))) for g, value in rows]

    def found(delta):
        principle = sf.Dissimilarity(epsilon, delta, shape=shape)
        return measured(texts, principle, distance=sf.distances.Jaccard(), separators={"s": ";"})

    agree(found, groups, sizes, data.draw)

"""Extents and cuts of sets of rows, against their definitions."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import random_domain, random_places, share_arrays, unset
from sfumato.kernels.cell_shares import LINE, SET, TREE
from sfumato.kernels.mondrian_cuts import covers, cut


def random_sets(draw, rows):
    """Return a permutation of the rows, and where each set begins."""
    sizes = np.bincount(np.sort(draw.integers(0, 3, rows)))
    sizes = sizes[sizes > 0]
    return draw.permutation(rows), np.concatenate([[0], np.cumsum(sizes)])


@given(st.integers(0, 2**31), st.integers(1, 20))
def test_covers(seed, rows):
    draw = np.random.default_rng(seed)
    domains = [random_domain(draw, kind) for kind in (LINE, TREE, SET)]
    shares, places = share_arrays(domains), random_places(draw, domains, rows)
    order, offsets = random_sets(draw, rows)
    low, high, distinct = (unset((len(offsets) - 1, 3), np.int64) for _ in range(3))
    covers(order, offsets, places, shares.kind, shares.size, low, high, distinct)
    for g in range(len(offsets) - 1):
        inside = places[order[offsets[g] : offsets[g + 1]]]
        assert (low[g] == inside.min(axis=0)).all()
        assert (high[g] == inside.max(axis=0)).all()
        assert distinct[g, 2] == len(np.unique(inside[:, 2]))


def halves(places, relaxed):
    """Return the half of each row: below the median place, or up to it, whichever is more even."""
    middle = sorted(places)[len(places) // 2]
    if relaxed:
        ranked = sorted(range(len(places)), key=lambda i: places[i])  # stable: equal places in their order
        return [int(i not in ranked[: len(places) // 2]) for i in range(len(places))]
    below, through = sum(p < middle for p in places), sum(p <= middle for p in places)
    if abs(len(places) - 2 * below) <= abs(len(places) - 2 * through):
        return [int(p >= middle) for p in places]
    return [int(p > middle) for p in places]


def children(places, domain, in_two):
    """Return the child of each row under the lowest common ancestor, numbered along the places; missing go last."""
    known = [p for p in places if p < domain.size]
    if len(set(known)) <= 1:
        return [int(p == domain.size) for p in places]
    level = next(i for i in range(3) if len({domain.paths[p][i] for p in known}) == 1)
    nodes = [domain.paths[min(p, max(known))][level - 1] for p in places]
    ranked = sorted(set(nodes))
    if not in_two:
        return [ranked.index(node) for node in nodes]
    uneven = [abs(sum(node <= last for node in nodes) * 2 - len(nodes)) for last in range(min(nodes), max(nodes))]
    best = min(nodes) + uneven.index(min(uneven))
    return [int(node > best) for node in nodes]


@given(st.integers(0, 2**31), st.integers(2, 20), st.booleans(), st.booleans())
def test_cuts(seed, rows, relaxed, in_two):
    draw = np.random.default_rng(seed)
    domains = [random_domain(draw, kind) for kind in (LINE, TREE, SET)]
    shares, places = share_arrays(domains), random_places(draw, domains, rows)
    order, offsets = random_sets(draw, rows)
    sets = [order[a:b] for a, b in itertools.pairwise(offsets)]
    attribute = draw.integers(-1, 3, len(sets))
    for g, inside in enumerate(sets):  # the caller never cuts equal values
        if attribute[g] >= 0 and len(np.unique(places[inside, attribute[g]])) == 1:
            attribute[g] = -1
    part, parts = unset(rows, np.int64), unset(len(sets), np.int64)
    cut(order, offsets, places, shares.kind, shares.size, shares.above, attribute, relaxed, in_two, part, parts)
    for g, inside in enumerate(sets):
        j = int(attribute[g])
        values = places[inside, j].tolist()
        if j < 0:
            expected = [0] * len(inside)
        elif domains[j].kind == TREE:
            expected = children(values, domains[j], in_two)
        else:
            expected = halves(values, relaxed)
        assert part[offsets[g] : offsets[g + 1]].tolist() == expected
        assert parts[g] == (1 if j < 0 else max(2, max(expected) + 1))

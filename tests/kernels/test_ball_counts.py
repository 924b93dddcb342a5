"""Sums of powers of coordinate differences: verdicts and counts, against exact integer arithmetic over all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import unset
from sfumato.kernels.ball_counts import FAR, NEAR, UNDECIDED, ball_counts, lp_block


def naive_sum(one, other, weights, full, names, power, gone=(), lacking=()):
    terms = []
    for c, (x, y) in enumerate(zip(one, other, strict=True)):
        missing = (bool(gone[c]) if len(gone) else False) + (bool(lacking[c]) if len(lacking) else False)
        if names[c]:
            terms.append(full[c] * (x != y))
        elif missing:
            terms.append(full[c] if missing == 1 else 0)
        else:
            terms.append(weights[c] * abs(x - y) ** max(power, 1))
    return max(terms) if power == 0 else sum(terms)


def random_points(draw, count, dimensions, power):
    names = draw.random(dimensions) < 0.3
    points = draw.integers(0, 6, (count, dimensions))
    weights = draw.integers(1, 4, dimensions)
    full = weights * 5 ** max(power, 1)
    return points, weights, full, names


@given(st.integers(0, 2**31), st.integers(1, 12), st.integers(1, 3), st.sampled_from([0, 1, 2, 3]))
def test_blocks_of_verdicts(seed, count, dimensions, power):
    draw = np.random.default_rng(seed)
    points, weights, full, names = random_points(draw, count, dimensions, power)
    absent = (draw.random(points.shape) < 0.2) & ~names
    rows, columns = np.arange(count), draw.integers(0, count, 5)
    sure = int(draw.integers(0, full.sum() + 1))
    never = sure + int(draw.integers(0, 3))
    within = unset((count, 5), np.uint8)
    others, lacking = points[columns].T.copy(), absent[columns].T.copy()
    lp_block(points, absent, rows, others, lacking, weights, full, names, power, sure, never, within)
    for a in range(count):
        for b, j in enumerate(columns):
            total = naive_sum(points[a], points[j], weights, full, names, power, absent[a], absent[j])
            assert within[a, b] == (NEAR if total <= sure else FAR if total > never else UNDECIDED)


@pytest.mark.parametrize("exact", [True, False], ids=["integers", "floats"])
@given(st.integers(0, 2**31), st.sampled_from([3, 20, 60]), st.integers(1, 3), st.sampled_from([0, 1, 2]))
def test_balls(exact, seed, count, dimensions, power):
    """Groups of up to 60 points, so that the tree has inner nodes; undecided pairs are listed, not counted.

    Some coordinates are missing, and the list of undecided pairs may have too little room for all entries at once.
    """
    draw = np.random.default_rng(seed)
    points, weights, full, names = random_points(draw, count, dimensions, power)
    absent = (draw.random(points.shape) < draw.choice([0, 0.3])) & ~names
    values = np.concatenate([draw.permutation(count), draw.permutation(count)[: count // 2]])
    offsets = np.array([0, count, count + count // 2])
    counts = draw.integers(1, 4, len(values))
    sure = int(draw.integers(0, full.sum() + 1))
    never = sure if exact else sure + int(draw.integers(0, 3))
    kind = np.int64 if exact else np.float64
    span = np.full(dimensions, 5.0)
    out = unset(len(values), np.int64)
    listed, begin = [], 0
    while begin < len(values):
        unknown = unset((count, 2), np.int64)  # one entry has at most `count` pairs
        found, end = ball_counts(
            points.astype(kind), absent, offsets, values, counts, weights.astype(kind), full.astype(kind), span, names,
            power, kind(sure), kind(never), begin, out, unknown,
        )  # fmt: skip
        assert end > begin
        begin = end
        listed += map(tuple, unknown[:found].tolist())
    undecided = set()
    for start, stop in ((0, count), (count, len(values))):
        for i in range(start, stop):
            v, others = values[i], values[start:stop]
            sums = [naive_sum(points[v], points[w], weights, full, names, power, absent[v], absent[w]) for w in others]
            assert out[i] == sum(counts[start + j] for j, total in enumerate(sums) if total <= sure)
            undecided |= {(i, start + j) for j, total in enumerate(sums) if sure < total <= never}
    assert len(listed) == len(undecided)
    assert set(listed) == undecided
    room = unset((len(undecided), 2), np.int64)
    assert ball_counts(
        points.astype(kind), absent, offsets, values, counts, weights.astype(kind), full.astype(kind), span, names,
        power, kind(sure), kind(never), 0, out, room,
    ) == (len(undecided), len(values)), "a list with room for all pairs is long enough"  # fmt: skip

"""The excess of a group: neighbours, and each condition on histograms, against its definition."""

from __future__ import annotations

from collections import Counter
from math import exp, log
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import compiled, condition_arrays, limit_arrays, random_limit
from sfumato.kernels import group_excess as kinds
from sfumato.kernels.group_excess import histogram_excess

allowed_neighbours, counts_excess, within_reach = map(
    compiled, (kinds.allowed_neighbours, kinds.counts_excess, kinds.within_reach)
)


@given(st.integers(0, 2**31), st.integers(1, 8))
def test_neighbours_and_limits(seed, values):
    draw = np.random.default_rng(seed)
    limits = [random_limit(draw, values, 6) for _ in range(3)]
    arrays = limit_arrays(limits, np.zeros((3, 1)))
    for c, (limit, _, _) in enumerate(limits):
        for v in range(values):
            assert [bool(within_reach(arrays, c, v, w)) for w in range(values)] == [
                w in limit.near[v] for w in range(values)
            ]
        sizes = [allowed_neighbours(arrays, c, size) for size in range(9)]
        assert sizes == [*limit.allowed, limit.allowed[-1], limit.allowed[-1]]


def shortfall(condition, group):
    """Return by how much a group misses a condition, in the unit of its kind; at most 0 if it satisfies it."""
    n, counts = len(group), Counter(group)
    kind, first, second = condition["kind"], condition["first"], condition.get("second", 0)
    number = condition.get("number", [])
    if kind == kinds.DISTINCT:
        return first - len(counts)
    if kind == kinds.ENTROPY:
        return n * (first + sum(c / n * log(c / n) for c in counts.values()))
    if kind == kinds.RECURSIVE:
        ranked = sorted(counts.values(), reverse=True)
        gap = ranked[0] - first * sum(ranked[int(second) - 1 :])
        return gap + 0.5 if gap >= 0 else -1
    if kind in (kinds.VARIANCE, kinds.RANGE):
        numbers = [number[v] for v in group]
        level = np.var(numbers) if kind == kinds.VARIANCE else max(numbers) - min(numbers)
        return n * (first - level) / first
    if kind == kinds.ORDERED:
        moved = sum(abs(sum(counts[w] / n - number[w] for w in range(v + 1))) for v in range(len(number)))
        return n * (moved / max(1, len(number) - 1) - first)
    if kind == kinds.GAIN:
        bound = [min(first, max(0.0, -log(p))) if second else first for p in number]
        return sum(max(0.0, counts[v] - n * p * (1 + bound[v])) for v, p in enumerate(number))
    if kind == kinds.RATIO:
        over = sum(max(0.0, counts[v] - n * p * exp(first)) for v, p in enumerate(number))
        return over + sum(max(0.0, n * p * exp(-first) - counts[v]) for v, p in enumerate(number))
    if kind in (kinds.CHAIN, kinds.CYCLE):
        return sum(max(0.0, rows - first * n) for rows in runs(kind, sorted(group), number))
    if kind == kinds.GUARDED:
        return max(0.0, counts[1] - n * second) + max(0.0, first - n) if counts[1] else 0.0
    moved = 0.0
    for nodes, shares in zip(condition["nodes"], condition["shares"], strict=True):
        under = Counter(nodes[v] for v in group)
        moved += sum(abs(under[node] / n - share) for node, share in enumerate(shares))
    return n * (moved / (2 * len(condition["nodes"])) - first)


def runs(kind, group, ends):
    """Return the rows of each longest run of an ascending group, and maybe of single rows within one.

    CHAIN: each value of a run is near the next. CYCLE: each row is near the next but one, or there are two near rows.
    """

    def together(run):
        ahead = 1 if kind == kinds.CHAIN or len(run) == 2 else 2
        return all(run[i + ahead] < ends[run[i]] for i in range(len(run) - ahead))

    spans = [(i, j) for i in range(len(group)) for j in range(i + 1, len(group) + 1) if together(group[i:j])]
    return [j - i for i, j in spans if not any(a <= i and j <= b and (a, b) != (i, j) for a, b in spans)]


def random_condition(draw, kind, values):
    shares = draw.integers(1, 5, values)
    shares = (shares / shares.sum()).tolist()
    first = {
        kinds.DISTINCT: int(draw.integers(0, values + 2)),
        kinds.RECURSIVE: float(draw.choice([0.5, 1, 2.5])),
        kinds.GUARDED: int(draw.integers(1, 6)),
        kinds.VARIANCE: float(draw.choice([0.5, 3, 20])),
        kinds.RANGE: float(draw.choice([0.5, 3, 9])),
    }.get(kind, float(draw.choice([0.1, 0.4, 0.9])))
    condition = {"kind": kind, "first": first}
    if kind == kinds.RECURSIVE:
        condition["second"] = int(draw.integers(1, 4))
    if kind == kinds.GUARDED:
        condition["second"] = float(draw.choice([0.2, 0.5, 1]))
    if kind in (kinds.VARIANCE, kinds.RANGE):
        condition["number"] = draw.integers(-9, 9, values).astype(float).tolist()
    if kind in (kinds.ORDERED, kinds.GAIN, kinds.RATIO):
        condition["number"] = shares
        condition["second"] = int(draw.integers(2)) if kind == kinds.GAIN else 0
    if kind in (kinds.CHAIN, kinds.CYCLE):
        reach = int(draw.integers(0, 3))
        condition["number"] = [float(min(v + 1 + reach, values)) for v in range(values)]
    if kind == kinds.APART:
        middle = np.unique(draw.integers(0, 2, values), return_inverse=True)[1]
        condition["nodes"] = [list(range(values)), middle.tolist()]
        condition["shares"] = [shares, np.bincount(middle, weights=shares).tolist()]
    return condition


@pytest.mark.parametrize("kind", range(12))
@given(st.integers(0, 2**31), st.integers(1, 5), st.integers(1, 9))
def test_histogram_excess(kind, seed, values, size):
    draw = np.random.default_rng(seed)
    condition = random_condition(draw, kind, values)
    group = draw.integers(0, values, size)
    arrays = condition_arrays([condition], [np.arange(values)])
    scratch = np.zeros((3, 2 * values + 2), np.int64)
    excess = histogram_excess(arrays, 0, np.append(group, [99, 99]), size, scratch)
    assert not scratch[0].any(), "the scratch is clear again"
    missing = shortfall(condition, group.tolist())
    if missing < -1e-6:
        assert excess == 0
    elif missing > 1e-6:
        assert excess == pytest.approx(missing + 0.5, abs=1e-6)


@pytest.mark.parametrize("kind", range(12))
@given(st.integers(0, 2**31), st.integers(1, 5), st.integers(1, 9), st.sampled_from(["none", "out", "into", "both"]))
def test_the_excess_of_counts_after_a_change(kind, seed, values, size, change):
    """From the counts of a group the same excess results as from the values of its rows after the change."""
    draw = np.random.default_rng(seed)
    arrays = condition_arrays([random_condition(draw, kind, values)], [np.arange(values)])
    group = draw.integers(0, values, size + 1)
    gone = int(group[-1]) if change in ("out", "both") else -1
    come = int(draw.integers(0, values)) if change in ("into", "both") else -1
    after = [*(group[:-1] if gone >= 0 else group), *([come] if come >= 0 else [])]
    counts = np.concatenate([[7, 7], np.bincount(group, minlength=values)])  # the counts begin at 2
    scratch = np.zeros((3, 2 * values + 2), np.int64)
    excess = counts_excess(arrays, 0, counts, 2, len(after), gone, come, scratch)
    assert excess == pytest.approx(histogram_excess(arrays, 0, np.array(after), len(after), scratch), abs=1e-9)
    assert not scratch[0].any()


@pytest.mark.parametrize("kind", [kinds.GAIN, kinds.RATIO])
@given(st.integers(0, 2**31), st.integers(2, 5), st.integers(1, 9))
def test_the_excess_after_a_swap_follows_from_the_one_before(kind, seed, values, size):
    draw = np.random.default_rng(seed)
    arrays = condition_arrays([random_condition(draw, kind, values)], [np.arange(values)])
    counts = np.concatenate([[7, 7], np.bincount(draw.integers(0, values, size), minlength=values)])
    gone = int(draw.choice(np.flatnonzero(counts[2:])))
    come = (gone + int(draw.integers(1, values))) % values
    scratch = np.zeros((3, 2 * values + 2), np.int64)
    before = counts_excess(arrays, 0, counts, 2, size, -1, -1, scratch)
    after = counts_excess(arrays, 0, counts, 2, size, gone, come, scratch)
    assert kinds.swapped_excess(arrays, 0, counts, 2, size, before, gone, come) == pytest.approx(after, abs=1e-6)


@given(st.integers(0, 2**31), st.sampled_from([3, 9, 80]), st.sampled_from([0.0, 0.2, 0.5, 1.0]))
def test_what_is_too_much_in_components(seed, values, first):
    """Components are those of the values that occur; each may have a share `first` of the group."""
    draw = np.random.default_rng(seed)
    near = draw.random((values, values)) < draw.choice([0.05, 0.3])
    near |= near.T | np.eye(values, dtype=bool)
    present = draw.permutation(values)[: int(draw.integers(1, 9))]
    counts = draw.integers(1, 5, len(present))
    bits = [[sum(1 << b for b, w in enumerate(range(64 * k, min(64 * k + 64, values))) if near[v, w]) for v in range(values)]
            for k in range(2)]  # fmt: skip
    words = np.array(bits, np.uint64).view(np.int64)[None]
    scratch = np.zeros((3, values), np.int64)
    scratch[1, : len(present)], scratch[2, : len(present)] = present, counts
    conditions = SimpleNamespace(first=[first], tolerance=1e-9, node=words)
    left, components = dict(zip(present.tolist(), counts.tolist(), strict=True)), []
    while left:
        reached, rows = [next(iter(left))], 0
        while reached:
            v = reached.pop()
            rows += left.pop(v, 0)
            reached += [w for w in left if near[v, w] and w not in reached]
        components.append(rows)
    size = int(counts.sum())
    expected = sum(max(0.0, rows - first * size) for rows in components)
    assert kinds._component_excess(conditions, 0, size, len(present), scratch) == pytest.approx(expected, abs=1e-6)

"""Small random inputs of the kernels, each with a naive counterpart that shares nothing with the package."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, log

import numba
import numpy as np

from sfumato.kernels.cell_shares import LINE, SET, Shares
from sfumato.kernels.group_excess import CHAIN, CYCLE, GAIN, RATIO, HistogramConditions, NeighbourLimits


@dataclass
class Domain:
    """One attribute: its kind, and for each place a position (lines) or a path from leaf to root (trees)."""

    kind: int
    size: int
    positions: list[float]
    least: float
    paths: list[tuple[int, ...]]

    def share(self, places):
        """Return the loss of a cell that covers these places; `size` is the place of missing values."""
        places = set(places)
        if len(places) == 1:
            return 0.0
        if self.size in places:
            return 1.0
        if self.kind == SET:
            return len(places) / self.size
        if self.kind == LINE:
            return self.positions[max(places)] - self.positions[min(places)] + self.least
        level = next(i for i in range(3) if len({self.paths[place][i] for place in places}) == 1)
        node = self.paths[min(places)][level]
        return sum(path[level] == node for path in self.paths) / self.size


def random_domain(draw, kind=None):
    kind = int(draw.integers(3)) if kind is None else kind
    size = int(draw.integers(2, 7))
    positions = np.sort(draw.choice(64, size, replace=False)) / 64
    middle = np.cumsum(draw.integers(0, 2, size))
    middle -= middle[0]
    # no interval costs more than `*`, which costs 1
    least = min(float(draw.choice([0, 1 / size])), 1 - float(positions[-1] - positions[0]))
    return Domain(kind, size, positions.tolist(), least, [(p, int(middle[p]), 0) for p in range(size)])


def share_arrays(domains, draw=None):
    """Lay domains out for the kernels; with `draw`, half of the lines and trees as a table of pairs."""
    count, widest = len(domains), max(domain.size for domain in domains)
    at, above, wide = np.zeros((count, widest)), np.zeros((count, 3, widest), np.int32), np.zeros((count, 3, widest))
    first, pairs = np.full(count, -1, np.int64), []
    for j, domain in enumerate(domains):
        at[j, : domain.size] = domain.positions
        for place, path in enumerate(domain.paths):
            above[j, :, place] = path
            wide[j, :, place] = [sum(other[i] == path[i] for other in domain.paths) / domain.size for i in range(3)]
        if draw is not None and domain.kind != SET and draw.integers(2):
            first[j] = len(pairs)
            pairs += [domain.share({a, b}) for a in range(domain.size) for b in range(domain.size)]
    kinds, sizes = [domain.kind for domain in domains], [domain.size for domain in domains]
    least = np.array([domain.least for domain in domains])
    return Shares(
        np.array(kinds, np.int64), np.array(sizes, np.int64), at, least, above, wide, first, np.array(pairs, float),
        np.ones(count), np.array(sizes, np.int64),
    )  # fmt: skip


def random_places(draw, domains, rows):
    """Return places of rows, some of them missing, as the kernels read them."""
    columns = [np.where(draw.random(rows) < 0.1, domain.size, draw.integers(0, domain.size, rows)) for domain in domains]
    return np.ascontiguousarray(np.column_stack(columns).astype(np.int32))


@dataclass
class Limit:
    """A limit on neighbours: for each value the set of its neighbours, and how many a group of a size allows."""

    near: list[set[int]]
    allowed: list[int]


def random_limit(draw, values, sizes, windowed=None):
    """Return a limit: windows of differing width along an order, or any symmetric relation."""
    windowed = bool(draw.integers(2)) if windowed is None else windowed
    rank = draw.permutation(values)
    if windowed:
        reach = int(draw.integers(0, 3))
        near = [{w for w in range(values) if -reach <= rank[w] - rank[v] <= reach + (rank[v] % 2)} for v in range(values)]
    else:
        related = draw.random((values, values)) < 0.3
        related |= related.T | np.eye(values, dtype=bool)
        near = [set(np.flatnonzero(related[v]).tolist()) for v in range(values)]
    share = draw.choice([0.0, 0.25, 0.5])
    return Limit(near, [int(share * size) for size in range(sizes + 1)]), windowed, rank


def limit_arrays(limits, value):
    """Lay limits out for the kernels; `value[c]` are the values of the rows under limit c."""
    count, values = len(limits), max((len(limit.near) for limit, _, _ in limits), default=1)
    rank, low, high = (np.zeros((count, values), np.int64) for _ in range(3))
    first, bits = np.zeros(count, np.int64), [np.zeros((1, 1), np.uint64)]
    for c, (limit, windowed, order) in enumerate(limits):
        first[c] = sum(map(len, bits))
        matrix = np.zeros((len(limit.near), 1), np.uint64)
        for v, near in enumerate(limit.near):
            if windowed:
                rank[c, v] = order[v]
                low[c, order[v]] = min(order[w] for w in near)
                high[c, order[v]] = max(order[w] for w in near) + 1
            else:
                matrix[v, 0] = sum(1 << w for w in near)
        bits.append(matrix)
    allowed = np.array([limit.allowed for limit, _, _ in limits], np.int64).reshape(count, -1)
    kinds = np.array([windowed for _, windowed, _ in limits], bool)
    rows = np.array(value, np.int64).reshape(count, -1)
    return NeighbourLimits(rows, kinds, rank, low, high, first, np.concatenate(bits), allowed, np.ones(count))


def condition_arrays(conditions, value):
    """Lay conditions out for the kernels: each is a dict with the fields of one condition."""
    count = len(conditions)
    values = 1 + max((max(column, default=0) for column in value), default=0)
    number, node, share = np.zeros((count, values)), np.zeros((count, 4, values), np.int64), np.zeros((count, 4, values))
    levels = np.zeros(count, np.int64)
    least, most = np.zeros((count, values)), np.zeros((count, values))
    for h, condition in enumerate(conditions):
        numbers = condition.get("number", [])
        number[h, : len(numbers)] = numbers
        levels[h] = len(condition["nodes"]) if "nodes" in condition else len(numbers)
        if condition["kind"] in (CHAIN, CYCLE) and "nodes" not in condition:
            levels[h] = 0
        for v, p in enumerate(numbers):
            if condition["kind"] == GAIN:
                enhanced = max(0.0, -log(p)) if condition.get("second") else inf
                most[h, v] = p * (1 + min(condition["first"], enhanced))
            elif condition["kind"] == RATIO:
                least[h, v], most[h, v] = p * exp(-condition["first"]), p * exp(condition["first"])
        for level, (nodes, shares) in enumerate(zip(condition.get("nodes", []), condition.get("shares", []), strict=True)):
            node[h, level, : len(nodes)] = nodes
            share[h, level, : len(shares)] = shares
    rows = len(value[0]) if count else 0
    alike = [tuple(column[row] for column in value[:count]) for row in range(rows)]
    combination = np.array([sorted(set(alike)).index(one) for one in alike], np.int64)
    return HistogramConditions(
        np.array(value, np.int64).reshape(count, rows),
        np.array([condition["kind"] for condition in conditions], np.int64),
        np.array([condition["first"] for condition in conditions], float),
        np.array([condition.get("second", 0) for condition in conditions], float),
        number, node, share, levels, least, most,
        np.array([max(column, default=0) + 1 for column in value[:count]], np.int64), combination, 1e-9,
    )  # fmt: skip


def neighbours(limit, values):
    """Return for each row of a group how many of the others are near its value."""
    return [sum(w in limit.near[v] for j, w in enumerate(values) if j != i) for i, v in enumerate(values)]


def limit_excess(limit, values):
    """Return by how much the rows of a group exceed a limit, summed."""
    allowed = limit.allowed[min(len(values), len(limit.allowed) - 1)]
    return sum(max(0, degree - allowed) for degree in neighbours(limit, values))


def cell_cost(domains, places):
    """Return the sum over attributes of the shares of the cells of some rows."""
    return sum(domain.share(places[:, j].tolist()) for j, domain in enumerate(domains))


def unset(shape, kind=np.float64):
    """Return an array for a kernel to fill. What it leaves unset is no result, also if memory happens to hold one."""
    floats = np.issubdtype(kind, np.floating)
    return np.full(shape, np.nan if floats else True if kind is bool else np.iinfo(kind).max - 6, kind)


def packed(related):
    """Return a boolean matrix as words of 64 bits."""
    values = len(related)
    bits = np.zeros((values, (values + 63) // 64), np.uint64)
    for v, w in zip(*np.nonzero(related), strict=True):
        bits[v, w >> 6] |= np.uint64(1) << np.uint64(w & 63)
    return bits


def compiled(part):
    """Return a compiled function that calls a part of a kernel: called from Python, a part itself is not compiled."""

    def call(*args):
        return part(*args)

    return numba.njit(call)

"""Principles as what a search can lower: limits on neighbours and conditions on histograms, with the sizes they ask for."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.method import Task
from sfumato.anonymization.methods.neighbour_arrays import Nearness
from sfumato.distances.absolute import number_windows
from sfumato.errors import ParameterError
from sfumato.exact import nearest_float
from sfumato.kernels import group_excess as excess
from sfumato.kernels.group_excess import HistogramConditions, NeighbourLimits, shape_excess
from sfumato.kernels.neighbour_lookup import WINDOWS
from sfumato.principles import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    DeltaLDiversity,
    Dissimilarity,
    DistinctLDiversity,
    EntropyLDiversity,
    EpsilonMAnonymity,
    FrequencyLDiversity,
    KAnonymity,
    KEAnonymity,
    Principle,
    PSensitivity,
    RecursiveLDiversity,
    TCloseness,
    VarianceControl,
    View,
)
from sfumato.principles.base import exactly
from sfumato.principles.earth_mover import value_levels
from sfumato.principles.epsilon_m_anonymity import relative_windows
from sfumato.principles.numeric_values import numbers_of

SIZES = 4096
"""Limits on neighbours are tabulated up to this group size; larger groups are held to the limit of this one."""

_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Crowd:
    """Every tuple has at most `allowed(size)` neighbours in its group of a size."""

    values: NDArray[np.int64]
    nearness: Nearness
    allowed: Callable[[int], int]


@dataclass(frozen=True, eq=False)
class Shape:
    """A condition on a group's histogram, as `kernels.excess.shape_excess` understands it."""

    values: NDArray[np.int64]
    kind: int
    first: float
    second: float = 0.0
    number: NDArray[np.float64] | None = None
    """For each value its size, or its share of the table."""
    nodes: tuple[NDArray[np.int64], ...] = ()
    shares: tuple[NDArray[np.float64], ...] = ()


@dataclass(frozen=True, eq=False)
class Limits:
    """What all principles of a task demand of a group."""

    least: int
    """No group may have fewer rows."""
    crowds: tuple[Crowd, ...]
    shapes: tuple[Shape, ...]

    @classmethod
    def of(cls, task: Task) -> Limits:
        """Translate a task's principles; one that search cannot serve is an error that says what can."""
        least, crowds, shapes = 1, [], []
        for principle, names in task.requirements:
            least = max(least, getattr(principle, "k", 1) if not isinstance(principle, KEAnonymity) else 1)
            if isinstance(principle, KAnonymity):
                continue
            view = task.views[names]
            crowd = _crowd(principle, view)
            if crowd is not None:
                crowds.append(crowd)
                continue
            found = _shapes(principle, view)
            if not found:
                raise ParameterError(
                    f"the default method cannot serve {principle.title}",
                    remedy='Use method "mondrian", which checks every group that it makes.',
                    key="method.name",
                    value=principle.name,
                )
            shapes += found
        limits = cls(least, tuple(crowds), tuple(shapes))
        return cls(limits.smallest(task.table.rows), limits.crowds, limits.shapes)

    def smallest(self, rows: int) -> int:
        """The smallest size, from `least` on, at which a group can satisfy everything; `least` if none is found."""
        arrays = self.shape_arrays()
        buffer = np.zeros(SIZES + 1, np.int64)
        counts = scratch_counts(arrays)
        for size in range(self.least, min(rows, SIZES // 4) + 1):
            if any(crowd.allowed(size) < 0 for crowd in self.crowds):
                continue
            fits = True
            for h, shape in enumerate(self.shapes):
                buffer[:size] = _quota(shape, size)
                if shape_excess(arrays, h, buffer, size, counts) > 0:
                    fits = False
                    break
            if fits:
                return size
        return self.least

    def roomiest(self, most: int) -> int:
        """The size from `least` to `most` at which neighbours are rarest to hurt: where (allowed + 1)/size is largest."""
        sizes = range(self.least, most + 1)
        return max(sizes, key=lambda s: (min((Fraction(c.allowed(s) + 1, s) for c in self.crowds), default=Fraction(0)), -s))

    def crowd_arrays(self, rows: int) -> NeighbourLimits:
        """The limits on neighbours as the kernels take them."""
        count = len(self.crowds)
        widest = max((len(c.nearness.rank) for c in self.crowds), default=0)
        words = max((c.nearness.bits.shape[1] for c in self.crowds), default=0)
        top = min(rows, SIZES) + 1
        value = np.zeros((count, rows), np.int64)
        rank, low, high = (np.zeros((count, max(widest, 1)), np.int64) for _ in range(3))
        first = np.zeros(count, np.int64)
        bits: list[NDArray[np.uint64]] = []
        allowed = np.zeros((count, top + 1), np.int64)
        for c, crowd in enumerate(self.crowds):
            near = crowd.nearness
            value[c] = crowd.values
            rank[c, : len(near.rank)], low[c, : len(near.low)], high[c, : len(near.high)] = near.rank, near.low, near.high
            first[c] = sum(len(part) for part in bits)
            bits.append(np.pad(near.bits, ((0, 0), (0, words - near.bits.shape[1]))))
            allowed[c] = [crowd.allowed(max(size, 1)) for size in range(top + 1)]
        bits.append(np.zeros((1, max(words, 1)), np.uint64))  # never empty, for the compiler
        matrix = np.concatenate([part for part in bits if part.shape[1] == max(words, 1)])
        windowed = np.array([crowd.nearness.kind == WINDOWS for crowd in self.crowds], bool)
        return NeighbourLimits(value, windowed, rank, low, high, first, matrix, allowed, np.ones(count))

    def shape_arrays(self, tolerance: float = _TOLERANCE) -> HistogramConditions:
        """The conditions on histograms as the kernels take them."""
        count = len(self.shapes)
        rows = len(self.shapes[0].values) if count else 0
        values = max((int(s.values.max()) + 1 for s in self.shapes), default=1)
        levels = max((len(s.nodes) for s in self.shapes), default=1) or 1
        widest = max((len(share) for s in self.shapes for share in s.shares), default=1)
        number, node = np.zeros((count, values)), np.zeros((count, levels, values), np.int64)
        share = np.zeros((count, levels, widest))
        for h, shape in enumerate(self.shapes):
            if shape.number is not None:
                number[h, : len(shape.number)] = shape.number
            for level, (nodes, shares) in enumerate(zip(shape.nodes, shape.shares, strict=True)):
                node[h, level, : len(nodes)] = nodes
                share[h, level, : len(shares)] = shares
        depth = [len(s.nodes) if s.kind == excess.APART else 0 if s.number is None else len(s.number) for s in self.shapes]
        return HistogramConditions(
            np.array([s.values for s in self.shapes], np.int64).reshape(count, rows),
            np.array([s.kind for s in self.shapes], np.int64),
            np.array([s.first for s in self.shapes], float),
            np.array([s.second for s in self.shapes], float),
            number, node, share, np.array(depth, np.int64), tolerance,
        )  # fmt: skip


def served(principle: Principle) -> bool:
    """Whether a principle can be written as limits."""
    return isinstance(principle, (KAnonymity, *_CROWDS, *_SHAPES))


def scratch_counts(shapes: HistogramConditions) -> NDArray[np.int64]:
    """Zeros enough for any value or node of the conditions."""
    return np.zeros(2 + max(shapes.number.shape[1], shapes.share.shape[2]), np.int64)


def _quota(shape: Shape, size: int) -> NDArray[np.int64]:
    """The values of a group of a size that is as like the table as can be: every size-th quantile of its values."""
    ordered = np.sort(shape.values)
    at = ((2 * np.arange(size) + 1) * len(ordered)) // (2 * size)
    spread = ordered[at]
    if shape.kind in (excess.DISTINCT, excess.ENTROPY, excess.RECURSIVE, excess.VARIANCE, excess.RANGE):
        different = np.unique(ordered)
        if shape.kind in (excess.VARIANCE, excess.RANGE):
            return different[np.arange(size) % 2 * (len(different) - 1)]
        return different[np.arange(size) % len(different)]
    return spread


_CROWDS = (Dissimilarity, EpsilonMAnonymity, DeltaLDiversity, AlphaKAnonymity, FrequencyLDiversity)
"""The principles that limit neighbours."""


def _crowd(principle: Principle, view: View) -> Crowd | None:
    """The limit on neighbours that a principle is, if it is one."""
    values = view.attribute.codes
    if isinstance(principle, Dissimilarity):
        graph = view.graph(exactly(principle.epsilon))
        # a group of one has risk 1
        alone = -1 if exactly(principle.delta) > 0 else 0
        return Crowd(values, Nearness.of(graph), lambda s: principle.allowed_neighbours(s) if s > 1 else alone)
    if isinstance(principle, EpsilonMAnonymity | DeltaLDiversity):
        numbers = numbers_of(view, principle.title)
        if isinstance(principle, DeltaLDiversity):
            width, part = 2 * exactly(principle.delta), exactly(principle.l)
            low, high = number_windows(numbers, width, width)
        else:
            width, part = exactly(principle.epsilon), exactly(principle.m)
            low, high = (
                number_windows(numbers, width, width)
                if principle.nearness == "absolute"
                else relative_windows(numbers, width)
            )
        return Crowd(values, _windows(low, high), lambda s: int(s // part) - 1)
    if isinstance(principle, AlphaKAnonymity | FrequencyLDiversity):
        share = exactly(principle.alpha) if isinstance(principle, AlphaKAnonymity) else 1 / exactly(principle.l)
        own = np.arange(len(view.attribute))
        return Crowd(values, _windows(own, own + 1), lambda s: int(s * share) - 1)
    return None


def _windows(low: NDArray[np.int64], high: NDArray[np.int64]) -> Nearness:
    rank = np.arange(len(low))
    return Nearness(WINDOWS, rank, low.astype(np.int64), high.astype(np.int64), np.zeros((0, 0), np.uint64))


def _shapes(principle: Principle, view: View) -> list[Shape]:
    """The conditions on histograms that a principle is made of; none if it is not served."""
    make = _SHAPES.get(type(principle))
    return [] if make is None else make(principle, view)


def _closeness(principle: TCloseness, view: View) -> list[Shape]:
    limit, attribute = float(exactly(principle.t)), view.attribute
    if principle.ground == "ordered":
        return [_ordered(view, limit)]
    levels = value_levels(attribute, principle.ground)
    nodes = [np.arange(len(attribute)) if node is None else node for node in levels]
    shares = tuple(np.bincount(node, weights=_table_shares(view)).astype(float) for node in nodes)
    return [Shape(attribute.codes, excess.APART, limit, nodes=tuple(nodes), shares=shares)]


def _table_shares(view: View) -> NDArray[np.float64]:
    """Each value's share of the table."""
    return np.asarray(view.attribute.counts / view.attribute.counts.sum(), float)


def _ordered(view: View, limit: float) -> Shape:
    """Closeness along an order: values are numbered along it, those that an ordinal declares but no row has included."""
    column = view.attribute.single("an ordered ground distance")
    shares = np.zeros(column.size)
    shares[view.attribute.parts[:, 0]] = _table_shares(view)
    return Shape(column.codes.astype(np.int64), excess.ORDERED, limit, number=shares)


def _range_or_variance(view: View, kind: int, wanted: Fraction, title: str) -> list[Shape]:
    """A lower bound on range or variance, in numbers scaled so that squares stay exact enough; none if it is 0."""
    if wanted == 0:
        numbers_of(view, title)
        return [Shape(view.attribute.codes, excess.DISTINCT, 0)]
    numbers = numbers_of(view, title)
    middle = numbers[len(numbers) // 2]
    scaled = np.array([nearest_float(numbers[i] - middle) for i in range(len(numbers))])
    return [Shape(view.attribute.codes, kind, float(wanted), number=scaled)]


_SHAPES: dict[type[Principle], Callable[[Any, View], list[Shape]]] = {
    DistinctLDiversity: lambda p, view: [Shape(view.attribute.codes, excess.DISTINCT, p.l)],
    PSensitivity: lambda p, view: [Shape(view.attribute.codes, excess.DISTINCT, p.p)],
    EntropyLDiversity: lambda p, view: [Shape(view.attribute.codes, excess.ENTROPY, math.log(exactly(p.l)))],
    RecursiveLDiversity: lambda p, view: [Shape(view.attribute.codes, excess.RECURSIVE, float(exactly(p.c)), p.l)],
    KEAnonymity: lambda p, view: [
        Shape(view.attribute.codes, excess.DISTINCT, p.k),
        *_range_or_variance(view, excess.RANGE, exactly(p.e), p.title),
    ],
    VarianceControl: lambda p, view: _range_or_variance(view, excess.VARIANCE, exactly(p.variance), p.title),
    TCloseness: _closeness,
    BetaLikeness: lambda p, view: [
        Shape(view.attribute.codes, excess.GAIN, float(exactly(p.beta)), float(p.variant == "enhanced"), _table_shares(view))
    ],
    DeltaDisclosure: lambda p, view: [
        Shape(view.attribute.codes, excess.RATIO, float(exactly(p.delta)), number=_table_shares(view))
    ],
}
"""How each principle that is a condition on histograms is written as such."""

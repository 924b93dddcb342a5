"""What distances that sum coordinate by coordinate share: sums decided exactly, in whole numbers or floats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.attribute import Attribute
from sfumato.distances.base import Balls, BoundDistance, Indices
from sfumato.exact.ratios import SAFE
from sfumato.kernels.lp import lp_block

ERROR = 2.0**-44
"""A float sum of normalised terms is off by far less than this times power and coordinates: 500 roundings of a unit."""


@dataclass(frozen=True, eq=False)
class Coordinate:
    """One column's part of a sum: `scale`·|x − y|^power, or `full` if it is a name that differs, or one is absent."""

    integers: NDArray[np.int64]
    absent: NDArray[np.bool_] | None
    scale: Fraction
    full: Fraction
    name: bool


class SumDistance(BoundDistance):
    """Decides Σ terms ≤ ε^power in whole numbers where 64 bits hold them, else in floats with exact arithmetic behind."""

    def __init__(self, attribute: Attribute, coordinates: Sequence[Coordinate], power: int) -> None:
        super().__init__(attribute)
        self.coordinates = coordinates
        self.power = power
        size = len(attribute)
        self.absent = np.column_stack([np.zeros(size, bool) if c.absent is None else c.absent for c in coordinates])
        self.names = np.array([c.name for c in coordinates])

    @cached_property
    def exact(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], int] | None:
        """Points, scales and full terms as whole numbers, and what they were multiplied by; None if too large."""
        terms = [c.scale for c in self.coordinates] + [c.full for c in self.coordinates]
        factor = math.lcm(*(term.denominator for term in terms))
        scales = [int(c.scale * factor) for c in self.coordinates]
        full = [int(c.full * factor) for c in self.coordinates]
        largest = 0
        for c, scale in zip(self.coordinates, scales, strict=True):
            if c.integers.dtype == object:
                return None
            span = 1 if c.name else int(c.integers.max()) - int(c.integers.min())
            largest += scale * span ** max(self.power, 1)
        if max(largest + sum(full), factor) >= SAFE:
            return None
        points = np.column_stack([c.integers for c in self.coordinates]).astype(np.int64)
        return points, np.array(scales, np.int64), np.array(full, np.int64), factor

    def balls(self, epsilon: Fraction) -> Balls | None:
        """The neighbours as balls; none if numbers are absent, which no geometry can place."""
        return None if self.absent.any() else self._balls(epsilon)

    def _balls(self, epsilon: Fraction) -> Balls:
        limit = epsilon ** max(self.power, 1)
        points: NDArray[Any]
        weights: NDArray[Any]
        full: NDArray[Any]
        sure: int | float
        never: int | float
        if self.exact is not None:
            points, weights, full, factor = self.exact
            sure = never = min(int(limit * factor // 1), SAFE)
        else:
            points, weights, full, total = self.floats
            share = float(min(limit / total, Fraction(2)))
            margin = ERROR * max(self.power, 1) * len(self.coordinates)
            sure, never = share - margin, share + margin
        span = np.ptp(points, axis=0).astype(float)
        return Balls(
            points, self.absent, weights, full, np.where(span > 0, span, 1.0), self.names, self.power, sure, never,
            lambda one, other: self.decide(one, other, epsilon),
        )  # fmt: skip

    @cached_property
    def floats(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], Fraction]:
        """Points with coordinates in [0, 1], scales, full terms that sum to at most 1, and what they were divided by."""
        columns, weights = [], []
        for c in self.coordinates:
            lowest, highest = int(c.integers.min()), int(c.integers.max())
            span = max(highest - lowest, 1)
            if c.name:
                columns.append(c.integers.astype(float))
                weights.append(c.full)
            else:
                # Python divides integers of any size with one rounding
                columns.append(np.array([(int(x) - lowest) / span for x in c.integers]))
                weights.append(c.scale * span ** max(self.power, 1))
        total = max(weights + [c.full for c in self.coordinates]) * len(weights) or Fraction(1)
        scales = np.array([float(weight / total) for weight in weights])
        full = np.array([float(c.full / total) for c in self.coordinates])
        return np.column_stack(columns), scales, full, total

    def decide(self, one: int, other: int, epsilon: Fraction) -> bool:
        """Whether two values are near, in exact arithmetic."""
        return self._sum(one, other) <= epsilon ** max(self.power, 1)

    def _sum(self, one: int, other: int) -> Fraction:
        terms = []
        for j, c in enumerate(self.coordinates):
            gap = abs(int(c.integers[one]) - int(c.integers[other]))
            if c.name or self.absent[one, j] or self.absent[other, j]:
                same = gap == 0 if c.name else self.absent[one, j] == self.absent[other, j]
                terms.append(Fraction(0) if same else c.full)
            else:
                terms.append(c.scale * gap ** max(self.power, 1))
        return max(terms) if self.power == 0 else sum(terms, Fraction(0))

    def distances(self, rows: Indices, columns: Indices) -> NDArray[np.float64]:
        """The distances, computed pair by pair from exact sums: for display and small blocks."""
        root = 1 / max(self.power, 1)
        return np.array([[float(self._sum(i, j)) ** root for j in columns] for i in rows]).reshape(len(rows), len(columns))

    def near(self, rows: Indices, columns: Indices, epsilon: Fraction) -> NDArray[np.bool_]:
        """For each pair of values whether their distance is at most ε, exactly."""
        balls = self._balls(epsilon)
        known = np.empty((len(rows), len(columns)), np.uint8)
        lp_block(
            balls.points, balls.absent, rows, balls.points[columns].T.copy(), balls.absent[columns].T.copy(),
            balls.weights, balls.full, balls.names, balls.power, balls.sure, balls.never, known,
        )  # fmt: skip
        if balls.sure < balls.never:
            for a, b in np.argwhere(known == 2):
                known[a, b] = self.decide(int(rows[a]), int(columns[b]), epsilon)
        return known.view(bool)

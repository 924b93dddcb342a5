"""What distances that sum over coordinates share: comparisons that are exact, in whole numbers or in floats.

A sum may also have addends: distances that have no coordinates, such as those of sets or texts. The coordinates decide the
pairs for which the addends do not matter, and only the others are compared by their addends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.attribute import Attribute
from sfumato.distances.distance import Balls, BoundDistance, Indices, PairwiseDistance, Plane
from sfumato.exact import nearest_float
from sfumato.exact.ratios import SAFE, Integers

_DOUBT = 1e-8
"""Sums with addends this close to the limit are computed again, exactly; times power and terms."""

_MOST = 4
"""If more than one in so many pairs is left to the addends, they are compared as a block."""

ERROR = 2.0**-44
"""A float sum of normalised terms is wrong by far less than this times power and coordinates: 500 roundings of a unit."""


@dataclass(frozen=True, eq=False)
class Coordinate:
    """One column's term: `scale`·|x − y|^power, or `full` if the values are names that differ, or one of them is absent."""

    integers: NDArray[np.int64]
    absent: NDArray[np.bool_] | None
    scale: Fraction
    full: Fraction
    name: bool


@dataclass(frozen=True, eq=False)
class Addend:
    """A term that has no coordinates: `weight` times a power of a distance of at most 1 between codes of one column."""

    distance: PairwiseDistance
    codes: Indices
    weight: Fraction


class SumDistance(BoundDistance):
    """Decides Σ terms ≤ ε^power in whole numbers if 64 bits suffice; else in floats, and exactly near the limit."""

    def __init__(
        self, attribute: Attribute, coordinates: Sequence[Coordinate], power: int, addends: Sequence[Addend] = ()
    ) -> None:
        super().__init__(attribute)
        self.coordinates = coordinates
        self.power = power
        self.addends = addends
        self.costly = bool(addends)
        size = len(attribute)
        self.absent = np.column_stack([np.zeros(size, bool) if c.absent is None else c.absent for c in coordinates])
        self.names = np.array([c.name for c in coordinates])
        self._made: dict[Fraction, Balls] = {}

    @cached_property
    def terms(self) -> tuple[list[int], list[int], int]:
        """Scales and full terms as whole numbers of any size, and the factor that made them whole."""
        fractions = [c.scale for c in self.coordinates] + [c.full for c in self.coordinates]
        factor = math.lcm(*(term.denominator for term in fractions))
        whole = [int(term * factor) for term in fractions]
        return whole[: len(self.coordinates)], whole[len(self.coordinates) :], factor

    @cached_property
    def exact(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]] | None:
        """Points, scales and full terms as 64-bit numbers; None if a sum could overflow."""
        scales, full, factor = self.terms
        largest = 0
        for c, scale in zip(self.coordinates, scales, strict=True):
            if c.integers.dtype == object:
                return None
            span = 1 if c.name else int(c.integers.max()) - int(c.integers.min())
            largest += scale * span ** max(self.power, 1)
        if max(largest + sum(full), factor) >= SAFE:
            return None
        points = np.column_stack([c.integers for c in self.coordinates]).astype(np.int64)
        return points, np.array(scales, np.int64), np.array(full, np.int64)

    def plane(self, epsilon: Fraction) -> Plane | None:
        """Return points of a plane for up to two numbers under the maximum or the sum, or one number under any power.

        |x| + |y| ≤ ε where neither x + y nor x − y exceeds ε in size. Names, and numbers that some values lack, must differ
        in no two values that are near, or cost nothing.
        """
        if self.exact is None or self.addends:
            return None
        points, scales, _ = self.exact
        power = max(self.power, 1)
        limit = epsilon**power
        columns, classes = [], []
        for j, c in enumerate(self.coordinates):
            partial = c.name or bool(self.absent[:, j].any())
            if c.full == 0 or (self.power == 0 and c.full <= limit):
                continue
            if partial and c.full <= limit:
                return None
            if partial:
                classes.append(points[:, j] if c.name else self.absent[:, j].astype(np.int64))
            if not c.name:
                columns.append(np.where(self.absent[:, j], 0, points[:, j] - points[:, j].min()) * scales[j])
        if len(columns) > (2 if power == 1 else 1):
            return None
        side = min(int(limit * self.terms[2] // 1), SAFE)
        if power > 1 and columns:  # scale · |x|^power ≤ limit
            scale = int(max(scales[j] for j, c in enumerate(self.coordinates) if not c.name and c.full > 0))
            columns = [columns[0] // max(scale, 1)]
            side = _whole_root(side // max(scale, 1), power)
        nothing = np.zeros(len(self.attribute), np.int64)
        x, y = [*columns, nothing, nothing][:2]
        if self.power == 1:
            x, y = x + y, x - y
        _, of_class = np.unique(np.column_stack([nothing, *classes]), axis=0, return_inverse=True)
        return Plane(x, y, of_class.reshape(-1).astype(np.int64), side)

    def ball_as_clique(self, epsilon: Fraction) -> tuple[BoundDistance, Fraction] | None:
        """Return 2ε where balls are boxes: under the maximum, under sums of up to two numbers, or along one number.

        Boxes that meet two by two have a common point, which is the centre. A name, or a number that some values lack, must
        cost more than ε, so that all values of a ball agree with the centre; or, under the maximum, never more. Values that
        disagree are then made too far apart for a clique. None for other names, and for balls of another form.
        """
        power = max(self.power, 1)
        several = [c for c in self.coordinates if c.full > 0]
        numbers = sum(not c.name for c in several)
        if self.addends or numbers > (len(several) if self.power == 0 else 2 if self.power == 1 else 1):
            return None
        coordinates = []
        for c in self.coordinates:
            partial = c.full > 0 and (c.name or (c.absent is not None and bool(c.absent.any())))
            if partial and c.full <= epsilon**power:
                if self.power > 0:
                    return None
                partial = False
            coordinates.append(replace(c, full=max(c.full, (2 * epsilon) ** power + 1)) if partial else c)
        return SumDistance(self.attribute, coordinates, self.power), 2 * epsilon

    def balls(self, epsilon: Fraction) -> Balls:
        """Return the neighbours as balls."""
        if epsilon not in self._made:
            self._made[epsilon] = self._make_balls(epsilon)
        return self._made[epsilon]

    def _make_balls(self, epsilon: Fraction) -> Balls:
        limit = epsilon ** max(self.power, 1)
        points: NDArray[Any]
        weights: NDArray[Any]
        full: NDArray[Any]
        sure: int | float
        never: int | float
        if self.exact is not None:
            points, weights, full = self.exact
            never = min(int(limit * self.terms[2] // 1), SAFE)
            sure = min(int(self._sure(limit) * self.terms[2] // 1), SAFE)
        else:
            points, weights, full, total = self.floats
            margin = ERROR * max(self.power, 1) * len(self.coordinates)
            never = float(min(limit / total, Fraction(2))) + margin
            sure = float(max(min(self._sure(limit) / total, Fraction(2)), Fraction(-1))) - margin
        span = np.ptp(points, axis=0).astype(float)
        return Balls(
            points, self.absent, weights, full, np.where(span > 0, span, 1.0), self.names, self.power, sure, never,
            lambda ones, others: self.decide(ones, others, epsilon),
        )  # fmt: skip

    def _sure(self, limit: Fraction) -> Fraction:
        """Return the largest sum of coordinate terms that is within a limit whatever the addends are; -1 if none is."""
        weights = [addend.weight for addend in self.addends]
        if self.power == 0:
            return limit if limit >= max(weights, default=0) else Fraction(-1)
        return max(limit - sum(weights), Fraction(-1))

    @cached_property
    def floats(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], Fraction]:
        """Points with coordinates in [0, 1], scales and full terms that sum to at most 1, and their divisor."""
        columns, weights = [], []
        for c in self.coordinates:
            lowest, highest = int(c.integers.min()), int(c.integers.max())
            span = max(highest - lowest, 1)
            if c.name:
                columns.append(c.integers.astype(float))
                weights.append(c.full)
            else:
                # Python divides integers of any size with a single rounding
                columns.append(np.array([(int(x) - lowest) / span for x in c.integers]))
                weights.append(c.scale * span ** max(self.power, 1))
        total = max(weights + [c.full for c in self.coordinates]) * len(weights) or Fraction(1)
        scales = np.array([float(weight / total) for weight in weights])
        full = np.array([float(c.full / total) for c in self.coordinates])
        return np.column_stack(columns), scales, full, total

    def decide(self, ones: Indices, others: Indices, epsilon: Fraction) -> NDArray[np.bool_]:
        """Return for pairs of values whether they are near, in whole numbers of any size."""
        if self.addends:
            return self._decide_with_addends(ones, others, epsilon, self._addend_distances(ones, others))
        limit = epsilon ** max(self.power, 1) * self.terms[2]
        return np.asarray(self._sums(ones, others) <= int(limit // 1), bool)

    def _addend_distances(self, ones: Indices, others: Indices) -> list[NDArray[np.float64]]:
        """Return for each addend the distances of pairs of values."""
        return [each.distance.of_pairs(each.codes[ones], each.codes[others]) for each in self.addends]

    def _decide_with_addends(
        self, ones: Indices, others: Indices, epsilon: Fraction, apart: Sequence[NDArray[np.float64]]
    ) -> NDArray[np.bool_]:
        """Return for pairs of values whether they are near: by floats if they are clear, else in rational numbers.

        `apart`: for each addend the distances of the pairs, wrong by less than 1e-9.
        """
        exponent = max(self.power, 1)
        limit = epsilon**exponent
        sums = self._float_sums(ones, others)
        for addend, distances in zip(self.addends, apart, strict=True):
            term = float(addend.weight) * distances**exponent
            sums = np.maximum(sums, term) if self.power == 0 else sums + term
        # any limit above 2 exceeds every sum, because the weights sum to 1
        close = float(min(limit, Fraction(2)))
        near = np.asarray(sums <= close)
        doubt = _DOUBT * exponent * (len(self.coordinates) + len(self.addends))
        doubtful = np.flatnonzero(np.abs(sums - close) <= doubt)
        near[doubtful] = [total <= limit for total in self._exact_sums(ones[doubtful], others[doubtful])]
        return near

    def _exact_sums(self, ones: Indices, others: Indices) -> list[Fraction]:
        """Return the sums of pairs of values with all addends; each different combination is added up once."""
        exponent = max(self.power, 1)
        terms = [self._sums(ones, others).tolist()]
        terms += [addend.distance.exactly(addend.codes[ones], addend.codes[others]) for addend in self.addends]
        known: dict[tuple[Any, ...], Fraction] = {}
        for combination in zip(*terms, strict=True):
            if combination not in known:
                whole, *distances = combination
                parts = [a.weight * d**exponent for a, d in zip(self.addends, distances, strict=True)]
                parts.append(Fraction(whole, self.terms[2]))
                known[combination] = max(parts) if self.power == 0 else sum(parts, Fraction(0))
        return [known[combination] for combination in zip(*terms, strict=True)]

    def _float_sums(self, ones: Indices, others: Indices) -> NDArray[np.float64]:
        """Return the sums of the coordinate terms of pairs of values, up to rounding errors."""
        points, scales, full, total = self.floats
        sums = np.zeros(len(ones))
        for j, c in enumerate(self.coordinates):
            if c.name:
                term = full[j] * (points[ones, j] != points[others, j])
            else:
                gone, other_gone = self.absent[ones, j], self.absent[others, j]
                term = scales[j] * np.abs(points[ones, j] - points[others, j]) ** max(self.power, 1)
                term = np.where(gone | other_gone, full[j] * (gone != other_gone), term)
            sums = np.maximum(sums, term) if self.power == 0 else sums + term
        return sums * float(total)

    def _sums(self, ones: Indices, others: Indices) -> Integers:
        """Return the sums of pairs of values, times the factor of `terms`."""
        total = np.zeros(len(ones), object)
        for j, (c, scale, full) in enumerate(zip(self.coordinates, *self.terms[:2], strict=True)):
            gap = np.abs(c.integers[ones].astype(object) - c.integers[others].astype(object))
            if c.name:
                term = full * (gap != 0).astype(object)
            else:
                gone, other_gone = self.absent[ones, j], self.absent[others, j]
                term = scale * gap ** max(self.power, 1) * (~(gone | other_gone)).astype(object)
                term = term + full * (gone != other_gone).astype(object)
            total = np.maximum(total, term) if self.power == 0 else total + term
        return total

    def distances(self, rows: Indices, columns: Indices) -> NDArray[np.float64]:
        """Return the distances, as floats of exact sums."""
        sums = self._exact_sums(np.repeat(rows, len(columns)), np.tile(columns, len(rows)))
        root = 1 / max(self.power, 1)
        floats = [nearest_float(total) ** root for total in sums]
        return np.array(floats, float).reshape(len(rows), len(columns))

    def near(self, rows: Indices, columns: Indices, epsilon: Fraction) -> NDArray[np.bool_]:
        """Return for each pair of values whether their distance is at most ε, exactly."""
        from sfumato.kernels.ball_counts import lp_block

        balls = self.balls(epsilon)
        known = np.empty((len(rows), len(columns)), np.uint8)
        lp_block(
            balls.points, balls.absent, rows, balls.points[columns].T.copy(), balls.absent[columns].T.copy(),
            balls.weights, balls.full, balls.names, balls.power, balls.sure, balls.never, known,
        )  # fmt: skip
        if balls.sure < balls.never:
            # 2 marks the pairs between the two limits, which the coordinates cannot decide
            a, b = np.nonzero(known == 2)
            if self.addends and _MOST * len(a) > known.size:
                # most pairs are left: comparing all of them as a block costs less than one by one
                blocks = [each.distance.distances(each.codes[rows], each.codes[columns]) for each in self.addends]
                apart = [block[a, b] for block in blocks]
                known[a, b] = self._decide_with_addends(rows[a], columns[b], epsilon, apart)
            else:
                known[a, b] = self.decide(rows[a], columns[b], epsilon)
        return known.view(bool)


def _whole_root(number: int, power: int) -> int:
    """Return the largest whole number whose power is at most a number.

    >>> _whole_root(80, 2), _whole_root(81, 4)
    (8, 3)
    """
    low, high = 0, 1
    while high**power <= number:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**power <= number else (low, middle)
    return low

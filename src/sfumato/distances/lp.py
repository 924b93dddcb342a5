"""Distances that sum coordinate by coordinate: weighted normalised L^p over columns, and total variation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.attribute import Attribute
from sfumato.distances.base import (
    Balls,
    BoundDistance,
    Distance,
    Indices,
    parameter_problem,
    refuse_missing,
    require,
)
from sfumato.exact import Number, Numbers, as_fraction
from sfumato.exact.ratios import SAFE
from sfumato.kernels.lp import lp_block
from sfumato.schema import Kind
from sfumato.table import Column

ERROR = 2.0**-44
"""A float sum of normalised terms is off by far less than this times power and coordinates: 500 roundings of a unit."""


@dataclass(frozen=True)
class Lp(Distance):
    """Weighted normalised L^p over the attribute's columns: (Σ wⱼ·dⱼ^p / Σ wⱼ)^(1/p), between 0 and 1.

    dⱼ is 0 or 1 for categorical, text and set columns (equal or not), and |xⱼ − yⱼ| divided by the column's range for
    numeric and ordinal ones, on values or on ranks (`by`). Ordinal columns go by their rank in the declared order unless
    said otherwise, numeric ones by value. The range is the span of the table's values, or the one given in `ranges`.
    With p = "inf" the distance is max wⱼ·dⱼ / max wⱼ. Where just one of two values is missing dⱼ is 1. Source: paper
    001, Section VI, made exact.

    >>> Lp(p=1, weights={"education": "0.4", "income": "0.6"}, by={"income": "rank"}).is_metric
    True
    """

    p: int | str = 1
    weights: Mapping[str, Number] = field(default_factory=dict)
    """Per column; 1 if not given."""
    by: Mapping[str, str] = field(default_factory=dict)
    """Per numeric or ordinal column: "value" or "rank"."""
    ranges: Mapping[str, Sequence[Number]] = field(default_factory=dict)
    """Per column that goes by value: its lowest and highest possible value."""

    name: ClassVar[str] = "lp"
    is_metric: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.p != "inf" and (isinstance(self.p, bool) or not isinstance(self.p, int) or self.p < 1):
            raise parameter_problem(self.name, "p", self.p, f"p = {self.p!r}", 'Write a whole number from 1, or "inf".')
        weights = {name: as_fraction(weight, f"weights.{name}") for name, weight in self.weights.items()}
        for name, weight in weights.items():
            if weight < 0:
                raise parameter_problem(
                    self.name, f"weights.{name}", weight, f"weight {weight} is negative", "Give it at least 0."
                )
        for name, way in self.by.items():
            if way not in ("value", "rank"):
                raise parameter_problem(self.name, f"by.{name}", way, f"{way!r} is unknown", 'Write "value" or "rank".')
        ranges = {}
        for name, bounds in self.ranges.items():
            ends = tuple(as_fraction(bound, f"ranges.{name}") for bound in bounds)
            if len(ends) != 2 or ends[0] >= ends[1]:
                raise parameter_problem(
                    self.name, f"ranges.{name}", bounds, "a range is no pair", "Write [lowest, highest]."
                )
            ranges[name] = ends
        for attribute, value in {"weights": weights, "by": dict(self.by), "ranges": ranges}.items():
            object.__setattr__(self, attribute, value)

    def bind(self, attribute: Attribute) -> BoundDistance:
        """Apply to any columns; weights, by and ranges must name some of them."""
        names = {column.name for column in attribute.columns}
        for key in ("weights", "by", "ranges"):
            for name in getattr(self, key):
                if name not in names:
                    raise parameter_problem(
                        self.name, f"{key}.{name}", name, f"column {name!r} is not part of {attribute.name!r}",
                        f"Its columns are: {', '.join(sorted(names))}.",
                    )  # fmt: skip
        weights = [as_fraction(self.weights.get(column.name, 1)) for column in attribute.columns]
        total = max(weights) if self.p == "inf" else sum(weights)
        if not total:
            raise parameter_problem(self.name, "weights", self.weights, "all weights are 0", "Give one column a weight.")
        power = 0 if self.p == "inf" else int(self.p)
        coordinates = [
            self._coordinate(column, attribute.parts[:, j], weights[j] / total, power)
            for j, column in enumerate(attribute.columns)
        ]
        return SumDistance(attribute, coordinates, power)

    def _coordinate(self, column: Column, codes: Indices, weight: Fraction, power: int) -> Coordinate:
        way = self.by.get(column.name)
        if column.kind not in (Kind.NUMERIC, Kind.ORDINAL):
            if way is not None:
                require(column, (Kind.NUMERIC, Kind.ORDINAL), f"{self.name} by {way}")
            return Coordinate(codes, None, weight, weight, True)
        absent = codes == column.size
        present = np.where(absent, 0, codes)
        if way == "rank" or (column.kind is Kind.ORDINAL and way is None):
            integers, span = present, Fraction(column.size - 1)
        else:
            numbers = column.numbers if column.numbers is not None else _ordinal_numbers(column)
            integers = numbers.integers[present] if len(numbers) else present
            span = self._span(column.name, numbers) / numbers.unit
        scale = weight / span ** max(power, 1) if span else Fraction(0)
        return Coordinate(integers, absent, scale, weight, False)

    def _span(self, name: str, numbers: Numbers) -> Fraction:
        """The range that a column's differences are divided by; 0 if all its values are equal."""
        if not len(numbers):
            return Fraction(0)
        if name not in self.ranges:
            return numbers[-1] - numbers[0]
        lowest, highest = map(as_fraction, self.ranges[name])
        outside = [n for n in (0, -1) if not lowest <= numbers[n] <= highest]
        if outside:
            raise parameter_problem(
                self.name, f"ranges.{name}", self.ranges[name],
                f"the value {numbers.label(outside[0])} is outside the range", "Widen the range.",
            )  # fmt: skip
        return highest - lowest


def _ordinal_numbers(column: Column) -> Numbers:
    """The labels of an ordinal column as numbers, for a distance by value."""
    from sfumato.exact.numbers import parse_decimal

    decimals = [parse_decimal(text) for text in column.texts]
    known = [decimal for decimal in decimals if decimal is not None]
    if len(known) != len(decimals) or known != sorted(known):
        raise parameter_problem(
            "lp", f"by.{column.name}", column.texts, "the column's labels are not ascending numbers", 'Use "rank".'
        )
    return Numbers.of(known)


@dataclass(frozen=True)
class TotalVariation(Distance):
    """½·Σ|pⱼ − qⱼ|: half the L¹ distance of two distributions over the attribute's columns. Source: paper 000.

    >>> TotalVariation().is_metric
    True
    """

    name: ClassVar[str] = "total-variation"
    is_metric: ClassVar[bool] = True

    def bind(self, attribute: Attribute) -> BoundDistance:
        """Apply to numeric columns without missing values."""
        coordinates = []
        for j, column in enumerate(attribute.columns):
            require(column, (Kind.NUMERIC,), self.name)
            refuse_missing(column, f"the distance {self.name!r}")
            assert column.numbers is not None
            integers = column.numbers.integers[attribute.parts[:, j]]
            widest = (int(integers.max()) - int(integers.min())) * column.numbers.unit
            coordinates.append(Coordinate(integers, None, column.numbers.unit / 2, widest / 2, False))
        return SumDistance(attribute, coordinates, 1)


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

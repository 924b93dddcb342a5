"""The weighted normalised L^p distance over several columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from sfumato.data.attribute import Attribute
from sfumato.data.column import Column
from sfumato.data.schema import Kind
from sfumato.distances.coordinate_sums import Coordinate, SumDistance
from sfumato.distances.distance import BoundDistance, Distance, Indices, parameter_problem, require
from sfumato.exact import Number, Numbers, as_fraction
from sfumato.exact.numbers import parse_decimal

_BY_VALUE = (Kind.NUMERIC, Kind.DATE, Kind.ORDINAL)
"""Kinds whose values have differences."""


@dataclass(frozen=True)
class Lp(Distance):
    """Weighted normalised L^p over the attribute's columns: (Σ wⱼ·dⱼ^p / Σ wⱼ)^(1/p), between 0 and 1.

    dⱼ is 0 or 1 for categorical, text and set columns (equal or not), and |xⱼ − yⱼ| divided by the column's range for
    numbers, dates and ordinal columns, by value or by rank (`by`). The default is by rank in the declared order for ordinal
    columns, and by value for the others. The range is the span of the table's values, or the one in `ranges`. With p =
    "inf" the distance is max wⱼ·dⱼ / max wⱼ. Where exactly one of two values is missing dⱼ is 1. Source: Wang & Liu
    (2010), Section VI, made exact.

    >>> Lp(p=1, weights={"education": "0.4", "income": "0.6"}, by={"income": "rank"}).is_metric
    True
    """

    p: int | str = 1
    weights: Mapping[str, Number] = field(default_factory=dict)
    """A weight per column, for all columns; without any, all have the same weight."""
    by: Mapping[str, str] = field(default_factory=dict)
    """For numeric or ordinal columns: "value" or "rank"."""
    ranges: Mapping[str, Sequence[Number]] = field(default_factory=dict)
    """For columns that are compared by value: the lowest and highest possible value."""

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
            pair = bounds if isinstance(bounds, list | tuple) else ()
            ends = tuple(as_fraction(bound, f"ranges.{name}") for bound in pair)
            if len(ends) != 2 or ends[0] >= ends[1]:
                raise parameter_problem(
                    self.name,
                    f"ranges.{name}",
                    bounds,
                    "a range is not a pair of a lower and a higher number",
                    "Write [lowest, highest].",
                )
            ranges[name] = ends
        for attribute, value in {"weights": weights, "by": dict(self.by), "ranges": ranges}.items():
            object.__setattr__(self, attribute, value)

    def over(self, columns: AbstractSet[str]) -> Lp:
        """Return the same distance over fewer columns.

        >>> Lp(weights={"x": 1, "y": 2}).over({"y"}).weights
        {'y': Fraction(2, 1)}
        """

        def only(mapping: Mapping[str, Any]) -> dict[str, Any]:
            return {name: value for name, value in mapping.items() if name in columns}

        return replace(self, weights=only(self.weights), by=only(self.by), ranges=only(self.ranges))

    def bind(self, attribute: Attribute) -> BoundDistance:
        """Bind the distance to any columns; weights, by and ranges must name some of them."""
        names = {column.name for column in attribute.columns}
        for key in ("weights", "by", "ranges"):
            for name in getattr(self, key):
                if name not in names:
                    raise parameter_problem(
                        self.name, f"{key}.{name}", name, f"column {name!r} is not part of {attribute.name!r}",
                        f"Its columns are: {', '.join(sorted(names))}.",
                    )  # fmt: skip
        if self.weights and self.weights.keys() != names:
            left = ", ".join(sorted(names - self.weights.keys()))
            raise parameter_problem(
                self.name, "weights", self.weights, f"weights are given for some columns and not for {left}",
                "Give every column a weight (0 to ignore it), or none of them.",
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
        if way is None and column.kind is Kind.ORDINAL:
            way = "rank"
        if column.name in self.ranges and (way == "rank" or column.kind not in (Kind.NUMERIC, Kind.ORDINAL)):
            dates = column.kind is Kind.DATE
            problem = f"a range of numbers is given for a column that is {'of dates' if dates else 'not compared by value'}"
            remedy = "Remove it." if dates else "Remove it, or compare by value."
            raise parameter_problem(self.name, f"ranges.{column.name}", self.ranges[column.name], problem, remedy)
        if column.kind not in _BY_VALUE:
            if way is not None:
                require(column, _BY_VALUE, f"{self.name} by {way}")
            return Coordinate(codes, None, weight, weight, True)
        absent = codes == column.size
        present = np.where(absent, 0, codes)
        if way == "rank":
            integers, span = present, Fraction(column.size - 1)
        else:
            numbers = column.numbers if column.numbers is not None else _ordinal_numbers(column)
            integers = numbers.integers[present] if len(numbers) else present
            span = self._span(column.name, numbers) / numbers.unit
        scale = weight / span ** max(power, 1) if span else Fraction(0)
        return Coordinate(integers, absent, scale, weight, False)

    def _span(self, name: str, numbers: Numbers) -> Fraction:
        """Return the range that a column's differences are divided by; 0 if all its values are equal."""
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
    """Return the labels of an ordinal column as numbers, for a distance by value."""
    decimals = [parse_decimal(text) for text in column.texts]
    known = [decimal for decimal in decimals if decimal is not None]
    if len(known) != len(decimals) or known != sorted(known):
        raise parameter_problem(
            "lp", f"by.{column.name}", column.texts, "the column's labels are not ascending numbers", 'Use "rank".'
        )
    return Numbers.of(known)

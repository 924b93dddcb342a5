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
from sfumato.distances.coordinate_sums import Addend, Coordinate, SumDistance
from sfumato.distances.discrete import Discrete
from sfumato.distances.distance import (
    BoundDistance,
    Distance,
    Indices,
    PairwiseDistance,
    parameter_problem,
    require,
)
from sfumato.distances.jaccard import Jaccard
from sfumato.distances.jaro import Jaro
from sfumato.distances.jaro_winkler import JaroWinkler
from sfumato.distances.taxonomy import Taxonomy, hierarchy_paths
from sfumato.exact import Number, Numbers, as_fraction
from sfumato.exact.numbers import parse_decimal

_BY_VALUE = (Kind.NUMERIC, Kind.DATE, Kind.ORDINAL)
"""Kinds whose values have differences."""

_ADDENDS: dict[str, Distance] = {each.name: each for each in (Jaccard(), Jaro(), JaroWinkler())}
"""Distances of a single column that have no coordinates."""

_WAYS = ("value", "rank", Discrete.name, Taxonomy.name, *_ADDENDS)
"""How a column may be compared."""


@dataclass(frozen=True)
class Lp(Distance):
    """Weighted normalised L^p over the attribute's columns: (Σ wⱼ·dⱼ^p / Σ wⱼ)^(1/p), between 0 and 1.

    dⱼ is 0 or 1 for categorical, text and set columns (equal or not), and |xⱼ − yⱼ| divided by the column's range for
    numbers, dates and ordinal columns, by value or by rank (`by`). The default is by rank in the declared order for ordinal
    columns, and by value for the others. The range is the span of the table's values, or the one in `ranges`. With
    "taxonomy" in `by` dⱼ is the distance of two values in the column's hierarchy, with "jaccard" that of two sets, with
    "jaro" or "jaro-winkler" that of two texts, and with "discrete" any column is compared as equal or not. With p = "inf"
    the distance is max wⱼ·dⱼ / max wⱼ. Where exactly one of two values is missing dⱼ is 1. It is a metric unless texts are
    compared by Jaro. Source: Wang & Liu (2010), Section VI, made exact.

    >>> Lp(p=1, weights={"education": "0.4", "income": "0.6"}, by={"income": "rank"}).is_metric
    True
    """

    p: int | str = 1
    weights: Mapping[str, Number] = field(default_factory=dict)
    """A weight per column, for all columns; without any, all have the same weight."""
    by: Mapping[str, str] = field(default_factory=dict)
    """How a column is compared: "value" or "rank" (numbers, dates, ordinal columns), or the name of a distance."""
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
            if way not in _WAYS:
                ways = ", ".join(f'"{known}"' for known in _WAYS)
                raise parameter_problem(self.name, f"by.{name}", way, f"{way!r} is unknown", f"Write one of: {ways}.")
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
        # a sum of metrics is one; an addend that is none spoils it
        metric = all(_ADDENDS[way].is_metric for way in self.by.values() if way in _ADDENDS)
        object.__setattr__(self, "is_metric", metric)

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
        coordinates: list[Coordinate] = []
        addends: list[Addend] = []
        for j, column in enumerate(attribute.columns):
            codes, weight = attribute.parts[:, j], weights[j] / total
            way = self.by.get(column.name)
            self._check_range(column, way)
            if way in _ADDENDS:
                single = Attribute.counted([column], column.name, np.arange(column.domain)[:, None], column.counts)
                distance = _ADDENDS[way].bind(single)
                assert isinstance(distance, PairwiseDistance)
                addends += [Addend(distance, codes, weight)] if weight else []
            elif way == Taxonomy.name:
                coordinates += _levels(column, codes, weight, power)
            else:
                coordinates.append(self._coordinate(column, way, codes, weight, power))
        # sums are over at least one coordinate
        coordinates = coordinates or [Coordinate(np.zeros(len(attribute), np.int64), None, Fraction(0), Fraction(0), True)]
        return SumDistance(attribute, coordinates, power, addends)

    def _check_range(self, column: Column, way: str | None) -> None:
        """Raise an error if a range is declared for a column whose values are not compared by it."""
        by_value = column.kind is Kind.NUMERIC or (column.kind is Kind.ORDINAL and way is not None)
        if column.name in self.ranges and not (by_value and way in (None, "value")):
            dates = column.kind is Kind.DATE
            problem = f"a range of numbers is given for a column that is {'of dates' if dates else 'not compared by value'}"
            remedy = "Remove it." if dates else "Remove it, or compare by value."
            raise parameter_problem(self.name, f"ranges.{column.name}", self.ranges[column.name], problem, remedy)

    def _coordinate(self, column: Column, way: str | None, codes: Indices, weight: Fraction, power: int) -> Coordinate:
        if way == Discrete.name:
            return Coordinate(codes, None, weight, weight, True)
        if way is None and column.kind is Kind.ORDINAL:
            way = "rank"
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


def _levels(column: Column, codes: Indices, weight: Fraction, power: int) -> list[Coordinate]:
    """Return the term of a distance in a hierarchy as one name per level below the root.

    Two values whose lowest common ancestor is at level l have different nodes at the levels 0 to l − 1 and the same node
    from l on. So the terms w·((i + 1)^p − i^p)/h^p of the levels i at which they differ sum to w·(l/h)^p, and the largest of
    the terms w·(i + 1)/h is w·l/h.
    """
    paths = hierarchy_paths(column, f"{Lp.name} by {Taxonomy.name}")
    height = paths.shape[1] - 1
    # numbered from the root down, the values under one node are consecutive, so boxes of a search tree fit nodes
    order = np.lexsort(paths.T)
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    coordinates = []
    for level in range(height):
        first = np.full(int(paths[:, level].max()) + 1, len(order), np.int64)
        np.minimum.at(first, paths[:, level], position)
        share = Fraction(level + 1, height) if power == 0 else Fraction((level + 1) ** power - level**power, height**power)
        coordinates.append(Coordinate(first[paths[codes, level]], None, weight * share, weight * share, True))
    return coordinates


def _ordinal_numbers(column: Column) -> Numbers:
    """Return the labels of an ordinal column as numbers, for a distance by value."""
    decimals = [parse_decimal(text) for text in column.texts]
    known = [decimal for decimal in decimals if decimal is not None]
    if len(known) != len(decimals) or known != sorted(known):
        raise parameter_problem(
            "lp", f"by.{column.name}", column.texts, "the column's labels are not ascending numbers", 'Use "rank".'
        )
    return Numbers.of(known)

"""The interface of every distance, and the forms in which it may state neighbours."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.data.attribute import Attribute
from sfumato.data.column import Column
from sfumato.data.schema import Kind
from sfumato.errors import ColumnError, ParameterError
from sfumato.exact import as_parameter

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Windows:
    """Neighbours along an order: value v has rank r = `rank[v]`, and the ranks `low[r]` to `high[r]` - 1 are near it.

    `low` and `high` are indexed by rank and never descend.
    """

    rank: Indices
    low: Indices
    high: Indices


@dataclass(frozen=True, eq=False)
class Balls:
    """Neighbours as points in a ball: a sum (or, at power 0, the largest) of weighted coordinate terms is at most ε.

    `sfumato.kernels.ball_counts` defines each array. `decide` settles exactly the pairs that the points cannot: those
    between `sure` and `never`.
    """

    points: NDArray[Any]
    absent: NDArray[np.bool_]
    weights: NDArray[Any]
    full: NDArray[Any]
    span: NDArray[np.float64]
    names: NDArray[np.bool_]
    power: int
    sure: Any
    never: Any
    decide: Callable[[Indices, Indices], NDArray[np.bool_]]


@dataclass(frozen=True, eq=False)
class Plane:
    """Neighbours as points of a plane: values of one class are near if neither coordinate differs by more than `side`.

    Values of different classes are never near.

    >>> Plane(np.array([0, 3]), np.array([0, 2]), np.zeros(2, np.int64), side=2).side
    2
    """

    x: Indices
    y: Indices
    of_class: Indices
    side: int


class BoundDistance(ABC):
    """A distance bound to one attribute: it compares the attribute's distinct values, given by their numbers."""

    def __init__(self, attribute: Attribute) -> None:
        self.attribute = attribute

    @abstractmethod
    def distances(self, rows: Indices, columns: Indices) -> NDArray[np.float64]:
        """Return the distance of each pair of values, as floats: for display, never for a verdict."""

    @abstractmethod
    def near(self, rows: Indices, columns: Indices, epsilon: Fraction) -> NDArray[np.bool_]:
        """Return for each pair of values whether their distance is at most ε, exactly."""

    costly: bool = False
    """Whether a pair is expensive to compute, so that no pair should be compared without need."""

    def windows(self, epsilon: Fraction) -> Windows | None:
        """Return the neighbours as windows along an order; None if this distance has none."""
        del epsilon
        return None

    def balls(self, epsilon: Fraction) -> Balls | None:
        """Return the neighbours as balls around points; None if this distance has none."""
        del epsilon
        return None

    def plane(self, epsilon: Fraction) -> Plane | None:
        """Return the neighbours as points of a plane; None if this distance has none."""
        del epsilon
        return None

    def ball_as_clique(self, epsilon: Fraction) -> tuple[BoundDistance, Fraction] | None:
        """Return a distance and an ε' at which values are pairwise near exactly if one ball of radius ε contains them.

        The centre of the ball is any point of the space in which the values lie, not only a value that occurs. None if no
        such distance is known.
        """
        del epsilon
        return None

    def epsilon_steps(self) -> tuple[int, Callable[[int], Fraction]] | None:
        """Return how many different ε there are, and the i-th of them; None if that is not known.

        Any other ε has the same neighbours as the next step below it, and the last step represents all larger ε.
        """
        return None


class PairwiseDistance(BoundDistance):
    """A bound distance of at most 1 that compares listed pairs too, so that L^p may contain it.

    `distances` too is wrong by less than 1e-9. With only the block `near`, a sum over columns would have to compare every
    value with every other one.
    """

    @abstractmethod
    def of_pairs(self, ones: Indices, others: Indices) -> NDArray[np.float64]:
        """Return the distance of each listed pair, wrong by less than 1e-9."""

    @abstractmethod
    def exactly(self, ones: Indices, others: Indices) -> list[Fraction]:
        """Return the distance of each listed pair, exactly."""


class Distance(ABC):
    """How far apart two sensitive values are. Only symmetry and a distance of 0 from a value to itself are assumed.

    A subclass is a frozen dataclass whose fields are the parameters. It must define `name`, `is_metric` and `bind`.

    A missing value is at distance 0 from a missing one, and as far as possible from all others: at 1 where no distance
    exceeds 1, otherwise infinitely far. A user's own function receives None and decides for itself.
    """

    name: ClassVar[str]
    """The `kind` of the config."""
    is_metric: ClassVar[bool]
    """Whether the triangle inequality holds, so that an index may use it; a pseudo-metric counts."""

    @abstractmethod
    def bind(self, attribute: Attribute) -> BoundDistance:
        """Bind the distance to an attribute; an attribute of an unsuitable kind is an error."""

    def over(self, columns: AbstractSet[str]) -> Distance:
        """Return the same distance for an attribute of these columns only: parameters about other columns are dropped."""
        del columns
        return self

    def resolved(self) -> Distance:
        """Return the same distance with the code that it names by text loaded; most distances name none."""
        return self

    def is_same(self, other: Distance) -> bool:
        """Whether another distance, resolved as this one, surely gives the same results, so that both may share a graph."""
        return self == other

    def parameters(self) -> dict[str, Any]:
        """Return the parameters as a config states them, without defaults and empty ones."""
        values = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}  # type: ignore[arg-type]
        return {name: as_parameter(value) for name, (value, usual) in values.items() if value not in (usual, {})}


def require(column: Column, kinds: tuple[Kind, ...], distance: str) -> Column:
    """Return the column if a distance can be applied to its kind; otherwise raise an error that names suitable distances."""
    if column.kind not in kinds:
        suited = {
            Kind.NUMERIC: "absolute, lp or discrete",
            Kind.CATEGORICAL: "discrete, lp, or taxonomy with a hierarchy",
            Kind.ORDINAL: "lp, or discrete",
            Kind.SET: "jaccard or discrete",
            Kind.TEXT: "jaro, jaro-winkler or discrete",
            Kind.DATE: "absolute (in days), lp or discrete",
        }[column.kind]
        raise ColumnError(
            f"the distance {distance!r} cannot be applied to a column of kind {column.kind.value!r}",
            remedy=f"Use {suited}, or declare another kind.",
            column=column.name,
            value=column.kind.value,
        )
    return column


def lone_missing(column: Column, rows: Indices, columns: Indices) -> NDArray[np.bool_]:
    """Return for each pair of a single column's values whether exactly one of them is missing."""
    return np.asarray((rows == column.size)[:, None] != (columns == column.size)[None, :])


def refuse_missing(column: Column, required_by: str) -> None:
    """Raise an error if a column has missing values where every row must have a value."""
    if column.has_missing:
        count = int(column.counts[column.size])
        raise ColumnError(
            f"{required_by} requires a number in every row, and it is missing in {count}",
            remedy="Drop those rows, or fill them in.",
            column=column.name,
        )


def parameter_problem(distance: str, key: str, value: Any, problem: str, remedy: str) -> ParameterError:
    """Return the error for an invalid parameter of a distance."""
    return ParameterError(f"distance {distance!r}: {problem}", remedy=remedy, key=f"distance.{key}", value=value)

"""What every distance offers, and the shapes in which it may offer its neighbours."""

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
    """Neighbours along an order: value v has rank `rank[v]`, and the values of ranks `low` to `high` - 1 are near it.

    `low` and `high` are indexed by rank and do not descend.
    """

    rank: Indices
    low: Indices
    high: Indices


@dataclass(frozen=True, eq=False)
class Balls:
    """Neighbours as points in a ball: a sum (or, at power 0, the largest) of weighted coordinate terms is at most ε.

    The kernels of `sfumato.kernels.ball_counts` say what each array means. `decide` settles exactly the pairs that floats
    cannot.
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


class BoundDistance(ABC):
    """A distance between the distinct values of one attribute, by their numbers."""

    def __init__(self, attribute: Attribute) -> None:
        self.attribute = attribute

    @abstractmethod
    def distances(self, rows: Indices, columns: Indices) -> NDArray[np.float64]:
        """The distances between values, as floats: to show, never to decide."""

    @abstractmethod
    def near(self, rows: Indices, columns: Indices, epsilon: Fraction) -> NDArray[np.bool_]:
        """For each pair of values whether their distance is at most ε, exactly."""

    costly: ClassVar[bool] = False
    """Whether a pair costs so much that no pair should be looked at without need."""

    def windows(self, epsilon: Fraction) -> Windows | None:
        """The neighbours as windows along an order, if this distance has one."""
        return None

    def balls(self, epsilon: Fraction) -> Balls | None:
        """The neighbours as balls around points, if this distance has them."""
        return None


class Distance(ABC):
    """How far apart two sensitive values are. Symmetric, and 0 from a value to itself; that is all that is assumed.

    A missing value is at distance 0 from a missing one, and as far as can be from all others: at 1 where no distance
    exceeds 1, infinitely far else. A user's own function gets None and decides for itself.
    """

    name: ClassVar[str]
    """The `kind` of the config."""
    is_metric: ClassVar[bool]
    """Whether the triangle inequality holds, so that an index may rely on it (a pseudo-metric counts)."""

    @abstractmethod
    def bind(self, attribute: Attribute) -> BoundDistance:
        """Apply to an attribute; one of the wrong kind is an error."""

    def over(self, columns: AbstractSet[str]) -> Distance:
        """The same distance where an attribute is made of these columns only: what it says of others is left out."""
        del columns
        return self

    def parameters(self) -> dict[str, Any]:
        """The parameters as they stand in a config, those at their default or empty left out."""
        values = {field.name: (getattr(self, field.name), field.default) for field in fields(self)}  # type: ignore[arg-type]
        return {name: as_parameter(value) for name, (value, usual) in values.items() if value not in (usual, {})}


def require(column: Column, kinds: tuple[Kind, ...], distance: str) -> Column:
    """Return the column if a distance can be applied to its kind, else say which distances can."""
    if column.kind not in kinds:
        suited = {
            Kind.NUMERIC: "absolute, lp or discrete",
            Kind.CATEGORICAL: "discrete, lp, or taxonomy with a hierarchy",
            Kind.ORDINAL: "lp, or discrete",
            Kind.SET: "jaccard or discrete",
            Kind.TEXT: "jaro, jaro-winkler or discrete",
        }[column.kind]
        raise ColumnError(
            f"the distance {distance!r} cannot be applied to a column of kind {column.kind.value!r}",
            remedy=f"Use {suited}, or declare another kind.",
            column=column.name,
            value=column.kind.value,
        )
    return column


def lone_missing(column: Column, rows: Indices, columns: Indices) -> NDArray[np.bool_]:
    """For each pair of a single column's values whether just one of them is missing."""
    return np.asarray((rows == column.size)[:, None] != (columns == column.size)[None, :])


def refuse_missing(column: Column, wanted_by: str) -> None:
    """Raise if a column has missing values where only numbers make sense."""
    if column.has_missing:
        count = int((column.codes == column.size).sum())
        raise ColumnError(
            f"{wanted_by} needs a number in every row, and it is missing in {count}",
            remedy="Drop those rows, or fill them in.",
            column=column.name,
        )


def parameter_problem(distance: str, key: str, value: Any, problem: str, remedy: str) -> ParameterError:
    """The error for a parameter of a distance."""
    return ParameterError(f"distance {distance!r}: {problem}", remedy=remedy, key=f"distance.{key}", value=value)

"""A user's own distance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.data.attribute import Attribute
from sfumato.distances.distance import BoundDistance, Distance, Indices, parameter_problem
from sfumato.errors import DistanceError, ParameterError, SfumatoError
from sfumato.exact import as_fraction, largest_float_at_most
from sfumato.user_code import load_function


@dataclass(frozen=True)
class Custom(Distance):
    """A function of two values, or, with `vectorised`, of two equally long lists of values.

    Values are passed as Python objects: numbers, texts, frozensets, None if missing, tuples for several columns. It
    must be symmetric, never negative, 0 from a value to itself, and never NaN; every result is checked. A float counts as
    the decimal that it prints as. In a config the function is named "file.py:function" or
    "module:function".

    >>> Custom(lambda x, y: abs(len(x) - len(y))).is_metric
    False
    """

    function: Callable[[Any, Any], Any] | str
    vectorised: bool = False

    name: ClassVar[str] = "function"
    is_metric: ClassVar[bool] = False
    """Not assumed, so nothing relies on the triangle inequality."""

    def bind(self, attribute: Attribute) -> BoundDistance:
        """Bind the distance to any attribute."""
        return _Bound(attribute, self._loaded(), self.vectorised)

    def resolved(self) -> Custom:
        """Return the distance with its function loaded: a text may name another function after a file has changed."""
        return replace(self, function=self._loaded())

    def is_same(self, other: Distance) -> bool:
        """Whether the other distance has this very function: equality of functions may be defined by the user."""
        return isinstance(other, Custom) and self.function is other.function and self.vectorised == other.vectorised

    def parameters(self) -> dict[str, Any]:
        """Return the parameters as a config states them: the name of the function without its folder."""
        name = {"function": str(self.function)} if isinstance(self.function, str) else {}
        return {**super().parameters(), **name}

    def _loaded(self) -> Callable[[Any, Any], Any]:
        if not isinstance(self.function, str):
            return self.function
        try:
            return load_function(self.function)
        except ParameterError as error:
            raise parameter_problem(self.name, "function", self.function, error.problem, error.remedy) from error


class _Bound(BoundDistance):
    costly = True

    def __init__(self, attribute: Attribute, function: Callable[[Any, Any], Any], vectorised: bool) -> None:
        super().__init__(attribute)
        self.function = function
        self.vectorised = vectorised
        self.values = [attribute.value(v) for v in range(len(attribute))]

    def _call(self, rows: Indices, columns: Indices) -> NDArray[Any]:
        """Return the results of the function: floats, or exact numbers where it returns anything else."""
        pairs = [(self.values[i], self.values[j]) for i in rows for j in columns]
        try:
            if self.vectorised:
                answer = self.function([x for x, _ in pairs], [y for _, y in pairs])
            else:
                answer = [self._one(x, y) for x, y in pairs]
        except DistanceError:
            raise
        except Exception as error:
            raise self._raised(error, f"{len(pairs)} pairs of values") from error
        try:
            numbers = list(answer)
            if not set(map(type, numbers)) <= {float, np.float64}:
                numbers = [_exact(number) for number in numbers]
            result = np.array(numbers)
        except (TypeError, SfumatoError) as error:
            raise DistanceError(
                f"the distance function returned something that is not a number: {error}",
                remedy="Return one number per pair of values.",
                column=self.attribute.name,
            ) from error
        if result.size != len(pairs):
            raise DistanceError(
                f"the distance function returned {result.size} numbers for {len(pairs)} pairs",
                remedy="Return one number per pair of values.",
                column=self.attribute.name,
            )
        return result.reshape(len(rows), len(columns))

    def _one(self, x: Any, y: Any) -> Any:
        try:
            return self.function(x, y)
        except Exception as error:
            raise self._raised(error, f"d({x!r}, {y!r})") from error

    def _raised(self, error: Exception, where: str) -> DistanceError:
        return DistanceError(
            f"the distance function failed on {where}: {type(error).__name__}: {error}",
            remedy="Fix the function; it must return a number for every pair of values, None (missing) included.",
            column=self.attribute.name,
        )

    def _checked(self, rows: Indices, columns: Indices) -> NDArray[Any]:
        forth, back = self._call(rows, columns), self._call(columns, rows).T
        same = rows[:, None] == columns[None, :]
        for problem, where in (
            ("is not a number", forth != forth),  # noqa: PLR0124 - only NaN differs from itself
            ("is negative", forth < 0),
            ("is not the same both ways", forth != back),
            ("from a value to itself is not 0", same & (forth != 0)),
        ):
            if where.any():
                a, b = np.argwhere(where)[0]
                x, y = self.values[rows[a]], self.values[columns[b]]
                reverse = "" if rows[a] == columns[b] else f", d({y!r}, {x!r}) = {back[a, b]}"
                raise DistanceError(
                    f"the distance {problem}: d({x!r}, {y!r}) = {forth[a, b]}{reverse}",
                    remedy="Return a symmetric, non-negative number that is 0 for equal values.",
                    column=self.attribute.name,
                    value=(x, y),
                )
        return forth

    def distances(self, rows: Indices, columns: Indices) -> NDArray[np.float64]:
        return self._checked(rows, columns).astype(float)

    def near(self, rows: Indices, columns: Indices, epsilon: Fraction) -> NDArray[np.bool_]:
        apart = self._checked(rows, columns)
        return np.asarray(apart <= (largest_float_at_most(epsilon) if apart.dtype == float else epsilon), bool)


def _exact(number: Any) -> Fraction | float:
    """Return a number exactly as it was written; NaN stays NaN, so that the check finds it."""
    if isinstance(number, bool | np.bool_):
        return Fraction(int(number))
    return number if isinstance(number, float) and number != number else as_fraction(number)  # noqa: PLR0124

"""Estimates with intervals, beside the naive figures: what every question to a released table returns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.errors import ParameterError


class EstimateOptions(TypedDict, total=False):
    """The options that every question takes."""

    level: float
    draws: int
    seed: int
    target: Literal["table", "population"]


@dataclass(frozen=True)
class EstimateSettings:
    """How a question is answered.

    `level`: the probability of the interval. `draws`: how many complete tables are drawn. `seed`: the same seed gives the
    same answer. `target`: "table" estimates the figure of the original table, so that intervals express only what the cells
    leave open; "population" that of the population from which the rows were drawn, so that they express sampling as well.
    """

    level: float = 0.95
    draws: int = 100
    seed: int = 0
    target: Literal["table", "population"] = "table"

    def __post_init__(self) -> None:
        if not isinstance(self.level, int | float) or not 0 < self.level < 1:
            problem = f"invalid level {self.level!r}"
            raise ParameterError(problem, remedy="Give a number between 0 and 1.", key="level", value=self.level)
        if not isinstance(self.draws, int) or self.draws < 2:
            problem = f"invalid number of draws {self.draws!r}"
            raise ParameterError(problem, remedy="Give a whole number of at least 2.", key="draws", value=self.draws)
        if not isinstance(self.seed, int) or self.seed < 0:
            problem = f"invalid seed {self.seed!r}"
            raise ParameterError(problem, remedy="Give a whole number of at least 0.", key="seed", value=self.seed)
        if self.target not in ("table", "population"):
            problem = f"invalid target {self.target!r}"
            raise ParameterError(problem, remedy='Write "table" or "population".', key="target", value=self.target)


@dataclass(frozen=True)
class Estimate:
    """One figure: the estimate, its interval, and the naive figure."""

    keys: Mapping[str, str | None]
    """The values of the columns that the figure is for."""
    estimate: float
    low: float
    high: float
    naive: float
    """The figure if all possible values of a cell were equally probable, and a number in the middle of its interval."""

    def covers(self, value: float) -> bool:
        """Return whether a value is in the interval, up to rounding.

        >>> Estimate({}, 0.5, 0.25, 0.75, 0.5).covers(0.75)
        True
        """
        slack = 1e-9 * max(1.0, abs(value))
        return bool(value in (self.low, self.high) or self.low - slack <= value <= self.high + slack)


@dataclass(frozen=True, eq=False)
class Estimates:
    """Several figures, one row each: a small frame. It has a length, can be iterated, and is indexed by its keys.

    >>> table = Estimates("rate", {"sex": ["f", "m"]}, *map(np.array, ([0.5, 0.25], [0.4, 0.2], [0.6, 0.3], [0.5, 0.3])))
    >>> table["m"].estimate, len(table)
    (0.25, 2)
    >>> table
    rate
      sex  estimate  low  high  naive
      f         0.5  0.4   0.6    0.5
      m        0.25  0.2   0.3    0.3
    """

    title: str
    keys: Mapping[str, Sequence[str | None]]
    estimate: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    naive: NDArray[np.float64]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.estimate)

    def __iter__(self) -> Iterator[Estimate]:
        for row in range(len(self)):
            keys = {name: values[row] for name, values in self.keys.items()}
            figures = (float(column[row]) for column in (self.estimate, self.low, self.high, self.naive))
            yield Estimate(keys, *figures)

    def __getitem__(self, key: Any) -> Estimate:
        wanted = key if isinstance(key, tuple) else (key,)
        for row in self:
            if tuple(row.keys.values()) == wanted:
                return row
        known = ", ".join(repr(tuple(row.keys.values())) for row in list(self)[:8])
        raise ParameterError(f"there is no estimate for {key!r}", remedy=f"The keys are: {known}.", key="key", value=key)

    def to_arrow(self) -> pa.Table:
        """Return the figures as an Arrow table."""
        columns: dict[str, Any] = {name: pa.array(list(values), pa.string()) for name, values in self.keys.items()}
        for name in ("estimate", "low", "high", "naive"):
            columns[name] = pa.array(getattr(self, name))
        return pa.table(columns)

    def to_pandas(self) -> Any:
        """Return the figures as a pandas frame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """Return the figures as a polars frame."""
        import polars

        return polars.from_arrow(self.to_arrow())

    def __repr__(self) -> str:
        heads = [*self.keys, "estimate", "low", "high", "naive"]
        lines = []
        for row in self:
            labels = ["(missing)" if value is None else value for value in row.keys.values()]
            lines.append([*labels, *map(_shown, (row.estimate, row.low, row.high, row.naive))])
        widths = [max(len(line[i]) for line in [heads, *lines]) for i in range(len(heads))]
        texts = [self.title]
        for line in [heads, *lines]:
            cells = [
                f"{text:<{width}}" if i < len(self.keys) else f"{text:>{width}}"
                for i, (text, width) in enumerate(zip(line, widths, strict=True))
            ]
            texts.append(("  " + "  ".join(cells)).rstrip())
        return "\n".join([*texts, *(f"  note: {note}" for note in self.notes)])


def _shown(number: float) -> str:
    """Return a figure in four digits, a whole number in full."""
    if math.isnan(number):
        return "-"
    if math.isinf(number):
        return "∞" if number > 0 else "-∞"
    if abs(number) >= 1000 or number == int(number):
        return f"{number:,.0f}"
    return f"{number:.4g}"

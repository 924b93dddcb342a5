"""What a person needs to choose the parameters of a principle: meaning, range, and the range that suits a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Table
from sfumato.errors import SfumatoError
from sfumato.exact import as_fraction, as_parameter
from sfumato.parameters import ParameterRange
from sfumato.principles.description import describe
from sfumato.principles.principle import Principle
from sfumato.principles.view import View

_STEPS = 100
"""About how many steps a control has."""

_DISTANCES, _FROM = 2000, 20
"""Values to which, and from which, distances are computed where the values are no numbers."""


@dataclass(frozen=True)
class ParameterControl:
    """One parameter of a principle: its meaning, the values that it may have, and from where to where a control should go.

    Made by `parameter_controls`.
    """

    name: str
    meaning: str
    """What it means, in a sentence."""
    range: ParameterRange
    required: bool
    """Whether it has no default."""
    default: Any = None
    """The default as a config states it; None if it has none."""
    low: Fraction | None = None
    """Where a control should begin; None if the parameter is no number, or nothing is known about its scale."""
    high: Fraction | None = None
    """Where a control should end: no more than the table allows."""
    step: Fraction | None = None
    """The distance of two neighbouring positions of a control: 1, 2 or 5 times a power of ten."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON; numbers as a config states them."""
        return {
            "name": self.name,
            "meaning": self.meaning,
            "kind": self.range.kind,
            "unit": self.range.unit,
            "stricter": self.range.stricter,
            "choices": list(self.range.choices),
            "required": self.required,
            "default": self.default,
            **{key: as_parameter(getattr(self, key)) for key in ("low", "high", "step")},
        }


def parameter_controls(
    kind: type[Principle], table: Table | None = None, on: tuple[str, ...] | None = None
) -> tuple[ParameterControl, ...]:
    """Return the parameters of a principle but `on`, in their order, for a person who chooses them.

    `table`: a table whose people, rows and sensitive values limit the controls; `on`: its sensitive columns, those of the
    schema by default. Without a table, distances and variances have no scale, and their `low` and `high` are None.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> pay = sf.Table(pa.table({"age": [30, 31, 50], "pay": [10, 20, 50]}), sf.Schema(["age"], ["pay"]))
    >>> for control in parameter_controls(sf.Dissimilarity, pay)[:3]:
    ...     print(control.name, control.low, control.high, control.step, control.range.stricter)
    epsilon 0 10 1 higher
    delta 1/10 1 1/100 higher
    k 1 3 1 higher
    >>> parameter_controls(sf.KAnonymity)[0].meaning
    'the smallest number of people in a group.'
    """
    meanings = describe(kind).parameters
    scale = None if table is None else _Scale(table, on)
    controls = []
    declared_fields: tuple[Field[Any], ...] = fields(kind) if is_dataclass(kind) else ()
    for field in declared_fields:
        if field.name not in kind.ranges:
            continue
        declared = kind.ranges[field.name]
        required = field.default is MISSING and field.default_factory is MISSING
        low, high = (None, None) if declared.usual is None else _ends(declared, scale)
        step = None
        if low is not None and high is not None:
            step = _step(high - low, _unit(declared, scale))
            high = low + ceil((high - low) / step) * step  # a whole number of steps
        controls.append(
            ParameterControl(
                field.name,
                meanings.get(field.name, ""),
                declared,
                required,
                None if required else as_parameter(field.default),
                low if step is None or not declared.above else max(low or Fraction(0), step),
                high,
                step,
            )
        )
    return tuple(controls)


class _Scale:
    """The largest values that the parameters of a unit can have on a table, measured once."""

    def __init__(self, table: Table, on: tuple[str, ...] | None) -> None:
        self.view = View(table, on).as_one_group()

    def largest(self, unit: str | None) -> Fraction | None:
        """Return the largest value of a unit; None if the unit does not depend on the table, or it cannot be measured."""
        measured: dict[str, Callable[[View], Fraction | None]] = {
            "people": lambda view: Fraction(view.groups.population),
            "rows": lambda view: Fraction(view.table.rows),
            "values": lambda view: Fraction(len(view.attribute)),
            "distance": _largest_distance,
            "variance": _variance,
        }
        try:
            return measured[unit](self.view) if unit in measured else None
        except SfumatoError:  # no sensitive column, or one of another kind: the principle itself reports it
            return None


def _ends(declared: ParameterRange, scale: _Scale | None) -> tuple[Fraction | None, Fraction | None]:
    """Return where a control of a parameter begins and ends."""
    assert declared.usual is not None
    low, high = map(as_fraction, declared.usual)
    largest = None if scale is None else scale.largest(declared.unit)
    if declared.unit in ("distance", "variance"):
        return (None, None) if not largest else (low * largest, high * largest)
    if largest is not None:
        high = min(high, largest)
        low = min(low, high)
    return low, high


def _unit(declared: ParameterRange, scale: _Scale | None) -> Fraction:
    """Return the smallest step that makes a difference; 0 if every step does."""
    if declared.kind == "whole":
        return Fraction(1)
    column = scale.view.attribute.columns[0] if declared.unit == "distance" and scale is not None else None
    return Fraction(0) if column is None or column.numbers is None else column.numbers.unit


def _step(width: Fraction, unit: Fraction) -> Fraction:
    """Return about a hundredth of a width that a person would count in: 1, 2 or 5 times a power of ten."""
    wanted = max(width / _STEPS, unit)
    if not wanted:
        return Fraction(1)
    power = Fraction(1)
    while power > wanted:
        power /= 10
    while power * 10 <= wanted:
        power *= 10
    return next(power * factor for factor in (1, 2, 5, 10) if power * factor >= wanted)


def _largest_distance(view: View) -> Fraction:
    """Return how far values are apart: of numbers the range of the middle nine tenths of the rows, else the largest."""
    column = view.attribute.columns[0]
    if len(view.attribute.columns) == 1 and column.numbers is not None and len(column.numbers):
        numbers, counts = _numbers(view)
        reached = np.cumsum(counts) / counts.sum()
        ends = [int(numbers[np.searchsorted(reached, share)]) for share in (0.05, 0.95)]
        return (ends[1] - ends[0] or int(numbers[-1]) - int(numbers[0])) * column.numbers.unit
    some = np.unique(np.linspace(0, len(view.attribute) - 1, _DISTANCES).astype(np.int64))
    apart = view.distance.bind(view.attribute).distances(some[:: max(len(some) // _FROM, 1)], some)
    finite = apart[np.isfinite(apart)]
    return as_fraction(f"{finite.max(initial=0):.6g}")


def _variance(view: View) -> Fraction | None:
    """Return the variance of the numbers of a table, to six digits."""
    column = view.attribute.single("a variance")
    if column.numbers is None or not len(column.numbers):
        return None
    integers, counts = _numbers(view)
    numbers = np.asarray(integers, float) * float(column.numbers.unit)
    mean = np.average(numbers, weights=counts)
    return as_fraction(f"{np.average((numbers - mean) ** 2, weights=counts):.6g}")


def _numbers(view: View) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the numbers of a column that occur, ascending, in its unit, and how many rows have each."""
    column = view.attribute.columns[0]
    assert column.numbers is not None
    codes = view.attribute.parts[:, 0]
    present = codes < column.size  # the code after the last value is that of missing values
    return column.numbers.integers[codes[present]], view.attribute.counts[present]

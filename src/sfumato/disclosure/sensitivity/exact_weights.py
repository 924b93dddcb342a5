"""Weights as exact numbers: one per record, for an attribute, or for several together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.schema import Kind, Schema
from sfumato.data.table import Table
from sfumato.disclosure.matching.matching import Rule
from sfumato.errors import CellError, ParameterError, SfumatoError
from sfumato.exact import as_fraction, nearest_float

Weight = Fraction | float
"""At least 0; the only float is infinity."""

_MOST = Fraction(10) ** 100
"""A larger finite weight is a mistake, and its sums leave the range of floats."""


def as_weight(value: Any, key: str) -> Weight:
    """Parse a weight: a number that is at least 0, or "inf".

    >>> as_weight("0.5", "weights.age"), as_weight("inf", "weights.age")
    (Fraction(1, 2), inf)
    """
    if isinstance(value, str) and value.strip() == "inf":
        return math.inf
    if not isinstance(value, str) and _is_infinite(value):
        return math.inf
    weight = as_fraction(value, key)
    if weight < 0:
        raise ParameterError(
            f"{key} = {value!r} is negative", remedy="Pass a weight that is at least 0.", key=key, value=value
        )
    if weight > _MOST:
        raise ParameterError(
            f"{key} = {value!r} is too large to compute with",
            remedy='Pass a smaller weight, or "inf" if the value must not be disclosed where anybody can be identified.',
            key=key,
            value=value,
        )
    return weight


def _is_infinite(value: Any) -> bool:
    try:
        return math.isinf(value) and value > 0
    except (TypeError, OverflowError):
        return False


@dataclass(frozen=True, eq=False)
class RecordWeights:
    """A weight for every record: that of record i is `weights[of_record[i]]`.

    >>> each = RecordWeights((Fraction(1), Fraction(3)), np.array([1, 0, 1]))
    >>> each.times(Fraction(1, 2)).floats().tolist()
    [1.5, 0.5, 1.5]
    """

    weights: tuple[Weight, ...]
    of_record: NDArray[np.int64]

    @classmethod
    def constant(cls, weight: Weight, records: int) -> RecordWeights:
        """The same weight for every record."""
        return cls((weight,), np.zeros(records, np.int64))

    @classmethod
    def read(cls, source: str | Sequence[Weight], table: Table, key: str) -> RecordWeights:
        """Read the weights from a column of the table, or from a sequence with one weight per record."""
        if isinstance(source, str):
            return cls._of_column(source, table, key)
        if len(source) != table.rows:
            raise ParameterError(
                f"{key} has {len(source)} weights for {table.rows} records",
                remedy="Pass one weight per record, in their order, or the name of the column with the weights.",
                key=key,
            )
        position: dict[Weight, int] = {}
        of_record = [position.setdefault(weight, len(position)) for weight in source]
        return cls(tuple(position), np.array(of_record, np.int64))

    @classmethod
    def _of_column(cls, name: str, table: Table, key: str) -> RecordWeights:
        # as text, whatever its type: a numeric column cannot contain "inf"
        column = replace(table, schema=Schema(kinds={name: Kind.TEXT}, missing=table.schema.missing)).column(name)
        occurring, first, of_record = np.unique(column.codes, return_index=True, return_inverse=True)
        weights = []
        for code, row in zip(occurring.tolist(), first.tolist(), strict=True):
            value = column.value(code)
            try:
                weights.append(as_weight(value, key))
            except SfumatoError as error:
                raise CellError(
                    "the weight of this record is missing" if value is None else error.problem,
                    remedy=error.remedy,
                    file=table.source,
                    column=name,
                    row=row + 1,
                    value=value,
                ) from error
        return cls(tuple(weights), of_record.reshape(-1))

    def times(self, factor: Weight) -> RecordWeights:
        """Multiply each weight by a factor, where 0·∞ is 0."""
        return RecordWeights(tuple(_product(weight, factor) for weight in self.weights), self.of_record)

    def by(self, other: RecordWeights) -> RecordWeights:
        """Multiply the weights of the same records, where 0·∞ is 0.

        >>> one = RecordWeights((Fraction(2), math.inf), np.array([0, 1]))
        >>> one.by(RecordWeights.constant(Fraction(3), 2)).floats().tolist()
        [6.0, inf]
        """
        number = self.of_record * len(other.weights) + other.of_record
        occurring, of_record = np.unique(number, return_inverse=True)
        both = (divmod(each, len(other.weights)) for each in occurring.tolist())
        return RecordWeights(tuple(_product(self.weights[i], other.weights[j]) for i, j in both), of_record.reshape(-1))

    def floats(self) -> NDArray[np.float64]:
        """The weights of all records, each as the nearest float."""
        lookup = [nearest_float(weight) if isinstance(weight, Fraction) else weight for weight in self.weights]
        return np.array(lookup, np.float64)[self.of_record]


def _product(one: Weight, other: Weight) -> Weight:
    return Fraction(0) if one == 0 or other == 0 else one * other


@dataclass(frozen=True, eq=False)
class ExactSensitivity:
    """Φ of every record without rounding: `totals[i]` times the unit, or e to the power of that if `exponential`."""

    totals: list[int]
    unit: Fraction
    infinite: NDArray[np.bool_]
    """The records whose Φ is infinite; their totals mean nothing."""
    exponential: bool = False

    @classmethod
    def of(cls, weights: Sequence[Weight]) -> ExactSensitivity:
        """Wrap one number per record.

        >>> exact = ExactSensitivity.of([Fraction(1, 2), Fraction(1, 3), math.inf])
        >>> exact.totals, exact.unit, exact.infinite.tolist()
        ([3, 2, 0], Fraction(1, 6), [False, False, True])
        """
        unit = _unit(weights)
        return cls(_whole(weights, unit), unit, np.array([not isinstance(weight, Fraction) for weight in weights], bool))


def exact_total(parts: Mapping[tuple[int, ...], RecordWeights], rule: Rule, exponential: bool = False) -> ExactSensitivity:
    """Add up the weights of what is disclosed: a part counts where all its attributes are disclosed.

    >>> parts = {(0,): RecordWeights.constant(Fraction(1, 2), 2), (0, 1): RecordWeights.constant(Fraction(3), 2)}
    >>> exact_total(parts, np.array([[True, True], [True, False]])).totals
    [7, 1]
    """
    unit = _unit([weight for part in parts.values() for weight in part.weights])
    lookups = {place: _whole(part.weights, unit) for place, part in parts.items()}
    largest = sum(max(lookup) for lookup in lookups.values())
    kind: Any = np.int64 if largest < 2**62 else object
    sums, infinite = np.zeros(len(rule), kind), np.zeros(len(rule), bool)
    for place, part in parts.items():
        shown = rule[:, list(place)].all(axis=1)
        sums += np.where(shown, np.array(lookups[place], kind)[part.of_record], 0)
        unbounded = np.array([not isinstance(weight, Fraction) for weight in part.weights], bool)
        infinite |= shown & unbounded[part.of_record]
    return ExactSensitivity(sums.tolist(), unit, infinite, exponential)


def _unit(weights: Sequence[Weight]) -> Fraction:
    """The largest 1/d of which all finite weights are multiples."""
    return Fraction(1, math.lcm(*{weight.denominator for weight in weights if isinstance(weight, Fraction)}))


def _whole(weights: Sequence[Weight], unit: Fraction) -> list[int]:
    """The finite weights in units; 0 for the infinite ones."""
    return [int(weight / unit) if isinstance(weight, Fraction) else 0 for weight in weights]


def present(table: Table, attributes: Sequence[str]) -> Rule:
    """Which values the records have: what could be disclosed of each.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> present(Table(pa.table({"age": [30, None]}), Schema()), ["age"]).tolist()
    [[True], [False]]
    """
    columns = [table.column(name) for name in attributes]
    return np.column_stack([column.codes != column.size for column in columns])

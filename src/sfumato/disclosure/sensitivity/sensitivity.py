"""Sensitivity Φ: the harm if what is disclosed of a record is tied to its individual (Lebanon et al. 2006, Definition 7)."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Table, unknown_column
from sfumato.disclosure.matching.matching import Rule
from sfumato.disclosure.sensitivity.exact_weights import (
    ExactSensitivity,
    RecordWeights,
    Weight,
    as_weight,
    exact_total,
    present,
)
from sfumato.disclosure.sensitivity.sensitivity_weights import SensitivityWeights
from sfumato.errors import ColumnError, ParameterError, SfumatoError
from sfumato.exact import Number, as_fraction, as_parameter, nearest_float
from sfumato.user_code import load_function

_LARGEST_POWER = 640
"""e to the power of this is a float, and so is the sum over all records of any table, with room to spare."""
_LARGEST_SHARE = 1_000_000
"""The largest harm of a false identification, as a share of Φ, so that losses stay in the range of floats."""


class Sensitivity(ABC):
    """The harm if what is disclosed of a record is tied to its individual: a number that is at least 0, or infinity."""

    name: ClassVar[str]
    false_identification: Number = 0
    """The harm if the attacker names another individual, as a share of Φ: 1 is as much as if the right one is named."""

    @abstractmethod
    def weights_of(self, table: Table, attributes: Sequence[str], identity: str | None) -> SensitivityWeights:
        """Φ as arrays, for the records of a table."""

    @abstractmethod
    def exactly(self, table: Table, attributes: Sequence[str], identity: str | None, rule: Rule) -> ExactSensitivity:
        """Φ of every record under a rule, without rounding."""

    def columns(self) -> tuple[str, ...]:
        """The columns of the table that contain weights; these are not attributes."""
        return ()

    def parameters(self) -> dict[str, Any]:
        """The parameters as a config contains them; only those that were given."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        if not self.false_identification:
            values.pop("false_identification", None)
        return {key: _plain(value) for key, value in values.items() if value is not None and value != {}}

    def to_dict(self) -> dict[str, Any]:
        """The kind and the parameters as plain data."""
        return {"kind": self.name, **self.parameters()}


@dataclass(frozen=True)
class _Weighted(Sensitivity):
    weights: Mapping[str, Number] | None = None
    _: KW_ONLY
    default: Number = 1
    records: str | Sequence[Number] | None = None
    cells: Mapping[str, str | Sequence[Number]] | None = None
    pairs: Mapping[tuple[str, str], Number] | Sequence[Sequence[Any]] | None = None
    triples: Mapping[tuple[str, str, str], Number] | Sequence[Sequence[Any]] | None = None
    false_identification: Number = 0

    form: ClassVar[Literal["sum", "product"]]

    def __post_init__(self) -> None:
        weights = _mapping(self.weights, "weights")
        cells = _mapping(self.cells, "cells")
        duplicates = sorted(weights.keys() & cells.keys())
        if duplicates:
            raise ParameterError(
                f"{duplicates[0]!r} has a weight in weights and another in cells",
                remedy="Name the attribute in one of the two.",
                key=f"cells.{duplicates[0]}",
            )
        normal: dict[str, Any] = {
            "weights": {name: as_weight(weight, f"weights.{name}") for name, weight in weights.items()},
            "default": as_weight(self.default, "default"),
            "records": None if self.records is None else _each(self.records, "records"),
            "cells": {name: _each(declared, f"cells.{name}") for name, declared in cells.items()},
            "pairs": _together(self.pairs, 2, "pairs"),
            "triples": _together(self.triples, 3, "triples"),
            "false_identification": _share(self.false_identification),
        }
        for name, value in normal.items():
            object.__setattr__(self, name, value)

    def columns(self) -> tuple[str, ...]:
        declared = [self.records, *(self.cells or {}).values()]
        return tuple(dict.fromkeys(name for name in declared if isinstance(name, str)))

    def parameters(self) -> dict[str, Any]:
        parameters = super().parameters()
        for key in ("pairs", "triples"):
            if key in parameters:
                parameters[key] = [[*names, weight] for names, weight in parameters[key].items()]
        return parameters

    def weights_of(self, table: Table, attributes: Sequence[str], identity: str | None) -> SensitivityWeights:
        del identity  # weights are given by record, not by identity
        parts = self.parts(table, attributes)
        cells = np.column_stack([parts[j,].floats() for j in range(len(attributes))])
        pairs = np.zeros((len(attributes), len(attributes)))
        for pair, weight in _weights(self.pairs).items():
            pairs[_places(pair, attributes)] = _float(weight)
        if self.form == "product":
            _refuse_large(exact_total(parts, present(table, attributes)))
        triples: dict[Any, float] = {
            _places(names, attributes): _float(weight) for names, weight in _weights(self.triples).items()
        }
        return SensitivityWeights(
            self.form,
            cells,
            pairs,
            self._of_records(table).floats(),
            triples=triples,
            false_identification=float(self.false_identification),
        )

    def exactly(self, table: Table, attributes: Sequence[str], identity: str | None, rule: Rule) -> ExactSensitivity:
        del identity
        return exact_total(self.parts(table, attributes), rule, exponential=self.form == "product")

    def _of_records(self, table: Table) -> RecordWeights:
        if self.records is None:
            return RecordWeights.constant(Fraction(1), table.rows)
        return RecordWeights.read(self.records, table, "records")  # type: ignore[arg-type]

    def parts(self, table: Table, attributes: Sequence[str]) -> dict[tuple[int, ...], RecordWeights]:
        """The weight of each attribute in each record, and of each pair and triple beyond that."""
        weights, cells, pairs, triples = (
            _weights(self.weights),
            self.cells or {},
            _weights(self.pairs),
            _weights(self.triples),
        )
        for key, declared_names in (("weights", [weights]), ("cells", [cells]), ("pairs", pairs), ("triples", triples)):
            for name in itertools.chain.from_iterable(declared_names):
                _refuse_unknown(name, key, table, attributes)
        records = self._of_records(table)
        parts: dict[tuple[int, ...], RecordWeights] = {}
        for j, name in enumerate(attributes):
            declared: Any = cells.get(name)
            if declared is None:
                parts[j,] = records.times(weights.get(name, self.default))  # type: ignore[arg-type]
            else:
                parts[j,] = RecordWeights.read(declared, table, f"cells.{name}")
        for names, weight in (*pairs.items(), *triples.items()):
            parts[_places(names, attributes)] = records.times(weight)
        return parts


@dataclass(frozen=True)
class Additive(_Weighted):
    """Φ is the sum of the weights of what is disclosed (Lebanon et al. 2006, Appendix: Φ₁ to Φ₄).

    - `weights`: the weight of attributes; `default` is the weight of all others (Φ₁).
    - `records`: the weight of a record, as a column or a sequence; each attribute's weight is multiplied by it (Φ₂, and
      the product form of Φ₃).
    - `cells`: the weight of an attribute in every record, as a column or a sequence, used as it is (Φ₃).
    - `pairs`: the weight of two attributes together, beyond each alone, times the record's weight (Φ₄).
    - `triples`: the weight of three attributes together, beyond each alone and each two of them, times the record's weight
      (Φ₄ with interactions of order 3).
    - `false_identification`: the harm if the attacker names another individual, as a share of Φ.

    Weights are exact and at least 0. "inf" forbids a disclosure wherever anybody can be identified; 0·∞ is 0. If nothing
    is disclosed, Φ is 0.

    >>> Additive({"income": 5}, pairs={("age", "zip"): "0.5"}).to_dict()
    {'kind': 'additive', 'weights': {'income': '5'}, 'default': '1', 'pairs': [['age', 'zip', '0.5']]}
    >>> Additive(triples={("age", "sex", "zip"): 3}).to_dict()
    {'kind': 'additive', 'default': '1', 'triples': [['age', 'sex', 'zip', '3']]}
    """

    name: ClassVar[str] = "additive"
    form: ClassVar[Literal["sum", "product"]] = "sum"


@dataclass(frozen=True)
class Multiplicative(_Weighted):
    """Φ is e to the power of the sum that `Additive` computes (Lebanon et al. 2006, Appendix: Φ₅).

    The parameters are those of `Additive`. Φ grows exponentially with a weight, whatever else is disclosed. If nothing is
    disclosed, Φ is 1, since e⁰ is 1.

    >>> Multiplicative({"income": 5}, default=0).name
    'multiplicative'
    """

    name: ClassVar[str] = "multiplicative"
    form: ClassVar[Literal["sum", "product"]] = "product"


@dataclass(frozen=True)
class ConstantSensitivity(Sensitivity):
    """Φ is the same whatever is disclosed: the risk is then that of identification alone, as in k-anonymity.

    `false_identification`: the harm if the attacker names another individual, as a share of Φ.

    >>> ConstantSensitivity(2).to_dict()
    {'kind': 'constant', 'value': '2'}
    """

    value: Number = 1
    _: KW_ONLY
    false_identification: Number = 0

    name: ClassVar[str] = "constant"

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", as_weight(self.value, "value"))
        object.__setattr__(self, "false_identification", _share(self.false_identification))

    def weights_of(self, table: Table, attributes: Sequence[str], identity: str | None) -> SensitivityWeights:
        """The value for every record."""
        del identity
        m = len(attributes)
        return SensitivityWeights(
            "constant",
            np.zeros((table.rows, m)),
            np.zeros((m, m)),
            np.full(table.rows, _float(self._weight)),
            false_identification=float(self.false_identification),
        )

    def exactly(self, table: Table, attributes: Sequence[str], identity: str | None, rule: Rule) -> ExactSensitivity:
        """The value for every record, without rounding."""
        del attributes, identity, rule
        return ExactSensitivity.of([self._weight] * table.rows)

    @property
    def _weight(self) -> Weight:
        return self.value  # type: ignore[return-value]


@dataclass(frozen=True)
class CustomSensitivity(Sensitivity):
    """Φ is a function of the user's own.

    It receives a mapping from each disclosed attribute to its value, as a Python object, and the record's identity (None
    if no identity is declared), and returns a number that is at least 0, or infinity. A float counts as the decimal that
    it prints as. A config names the function as "module:function". `false_identification`: the harm if the attacker names
    another individual, as a share of what the function returns.

    >>> phi = CustomSensitivity(lambda disclosed, identity: len(disclosed) ** 2)
    >>> phi.name
    'function'
    """

    function: Callable[[Mapping[str, Any], Any], Any] | str
    _: KW_ONLY
    false_identification: Number = 0

    name: ClassVar[str] = "function"

    def __post_init__(self) -> None:
        if not callable(self.function) and not isinstance(self.function, str):
            raise ParameterError(
                f"function = {self.function!r} is not a function",
                remedy='Pass a function of the disclosed values and the identity, or its name as "module:function".',
                key="function",
                value=self.function,
            )
        object.__setattr__(self, "false_identification", _share(self.false_identification))

    def parameters(self) -> dict[str, Any]:
        """The function's name; a function without a name in a module is described by its own."""
        by_name = isinstance(self.function, str)
        named = str(self.function) if by_name else getattr(self.function, "__qualname__", repr(self.function))
        return {**super().parameters(), "function": named}

    def weights_of(self, table: Table, attributes: Sequence[str], identity: str | None) -> SensitivityWeights:
        """Φ by calling the function."""
        sensitivity = self._record_sensitivity(table, attributes, identity)
        m = len(attributes)
        return SensitivityWeights(
            "function",
            np.zeros((table.rows, m)),
            np.zeros((m, m)),
            np.ones(table.rows),
            lambda record, shown: _float(sensitivity(record, shown)),
            false_identification=float(self.false_identification),
        )

    def exactly(self, table: Table, attributes: Sequence[str], identity: str | None, rule: Rule) -> ExactSensitivity:
        """The return values of the function, without rounding."""
        sensitivity = self._record_sensitivity(table, attributes, identity)
        return ExactSensitivity.of([sensitivity(record, shown) for record, shown in enumerate(rule)])

    def _record_sensitivity(
        self, table: Table, attributes: Sequence[str], identity: str | None
    ) -> Callable[[int, NDArray[np.bool_]], Weight]:
        function = load_function(self.function) if isinstance(self.function, str) else self.function
        columns = [table.column(name) for name in attributes]
        values = [[column.value(code) for code in range(column.size)] for column in columns]
        whose = None if identity is None else table.column(identity)

        def sensitivity(record: int, shown: NDArray[np.bool_]) -> Weight:
            codes = [int(column.codes[record]) for column in columns]
            disclosed = {
                name: values[j][codes[j]] for j, name in enumerate(attributes) if shown[j] and codes[j] < len(values[j])
            }
            who = None if whose is None else whose.value(int(whose.codes[record]))
            try:
                answer = function(disclosed, who)
            except Exception as error:
                raise _function_error(f"failed: {type(error).__name__}: {error}", disclosed, record, who, table) from error
            try:
                return as_weight(answer, "the sensitivity")
            except SfumatoError as error:
                raise _function_error(f"returned {answer!r}", disclosed, record, who, table) from error

        return sensitivity


SENSITIVITIES: dict[str, type[Sensitivity]] = {
    kind.name: kind for kind in (Additive, Multiplicative, ConstantSensitivity, CustomSensitivity)
}
"""Every sensitivity by its name."""


def _function_error(what: str, disclosed: Mapping[str, Any], record: int, who: Any, table: Table) -> ParameterError:
    named = "" if who is None else f" (identity {who!r})"
    return ParameterError(
        f"the sensitivity function {what} on {disclosed!r}{named}",
        remedy="It must return a number that is at least 0, or infinity, for any part of a record, the empty one included.",
        file=table.source,
        key="function",
        row=record + 1,
    )


def _mapping(declared: Any, key: str) -> dict[str, Any]:
    if declared is None:
        return {}
    if not isinstance(declared, Mapping):
        raise ParameterError(
            f"{key} = {declared!r} is not a mapping",
            remedy='Pass a mapping from attributes, such as {"income": 5}.',
            key=key,
            value=declared,
        )
    return {str(name): value for name, value in declared.items()}


def _share(declared: Any) -> Fraction:
    """The harm of a false identification as a share of Φ."""
    key = "false_identification"
    share = as_fraction(declared, key)
    if not 0 <= share <= _LARGEST_SHARE:
        raise ParameterError(
            f"{key} = {declared!r} is not a number from 0 to {_LARGEST_SHARE:,}",
            remedy="Pass the harm if the attacker names another individual, as a share of the sensitivity, such as 0.5.",
            key=key,
            value=declared,
        )
    return share


def _each(declared: Any, key: str) -> str | tuple[Weight, ...]:
    """The name of a column, or a weight for each record."""
    if isinstance(declared, str):
        return declared
    try:
        listed = list(declared)
    except TypeError as error:
        raise ParameterError(
            f"{key} = {declared!r} is not a column or a list of weights",
            remedy="Pass the name of the column with the weights, or one weight per record.",
            key=key,
            value=declared,
        ) from error
    return tuple(as_weight(weight, f"{key}[{place}]") for place, weight in enumerate(listed))


_EXAMPLES = {
    "pairs": 'Pass pairs such as {("age", "zip"): 2}, or in a config [["age", "zip", 2]]: each once, of two attributes.',
    "triples": 'Pass triples such as {("age", "sex", "zip"): 2}, or in a config [["age", "sex", "zip", 2]]: each once, of '
    "three attributes.",
}


def _together(declared: Any, order: int, key: str) -> dict[tuple[str, ...], Weight]:
    """Weights of so many attributes together, from a mapping, or from lists that end with the weight."""
    remedy = _EXAMPLES[key]
    weights: dict[tuple[str, ...], Weight] = {}
    known: set[frozenset[str]] = set()
    try:
        if isinstance(declared, Mapping):
            listed = list(declared.items())
        else:
            listed = [(tuple(names), weight) for *names, weight in declared or ()]
        for given, weight in listed:
            names = () if isinstance(given, str) else tuple(map(str, given))
            if len(names) != order or len(set(names)) != order or frozenset(names) in known:
                problem = f"{given!r} is not a {key[:-1]}, or occurs twice"
                raise ParameterError(problem, remedy=remedy, key=key, value=given)
            known.add(frozenset(names))
            weights[names] = as_weight(weight, f"{key}.{','.join(names)}")
    except (TypeError, ValueError) as error:
        raise ParameterError(f"invalid {key} = {declared!r}", remedy=remedy, key=key, value=declared) from error
    return weights


def _weights(declared: Any) -> dict[Any, Weight]:
    """Weights that were checked by the constructor."""
    return declared  # type: ignore[no-any-return]


def _places(names: Sequence[str], attributes: Sequence[str]) -> tuple[int, ...]:
    return tuple(sorted(attributes.index(name) for name in names))


def _refuse_unknown(name: str, key: str, table: Table, attributes: Sequence[str]) -> None:
    if name in attributes:
        return
    if name not in table.data.column_names:
        raise unknown_column(name, table.data.column_names, table.source)
    raise ColumnError(
        f"{key} names a column that is not an attribute",
        remedy=f"The attributes are: {', '.join(map(repr, attributes))}.",
        file=table.source,
        key=key,
        column=name,
    )


def _refuse_large(totals: ExactSensitivity) -> None:
    most = max(totals.totals) * totals.unit
    if most > _LARGEST_POWER:
        row = totals.totals.index(max(totals.totals)) + 1
        raise ParameterError(
            f"the weights of row {row} add up to {float(most):g}, and e to the power of that is too large to compute with",
            remedy=f"Scale the weights so that those of a record add up to {_LARGEST_POWER} at most.",
            key="weights",
            row=row,
            value=most,
        )


def _float(weight: Weight) -> float:
    return nearest_float(weight) if isinstance(weight, Fraction) else weight


def _plain(value: Any) -> Any:
    """Parameters as a config contains them: exact numbers as they are written."""
    if isinstance(value, float) and math.isinf(value):
        return "inf"
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, tuple) else as_parameter(value)

"""Checks for principles, methods and distances of your own: each raises an AssertionError that says what is wrong.

Call them in the tests of a plug-in. The built-in classes pass the same checks. They are necessary, not sufficient: random
small tables show many mistakes, and prove nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import FrozenInstanceError, fields
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.anonymization import Grouping, Method, Task
from sfumato.data.groups import Groups
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.distances import Distance
from sfumato.errors import ParameterError
from sfumato.exact import as_fraction
from sfumato.principles import KAnonymity, Measurement, Principle, View, attributes_of, describe

_ROWS = 12
_TRIALS = 40


def check_principle(principle: Principle, schema: Schema | None = None, values: Sequence[Any] = (1, 2, 3, 5, 8)) -> None:
    """Check a principle with its capabilities on random small tables.

    `values`: sensitive values to draw from. `schema`: that of a table with the columns "q" (a quasi-identifier) and "s"
    (sensitive), if the principle needs more than the default, such as a distance. Choose parameters that some groups of a
    few rows satisfy and some do not.

    >>> from sfumato.principles import DistinctLDiversity
    >>> check_principle(DistinctLDiversity(2))
    """
    kind = type(principle)
    _check_frozen(principle)
    _require(isinstance(kind.name, str), f"{kind.__name__}.name must be a text")
    _require(kind.name == principle.name, "the name must not depend on the parameters: a release records it")
    _require(kind(**principle.parameters()) == principle, "a release records parameters(): they must rebuild the principle")
    _require(describe(kind).definition, f"{kind.__name__} needs a docstring: explanations and reports show it")
    _require(not kind.absorbing or kind.monotone, "an absorbing principle is monotone")
    declared = Schema(["q"], ["s"]) if schema is None else schema
    stricter = list(_stricter(principle))
    verdicts: list[bool] = []
    for trial in range(_TRIALS):
        draw = np.random.default_rng(trial)
        pool = values[: int(draw.integers(1, len(values) + 1))]
        secrets = [pool[i] for i in draw.integers(0, len(pool), _ROWS)]
        of_row = np.unique(draw.integers(0, int(draw.integers(1, 5)), _ROWS), return_inverse=True)[1].astype(np.int64)
        table = Table(pa.table({"q": of_row, "s": secrets}), declared)
        for names in attributes_of(principle, declared):
            view = View(table, names)
            verdicts += _check_on(principle, view, draw)
            for name, other in stricter if (principle.implied_k or 1) < _ROWS else ():
                worse = other.measure(view).group_holds & ~principle.measure(view).group_holds
                _require(not worse.any(), f"{name} is declared to get stricter, and {other.label} holds where it did not")
    _require(any(verdicts), f"{principle.label} never held: choose parameters that small groups can satisfy")


def _stricter(principle: Principle) -> Iterator[tuple[str, Principle]]:
    """Check the declared ranges of a principle; yield it with each parameter set to a stricter number."""
    kind, parameters = type(principle), principle.parameters()
    names = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    for name, declared in kind.ranges.items():
        _require(name in names, f"the range of {name!r} is declared, and there is no such parameter")
        _require(name in describe(kind).parameters, f"the docstring does not say what the parameter {name!r} means")
        if declared.stricter is None:
            continue
        _require(declared.usual is not None, f"the range of {name!r} does not say which values are usual")
        for end in (declared.least, declared.most):
            outside = None if end is None else as_fraction(end) + (-1 if end is declared.least else 1)
            _require(outside is None or not _accepts(kind, parameters, name, outside), f"{name} = {outside} is accepted")
        low, high = as_fraction(declared.least), declared.most
        _require(_accepts(kind, parameters, name, low) is not declared.above, f"{name} = {low}: see its declared range")
        _require(high is None or _accepts(kind, parameters, name, as_fraction(high)), f"{name} = {high} is refused")
        value = as_fraction(parameters[name])
        further = [value + 1, value + 2] if declared.stricter == "higher" else [value / 2, value - 1]
        for number in further:
            stricter = int(number) if declared.kind == "whole" else number
            if declared.allows(number) and _accepts(kind, parameters, name, number):
                yield name, kind(**parameters | {name: stricter})


def _accepts(kind: type[Principle], parameters: Mapping[str, Any], name: str, number: Fraction) -> bool:
    value = int(number) if kind.ranges[name].kind == "whole" else number
    try:
        kind(**{**parameters, name: value})
    except ParameterError:
        return False
    return True


def _check_on(principle: Principle, view: View, draw: np.random.Generator) -> list[bool]:
    """Check a principle on one table; return its verdicts."""
    measurement = principle.measure(view)
    _check_measurement(principle, measurement, view.groups.count)
    holds = measurement.group_holds
    shuffled = draw.permutation(_ROWS)
    table = Table(view.table.data.take(pa.array(shuffled)), view.table.schema)
    again = principle.measure(View(table, view.sensitive)).group_holds
    _require((again == holds).all(), "the verdict depends on the order of the rows")
    for one in range(1, view.groups.count):
        union = np.where(view.groups.of_row == one, 0, view.groups.of_row)
        merged = principle.measure(view.regrouped(_partition(view.table, union))).group_holds[0]
        if principle.monotone and holds[0] and holds[one]:
            _require(merged, f"{principle.label} is declared monotone, and a union of two groups that satisfy it does not")
        if principle.absorbing and (holds[0] or holds[one]):
            _require(merged, f"{principle.label} is declared absorbing, and a union with a group that satisfies it does not")
    if not principle.relative:
        first = view.table.data.filter(pa.array(view.groups.of_row == 0))
        if first.num_rows >= (principle.implied_k or 1):
            alone = principle.measure(View(Table(first, view.table.schema), view.sensitive)).group_holds[0]
            _require(alone == holds[0], f"{principle.label} is declared not relative, and a verdict depends on other rows")
    if principle.histogram_only:
        blind = view.regrouped(_GroupsWithoutRows(view.groups))
        if view.sensitive:
            blind.histogram = view.histogram
        _require((principle.measure(blind).group_holds == holds).all(), "the verdict differs without the rows")
    if principle.implied_k is not None:
        small = view.groups.heads < principle.implied_k
        _require(not (holds & small).any(), f"a group of fewer than implied_k = {principle.implied_k} satisfies it")
        if principle.size_only:
            _require((holds == ~small).all(), "size_only is declared, and the size alone does not decide")
    as_dissimilarity = principle.as_dissimilarity()
    if as_dissimilarity is not None:
        _require((as_dissimilarity.measure(view).group_holds == holds).all(), "as_dissimilarity() is not equivalent")
    _check_certificate(principle, view)
    return [bool(verdict) for verdict in holds]


def _check_measurement(principle: Principle, measurement: Any, groups: int) -> None:
    _require(isinstance(measurement, Measurement), f"measure() must return a Measurement, not {measurement!r}")
    _require(measurement.parts, "a Measurement needs at least one Part")
    for part in measurement.parts:
        _require(part.holds.shape == (groups,), f"part {part.name!r} of {principle.label} must have one verdict per group")
        _require(len(part.floats()) == groups, f"part {part.name!r} of {principle.label} must have one level per group")


def _check_certificate(principle: Principle, view: View) -> None:
    """Check that a certificate is right: no partition of a few rows satisfies what it rules out."""
    few = Table(view.table.data.slice(0, 5), view.table.schema)
    part = View(few, view.sensitive).as_one_group()
    if principle.certificate(part) is None or (principle.implied_k or 1) > few.rows:
        return
    for of_row in _partitions(few.rows):
        holds = principle.measure(part.regrouped(_partition(few, of_row))).holds
        _require(not holds, f"certificate() rules out {principle.label}, and the groups {of_row.tolist()} satisfy it")


def check_method(method: Method, principles: Sequence[Principle] = (KAnonymity(2),)) -> None:
    """Check a method: it partitions all rows, and does so again for the same task and seed.

    `principles`: requirements that it serves; the sensitive column is "pay", a number.

    >>> from sfumato.anonymization.methods import Mondrian
    >>> check_method(Mondrian())
    """
    kind = type(method)
    _require(isinstance(kind.name, str), f"{kind.__name__}.name must be a text")
    if hasattr(kind, "__dataclass_fields__"):
        _require(kind(**method.parameters()) == method, "a release records parameters(): they must rebuild the method")
    for rows in (4, 25):
        draw = np.random.default_rng(rows)
        columns = {"age": draw.integers(20, 60, rows), "town": draw.choice(["a", "b", "c"], rows), "pay": np.arange(rows)}
        tasks = [Task(Table(pa.table(columns), Schema(["age", "town"], ["pay"])), tuple(principles)) for _ in range(2)]
        grouping = method.group(tasks[0], seed=1)
        _require(isinstance(grouping, Grouping), f"group() must return a Grouping, not {grouping!r}")
        of_row = np.asarray(grouping.of_row)
        _require(of_row.shape == (rows,), "of_row must have one group number per row")
        _require(set(of_row.tolist()) == set(range(grouping.count)), "groups must be numbered from 0 without gaps")
        again = method.group(tasks[1], seed=1)
        _require((again.of_row == of_row).all(), "the same task and seed must give the same groups")


def check_distance(
    distance: Distance, columns: Mapping[str, Sequence[Any]] | None = None, schema: Schema | None = None
) -> None:
    """Check a distance on some values: it is symmetric, 0 from a value to itself, and says the same in every form.

    `columns`: the sensitive columns, by name; a column of numbers by default. `schema`: theirs, if more than their names
    must be declared.

    >>> from sfumato.distances import Absolute
    >>> check_distance(Absolute())
    """
    _check_frozen(distance)
    data = pa.table(dict(columns or {"s": [1, 2, 4, 8, 8]}))
    table = Table(data, Schema(sensitive=data.column_names) if schema is None else schema)
    bound = distance.bind(table.attribute(table.schema.sensitive_columns()))
    everyone = np.arange(len(bound.attribute))
    apart = bound.distances(everyone, everyone)
    _require(apart.shape == (len(everyone), len(everyone)), "distances() must have one number per pair")
    _require((apart == apart.T).all(), "the distance is not symmetric")
    _require((apart.diagonal() == 0).all(), "the distance from a value to itself is not 0")
    _require((apart >= 0).all(), "a distance is negative")
    if distance.is_metric:
        detour = apart[:, :, None] + apart[None, :, :]
        _require((detour >= apart[:, None, :] - 1e-9).all(), "is_metric is declared, and the triangle inequality fails")
    finite = np.unique(apart[np.isfinite(apart)])
    for epsilon in [Fraction(0), *(Fraction((a + b) / 2) for a, b in pairwise(finite))]:
        near = bound.near(everyone, everyone, epsilon)
        if epsilon:  # half-way between two distances, so that rounding cannot matter
            _require((near == (apart <= float(epsilon))).all(), f"near() and distances() differ at ε = {float(epsilon)}")
        _require((near == near.T).all(), "near() is not symmetric")
        windows = bound.windows(epsilon)
        if windows is not None:
            rank = windows.rank
            within = (windows.low[rank][:, None] <= rank) & (rank < windows.high[rank][:, None])
            _require((within == near).all(), f"windows() and near() differ at ε = {float(epsilon)}")


def _require(condition: Any, message: str) -> None:
    """Raise an AssertionError unless a condition holds; unlike `assert`, also if Python runs with -O."""
    if not condition:
        raise AssertionError(message)


def _check_frozen(value: Any) -> None:
    """Check that a value is a frozen dataclass: results are cached by it."""
    _require(hasattr(type(value), "__dataclass_fields__"), f"{type(value).__name__} must be a dataclass")
    for field in fields(value):
        try:
            setattr(value, field.name, None)
        except FrozenInstanceError:
            continue
        raise AssertionError(f"{type(value).__name__} must be a frozen dataclass")


def _partition(table: Table, of_row: NDArray[np.int64]) -> Groups:
    numbers = np.unique(of_row, return_inverse=True)[1].astype(np.int64)
    return Groups.partition(table, numbers, int(numbers.max()) + 1)


def _partitions(rows: int) -> Iterator[NDArray[np.int64]]:
    """Yield all partitions of a few rows, as restricted growth strings."""
    numbers = np.zeros(rows, np.int64)

    def extend(row: int, used: int) -> Iterator[NDArray[np.int64]]:
        if row == rows:
            yield numbers.copy()
            return
        for group in range(used + 1):
            numbers[row] = group
            yield from extend(row + 1, max(used, group + 1))

    yield from extend(1, 1)


class _GroupsWithoutRows(Groups):
    """Groups whose sizes are known, and whose rows are not."""

    def __init__(self, groups: Groups) -> None:
        known = {"count": groups.count, "population": groups.population, "units": groups.units, "sizes": groups.sizes}
        self.__dict__.update(known)

    @property
    def of_row(self) -> NDArray[np.int64]:
        """Not known."""
        raise AssertionError("histogram_only is declared, and measure() reads rows")

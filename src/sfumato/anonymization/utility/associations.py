"""Associations: how strongly a column depends on a quasi-identifier in the original, and as the release suggests it.

A group publishes one cell for all its rows, so the values that the cell covers look alike: differences between them are
flattened although every cell may be narrow. Attenuation measures that, pair by pair.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.recoding import Domain
from sfumato.anonymization.utility.cell_cover import Cover
from sfumato.data.column import Column
from sfumato.data.groups import Groups
from sfumato.data.schema import Kind
from sfumato.data.table import Table
from sfumato.exact import nearest_float

Floats = NDArray[np.float64]

_CLASSES = 40
"""Columns with more values are measured in classes: the tenths of an order, or the most frequent values and the rest."""

_TENTHS = 10

_CHANCE = 2
"""An association below this many times what chance alone produces has no attenuation: there is nothing to flatten."""

UNMEASURED = (Kind.SET, Kind.TEXT, Kind.VECTOR)
"""Kinds of outcomes whose association is not measured."""


@dataclass(frozen=True)
class Association:
    """How strongly an outcome depends on a quasi-identifier, from 0 to 1, in the original and in the release.

    The strength is Cramér's V, or for an outcome of numbers the correlation ratio η: the root of the share of the outcome's
    variance that lies between the values of the column. In the release, all values that a cell covers are equally likely,
    which is how an analyst reads it. Rows that were suppressed do not count.

    >>> Association("disposition", "readmitted", 0.2, 0.05).attenuation
    0.75
    """

    column: str
    outcome: str
    original: float
    released: float
    chance: float = 0.0
    """The strength that is expected of independent columns of this size in the original."""

    @property
    def attenuation(self) -> float | None:
        """1 − released/original: 0 if the strength is kept, 1 if it is lost; None if the original one may be chance."""
        return 1 - self.released / self.original if self.original**2 > _CHANCE * self.chance**2 else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {**vars(self), "attenuation": self.attenuation}


def associations(original: Table, released: Table, groups: Groups, covers: Sequence[Cover]) -> tuple[Association, ...]:
    """Return the association of every quasi-identifier with every sensitive column, and of the pairs to preserve.

    `original`: with its schema. `released`: a table with the sensitive columns of the rows in `groups`. `covers`: what the
    cell of each group covers, for each quasi-identifier. Sets, free texts and vectors are not measured. Cost: linear in the
    rows, for each pair.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> from sfumato.anonymization.recoding import recode
    >>> rows = {"end": ["died", "died", "home", "home"] * 5, "again": ["no", "no", "no", "yes"] * 5}
    >>> table = sf.Table(pa.table(rows), sf.Schema(["end"], ["again"]))
    >>> mixed = Groups(np.array([0, 1, 0, 1] * 5), 2, 20)
    >>> covers = [Cover.of(column) for column in recode(table, mixed).columns]
    >>> [(one.column, one.outcome, round(one.attenuation, 2)) for one in associations(table, table, mixed, covers)]
    [('end', 'again', 1.0)]
    """
    schema = original.schema
    pairs = [(name, other) for name in schema.quasi_identifiers for other in schema.sensitive_columns()]
    for one, other in schema.preserve:
        pairs += [pair for pair in ((one, other), (other, one)) if pair[0] in schema.quasi_identifiers]
    by_name = {cover.domain.name: cover for cover in covers}
    found = []
    for name, other in dict.fromkeys(pairs):
        if other in by_name:
            outcome = _recoded_outcome(by_name[other], groups)
        elif original.column(other).kind in UNMEASURED:
            continue
        else:
            outcome = _exact_outcome(original.column(other), released.column(other))
        found.append(_association(by_name[name], groups, outcome))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class _Outcome:
    """An outcome before and after: the class or number of each row of the original, and what the release says."""

    name: str
    original: NDArray[Any]
    """For each row of the original its class; its number if `classes` is 0."""
    classes: int
    released: NDArray[Any]
    """For each published row the number of its cell, or its number if `classes` is 0."""
    cells: Floats
    """For each cell of the outcome the share of each class."""


def _exact_outcome(original: Column, released: Column) -> _Outcome:
    """Return an outcome that is published as it is."""
    if is_measured_as_number(original):
        return _Outcome(original.name, outcome_numbers(original), 0, outcome_numbers(released), np.zeros((0, 0)))
    classes, count = code_classes(original)
    by_label = {original.label(code): int(classes[code]) for code in range(original.domain)}
    same = np.array([by_label.get(released.label(code), count - 1) for code in range(released.domain)], np.int64)
    return _Outcome(original.name, classes[original.codes], count, same[released.codes], np.eye(count))


def _recoded_outcome(cover: Cover, groups: Groups) -> _Outcome:
    """Return an outcome that is a quasi-identifier itself."""
    classes, count = domain_classes(cover.domain)
    true = classes[cover.domain.place[cover.domain.column.codes]]
    return _Outcome(cover.domain.name, true, count, cover.cell[groups.of_row], _cell_weights(cover, classes, count))


def _association(cover: Cover, groups: Groups, outcome: _Outcome) -> Association:
    domain = cover.domain
    classes, count = domain_classes(domain)
    own = classes[domain.place[domain.column.codes]]
    weights = _cell_weights(cover, classes, count)
    of_row = cover.cell[groups.of_row]
    if not outcome.classes:
        original = correlation_ratio(own, outcome.original, count)
        released = _spread_ratio(weights, of_row, outcome.released)
        return Association(domain.name, outcome.name, original, released, _chance(own, 2))
    joint = np.zeros((count, outcome.classes))
    np.add.at(joint, (own, outcome.original), 1.0)
    # how many rows of each cell have each class, then of each class of the column
    cells = [np.bincount(of_row, weights=share[outcome.released], minlength=len(weights)) for share in outcome.cells.T]
    estimated = weights.T @ np.column_stack(cells)
    return Association(domain.name, outcome.name, cramers_v(joint), cramers_v(estimated, joint), _chance(own, joint))


def domain_classes(domain: Domain) -> tuple[NDArray[np.int64], int]:
    """Return the class of each place of a domain, that of missing values last, and the number of classes."""
    counts = np.bincount(domain.place[domain.column.codes], minlength=domain.size + 1)
    ordered = domain.column.kind is Kind.ORDINAL or domain.column.numbers is not None
    return _classes(counts[:-1], ordered)


def code_classes(column: Column) -> tuple[NDArray[np.int64], int]:
    """Return the class of each code of a column, that of missing values last, and the number of classes."""
    counts = np.bincount(column.codes, minlength=column.size + 1)
    return _classes(counts[: column.size], column.kind is Kind.ORDINAL or column.numbers is not None)


def _classes(counts: NDArray[np.int64], ordered: bool) -> tuple[NDArray[np.int64], int]:
    if len(counts) <= _CLASSES:
        classes = np.arange(len(counts))
    elif ordered:
        before = np.cumsum(counts) - counts
        classes = np.minimum(before * _TENTHS // max(1, int(counts.sum())), _TENTHS - 1)
    else:
        classes = np.full(len(counts), _CLASSES - 1)
        frequent = np.argsort(-counts, kind="stable")[: _CLASSES - 1]
        classes[np.sort(frequent)] = np.arange(_CLASSES - 1)
    classes = np.append(classes, classes.max(initial=-1) + 1)
    return classes, int(classes[-1]) + 1


def is_measured_as_number(column: Column) -> bool:
    """Return whether an outcome is measured by its mean: it has more than two numbers, and none is missing."""
    return column.numbers is not None and column.size > 2 and not column.has_missing


def outcome_numbers(column: Column) -> Floats:
    """Return the number of each row, as floats."""
    assert column.numbers is not None
    return np.array([nearest_float(column.numbers[code]) for code in range(column.size)])[column.codes]


def _cell_weights(cover: Cover, classes: NDArray[np.int64], count: int) -> Floats:
    """Return for each cell the share of each class among the places that it covers."""
    # how many places of each class come before a place
    before = np.zeros((len(classes) + 1, count))
    before[1:] = np.cumsum(np.eye(count)[classes], axis=0)
    inside = before[cover.stop] - before[cover.first]
    return np.asarray(np.add.reduceat(inside, cover.offsets[:-1]) / cover.sizes[:, None])


def cramers_v(joint: Floats, reference: Floats | None = None) -> float:
    """Return Cramér's V of a table of counts; `reference`: the table whose number of rows and columns count.

    >>> cramers_v(np.array([[10.0, 0.0], [0.0, 10.0]])), cramers_v(np.array([[5.0, 5.0], [5.0, 5.0]]))
    (1.0, 0.0)
    """
    total = joint.sum()
    expected = np.outer(joint.sum(axis=1), joint.sum(axis=0)) / total
    terms = np.divide((joint - expected) ** 2, expected, out=np.zeros_like(joint), where=expected > 0)
    shape = joint if reference is None else reference
    least = min(int((shape.sum(axis=axis) > 0).sum()) for axis in (0, 1)) - 1
    return math.sqrt(math.fsum(terms.ravel().tolist()) / total / least) if least > 0 else 0.0


def correlation_ratio(classes: NDArray[np.int64], numbers: Floats, count: int) -> float:
    """Return η: the root of the share of the variance of numbers that lies between classes.

    >>> correlation_ratio(np.array([0, 0, 1, 1]), np.array([1.0, 1.0, 3.0, 3.0]), 2)
    1.0
    """
    return _spread_ratio(np.eye(count), classes, numbers)


def _spread_ratio(weights: Floats, of_row: NDArray[np.int64], numbers: Floats) -> float:
    """Return η if a row counts in each class by the weights of its cell."""
    deviations = numbers - numbers.mean()
    rows = weights.T @ np.bincount(of_row, minlength=len(weights))
    sums = weights.T @ np.bincount(of_row, weights=deviations, minlength=len(weights))
    between = np.divide(sums**2, rows, out=np.zeros_like(sums), where=rows > 0)
    total = math.fsum((deviations**2).tolist())
    return math.sqrt(math.fsum(between.tolist()) / total) if total > 0 else 0.0


def _chance(own: NDArray[np.int64], joint: Floats | int) -> float:
    """Return the root of the mean square of the strength, if the columns were independent: about √((r − 1)/rows)."""
    present = len(np.unique(own)) - 1
    if isinstance(joint, int):
        return math.sqrt(present / len(own))
    others = int((joint.sum(axis=0) > 0).sum()) - 1
    return math.sqrt(max(present, others) / len(own)) if present and others else 1.0

"""Lines along which values with different outcomes are apart, so that a search does not mix them without need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.recoding import Domain
from sfumato.anonymization.utility.associations import (
    UNMEASURED,
    code_classes,
    domain_classes,
    is_measured_as_number,
    outcome_numbers,
)
from sfumato.data.column import Column
from sfumato.data.table import Table
from sfumato.errors import ColumnError

Floats = NDArray[np.float64]

STRENGTH = 2.0
"""The weight of a preserved association, in columns of weight 1."""

_MOST_LINES = 4
"""An outcome of more than two classes has a line for each of those that differ most."""

_LEAST_ROWS = 20
"""Means of fewer rows are drawn halfway, and more, to the mean of the table: those of a few people would be their secret."""


@dataclass(frozen=True, eq=False)
class AssociationLine:
    """The outcome that is usual for each value of a quasi-identifier, on a line from 0 to 1.

    A search adds, to the cost of a cell, `weight` times how far apart on this line the values are that it covers.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> from sfumato.anonymization.recoding import domains_of
    >>> rows = {"end": ["died"] * 60 + ["home"] * 60, "again": ["no"] * 60 + ["no", "yes"] * 30}
    >>> table = sf.Table(pa.table(rows), sf.Schema(["end"], ["again"], preserve=[["again", "end"]]))
    >>> (line,) = association_lines(table, domains_of(table), 1)
    >>> line.outcome.tolist(), line.weight
    ([0.0, 1.0, nan], 2.0)
    """

    column: str
    """The quasi-identifier."""
    outcome: Floats
    """The position of each place of its domain, that of missing values last; not a number if no row is there."""
    weight: float

    @staticmethod
    def ranges(nodes: NDArray[Any], outcome: Floats) -> Floats:
        """Return how far apart the outcomes under each node are; values that no row has do not count."""
        low, high = np.full(int(nodes.max()) + 1, np.inf), np.full(int(nodes.max()) + 1, -np.inf)
        np.fmin.at(low, nodes, outcome)
        np.fmax.at(high, nodes, outcome)
        return np.asarray(np.subtract(high, low, out=np.zeros(len(low)), where=high > low))

    def steps(self) -> Floats:
        """Return for each place how much the outcome has changed up to it, along the domain, over the change in all."""
        used = ~np.isnan(self.outcome[:-1])
        changes = np.zeros(len(self.outcome) - 1)
        changes[used] = np.abs(np.diff(self.outcome[:-1][used], prepend=self.outcome[:-1][used][:1]))
        total = changes.sum()
        return np.asarray(np.cumsum(changes) / total) if total > 0 else changes


def association_lines(table: Table, domains: Sequence[Domain], k: int) -> list[AssociationLine]:
    """Return the lines of all associations that the schema preserves; `k`: the size of the groups that are required.

    A line depends on the outcomes of all rows with a value taken together, never on those of a single row: means over few
    rows are drawn to the mean of the table.
    """
    lines = []
    by_name = {domain.name: domain for domain in domains}
    for pair in table.schema.preserve:
        for name, other in (pair, pair[::-1]):
            if name in by_name:
                outcome = by_name[other] if other in by_name else table.column(other)
                lines += _lines(by_name[name], outcome, max(k, _LEAST_ROWS))
    return lines


def _lines(domain: Domain, outcome: Domain | Column, prior: int) -> list[AssociationLine]:
    classes, count = domain_classes(domain)
    places = domain.place[domain.column.codes]
    own = classes[places]
    sizes = np.bincount(own, minlength=count)
    means = [(mean, variance) for mean, variance in _means(own, sizes, outcome, prior) if np.ptp(mean[sizes > 0]) > 0]
    means = sorted(means, key=lambda one: -one[1])[:_MOST_LINES]
    total = sum(variance for _, variance in means)
    occupied = np.bincount(places, minlength=domain.size + 1) > 0
    lines = []
    for mean, variance in means:
        lowest = mean[sizes > 0].min()
        position = np.round((mean - lowest) / np.ptp(mean[sizes > 0]), 6)
        outcomes = np.where(occupied, position[classes], np.nan)
        lines.append(AssociationLine(domain.name, outcomes, STRENGTH * variance / total))
    return lines


def _means(
    own: NDArray[np.int64], sizes: NDArray[np.int64], outcome: Domain | Column, prior: int
) -> Iterator[tuple[Floats, float]]:
    """Yield, for each class of an outcome, its share in each class of a column, and how much these shares vary.

    For an outcome of numbers there is one such mean. Of two classes one is enough: the shares of both add up to 1.
    """
    column = outcome.column if isinstance(outcome, Domain) else outcome
    if isinstance(outcome, Column) and is_measured_as_number(outcome):
        values = [outcome_numbers(outcome)]
    else:
        if isinstance(outcome, Domain):
            theirs, others = domain_classes(outcome)
            of_row = theirs[outcome.place[column.codes]]
        else:
            theirs, others = code_classes(outcome)
            of_row = theirs[column.codes]
        present = np.flatnonzero(np.bincount(of_row, minlength=others))
        values = [(of_row == each).astype(float) for each in (present if len(present) > 2 else present[1:])]
    for value in values:
        overall = value.mean()
        sums = np.bincount(own, weights=value, minlength=len(sizes))
        mean = (sums + prior * overall) / (sizes + prior)
        scale = overall * (1 - overall) if value.max() <= 1 else float(value.var())
        yield mean, float((sizes * (mean - overall) ** 2).sum() / len(own) / (scale or 1.0))


def check_preserved(table: Table) -> None:
    """Raise an error for a pair of columns whose association cannot be measured."""
    for name in dict.fromkeys(name for pair in table.schema.preserve for name in pair):
        kind = table.column(name).kind
        if kind in UNMEASURED:
            raise ColumnError(
                f"preserve names a column of kind {kind.value!r}, whose association with another is not measured",
                remedy="Name columns of numbers, dates, categories or an order.",
                key="preserve",
                column=name,
                value=kind.value,
            )

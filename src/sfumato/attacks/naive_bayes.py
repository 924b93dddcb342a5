"""A naive Bayes classifier of secrets: how often each value of each quasi-identifier occurs together with each secret."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.attacked_release import Integers
from sfumato.data.column import Column
from sfumato.data.schema import Kind
from sfumato.data.table import Table
from sfumato.data.value_parts import value_parts

Floats = NDArray[np.float64]

_ORDERED_VALUES = 100
"""Numbers, dates and ordinal values with more distinct values than this are divided into as many parts of equal size."""

_CELLS = 1 << 22
"""The most pairs of a value of a quasi-identifier and a secret; if there are more, values are taken together."""


@dataclass(frozen=True, eq=False)
class Features:
    """The quasi-identifiers of people as features; a missing value is a value like any other.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = sf.Table(pa.table({"age": [20, 30, 30], "sex": ["f", "m", None]}), sf.Schema(["age", "sex"]))
    >>> features = Features.of(people, secrets=2)
    >>> features.sizes, features.cells.tolist()
    ((2, 2), [[0, 6], [2, 8], [2, 10]])
    """

    cells: Integers
    """`cells[person, feature] + secret` is the place in a table of counts."""
    sizes: tuple[int, ...]
    """For each feature the number of its values, that of missing ones not included."""
    secrets: int
    """The number of secrets."""
    coarsened: tuple[str, ...] = ()
    """The columns whose values were taken together."""

    @classmethod
    def of(cls, people: Table, secrets: int) -> Features:
        """Return the features of all quasi-identifiers of a table."""
        names = people.schema.quasi_identifiers
        most = max(2, _CELLS // max(1, secrets * len(names)))
        cells = np.empty((people.rows, len(names)), np.int64)
        sizes, coarsened, base = [], [], 0
        for feature, name in enumerate(names):
            column = people.column(name)
            codes, size = _coarse(column, most)
            if size < column.size:
                coarsened.append(name)
            cells[:, feature] = base + codes * secrets
            sizes.append(size)
            base += (size + 1) * secrets
        return cls(cells, tuple(sizes), secrets, tuple(coarsened))

    @property
    def width(self) -> int:
        """The number of places of a table of counts."""
        return sum(size + 1 for size in self.sizes) * self.secrets

    @cached_property
    def _starts(self) -> Integers:
        return np.concatenate([[0], np.cumsum([size + 1 for size in self.sizes])])

    @cached_property
    def _shares(self) -> Floats:
        """For each value of each feature the share of people who have it."""
        values = (self.cells // self.secrets).ravel()
        return np.bincount(values, minlength=int(self._starts[-1])) / max(1, len(self.cells))

    def counted(self, rows: Integers, truth: Integers) -> Floats:
        """Return how often each value occurs together with each secret among some people with known secrets."""
        counts = np.zeros(self.width)
        for feature in range(self.cells.shape[1]):
            counts += np.bincount(self.cells[rows, feature] + truth, minlength=self.width)
        return counts

    def logarithms(self, counts: Floats, smoothing: float) -> Floats:
        """Return the logarithms of the probabilities of values given secrets, from counts.

        To each count `smoothing` is added on average, but to those of frequent values more: so a secret about which nothing
        is known has the distribution of everybody. The same number for all would make rare secrets look different, which
        rounds of learning would amplify. So would errors of rounding, and what is below 1e-9 is dropped.
        """
        table = counts.reshape(-1, self.secrets).copy()
        for first, end in zip(self._starts[:-1], self._starts[1:], strict=True):
            table[first:end] += smoothing * (end - first) * self._shares[first:end, None]
            table[first:end] /= table[first:end].sum(axis=0)
        return np.asarray(np.round(np.log(np.maximum(table, 1e-300)), 9).ravel())


def _coarse(column: Column, most: int) -> tuple[Integers, int]:
    """Return a code for each row, and the number of codes; the one after the last is that of missing values."""
    if column.kind in (Kind.NUMERIC, Kind.DATE, Kind.ORDINAL):
        most = min(most, _ORDERED_VALUES)
    part, size = value_parts(column, most)
    return part[column.codes], size

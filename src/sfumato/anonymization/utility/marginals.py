"""Marginals: the distribution of each quasi-identifier in the original, and as the release suggests it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.anonymization.recoding import Domain, Recoding
from sfumato.anonymization.utility.cell_cover import Cover
from sfumato.data.column import MISSING


@dataclass(frozen=True, eq=False)
class Marginal:
    """The distribution of one quasi-identifier over the places of its domain; the last place is for missing values.

    `true` is the share of rows at each place. `estimated` is the share that a reader of the release expects if all places
    that a cell covers (see `Cover`) are equally likely. `distance` is the total variation distance between the two: the
    share of rows that would have to move.

    Sensitive columns are published unchanged: their marginals change only through suppressed rows.

    >>> import pyarrow as pa
    >>> from sfumato.data.groups import Groups
    >>> from sfumato.anonymization.recoding import recode
    >>> from sfumato.data.schema import Schema
    >>> from sfumato.data.table import Table
    >>> table = Table(pa.table({"age": [20, 20, 30, 40]}), Schema(["age"]))
    >>> (age,) = marginals(recode(table, Groups(np.array([0, 0, 0, 1]), 2, 4)))
    >>> age.true.tolist(), age.estimated.tolist(), age.distance
    ([0.5, 0.25, 0.25, 0.0], [0.375, 0.375, 0.25, 0.0], 0.125)
    """

    domain: Domain
    true: NDArray[np.float64]
    estimated: NDArray[np.float64]

    @property
    def name(self) -> str:
        """The column's name."""
        return self.domain.name

    @property
    def distance(self) -> float:
        """The total variation distance: half the sum over places of the absolute difference; from 0 to 1."""
        return math.fsum(np.abs(self.true - self.estimated).tolist()) / 2

    def table(self) -> pa.Table:
        """Return one row per place: its value, the true share and the estimated share."""
        size = self.domain.size
        labels = [self.domain.label(place) for place in range(size)]
        if self.domain.column.has_missing:
            labels.append(MISSING)
        shown = len(labels)
        return pa.table({"value": labels, "true": self.true[:shown], "estimated": self.estimated[:shown]})

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON: only the distance, because there may be as many places as rows."""
        return {"column": self.name, "distance": self.distance}


def marginals(recoding: Recoding) -> tuple[Marginal, ...]:
    """Return the marginal of each quasi-identifier, in the schema's order. Cost: linear in rows, groups and places.

    >>> from sfumato.anonymization.utility.utility_example import example
    >>> [(marginal.name, marginal.distance) for marginal in marginals(example()[1])]
    [('age', 0.0), ('city', 0.0)]
    """
    return tuple(marginal_of(Cover.of(column), recoding.groups.sizes) for column in recoding.columns)


def marginal_of(cover: Cover, sizes: NDArray[np.int64]) -> Marginal:
    """Return the marginal of one quasi-identifier, from the cells of groups of these sizes.

    >>> from sfumato.anonymization.utility.utility_example import example
    >>> age = Cover.of(example()[1].columns[0])
    >>> marginal_of(age, np.array([2, 2])).estimated.tolist()
    [0.25, 0.25, 0.5, 0.0]
    """
    domain = cover.domain
    rows = int(sizes.sum())
    counts = domain.column.counts
    true = np.bincount(domain.place, counts, domain.size + 1) / counts.sum()
    # a cell with a single value counts at its place; the others spread their rows evenly over their places
    rows_of = np.bincount(cover.cell, weights=sizes, minlength=len(cover.sizes))
    single = cover.sizes == 1
    estimated = np.zeros(domain.size + 1)
    np.add.at(estimated, cover.first[cover.offsets[:-1][single]], rows_of[single])
    spread = np.repeat(np.where(single, 0.0, rows_of / cover.sizes), np.diff(cover.offsets))
    wide = spread > 0
    # a difference array: add where a stretch begins, subtract where it has ended, then accumulate. Places that no stretch
    # covers are set to 0 exactly, because the accumulated sum may differ from 0 by rounding.
    steps, open_stretches = np.zeros(domain.size + 2), np.zeros(domain.size + 2, np.int64)
    for ends, sign in ((cover.first[wide], 1), (cover.stop[wide], -1)):
        np.add.at(steps, ends, sign * spread[wide])
        np.add.at(open_stretches, ends, sign)
    estimated += np.where(np.cumsum(open_stretches) > 0, np.cumsum(steps), 0.0)[:-1]
    return Marginal(domain, true, estimated / rows)

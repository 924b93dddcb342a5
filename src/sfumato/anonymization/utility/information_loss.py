"""Information loss: how much of its domain a published cell leaves open.

The loss of one cell is its share (see `Domain.share`): the width of the interval over that of the domain for numbers, the
leaves under the published value over all leaves for categories, 0 for a single value, 1 for `*`. Every figure here is
derived from these shares. A suppressed row costs 1 in each of its cells. Sums are rounded once (`math.fsum`), so a figure
does not depend on their order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.recoding import ColumnRecoding, Recoding, RecodingKind
from sfumato.errors import ColumnError, ParameterError
from sfumato.exact import Number, as_fraction


@dataclass(frozen=True, eq=False)
class Loss:
    """The information loss of a release. Every figure but `group_mean` is from 0 (unchanged) to 1 (all cells are `*`).

    >>> from sfumato.anonymization.utility.utility_example import example
    >>> loss = Loss.of(example()[1])
    >>> loss.mean, loss.columns, loss.group_mean
    (0.3125, {'age': 0.125, 'city': 0.5}, 0.625)
    """

    mean: float
    """The mean share over rows and quasi-identifiers: see `mean_loss`."""
    columns: dict[str, float]
    """The mean share over rows for each quasi-identifier: see `column_losses`."""
    group_mean: float
    """The mean over groups of loss(G) of Wang & Liu (2010), from 0 to the number of columns: see `group_losses`."""
    ncp: float
    """The normalised certainty penalty: see `certainty_penalty`."""
    normalised: float
    """As `mean`, with another share for categories: see `normalised_loss`."""

    @classmethod
    def of(cls, recoding: Recoding, suppressed: int = 0, weights: Mapping[str, Number] | None = None) -> Loss:
        """Return every figure of information loss."""
        mean = mean_loss(recoding, suppressed)
        return cls(
            mean,
            column_losses(recoding, suppressed),
            _mean(group_losses(recoding), np.ones(recoding.groups.count), 0),
            certainty_penalty(recoding, weights, suppressed) if weights else mean,
            normalised_loss(recoding, suppressed),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "mean": self.mean,
            "columns": dict(self.columns),
            "group_mean": self.group_mean,
            "ncp": self.ncp,
            "normalised": self.normalised,
        }


def mean_loss(recoding: Recoding, suppressed: int = 0) -> float:
    """Return the mean share over rows and quasi-identifiers; 0 if there are no quasi-identifiers.

    >>> from sfumato.anonymization.utility.utility_example import example
    >>> mean_loss(example()[1]), mean_loss(example()[1], suppressed=1)
    (0.3125, 0.45)
    """
    return certainty_penalty(recoding, suppressed=suppressed)


def column_losses(recoding: Recoding, suppressed: int = 0) -> dict[str, float]:
    """Return, for each quasi-identifier, the mean share over rows.

    >>> from sfumato.anonymization.utility.utility_example import example
    >>> column_losses(example()[1])
    {'age': 0.125, 'city': 0.5}
    """
    sizes = recoding.groups.sizes
    return {column.domain.name: _mean(column.shares, sizes, suppressed) for column in recoding.columns}


def group_losses(recoding: Recoding) -> NDArray[np.float64]:
    """Return, for each group, the sum over quasi-identifiers of the share of its cell: loss(G) of Wang & Liu (2010), V.B.

    The paper ignores the size of groups because all its groups have one size. Otherwise the mean over groups is not the
    mean over rows.

    >>> from sfumato.anonymization.utility.utility_example import example
    >>> group_losses(example()[1]).tolist()
    [0.75, 0.5]
    """
    return np.array([math.fsum(shares) for shares in _by_group(recoding).tolist()])


def certainty_penalty(recoding: Recoding, weights: Mapping[str, Number] | None = None, suppressed: int = 0) -> float:
    """Return the normalised certainty penalty (NCP): the weighted mean share over rows and quasi-identifiers.

    Source: Xu et al. (2006), who sum the weighted shares over all rows. Here the sum is divided by rows × sum of weights, so
    that 1 means that all cells are `*`. With equal weights this is `mean_loss`. A column that `weights` does not name has
    the weight 1.

    >>> from sfumato.anonymization.utility.utility_example import example
    >>> certainty_penalty(example()[1]), certainty_penalty(example()[1], {"age": 3})
    (0.3125, 0.21875)
    """
    names = [column.domain.name for column in recoding.columns]
    by_name = _weights(names, weights or {})
    total = math.fsum(by_name.values())
    if not total:
        return 0.0
    sizes = recoding.groups.sizes
    rows = int(sizes.sum()) + _checked(suppressed)
    parts = [by_name[column.domain.name] * (column.shares * sizes) for column in recoding.columns]
    return math.fsum([*np.concatenate(parts).tolist(), suppressed * total]) / (rows * total)


def normalised_loss(recoding: Recoding, suppressed: int = 0) -> float:
    """Return the mean over rows and quasi-identifiers of (leaves − 1) / (leaves of the domain − 1).

    For numbers it is the width over the domain's width, as in `mean_loss`. A cell of two of three leaves costs a half
    instead of two thirds, and a cell `*` costs 1. Source: Iyengar (2002); anonymization tools such as ARX report a loss of
    this kind.

    >>> from sfumato.anonymization.utility.utility_example import example
    >>> round(normalised_loss(example()[1]), 4)  # ages 1/8 as in the mean loss; cities 1/3, not 1/2
    0.2292
    """
    sizes = recoding.groups.sizes
    losses = [_mean(_steps(column), sizes, suppressed) for column in recoding.columns]
    return math.fsum(losses) / len(losses) if losses else 0.0


def _steps(column: ColumnRecoding) -> NDArray[np.float64]:
    """Return, for each group, the loss of its cell, counted in leaves beyond the first."""
    domain, shares = column.domain, column.shares
    if domain.numeric:
        return shares
    total = domain.total if domain.recoding is RecodingKind.SET else domain.size
    leaves = np.rint(shares * total)
    return np.where(shares > 0, (leaves - 1) / (total - 1) if total > 1 else 1.0, 0.0)


def _by_group(recoding: Recoding) -> NDArray[np.float64]:
    """Return the share of the cell for each group and quasi-identifier."""
    shares = [column.shares for column in recoding.columns]
    return np.column_stack(shares) if shares else np.zeros((recoding.groups.count, 0))


def _mean(losses: NDArray[np.float64], sizes: NDArray[Any], suppressed: int) -> float:
    """Return the mean over rows of a loss per group; a suppressed row counts 1."""
    rows = int(sizes.sum()) + _checked(suppressed)
    return math.fsum([*(losses * sizes).tolist(), suppressed]) / rows


def _checked(suppressed: int) -> int:
    if suppressed < 0:
        raise ParameterError(
            f"invalid number of suppressed rows: {suppressed}", remedy="Write 0 or more.", key="suppressed", value=suppressed
        )
    return suppressed


def _weights(names: list[str], weights: Mapping[str, Number]) -> dict[str, float]:
    """Return the weight of each column; an unknown column or a negative weight is an error."""
    for name in weights:
        if name not in names:
            raise ColumnError(
                "a weight is given for a column that is not a quasi-identifier",
                remedy=f"The quasi-identifiers are: {', '.join(map(repr, names)) or 'none'}.",
                column=name,
            )
    exact = {name: as_fraction(weights.get(name, 1), "weight") for name in names}
    for name, weight in exact.items():
        if weight < 0:
            raise ParameterError(
                f"the weight of {name!r} is negative", remedy="Write 0 or more.", key="weights", value=weights[name]
            )
    return {name: float(weight) for name, weight in exact.items()}

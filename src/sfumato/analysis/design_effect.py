"""How much less the rows of a release say than independent rows would, because the rows of a group resemble each other.

The model takes rows as independent, given their values in the columns of the question. They are not: groups are made of
similar rows, which resemble each other beyond what the model sees. By Kish (1965) the variance of a figure is then
1 + (m - 1) ρ times as large, where m is the size of a group and ρ the correlation within groups. The columns that are
published unchanged show ρ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.analysis.table_draws import model_of

if TYPE_CHECKING:
    from sfumato.analysis.released_table import ReleasedTable

UNKNOWN = 0.3
"""The correlation within groups if no column is published unchanged: that of income in a census (Adult)."""

_MOST_VALUES = 50
"""Texts with more values are left out: hardly any two rows of a group would agree."""


def design_effect(table: ReleasedTable) -> float:
    """Return how many times larger the variance of a figure is than with independent rows.

    ρ is the largest correlation within groups of a sensitive column.
    """
    assert table.group_of_row is not None
    groups = table.group_of_row
    sizes = np.bincount(groups)
    found: list[float] = []
    if 1 < len(sizes) < len(groups):
        for column in table.columns.values():
            if column.role == "sensitive" and column.exact and not column.sets:
                found += [correlation_within(groups, values) for values in _values(table, column.name)]
    correlation = max(0.0, *found) if found else UNKNOWN
    size = float((sizes.astype(float) ** 2).sum() / len(groups))  # of the group of a row, on average
    return 1 + (size - 1) * correlation


def _values(table: ReleasedTable, name: str) -> list[NDArray[np.float64]]:
    """Return a column as numbers, one array; as an indicator for each value, if it has texts; nothing if it says nothing."""
    model = model_of(table.column(name))
    if model.unit is not None:
        numbers = np.array([np.nan if cell.low is None else float(cell.low) for cell in table.column(name).cells])
        known = numbers[model.of_row]
        return [np.where(np.isnan(known), np.nanmean(known), known)[:, None]] if np.isfinite(known).any() else []
    if not 1 < model.atoms <= _MOST_VALUES:
        return []
    return [np.eye(model.atoms)[model.member[model.member_at[model.of_row]]]]


def correlation_within(groups: NDArray[np.int64], values: NDArray[np.float64]) -> float:
    """Return the correlation of two rows of a group (analysis of variance), pooled over the columns of `values`.

    >>> values = np.array([[0.0], [0.0], [1.0], [1.0]])
    >>> correlation_within(np.array([0, 0, 1, 1]), values), correlation_within(np.array([0, 1, 0, 1]), values)
    (1.0, -1.0)
    """
    sizes, rows = np.bincount(groups), len(groups)
    means = np.stack([np.bincount(groups, column) for column in values.T], axis=1) / sizes[:, None]
    between = float((sizes[:, None] * (means - values.mean(axis=0)) ** 2).sum()) / (len(sizes) - 1)
    within = float(((values - means[groups]) ** 2).sum()) / (rows - len(sizes))
    size = (rows - float((sizes.astype(float) ** 2).sum()) / rows) / (len(sizes) - 1)
    total = between + (size - 1) * within
    return (between - within) / total if total > 0 else 0.0

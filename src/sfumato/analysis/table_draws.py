"""Draws of the values of a released table: the model of each column, and the exponents of those that are generalized."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.analysis.imputation import Draws, Imputer
from sfumato.analysis.model_column import BINS, Cuts, ModelColumn, number_column, text_column
from sfumato.analysis.released_column import ReleasedColumn
from sfumato.errors import ReleaseError

if TYPE_CHECKING:
    from sfumato.analysis.released_table import ReleasedTable

_AUXILIARY_BINS = 4
"""The atoms of a numeric column that helps to estimate an exponent."""

_EXPONENTS = 100
"""How many draws of an exponent are kept."""

_COMBINATIONS_PER_ROW = 0.05
"""The model of an exponent has at most this many combinations per row."""


def model_of(column: ReleasedColumn, cuts: Cuts = ((), ()), bins: int = BINS) -> ModelColumn:
    """Return a column as the model sees it."""
    if column.numeric:
        return number_column(column.name, column.cells, column.of_row, cuts, bins)
    return text_column(column.name, column.cells, column.of_row, column.order)


def draw_values(
    table: ReleasedTable, names: Sequence[str], count: int, seed: int, cuts: Mapping[str, Cuts] | None = None
) -> Draws:
    """Return draws of the values of some columns; `cuts`: numbers at which the atoms of a column must begin or end."""
    if table.group_of_row is None:
        raise ReleaseError(
            "there are no estimates from a withheld release: which cells are withheld depends on their values",
            remedy="Use the disclosed cells of to_arrow(), and say so.",
        )
    columns = [table.column(name) for name in dict.fromkeys(names)]
    models = [model_of(column, (cuts or {}).get(column.name, ((), ()))) for column in columns]
    gammas = {column.name: _exponents(table, column) for column in columns if not column.exact}
    return Imputer(models, table.group_of_row).draws(count, seed, gammas)


def _exponents(table: ReleasedTable, column: ReleasedColumn) -> NDArray[np.float64]:
    """Return draws of the exponent that says how the groups mix the values of a column; computed once per column.

    It is estimated from the columns that are published unchanged, as many as the rows can tell apart.
    """
    if column.name not in table.exponents:
        assert table.group_of_row is not None
        models = [model_of(column)]
        combinations = models[0].atoms
        for other in table.columns.values():
            if other.role == "sensitive" and other.exact:
                model = model_of(other, bins=_AUXILIARY_BINS)
                if model.atoms > 1 and combinations * model.atoms <= _COMBINATIONS_PER_ROW * len(table):
                    models.append(model)
                    combinations *= model.atoms
        imputer = Imputer(models, table.group_of_row)
        table.exponents[column.name] = imputer.gammas(_EXPONENTS, 0, table.method) if imputer.coarse else np.ones(1)
    return table.exponents[column.name]

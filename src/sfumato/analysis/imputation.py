"""Draw complete tables from a release: the values behind its cells, by a model that is estimated from the release itself.

The model: the rows of the original are independent draws from an unknown joint distribution of the columns in question
(saturated, with a flat Dirichlet prior of at most one half per combination). A group publishes the smallest cells that cover
it, so every member of a set occurs in its group, and both ends of an interval do. How the values of a group are made up
depends on the method that chose it: cuts mix a rare value into many groups with one row each, local search gathers the rows
that are left over. One exponent γ for each column describes this: within a cell a value has the probability of its share of
the table to the power of γ (1: as in the table; 0: all values equally often). γ has a prior that depends on the method, and
is estimated from the columns that are published unchanged. Given its true value, those are assumed not to depend on the cell
that a row was put in. Values and counts are drawn by a Gibbs sampler.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.analysis.model_column import Codes, ModelColumn
from sfumato.errors import ParameterError
from sfumato.kernels.cell_imputation import impute_sweep, make_up_likelihood

_COMBINATIONS = 1 << 22
"""The most combinations of atoms of a model."""

_GAMMAS = np.linspace(0, 1.25, 26)
"""The exponents that are considered."""

EXPONENT_PRIORS = {"mondrian": (1.0, 0.2), "lattice": (1.0, 0.2), "glaze": (0.35, 0.3), "xcolor": (0.35, 0.3)}
"""For each method the mean and the standard deviation of the exponent of a column of texts; flat for other methods."""

NUMBER_PRIOR = (0.35, 0.3)
"""The same for columns of numbers and dates, with any method.

A range is narrower than the column, and within it numbers are nearly even. An exponent of 1 reinforces itself: atoms that
happen to have more rows attract further rows.
"""

_TEMPER = 0.5
"""The power of the likelihood of an exponent: the rows of a group resemble each other, so they count as fewer."""

_LEARN_FROM = 4000
"""The most groups from which an exponent is estimated."""

_CHAINS = 10
_WARM_UP = 60
_THINNING = 4

_PRIOR = 0.02
"""The largest weight of the prior, as a share of the rows."""


@dataclass(frozen=True, eq=False)
class Draws:
    """Values of the rows, drawn several times: `atoms[column][draw]` for columns with generalized cells."""

    columns: dict[str, ModelColumn]
    exact: dict[str, Codes]
    """For each column whose cells stand for one atom each, the atom of each row."""
    entries: dict[str, NDArray[np.int32]]
    """For every other column, for each draw and row the entry of its cell."""
    count: int
    groups: Codes
    """The number of the group of each row."""
    seed: int

    def atoms(self, name: str, draw: int) -> Codes:
        """Return the atom of each row in a draw."""
        if name in self.exact:
            return self.exact[name]
        return np.asarray(self.columns[name].member[self.entries[name][draw]])

    def entry(self, name: str, draw: int) -> Codes:
        """Return for each row which member of its cell it is in a draw."""
        if name in self.exact:
            column = self.columns[name]
            return np.asarray(column.member_at[column.of_row])
        return np.asarray(self.entries[name][draw], np.int64)

    def numbers(self, name: str, draw: int) -> NDArray[np.float64]:
        """Return the numbers of a column in a draw; not a number where they are missing.

        A number is uniform within its atom and its cell, except that the ends of a range occur in each group.
        """
        column = self.columns[name]
        assert column.unit is not None
        random = np.random.default_rng([self.seed, draw, sum(map(ord, name))])
        entry = self.entry(name, draw)
        width = column.width[entry].astype(np.int64)
        offset = np.minimum((random.random(len(entry)) * width).astype(np.int64), width - 1)
        listed = column.list_at[entry] >= 0
        units = column.start[entry] + offset
        if listed.any():
            units[listed] = column.listed[column.list_at[entry][listed] + offset[listed]]
        ends = np.flatnonzero(column.has_ends[column.of_row])
        if len(ends):  # the lowest number of a group is the low end, and the highest the high end
            group = self.groups[ends]
            order = ends[np.lexsort((random.random(len(ends)), units[ends], group))]
            changes = np.flatnonzero(np.diff(self.groups[order])) + 1
            first, last = np.append(0, changes), np.append(changes, len(order)) - 1
            units[order[first]] = column.ends[column.of_row[order[first]], 0]
            units[order[last]] = column.ends[column.of_row[order[last]], 1]
        numbers = units * float(column.unit)
        if column.labels[-1] is None:
            numbers[column.member[entry] == column.atoms - 1] = np.nan
        return np.asarray(numbers)


class Imputer:
    """The sampler over the columns in question.

    `of_row`: the group of each row, from 0.
    """

    def __init__(self, columns: Sequence[ModelColumn], of_row: Codes) -> None:
        self.columns = list(columns)
        self.of_row = of_row
        self.combinations = int(np.prod([column.atoms for column in self.columns], dtype=object)) if columns else 1
        if self.combinations > _COMBINATIONS:
            sizes = ", ".join(f"{column.name} {column.atoms:,}" for column in self.columns)
            raise ParameterError(
                f"the columns have too many combinations of values for one model ({sizes})",
                remedy=f"Name fewer columns; at most {_COMBINATIONS:,} combinations.", key="columns",
            )  # fmt: skip
        self.rows = np.argsort(of_row, kind="stable")
        self.row_at = np.searchsorted(of_row[self.rows], np.arange(int(of_row.max()) + 2))
        self.first = self.rows[self.row_at[:-1]]
        self.prior = min(0.5, _PRIOR * len(of_row) / self.combinations)
        self.strides = np.cumprod([1, *(column.atoms for column in self.columns)])[:-1]
        self.coarse = [position for position, column in enumerate(self.columns) if (column.members > 1).any()]
        self.groups = {
            p: np.flatnonzero(self.columns[p].members[self.columns[p].of_row[self.first]] > 1) for p in self.coarse
        }

    def gammas(self, count: int, seed: int, method: str) -> NDArray[np.float64]:
        """Return draws of the exponent of the only column with generalized cells, given the other columns and the method."""
        (position,) = self.coarse
        prior = np.zeros(len(_GAMMAS))
        known = NUMBER_PRIOR if self.columns[position].unit is not None else EXPONENT_PRIORS.get(method)
        if known is not None:
            mean, deviation = known
            prior = -(((_GAMMAS - mean) / deviation) ** 2) / 2
        found = []
        for chain in range(_CHAINS):
            state = _Chain(self, np.random.default_rng([seed, chain]), {})
            for sweep in range(_WARM_UP + count // _CHAINS * _THINNING):
                if sweep % _THINNING == 0:
                    state.draw_gamma(position, prior)
                    if sweep >= _WARM_UP:
                        found.append(state.gamma[position])
                state.run(1)
        return np.array(found)

    def draws(self, count: int, seed: int, gammas: Mapping[str, NDArray[np.float64]]) -> Draws:
        """Return `count` draws, from several chains that start at random and are warmed up.

        `gammas`: draws of the exponent of each column with generalized cells. A chain has one of them throughout.
        """
        names = {position: self.columns[position].name for position in self.coarse}
        entries = {name: np.empty((count, len(self.of_row)), np.int32) for name in names.values()}
        exact = {
            column.name: column.member[column.member_at[column.of_row]]
            for position, column in enumerate(self.columns)
            if position not in self.coarse
        }
        chains = min(_CHAINS, count) if self.coarse else 0
        for chain in range(chains):
            state = _Chain(self, np.random.default_rng([seed, chain]), gammas)
            for draw in range(chain, count, chains):
                state.run(_WARM_UP if draw == chain else _THINNING)
                for position, name in names.items():
                    column = self.columns[position]
                    entries[name][draw] = column.member_at[column.of_row] + state.values[position]
        columns = {column.name: column for column in self.columns}
        return Draws(columns, exact, entries, count, self.of_row, seed)


class _Chain:
    """One run of the sampler: the current value of every row, and the counts that follow from them."""

    def __init__(self, model: Imputer, random: np.random.Generator, gammas: Mapping[str, NDArray[np.float64]]) -> None:
        self.model, self.random = model, random
        self.values = {position: self._start(model.columns[position], position) for position in model.coarse}
        self.gamma = {p: float(random.choice(gammas.get(model.columns[p].name, _GAMMAS))) for p in model.coarse}
        self.joint = np.zeros(len(model.of_row), np.int64)
        self.totals = {}
        for position, column in enumerate(model.columns):
            atom = column.member[column.member_at[column.of_row] + self.values.get(position, 0)]
            self.joint += atom * model.strides[position]
            self.totals[position] = np.bincount(atom, minlength=column.atoms).astype(float)
        self.counts = np.bincount(self.joint, minlength=model.combinations).astype(float)

    def _start(self, column: ModelColumn, position: int) -> Codes:
        """Return a member for each row, at random, such that the needed blocks occur in each group."""
        model, random = self.model, self.random
        members = column.members[column.of_row]
        values = np.minimum((random.random(len(members)) * members).astype(np.int64), members - 1)
        for group in model.groups[position].tolist():
            rows = random.permutation(model.rows[model.row_at[group] : model.row_at[group + 1]])
            cell = int(column.of_row[rows[0]])
            first, stop = int(column.member_at[cell]), int(column.member_at[cell + 1])
            blocks = random.permutation(int(column.blocks[cell]))[: min(int(column.needed[cell]), len(rows))]
            for row, block in zip(rows, blocks, strict=False):
                values[row] = random.choice(np.flatnonzero(column.block[first:stop] == block))
        return values

    def run(self, sweeps: int) -> None:
        """Draw every value again, this many times."""
        for _ in range(sweeps):
            for position in self.model.coarse:
                groups = self.model.groups[position]
                rows = int((self.model.row_at[groups + 1] - self.model.row_at[groups]).sum())
                impute_sweep(
                    self.random.random(3 * rows), groups, *self._cells(position), self.values[position], self.joint,
                    int(self.model.strides[position]), self.counts, self.totals[position], self.model.prior,
                    self.gamma[position],
                )  # fmt: skip

    def _cells(self, position: int) -> tuple[Any, Any, Any, Any, Any, Any, Any, Any, Any, Any]:
        """Return the arrays that describe the groups and the cells of a column, as the kernels take them."""
        model, column = self.model, self.model.columns[position]
        return (
            model.row_at, model.rows, column.of_row[model.first], column.member_at, column.member, column.width,
            column.block, column.blocks, column.needed, column.size,
        )  # fmt: skip

    def draw_gamma(self, position: int, prior: NDArray[np.float64]) -> None:
        """Draw the exponent of a column, given the other columns; the values of the column itself are summed over."""
        groups = self.model.groups[position]
        if len(groups) > _LEARN_FROM:
            groups = self.random.choice(groups, _LEARN_FROM, replace=False)
        likelihood = np.empty(len(_GAMMAS))
        make_up_likelihood(
            groups, *self._cells(position), self.joint, self.values[position], int(self.model.strides[position]),
            self.counts, self.totals[position], self.model.prior, _GAMMAS, likelihood,
        )  # fmt: skip
        logarithm = _TEMPER * likelihood + prior
        weights = np.exp(logarithm - logarithm.max())
        self.gamma[position] = float(self.random.choice(_GAMMAS, p=weights / weights.sum()))

"""Answer questions from draws: counts, rates, means and odds ratios with their intervals, and the naive figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.analysis.combination import combine
from sfumato.analysis.conditions import Categories, Condition, cuts_of
from sfumato.analysis.estimates import Estimates, EstimateSettings
from sfumato.analysis.imputation import Draws
from sfumato.analysis.model_column import ModelColumn
from sfumato.analysis.table_draws import draw_values
from sfumato.errors import ParameterError

if TYPE_CHECKING:
    from sfumato.analysis.released_table import ReleasedTable

Figures = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tabulation:
    """For each draw (or naively, as one draw) and category: rows, rows with the outcome, and sums of a number."""

    rows: Figures
    hits: Figures
    sums: Figures
    squares: Figures


@dataclass(frozen=True, eq=False)
class Question:
    """A question to a released table: by which columns, of which rows, about what."""

    table: ReleasedTable
    settings: EstimateSettings
    by: Sequence[str] = ()
    where: Sequence[Condition] = ()
    outcome: Sequence[Condition] = ()
    number: str | None = None
    """The column whose mean is asked for."""
    bands: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """The columns of the model, each once."""
        names = [*self.by, *(c.column for c in (*self.where, *self.outcome)), *([self.number] if self.number else [])]
        return list(dict.fromkeys(names))

    def draws(self) -> Draws:
        """Return the draws of the columns in question, with atoms that end where conditions and bands do."""
        conditions = [*self.where, *self.outcome]
        cuts = {name: cuts_of(name, conditions, self.bands) for name in self.columns}
        return draw_values(self.table, self.columns, self.settings.draws, self.settings.seed, cuts)

    def tabulate(self, draws: Draws) -> tuple[Tabulation, Tabulation, list[tuple[str | None, ...]]]:
        """Return what is counted in each draw, the same naively, and the categories."""
        categories = [Categories.of(draws.columns[name], self.bands.get(name)) for name in self.by]
        shape = [len(each.labels) for each in categories]
        total = int(np.prod(shape)) if shape else 1
        masks = {name: self._accepted(draws.columns[name], self.where) for name in self.columns}
        hits = {name: self._accepted(draws.columns[name], self.outcome) for name in self.columns}
        counted = [np.zeros((draws.count, total)) for _ in range(4)]
        for draw in range(draws.count):
            of_row = np.zeros(len(self.table), np.int64)
            chosen, hit = np.ones(len(of_row), bool), np.ones(len(of_row), bool)
            for name in self.columns:
                atoms = draws.atoms(name, draw)
                chosen &= masks[name][atoms]
                hit &= hits[name][atoms]
            for name, each, size in zip(self.by, categories, shape, strict=True):
                of_row = of_row * size + each.of_atom[draws.atoms(name, draw)]
            numbers = draws.numbers(self.number, draw) if self.number else np.zeros(len(of_row))
            chosen &= ~np.isnan(numbers)
            place, some, number = of_row[chosen], hit[chosen], numbers[chosen]
            weights = (None, some, number, number * number)
            for out, weight in zip(counted, weights, strict=True):
                out[draw] = np.bincount(place, weight, minlength=total)
        labels = [tuple(part) for part in _product([each.labels for each in categories])]
        return Tabulation(*counted), self._naive(draws, categories, masks, hits), labels

    @staticmethod
    def _accepted(column: ModelColumn, conditions: Sequence[Condition]) -> NDArray[np.bool_]:
        accepted = np.ones(column.atoms, bool)
        for condition in conditions:
            if condition.column == column.name:
                accepted &= condition.accepts(column)
        return accepted

    def _naive(
        self, draws: Draws, categories: Sequence[Categories], masks: Mapping[str, Any], hits: Mapping[str, Any]
    ) -> Tabulation:
        """Return the expected counts if all values of a cell are equally probable, column by column independently."""
        names = self.columns
        cells = np.stack([draws.columns[name].of_row for name in names]) if names else np.zeros((1, len(self.table)), int)
        distinct, counts = np.unique(cells, axis=1, return_counts=True)
        everything, outcome = counts[:, None].astype(float), counts[:, None].astype(float)
        sums = counts[:, None].astype(float)
        for name, of_cell in zip(names, distinct, strict=False):
            column = draws.columns[name]
            entry_weight = column.uniform * masks[name][column.member]
            one_hot = np.ones((column.atoms, 1))
            if name in self.by:
                category = categories[list(self.by).index(name)]
                one_hot = np.eye(len(category.labels))[category.of_atom]
            if name == self.number and column.labels[-1] is None:
                entry_weight = entry_weight * (column.member != column.atoms - 1)

            def shares(weight: Figures, one_hot: Figures = one_hot, column: ModelColumn = column) -> Figures:
                return np.asarray(np.add.reduceat(weight[:, None] * one_hot[column.member], column.member_at[:-1]))

            parts = shares(entry_weight), shares(entry_weight * hits[name][column.member])
            mean = np.nan_to_num(column.mids, nan=0.0)[:, None] if name == self.number else 1.0
            everything = _spread(everything, parts[0][of_cell])
            outcome = _spread(outcome, parts[1][of_cell])
            sums = _spread(sums, (parts[0] * mean)[of_cell])
        # columns are spread in their own order; figures are by `by`, which comes first among them
        figures = [part.sum(axis=0)[None, :] for part in (everything, outcome, sums)]
        return Tabulation(figures[0], figures[1], figures[2], np.zeros_like(figures[0]))

    def notes(self) -> tuple[str, ...]:
        """Return what a reader of the figures must know."""
        return self.table.notes


def _spread(so_far: Figures, of_column: Figures) -> Figures:
    return (so_far[:, :, None] * of_column[:, None, :]).reshape(len(so_far), -1)


def _product(lists: Sequence[Sequence[str | None]]) -> list[list[str | None]]:
    result: list[list[str | None]] = [[]]
    for labels in lists:
        result = [[*before, label] for before in result for label in labels]
    return result


def answer(question: Question, what: str, title: str, reference: str | None = None) -> Estimates:
    """Return the figures of a question: `what` is "count", "rate", "mean" or "odds ratio" (of `reference`)."""
    tabulated, naive, labels = question.tabulate(question.draws())
    settings = question.settings
    kept: NDArray[np.bool_] = np.asarray((tabulated.rows > 0).any(axis=0))
    more = math.sqrt(question.table.design_effect)
    if what == "odds ratio":
        at = _reference(reference, labels, tabulated.rows)
        kept[at] = False
        values, errors = _log_odds_ratio(tabulated, at, settings.target)
        spread = _log_odds_ratio(_with_wider_rates(tabulated, more), at, settings.target)[0]
        shown = _log_odds_ratio(naive, at, "table")[0]
    else:
        values, errors = _figures(tabulated, what, settings.target)
        spread = _wider(values, more)
        shown = _figures(naive, what, "table")[0]
    columns = [_interval(values[:, i], spread[:, i], errors[:, i], settings) for i in np.flatnonzero(kept)]
    figures = np.array(columns, float).reshape(-1, 3)
    points = shown[0, kept]
    if what in ("count", "rate") and settings.target == "table":
        figures = np.clip(figures, 0, 1 if what == "rate" else len(question.table))
    if what == "odds ratio":
        figures, points = np.exp(figures), np.exp(points)
    elif what == "rate" and settings.target == "population":
        figures = 1 / (1 + np.exp(-figures))
    keys = {name: [label[i] for label, k in zip(labels, kept, strict=True) if k] for i, name in enumerate(question.by)}
    return Estimates(title, keys, figures[:, 0], figures[:, 1], figures[:, 2], points, question.notes())


def _reference(wanted: str | None, labels: Sequence[tuple[str | None, ...]], rows: Figures) -> int:
    """Return the category that odds are compared with: the given one, or else the most frequent."""
    if wanted is None:
        return int(np.argmax(rows.mean(axis=0)))
    if (wanted,) not in labels:
        raise ParameterError(
            f"no row of the release may have the value {wanted!r}",
            remedy=f"The values are: {', '.join(repr(label[0]) for label in labels[:8])}.", key="reference", value=wanted,
        )  # fmt: skip
    return labels.index((wanted,))


def _figures(counted: Tabulation, what: str, target: str) -> tuple[Figures, Figures]:
    """Return the figure and its sampling variance in each draw and category; rates of a population are log odds."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if what == "count":
            return counted.hits, np.zeros_like(counted.hits)
        if what == "rate" and target == "table":
            return counted.hits / counted.rows, np.zeros_like(counted.hits)
        if what == "rate":
            hits, others = counted.hits + 0.5, counted.rows - counted.hits + 0.5
            return np.log(hits / others), 1 / hits + 1 / others
        mean = counted.sums / counted.rows
        variance = np.maximum(counted.squares / counted.rows - mean**2, 0) / np.maximum(counted.rows - 1, 1)
        return mean, variance if target == "population" else np.zeros_like(mean)


def _log_odds_ratio(counted: Tabulation, reference: int, target: str) -> tuple[Figures, Figures]:
    """Return log odds ratios against a category, and Woolf's variance; for a population a half is added to each count."""
    more = 0.5 if target == "population" else 0.0
    hits, others = counted.hits + more, counted.rows - counted.hits + more
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.log(hits) - np.log(others)
        ratio = odds - odds[:, reference][:, None]
        variance = 1 / hits + 1 / others
    return ratio, variance + variance[:, reference][:, None]


def _wider(values: Figures, times: float) -> Figures:
    """Return the figures of the draws, each as many times as far from their mean; infinite figures as they are."""
    finite = np.where(np.isfinite(values), values, np.nan)
    known = np.isfinite(values).any(axis=0)
    mean = np.zeros(values.shape[1])
    mean[known] = np.nanmean(finite[:, known], axis=0)
    return np.where(np.isfinite(values), mean + times * (values - mean), values)


def _with_wider_rates(counted: Tabulation, times: float) -> Tabulation:
    """Return the counts with rates further from their mean, so that an odds ratio may be 0 or infinite where a rate may."""
    with np.errstate(invalid="ignore"):
        rates = np.clip(_wider(counted.hits / counted.rows, times), 0, 1)
    return Tabulation(counted.rows, np.nan_to_num(rates) * counted.rows, counted.sums, counted.squares)


def _interval(
    values: Figures, spread: Figures, variances: Figures, settings: EstimateSettings
) -> tuple[float, float, float]:
    """Return the estimate and the ends of its interval; `spread`: the figures of the draws as far apart as they may be."""
    known = ~np.isnan(values) & ~np.isnan(spread)
    values, spread, variances = values[known], spread[known], variances[known]
    if not len(values):
        return math.nan, math.nan, math.nan
    if settings.target == "population" and len(values) > 1:
        result = combine(spread.tolist(), variances.tolist(), settings.level)
        return result.estimate, result.low, result.high
    tail = (1 - settings.level) / 2
    ordered = np.sort(spread)  # outward to the next draw: figures may be infinite, and few draws are not a density
    low = ordered[math.floor(tail * (len(ordered) - 1))]
    high = ordered[math.ceil((1 - tail) * (len(ordered) - 1))]
    middle = float(values.mean()) if np.isfinite(values).all() else float(np.sort(values)[len(values) // 2])
    return min(max(middle, float(low)), float(high)), float(low), float(high)

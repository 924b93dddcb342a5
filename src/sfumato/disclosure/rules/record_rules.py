"""The best rule that discloses k cells of each record (Lebanon et al. 2006, Δ₂): each record on its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.disclosure.rules.choice_losses import FORMS, Choices, narrow, widen
from sfumato.disclosure.rules.disclosure_rule import DisclosureRule, mean
from sfumato.kernels.choice_branch_and_bound import branch, losses_of
from sfumato.kernels.disclosure_choices import least_by_size
from sfumato.progress import Progress, silent

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

BUDGET = 20_000_000
"""Agreements that a search may look at; if it needs more, only a bound on the record's least loss is known."""


class SearchResult(NamedTuple):
    """The choices that no other dominates, as masks over the candidates, their losses by row of the mix, and a bound."""

    choices: Integers
    losses: Floats
    bound: Floats
    """No choice is below this in any row."""

    @property
    def closed(self) -> bool:
        """Whether the search was completed, so that there are no other such choices."""
        return bool((self.bound >= self.losses.min(axis=1)).all())


class Search:
    """The choices of one record, searched by branch and bound as often as needed."""

    def __init__(self, choices: Choices, record: int) -> None:
        self.candidates = choices.candidates(record)
        self.agreements = choices.agreements(record)
        self.dictionaries = len(choices.matchings)
        phi = choices.phi
        self.form = FORMS[phi.form]
        self.cells = np.ascontiguousarray(phi.cells[record, self.candidates])
        self.pairs = np.ascontiguousarray(phi.pairs_of(record, self.candidates))
        self.triples = phi.triples_of(record, self.candidates)
        self.false_harm = phi.false_identification
        self.scale = float(phi.scale[record])
        self.shares = choices.shares

    @property
    def mix(self) -> Floats:
        """One row if the shares of the dictionaries are given, otherwise one per dictionary."""
        return np.eye(self.dictionaries) if self.shares is None else self.shares[None]

    def pareto_choices(self, size: int) -> SearchResult:
        """The choices of this many cells that no other dominates in every row."""
        return self._branch(self.mix, np.zeros(len(self.candidates)), 0, size)

    def cheapest(self, shares: Floats, prices: Floats, forced: int) -> SearchResult:
        """The choice, of any size, of least loss in the given shares minus the prices of its cells."""
        return self._branch(shares[None] @ self.mix, prices, forced, -1)

    def losses(self, choices: Integers) -> Floats:
        """The losses of given choices, by row and choice."""
        mix = self.mix
        out = np.empty((len(mix), len(choices)))
        losses_of(
            self.agreements, mix, self.false_harm, self.form, self.cells, self.pairs, self.triples, self.scale, choices, out
        )
        return out

    def _branch(self, mix: Floats, prices: Floats, forced: int, size: int) -> SearchResult:
        count = len(self.candidates)
        alone = 1 << np.arange(count, dtype=np.int64)
        first = self.losses(alone).mean(axis=0) - prices
        # forced candidates first, then those with the smallest losses: good choices early prune more
        order = np.lexsort((first, (forced >> np.arange(count)) & 1 == 0))
        room = 64  # for choices; doubled until the kernel has enough
        while True:
            result, values, bound = np.empty(room, np.int64), np.empty((len(mix), room)), np.empty(len(mix))
            kept = branch(
                self.agreements, mix, self.false_harm, self.form, self.cells, self.pairs, self.triples, self.scale, prices,
                order, forced, size, BUDGET, result, values, bound,
            )  # fmt: skip
            if kept >= 0:
                return SearchResult(result[:kept], values[:, :kept], bound)
            room *= 2


def losses_of_masks(choices: Choices, record: int, masks: Integers) -> Floats:
    """The losses of a record's given choices, masks over all attributes, in each dictionary."""
    candidates = choices.candidates(record)
    some = np.array([narrow(mask, candidates) for mask in masks.tolist()], np.int64)
    return choices.losses(record)[:, some] if choices.tabled(record) else Search(choices, record).losses(some)


@dataclass(frozen=True, eq=False)
class LeastLosses:
    """For each distinct record and number of cells the least loss, and the choice that has it."""

    least: NDArray[np.float64]
    """By distinct record and number of cells; infinite where a record has fewer values."""
    choices: NDArray[np.int64]
    """As masks over all attributes; -1 where there is none."""
    bounds: NDArray[np.float64]
    """No choice loses less than this; below `least` only where a search stopped early."""


def least_losses(choices: Choices, progress: Progress = silent, cells: int | None = None) -> LeastLosses:
    """Find each distinct record's least losses; the dictionaries' shares must be given.

    With `cells`, only those for that number of cells.
    """
    shape = len(choices.distinct), choices.attributes + 1
    least, result = np.full(shape, np.inf), np.full(shape, -1, np.int64)
    bounds = least.copy()
    for at, record in enumerate(choices.distinct.tolist()):
        if at % 256 == 0:
            progress("weighing choices", at / len(choices.distinct))
        count = int(choices.counts[at])
        size = slice(0, count + 1)
        if choices.tabled(record):
            space, best_of_size = choices.space(record), np.empty(count + 1, np.int64)
            least_by_size(choices.losses(record)[0], space.sizes, least[at, size], best_of_size)
            result[at, size], bounds[at, size] = space.masks[best_of_size], least[at, size]
        else:
            search = Search(choices, record)
            for number in range(count + 1) if cells is None else [min(cells, count)]:
                best = search.pareto_choices(number)
                least[at, number], result[at, number] = best.losses[0, 0], best.choices[0]
                bounds[at, number] = best.bound[0]
        result[at, size] = widen(result[at, size], choices.candidates(record))
    return LeastLosses(least, result, bounds)


def best_of_records(choices: Choices, options: LeastLosses, cells: int) -> DisclosureRule:
    """Take for each record the choice of k cells that loses least; if it has fewer values, all of them."""
    at = np.arange(len(choices.counts))
    size = np.minimum(choices.counts, cells)
    rule = choices.rule(options.choices[at, size][choices.of_record])
    risk = mean(options.least[at, size][choices.of_record])
    bound = mean(options.bounds[at, size][choices.of_record])
    short = int((choices.counts < cells)[choices.of_record].sum())
    done = bool((options.bounds[at, size] >= options.least[at, size]).all())
    how = (
        "every choice of each record's cells was compared"
        if done
        else "the search stopped early in records with many values"
    )
    return DisclosureRule(rule, risk, bound, short, how)

"""The best rule that discloses k cells of each record (paper 002, Δ₂): each record on its own."""

from __future__ import annotations

import numpy as np

from sfumato.disclosure.rules.choices import Choices
from sfumato.disclosure.rules.least_losses import Options
from sfumato.disclosure.rules.optimal_rule import DisclosureRule, mean


def best_of_records(choices: Choices, options: Options, cells: int) -> DisclosureRule:
    """Take for each record the choice of k cells that loses least; if it has fewer values, all of them."""
    at = np.arange(len(choices.counts))
    size = np.minimum(choices.counts, cells)
    rule = choices.rule(options.choices[at, size][choices.of_record])
    risk = mean(options.least[at, size][choices.of_record])
    bound = mean(options.bounds[at, size][choices.of_record])
    short = int((choices.counts < cells)[choices.of_record].sum())
    done = bool((options.bounds[at, size] >= options.least[at, size]).all())
    how = (
        "every choice of each record's cells was weighed" if done else "the search was broken off in records of many values"
    )
    return DisclosureRule(rule, risk, bound, short, how)

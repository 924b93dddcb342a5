"""The rule of least risk that discloses a given number of cells per record, per attribute, or in the whole table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.disclosure.matching.matching import Matching
from sfumato.disclosure.rules.attribute_rules import best_of_attributes
from sfumato.disclosure.rules.choice_losses import Choices
from sfumato.disclosure.rules.choice_space import Steps
from sfumato.disclosure.rules.disclosure_rule import DisclosureRule, check, mean
from sfumato.disclosure.rules.record_rules import best_of_records, least_losses
from sfumato.disclosure.rules.table_rules import best_of_table
from sfumato.disclosure.rules.worst_case_rules import worst_case_by_cells, worst_case_of_records, worst_case_of_table
from sfumato.disclosure.sensitivity.sensitivity_weights import SensitivityWeights
from sfumato.progress import Progress, silent


def best_rule(
    matchings: Sequence[Matching],
    phi: SensitivityWeights,
    cells: int,
    per: str,
    prior: Sequence[float] | None = None,
    progress: Progress = silent,
    steps: Steps | None = None,
) -> DisclosureRule:
    """Find the rule of least risk among those that disclose `cells` cells per table, record or attribute.

    With one dictionary the risk is R(δ, θ); with several and a prior, the Bayes risk; with several and no prior, the
    worst of their risks, so that the rule is the minimax rule (Lebanon et al. 2006, equations 1 to 3). Only values that a
    record has can be disclosed; a record (attribute, table) with fewer discloses all of them. A search that might not end
    stops after a fixed number of steps; its result then has a gap to a bound.

    `steps`: the columns of the matchings are not attributes but the steps in which their values are disclosed. A record then
    discloses information of at least `cells` values, and no more than it must: a value on the next coarser level would be
    too little.

    >>> matching = Matching.of_codes(np.array([[0, 0, 0]]), np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]]))
    >>> phi = SensitivityWeights("sum", np.array([[1.0, 2.0, 4.0]]), np.zeros((3, 3)), np.ones(1))
    >>> best = best_rule([matching], phi, 2, per="record")
    >>> best.disclosed.tolist(), best.risk, best.exact
    ([[True, True, False]], 1.5, True)
    """
    check(matchings, cells, per, prior, steps=steps)
    if not matchings[0].records:
        return DisclosureRule(matchings[0].everything, 0.0, 0.0, 0, "there are no records")
    shares = _shares(matchings, prior)
    choices = Choices(matchings, phi, shares, steps)
    if per == "record" and shares is not None:
        return best_of_records(choices, least_losses(choices, progress, cells), cells)
    if per == "table" and shares is not None:
        return best_of_table(choices, least_losses(choices, progress), cells)
    if per == "record":
        return worst_case_of_records(choices, cells, progress)
    if per == "table":
        return worst_case_of_table(choices, cells, progress)
    return best_of_attributes(choices, cells, progress)


def best_by_cells(
    matchings: Sequence[Matching],
    phi: SensitivityWeights,
    prior: Sequence[float] | None = None,
    progress: Progress = silent,
) -> NDArray[np.float64]:
    """Find the least risk of disclosing k cells of each record, for every k from none to all, at the cost of one.

    In the worst case, and where a search may stop early, it is the risk of the rule that `best_rule` finds for each k.

    >>> matching = Matching.of_codes(np.array([[0, 0, 0]]), np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]]))
    >>> phi = SensitivityWeights("sum", np.array([[1.0, 2.0, 4.0]]), np.zeros((3, 3)), np.ones(1))
    >>> best_by_cells([matching], phi).round(3).tolist()
    [0.0, 0.333, 1.5, 7.0]
    """
    check(matchings, 0, "record", prior)
    if not matchings[0].records:
        return np.zeros(matchings[0].attributes + 1)
    shares = _shares(matchings, prior)
    choices = Choices(matchings, phi, shares)
    if shares is None:
        return worst_case_by_cells(choices, progress)
    options, at = least_losses(choices, progress), choices.of_record
    sizes = [np.minimum(choices.counts, cells)[at] for cells in range(choices.attributes + 1)]
    return np.array([mean(options.least[at, size]) for size in sizes])


def _shares(matchings: Sequence[Matching], prior: Sequence[float] | None) -> Sequence[float] | None:
    """The weights with which the losses in the dictionaries are added; None if the worst one counts."""
    return [1.0] if prior is None and len(matchings) == 1 else prior

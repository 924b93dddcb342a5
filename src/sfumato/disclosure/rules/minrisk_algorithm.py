"""MinRisk, the fast algorithm of Lebanon et al. (2006, Algorithm 1), and the cost of its independence assumption."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.disclosure.matching.matching import Matching, Rule
from sfumato.disclosure.rules.choice_losses import Choices
from sfumato.disclosure.rules.disclosure_rule import ROUNDING, DisclosureRule, check, mean
from sfumato.disclosure.rules.record_rules import best_of_records, least_losses
from sfumato.disclosure.sensitivity.sensitivity_weights import SensitivityWeights, losses
from sfumato.errors import ParameterError
from sfumato.progress import Progress, silent

Integers = NDArray[np.int64]


def applies(matching: Matching, phi: SensitivityWeights) -> bool:
    """Whether MinRisk applies.

    It takes multiplicative weights of single values, and neither misfits, weights of individuals nor false identifications.
    """
    together = phi.pairs.any() or any(phi.triples.values())
    leaning = len(matching.weights) or matching.misfits
    return phi.form == "product" and not together and not leaning and not phi.false_identification


def min_risk(matching: Matching, phi: SensitivityWeights, cells: int) -> DisclosureRule:
    """Disclose of each record the `cells` values with the smallest γⱼ = e^w · N / αⱼ.

    N is the number of individuals, and αⱼ the number of those who fit value j alone. If the attributes of the dictionary
    are independent, |ρ| is N·∏(αⱼ/N), and this is the rule of least risk for multiplicative weights; if not, it need not
    be, and `bound` says how far the least risk may be below. Corrections of the published algorithm: only values that a
    record has are candidates (a missing one would come first, and disclose nothing); a value that fits nobody comes first,
    since the loss is then 0 (as published, its γ is infinite); ties are broken by the order of the attributes. Any number
    of attributes. Cost: the cells of the records, once αⱼ is known, and two matchings with the dictionary.

    >>> both = Matching.of_codes(np.array([[1, 7, 9]]), np.array([[1, 7, 9], [1, 8, 9], [2, 7, 9]]))
    >>> phi = SensitivityWeights("product", np.array([[0.0, 0.1, 1.0]]), np.zeros((3, 3)), np.ones(1))
    >>> rule = min_risk(both, phi, 2)
    >>> rule.disclosed.tolist(), round(rule.risk, 3), round(rule.bound, 3)
    ([[True, True, False]], 1.105, 0.553)
    """
    check([matching], cells, "record", None, most_attributes=None)
    if not applies(matching, phi):
        raise ParameterError(
            "MinRisk requires a multiplicative sensitivity without pairs, triples and false_identification, and an attacker "
            "who picks any individual alike",
            remedy="Search for the best rule, which has no such requirements.",
            key="sensitivity",
            value=phi.form,
        )
    disclosed = _smallest_gammas(matching, phi, cells)
    risk = mean(phi.losses(matching, disclosed))
    short = int((matching.everything.sum(axis=1) < cells).sum())
    how = "by MinRisk, which is optimal if the attributes of the dictionary are independent"
    return DisclosureRule(disclosed, risk, min(risk, _least_possible(matching, phi, cells)), short, how)


def _reach(matching: Matching) -> Integers:
    """αⱼ of each cell; that of a missing one means nothing."""
    return np.asarray(np.append(matching.reach, 0)[matching.values])  # -1, a missing value, takes the last entry


def _smallest_gammas(matching: Matching, phi: SensitivityWeights, cells: int) -> Rule:
    reach = _reach(matching)
    with np.errstate(divide="ignore", over="ignore"):
        gamma = np.where(reach > 0, np.log(matching.individuals) + phi.cells - np.log(np.maximum(reach, 1)), -np.inf)
    gamma[~matching.everything] = np.nan  # NaN sorts behind all others, which may be infinite
    order = np.argsort(gamma, axis=1, kind="stable")
    rule = np.zeros(matching.values.shape, bool)
    np.put_along_axis(rule, order[:, :cells], True, axis=1)
    return rule & matching.everything


def _least_possible(matching: Matching, phi: SensitivityWeights, cells: int) -> float:
    """A bound that no rule of this many cells per record has a smaller risk than.

    Of k values at least one fits no more individuals than the k-th most common, so the chance of identification is at least
    one over the number of these; and the sum of their weights is at least that of the k smallest. The chance is 0 only
    where nobody fits, which is ruled out where somebody fits the whole record.
    """
    there = matching.everything
    size = np.minimum(there.sum(axis=1), cells)
    rows = np.arange(len(there))
    most_common = -np.sort(np.where(there, -_reach(matching), 1), axis=1)
    most = np.where(size > 0, most_common[rows, np.maximum(size - 1, 0)], matching.individuals)
    lightest = np.sort(np.where(there, phi.cells, np.inf), axis=1)
    weight = np.where(np.arange(there.shape[1]) < size[:, None], lightest, 0.0).sum(axis=1)
    fitted = matching.sizes(there) > 0
    return mean(losses(np.exp(weight), np.where(fitted, 1 / np.maximum(most, 1), 0.0)))


@dataclass(frozen=True)
class IndependenceCost:
    """The cost of assuming that a dictionary's attributes are independent, for a number of values per record.

    >>> IndependenceCost(cells=2, risk=0.3, least=0.1, worse=5, factor=3.0).excess
    2.0
    """

    cells: int
    risk: float
    """The risk of MinRisk's rule."""
    least: float
    """The least risk."""
    worse: int
    """The records that lose more than necessary."""
    factor: float
    """The largest factor by which a record loses more than necessary; infinite if its loss could be 0."""

    @property
    def excess(self) -> float:
        """The share by which MinRisk's risk is above the least; infinite if the least is 0."""
        if self.risk <= self.least:
            return 0.0
        return round(self.risk / self.least - 1, 12) if self.least else np.inf

    def to_dict(self) -> dict[str, Any]:
        """As plain data; infinity as "inf"."""
        figures = {**vars(self), "excess": self.excess}
        return {key: "inf" if value == np.inf else value for key, value in figures.items()}


def independence_costs(
    matching: Matching, phi: SensitivityWeights, cells: Sequence[int], progress: Progress = silent
) -> list[IndependenceCost]:
    """Compare MinRisk's rule with the best rule, record by record, for several numbers of values.

    >>> codes = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]])  # the first two attributes are copies
    >>> both = Matching.of_codes(codes, codes)
    >>> phi = SensitivityWeights("product", np.zeros((4, 3)), np.zeros((3, 3)), np.ones(4))
    >>> independence_costs(both, phi, [2])
    [IndependenceCost(cells=2, risk=0.5, least=0.5, worse=0, factor=1.0)]
    """
    rules = [min_risk(matching, phi, k).disclosed for k in cells]
    choices = Choices([matching], phi, [1.0])
    options = least_losses(choices, progress)
    costs = []
    for k, rule in zip(cells, rules, strict=True):
        best = best_of_records(choices, options, k).disclosed
        taken = phi.losses(matching, rule)
        needed = phi.losses(matching, best)
        worse = taken > needed * (1 + ROUNDING)
        factor = _factor(taken[worse], needed[worse])
        costs.append(IndependenceCost(k, mean(taken), mean(needed), int(worse.sum()), factor))
    return costs


def _factor(taken: NDArray[np.float64], needed: NDArray[np.float64]) -> float:
    if not len(taken):
        return 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.max(np.where(needed > 0, taken / needed, np.inf)))

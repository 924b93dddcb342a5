"""MinRisk, the paper's fast algorithm, and what its assumption of independence costs (paper 002, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.disclosure.matching.matching import Matching, Rule
from sfumato.disclosure.rules.choice_losses import Choices
from sfumato.disclosure.rules.disclosure_rule import ROUNDING, check, mean
from sfumato.disclosure.rules.record_rules import best_of_records, least_losses
from sfumato.disclosure.sensitivity.sensitivity_weights import SensitivityWeights, losses
from sfumato.errors import ParameterError
from sfumato.progress import Progress, silent


def applies(matching: Matching, phi: SensitivityWeights) -> bool:
    """Whether MinRisk is made for this: multiplicative weights of single values, and nobody whom the attacker leans to."""
    return phi.form == "product" and not phi.pairs.any() and not len(matching.weights) and not matching.misfits


def min_risk(matching: Matching, phi: SensitivityWeights, cells: int) -> Rule:
    """Disclose of each record the `cells` values with the smallest γⱼ = e^w · N / αⱼ, αⱼ being how many fit the value alone.

    If what individuals have of one attribute tells nothing of what they have of another, |ρ| is N·∏(αⱼ/N), and this is the
    rule of least risk for multiplicative weights; if not, it need not be. Where the paper's algorithm is mended:
    only values that a record has are candidates (a missing one would come first, and disclose nothing); a value that
    fits nobody comes first, since the loss is then 0 (as written, its γ is infinite); ties go by the attributes' order.
    Cost: the cells of the records, once it is known how many fit each value.

    >>> both = Matching.of_codes(np.array([[1, 7, 9]]), np.array([[1, 7, 9], [1, 8, 9], [2, 7, 9]]))
    >>> phi = SensitivityWeights("product", np.array([[0.0, 0.1, 1.0]]), np.zeros((3, 3)), np.ones(1))
    >>> min_risk(both, phi, 2).tolist()
    [[True, True, False]]
    """
    check([matching], cells, "record", None, most_attributes=None)
    if not applies(matching, phi):
        raise ParameterError(
            "MinRisk is for multiplicative sensitivity without pairs, and an attacker who picks any individual alike",
            remedy="Take the best rule, which assumes nothing.",
            key="sensitivity",
            value=phi.form,
        )
    reach = np.append(matching.reach, 0)[matching.values]  # -1, a missing value, is the last
    with np.errstate(divide="ignore", over="ignore"):
        gamma = np.where(reach > 0, np.log(matching.individuals) + phi.cells - np.log(np.maximum(reach, 1)), -np.inf)
    gamma[~matching.everything] = np.nan  # behind all others, which may be infinite
    order = np.argsort(gamma, axis=1, kind="stable")
    rule = np.zeros(matching.values.shape, bool)
    np.put_along_axis(rule, order[:, :cells], True, axis=1)
    return rule & matching.everything


@dataclass(frozen=True)
class IndependenceCost:
    """What it costs to take the attributes of a dictionary for independent, if so many values of each record are disclosed.

    >>> IndependenceCost(cells=2, risk=0.3, least=0.1, worse=5, factor=3.0).excess
    2.0
    """

    cells: int
    risk: float
    """The risk of MinRisk's rule."""
    least: float
    """The least risk."""
    worse: int
    """The records that lose more than they need to."""
    factor: float
    """By how much the worst off of them does; infinite if it need not lose anything."""

    @property
    def excess(self) -> float:
        """By what share MinRisk's risk is above the least; infinite if that is 0."""
        if self.risk <= self.least:
            return 0.0
        return round(self.risk / self.least - 1, 12) if self.least else np.inf

    def to_dict(self) -> dict[str, Any]:
        """As plain data; infinity as "inf"."""
        told = {**vars(self), "excess": self.excess}
        return {key: "inf" if value == np.inf else value for key, value in told.items()}


def independence_costs(
    matching: Matching, phi: SensitivityWeights, cells: Sequence[int], progress: Progress = silent
) -> list[IndependenceCost]:
    """Compare MinRisk's rule with the best one, record by record, for each of several numbers of values.

    >>> codes = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]])  # the first two attributes tell the same
    >>> both = Matching.of_codes(codes, codes)
    >>> phi = SensitivityWeights("product", np.zeros((4, 3)), np.zeros((3, 3)), np.ones(4))
    >>> independence_costs(both, phi, [2])
    [IndependenceCost(cells=2, risk=0.5, least=0.5, worse=0, factor=1.0)]
    """
    rules = [min_risk(matching, phi, k) for k in cells]
    choices = Choices([matching], phi, [1.0])
    options = least_losses(choices, progress)
    found = []
    for k, rule in zip(cells, rules, strict=True):
        best = best_of_records(choices, options, k).disclosed
        taken = losses(phi.of(rule), matching.probabilities(rule))
        needed = losses(phi.of(best), matching.probabilities(best))
        worse = taken > needed * (1 + ROUNDING)
        factor = _factor(taken[worse], needed[worse])
        found.append(IndependenceCost(k, mean(taken), mean(needed), int(worse.sum()), factor))
    return found


def _factor(taken: NDArray[np.float64], needed: NDArray[np.float64]) -> float:
    if not len(taken):
        return 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.max(np.where(needed > 0, taken / needed, np.inf)))

"""MinRisk, the paper's fast rule for independent attributes, and what that assumption costs (paper 002, Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sfumato.disclosure.matching import Matching, Rule
from sfumato.disclosure.rules.asked import check
from sfumato.disclosure.rules.choices import Choices
from sfumato.disclosure.rules.found import ROUNDING, mean
from sfumato.disclosure.rules.options import options_of
from sfumato.disclosure.rules.searching import losses_at
from sfumato.disclosure.weights import Weights
from sfumato.errors import ParameterProblem
from sfumato.progress import Progress, silent


def min_risk(matching: Matching, phi: Weights, cells: int) -> Rule:
    """Disclose of each record the k cells with the smallest γ = e^w · N / α (paper 002, Algorithm 1, mended).

    α is how many individuals are consistent with the cell alone, out of N. If the attributes of the dictionary are
    independent, or k is 1, no rule that discloses k cells of each record has less risk, for a multiplicative sensitivity;
    else one may. The paper's algorithm is mended: only values that a record has are candidates; a value with which nobody
    is consistent comes first, since to disclose it loses nothing; equal γ go by the order of the attributes, so that there
    are always k. What the rule risks is to be found from ρ: the product of α's does not tell it. Cost: one look at each value.

    >>> known = Matching.of_codes(np.array([[0, 0, 0]]), np.array([[0, 0, 1], [0, 1, 1], [1, 1, 0], [1, 0, 0]]))
    >>> phi = Weights("product", np.array([[1.0, 0.0, 2.0]]), np.zeros((3, 3)), np.ones(1))
    >>> min_risk(known, phi, 2).tolist()
    [[True, True, False]]
    """
    check([matching], cells, "record", None, most_attributes=None)
    if phi.form != "product" or (phi.pairs > 0).any():
        raise ParameterProblem(
            "MinRisk is for a multiplicative sensitivity without weights of pairs",
            remedy="Seek the best rule, which is exact for any sensitivity.",
            key="sensitivity",
            value=phi.form,
        )
    alpha = alone(matching)
    with np.errstate(divide="ignore"):
        gamma = np.where(alpha > 0, phi.cells - np.log(alpha), -np.inf)  # its logarithm, without N; 0·∞ is 0
    gamma[~matching.everything] = np.nan  # after all others
    order = np.argsort(gamma, axis=1, kind="stable")
    rule = np.zeros_like(matching.everything)
    np.put_along_axis(rule, order[:, :cells], True, axis=1)
    return rule & matching.everything


def alone(matching: Matching) -> NDArray[np.float64]:
    """α: the weight of the individuals who are consistent with each cell alone.

    0 where the record's own individual, if the attacker leans to some, is not among them: to disclose that loses nothing.

    >>> known = Matching.of_codes(np.array([[0, 5], [1, -1]]), np.array([[0, 5], [0, 6], [-1, 7]]))
    >>> alone(known).tolist()
    [[3.0, 1.0], [1.0, 3.0]]
    """
    _, near_starts, near, who_starts, who, absent_starts, absent = matching.known
    weights = matching.weights if len(matching.weights) else np.ones(matching.individuals)
    of_held = np.diff(np.concatenate([[0.0], np.cumsum(weights[who])])[who_starts])
    of_value = np.diff(np.concatenate([[0.0], np.cumsum(of_held[near])])[near_starts])
    missing = np.array([weights[absent[a:b]].sum() for a, b in pairwise(absent_starts)])
    there = matching.values >= 0
    out = np.where(there, of_value[np.where(there, matching.values, 0)], weights.sum())
    out = np.where(there, out + missing, out)
    if len(matching.weights):
        out[there & ~_own_fits(matching)] = 0.0
    return np.asarray(out)


def _own_fits(matching: Matching) -> NDArray[np.bool_]:
    """Whether each record's own individual is consistent with each of its values alone."""
    held, near_starts, near, *_ = matching.known
    out = np.zeros(matching.values.shape, bool)
    for i, v in enumerate(matching.own.tolist()):
        for j, value in enumerate(matching.values[i].tolist()):
            if v >= 0 and value >= 0:
                out[i, j] = held[v, j] < 0 or held[v, j] in near[near_starts[value] : near_starts[value + 1]]
    return out


@dataclass(frozen=True)
class Excess:
    """What it costs to take the attributes of a dictionary for independent: MinRisk's rule beside the best one.

    >>> Excess(risk=0.75, least=0.25, records=1, worst=3.0).ratio
    3.0
    """

    risk: float
    """The risk of MinRisk's rule."""
    least: float
    """The least risk of disclosing as many cells of each record."""
    records: int
    """How many records lose more by MinRisk's rule than they must."""
    worst: float
    """How many times as much the one loses for which it is worst; infinite if it need lose nothing."""

    @property
    def ratio(self) -> float:
        """How many times the least risk MinRisk's rule has: 1 if it is as good."""
        return _times(self.risk, self.least)


def independence_cost(matching: Matching, phi: Weights, cells: int, progress: Progress = silent) -> Excess:
    """Measure what MinRisk loses because the dictionary's attributes are not independent.

    >>> known = Matching.of_codes(np.array([[0, 0, 0]]), np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0], [1, 1, 0]]))
    >>> phi = Weights("product", np.zeros((1, 3)), np.zeros((3, 3)), np.ones(1))
    >>> independence_cost(known, phi, 2)
    Excess(risk=1.0, least=1.0, records=0, worst=1.0)
    """
    check([matching], cells, "record", None)
    masks = (min_risk(matching, phi, cells).astype(np.int64) << np.arange(matching.attributes)).sum(axis=1)
    choices = Choices([matching], phi, [1.0])
    options, sizes = options_of(choices, progress, cells), np.minimum(choices.counts, cells)
    distinct = choices.distinct.tolist()
    lost = np.array([losses_at(choices, record, masks[[record]])[0, 0] for record in distinct])[choices.of_record]
    best = np.minimum(lost, options.least[np.arange(len(sizes)), sizes][choices.of_record])
    more = lost > best * (1 + ROUNDING)
    worst = max(
        (_times(one, other) for one, other in zip(lost[more].tolist(), best[more].tolist(), strict=True)), default=1.0
    )
    return Excess(mean(lost), mean(best), int(more.sum()), worst)


def _times(one: float, other: float) -> float:
    if one == other:
        return 1.0
    return one / other if other > 0 else float("inf")

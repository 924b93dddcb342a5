"""Φ as arrays: how sensitive the disclosed part of each record is, under any rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.disclosure.matching.matching import Matching, Rule

Form = Literal["sum", "product", "constant", "function"]


@dataclass(frozen=True, eq=False)
class SensitivityWeights:
    """Φ for given records and attributes (Lebanon et al. 2006, Appendix).

    All weights are at least 0, and may be infinite. The form is one of

    - `sum`: the weights of the disclosed cells, and of pairs and triples of them (Φ₁ to Φ₄).
    - `product`: e to the power of that sum (Φ₅), which is 1 if nothing is disclosed.
    - `constant`: `scale`, whatever is disclosed.
    - `function`: the user's own.

    >>> phi = SensitivityWeights("sum", np.array([[1.0, 2.0]]), np.array([[0.0, 4.0], [0.0, 0.0]]), np.ones(1))
    >>> phi.of(np.array([[True, True]])).tolist(), phi.of(np.array([[False, True]])).tolist()
    ([7.0], [2.0])
    """

    form: Form
    cells: NDArray[np.float64]
    """The weight of cell (i, j)."""
    pairs: NDArray[np.float64]
    """The weight of attributes j < h together, beyond each alone; zero elsewhere."""
    scale: NDArray[np.float64]
    """The factor, in record i, of the weights of pairs and triples, and the value of a constant."""
    function: Callable[[int, NDArray[np.bool_]], float] | None = None
    """The user's own function: Φ of record i for a row of disclosed attributes."""
    triples: Mapping[tuple[int, int, int], float] = field(default_factory=dict)
    """The weight of attributes j < h < l together, beyond each alone and each two of them."""
    false_identification: float = 0.0
    """The harm if the attacker names another individual, as a share of Φ."""
    shares: NDArray[np.float64] | None = None
    """The share of cell (i, j) that counts in pairs and triples; `cells` contains it already. None: all of it."""

    def of(self, rule: Rule) -> NDArray[np.float64]:
        """Φ of every record as the rule discloses it."""
        if self.function is not None:
            return np.array([self.function(i, row) for i, row in enumerate(rule)], np.float64)
        if self.form == "constant":
            return self.scale.copy()
        total = np.where(rule, self.cells, 0.0).sum(axis=1)
        for j, h in np.argwhere(self.pairs > 0):
            self._add_together(total, rule, (int(j), int(h)), self.pairs[j, h])
        for places, weight in self.triples.items():
            self._add_together(total, rule, places, weight)
        return np.asarray(np.exp(total) if self.form == "product" else total)

    def _add_together(self, total: NDArray[np.float64], rule: Rule, places: tuple[int, ...], weight: float) -> None:
        """Add the weight of several attributes together to the records that disclose all of them."""
        factor = self.scale if self.shares is None else self.scale * self.shares[:, list(places)].prod(axis=1)
        every = rule[:, list(places)].all(axis=1) & (factor > 0)  # 0·∞ is 0
        if weight > 0:
            total[every] += weight * factor[every]

    def pairs_of(self, record: int, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """The weights of two of a record's candidates together, before they are multiplied by its scale."""
        between = self.pairs[np.ix_(candidates, candidates)]
        if self.shares is None:
            return between
        shares = self.shares[record, candidates]
        product = np.outer(shares, shares)
        return np.multiply(between, product, out=np.zeros_like(between), where=product > 0)  # 0·∞ is 0

    def harm(self, right: NDArray[np.float64], wrong: NDArray[np.float64]) -> NDArray[np.float64]:
        """The expected harm of each record as a share of Φ.

        It is the chance that the attacker names the right individual, plus that of naming another one times
        `false_identification`.
        """
        return right + self.false_identification * wrong

    def losses(self, matching: Matching, rule: Rule) -> NDArray[np.float64]:
        """The expected loss of each record under a rule.

        >>> phi = SensitivityWeights("constant", np.zeros((1, 1)), np.zeros((1, 1)), np.ones(1), false_identification=0.5)
        >>> matching = Matching.of_codes(np.array([[30]]), np.array([[30], [30], [41]]))
        >>> phi.losses(matching, np.array([[True]])).tolist()
        [0.75]
        """
        _, right, wrong = matching.outcomes(rule)
        return losses(self.of(rule), self.harm(right, wrong))

    def triples_of(self, record: int, candidates: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The triples of a record's candidates, as masks over the candidates, and their weights in this record.

        >>> phi = SensitivityWeights("sum", np.ones((1, 4)), np.zeros((4, 4)), np.array([2.0]), triples={(0, 2, 3): 5.0})
        >>> masks, weights = phi.triples_of(0, np.array([0, 2, 3]))
        >>> [f"{mask:b}" for mask in masks.tolist()], weights.tolist()
        (['111'], [10.0])
        """
        bit = {j: 1 << b for b, j in enumerate(candidates.tolist())}
        found = []
        for places, weight in self.triples.items():
            if weight > 0 and all(j in bit for j in places):
                factor = float(self.scale[record])
                if self.shares is not None:
                    factor *= float(self.shares[record, list(places)].prod())
                if factor > 0:  # 0·∞ is 0
                    found.append((sum(bit[j] for j in places), weight * factor))
        return np.array([mask for mask, _ in found], np.int64), np.array([weight for _, weight in found], np.float64)

    def only(self, records: NDArray[np.int64]) -> SensitivityWeights:
        """Φ for some of the records, in this order."""
        shares = None if self.shares is None else self.shares[records]
        some = replace(self, cells=self.cells[records], scale=self.scale[records], shares=shares)
        function = self.function
        if function is None:
            return some
        return replace(some, function=lambda i, shown: function(int(records[i]), shown))


def losses(phi: NDArray[np.float64], harm: NDArray[np.float64]) -> NDArray[np.float64]:
    """The expected loss of each record: Φ times the expected harm as a share of it, where 0·∞ is 0.

    Without a harm of false identifications, that share is the chance of identification.

    >>> losses(np.array([np.inf, np.inf, 2.0]), np.array([0.0, 0.5, 0.5])).tolist()
    [0.0, inf, 1.0]
    """
    return np.multiply(phi, harm, out=np.zeros(len(phi)), where=(phi > 0) & (harm > 0))

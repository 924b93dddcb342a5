"""Whether a risk is at most its limit: decided without rounding where floats are too close."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.disclosure.matching.matching import Matching, Rule
from sfumato.disclosure.sensitivity.exact_weights import ExactSensitivity
from sfumato.exact import Number, as_fraction, exponentials_at_most, nearest_float

NEAR = 1e-6
"""Floats that differ by more than this, relative to their size, decide; sums of a billion terms are more precise."""


def decide_by_float(risk: float, limit: Fraction) -> bool | None:
    """Decide whether a risk is at most its limit by its float; None if the float is too close to the limit.

    >>> [decide_by_float(risk, Fraction(1, 2)) for risk in (0.2, 0.5000000001, math.inf)]
    [True, None, False]
    """
    near = nearest_float(limit)
    if math.isinf(risk) or abs(risk - near) > NEAR * max(risk, near):
        return risk <= near
    return None


def exact_harms(
    matching: Matching, rule: Rule, sizes: NDArray[np.int64], false_identification: Number = 0
) -> list[Fraction]:
    """The expected harm of every record as a share of Φ, exactly: the chance of identification if only that harms.

    `false_identification`: the harm if the attacker names another individual, as a share of Φ.

    >>> matching = Matching.of_codes(np.array([[1], [2]]), np.array([[1], [1], [1]]))
    >>> exact_harms(matching, matching.everything, matching.sizes(matching.everything))
    [Fraction(1, 3), Fraction(0, 1)]
    >>> exact_harms(matching, matching.everything, matching.sizes(matching.everything), "0.5")
    [Fraction(2, 3), Fraction(0, 1)]
    """
    share = as_fraction(false_identification)

    def harm(right: Fraction) -> Fraction:
        return right + share * (1 - right)

    if not len(matching.weights):
        one_of = {size: harm(Fraction(1, size)) if size else Fraction(0) for size in np.unique(sizes).tolist()}
        return [one_of[size] for size in sizes.tolist()]
    distinct, of_individual = np.unique(matching.weights, return_inverse=True)
    weights = [as_fraction(weight) for weight in distinct.tolist()]

    def expected(record: int) -> Fraction:
        among = matching.individuals_of(record, rule)
        own = int(matching.own[record])
        counts = np.bincount(of_individual[among], minlength=len(distinct)).tolist()
        whole = sum(count * weight for count, weight in zip(counts, weights, strict=True) if count)
        if not whole:
            return Fraction(0)
        return harm(Fraction(weights[of_individual[own]], whole) if own in among else Fraction(0))

    return [expected(record) for record in range(matching.records)]


def risk_at_most(phi: ExactSensitivity, harms: Sequence[Fraction], limit: Fraction) -> bool:
    """Decide exactly whether the mean of Φ times the harm as a share of it is at most the limit.

    >>> phi = ExactSensitivity.of([Fraction("0.1"), Fraction("0.2")])
    >>> risk_at_most(phi, [Fraction(1)] * 2, Fraction("0.15")), 0.1 + 0.2 <= 2 * 0.15
    (True, False)
    """
    if any(harm > 0 for harm, infinite in zip(harms, phi.infinite.tolist(), strict=True) if infinite):
        return False
    finite = [
        (total, harm) for total, harm, infinite in zip(phi.totals, harms, phi.infinite.tolist(), strict=True) if not infinite
    ]
    times = Counter((total, harm) for total, harm in finite if harm > 0)
    if not phi.exponential:
        return phi.unit * _sum((harm, total * count) for (total, harm), count in times.items()) <= limit * len(harms)
    alike: dict[int, list[tuple[Fraction, int]]] = defaultdict(list)
    for (total, harm), count in times.items():
        alike[total].append((harm, count))
    shares = {total * phi.unit: _sum(terms) for total, terms in alike.items()}
    return exponentials_at_most(shares, limit * len(harms))


def _sum(terms: Iterable[tuple[Fraction, int]]) -> Fraction:
    """The sum of multiples of fractions, over one denominator."""
    listed = list(terms)
    common = math.lcm(*{fraction.denominator for fraction, _ in listed})
    return Fraction(sum(fraction.numerator * (common // fraction.denominator) * times for fraction, times in listed), common)

"""Sums of information decided exactly: each is a rational combination of logarithms of counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from sfumato.exact import sign_of_log_sum
from sfumato.projections.contingency import Spectrum

Weights = Mapping[tuple[int, int], int]
"""For each pair of attributes an integer that its information, or its exposure, is multiplied with."""


@dataclass(frozen=True, eq=False)
class Logs:
    """The counts behind a table's mutual information, as sums of c·log c.

    With n rows, write S(A) = Σ c·ln c over the counts of the values of A, and S(A,B) for pairs. Then, in nats,
    n·I(A,B) = S(A,B) − S(A) − S(B) + n·ln n and n·H(A|B) = S(B) − S(A,B).
    """

    rows: int
    sensitive_rows: tuple[int, ...]
    single: tuple[Spectrum, ...]
    """Of each attribute."""
    joint: Mapping[tuple[int, int], Spectrum]
    """Of each pair, the earlier attribute first."""

    def sign_of_information(self, weights: Weights) -> int:
        """The sign (-1, 0, 1) of the sum of weight·I over pairs."""
        sums: dict[Spectrum, int] = defaultdict(int)
        for (i, j), weight in weights.items():
            sums[self.joint[i, j]] += weight
            sums[self.single[i]] -= weight
            sums[self.single[j]] -= weight
            sums[((self.rows, 1),)] += weight
        return _sign(sums)

    def sign_of_exposure(self, weights: Weights) -> int:
        """The sign (-1, 0, 1) of the sum of weight·E over pairs; n²·E = kA·(S(B) − S(A,B)) + kB·(S(A) − S(A,B)), where
        k are the numbers of rows whose value is sensitive.
        """  # noqa: D205
        sums: dict[Spectrum, int] = defaultdict(int)
        for (i, j), weight in weights.items():
            k, l = self.sensitive_rows[i], self.sensitive_rows[j]
            sums[self.single[j]] += weight * k
            sums[self.single[i]] += weight * l
            sums[self.joint[i, j]] -= weight * (k + l)
        return _sign(sums)


def _sign(sums: Mapping[Spectrum, int]) -> int:
    """The sign of the sum of weight·S; what cancels does so before any logarithm is taken."""
    terms: dict[int, int] = defaultdict(int)
    for spectrum, weight in sums.items():
        if weight:
            for count, times in spectrum:
                terms[count] += weight * count * times
    return sign_of_log_sum((factor, count) for count, factor in terms.items() if factor and count > 1)

"""Entropy and mutual information from counts: exactly 0 where the counts say so, and exact signs of their weighted sums."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.attribute import Attribute
from sfumato.data.groups import combination_counts
from sfumato.exact import sign_of_log_sum

_MAX_INT64_ROWS = 3_000_000_000
"""The square of this number of rows still fits into 64 bits."""

Spectrum = tuple[tuple[int, int], ...]
"""Pairs (count, how many values or pairs of values occur that often): all that a sum of c·log c needs."""

Weights = Mapping[tuple[int, int], int]
"""For each pair of attributes, the integer weight of its information or exposure."""


@dataclass(frozen=True)
class PairInformation:
    """Mutual information and conditional entropies of two attributes in bits, and the spectrum of their joint counts."""

    information: float
    first_given_second: float
    """H(first | second)."""
    second_given_first: float
    """H(second | first)."""
    spectrum: Spectrum


@dataclass(frozen=True, eq=False)
class CountSpectra:
    """The counts behind the mutual information of a table, as sums of c·log c, for verdicts without rounding.

    With n rows, let S(A) = Σ c·ln c over the counts of the values of A, and S(A,B) the same over pairs of values. Then, in
    nats, n·I(A,B) = S(A,B) − S(A) − S(B) + n·ln n and n·H(A|B) = S(B) − S(A,B).
    """

    rows: int
    sensitive_rows: tuple[int, ...]
    """For each attribute, the number of rows whose value is sensitive."""
    single: tuple[Spectrum, ...]
    """For each attribute, its spectrum."""
    joint: Mapping[tuple[int, int], Spectrum]
    """For each pair of attributes (i < j), the spectrum of their joint counts."""

    def sign_of_information(self, weights: Weights) -> int:
        """Return the sign (-1, 0, 1) of the sum of weight·I over pairs, exactly."""
        # Equal spectra share a key, so their weights cancel before logarithms are needed.
        sums: dict[Spectrum, int] = defaultdict(int)
        for (i, j), weight in weights.items():
            sums[self.joint[i, j]] += weight
            sums[self.single[i]] -= weight
            sums[self.single[j]] -= weight
            sums[((self.rows, 1),)] += weight
        return _sign(sums)

    def sign_of_exposure(self, weights: Weights) -> int:
        """Return the sign (-1, 0, 1) of the sum of weight·E over pairs, exactly.

        n²·E(A,B) = kA·(S(B) − S(A,B)) + kB·(S(A) − S(A,B)), where kA and kB are the numbers of rows with a sensitive value.
        """
        sums: dict[Spectrum, int] = defaultdict(int)
        for (i, j), weight in weights.items():
            k_i, k_j = self.sensitive_rows[i], self.sensitive_rows[j]
            sums[self.single[j]] += weight * k_i
            sums[self.single[i]] += weight * k_j
            sums[self.joint[i, j]] -= weight * (k_i + k_j)
        return _sign(sums)


def entropy(attribute: Attribute) -> float:
    """Return H(A) = Σ p·log2(1/p) in bits; exactly 0 for a constant.

    The terms are summed without intermediate rounding, so the order of values and rows does not change the result.
    """
    rows = len(attribute.codes)
    return math.fsum((attribute.counts * np.log2(rows / attribute.counts)).tolist()) / rows


def pair_information(first: Attribute, second: Attribute) -> PairInformation:
    """Return mutual information and conditional entropies of two attributes, in bits.

    I = Σ p(v,w)·log2(p(v,w) / (p(v)·p(w))) is exactly 0 if and only if n(v,w)·n = n(v)·n(w) for all v and w, compared as
    integers. It suffices to compare the pairs that occur: if all of them agree, their shares already sum to 1.
    H(A | B) = Σ p(v,w)·log2(n(w) / n(v,w)) is exactly 0 if and only if A is a function of B.

    Cost: linear in the rows where the product of the domains is of that order, otherwise one sort of the rows.
    """
    rows = len(first.codes)
    codes = [attribute.codes.astype(np.int32, copy=False) for attribute in (first, second)]
    # parts[p] holds the two values of the p-th pair that occurs, counts[p] its number of rows.
    parts, counts = combination_counts(codes, [len(first), len(second)])
    first_counts, second_counts = first.counts[parts[:, 0]], second.counts[parts[:, 1]]
    return PairInformation(
        _mutual_information(counts, first_counts, second_counts, rows),
        _conditional_entropy(counts, second_counts, rows),
        _conditional_entropy(counts, first_counts, rows),
        spectrum(counts),
    )


def spectrum(counts: NDArray[np.int64]) -> Spectrum:
    """Return each distinct count with the number of times it occurs.

    >>> spectrum(np.array([2, 1, 2]))
    ((1, 1), (2, 2))
    """
    distinct, times = np.unique(counts, return_counts=True)
    return tuple(zip(distinct.tolist(), times.tolist(), strict=True))


def _mutual_information(
    counts: NDArray[np.int64], first_counts: NDArray[np.int64], second_counts: NDArray[np.int64], rows: int
) -> float:
    if rows > _MAX_INT64_ROWS:  # Python integers: the products below would overflow 64 bits
        counts, first_counts, second_counts = (array.astype(object) for array in (counts, first_counts, second_counts))
    expected = first_counts * second_counts
    excess = counts * rows - expected
    if not excess.any():
        return 0.0
    # log1p of an exact difference keeps its digits where the ratio is close to 1.
    terms = counts.astype(float) * np.log1p((excess / expected).astype(float))
    # By Pinsker's inequality dependent attributes share at least 2/n⁴ bits: rounding must not turn that into 0.
    return max(math.fsum(terms.tolist()) / (rows * math.log(2)), 2 / float(rows) ** 4)


def _conditional_entropy(counts: NDArray[np.int64], condition_counts: NDArray[np.int64], rows: int) -> float:
    return math.fsum((counts * np.log2(condition_counts / counts)).tolist()) / rows


def _sign(sums: Mapping[Spectrum, int]) -> int:
    """Return the sign of the sum of weight·S; equal terms cancel before any logarithm is computed."""
    terms: dict[int, int] = defaultdict(int)
    for spectrum_of_counts, weight in sums.items():
        if weight:
            for count, times in spectrum_of_counts:
                terms[count] += weight * count * times  # the coefficient of ln(count)
    # ln 1 = 0: counts of 1 do not contribute.
    return sign_of_log_sum((factor, count) for count, factor in terms.items() if factor and count > 1)

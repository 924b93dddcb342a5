"""Entropies of one attribute and of a pair, from counts: exactly 0 where they are 0."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.attribute import Attribute
from sfumato.data.groups import combination_counts

_NARROW = 3_000_000_000
"""Squares of so many rows still fit into 64 bits."""

Spectrum = tuple[tuple[int, int], ...]
"""Counts, and how many values or pairs of values occur so often: all that a sum of c·log c over them needs."""


@dataclass(frozen=True)
class Pair:
    """What two attributes share and what each keeps to itself, in bits; and how often their joint values occur."""

    information: float
    first_given_second: float
    second_given_first: float
    spectrum: Spectrum


def entropy_of(attribute: Attribute) -> float:
    """H(A) = Σ p·log2(1/p), in bits; exactly 0 for a constant.

    Each count is summed without rounding between terms, so the order of values or rows changes nothing.
    """
    rows = len(attribute.codes)
    return math.fsum((attribute.counts * np.log2(rows / attribute.counts)).tolist()) / rows


def pair_of(one: Attribute, other: Attribute) -> Pair:
    """Mutual information and conditional entropies of two attributes, in bits.

    I = Σ p(v,w)·log2(p(v,w) / (p(v)·p(w))), exactly 0 if and only if n(v,w)·n = n(v)·n(w) for all v and w, compared as
    integers; it suffices to look at pairs that occur, for if they all agree, their shares already sum to 1.
    H(A | B) = Σ p(v,w)·log2(n(w) / n(v,w)), exactly 0 if and only if A is a function of B.

    Cost: linear in the rows where the product of the domains is about as small, else that of sorting one integer per row.
    """
    rows = len(one.codes)
    codes = [attribute.codes.astype(np.int32, copy=False) for attribute in (one, other)]
    parts, counts = combination_counts(codes, [len(one), len(other)])
    ones, others = one.counts[parts[:, 0]], other.counts[parts[:, 1]]
    return Pair(
        _information(counts, ones, others, rows),
        _given(counts, others, rows),
        _given(counts, ones, rows),
        spectrum_of(counts),
    )


def spectrum_of(counts: NDArray[np.int64]) -> Spectrum:
    """How many times each count occurs among the counts.

    >>> spectrum_of(np.array([2, 1, 2]))
    ((1, 1), (2, 2))
    """
    distinct, times = np.unique(counts, return_counts=True)
    return tuple(zip(distinct.tolist(), times.tolist(), strict=True))


def _information(counts: NDArray[np.int64], ones: NDArray[np.int64], others: NDArray[np.int64], rows: int) -> float:
    if rows > _NARROW:
        counts, ones, others = (array.astype(object) for array in (counts, ones, others))
    expected = ones * others
    excess = counts * rows - expected
    if not excess.any():
        return 0.0
    # log1p of an exact difference keeps its digits where the ratio is near 1
    terms = counts.astype(float) * np.log1p((excess / expected).astype(float))
    # by Pinsker's inequality dependence shows by at least this much: rounding must not make it vanish
    return max(math.fsum(terms.tolist()) / (rows * math.log(2)), 2 / float(rows) ** 4)


def _given(counts: NDArray[np.int64], totals: NDArray[np.int64], rows: int) -> float:
    return math.fsum((counts * np.log2(totals / counts)).tolist()) / rows

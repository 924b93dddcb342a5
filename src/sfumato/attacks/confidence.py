"""How sure an attacker is of a value: at most, on average, and of how many people entirely."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato._audit import level_shown
from sfumato.data.groups import combination_counts
from sfumato.exact import written


@dataclass(frozen=True)
class Confidence:
    """The share of belief that an attacker puts in the value that seems likeliest, over all people.

    A Fraction where counting decides it, a float where a model does.

    >>> Confidence(Fraction(1), Fraction(3, 4), certain=2)
    at most 1, on average 0.75, certain of 2
    """

    largest: Fraction | float
    """Of the person who is worst off."""
    mean: Fraction | float
    """Over people."""
    certain: int
    """People of whom no other value is possible."""

    def to_dict(self) -> dict[str, Any]:
        """As plain data; `exact` is the largest as it is written, None if it is known to float precision alone."""
        return {
            "largest": float(self.largest),
            "exact": written(self.largest) if isinstance(self.largest, Fraction) else None,
            "mean": float(self.mean),
            "certain": self.certain,
        }

    def __repr__(self) -> str:
        return f"at most {level_shown(self.largest)}, on average {level_shown(self.mean)}, certain of {self.certain:,}"


def confidence_of(most: NDArray[np.int64], sizes: NDArray[np.int64]) -> Confidence:
    """Of people in parts of the rows: how often the commonest value of each part occurs, and how many rows the part has.

    Each part counts as often as it has rows. Division rounds monotonically, so the largest share is among those that are
    largest in floats.

    >>> confidence_of(np.array([1, 2, 3]), np.array([2, 3, 3]))
    at most 1, on average 0.75, certain of 3
    """
    shares = most / sizes
    best = np.unique(np.stack([most, sizes])[:, shares == shares.max()], axis=1)
    return Confidence(
        max(Fraction(int(count), int(size)) for count, size in best.T),
        Fraction(int(most.sum()), int(sizes.sum())),
        int(sizes[most == sizes].sum()),
    )


def commonest(part: NDArray[np.int32], codes: NDArray[np.int32], domain: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each part of the rows how often its commonest value occurs, and how many values; parts are numbered from 0.

    >>> commonest(np.array([0, 0, 0, 1], np.int32), np.array([2, 1, 2, 1], np.int32), 3)
    (array([2, 1]), array([2, 1]))
    """
    parts, counts = combination_counts([part, codes], [int(part.max()) + 1, domain])
    starts = np.flatnonzero(np.diff(parts[:, 0], prepend=-1))
    return np.maximum.reduceat(counts, starts), np.diff(starts, append=len(counts))

"""How confident an attacker is in a value: at most, on average, and of how many people with certainty."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.groups import combination_counts
from sfumato.exact import written
from sfumato.exact.shown_levels import level_shown


@dataclass(frozen=True)
class Confidence:
    """The probability that an attacker assigns to the most likely value, over all people.

    A Fraction if it follows from counts, a float if it follows from a model.

    >>> Confidence(Fraction(1), Fraction(3, 4), certain=2)
    at most 1, on average 0.75, certain of 2
    """

    largest: Fraction | float
    """The maximum over people."""
    mean: Fraction | float
    """The mean over people."""
    certain: int
    """The number of people for whom only one value is possible."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; `exact` is the largest confidence as a fraction, None if it is a float."""
        return {
            "largest": float(self.largest),
            "exact": written(self.largest) if isinstance(self.largest, Fraction) else None,
            "mean": float(self.mean),
            "certain": self.certain,
        }

    def __repr__(self) -> str:
        return f"at most {level_shown(self.largest)}, on average {level_shown(self.mean)}, certain of {self.certain:,}"


class ConfidenceGain:
    """What an attacker learns about a target, as the confidence before and after."""

    before: Confidence
    after: Confidence

    @property
    def mean_gain(self) -> Fraction | float:
        """The increase of the confidence, on average over people; a Fraction if both follow from counts."""
        return self.after.mean - self.before.mean

    @property
    def newly_certain(self) -> int:
        """The number of people whose target becomes certain."""
        return self.after.certain - self.before.certain


def confidence_of_parts(most: NDArray[np.int64], sizes: NDArray[np.int64]) -> Confidence:
    """Return the confidence over people in parts of the rows, weighted by the size of each part.

    `most`: how often the most frequent value of each part occurs. `sizes`: the number of rows of each part. Division rounds
    monotonically, so the largest exact share is among those with the largest float.

    >>> confidence_of_parts(np.array([1, 2, 3]), np.array([2, 3, 3]))
    at most 1, on average 0.75, certain of 3
    """
    shares = most / sizes
    candidates = np.unique(np.stack([most, sizes])[:, shares == shares.max()], axis=1)
    return Confidence(
        max(Fraction(int(count), int(size)) for count, size in candidates.T),
        Fraction(int(most.sum()), int(sizes.sum())),
        int(sizes[most == sizes].sum()),
    )


def most_frequent(
    part: NDArray[np.int32], codes: NDArray[np.int32], domain: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each part of the rows the count of its most frequent value, and its number of distinct values.

    `part`: the part of each row, numbered from 0 without gaps. `codes`: the value of each row, below `domain`.

    >>> most_frequent(np.array([0, 0, 0, 1], np.int32), np.array([2, 1, 2, 1], np.int32), 3)
    (array([2, 1]), array([2, 1]))
    """
    # `pairs` is sorted by part; `starts` are the positions where a new part begins.
    pairs, counts = combination_counts([part, codes], [int(part.max()) + 1, domain])
    starts = np.flatnonzero(np.diff(pairs[:, 0], prepend=-1))
    return np.maximum.reduceat(counts, starts), np.diff(starts, append=len(counts))

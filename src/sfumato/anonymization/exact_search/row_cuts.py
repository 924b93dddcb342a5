"""Inequalities that every partition satisfies and fractional choices of groups violate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.cut_search import search_cuts

_TIMES = 4
"""Up to how many groups may have `part` rows of a cut."""

_EXCESS = 0.02
"""A cut that is violated by less is not used."""

_ALIKE = 0.8
"""Of two cuts with the same part that share this much of their rows, one is used at a time."""


@dataclass(frozen=True, eq=False)
class RowCuts:
    """Sets S of rows with a part m: the groups G of a partition have Σ ⌊|G ∩ S| / m⌋ ≤ ⌊|S| / m⌋.

    This is so because Σ |G ∩ S| / m is |S| / m, rounding down each term lowers the sum, and a whole number that is at most
    |S| / m is at most ⌊|S| / m⌋ (Chvátal 1973).

    >>> import numpy as np
    >>> halves = RowCuts.none().with_violated(np.array([0b011, 0b101, 0b110]), np.full(3, 0.5), 3, 2, 20)
    >>> [f"{bits:03b}" for bits in halves.rows], halves.part.tolist(), halves.most.tolist()  # of three pairs one is possible
    (['111'], [2], [1])
    """

    rows: NDArray[np.int64]
    """For each cut the bits of its rows,"""
    part: NDArray[np.int64]
    """the number of its rows that count as one,"""
    most: NDArray[np.int64]
    """and the largest possible sum."""

    @classmethod
    def none(cls) -> RowCuts:
        """Return no cuts."""
        return cls(*(np.zeros(0, np.int64) for _ in range(3)))

    def terms(self, masks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return for each cut and group its term of the sum."""
        shared = np.bitwise_count(self.rows[:, None] & masks[None, :]).astype(np.int64)
        return np.asarray(shared // self.part[:, None])

    def taken(self, chosen: NDArray[np.bool_]) -> RowCuts:
        """Return some of the cuts."""
        return RowCuts(self.rows[chosen], self.part[chosen], self.most[chosen])

    def with_violated(
        self, masks: NDArray[np.int64], weight: NDArray[np.float64], rows: int, largest: int, count: int
    ) -> RowCuts:
        """Return these cuts and up to `count` others that groups, each chosen with a weight, violate most for their part.

        `largest`: the largest part that is tried. Small parts come first: a search for groups can heed them early.
        """
        bits = (masks[:, None] >> np.arange(rows) & 1).astype(float)
        together = np.ascontiguousarray((bits * weight[:, None]).T @ bits)
        candidates = set()
        for part in range(2, largest + 1):
            for times in range(1, _TIMES + 1):
                if part * times + part - 1 <= rows:
                    found, excess = np.zeros(rows, np.int64), np.zeros(rows)
                    scratch = np.zeros(rows), np.zeros(len(masks), np.int64)
                    search_cuts(together, masks, weight, part, times, *scratch, found, excess)
                    pairs = zip(np.round(excess, 9).tolist(), found.tolist(), strict=True)
                    candidates |= {(-gain / part, part, times, chosen) for gain, chosen in pairs if gain > _EXCESS}
        known = set(zip(self.rows.tolist(), self.part.tolist(), strict=True))
        added: list[tuple[int, int, int]] = []
        for _, part, times, chosen in sorted(candidates):
            alike = _ALIKE * chosen.bit_count()
            if (chosen, part) not in known and all(
                (chosen & other).bit_count() <= alike for other, one, _ in added if one == part
            ):
                added.append((chosen, part, times))
            if len(added) == count:
                break
        more = np.array(added, np.int64).reshape(-1, 3)
        return RowCuts(*(np.append(old, new) for old, new in zip((self.rows, self.part, self.most), more.T, strict=True)))

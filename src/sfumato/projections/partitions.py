"""Every plan over a few attributes, with its ratios, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sfumato.projections.dependence import Dependence
from sfumato.projections.plan import Plan

FEW = 10
"""Up to so many attributes all plans are looked at unasked: 115,975 of them."""

MOST = 12
"""Up to so many attributes all plans may be looked at: 4,213,597 of them, in ten seconds or so."""

_AT_A_TIME = 1 << 14
"""So many plans are weighed at a time, to stay within a processor's cache."""

_PLACES = 12
"""Ratios that agree in so many places count as equal where plans are put in order."""


@dataclass(frozen=True, eq=False)
class Partitions:
    """Plans as restricted growth strings: `strings[p, i]` is the block of attribute i, and a new block has the next number.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> from sfumato.data.table import Table
    >>> people = pa.table({"sex": ["f", "f", "m", "m"], "title": ["ms", "ms", "mr", "mr"], "rich": ["y", "n", "y", "n"]})
    >>> dependence = Dependence.of(Table(people, Schema(sensitive=["sex", "title", "rich"])))
    >>> every = Partitions.of(dependence)
    >>> len(every), every.plan(int(every.by_loss()[0])).label
    (5, 'sex + title | rich')
    """

    names: tuple[str, ...]
    strings: NDArray[np.uint8]
    loss: NDArray[np.float64]
    """Γ_α of each, to show and to sort by; near a threshold the exact verdict decides."""
    exposure: NDArray[np.float64]
    """Γ_β of each, likewise."""

    @classmethod
    def of(cls, dependence: Dependence, most_exposure: float = 1.0) -> Partitions:
        """All plans whose Γ_β is at most a bound; in the order of their strings.

        Attributes are added one by one. Γ_β of the plan so far only grows with each, so that what is above the bound is
        dropped at once, with all that would come of it. Cost: linear in the plans that are left, times pairs.
        """
        size = len(dependence.names)
        strings = np.zeros((1, 1), np.uint8)
        for _ in range(1, size):
            blocks = strings.max(axis=1).astype(np.int64) + 2  # those there are, and a new one
            row = np.repeat(np.arange(len(strings)), blocks)
            added = np.arange(len(row)) - np.repeat(np.cumsum(blocks) - blocks, blocks)
            strings = np.column_stack([strings[row], added.astype(np.uint8)])
            if most_exposure < 1:
                strings = strings[_ratios(strings, dependence)[1] <= most_exposure]
        return cls(dependence.names, strings, *_ratios(strings, dependence))

    def __len__(self) -> int:
        return len(self.strings)

    def plan(self, index: int) -> Plan:
        """One plan."""
        block: dict[int, list[str]] = {}
        for name, at in zip(self.names, self.strings[index].tolist(), strict=True):
            block.setdefault(at, []).append(name)
        return Plan(tuple(tuple(block[at]) for at in sorted(block)), self.names)

    def blocks(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each of these plans and each attribute the block that it is in, as a number with a bit for each member."""
        strings = self.strings[indices]
        return np.asarray((strings[:, :, None] == strings[:, None, :]) @ (1 << np.arange(len(self.names))))

    def by_loss(self) -> NDArray[np.int64]:
        """The plans, least Γ_α first; of equal ones least Γ_β first, then in the order of their strings."""
        return np.lexsort([np.round(self.exposure, _PLACES), np.round(self.loss, _PLACES)])

    def by_excess(self, alpha: float, beta: float) -> NDArray[np.int64]:
        """The plans by how far they are above both thresholds together; of equal ones as `by_loss`."""
        excess = np.maximum(self.loss - alpha, 0) + np.maximum(self.exposure - beta, 0)
        return np.lexsort([np.round(self.exposure, _PLACES), np.round(self.loss, _PLACES), np.round(excess, _PLACES)])

    def front(self) -> list[int]:
        """The plans that no other one beats in both ratios, least Γ_α first; one plan for each pair of ratios."""
        order = self.by_loss()
        exposure = np.round(self.exposure[order], _PLACES)
        before = np.minimum.accumulate(np.concatenate([[np.inf], exposure[:-1]]))
        return [int(index) for index in order[exposure < before]]


def _ratios(strings: NDArray[np.uint8], dependence: Dependence) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Γ_α and Γ_β of plans over the first attributes, as far as those make them up."""
    size = len(dependence.names)
    information, exposure = (
        matrix / (float(np.triu(matrix, 1).sum()) or 1.0) for matrix in (dependence.information, dependence.exposure)
    )
    pairs = list(combinations(range(strings.shape[1]), 2))
    loss, exposed = np.zeros(len(strings)), np.zeros(len(strings))
    for start in range(0, len(strings), _AT_A_TIME):
        columns = np.ascontiguousarray(strings[start : start + _AT_A_TIME].T)
        here = slice(start, start + columns.shape[1])
        same = {(i, j): columns[i] == columns[j] for i, j in pairs}
        members = np.ones(columns.shape, np.uint8)
        for (i, j), together in same.items():
            members[i] += together
            members[j] += together
        for (i, j), together in same.items():
            if information[i, j] > 0:
                loss[here] += information[i, j] * ~together
            if exposure[i, j] > 0:
                exposed[here] += exposure[i, j] / size * (together * members[i])
    return loss, exposed

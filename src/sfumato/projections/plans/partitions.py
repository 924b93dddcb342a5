"""Every plan over a few attributes, with its ratios, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sfumato.projections.plans.dependence import Dependence
from sfumato.projections.plans.plan import Plan

AUTO_EXHAUSTIVE_LIMIT = 10
"""Up to this number of attributes "auto" examines all plans: 115,975 of them."""

EXHAUSTIVE_LIMIT = 12
"""Up to this number of attributes "exhaustive" is accepted: 4,213,597 plans, in about ten seconds."""

_CHUNK = 1 << 14
"""Ratios are computed for this number of plans at a time, to stay within the processor's cache."""

_DECIMALS = 12
"""Ratios that agree in this number of decimals count as equal where plans are sorted."""


@dataclass(frozen=True, eq=False)
class Partitions:
    """Plans as restricted growth strings.

    `strings[p, i]` is the block of attribute i in plan p; the first attribute is in block 0, and each new block has the next
    number, so every plan has exactly one string.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> from sfumato.data.table import Table
    >>> people = pa.table({"sex": ["f", "f", "m", "m"], "title": ["ms", "ms", "mr", "mr"], "rich": ["y", "n", "y", "n"]})
    >>> dependence = Dependence.of(Table(people, Schema(sensitive=["sex", "title", "rich"])))
    >>> all_plans = Partitions.of(dependence)
    >>> len(all_plans), all_plans.plan(int(all_plans.by_loss()[0])).label
    (5, 'sex + title | rich')
    """

    names: tuple[str, ...]
    strings: NDArray[np.uint8]
    loss: NDArray[np.float64]
    """Γ_α of each plan, for display and sorting; near a threshold the exact verdict decides."""
    exposure: NDArray[np.float64]
    """Γ_β of each plan, likewise."""

    @classmethod
    def of(cls, dependence: Dependence, most_exposure: float = 1.0) -> Partitions:
        """Enumerate all plans whose Γ_β is at most a bound, in the order of their strings.

        Attributes are added one by one. Γ_β of a partial plan only grows with each attribute, so a partial plan above the
        bound is dropped with all its extensions. Cost: linear in the remaining plans, times pairs of attributes.
        """
        size = len(dependence.names)
        strings = np.zeros((1, 1), np.uint8)  # the first attribute alone, in block 0
        for _ in range(1, size):
            choices = strings.max(axis=1).astype(np.int64) + 2  # each existing block, or a new one
            # Repeat every string once per choice; `block` counts 0, 1, … within each repetition.
            row = np.repeat(np.arange(len(strings)), choices)
            block = np.arange(len(row)) - np.repeat(np.cumsum(choices) - choices, choices)
            strings = np.column_stack([strings[row], block.astype(np.uint8)])
            if most_exposure < 1:
                strings = strings[_ratios(strings, dependence)[1] <= most_exposure]
        return cls(dependence.names, strings, *_ratios(strings, dependence))

    def __len__(self) -> int:
        return len(self.strings)

    def plan(self, index: int) -> Plan:
        """Return one plan."""
        blocks: dict[int, list[str]] = {}
        for name, block in zip(self.names, self.strings[index].tolist(), strict=True):
            blocks.setdefault(block, []).append(name)
        return Plan(tuple(tuple(blocks[block]) for block in sorted(blocks)), self.names)

    def blocks(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return for each of these plans and each attribute its block, as an integer with bit i set for attribute i."""
        # Attributes with equal block numbers form a row of a boolean matrix; its product with powers of 2 is the bit set.
        strings = self.strings[indices]
        return np.asarray((strings[:, :, None] == strings[:, None, :]) @ (1 << np.arange(len(self.names))))

    def by_loss(self) -> NDArray[np.int64]:
        """Return the plans sorted by Γ_α, then Γ_β, then string."""
        return np.lexsort([np.round(self.exposure, _DECIMALS), np.round(self.loss, _DECIMALS)])

    def by_excess(self, alpha: float, beta: float) -> NDArray[np.int64]:
        """Return the plans sorted by the sum of their excesses over both thresholds, then as `by_loss`."""
        excess = np.maximum(self.loss - alpha, 0) + np.maximum(self.exposure - beta, 0)
        return np.lexsort([np.round(self.exposure, _DECIMALS), np.round(self.loss, _DECIMALS), np.round(excess, _DECIMALS)])

    def pareto_front(self) -> list[int]:
        """Return the plans that no other plan beats in both ratios, by Γ_α; one plan for each pair of ratios."""
        order = self.by_loss()
        exposure = np.round(self.exposure[order], _DECIMALS)
        # In the order of the loss, a plan is on the front if it exposes less than every plan before it.
        least_before = np.minimum.accumulate(np.concatenate([[np.inf], exposure[:-1]]))
        return [int(index) for index in order[exposure < least_before]]


def _ratios(strings: NDArray[np.uint8], dependence: Dependence) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Γ_α and Γ_β of plans over the first attributes; for partial plans, the parts that these contribute."""
    size = len(dependence.names)
    # Normalize by the totals over all pairs, so that the sums below are the ratios.
    information, exposure = (
        matrix / (float(np.triu(matrix, 1).sum()) or 1.0) for matrix in (dependence.information, dependence.exposure)
    )
    # Columns are contiguous within a chunk, so every pair is one comparison of two short arrays.
    pairs = list(combinations(range(strings.shape[1]), 2))
    loss, exposed = np.zeros(len(strings)), np.zeros(len(strings))
    for start in range(0, len(strings), _CHUNK):
        columns = np.ascontiguousarray(strings[start : start + _CHUNK].T)
        chunk = slice(start, start + columns.shape[1])
        together = {(i, j): columns[i] == columns[j] for i, j in pairs}
        block_size = np.ones(columns.shape, np.uint8)  # of the block of each attribute
        for (i, j), same_block in together.items():
            block_size[i] += same_block
            block_size[j] += same_block
        for (i, j), same_block in together.items():
            if information[i, j] > 0:
                loss[chunk] += information[i, j] * ~same_block
            if exposure[i, j] > 0:
                exposed[chunk] += exposure[i, j] / size * (same_block * block_size[i])
    return loss, exposed

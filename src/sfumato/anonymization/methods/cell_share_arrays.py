"""The shares of published cells as arrays that kernels read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.recoding import Domain, RecodingKind
from sfumato.kernels.cell_shares import LINE, SET, TREE, Shares

_PAIRS = 512
"""Domains of up to this many places are tabulated by pairs of places: at most 2 MB each."""


def share_arrays(domains: Sequence[Domain], weights: NDArray[np.float64] | None = None) -> Shares:
    """Return `Domain.share` of several domains, times their weights, in the form that `kernels.cell_shares.share` reads.

    Arrays over places are as long as the largest domain needs.

    >>> import pyarrow as pa
    >>> from sfumato.kernels.cell_shares import share
    >>> from sfumato.anonymization.recoding import domains_of
    >>> from sfumato.data.schema import Schema
    >>> from sfumato.data.table import Table
    >>> domains = domains_of(Table(pa.table({"age": [20, 30, 60], "sex": ["f", "m", "f"]}), Schema(["age", "sex"])))
    >>> shares = share_arrays(domains)
    >>> share(shares, 0, 0, 1, 2), share(shares, 1, 0, 1, 2)
    (0.25, 1.0)
    """
    count = len(domains)
    weight = np.ones(count) if weights is None else weights
    lines = [domain for domain in domains if domain.recoding is RecodingKind.INTERVAL]
    trees = [domain for domain in domains if domain.recoding is RecodingKind.ANCESTOR]
    kinds = {RecodingKind.INTERVAL: LINE, RecodingKind.ANCESTOR: TREE, RecodingKind.SET: SET}
    at = np.zeros((count, max((domain.size for domain in lines), default=0)))
    levels = max((len(domain.above) for domain in trees), default=0)
    above = np.zeros((count, levels, max((domain.size for domain in trees), default=0)), np.int32)
    wide, least = np.zeros(above.shape), np.zeros(count)
    first, pairs = np.full(count, -1, np.int64), [np.zeros(0)]
    for j, domain in enumerate(domains):
        if domain.numeric:
            at[j, : domain.size] = domain.at
        elif domain.recoding is RecodingKind.INTERVAL:
            # ordinal values are counted: a cell from place a to place b covers b - a + 1 of them
            at[j, : domain.size] = np.arange(domain.size) / domain.size
            least[j] = 1 / domain.size
        for level, nodes in enumerate(domain.above):
            above[j, level, : domain.size] = nodes
            wide[j, level, : domain.size] = domain.leaves[level][nodes] / domain.size
        if domain.recoding is not RecodingKind.SET and domain.size <= _PAIRS:
            first[j] = sum(map(len, pairs))
            pairs.append(_pair_table(domain, at[j], least[j], wide[j]).ravel() * weight[j])
    return Shares(
        np.array([kinds[domain.recoding] for domain in domains], np.int64),
        np.array([domain.size for domain in domains], np.int64),
        at * weight[:, None], least * weight, above, wide * weight[:, None, None], first, np.concatenate(pairs), weight,
    )  # fmt: skip


def _pair_table(domain: Domain, at: NDArray[np.float64], least: float, wide: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, for each pair of places, the share of a cell that covers both."""
    if domain.recoding is RecodingKind.INTERVAL:
        return np.asarray(np.abs(at[: domain.size] - at[: domain.size, None]) + least)
    table = np.ones((domain.size, domain.size))
    # from the root down to the leaves, so that the lowest common ancestor of a pair is written last
    for level in range(len(domain.above) - 1, -1, -1):
        nodes = domain.above[level]
        table = np.where(nodes[:, None] == nodes, wide[level, : domain.size, None], table)
    return table

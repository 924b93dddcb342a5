"""The shares of published cells as arrays that kernels read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.association_lines import AssociationLine
from sfumato.anonymization.recoding import Domain, RecodingKind
from sfumato.kernels.cell_shares import LINE, SET, TREE, Shares

_PAIRS = 512
"""Domains of up to this many places are tabulated by pairs of places: at most 2 MB each."""


def share_arrays(
    domains: Sequence[Domain],
    weights: NDArray[np.float64] | None = None,
    lines: Sequence[AssociationLine] = (),
) -> Shares:
    """Return `Domain.share` of several domains, times their weights, in the form that `kernels.cell_shares.share` reads.

    `lines`: what to add to the shares, so that values with different outcomes are kept apart. To intervals and nodes they
    add what the cell covers. A set has no extent to add to: its line is one more attribute, after the domains, whose places
    are those of `line_places`. Arrays over places are as long as the largest domain needs.

    >>> import pyarrow as pa
    >>> from sfumato.kernels.cell_shares import share
    >>> from sfumato.anonymization.recoding import domains_of
    >>> from sfumato.data.schema import Schema
    >>> from sfumato.data.table import Table
    >>> domains = domains_of(Table(pa.table({"age": [20, 30, 60], "sex": ["f", "m", "f"]}), Schema(["age", "sex"])))
    >>> shares = share_arrays(domains)
    >>> [float(share(shares, j, 0, 1, 2)) for j in (0, 1)]
    [0.25, 1.0]
    """
    own = set_lines(domains, lines)
    count = len(domains) + len(own)
    weight = np.ones(len(domains)) if weights is None else weights
    weight = np.append(weight, [line.weight for line in own])
    trees = [domain for domain in domains if domain.recoding is RecodingKind.ANCESTOR]
    kinds = {RecodingKind.INTERVAL: LINE, RecodingKind.ANCESTOR: TREE, RecodingKind.SET: SET}
    sizes = [*(domain.size for domain in domains), *(len(line_places(line)[0]) for line in own)]
    along = [domain.recoding is RecodingKind.INTERVAL for domain in domains] + [True] * len(own)
    at = np.zeros((count, max((size for size, line in zip(sizes, along, strict=True) if line), default=0)))
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
    at, least, wide = at * weight[:, None], least * weight, wide * weight[:, None, None]
    withheld = _with_lines(domains, lines, weight, at, wide)
    for j, domain in enumerate(domains):
        if domain.recoding is not RecodingKind.SET and domain.size <= _PAIRS:
            first[j] = sum(map(len, pairs))
            pairs.append(_pair_table(domain, at[j], least[j], wide[j]).ravel())
    return Shares(
        np.array([*(kinds[domain.recoding] for domain in domains), *(LINE for _ in own)], np.int64),
        np.array(sizes, np.int64), at, least, above, wide, first, np.concatenate(pairs), withheld,
        np.array([*(domain.total for domain in domains), *sizes[len(domains) :]], np.int64),
    )  # fmt: skip


def _with_lines(
    domains: Sequence[Domain],
    lines: Sequence[AssociationLine],
    weight: NDArray[np.float64],
    at: NDArray[np.float64],
    wide: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Add the lines to the positions of intervals and to the widths of nodes; return the cost of each attribute's `*`."""
    for j, line in enumerate(set_lines(domains, lines), start=len(domains)):
        positions = line_places(line)[0]
        at[j, : len(positions)] = positions * line.weight
    withheld = weight.copy()
    names = [domain.name for domain in domains]
    for line in lines:
        j = names.index(line.column)
        domain = domains[j]
        if domain.recoding is RecodingKind.SET:
            continue
        withheld[j] += line.weight
        if domain.recoding is RecodingKind.INTERVAL:
            at[j, : domain.size] += line.weight * line.steps()
        for level, nodes in enumerate(domain.above):
            wide[j, level, : domain.size] += line.weight * line.ranges(nodes, line.outcome[:-1])[nodes]
    return withheld


def set_lines(domains: Sequence[Domain], lines: Sequence[AssociationLine]) -> list[AssociationLine]:
    """Return the lines of columns that are published as sets."""
    sets = {domain.name for domain in domains if domain.recoding is RecodingKind.SET}
    return [line for line in lines if line.column in sets]


def line_places(line: AssociationLine) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return the distinct positions of a line, ascending, and for each place of its domain the number of its position."""
    positions, places = np.unique(np.nan_to_num(line.outcome), return_inverse=True)
    return positions, places.reshape(-1).astype(np.int32)


def _pair_table(domain: Domain, at: NDArray[np.float64], least: float, wide: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, for each pair of places, the share of a cell that covers both."""
    if domain.recoding is RecodingKind.INTERVAL:
        return np.asarray(np.abs(at[: domain.size] - at[: domain.size, None]) + least)
    table = np.zeros((domain.size, domain.size))
    # from the root down to the leaves, so that the lowest common ancestor of a pair is written last
    for level in range(len(domain.above) - 1, -1, -1):
        nodes = domain.above[level]
        table = np.where(nodes[:, None] == nodes, wide[level, : domain.size, None], table)
    return table

"""Classes of values that cover every cell of a quasi-identifier, with what such cells cost at least."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.recoding import Domain, RecodingKind

_FINEST = 1 / 64
"""Intervals narrower than this are not told apart by their width, on a line that is not searched exactly."""

_SHIFTS = 3
"""How many grids cover the intervals of a width."""

_WIDER = 1 + 1e-9
"""Classes are a little wider than they need be, so that no rounding puts an interval across the edges of all grids."""


class CoveringOption(NamedTuple):
    """A partition of the places of a domain into classes, and the cost of each place's class."""

    label: NDArray[np.int64]
    """For each place, the missing one last, the number of its class."""
    cost: NDArray[np.float64]
    """For each place what a cell costs at least that this option, and no cheaper one, covers."""


def covering_options(domain: Domain) -> list[CoveringOption]:
    """Return options such that each cell lies within one class of an option that costs no more than the cell.

    The first option has a class for each value, at no cost. The nodes of a hierarchy are classes that cost what they cost as
    cells. A set of two values or more costs at least what two values cost. An interval wider than w/2 and no wider than w
    lies within a class of one of three grids with classes of the width 3w/2, each moved by w/2: it costs at least w/2.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> from sfumato.anonymization.recoding import domains_of
    >>> table = sf.Table(pa.table({"sex": ["f", "m", "f"]}), sf.Schema(["sex"]))
    >>> [(option.label.tolist(), option.cost.tolist()) for option in covering_options(domains_of(table)[0])]
    [([0, 1, 2], [0.0, 0.0, 0.0]), ([0, 0, 0], [1.0, 1.0, 1.0])]
    """
    places = domain.size + 1
    options = [CoveringOption(np.arange(places), np.zeros(places))]
    if domain.recoding is RecodingKind.ANCESTOR:
        options += _nodes(domain)
    elif domain.recoding is RecodingKind.INTERVAL:
        options += _grids(domain)
    everything = np.zeros(places, np.int64)
    if domain.recoding is RecodingKind.SET:
        options.append(CoveringOption(everything, np.full(places, min(1.0, 2 / max(1, domain.total)))))
    elif domain.recoding is RecodingKind.ANCESTOR:
        options.append(CoveringOption(everything, np.ones(places)))
    return [option for k, option in enumerate(options) if k == 0 or not _same(option, options[k - 1])]


def line_positions(domain: Domain) -> tuple[NDArray[np.float64], float]:
    """Return the position of each place on a line, the missing one at 2, and what an interval costs beyond its width."""
    if domain.numeric:
        return np.append(domain.at, 2.0), 0.0
    return np.append(np.arange(domain.size) / max(1, domain.size), 2.0), 1 / max(1, domain.size)


def _nodes(domain: Domain) -> list[CoveringOption]:
    """Return the levels of a hierarchy below the root; a missing value shares a cell with others only as `*`."""
    options = []
    for nodes, leaves in zip(domain.above, domain.leaves, strict=True):
        under = leaves[nodes]
        if len(leaves) == 1:
            break
        # a node above one leaf is that leaf, whatever its level
        cost = np.where(under == 1, 0.0, under / domain.size)
        options.append(CoveringOption(np.append(nodes, len(leaves)), np.append(cost, 0.0)))
    return options


def _grids(domain: Domain) -> list[CoveringOption]:
    """Return grids for the intervals of each width, from narrow to wide; the last one covers everything."""
    at, step = line_positions(domain)
    gaps = np.diff(at[:-1])
    gap = float(gaps[gaps > 0].min(initial=1.0))
    widths = [1.0]
    while widths[-1] > max(gap, _FINEST):
        widths.append(widths[-1] / 2)
    options = []
    for width in widths[::-1]:
        narrower = width / 2 if width > widths[-1] else 0.0
        cost = np.full(len(at), max(narrower, gap) + step)
        if width > 0.5:
            options.append(CoveringOption(np.zeros(len(at), np.int64), cost))
            continue
        pace = width / 2 * _WIDER
        for shift in range(_SHIFTS):
            label = np.floor((at + shift * pace) / (_SHIFTS * pace)).astype(np.int64)
            label[-1] = label.max() + 1
            options.append(CoveringOption(label, cost))
    return options


def _same(one: CoveringOption, other: CoveringOption) -> bool:
    """Return whether two options divide the places alike, so that the second is of no use."""
    return np.array_equal(_first_of(one.label), _first_of(other.label))


def _first_of(label: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each place the first place of its class."""
    _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
    return np.asarray(first[inverse.reshape(-1)])

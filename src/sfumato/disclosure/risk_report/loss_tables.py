"""Histograms of the losses, and of the numbers of consistent individuals, over the records."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.exact import nearest_float
from sfumato.exact.bins import round_width, size_bins

_NOTHING = 1e-300
"""A loss of at most this counts as none: floats end there."""
_NARROW = 50
"""Bins have one width if the largest loss is at most this many times the least."""
_EVEN = 20
"""The most bins of one width."""
_DECADES = 5
"""Losses more than this many powers of ten below the largest share one bin."""


def consistent_histogram(sizes: NDArray[np.int64]) -> dict[str, Any]:
    """Count the records with no consistent individual, one, two, and so on.

    >>> consistent_histogram(np.array([0, 1, 1, 3, 12]))
    {'bins': ['0', '1', '2', '3–4', '5–9', '10–19'], 'records': [1, 2, 0, 1, 0, 1]}
    """
    starts, bins = size_bins(max(1, int(sizes.max(initial=0))))
    counts = np.bincount(np.searchsorted(starts, sizes, side="right"), minlength=len(starts) + 1)
    return {"bins": ["0", *bins], "records": counts.tolist()}


def loss_histogram(losses: NDArray[np.float64]) -> dict[str, Any]:
    """Count the records with no loss, a loss in each bin, and an infinite one.

    A bin contains the losses above its lower end, up to and including its upper end. Bins have one width or, if losses
    differ widely, end at 1, 2 and 5 times powers of ten.

    >>> loss_histogram(np.array([0, 9.0, 9.0]))
    {'bins': ['0', '8.5 – 9'], 'records': [1, 2]}
    >>> loss_histogram(np.array([0.01, 0.3, 1, np.inf]))["bins"]
    ['0', '0.005 – 0.01', '0.01 – 0.02', '0.02 – 0.05', '0.05 – 0.1', '0.1 – 0.2', '0.2 – 0.5', '0.5 – 1', '∞']
    """
    finite = losses[np.isfinite(losses) & (losses > _NOTHING)]
    bins, counts = ["0"], [int((losses <= _NOTHING).sum())]
    if len(finite):
        edges = _edges(float(finite.min()), float(finite.max()))
        inside = np.bincount(np.searchsorted(edges, finite, side="left"), minlength=len(edges))
        names = [f"{low:g} – {high:g}" for low, high in pairwise(edges)]
        below = [f"up to {edges[0]:g}"] if inside[0] else []
        bins += below + names
        counts += inside[0 if below else 1 :].tolist()
    if np.isinf(losses).any():
        bins.append("∞")
        counts.append(int(np.isinf(losses).sum()))
    return {"bins": bins, "records": counts}


def _edges(least: float, most: float) -> list[float]:
    """Ends of bins around the values: even, or 1, 2 and 5 times powers of ten from a few powers below the largest."""
    if most <= _NARROW * least:
        width = round_width(Fraction((most - least or most) / (_EVEN - 1)))
        start, end = math.ceil(Fraction(least) / width) - 1, math.ceil(Fraction(most) / width)
        return [nearest_float(place * width) for place in range(start, end + 1)]
    top = math.ceil(math.log10(most)) + 1
    low = max(math.floor(math.log10(least)) - 1, top - _DECADES - 1)
    every = [float(f"{step}e{power}") for power in range(low, top + 1) for step in (1, 2, 5)]
    first = max([edge for edge in every if edge < least], default=every[0])
    last = min(edge for edge in every if edge >= most)
    return [edge for edge in every if first <= edge <= last]

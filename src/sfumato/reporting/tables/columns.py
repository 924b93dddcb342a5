"""Each column's distribution before and after, and what its recoding cost."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.exact import Numbers, nearest_float, written
from sfumato.recoding import Domain, How
from sfumato.recoding.domain import domain_of
from sfumato.reporting.tables.steps import EXACT, in_steps
from sfumato.schema import Role
from sfumato.table import MISSING, Column, Table
from sfumato.utility.cover import Cover
from sfumato.utility.marginals import marginal_of

BINS = 40
"""The most bars of a distribution over an order."""
_NAMED = 20
"""The most bars of a distribution over values without one."""
_COARSEST = Fraction(1, 10)
"""Shares in larger steps tell nothing of a distribution: quasi-identifiers of so few rows have none."""
_TAIL = 0.01
"""Numbers are binned evenly between these quantiles from either end; what lies beyond goes into the outer bins."""
_LONGEST = 60
"""Characters of a value that are shown."""

Shares = NDArray[np.float64]


def columns(
    published: Table, covers: Sequence[Cover], sizes: NDArray[np.int64], loss: Mapping[str, float], step: Fraction
) -> list[dict[str, Any]]:
    """The distribution of each quasi-identifier and sensitive column, in at most 40 bins.

    Quasi-identifiers: `before`, the share of the original's rows, in steps; `after`, what a reader expects who takes all
    values that a cell covers as equally likely; `misplaced`, half the sum of the differences. None are told of fewer than
    50 rows. Sensitive columns are
    published as they are, so there is one distribution, that of the published rows.
    """
    found = []
    for cover in covers:
        marginal = marginal_of(cover, sizes)
        bins, labels = _bins(cover.domain, marginal.true)
        sums = (np.bincount(bins, shares, len(labels)) for shares in (marginal.true, marginal.estimated))
        before, after = ([in_steps(share, step) for share in shares.tolist()] for shares in sums)
        shown = [i for i in range(len(labels)) if (before[i] or after[i]) and step <= _COARSEST]
        found.append(
            {
                "name": cover.domain.name,
                "role": str(Role.QUASI_IDENTIFIER),
                "loss": loss[cover.domain.name],
                "misplaced": in_steps(marginal.distance, max(step, Fraction(1, 100))),
                "ordered": _ordered(cover.domain),
                "labels": [labels[i] for i in shown],
                "before": [before[i] for i in shown],
                "after": [after[i] for i in shown],
            }
        )
    for name in dict.fromkeys(published.schema.sensitive_columns()):
        domain = domain_of(published.column(name))
        counts = np.bincount(domain.place[domain.column.codes], minlength=domain.size + 1)
        bins, labels = _bins(domain, counts / counts.sum())
        shares = np.bincount(bins, counts, len(labels)) / counts.sum()
        shown = [i for i in range(len(labels)) if shares[i]]
        found.append(
            {
                "name": name,
                "role": str(Role.SENSITIVE),
                "distinct": domain.column.size,
                "ordered": _ordered(domain),
                "labels": [labels[i] for i in shown],
                "after": [in_steps(shares[i], EXACT) for i in shown],
            }
        )
    return found


def _ordered(domain: Domain) -> bool:
    """Whether the values stand in an order that means something."""
    return domain.how is How.INTERVAL or domain.column.numbers is not None


def _bins(domain: Domain, shares: Shares) -> tuple[NDArray[np.int64], list[str]]:
    """For each place of a domain, the missing one behind the last, its bin; and what each bin is called."""
    column, size = domain.column, domain.size
    if size <= (BINS if _ordered(domain) else _NAMED):
        bins, labels = np.arange(size + 1), [_shortened(domain.label(place)) for place in range(size)]
    elif column.numbers is not None and domain.how is not How.ANCESTOR:
        bins, labels = _even(column, column.numbers, shares)
    elif _ordered(domain):
        bins = np.arange(size + 1) * BINS // size
        starts = np.searchsorted(bins, np.arange(BINS + 1))
        labels = [_between(domain.label(int(a)), domain.label(int(b) - 1)) for a, b in pairwise(starts)]
    else:
        order = np.lexsort([np.arange(size), -shares[:size]])[: _NAMED - 1]
        bins = np.full(size + 1, _NAMED - 1)
        bins[order] = np.arange(_NAMED - 1)
        labels = [*(_shortened(domain.label(int(place))) for place in order), f"{size - _NAMED + 1:,} others"]
    bins[size] = len(labels)
    return bins, [*labels, MISSING]


def _even(column: Column, numbers: Numbers, shares: Shares) -> tuple[NDArray[np.int64], list[str]]:
    """Bins of one width, written by round numbers; the outer ones hold what lies beyond."""
    size = column.size
    upto = np.cumsum(shares[:size]) / max(float(shares[:size].sum()), 1e-300)
    low, high = (numbers[min(int(np.searchsorted(upto, level)), size - 1)] for level in (_TAIL, 1 - _TAIL))
    if high == low:
        low, high = numbers[0], numbers[size - 1]
    width = _round_width((high - low) / (BINS - 2))
    first, last = math.floor(low / width), math.floor(high / width)
    # in units of the column, so that no number is rounded: ⌊integer·unit / width⌋
    scale = numbers.unit / width
    places = [integer * scale.numerator // scale.denominator for integer in numbers.integers.tolist()]
    labels = []
    whole = width.denominator == 1 and numbers.unit.denominator == 1
    for number in range(first, last + 1):
        start, stop = number * width, (number + 1) * width
        end = stop - 1 if whole else stop
        labels.append(written(start) if end == start else _between(written(start), written(end)))
    if places[0] < first:
        labels[0] = f"below {written((first + 1) * width)}"
    if places[-1] > last:
        labels[-1] = f"from {written(last * width)}"
    return np.array([*(min(max(place, first), last) - first for place in places), len(labels)]), labels


def _round_width(least: Fraction) -> Fraction:
    """A width of at least this much that one would write by hand."""
    power = Fraction(10) ** math.floor(math.log10(nearest_float(least)))
    return next(step * power for step in (1, 2, 5, 10, 20) if step * power >= least)


def _between(low: str, high: str) -> str:
    return _shortened(low) if low == high else f"{_shortened(low)} – {_shortened(high)}"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"

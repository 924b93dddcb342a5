"""The bars of a distribution: bins of numbers, ranges of an order, or names. Values that may not be named are pooled."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.figures.reader_view import Span
from sfumato.anonymization.figures.rounding_steps import in_steps
from sfumato.anonymization.recoding import Domain
from sfumato.audits.audit_result import shortened
from sfumato.exact import Numbers, nearest_float, written
from sfumato.exact.bins import round_width
from sfumato.exact.calendar_bins import calendar_bins
from sfumato.exact.date_numbers import DateNumbers

BINS = 40
"""The most bars of a distribution over ordered values."""
NAMED = 20
"""The most bars of a distribution over unordered values."""
OTHERS = "others"
_TAIL = 0.01
"""Bins have equal width between the quantiles at this share from either end; the outer bins contain the rest."""

Places = NDArray[np.int64]
Shares = NDArray[np.float64]


def order_bars(domain: Domain, named: Places) -> tuple[Places, list[str]]:
    """Return bars of values in their order, several values to a bar if they are many.

    For each place of the domain its bar, or the number of bars if it has none; and the labels of the bars.
    """
    count = min(BINS, len(named))
    bars = np.full(domain.size, count)
    bars[named] = np.arange(len(named)) * count // max(1, len(named))
    starts = np.searchsorted(bars[named], np.arange(count + 1))
    return bars, [_between(domain.label(int(named[a])), domain.label(int(named[b - 1]))) for a, b in pairwise(starts)]


def named_bars(domain: Domain, named: Places, shares: Shares, step: Fraction) -> tuple[Places, list[str]]:
    """Return bars of values by name; if they are many, of those with the largest shares, ties in the order of the domain.

    The shares are compared in steps: an exact order would reveal which of two values is more frequent.
    """
    if len(named) > NAMED:
        coarse = np.array([-in_steps(share, step) for share in shares[named].tolist()])
        named = named[np.lexsort((named, coarse))][: NAMED - 1]
    bars = np.full(domain.size, len(named))
    bars[named] = np.arange(len(named))
    return bars, [shortened(domain.label(int(place))) for place in named]


@dataclass(frozen=True)
class EvenBins:
    """Bins of equal width with round edges; of dates, periods of the calendar. They depend only on the numbers of `over`."""

    edges: tuple[Fraction, ...]
    """Where the bins start, and where the last one ends."""
    names: tuple[str, ...]
    """The label of each bin."""
    texts: tuple[str, ...]
    """The text of each edge."""
    lowest: Fraction
    highest: Fraction
    whole: bool
    """Whether all numbers are integers: then a label names the last integer of its bin, and `[30, 39]` contains ten."""

    @classmethod
    def over(cls, numbers: Sequence[Fraction], weights: Shares, gaps: bool, like: Numbers | None = None) -> EvenBins:
        """Return bins for some numbers. `gaps`: whether integers between them must not have a bin of their own.

        `like`: the numbers of the column, which may be dates.

        >>> EvenBins.over([Fraction(30), Fraction(39)], np.ones(2), gaps=True).labels()
        ['30 – 31', '32 – 33', '34 – 35', '36 – 37', '38 – 39']
        """
        scale = math.lcm(*{number.denominator for number in numbers})
        multiples = _multiples(numbers, scale)
        distinct = sorted(set(multiples))
        place = {multiple: i for i, multiple in enumerate(distinct)}
        counts = np.bincount([place[multiple] for multiple in multiples], weights, len(distinct))
        upto = np.cumsum(counts) / counts.sum()
        low, high = (
            Fraction(distinct[min(int(np.searchsorted(upto, q)), len(distinct) - 1)], scale) for q in (_TAIL, 1 - _TAIL)
        )
        lowest, highest = Fraction(distinct[0], scale), Fraction(distinct[-1], scale)
        if low == high:
            low, high = lowest, highest
        whole = scale == 1
        gaps = gaps and len(distinct) <= highest - lowest
        if isinstance(like, DateNumbers):
            edges, names, texts = calendar_bins(low, high, BINS, like.zone, days=whole, shortest=2 if gaps and whole else 0)
            return cls(edges, names, texts, lowest, highest, whole)
        width = Fraction(1) if low == high else round_width((high - low) / (BINS - 2))
        if whole:
            width = max(width, Fraction(2 if gaps else 1))
        edges = tuple(i * width for i in range(math.floor(low / width), math.floor(high / width) + 2))
        names = tuple(_between(written(a), written(b - 1 if whole else b)) for a, b in pairwise(edges))
        return cls(edges, names, tuple(map(written, edges)), lowest, highest, whole)

    @property
    def below(self) -> bool:
        """Whether the first bin also contains the numbers below it."""
        return self.lowest < self.edges[0]

    @property
    def above(self) -> bool:
        """Whether the last bin also contains the numbers above it."""
        return self.highest >= self.edges[-1]

    def labels(self) -> list[str]:
        """Return the label of each bin."""
        names = list(self.names)
        if self.below:
            names[0] = f"below {self.texts[1]}"
        if self.above:
            names[-1] = f"from {self.texts[-2]}"
        return names

    def places(self, numbers: Sequence[Fraction]) -> Places:
        """Return the bin of each number, or the number of bins if it has none."""
        count = len(self.names)
        scale = math.lcm(*{number.denominator for number in (*self.edges, *numbers)})
        edges = _multiples(self.edges, scale)
        at = np.array([bisect_right(edges, multiple) for multiple in _multiples(numbers, scale)], np.int64) - 1
        at = np.maximum(at, 0) if self.below else at
        at = np.minimum(at, count - 1) if self.above else at
        return np.where((at >= 0) & (at < count), at, count)

    def spread(self, spans: Sequence[Span], weights: Shares) -> Shares:
        """Return the weight of each bin if the weight of a span is spread evenly from its one end to its other."""
        count = len(self.names)
        # A single number goes into its bin. The weight of a wider span is divided by its overlap with each bin.
        single = np.array([span.low == span.last for span in spans], bool)
        sums = np.bincount(self.places([span.low for span in spans]), np.where(single, weights, 0), count + 1)[:count]
        wide = [span for span in spans if span.low != span.last]
        ends = [(span.low, span.last + (self.whole and not span.half_open)) for span in wide]
        # Positions in widths from the first bin are exact enough near the bins, however far away the outermost number is.
        start, width = self.edges[0], (self.edges[-1] - self.edges[0]) / count
        low, high = (np.array([nearest_float((end - start) / width) for end in some]) for some in _apart(ends))
        inner = [nearest_float((edge - start) / width) for edge in self.edges[1:-1]]
        # the share of each span below each edge; the differences are the shares within the bins
        below = [np.zeros(len(wide))]
        length = np.where(high > low, high - low, 1)  # a span that is too far away to have a length lies on one side
        below += [np.where(high > low, np.clip((edge - low) / length, 0, 1), edge > low) for edge in inner]
        below += [np.ones(len(wide))]
        return np.asarray(sums + [float(((b - a) * weights[~single]).sum()) for a, b in pairwise(below)])


def _multiples(numbers: Iterable[Fraction], scale: int) -> list[int]:
    """Return numbers times a common multiple of their denominators: integers are compared much faster than fractions."""
    return [number.numerator * (scale // number.denominator) for number in numbers]


def _apart(ends: Sequence[tuple[Fraction, Fraction]]) -> tuple[list[Fraction], list[Fraction]]:
    return [low for low, _ in ends], [high for _, high in ends]


def _between(low: str, high: str) -> str:
    return shortened(low) if low == high else f"{shortened(low)} – {shortened(high)}"

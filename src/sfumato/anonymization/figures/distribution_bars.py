"""The bars of a distribution: bins of numbers, ranges of an order, or names. Values that may not be named are pooled."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sfumato._audit import shortened
from sfumato.anonymization.figures.reader_view import Span
from sfumato.anonymization.figures.rounding_steps import in_steps
from sfumato.anonymization.recoding import Domain
from sfumato.exact import nearest_float, written
from sfumato.exact.bins import round_width

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
    """Bins of equal width with round edges. They depend only on the numbers passed to `over`."""

    width: Fraction
    first: int
    """The first bin starts at this many widths."""
    last: int
    lowest: Fraction
    highest: Fraction
    whole: bool
    """Whether all numbers are integers: then a label names the last integer of its bin, and `[30, 39]` contains ten."""
    write: Callable[[Fraction], str] = written
    """How the column writes a number."""

    @classmethod
    def over(
        cls, numbers: Sequence[Fraction], weights: Shares, gaps: bool, write: Callable[[Fraction], str] = written
    ) -> EvenBins:
        """Return bins for some numbers. `gaps`: whether integers between them must not have a bin of their own.

        >>> EvenBins.over([Fraction(30), Fraction(39)], np.ones(2), gaps=True).labels()
        ['30 – 31', '32 – 33', '34 – 35', '36 – 37', '38 – 39']
        """
        distinct = sorted(set(numbers))
        place = {number: i for i, number in enumerate(distinct)}
        counts = np.bincount([place[number] for number in numbers], weights, len(distinct))
        upto = np.cumsum(counts) / counts.sum()
        low, high = (distinct[min(int(np.searchsorted(upto, q)), len(distinct) - 1)] for q in (_TAIL, 1 - _TAIL))
        lowest, highest = distinct[0], distinct[-1]
        if low == high:
            low, high = lowest, highest
        whole = all(number.denominator == 1 for number in distinct)
        width = Fraction(1) if low == high else round_width((high - low) / (BINS - 2))
        if whole:
            width = max(width, Fraction(2 if gaps and len(distinct) <= highest - lowest else 1))
        return cls(width, math.floor(low / width), math.floor(high / width), lowest, highest, whole, write)

    @property
    def below(self) -> bool:
        """Whether the first bin also contains the numbers below it."""
        return self.lowest < self.first * self.width

    @property
    def above(self) -> bool:
        """Whether the last bin also contains the numbers above it."""
        return self.highest >= (self.last + 1) * self.width

    def labels(self) -> list[str]:
        """Return the label of each bin."""
        names = []
        for number in range(self.first, self.last + 1):
            start, stop = number * self.width, (number + 1) * self.width
            names.append(_between(self.write(start), self.write(stop - 1 if self.whole else stop)))
        if self.below:
            names[0] = f"below {self.write((self.first + 1) * self.width)}"
        if self.above:
            names[-1] = f"from {self.write(self.last * self.width)}"
        return names

    def places(self, numbers: Iterable[Fraction]) -> Places:
        """Return the bin of each number, or the number of bins if it has none."""
        count = self.last - self.first + 1
        places = []
        for number in numbers:
            at = number.numerator * self.width.denominator // (number.denominator * self.width.numerator) - self.first
            at = max(at, 0) if self.below else at
            at = min(at, count - 1) if self.above else at
            places.append(at if 0 <= at < count else count)
        return np.array(places, np.int64)

    def spread(self, spans: Sequence[Span], weights: Shares) -> Shares:
        """Return the weight of each bin if the weight of a span is spread evenly from its one end to its other."""
        count = self.last - self.first + 1
        # A single number goes into its bin. The weight of a wider span is divided by its overlap with each bin.
        single = np.array([span.low == span.last for span in spans], bool)
        sums = np.bincount(self.places(span.low for span in spans), np.where(single, weights, 0), count + 1)[:count]
        wide = [span for span in spans if span.low != span.last]
        ends = [(span.low, span.last + (self.whole and not span.half_open)) for span in wide]
        # Positions in widths from the first bin are exact enough near the bins, however far away the outermost number is.
        low, high = (np.array([nearest_float(end / self.width - self.first) for end in some]) for some in _apart(ends))
        inner = range(1, count)
        # the share of each span below each edge; the differences are the shares within the bins
        below = [np.zeros(len(wide))]
        length = np.where(high > low, high - low, 1)  # a span that is too far away to have a length lies on one side
        below += [np.where(high > low, np.clip((edge - low) / length, 0, 1), edge > low) for edge in inner]
        below += [np.ones(len(wide))]
        return np.asarray(sums + [float(((b - a) * weights[~single]).sum()) for a, b in pairwise(below)])


def _apart(ends: Sequence[tuple[Fraction, Fraction]]) -> tuple[list[Fraction], list[Fraction]]:
    return [low for low, _ in ends], [high for _, high in ends]


def _between(low: str, high: str) -> str:
    return shortened(low) if low == high else f"{shortened(low)} – {shortened(high)}"

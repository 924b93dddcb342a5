"""(ε,δ)^k-dissimilarity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sfumato.exact import Number, Ratios
from sfumato.principles.base import Measurement, On, Part, Principle, exactly, size_part
from sfumato.principles.view import View


@dataclass(frozen=True)
class Dissimilarity(Principle):
    """Every group holds at least k people, and each sensitive value has at most (1−δ)(|G|−1) ε-neighbours in its group.

    In plain words: nobody can be narrowed down to fewer than k people; and whatever the secret of one of them, at least a
    share δ of the others in the group have secrets that are farther from it than ε.

    The level is the proximity risk: the largest share of the other tuples of a group that lie within ε of one of its
    values; 1 for a group of one. Theorem 1's "at most" is used, not Definition 7's "less than", under which δ = 1 could
    never hold.

    - `epsilon`: up to what distance two values are near, in the units of the attribute's distance.
    - `delta`: the share of the others in a group that must be farther than that, from 0 to 1.
    - `k`: how many people a group holds at least.

    Not monotone: {40,60} and {50,80} at ε = 15 have risk 0, their union 2/3.

    Does not protect against ranges that are wider than ε, nor against what is common to the whole table; and it does
    not hide who is in it.

    Source: Wang, Meng, Bamba, Liu and Pu, A General Proximity Privacy Principle, ICDE 2009 (paper 000); Wang and Liu,
    XColor: Protecting General Proximity Privacy, ICDE 2010 (paper 001).

    >>> Dissimilarity(epsilon="0.1", delta="0.8", k=10).label
    '(ε,δ)^k-dissimilarity (epsilon = 0.1, delta = 0.8, k = 10)'
    """

    epsilon: Number
    delta: Number
    k: int = 1
    on: On = None

    name: ClassVar[str] = "dissimilarity"
    title: ClassVar[str] = "(ε,δ)^k-dissimilarity"
    monotone: ClassVar[bool] = False
    scope: ClassVar[Literal["whole"]] = "whole"
    asks_distance: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._set_fraction("epsilon", least=0)
        self._set_fraction("delta", least=0, most=1)
        self._check_whole("k")

    def allowed_neighbours(self, size: int) -> int:
        """How many ε-neighbours a value may have in a group of a size: t = ⌊(1−δ)(size−1)⌋.

        >>> [Dissimilarity("0.1", "0.8").allowed_neighbours(size) for size in (10, 11)]
        [1, 2]
        """
        return int((1 - exactly(self.delta)) * (size - 1))

    def measure(self, view: View) -> Measurement:
        """Return each group's proximity risk and number of people."""
        histogram = view.histogram
        near = view.graph(exactly(self.epsilon)).counts(histogram.offsets, histogram.values, histogram.counts)
        largest = np.maximum.reduceat(near, histogram.starts)
        alone = histogram.sizes == 1
        risk = Ratios(np.where(alone, 1, largest - 1), np.where(alone, 1, histogram.sizes - 1))
        return Measurement((Part.at_most("risk", risk, 1 - exactly(self.delta)), size_part(view, self.k)))

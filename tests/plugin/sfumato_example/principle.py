"""A principle: the two most frequent values of a group are not too frequent together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import sfumato as sf
from sfumato.exact import Number, Ratios


@dataclass(frozen=True)
class TopTwoShare(sf.Principle):
    """The two most frequent sensitive values of a group make up at most a share of it.

    In plain words: a bet on two secrets for a person in a group is right at most that often.

    - `share`: the largest share of a group that two values may make up together, from 0 to 1.

    Monotone.

    Does not protect against values that differ but are close.
    """

    share: Number
    on: sf.principles.On = None

    name = "top-two-share"
    title = "top-two share"
    scope = "each"
    monotone = True
    relative = False

    def __post_init__(self) -> None:
        self.set_fraction("share", least=0, most=1)

    def measure(self, view: sf.principles.View) -> sf.principles.Measurement:
        """Return the share of each group's two most frequent values."""
        histogram = view.histogram
        largest_first = np.lexsort((-histogram.counts, histogram.group))
        rank = np.arange(len(largest_first)) - np.repeat(histogram.starts, histogram.distinct)
        two = np.add.reduceat(np.where(rank < 2, histogram.counts[largest_first], 0), histogram.starts)
        share = Ratios(two, histogram.sizes)
        return sf.principles.Measurement((sf.principles.Part.at_most("share", share, self.share),))

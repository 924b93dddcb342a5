"""(ε,m)-anonymity, absolute and relative."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from sfumato.distances.absolute import number_windows
from sfumato.distances.distance import Indices
from sfumato.distances.neighbour_graph import NeighbourWindows
from sfumato.exact import Number, Numbers, Ratios
from sfumato.exact.numbers import packed
from sfumato.parameters import ParameterRange, choice
from sfumato.principles.certificate import Certificate, share_certificate, with_one_value_each
from sfumato.principles.cliques import Clique, fullest_run
from sfumato.principles.numeric_values import fullest_windows, numbers_of, windows_by_value
from sfumato.principles.principle import Measurement, On, Part, Principle, exactly
from sfumato.principles.search_conditions import NeighbourLimit, near_values_limit
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, two_age_groups


@dataclass(frozen=True)
class EpsilonMAnonymity(Principle):
    """For every sensitive number x of a group, at most 1/m of the group lies within ε of x.

    In plain words: at most 1/m of a group have numbers near the number of any one member.

    Absolute: |y − x| ≤ ε. Relative: |y − x| ≤ ε·|x| with ε at most 1 (the source has ε·x, which is empty for negative
    x). The level is the group's size over that of the fullest neighbourhood.

    - `epsilon`: the largest difference at which two numbers are near; with nearness "relative" a share of the number
      itself, at most 1.
    - `m`: at most 1/m of a group may be near one of its numbers; any number from 1.
    - `nearness`: "absolute" or "relative".

    Not monotone: {40,60} and {50,80} at ε = 15 have m = 2, their union 4/3.

    Does not protect against intervals whose middle is not a value of the group, nor against ranges that are wider than ε.

    Source: Li, Tao & Xiao (2008), Preservation of proximity privacy in publishing numerical sensitive data, SIGMOD;
    Zare-Mirakabad (2012), Definition 2.

    >>> EpsilonMAnonymity(epsilon=15, m=2).parameters()
    {'epsilon': '15', 'm': '2', 'nearness': 'absolute'}
    """

    epsilon: Number
    m: Number
    nearness: str = "absolute"
    on: On = None

    name: ClassVar[str] = "epsilon-m-anonymity"
    title: ClassVar[str] = "(ε,m)-anonymity"
    family: ClassVar[str] = "nearness"
    scope: ClassVar[Literal["each"]] = "each"
    monotone: ClassVar[bool] = False
    relative: ClassVar[bool] = False
    histogram_only: ClassVar[bool] = True
    units: ClassVar[Literal["every choice"]] = "every choice"
    ranges: ClassVar[Mapping[str, ParameterRange]] = {
        "nearness": choice("absolute", "relative"),
        "epsilon": ParameterRange("number", "distance", "higher", usual=(0, "0.25")),
        "m": ParameterRange("number", "values", "higher", usual=(1, 10), least=1),
    }

    def __post_init__(self) -> None:
        self.check_ranges()
        if self.nearness == "relative":
            self.set_fraction("epsilon", least=0, most=1)

    def measure(self, view: View) -> Measurement:
        """Return each group's size over the fullest neighbourhood in it."""
        level = Ratios(view.histogram.sizes, fullest_windows(view, self.neighbours(view)))
        return Measurement((Part.at_least("m", level, exactly(self.m)),))

    def neighbours(self, view: View) -> NeighbourWindows:
        """Return the numbers within ε of each number."""
        numbers, epsilon = numbers_of(view, self.title), exactly(self.epsilon)
        absolute = self.nearness == "absolute"
        windows = number_windows(numbers, epsilon, epsilon) if absolute else relative_windows(numbers, epsilon)
        return NeighbourWindows(windows_by_value(*windows), epsilon)

    def search_conditions(self, view: View) -> Sequence[NeighbourLimit]:
        """Return the limit on near numbers."""
        return (near_values_limit(view, self.neighbours(view), exactly(self.m)),)

    def certificate(self, view: View) -> Certificate | None:
        """Rule the requirement out by numbers that are pairwise near and make up more than 1/m of the table."""
        alone = with_one_value_each(view)
        if alone is None:
            return None
        if self.nearness == "absolute":
            high = self.neighbours(alone).windows.high
        else:
            high = _mutual_windows(numbers_of(alone, self.title), exactly(self.epsilon))
        start, stop, count = fullest_run(alone.attribute.counts, high)
        return share_certificate(alone, Clique(np.arange(start, stop), count, True), exactly(self.m))

    @classmethod
    def example(cls) -> Example:
        """Return Examples 1 and 2 of Zare-Mirakabad (2012)."""
        return two_age_groups(
            cls(epsilon=15, m=2),
            "salary",
            ((50, 80), "within 15 of 50 lies 1 of the 2, itself", "2/1"),
            ((40, 50, 60), "within 15 of 50 lie all 3 of the 3", "3/3"),
        )


def relative_windows(numbers: Numbers, epsilon: Fraction) -> tuple[Indices, Indices]:
    """Return for each x the positions of the numbers in [x − ε|x|, x + ε|x|], as the first and one past the last."""
    a, b = epsilon.numerator, epsilon.denominator
    integers = [int(x) for x in numbers.integers]
    lowest = packed([-((a * abs(x) - x * b) // b) for x in integers])  # rounded up
    highest = packed([(a * abs(x) + x * b) // b for x in integers])  # rounded down
    return (
        np.searchsorted(numbers.integers, lowest, side="left"),
        np.searchsorted(numbers.integers, highest, side="right"),
    )


def _mutual_windows(numbers: Numbers, epsilon: Fraction) -> Indices:
    """Return for each x the end of the run of numbers from x on that are pairwise near: within ε·|y| for each y of the run.

    With x > 0 the run goes up to x(1+ε); with x < 0 up to the largest y < 0 with y − x ≤ ε·|y|. Numbers of different signs
    are never mutually near, as ε is at most 1; and 0 is near itself only.
    """
    a, b = epsilon.numerator, epsilon.denominator
    integers = [int(x) for x in numbers.integers]
    high = np.empty(len(integers), np.int64)
    end = 0
    for i, x in enumerate(integers):
        end = max(end, i + 1)
        # y joins the run of x if y − x ≤ ε·min(|x|, |y|): the smaller of the two decides
        while (
            end < len(integers) and (integers[end] - x) * b <= a * min(abs(x), abs(integers[end])) and x * integers[end] > 0
        ):
            end += 1
        high[i] = end
    return high

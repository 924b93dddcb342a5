"""(ε,m)-anonymity, absolute and relative."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from sfumato.distances.absolute import number_windows
from sfumato.distances.base import Indices
from sfumato.exact import Number, Numbers, Ratios
from sfumato.exact.numbers import packed
from sfumato.principles.base import Measurement, On, Part, Principle, exactly
from sfumato.principles.numeric_values import fullest_windows, numbers_of
from sfumato.principles.view import View


@dataclass(frozen=True)
class EpsilonMAnonymity(Principle):
    """For every sensitive number x of a group at most 1/m of the group lies within ε of it.

    In plain words: at most 1/m of a group have numbers near that of any one of them.

    Absolute: |y − x| ≤ ε. Relative: |y − x| ≤ ε·|x| with ε at most 1 (the source writes ε·x, which is empty for
    negative x). The level is |G| over the fullest neighbourhood.

    - `epsilon`: up to what difference two numbers are near; with nearness "relative" a share of the number itself, at
      most 1.
    - `m`: at most 1/m of a group may be near one of its numbers; any number from 1.
    - `nearness`: "absolute" or "relative".

    Not monotone: {40,60} and {50,80} at ε = 15 have m = 2, their union 4/3.

    Does not protect against intervals whose middle is no value of the group, nor against ranges that are wider than ε.

    Source: Li, Tao and Xiao, Preservation of proximity privacy in publishing numerical sensitive data, SIGMOD 2008;
    (δ,l)-diversity (paper 003), Definition 2.

    >>> EpsilonMAnonymity(epsilon=15, m=2).parameters()
    {'epsilon': '15', 'm': '2', 'nearness': 'absolute'}
    """

    epsilon: Number
    m: Number
    nearness: str = "absolute"
    on: On = None

    name: ClassVar[str] = "epsilon-m-anonymity"
    title: ClassVar[str] = "(ε,m)-anonymity"
    monotone: ClassVar[bool] = False
    relative: ClassVar[bool] = False
    scope: ClassVar[Literal["each"]] = "each"

    def __post_init__(self) -> None:
        self._check_choice("nearness", ("absolute", "relative"))
        self._set_fraction("epsilon", least=0, most=1 if self.nearness == "relative" else None)
        self._set_fraction("m", least=1)

    def measure(self, view: View) -> Measurement:
        """Return each group's size over the fullest neighbourhood in it."""
        numbers = numbers_of(view, self.title)
        epsilon = exactly(self.epsilon)
        if self.nearness == "absolute":
            windows = number_windows(numbers, epsilon, epsilon)
        else:
            windows = relative_windows(numbers, epsilon)
        level = Ratios(view.histogram.sizes, fullest_windows(view, *windows))
        return Measurement((Part.at_least("m", level, exactly(self.m)),))


def relative_windows(numbers: Numbers, epsilon: Fraction) -> tuple[Indices, Indices]:
    """For each x the positions of the numbers in [x − ε|x|, x + ε|x|]."""
    a, b = epsilon.numerator, epsilon.denominator
    integers = [int(x) for x in numbers.integers]
    lowest = packed([-((a * abs(x) - x * b) // b) for x in integers])  # rounded up
    highest = packed([(a * abs(x) + x * b) // b for x in integers])  # rounded down
    return (
        np.searchsorted(numbers.integers, lowest, side="left"),
        np.searchsorted(numbers.integers, highest, side="right"),
    )

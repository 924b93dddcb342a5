"""(δ,l)-diversity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from sfumato.distances.absolute import number_windows
from sfumato.exact import Number, Ratios
from sfumato.principles.base import Measurement, On, Part, Principle, exactly
from sfumato.principles.numeric_values import fullest_windows, numbers_of
from sfumato.principles.view import View


@dataclass(frozen=True)
class DeltaLDiversity(Principle):
    """For every sensitive number v of a group at most 1/l of the group is δ-similar to it: [v ± δ] and [w ± δ] overlap.

    In plain words: at most 1/l of a group have numbers similar to that of any one of them.

    Intervals overlap exactly if |v − w| ≤ 2δ, so this is (2δ,l)-anonymity. Checked with a linear scan, the paper's with
    its comparison mended and groups of one taken as l = 1. The level is |G| over the most tuples that are similar to
    one value.

    - `delta`: how far the interval around a number reaches to either side.
    - `l`: at most 1/l of a group may be similar to one of its numbers; any number from 1.

    Not monotone, against the paper's claim: at δ = 7.5, {40,60} and {50,80} have l = 2, their union 4/3.

    Does not protect against intervals whose middle is no value of the group, nor against ranges that are wider than 2δ.

    Source: (δ,l)-diversity (paper 003), Definition 5.

    >>> DeltaLDiversity(delta="7.5", l=2).parameters()
    {'delta': '7.5', 'l': '2'}
    """

    delta: Number
    l: Number
    on: On = None

    name: ClassVar[str] = "delta-l-diversity"
    title: ClassVar[str] = "(δ,l)-diversity"
    monotone: ClassVar[bool] = False
    relative: ClassVar[bool] = False
    scope: ClassVar[Literal["each"]] = "each"

    def __post_init__(self) -> None:
        self._set_fraction("delta", least=0)
        self._set_fraction("l", least=1)

    def measure(self, view: View) -> Measurement:
        """Return each group's size over the most of its tuples that are similar to one value."""
        width = 2 * exactly(self.delta)
        windows = number_windows(numbers_of(view, self.title), width, width)
        level = Ratios(view.histogram.sizes, fullest_windows(view, *windows))
        return Measurement((Part.at_least("l", level, exactly(self.l)),))

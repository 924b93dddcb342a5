"""(α,k)-anonymity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from sfumato.exact import Number, Ratios
from sfumato.principles.base import Measurement, On, Part, Principle, exactly, size_part
from sfumato.principles.view import View


@dataclass(frozen=True)
class AlphaKAnonymity(Principle):
    """Every group holds at least k people, and no sensitive value makes up more than a share α of a group.

    In plain words: nobody can be narrowed down to fewer than k people, and from a group no secret can be guessed with a
    confidence above α.

    The level is the share of the most frequent value. Stricter than dissimilarity at ε = 0 and δ = 1 − α, not
    equivalent to it as papers 000 and 001 say: 5 equal values of 9 fail α = 0.5, yet (5−1)/8 passes.

    - `alpha`: the largest share of a group that one value may make up, from 0 to 1.
    - `k`: how many people a group holds at least.

    Monotone.

    Does not protect against values that differ and yet are close: together they may make up all of a group.

    Source: Wong, Li, Fu and Wang, (α,k)-anonymity: an enhanced k-anonymity model for privacy preserving data
    publishing, KDD 2006.

    >>> AlphaKAnonymity(alpha="0.5", k=5).parameters()
    {'alpha': '0.5', 'k': 5}
    """

    alpha: Number
    k: int = 1
    on: On = None

    name: ClassVar[str] = "alpha-k-anonymity"
    title: ClassVar[str] = "(α,k)-anonymity"
    monotone: ClassVar[bool] = True
    relative: ClassVar[bool] = False
    scope: ClassVar[Literal["each"]] = "each"

    def __post_init__(self) -> None:
        self._set_fraction("alpha", least=0, most=1)
        self._check_whole("k")

    def measure(self, view: View) -> Measurement:
        """Return the share of each group's most frequent value, and its number of people."""
        share = Ratios(view.histogram.largest, view.histogram.sizes)
        return Measurement((Part.at_most("alpha", share, exactly(self.alpha)), size_part(view, self.k)))

"""(α,k)-anonymity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from sfumato.exact import Number, Ratios
from sfumato.parameters import ParameterRange, whole
from sfumato.principles.principle import Measurement, On, Part, Principle, exactly, size_part
from sfumato.principles.search_conditions import NeighbourLimit, equal_values_limit
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, two_age_groups


@dataclass(frozen=True)
class AlphaKAnonymity(Principle):
    """Every group contains at least k people, and no sensitive value makes up more than a share α of a group.

    In plain words: the quasi-identifiers narrow nobody down to fewer than k people; and who knows somebody's group, and
    counts its secrets, guesses a secret with a confidence of at most α.

    The level is the share of the most frequent value. Stricter than dissimilarity at ε = 0 and δ = 1 − α, not equivalent
    to it as Wang & Liu (2010) state: 5 equal values of 9 fail α = 0.5, yet (5−1)/8 passes.

    - `alpha`: the largest share of a group that one value may make up, from 0 to 1.
    - `k`: the smallest number of people in a group.

    Monotone.

    Does not protect against values that differ but are close: together they may make up a whole group. Nor against who
    knows more than the counts of a group: how groups were found, or which secrets are usual for such people.

    Source: Wong, Li, Fu & Wang (2006), (α,k)-anonymity: an enhanced k-anonymity model for privacy preserving data
    publishing, KDD.

    >>> AlphaKAnonymity(alpha="0.5", k=5).parameters()
    {'alpha': '0.5', 'k': 5}
    """

    alpha: Number
    k: int = 1
    on: On = None

    name: ClassVar[str] = "alpha-k-anonymity"
    title: ClassVar[str] = "(α,k)-anonymity"
    family: ClassVar[str] = "diversity"
    scope: ClassVar[Literal["each"]] = "each"
    monotone: ClassVar[bool] = True
    relative: ClassVar[bool] = False
    histogram_only: ClassVar[bool] = True
    units: ClassVar[Literal["every choice"]] = "every choice"
    ranges: ClassVar[Mapping[str, ParameterRange]] = {
        "alpha": ParameterRange("number", "share", "lower", usual=("0.1", "0.9"), most=1),
        "k": whole("people", usual=(1, 50)),
    }

    def __post_init__(self) -> None:
        self.check_ranges()

    def measure(self, view: View) -> Measurement:
        """Return the share of each group's most frequent value, and its number of people."""
        share = Ratios(view.histogram.largest, view.histogram.sizes)
        return Measurement((Part.at_most("alpha", share, exactly(self.alpha)), size_part(view, self.k)))

    @property
    def implied_k(self) -> int:
        """The parameter k."""
        return self.k

    def search_conditions(self, view: View) -> Sequence[NeighbourLimit]:
        """Return the limit on equal values."""
        return (equal_values_limit(view, exactly(self.alpha)),)

    @classmethod
    def example(cls) -> Example:
        """Return a group in which one illness is too frequent, and one in which none is."""
        return two_age_groups(
            cls(alpha="0.5", k=3),
            "illness",
            (("flu", "flu", "flu", "gout"), "flu is the illness of 3 of the 4", "3/4"),
            (("flu", "gout", "ulcer"), "every illness is that of 1 of the 3", "1/3"),
        )

"""Frequency l-diversity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from sfumato.exact import Number, Ratios
from sfumato.parameters import ParameterRange
from sfumato.principles.principle import Measurement, On, Part, Principle, exactly
from sfumato.principles.search_conditions import NeighbourLimit, equal_values_limit
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, two_age_groups


@dataclass(frozen=True)
class FrequencyLDiversity(Principle):
    """No sensitive value makes up more than 1/l of a group.

    In plain words: who knows somebody's group, and counts its secrets, guesses a secret with a confidence of at most 1/l.

    The level is the size of a group over the count of its most frequent value.

    - `l`: a value may make up at most 1/l of a group; any number from 1.

    Monotone.

    Does not protect against values that differ but are close: together they may make up a whole group. Nor against who
    knows more than the counts of a group: how groups were found, or which secrets are usual for such people.

    Source: Xiao & Tao (2006a), Anatomy: simple and effective privacy preservation, VLDB; Zare-Mirakabad (2012), Definition
    1.

    >>> FrequencyLDiversity("2.5").label
    'frequency l-diversity (l = 2.5)'
    """

    l: Number
    on: On = None

    name: ClassVar[str] = "frequency-l-diversity"
    title: ClassVar[str] = "frequency l-diversity"
    family: ClassVar[str] = "diversity"
    scope: ClassVar[Literal["each"]] = "each"
    monotone: ClassVar[bool] = True
    relative: ClassVar[bool] = False
    histogram_only: ClassVar[bool] = True
    units: ClassVar[Literal["every choice"]] = "every choice"
    ranges: ClassVar[Mapping[str, ParameterRange]] = {
        "l": ParameterRange("number", "values", "higher", usual=(1, 10), least=1)
    }

    def __post_init__(self) -> None:
        self.check_ranges()

    def measure(self, view: View) -> Measurement:
        """Return each group's size over the count of its most frequent value."""
        level = Ratios(view.histogram.sizes, view.histogram.largest)
        return Measurement((Part.at_least("l", level, exactly(self.l)),))

    def search_conditions(self, view: View) -> Sequence[NeighbourLimit]:
        """Return the limit on equal values."""
        return (equal_values_limit(view, 1 / exactly(self.l)),)

    @classmethod
    def example(cls) -> Example:
        """Return a group in which half have the flu, and one in which more do."""
        return two_age_groups(
            cls(l=2),
            "illness",
            (("flu", "flu", "gout", "ulcer"), "flu is the illness of 2 of the 4", "4/2"),
            (("flu", "flu", "flu", "gout"), "flu is the illness of 3 of the 4", "4/3"),
        )

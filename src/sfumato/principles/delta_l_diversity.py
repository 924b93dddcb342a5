"""(δ,l)-diversity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sfumato.distances.absolute import number_windows
from sfumato.distances.neighbour_graph import NeighbourWindows
from sfumato.exact import Number, Ratios
from sfumato.parameters import ParameterRange
from sfumato.principles.certificate import Certificate, share_certificate, with_one_value_each
from sfumato.principles.cliques import Clique, fullest_run
from sfumato.principles.numeric_values import fullest_windows, numbers_of, windows_by_value
from sfumato.principles.principle import Measurement, On, Part, Principle, exactly
from sfumato.principles.search_conditions import NeighbourLimit, near_values_limit
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, two_age_groups


@dataclass(frozen=True)
class DeltaLDiversity(Principle):
    """For every sensitive number v of a group, at most 1/l of its numbers w are δ-similar to v: [v ± δ] and [w ± δ] overlap.

    In plain words: at most 1/l of a group have numbers similar to the number of any one member.

    Intervals overlap exactly if |v − w| ≤ 2δ, so this is (2δ,l)-anonymity. The check is the linear scan of the source, with
    its comparison corrected to "at most" and l = 1 for groups of one. The level is the group's size over the largest
    number of rows that are similar to one value.

    - `delta`: how far the interval around a number extends to either side.
    - `l`: at most 1/l of a group may be similar to one of its numbers; any number from 1.

    Not monotone, contrary to the claim of the source: at δ = 7.5, {40,60} and {50,80} have l = 2, their union 4/3.

    Does not protect against intervals whose middle is not a value of the group, nor against ranges that are wider than 2δ.

    Source: Zare-Mirakabad (2012), (δ,l)-diversity: privacy preservation for publication numerical sensitive data, CS & IT
    06, Definition 5.

    >>> DeltaLDiversity(delta="7.5", l=2).parameters()
    {'delta': '7.5', 'l': '2'}
    """

    delta: Number
    l: Number
    on: On = None

    name: ClassVar[str] = "delta-l-diversity"
    title: ClassVar[str] = "(δ,l)-diversity"
    family: ClassVar[str] = "nearness"
    scope: ClassVar[Literal["each"]] = "each"
    monotone: ClassVar[bool] = False
    relative: ClassVar[bool] = False
    histogram_only: ClassVar[bool] = True
    units: ClassVar[Literal["every choice"]] = "every choice"
    ranges: ClassVar[Mapping[str, ParameterRange]] = {
        "delta": ParameterRange("number", "distance", "higher", usual=(0, "0.125")),
        "l": ParameterRange("number", "values", "higher", usual=(1, 10), least=1),
    }

    def __post_init__(self) -> None:
        self.check_ranges()

    def measure(self, view: View) -> Measurement:
        """Return each group's size over the largest number of its rows that are similar to one value."""
        level = Ratios(view.histogram.sizes, fullest_windows(view, self.neighbours(view)))
        return Measurement((Part.at_least("l", level, exactly(self.l)),))

    def neighbours(self, view: View) -> NeighbourWindows:
        """Return the numbers that are δ-similar to each number: those within 2δ of it."""
        width = 2 * exactly(self.delta)
        windows = number_windows(numbers_of(view, self.title), width, width)
        return NeighbourWindows(windows_by_value(*windows), width)

    def search_conditions(self, view: View) -> Sequence[NeighbourLimit]:
        """Return the limit on similar numbers."""
        return (near_values_limit(view, self.neighbours(view), exactly(self.l)),)

    def certificate(self, view: View) -> Certificate | None:
        """Rule the requirement out by numbers that are pairwise similar and make up more than 1/l of the table."""
        alone = with_one_value_each(view)
        if alone is None:
            return None
        start, stop, count = fullest_run(alone.attribute.counts, self.neighbours(alone).windows.high)
        return share_certificate(alone, Clique(np.arange(start, stop), count, True), exactly(self.l))

    @classmethod
    def example(cls) -> Example:
        """Return the group that refutes the claim of the source that the principle is monotone."""
        return two_age_groups(
            cls(delta="7.5", l=2),
            "salary",
            ((40, 60), "40 ± 7.5 ends at 47.5, before 60 ± 7.5 begins: similar to 40 is 1 of the 2, itself", "2/1"),
            (
                (40, 50, 60, 80),
                "50 ± 7.5 overlaps 40 ± 7.5 and 60 ± 7.5: similar to 50 are 3 of the 4",
                "4/3",
            ),
        )

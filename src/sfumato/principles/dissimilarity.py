"""(ε,δ)^k-dissimilarity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from sfumato.distances.neighbour_graph import NeighbourGraph
from sfumato.exact import Number, Ratios
from sfumato.parameters import ParameterRange, whole
from sfumato.principles.certificate import Certificate, with_one_value_each
from sfumato.principles.clique_capacity import allowed_neighbours
from sfumato.principles.principle import Measurement, On, Part, Principle, exactly, size_part
from sfumato.principles.proximity_certificate import Crowding, proximity_certificate, too_small
from sfumato.principles.search_conditions import NeighbourLimit
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, two_age_groups


@dataclass(frozen=True)
class Dissimilarity(Principle):
    """Every group G contains at least k people, and each sensitive value has at most (1−δ)(|G|−1) ε-neighbours in its group.

    In plain words: nobody can be narrowed down to fewer than k people; and whatever the secret of one of them, at least a
    share δ of the others in the group have secrets that are farther from it than ε.

    The level is the proximity risk: the largest share of the other rows of a group that lie within ε of one of its values;
    1 for a group of one. The "at most" is that of Theorem 1; Definition 7 has "less than", under which δ = 1 could never
    hold.

    - `epsilon`: the largest distance at which two values are near, in the units of the attribute's distance.
    - `delta`: the share of the others in a group that must be farther than that, from 0 to 1.
    - `k`: the smallest number of people in a group.

    Not monotone: {40,60} and {50,80} at ε = 15 have risk 0, their union 2/3.

    Does not protect against ranges that are wider than ε, nor against what is common to the whole table; and it does not
    hide who is in the table.

    Source: Wang, Meng, Bamba, Liu & Pu (2009), A general proximity privacy principle, ICDE; Wang & Liu (2010), XColor:
    protecting general proximity privacy, ICDE.

    >>> Dissimilarity(epsilon="0.1", delta="0.8", k=10).label
    '(ε,δ)^k-dissimilarity (epsilon = 0.1, delta = 0.8, k = 10)'
    """

    epsilon: Number
    delta: Number
    k: int = 1
    on: On = None

    name: ClassVar[str] = "dissimilarity"
    title: ClassVar[str] = "(ε,δ)^k-dissimilarity"
    family: ClassVar[str] = "nearness"
    scope: ClassVar[Literal["whole"]] = "whole"
    monotone: ClassVar[bool] = False
    uses_distance: ClassVar[bool] = True
    histogram_only: ClassVar[bool] = True
    units: ClassVar[Literal["every choice"]] = "every choice"
    ranges: ClassVar[Mapping[str, ParameterRange]] = {
        "epsilon": ParameterRange("number", "distance", "higher", usual=(0, "0.25")),
        "delta": ParameterRange("number", "share", "higher", usual=("0.1", 1), most=1),
        "k": whole("people", (1, 50)),
    }

    def __post_init__(self) -> None:
        self.check_ranges()

    def allowed_neighbours(self, size: int) -> int:
        """Return how many ε-neighbours a value may have in a group of a size: t = ⌊(1−δ)(size−1)⌋.

        >>> [Dissimilarity("0.1", "0.8").allowed_neighbours(size) for size in (10, 11)]
        [1, 2]
        """
        return allowed_neighbours(size, exactly(self.delta))

    def measure(self, view: View) -> Measurement:
        """Return each group's proximity risk and number of people."""
        histogram = view.histogram
        near = view.near_counts(self.neighbours(view))
        largest = np.maximum.reduceat(near, histogram.starts)
        alone = histogram.sizes == 1
        risk = Ratios(np.where(alone, 1, largest - 1), np.where(alone, 1, histogram.sizes - 1))
        return Measurement((Part.at_most("risk", risk, 1 - exactly(self.delta)), size_part(view, self.k)))

    @property
    def implied_k(self) -> int:
        """The parameter k."""
        return self.k

    def neighbours(self, view: View) -> NeighbourGraph:
        """Return the ε-neighbour graph under the declared distance."""
        return view.graph(exactly(self.epsilon))

    def search_conditions(self, view: View) -> Sequence[NeighbourLimit]:
        """Return the limit on ε-neighbours."""
        alone = -1 if exactly(self.delta) > 0 else 0  # a group of one has risk 1

        def allowed(size: int) -> int:
            return self.allowed_neighbours(size) if size > 1 else alone

        return (NeighbourLimit(view.attribute.codes, self.neighbours(view), allowed),)

    def certificate(self, view: View) -> Certificate | None:
        """Rule the requirement out by a clique of near values, a crowded value, or the size of the table."""
        population = view.groups.population
        if self.k > population:
            return replace(too_small(self.k, population), rows=view.table.rows)
        alone = with_one_value_each(view)
        return None if alone is None else proximity_certificate(Crowding.of(self.neighbours(alone)), self)

    def as_dissimilarity(self) -> Dissimilarity:
        """Return this requirement itself."""
        return self

    @classmethod
    def example(cls) -> Example:
        """Return the salaries of Zare-Mirakabad (2012), Fig. 1."""
        return two_age_groups(
            cls(epsilon=10, delta="0.5", k=3),
            "salary",
            ((490, 500, 510, 1000), "500 has 490 and 510 within 10 of it: 2 of the 3 others", "2/3"),
            ((500, 600, 700), "no salary has another within 10 of it: 0 of the 2 others", "0/2"),
        )

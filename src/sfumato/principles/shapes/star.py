"""The star: a row and what is near it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.distances.neighbour_graph import NeighbourGraph
from sfumato.exact import Ratios
from sfumato.principles.certificate import Certificate, with_one_value_each
from sfumato.principles.clique_capacity import allowed_neighbours
from sfumato.principles.cliques import Clique, heavy_clique
from sfumato.principles.principle import Part, exactly
from sfumato.principles.proximity_certificate import Crowding, proximity_certificate
from sfumato.principles.search_conditions import NeighbourLimit
from sfumato.principles.shapes.shape import Shape
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, two_age_groups

if TYPE_CHECKING:
    from sfumato.principles.dissimilarity import Dissimilarity


class StarShape(Shape):
    """The shape of Wang & Liu (2010): the docstring of `Dissimilarity` describes it."""

    name: ClassVar[str] = "star"
    monotone: ClassVar[bool] = False
    units: ClassVar[Literal["every choice"]] = "every choice"

    def part(self, view: View, principle: Dissimilarity) -> Part:
        """Return each group's proximity risk: a share of the *other* rows, unlike the level of the other shapes."""
        largest, sizes = self.largest(view, exactly(principle.epsilon)), view.histogram.sizes
        alone = sizes == 1
        risk = Ratios(np.where(alone, 1, largest - 1), np.where(alone, 1, sizes - 1))
        return Part.at_most("risk", risk, 1 - exactly(principle.delta))

    def largest(self, view: View, epsilon: Fraction) -> NDArray[np.int64]:
        """Return for each group the most rows near one of its values, its own included."""
        return np.maximum.reduceat(view.near_counts(self.neighbours(view, epsilon)), view.histogram.starts)

    def allowed(self, size: int, delta: Fraction) -> int:
        """Return how many neighbours a row may have in a group of a size; a group of one has risk 1."""
        if size == 1:
            return -1 if delta > 0 else 0
        return allowed_neighbours(size, delta)

    def neighbours(self, view: View, epsilon: Fraction) -> NeighbourGraph:
        """Return the ε-neighbour graph under the declared distance."""
        return view.graph(epsilon)

    def search_conditions(self, view: View, principle: Dissimilarity) -> Sequence[NeighbourLimit]:
        """Return the limit on ε-neighbours."""
        delta = exactly(principle.delta)
        near = self.neighbours(view, exactly(principle.epsilon))
        return (NeighbourLimit(view.attribute.codes, near, lambda size: self.allowed(size, delta)),)

    def certificate(self, view: View, principle: Dissimilarity) -> Certificate | None:
        """Rule the requirement out by a clique of near values, or by a crowded value."""
        alone = with_one_value_each(view)
        if alone is None:
            return None
        return proximity_certificate(Crowding.of(self.neighbours(alone, exactly(principle.epsilon))), principle)

    def certain_set(self, view: View, epsilon: Fraction) -> Clique | None:
        """Return a heavy clique: the star of each of its values contains it."""
        return heavy_clique(self.neighbours(view, epsilon))

    def example(self) -> Example:
        """Return the salaries of Zare-Mirakabad (2012), Fig. 1."""
        from sfumato.principles.dissimilarity import Dissimilarity

        return two_age_groups(
            Dissimilarity(epsilon=10, delta="0.5", k=3),
            "salary",
            ((490, 500, 510, 1000), "500 has 490 and 510 within 10 of it: 2 of the 3 others", "2/3"),
            ((500, 600, 700), "no salary has another within 10 of it: 0 of the 2 others", "0/2"),
        )

"""The chain: rows that small steps connect."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.distances.neighbour_graph import NeighbourGraph
from sfumato.principles.cliques import Clique, heavy_clique
from sfumato.principles.principle import exactly
from sfumato.principles.search_conditions import HistogramCondition, linked_values
from sfumato.principles.shapes.near_set_counts import component_sizes
from sfumato.principles.shapes.shape import Shape
from sfumato.principles.shapes.window_runs import longest_chains
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, two_age_groups

if TYPE_CHECKING:
    from sfumato.principles.dissimilarity import Dissimilarity


class ChainShape(Shape):
    """Every group contains at least k people, and rows that steps of at most ε connect make up at most a share 1 − δ.

    In plain words: nobody can be narrowed down to fewer than k people; and no cluster of secrets, in which one leads to the
    next in steps of at most ε, makes up more than a share 1 − δ of a group.

    The level is the share of the group in its largest connected component, as in single-linkage clustering.

    Not monotone: {0,2} and {1,3} at ε = 1 have share 1/2, their union 1.

    Does not protect against what is common to the whole table; and it does not hide who is in the table. A chain of many
    small steps may be wide, so the requirement is stricter than a bet on a range needs.

    Source: an answer to an open question of Wang & Liu (2010), XColor: protecting general proximity privacy, ICDE.
    """

    name: ClassVar[str] = "chain"
    monotone: ClassVar[bool] = False
    units: ClassVar[Literal["one row"]] = "one row"

    def largest(self, view: View, epsilon: Fraction) -> NDArray[np.int64]:
        """Return for each group how many rows its largest connected component has."""
        graph = self.neighbours(view, epsilon)
        windows = graph.windows
        return component_sizes(view, graph) if windows is None else longest_chains(view.histogram, windows)

    def neighbours(self, view: View, epsilon: Fraction) -> NeighbourGraph:
        """Return the ε-neighbour graph under the declared distance."""
        return view.graph(epsilon)

    def search_conditions(self, view: View, principle: Dissimilarity) -> Sequence[HistogramCondition]:
        """Return the condition on connected components."""
        from sfumato.kernels import group_excess as excess

        graph = self.neighbours(view, exactly(principle.epsilon))
        return (linked_values(view, graph, excess.CHAIN, 1 - exactly(principle.delta)),)

    def certain_set(self, view: View, epsilon: Fraction) -> Clique | None:
        """Return a heavy clique: values that are near one another are connected in every group."""
        return heavy_clique(self.neighbours(view, epsilon))

    def example(self) -> Example:
        """Return salaries that small steps connect, and salaries far apart."""
        from sfumato.principles.dissimilarity import Dissimilarity

        return two_age_groups(
            Dissimilarity(epsilon=10, delta="0.5", k=3, shape="chain"),
            "salary",
            ((490, 500, 510, 1000), "steps of 10 lead from 490 over 500 to 510: 3 of the 4", "3/4"),
            ((490, 500, 600, 610), "from 500 to 600 is a step of 100, so no more than 2 of the 4 are connected", "2/4"),
        )

"""The cycle: rows that small steps connect in more than one way."""

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
from sfumato.principles.shapes.near_set_counts import block_sizes
from sfumato.principles.shapes.shape import Shape
from sfumato.principles.shapes.window_runs import longest_cycles
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, two_age_groups

if TYPE_CHECKING:
    from sfumato.principles.dissimilarity import Dissimilarity


class CycleShape(Shape):
    """Every group contains at least k people, and rows any two of which lie on a cycle make up at most a share 1 − δ.

    In plain words: nobody can be narrowed down to fewer than k people; and no cluster of secrets that steps of at most ε
    connect, and still connect whichever single row is removed, makes up more than a share 1 − δ of a group.

    A cycle is a closed sequence of different rows, each within ε of the next. Rows any two of which lie on a common cycle
    are a block of the neighbour graph: a chain that does not hang on any one row. Two near rows count as a block, and so
    does a single row. The level is the share of the group in its largest block. The longest single cycle is never larger;
    among numbers it is as large, if the block has at least three rows.

    Not monotone: {0,1,4,5} and {2,3,30,31} at ε = 2 have share 1/2, their union 3/4.

    Does not protect against chains that hang on single rows, nor against what is common to the whole table; and it does not
    hide who is in the table.

    Source: an answer to an open question of Wang & Liu (2010), XColor: protecting general proximity privacy, ICDE.
    """

    name: ClassVar[str] = "cycle"
    monotone: ClassVar[bool] = False
    units: ClassVar[Literal["one row"]] = "one row"

    def largest(self, view: View, epsilon: Fraction) -> NDArray[np.int64]:
        """Return for each group how many rows its largest block has."""
        graph = self.neighbours(view, epsilon)
        windows = graph.windows
        return block_sizes(view, graph) if windows is None else longest_cycles(view.histogram, windows)

    def neighbours(self, view: View, epsilon: Fraction) -> NeighbourGraph:
        """Return the ε-neighbour graph under the declared distance."""
        return view.graph(epsilon)

    def search_conditions(self, view: View, principle: Dissimilarity) -> Sequence[HistogramCondition]:
        """Return the condition on blocks; on connected components, which contain the blocks, for distances without order."""
        from sfumato.kernels import group_excess as excess

        graph = self.neighbours(view, exactly(principle.epsilon))
        kind = excess.CHAIN if graph.windows is None else excess.CYCLE
        return (linked_values(view, graph, kind, 1 - exactly(principle.delta)),)

    def certain_set(self, view: View, epsilon: Fraction) -> Clique | None:
        """Return a heavy clique: near values, of which any three are a cycle, are in one block of every group."""
        return heavy_clique(self.neighbours(view, epsilon))

    def example(self) -> Example:
        """Return salaries that hold together without any one of them, and salaries that do not."""
        from sfumato.principles.dissimilarity import Dissimilarity

        return two_age_groups(
            Dissimilarity(epsilon=10, delta="0.5", k=3, shape="cycle"),
            "salary",
            (
                (490, 495, 500, 505, 900, 950),
                "490, 500, 505 and 495 are a cycle in steps of at most 10: 4 of the 6",
                "4/6",
            ),
            ((490, 500, 510, 1000), "without 500, 490 and 510 are not connected, so no more than 2 of the 4", "2/4"),
        )

"""The clique: rows that are all near one another."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.distances.neighbour_counters import BITSET, BitsetCounter
from sfumato.distances.neighbour_graph import NeighbourGraph, NeighbourWindows, OneSidedNeighbours
from sfumato.principles.cliques import Clique, heavy_clique
from sfumato.principles.numeric_values import fullest_windows
from sfumato.principles.principle import exactly
from sfumato.principles.search_conditions import NeighbourLimit
from sfumato.principles.shapes.near_set_counts import Entries, box_counts, clique_bounds, heaviest_in_plane
from sfumato.principles.shapes.one_sided import one_sided
from sfumato.principles.shapes.shape import Shape
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, two_age_groups

if TYPE_CHECKING:
    from sfumato.principles.dissimilarity import Dissimilarity


class CliqueShape(Shape):
    """Every group contains at least k people, and rows that all lie within ε of one another make up at most a share 1 − δ.

    In plain words: nobody can be narrowed down to fewer than k people; and no set of secrets that are all alike, each within
    ε of each other, makes up more than a share 1 − δ of a group.

    The level is the share of the group in the largest set of rows that are pairwise within ε. For numbers and taxonomies
    that takes linear time. For other distances the set is found for certain in groups of tens of rows; where a larger group
    takes too many steps, an upper bound counts as its level.

    Monotone.

    Does not protect against values that are near a common middle and not near one another, nor against what is common to the
    whole table; and it does not hide who is in the table.

    Source: an answer to an open question of Wang & Liu (2010), XColor: protecting general proximity privacy, ICDE.
    """

    name: ClassVar[str] = "clique"
    monotone: ClassVar[bool] = True
    units: ClassVar[Literal["every choice"]] = "every choice"

    def largest(self, view: View, epsilon: Fraction) -> NDArray[np.int64]:
        """Return for each group how many rows the largest clique has."""
        return largest_cliques(view, self.neighbours(view, epsilon))

    def neighbours(self, view: View, epsilon: Fraction) -> NeighbourGraph:
        """Return the ε-neighbour graph under the declared distance."""
        return view.graph(epsilon)

    def search_conditions(self, view: View, principle: Dissimilarity) -> Sequence[NeighbourLimit]:
        """Return the limit on the rows that may be in a clique with a row."""
        return (limit_on_cliques(self, view, self.neighbours(view, exactly(principle.epsilon)), exactly(principle.delta)),)

    def is_exact(self, view: View, epsilon: Fraction) -> bool:
        """Return whether the values have an order, or are points of a plane."""
        return is_exact_on(view, self.neighbours(view, epsilon))

    def certain_set(self, view: View, epsilon: Fraction) -> Clique | None:
        """Return the heaviest clique if it is easily found, else a heavy one."""
        return heaviest_found(self.neighbours(view, epsilon))

    def example(self) -> Example:
        """Return salaries that are all alike, and salaries of which only neighbours are."""
        from sfumato.principles.dissimilarity import Dissimilarity

        return two_age_groups(
            Dissimilarity(epsilon=10, delta="0.5", k=3, shape="clique"),
            "salary",
            ((490, 495, 500, 700), "490, 495 and 500 lie within 10 of one another: 3 of the 4", "3/4"),
            ((490, 500, 510, 700), "490 and 510 are not within 10 of one another, so no more than 2 of the 4", "2/4"),
        )


def largest_cliques(view: View, graph: NeighbourGraph) -> NDArray[np.int64]:
    """Return for each group how many rows its largest clique in a neighbour graph has; units, if units are counted.

    Linear where neighbours are consecutive along an order; quadratic where they are squares of a plane. Otherwise exact in
    groups of tens of rows. In a large group whose largest clique is not found, the upper bound counts: a group never seems
    safer than it is.
    """
    windows, plane = graph.windows, graph.plane
    if windows is not None:
        return fullest_windows(view, NeighbourWindows.upward(windows, graph.epsilon))
    if plane is not None and not view.values_vary:
        return box_counts(Entries.of(view), plane)[0]
    return clique_bounds(view, graph)[1]


def is_exact_on(view: View, graph: NeighbourGraph) -> bool:
    """Return whether `largest_cliques` is exact in groups of any size."""
    return graph.windows is not None or (graph.plane is not None and not view.values_vary)


def heaviest_found(graph: NeighbourGraph) -> Clique:
    """Return the heaviest clique where values have an order or are points of a plane, else a heavy one."""
    plane = graph.plane
    return heavy_clique(graph) if plane is None else heaviest_in_plane(graph, plane)


def limit_on_cliques(shape: Shape, view: View, graph: NeighbourGraph, delta: Fraction) -> NeighbourLimit:
    """Return a limit on neighbours that bounds the cliques of a neighbour graph to a share 1 − δ of every group.

    Where neighbours are consecutive along an order, a clique is a run, and a limit on the rows from each value upward is
    exactly the requirement. Otherwise the limit is stricter: on the near rows that follow a row in an order, one of which
    begins every clique; on all near rows, if there are very many values.
    """
    windows, size = graph.windows, len(graph.attribute)
    near: NeighbourGraph | NeighbourWindows | OneSidedNeighbours = graph
    if windows is not None:
        near = NeighbourWindows.upward(windows, graph.epsilon)
    elif size <= BITSET:
        near = one_sided(BitsetCounter(graph.bound, graph.epsilon, size).bits, graph.attribute.counts)
    return NeighbourLimit(view.attribute.codes, near, lambda size: shape.allowed(size, delta))

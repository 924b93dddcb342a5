"""The ball: what lies within ε of any centre, whether or not the centre occurs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.distances.neighbour_graph import NeighbourGraph, OneSidedNeighbours
from sfumato.errors import ParameterError
from sfumato.principles.cliques import Clique
from sfumato.principles.principle import exactly
from sfumato.principles.search_conditions import NeighbourLimit
from sfumato.principles.shapes.clique import heaviest_found, is_exact_on, largest_cliques, limit_on_cliques
from sfumato.principles.shapes.near_set_counts import centred_counts
from sfumato.principles.shapes.one_sided import one_sided
from sfumato.principles.shapes.shape import Shape
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, two_age_groups

if TYPE_CHECKING:
    from sfumato.principles.dissimilarity import Dissimilarity

MOST = 16_384
"""The largest number of distinct values for which glaze is told which share a ball."""


class BallShape(Shape):
    """Every group contains at least k people, and no ball of radius ε contains more than a share 1 − δ of its rows.

    In plain words: nobody can be narrowed down to fewer than k people; and whatever range of width 2ε an attacker bets on,
    the bet is right for at most a share 1 − δ of the group.

    For numbers the centre is any number, not only one that occurs; for L^p of several columns any point, where p is "inf",
    or 1 with up to two columns, or any with one column; in a taxonomy any node. For other distances it is any value of the
    table, also of other groups. The level is the share of the group in the fullest ball.

    Monotone.

    Does not protect against ranges that are wider than 2ε, nor against what is common to the whole table; and it does not
    hide who is in the table.

    Source: the attack of Li, Tao & Xiao (2008), Preservation of proximity privacy in publishing numerical sensitive data,
    SIGMOD, with a free centre; other shapes than the star are an open question of Wang & Liu (2010).
    """

    name: ClassVar[str] = "ball"
    monotone: ClassVar[bool] = True
    relation: ClassVar[str] = "are in one ball"
    units: ClassVar[Literal["every choice"]] = "every choice"

    def largest(self, view: View, epsilon: Fraction) -> NDArray[np.int64]:
        """Return for each group how many rows the fullest ball contains."""
        graph = view.graph(epsilon)
        return centred_counts(view, graph) if graph.of_balls is None else largest_cliques(view, graph.of_balls)

    def neighbours(self, view: View, epsilon: Fraction) -> NeighbourGraph:
        """Return the graph whose cliques are the sets that one ball contains; values within ε, if there is none."""
        graph = view.graph(epsilon)
        return graph if graph.of_balls is None else graph.of_balls

    def search_conditions(self, view: View, principle: Dissimilarity) -> Sequence[NeighbourLimit]:
        """Return a limit on the rows that may share a ball with a row."""
        delta, graph = exactly(principle.delta), view.graph(exactly(principle.epsilon))
        if graph.of_balls is not None:
            return (limit_on_cliques(self, view, graph.of_balls, delta),)
        return (NeighbourLimit(view.attribute.codes, _sharing_a_centre(graph), lambda size: self.allowed(size, delta)),)

    def is_exact(self, view: View, epsilon: Fraction) -> bool:
        """Return whether balls are counted around each value of the table, or found as cliques in groups of any size."""
        balls = view.graph(epsilon).of_balls
        return balls is None or is_exact_on(view, balls)

    def certain_set(self, view: View, epsilon: Fraction) -> Clique | None:
        """Return values that one ball contains: a clique, or what is near the value that is near most rows."""
        graph = view.graph(epsilon)
        if graph.of_balls is not None:
            return heaviest_found(graph.of_balls)
        centre = int(np.argmax(graph.degrees))
        inside = graph.neighbourhood(centre)
        return Clique(inside, int(graph.attribute.counts[inside].sum()), True)

    def example(self) -> Example:
        """Return salaries in a range whose middle is the salary of nobody."""
        from sfumato.principles.dissimilarity import Dissimilarity

        return two_age_groups(
            Dissimilarity(epsilon=10, delta="0.5", k=3, shape="ball"),
            "salary",
            ((490, 510, 510, 700), "from 490 to 510, within 10 of 500, which is nobody's salary, lie 3 of the 4", "3/4"),
            ((490, 510, 600, 700), "no range of width 20 contains more than 490 and 510: 2 of the 4", "2/4"),
        )


def _sharing_a_centre(graph: NeighbourGraph) -> OneSidedNeighbours:
    """Return which values are near one value of the table together, on one side: only these can be in one ball."""
    from scipy import sparse

    size = len(graph.attribute)
    if size > MOST:
        raise ParameterError(
            f"{graph.attribute.name!r} has {size:,} distinct values under a distance with no order, more than the {MOST:,} "
            "whose pairs are stored",
            remedy='Round the values, use a distance along one order, such as absolute, or method "mondrian".',
            key="distance",
            value=size,
        )
    everyone = np.arange(size)
    near = sparse.csr_array(
        np.concatenate([graph.near(some, everyone) for some in np.array_split(everyone, size // 256 + 1)])
    )
    together = np.zeros((size, -(-size // 64)), np.uint64)
    as_bytes = together.view(np.uint8)
    for first in range(0, size, 256):
        some = (near[first : first + 256].astype(np.int32) @ near.T.astype(np.int32)).toarray() > 0
        packed = np.packbits(some, axis=1, bitorder="little")
        as_bytes[first : first + len(some), : packed.shape[1]] = packed
    return one_sided(together, graph.attribute.counts)

"""The interface of every shape of a breach: the largest set of rows of a group that has the shape, and what limits it.

A shape says which sets of near rows are a breach if they make up too much of a group. Its docstring is laid out as that of a
principle; `sfumato.principles.describe` reads both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.distances.neighbour_graph import NeighbourGraph
from sfumato.exact import Ratios
from sfumato.principles.certificate import Certificate, share_certificate, whole_table_certificate, with_one_value_each
from sfumato.principles.principle import Part, Units, exactly
from sfumato.principles.search_conditions import HistogramCondition, NeighbourLimit
from sfumato.principles.view import View

if TYPE_CHECKING:
    from sfumato.principles.cliques import Clique
    from sfumato.principles.dissimilarity import Dissimilarity
    from sfumato.principles.worked_example import Example


class Shape(ABC):
    """A shape of a breach: the rows of a group that have it may make up at most a share 1 − δ of the group."""

    name: ClassVar[str]
    """The value of the parameter `shape`."""
    monotone: ClassVar[bool]
    """Whether the union of two groups that satisfy the requirement always satisfies it."""
    relation: ClassVar[str] = "are near one another"
    """How the values of `certain_set` are near, as a verb."""
    units: ClassVar[Units]
    """How people with several rows are counted; see `sfumato.principles.principle.UNITS`."""

    def part(self, view: View, principle: Dissimilarity) -> Part:
        """Return the level of every group, and whether it suffices."""
        share = Ratios(self.largest(view, exactly(principle.epsilon)), view.histogram.sizes)
        return Part.at_most("share", share, 1 - exactly(principle.delta))

    @abstractmethod
    def largest(self, view: View, epsilon: Fraction) -> NDArray[np.int64]:
        """Return for each group how many rows, or units, the largest set of the shape has."""

    def allowed(self, size: int, delta: Fraction) -> int:
        """Return how many other rows may have the shape together with a row, in a group of a size: ⌊(1−δ)·size⌋ − 1.

        Negative if no group of the size will do.
        """
        return (delta.denominator - delta.numerator) * size // delta.denominator - 1

    @abstractmethod
    def neighbours(self, view: View, epsilon: Fraction) -> NeighbourGraph:
        """Return which values are near one another, as the report draws them."""

    @abstractmethod
    def search_conditions(self, view: View, principle: Dissimilarity) -> Sequence[NeighbourLimit | HistogramCondition]:
        """Return the conditions that the method glaze satisfies step by step."""

    def certificate(self, view: View, principle: Dissimilarity) -> Certificate | None:
        """Rule the requirement out: by near values that make up too much of the table, or by the table as a whole."""
        alone = with_one_value_each(view)
        epsilon, delta = exactly(principle.epsilon), exactly(principle.delta)
        if alone is not None and delta < 1:
            clique = self.certain_set(alone, epsilon)
            return None if clique is None else share_certificate(alone, clique, 1 / (1 - delta), self.relation)
        return whole_table_certificate(principle, view) if self.is_exact(view, epsilon) else None

    def is_exact(self, view: View, epsilon: Fraction) -> bool:
        """Return whether `largest` is exact in groups of any size, not an upper bound in some large ones."""
        del view, epsilon
        return True

    @abstractmethod
    def certain_set(self, view: View, epsilon: Fraction) -> Clique | None:
        """Return values of which all rows of a group are always within one set of the shape; None if none is found.

        A requirement that limits them to a share of every group limits them to that share of the table.
        """

    @abstractmethod
    def example(self) -> Example:
        """Return a worked example for `sfumato explain` and the documentation."""

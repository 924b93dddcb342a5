"""(ε,δ)^k-dissimilarity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from sfumato.distances.neighbour_graph import Neighbours
from sfumato.exact import Number
from sfumato.parameters import ParameterRange, choice, whole
from sfumato.principles.certificate import Certificate
from sfumato.principles.clique_capacity import allowed_neighbours
from sfumato.principles.principle import Measurement, On, Principle, exactly, size_part
from sfumato.principles.proximity_certificate import too_small
from sfumato.principles.search_conditions import HistogramCondition, NeighbourLimit
from sfumato.principles.shapes import SHAPES, shape_named
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example

STAR = "star"
"""The shape of Wang & Liu (2010), which is meant where none is written."""


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
    - `shape`: which rows are limited: those near one of them ("star"), near any point ("ball"), all near one another
      ("clique"), or linked by small steps ("chain", "cycle").

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
    shape: str = STAR

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
        "k": whole("people", usual=(1, 50)),
        "shape": choice(*SHAPES),
    }

    def __post_init__(self) -> None:
        self.check_ranges()
        if type(self).measure is Dissimilarity.measure:
            # the attributes of the class are those of the star
            for capability in ("monotone", "units"):
                object.__setattr__(self, capability, getattr(shape_named(self.shape), capability))

    def allowed_neighbours(self, size: int) -> int:
        """Return how many ε-neighbours a value may have in a group of a size: t = ⌊(1−δ)(size−1)⌋.

        >>> [Dissimilarity("0.1", "0.8").allowed_neighbours(size) for size in (10, 11)]
        [1, 2]
        """
        return allowed_neighbours(size, exactly(self.delta))

    def measure(self, view: View) -> Measurement:
        """Return the level of the shape in each group, and its number of people."""
        return Measurement((shape_named(self.shape).part(view, self), size_part(view, self.k)))

    @property
    def implied_k(self) -> int:
        """The parameter k."""
        return self.k

    def neighbours(self, view: View) -> Neighbours:
        """Return which values are near under the declared distance; those that one ball contains, for balls."""
        return shape_named(self.shape).neighbours(view, exactly(self.epsilon))

    def search_conditions(self, view: View) -> Sequence[NeighbourLimit | HistogramCondition]:
        """Return what the shape demands of a group."""
        return shape_named(self.shape).search_conditions(view, self)

    def certificate(self, view: View) -> Certificate | None:
        """Rule the requirement out by a clique of near values, a crowded value, or the size of the table."""
        population = view.groups.population
        if self.k > population:
            return replace(too_small(self.k, population), rows=view.table.rows)
        return shape_named(self.shape).certificate(view, self)

    def as_dissimilarity(self) -> Dissimilarity | None:
        """Return this requirement itself if its shape is the star, which frontiers and bounds are about."""
        return self if self.shape == STAR else None

    def parameters(self) -> dict[str, Any]:
        """Return the parameters as a config states them, without the shape if it is the star."""
        return {key: value for key, value in super().parameters().items() if (key, value) != ("shape", STAR)}

    @property
    def described_by(self) -> type:
        """The class of the shape; that of the principle describes the star."""
        return type(self) if self.shape == STAR else type(shape_named(self.shape))

    @classmethod
    def example(cls, shape: str = STAR) -> Example:
        """Return the worked example of a shape."""
        return shape_named(shape).example()

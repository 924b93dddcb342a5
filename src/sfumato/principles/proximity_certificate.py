"""When (ε,δ)^k-dissimilarity is impossible: too many rows near one another, or one value near too many rows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sfumato.data.attribute import Attribute
from sfumato.distances.neighbour_graph import NeighbourGraph
from sfumato.exact import written
from sfumato.principles.certificate import Certificate, clique_in_words, percent_of
from sfumato.principles.clique_capacity import admits, clique_capacity, least_size
from sfumato.principles.cliques import Clique, heavy_clique
from sfumato.principles.principle import exactly

if TYPE_CHECKING:
    from sfumato.principles.dissimilarity import Dissimilarity


@dataclass(frozen=True, eq=False)
class Crowding:
    """How crowded an attribute's values are at an ε: Θ, the value that reaches it, and a heavy clique.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"x": [1, 2, 3, 3, 9]}), sf.Schema(sensitive=["x"]))
    >>> crowding = Crowding.of(NeighbourGraph(table.attribute(["x"]), sf.distances.Absolute(), epsilon=1))
    >>> crowding.theta, crowding.attribute.label(crowding.value), crowding.clique.count
    (3, '2', 3)
    """

    attribute: Attribute
    epsilon: Fraction
    rows: int
    theta: int
    """Θ: the largest number of other rows near one value."""
    value: int
    """The number of a value that reaches Θ."""
    clique: Clique

    @classmethod
    def of(cls, graph: NeighbourGraph) -> Crowding:
        """Read it off a neighbour graph."""
        value = int(np.argmax(graph.degrees))
        rows = int(graph.attribute.counts.sum())
        return cls(graph.attribute, graph.epsilon, rows, int(graph.degrees[value]), value, heavy_clique(graph))


def own_size(rows: int, k: int, delta: Fraction) -> int:
    """Return the size of the smallest group that a row can be in: k (or 2), unless the other rows then form no group."""
    least = least_size(k, delta)
    return least if rows == least or rows >= 2 * least else rows


def excluded(crowding: Crowding, delta: Fraction, k: int) -> bool:
    """Return whether a certificate rules (ε,δ)^k-dissimilarity out: exactly where `proximity_certificate` returns one.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"x": [5, 5, 5, 9]}), sf.Schema(sensitive=["x"]))
    >>> crowding = Crowding.of(NeighbourGraph(table.attribute(["x"]), sf.distances.Absolute(), epsilon=0))
    >>> excluded(crowding, Fraction("0.5"), 2), excluded(crowding, Fraction(1, 3), 2)
    (True, False)
    """
    rows = crowding.rows
    if least_size(k, delta) > rows:
        return True
    return rows - 1 - crowding.theta < _far_rows(rows, k, delta) or not admits(rows, k, delta, crowding.clique.count)


def proximity_certificate(crowding: Crowding, principle: Dissimilarity) -> Certificate | None:
    """Rule out (ε,δ)^k-dissimilarity by a clique or by a crowded value; return None if neither does.

    Clique: a group of s rows contains at most t(s)+1 values that are pairwise near, so all groups together contain at most
    `clique_capacity` of them. Crowd: a value in a group of s rows needs at least ⌈δ(s−1)⌉ rows there that are not near it.
    Both are pigeonhole arguments, and any clique proves it, not only the heaviest. They are not in Wang & Liu (2010).
    """
    rows, delta, k = crowding.rows, exactly(principle.delta), principle.k
    epsilon = f"ε = {written(crowding.epsilon)}"
    if least_size(k, delta) > rows:
        return too_small(k, rows)
    clique = crowding.clique
    if not admits(rows, k, delta, clique.count):
        most = clique_capacity(rows, k, delta)
        groups = f"groups of at least {k} can hold" if k > 1 else "groups can hold"
        sentence = (
            f"{clique_in_words(crowding.attribute, clique)} {clique.count} of the {rows} rows "
            f"({percent_of(clique.count, rows)})"
            f"{'' if len(clique.values) == 1 else f' and lie within {epsilon} of one another'}; "
            f"at δ = {written(delta)} no {groups} more than {most} such rows ({percent_of(most, rows)})"
        )
        labels = tuple(crowding.attribute.label(int(value)) for value in clique.values)
        return Certificate("clique", sentence, labels, clique.count, rows, most)
    far = _far_rows(rows, k, delta)
    if rows - 1 - crowding.theta >= far:
        return None
    label = crowding.attribute.label(crowding.value)
    sentence = (
        f"{crowding.theta} of the {rows - 1} other rows lie within {epsilon} of the value {label}; in a group of at least "
        f"{own_size(rows, k, delta)} it needs {far} that do not, and there are {rows - 1 - crowding.theta}"
    )
    return Certificate("crowd", sentence, (label,), crowding.theta, rows, rows - 1 - far)


def too_small(k: int, population: int) -> Certificate:
    """Rule out groups of k in a table of fewer."""
    if k <= population:
        return Certificate("size", "the table has one row, and a group of one has risk 1", rows=population)
    return Certificate("size", f"no group can hold {k} of {population}", rows=population)


def _far_rows(rows: int, k: int, delta: Fraction) -> int:
    """Return how many rows must be far from a value in the smallest group that it can be in: ⌈δ(s−1)⌉."""
    return -(-delta.numerator * (own_size(rows, k, delta) - 1) // delta.denominator)

"""Certificates: facts about a table that no grouping of it can get around."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from sfumato.anonymization.feasibility.clique_capacity import admits, clique_capacity
from sfumato.anonymization.feasibility.cliques import Clique, fullest_run, heavy_clique
from sfumato.anonymization.feasibility.degree_bounds import least_size
from sfumato.data.attribute import Attribute
from sfumato.data.groups import Groups
from sfumato.data.table import Table
from sfumato.distances.absolute import number_windows
from sfumato.distances.neighbour_graph import NeighbourGraph
from sfumato.errors import ParameterError
from sfumato.exact import Numbers, written
from sfumato.principles import DeltaLDiversity, Dissimilarity, EpsilonMAnonymity, Principle, View
from sfumato.principles.base import exactly
from sfumato.principles.numeric_values import numbers_of

_SHOWN = 3
"""How many values of a clique are named."""


@dataclass(frozen=True)
class Certificate:
    """Why no grouping of a table can satisfy a principle: something that can be checked by counting.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"ill": ["a", "a", "a", "b"]}), sf.Schema(sensitive=["ill"]))
    >>> view = View(table, ["ill"], one_group(table))
    >>> print(certificate_of(sf.AlphaKAnonymity(alpha="0.5", k=2), view))
    the table as one group has alpha 0.75, wanted at most 0.5; and the union of groups that satisfy (α,k)-anonymity
    satisfies it too, so no grouping can
    """

    kind: Literal["clique", "crowd", "size", "whole"]
    """Values near one another; a value near too many others; too few rows; the table as one group fails."""
    sentence: str
    values: tuple[str, ...] = ()
    """The values it speaks of."""
    count: int = 0
    """How many rows they have."""
    rows: int = 0
    """How many rows there are."""
    most: int = 0
    """How many rows there could be at most, if the principle could hold."""

    @property
    def share(self) -> Fraction:
        """The share of the rows that the values make up."""
        return Fraction(self.count, self.rows) if self.rows else Fraction(0)

    @property
    def bound(self) -> Fraction:
        """The largest share that could be."""
        return Fraction(self.most, self.rows) if self.rows else Fraction(0)

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "kind": self.kind,
            "sentence": self.sentence,
            "values": list(self.values),
            "count": self.count,
            "rows": self.rows,
            "most": self.most,
        }


@dataclass(frozen=True, eq=False)
class Crowding:
    """How crowded an attribute's values are at an ε: Θ, the value that has it, and a heavy clique.

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
    value: int
    clique: Clique

    @classmethod
    def of(cls, graph: NeighbourGraph) -> Crowding:
        """Look at a neighbour graph."""
        value = int(np.argmax(graph.degrees))
        rows = int(graph.attribute.counts.sum())
        return cls(graph.attribute, graph.epsilon, rows, int(graph.degrees[value]), value, heavy_clique(graph))


def one_group(table: Table) -> Groups:
    """The table as one group.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> one_group(Table(pa.table({"age": [30, 41]}), Schema(["age"]))).sizes.tolist()
    [2]
    """
    return Groups.of(table, ())


def own_size(rows: int, k: int, delta: Fraction) -> int:
    """The smallest group that a row can be in: k (or 2), unless what is left could then form no group."""
    least = least_size(k, delta)
    return least if rows == least or rows >= 2 * least else rows


def excluded(crowding: Crowding, delta: Fraction, k: int) -> bool:
    """Whether a certificate rules (ε,δ)^k-dissimilarity out; exact, and the same as that `proximity_certificate` finds one.

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
    far = -(-delta.numerator * (own_size(rows, k, delta) - 1) // delta.denominator)
    return rows - 1 - crowding.theta < far or not admits(rows, k, delta, crowding.clique.count)


def proximity_certificate(crowding: Crowding, principle: Dissimilarity) -> Certificate | None:
    """Why (ε,δ)^k-dissimilarity is impossible, if a clique or a crowd shows it; None if neither does.

    Clique: a group of s rows holds at most t(s)+1 values that are pairwise near, so all groups together hold at most
    `clique_capacity`. Crowd: a value in a group of s rows needs at least ⌈δ(s−1)⌉ rows there that are not near it.
    Source: the errata of paper 001; both are pigeonhole arguments, and any clique proves, not only the heaviest.
    """
    rows, delta, k = crowding.rows, exactly(principle.delta), principle.k
    epsilon = f"ε = {written(crowding.epsilon)}"
    if least_size(k, delta) > rows:
        return _too_small(k, rows)
    clique = crowding.clique
    if not admits(rows, k, delta, clique.count):
        most = clique_capacity(rows, k, delta)
        groups = f"groups of at least {k} can hold" if k > 1 else "groups can hold"
        sentence = (
            f"{_named(crowding.attribute, clique)} {clique.count} of the {rows} rows ({_percent(clique.count, rows)})"
            f"{'' if len(clique.values) == 1 else f' and lie within {epsilon} of one another'}; "
            f"at δ = {written(delta)} no {groups} more than {most} such rows ({_percent(most, rows)})"
        )
        labels = tuple(crowding.attribute.label(int(value)) for value in clique.values)
        return Certificate("clique", sentence, labels, clique.count, rows, most)
    size = own_size(rows, k, delta)
    far = -(-delta.numerator * (size - 1) // delta.denominator)
    if rows - 1 - crowding.theta >= far:
        return None
    label = crowding.attribute.label(crowding.value)
    sentence = (
        f"{crowding.theta} of the {rows - 1} other rows lie within {epsilon} of the value {label}; in a group of at least "
        f"{size} it needs {far} that do not, and there are {rows - 1 - crowding.theta}"
    )
    return Certificate("crowd", sentence, (label,), crowding.theta, rows, rows - 1 - far)


def certificate_of(principle: Principle, view: View) -> Certificate | None:
    """Why a principle cannot hold on an attribute in any grouping, if something shows it; None if nothing does.

    A monotone principle that fails on the table as one group fails in every grouping: the union of groups that satisfy it
    would satisfy it. For (ε,m)-anonymity and (δ,l)-diversity, numbers that are pairwise near make up at most 1/m of each
    group, hence of the table. For (ε,δ)^k-dissimilarity see `proximity_certificate`.
    """
    if isinstance(principle, Dissimilarity):
        population = view.groups.population
        if principle.k > population:
            return replace(_too_small(principle.k, population), rows=view.table.rows)
        return proximity_certificate(Crowding.of(view.graph(exactly(principle.epsilon))), principle)
    if isinstance(principle, EpsilonMAnonymity | DeltaLDiversity):
        return _share_certificate(principle, view)
    whole = View(view.table, view.sensitive, one_group(view.table))
    try:
        measurement = principle.measure(whole)
    except ParameterError as problem:
        if problem.key not in ("k", "n"):  # these say that the table is too small
            raise
        return Certificate("size", problem.problem, rows=view.table.rows)
    if measurement.holds or not principle.monotone:
        return None
    part = next(part for part in measurement.parts if not part.holds.all())
    level = part.at(0)
    shown = written(level) if isinstance(level, Fraction) else f"{level:.6g}"
    sentence = (
        f"the table as one group has {part.name} {shown}, wanted {part.wanted}; and the union of groups that satisfy "
        f"{principle.title} satisfies it too, so no grouping can"
    )
    return Certificate("whole", sentence, rows=view.table.rows)


def _share_certificate(principle: EpsilonMAnonymity | DeltaLDiversity, view: View) -> Certificate | None:
    numbers = numbers_of(view, principle.title)
    counts, rows = view.attribute.counts, view.table.rows
    if isinstance(principle, DeltaLDiversity):
        width, part = 2 * exactly(principle.delta), exactly(principle.l)
        start, stop, count = fullest_run(counts, number_windows(numbers, width, width)[1])
    elif principle.nearness == "absolute":
        width, part = exactly(principle.epsilon), exactly(principle.m)
        start, stop, count = fullest_run(counts, number_windows(numbers, width, width)[1])
    else:
        part = exactly(principle.m)
        start, stop, count = fullest_run(counts, _mutual_windows(numbers, exactly(principle.epsilon)))
    most = int(rows / part)
    if count <= most:
        return None
    clique = Clique(np.arange(start, stop), count, True)
    sentence = (
        f"{_named(view.attribute, clique)} {count} of the {rows} rows ({_percent(count, rows)}) and are near "
        f"one another; groups of which at most 1/{written(part)} may be can hold {most} such rows ({_percent(most, rows)})"
    )
    return Certificate("clique", sentence, tuple(view.attribute.label(v) for v in range(start, stop)), count, rows, most)


def _mutual_windows(numbers: Numbers, epsilon: Fraction) -> np.typing.NDArray[np.int64]:
    """For each x the end of the run of numbers from x on that lie within ε·|y| of one another for each y of them.

    With x > 0 these go up to x(1+ε); with x < 0 up to the largest y < 0 with y − x ≤ ε·|y|. Numbers of different signs
    are never mutually near, as ε is at most 1; and 0 is near itself only.
    """
    a, b = epsilon.numerator, epsilon.denominator
    integers = [int(x) for x in numbers.integers]
    high = np.empty(len(integers), np.int64)
    end = 0
    for i, x in enumerate(integers):
        end = max(end, i + 1)
        # the smaller of |x| and |y| decides
        while (
            end < len(integers) and (integers[end] - x) * b <= a * min(abs(x), abs(integers[end])) and x * integers[end] > 0
        ):
            end += 1
        high[i] = end
    return high


def _too_small(k: int, rows: int) -> Certificate:
    if k <= rows:
        return Certificate("size", "the table has one row, and a group of one has risk 1", rows=rows)
    return Certificate("size", f"no group can hold {k} of {rows}", rows=rows)


def _named(attribute: Attribute, clique: Clique) -> str:
    """The values of a clique as the subject of a sentence, with its verb."""
    labels = [attribute.label(int(value)) for value in (*clique.values[:_SHOWN], clique.values[-1])]
    if len(clique.values) == 1:
        return f"the value {labels[0]} makes up"
    single = len(attribute.columns) == 1 and attribute.columns[0].numbers is not None
    if single and len(clique.values) == clique.values[-1] - clique.values[0] + 1:
        return f"the values {labels[0]} to {labels[-1]} make up"
    more = len(clique.values) - _SHOWN
    listed = ", ".join(labels[: min(_SHOWN, len(clique.values))])
    return f"the values {listed}{f' and {more} more' if more > 0 else ''} make up"


def _percent(count: int, rows: int) -> str:
    return f"{100 * count / rows:.1f} %"

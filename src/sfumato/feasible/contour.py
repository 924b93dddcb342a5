"""The vulnerability contour: over a grid of ε and δ, the share of a table's groups in breach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sfumato.auditing import table_of
from sfumato.errors import ParameterProblem
from sfumato.exact import Number, Ratios, as_fraction, written
from sfumato.groups import Groups
from sfumato.principles import Dissimilarity, View, attributes_of
from sfumato.principles.base import On
from sfumato.schema import Schema


@dataclass(frozen=True, repr=False)
class Contour:
    """How many of a table's groups breach (ε,δ)-dissimilarity, for every ε and δ of a grid; see `vulnerability`.

    >>> contour = Contour("income", (Fraction(5),), (Fraction("0.8"),), groups=4, breached=((1,),))
    >>> contour.shares
    ((Fraction(1, 4),),)
    """

    attribute: str
    epsilons: tuple[Fraction, ...]
    deltas: tuple[Fraction, ...]
    groups: int
    """The number of groups."""
    breached: tuple[tuple[int, ...], ...]
    """For each ε, and within it each δ, the number of groups whose risk is above 1 − δ."""

    @property
    def shares(self) -> tuple[tuple[Fraction, ...], ...]:
        """The vulnerability: for each ε, and within it each δ, the share of groups in breach."""
        return tuple(tuple(Fraction(count, self.groups) for count in row) for row in self.breached)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data: ε and δ as they are written, the counts, and the shares as numbers to draw."""
        return {
            "attribute": self.attribute,
            "epsilons": [written(epsilon) for epsilon in self.epsilons],
            "deltas": [written(delta) for delta in self.deltas],
            "groups": self.groups,
            "breached": [list(row) for row in self.breached],
            "shares": [[float(share) for share in row] for row in self.shares],
        }

    def __repr__(self) -> str:
        heads = ["epsilon | delta", *(written(delta) for delta in self.deltas)]
        rows = [
            [written(epsilon), *(f"{100 * count / self.groups:.1f} %" for count in counts)]
            for epsilon, counts in zip(self.epsilons, self.breached, strict=True)
        ]
        return "\n".join([f"Groups of {self.attribute} in breach, of {self.groups}", *aligned([heads, *rows])])


def vulnerability(
    data: Any,
    schema: Schema | None,
    epsilons: Sequence[Number],
    deltas: Sequence[Number],
    groups: Groups | None = None,
    on: On = None,
) -> Contour:
    """The share of a table's groups that breach (ε,δ)-dissimilarity, for every ε and δ of a grid.

    `data`: a path, a frame of pandas, polars or pyarrow, or a `Table` (whose schema stands if none is given).
    A group is in breach if its proximity risk exceeds 1 − δ, exactly. Source: paper 001, Section VI, Fig. 4. The groups are
    the table's own unless others are given. Each ε is measured once, whatever the number of δ.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 30, 30, 41, 41, 41], "income": [10, 11, 30, 20, 40, 60]})
    >>> vulnerability(people, sf.Schema(["age"], ["income"]), epsilons=[0, 1, 25], deltas=["0.2", "0.8"])
    Groups of income in breach, of 2
    epsilon | delta    0.2      0.8
    0                  0.0 %    0.0 %
    1                  0.0 %   50.0 %
    25               100.0 %  100.0 %
    """
    wishes = [Dissimilarity(epsilon, 0, on=on) for epsilon in as_grid(epsilons, "epsilons")]
    limits = [Dissimilarity(0, delta).delta for delta in as_grid(deltas, "deltas")]
    table = table_of(data, schema)
    attributes = attributes_of(wishes[0], table.schema)
    if len(attributes) > 1:
        raise ParameterProblem(
            f"a contour shows one sensitive attribute, and on = {on!r} names {len(attributes)}",
            remedy=f'Write "whole", or one of: {", ".join(table.schema.sensitive)}.',
            key="on",
            value=on,
        )
    view = View(table, attributes[0], groups)
    breached = []
    for wish in wishes:
        # a view would keep every graph
        levels = wish.measure(View(table, attributes[0], view.groups)).parts[0].levels
        assert isinstance(levels, Ratios)
        breached.append(tuple(int((~levels.at_most(1 - as_fraction(delta))).sum()) for delta in limits))
    return Contour(
        view.attribute.name,
        tuple(as_fraction(wish.epsilon) for wish in wishes),
        tuple(as_fraction(delta) for delta in limits),
        view.groups.count,
        tuple(breached),
    )


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines, the first column to the left and the others to the right.

    >>> aligned([["a", "b"], ["long", "10"]])
    ['a      b', 'long  10']
    """
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def as_grid(values: Sequence[Any], key: str) -> list[Any]:
    """The values as a list; none at all, or a text, which is a sequence too, is an error."""
    if isinstance(values, str) or not len(values):
        raise ParameterProblem(
            f"{key} = {values!r} is not a list of numbers", remedy='Write such as ["0.1", "0.2"].', key=key, value=values
        )
    return list(values)

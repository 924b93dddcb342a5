"""The frontier: for a grid of ε, δ and k, what is guaranteed, open or impossible, and what a method reached."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from sfumato._audit import table_of
from sfumato.anonymization.feasibility.all_groupings import most_groups_of_all
from sfumato.anonymization.feasibility.assessment import Verdict, feasibility, impossibility
from sfumato.anonymization.feasibility.degree_bounds import bounds, most_groups
from sfumato.anonymization.feasibility.nearest_parameters import MORE_THAN_ONE
from sfumato.anonymization.feasibility.vulnerability_contour import aligned, as_grid
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.distances.neighbour_graph import NeighbourGraph
from sfumato.errors import ParameterError
from sfumato.exact import Number, as_fraction, written
from sfumato.principles import (
    Dissimilarity,
    KAnonymity,
    On,
    Principle,
    PrincipleRequest,
    View,
    attributes_of,
    exactly,
    requested_principles,
)
from sfumato.principles.proximity_certificate import Crowding, excluded

Attempt = Callable[[Dissimilarity], float | None]
"""A function that tries to reach a principle: it returns the loss if it succeeded, else None."""


@dataclass(frozen=True)
class FrontierCell:
    """One (ε, δ, k) of a frontier."""

    principle: Dissimilarity
    theta: int
    verdict: Verdict
    groups: int
    """The largest number of groups for which it is guaranteed."""
    tried: bool = False
    loss: float | None = None
    """The loss at which it was reached, if it was tried."""

    @property
    def status(self) -> str:
        """The word to show: reached, guaranteed, one group (no more is guaranteed), not reached, open or impossible."""
        if self.loss is not None:
            return "reached"
        if self.groups >= MORE_THAN_ONE or self.verdict == "impossible":
            return self.verdict
        if self.tried:
            return "not reached"
        return "one group" if self.groups else "open"

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "epsilon": written(exactly(self.principle.epsilon)),
            "delta": written(exactly(self.principle.delta)),
            "k": self.principle.k,
            "theta": self.theta,
            "verdict": self.verdict,
            "groups": self.groups,
            "status": self.status,
            "loss": self.loss,
        }


@dataclass(frozen=True, repr=False)
class Frontier:
    """What is known, or was tried, for every ε, δ and k of a grid; see `frontier`.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"x": range(12)}), sf.Schema(sensitive=["x"]))
    >>> result = frontier(table, None, [3], ["0.5"], [4], attempt=lambda principle: 0.25, which="all")
    >>> result.cell(3, "0.5", 4).verdict, result.cell(3, "0.5", 4).status, result.cell(3, "0.5", 4).loss
    ('guaranteed', 'reached', 0.25)
    """

    attribute: str
    epsilons: tuple[Fraction, ...]
    deltas: tuple[Fraction, ...]
    ks: tuple[int, ...]
    cells: tuple[FrontierCell, ...]
    """Ordered by k, then ε, then δ."""
    others: tuple[Principle, ...] = ()
    """The requirements that hold in every cell besides."""
    impossible: str | None = None
    """Which of the others no grouping can satisfy, on which column and why; then every cell is impossible."""

    def cell(self, epsilon: Number, delta: Number, k: int) -> FrontierCell:
        """Return one cell of the grid."""
        axes = {"k": tuple(map(Fraction, self.ks)), "epsilon": self.epsilons, "delta": self.deltas}
        values = {"k": Fraction(k), "epsilon": as_fraction(epsilon, "epsilon"), "delta": as_fraction(delta, "delta")}
        place = 0
        for key, axis in axes.items():
            value = values[key]
            if value not in axis:
                listed = ", ".join(written(each) for each in axis)
                raise ParameterError(
                    f"{key} = {written(value)} is not on the grid",
                    remedy=f"Use one of: {listed}.",
                    key=key,
                    value=value,
                )
            place = place * len(axis) + axis.index(value)
        return self.cells[place]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "attribute": self.attribute,
            "epsilons": [written(epsilon) for epsilon in self.epsilons],
            "deltas": [written(delta) for delta in self.deltas],
            "ks": list(self.ks),
            "cells": [cell.to_dict() for cell in self.cells],
            "others": [principle.label for principle in self.others],
            "impossible": self.impossible,
        }

    def __repr__(self) -> str:
        held = f", with {'; '.join(principle.label for principle in self.others)}" if self.others else ""
        lines = [f"(ε,δ)^k-dissimilarity of {self.attribute}{held}"]
        for k in self.ks:
            heads = [f"k = {k}: epsilon | delta", *(written(delta) for delta in self.deltas)]
            rows = [
                [written(epsilon), *(_shown(self.cell(epsilon, delta, k)) for delta in self.deltas)]
                for epsilon in self.epsilons
            ]
            lines += aligned([heads, *rows])
        return "\n".join(lines)


def frontier(
    data: Any,
    schema: Schema | None,
    epsilons: Sequence[Number],
    deltas: Sequence[Number],
    ks: Sequence[int],
    on: On = None,
    attempt: Attempt | None = None,
    which: Literal["open", "all"] = "open",
    others: PrincipleRequest | Sequence[PrincipleRequest] = (),
) -> Frontier:
    """Return for every ε, δ and k of a grid whether (ε,δ)^k-dissimilarity is guaranteed, open or impossible.

    `data`: a path, a frame of pandas, polars or pyarrow, or a `Table` (whose own schema is used if none is given).
    `attempt`: called for the cells in which more than one group is neither guaranteed nor ruled out (with which = "all", for
    all that are not impossible); the cell keeps the loss that it returns. Each ε is measured once. Source: the trade-off
    of ε, δ and k in Wang & Liu (2010), Section V.

    `others`: requirements that hold in every cell besides. A cell is impossible if one of them is, and guaranteed if its
    groups satisfy them for certain: k-anonymity if the groups are large enough, any other only in the table as one group.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> frontier(pa.table({"x": range(12)}), sf.Schema(sensitive=["x"]), epsilons=[1, 3], deltas=["0.5", 1], ks=[4])
    (ε,δ)^k-dissimilarity of x
    k = 4: epsilon | delta         0.5           1
    1                       guaranteed  guaranteed
    3                       guaranteed  impossible
    """
    values = [exactly(Dissimilarity(epsilon, 0).epsilon) for epsilon in as_grid(epsilons, "epsilons")]
    limits = [exactly(Dissimilarity(0, delta).delta) for delta in as_grid(deltas, "deltas")]
    sizes = [Dissimilarity(0, 0, k).k for k in as_grid(ks, "ks")]
    table = table_of(data, schema)
    attributes = attributes_of(Dissimilarity(0, 0, on=on), table.schema)
    if len(attributes) > 1:
        raise ParameterError(
            f"a frontier shows one sensitive attribute, and on = {on!r} names {len(attributes)}",
            remedy=f'Name one with `on` (--on): "whole", or one of: {", ".join(table.schema.sensitive)}.',
            key="on",
            value=on,
        )
    view = View(table, attributes[0]).as_one_group().one_row_per_unit("a frontier")
    crowdings = [Crowding.of(NeighbourGraph(view.attribute, view.distance, epsilon)) for epsilon in values]
    held = HeldRequirements.of(table, requested_principles(others) if others else ())
    cells = []
    for k in sizes:
        for crowding in crowdings:
            for delta in limits:
                cell = _tried(table, _cell(crowding, Dissimilarity(crowding.epsilon, delta, k, on), held), held)
                try_it = cell.verdict != "impossible" and (which == "all" or cell.groups < MORE_THAN_ONE)
                if attempt is not None and try_it:
                    loss = attempt(cell.principle)
                    cell = FrontierCell(cell.principle, cell.theta, cell.verdict, cell.groups, True, loss)
                cells.append(cell)
    return Frontier(
        view.attribute.name, tuple(values), tuple(limits), tuple(sizes), tuple(cells), held.principles, held.impossible
    )


@dataclass(frozen=True)
class HeldRequirements:
    """The requirements that hold in every cell of a frontier, and what is known about them."""

    principles: tuple[Principle, ...]
    k: int
    """The least size of groups that they request."""
    only_k: bool
    """Whether they request nothing but sizes of groups."""
    as_one_group: bool
    """Whether the table as one group satisfies all of them."""
    impossible: str | None
    """Which of them no grouping can satisfy, on which column and why."""

    @classmethod
    def of(cls, table: Table, principles: Sequence[Principle]) -> HeldRequirements:
        """Assess each requirement once, whatever the size of the grid."""
        sizes = [principle for principle in principles if isinstance(principle, KAnonymity)]
        assessed = [feasibility(table, None, principle, nearby=False) for principle in principles]
        return cls(
            tuple(principles),
            max((principle.k for principle in sizes), default=1),
            len(sizes) == len(principles),
            all(each.certain_as_one_group for each in assessed),
            next((impossibility(each) for each in assessed if each.verdict == "impossible"), None),
        )


def _cell(crowding: Crowding, principle: Dissimilarity, held: HeldRequirements) -> FrontierCell:
    delta, k = exactly(principle.delta), max(principle.k, held.k)
    if k > crowding.rows or excluded(crowding, delta, k) or held.impossible is not None:
        return FrontierCell(principle, crowding.theta, "impossible", 0)
    groups = most_groups(crowding.rows, k, delta, crowding.theta)
    if not held.only_k:  # groups that satisfy one requirement need not satisfy another, unless they are the whole table
        one = crowding.theta <= bounds(crowding.rows, k, delta).whole
        groups = 1 if one and held.as_one_group else 0
    return FrontierCell(principle, crowding.theta, "guaranteed" if groups else "open", groups)


def _tried(table: Table, cell: FrontierCell, held: HeldRequirements) -> FrontierCell:
    """Return what all groupings of a small table show, if the bounds leave it open."""
    groups = most_groups_of_all(table, cell.principle, *held.principles) if cell.verdict == "open" else None
    if groups is None:
        return cell
    return FrontierCell(cell.principle, cell.theta, "guaranteed" if groups else "impossible", groups)


def _shown(cell: FrontierCell) -> str:
    return cell.status if cell.loss is None else f"reached {cell.loss:.3g}"

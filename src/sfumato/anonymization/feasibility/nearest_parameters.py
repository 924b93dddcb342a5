"""The nearest parameters: how large ε, δ or k may be, each with the other two fixed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.anonymization.feasibility.degree_bounds import largest_delta, largest_size, most_groups
from sfumato.distances.neighbour_graph import NeighbourGraph
from sfumato.exact import as_fraction, written
from sfumato.principles import Dissimilarity, View, exactly
from sfumato.principles.clique_capacity import largest_delta_admitting
from sfumato.principles.proximity_certificate import Crowding, excluded, own_size

_VALUES, _COSTLY_VALUES = 4096, 512
"""With more distinct values than this under a distance without an order, no other ε is tried; fewer if it is costly."""

_QUICK_NUMBERS, _QUICK_VALUES = 50_000, 512
"""The same where an answer must be quick: for ordered values, and for values without an order."""

_PAIRS = 1 << 20
"""How many distances are computed to find the values of ε to try."""

MORE_THAN_ONE = 2
"""Nearby parameters are guaranteed in at least this many groups: one group publishes nothing of the quasi-identifiers."""


@dataclass(frozen=True)
class ReachableParameters:
    """The largest ε, δ and k, each with the other two as requested; None where there is none, or none was searched for.

    >>> ReachableParameters(Fraction(5), Fraction(863, 999), None).text()
    'epsilon up to 5, or delta up to 0.8638'
    """

    epsilon: Fraction | None
    delta: Fraction | None
    k: int | None

    def text(self) -> str:
        """Return them in words. δ is rounded down, so that it stays reachable."""
        values = {
            "epsilon": None if self.epsilon is None else written(self.epsilon),
            "delta": None if self.delta is None else written(Fraction(int(self.delta * 10_000), 10_000)),
            "k": self.k,
        }
        return ", or ".join(f"{name} up to {value}" for name, value in values.items() if value is not None) or "nothing"

    def to_dict(self) -> dict[str, Any]:
        """Return them as plain data, exact numbers as they are written."""
        exact = {name: None if v is None else written(v) for name, v in (("epsilon", self.epsilon), ("delta", self.delta))}
        return {**exact, "k": self.k}


@dataclass(frozen=True)
class NearestParameters:
    """Parameters near requested ones: those guaranteed in at least two groups, and those that no certificate rules out."""

    guaranteed: ReachableParameters
    not_excluded: ReachableParameters
    searched: bool
    """Whether other values of ε were tried: not if there are very many values without an order."""

    def to_dict(self) -> dict[str, Any]:
        """Return them as plain data."""
        return {
            "guaranteed": self.guaranteed.to_dict(),
            "not_excluded": self.not_excluded.to_dict(),
            "epsilon_searched": self.searched,
        }


def nearest_parameters(view: View, principle: Dissimilarity, crowding: Crowding, quick: bool = False) -> NearestParameters:
    """Return how large ε, δ or k may be with the other two fixed. δ and k are exact; ε is one of `epsilons`.

    Both conditions only get harder as ε, δ or k grow, so bisection finds where they end.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> view = View(sf.Table(pa.table({"x": [1, 2, 3, 4, 5, 6]}), sf.Schema(sensitive=["x"])))
    >>> requirement = sf.Dissimilarity(epsilon=1, delta=1, k=2)
    >>> near = nearest_parameters(view, requirement, Crowding.of(view.graph(Fraction(1))))
    >>> near.guaranteed.text(), near.not_excluded.text()
    ('epsilon up to 1, or delta up to 1, or k up to 2', 'epsilon up to 2, or delta up to 1, or k up to 3')
    """
    rows, delta, k = crowding.rows, exactly(principle.delta), principle.k
    if k > rows:
        # No ε or δ makes groups of more people than there are: only another k can help.
        possible = _last(rows, lambda i: not excluded(crowding, delta, i + 1))
        return NearestParameters(
            ReachableParameters(None, None, largest_size(rows, delta, crowding.theta, MORE_THAN_ONE)),
            ReachableParameters(None, None, None if possible is None else possible + 1),
            False,
        )
    # The largest δ that the crowded value allows: ⌈δ(s−1)⌉ of its group must be far, and rows − 1 − Θ are.
    size = own_size(rows, k, Fraction(1))
    spare = Fraction(rows - 1 - crowding.theta, max(size - 1, 1))
    steps = epsilons(view, quick)
    known: dict[int, tuple[bool, bool]] = {}

    def at(i: int) -> tuple[bool, bool]:
        """Whether the i-th ε is guaranteed, and whether it is not ruled out; each ε is measured once."""
        if i not in known:
            there = Crowding.of(NeighbourGraph(view.attribute, view.distance, steps[1](i) if steps else Fraction(0)))
            guaranteed = most_groups(rows, k, delta, there.theta) >= MORE_THAN_ONE
            known[i] = (guaranteed, not excluded(there, delta, k))
        return known[i]

    last_guaranteed = _last(steps[0], lambda i: at(i)[0]) if steps else None
    open_ = _last(steps[0], lambda i: at(i)[1]) if steps else None
    last_k = _last(rows, lambda i: not excluded(crowding, delta, i + 1))
    return NearestParameters(
        ReachableParameters(
            None if steps is None or last_guaranteed is None else steps[1](last_guaranteed),
            largest_delta(rows, k, crowding.theta, MORE_THAN_ONE),
            largest_size(rows, delta, crowding.theta, MORE_THAN_ONE),
        ),
        ReachableParameters(
            None if steps is None or open_ is None else steps[1](open_),
            min(spare, largest_delta_admitting(rows, k, crowding.clique.count)),
            None if last_k is None else last_k + 1,
        ),
        steps is not None,
    )


def epsilons(view: View, quick: bool = False) -> tuple[int, Callable[[int], Fraction]] | None:
    """Return the values of ε worth trying, ascending: how many, and the i-th; None if a search would cost too much.

    `quick`: None already where it would take more than a moment.

    A distance may state its own steps (`BoundDistance.epsilon_steps`). For other distances the steps are the distances that
    occur, to 6 digits.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"x": ["0.5", "2"]}), sf.Schema(sensitive=["x"], kinds={"x": "numeric"}))
    >>> size, step = epsilons(View(table))
    >>> size, step(3)
    (16, Fraction(3, 10))
    """
    bound, size = view.distance.bind(view.attribute), len(view.attribute)
    steps = bound.epsilon_steps()
    if steps is not None:
        return None if quick and min(steps[0] + 1, size) > _QUICK_NUMBERS else steps
    if size > (_QUICK_VALUES if quick else _COSTLY_VALUES if bound.costly else _VALUES):
        return None
    some = np.unique(np.linspace(0, size - 1, min(size, max(1, _PAIRS // size))).astype(np.int64))
    apart = np.unique(bound.distances(some, np.arange(size)))
    occurring = sorted({as_fraction(f"{d:.6g}") for d in apart[np.isfinite(apart)].tolist()} | {Fraction(0)})
    return len(occurring), occurring.__getitem__


def _last(count: int, holds: Callable[[int], bool]) -> int | None:
    """Return the last number from 0 below a count at which a condition holds that holds up to there and not beyond."""
    if not count or not holds(0):
        return None
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low

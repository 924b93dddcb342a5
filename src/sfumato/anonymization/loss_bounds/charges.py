"""Charge each row a part of the loss that every grouping has, by classes of values that cover all possible groups.

Charges y are *sound* if no possible group G costs less than its rows are charged: Σ y over G ≤ cost of G, which is its
number of rows times the loss of its cells. The sum of sound charges is then a lower bound on the loss of every grouping.
If y is sound, so are the charges y · f, where f of a row is the least of (cost of G) / (Σ y over G) over the groups G that
contain it: for each group G, every row's f is at most the ratio of G itself, so Σ y · f over G ≤ cost of G. Every f is at
least 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.loss_bounds.covering_classes import CoveringOption, covering_options, line_positions
from sfumato.anonymization.loss_bounds.crowds import Crowds
from sfumato.anonymization.recoding import Domain, RecodingKind
from sfumato.data.groups import combined
from sfumato.kernels.charge_factors import CoveringArrays, lower_factors

_FIRST_RADIUS = 0.5
"""The cost up to which groups are searched at first; it is doubled while some row has no such group."""

_MOST_FOUND = 0.9
"""The search for such groups ends when this share of the distinct rows has one."""

_MOST_FACTOR = 1.5
"""Charges are raised by at most this factor at a time: groups that cost much more than their charges are then skipped."""

_ROUNDS = 8
"""How often charges are raised at most."""

_ENOUGH = 1.01
"""Charges are raised again if they rose by this factor."""

_GROWTH = 1.5
"""By how much more steps the next round is expected to take."""

_STEPS, _LEAST_STEPS = 4_200, 20_000_000
"""The steps of all searches together: for each distinct row, and at least."""


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """The distinct rows of a table, as far as a bound tells rows apart, ascending by their position on a line."""

    covering: CoveringArrays
    of_row: NDArray[np.int64]
    """For each row of the table its distinct row."""


def distinct_rows(domains: list[Domain], crowds: Crowds, size: int) -> DistinctRows:
    """Lay out a table for the search: one column of intervals as the line, the others with the options that cover cells."""
    places = [domain.place[domain.column.codes] for domain in domains]
    crowd = int(crowds.of_row.max(initial=0)) + 1
    of_row, parts = combined([*places, crowds.of_row], [*(domain.size + 1 for domain in domains), crowd])
    lines = [j for j, domain in enumerate(domains) if domain.recoding is RecodingKind.INTERVAL]
    line = max(lines, key=lambda j: domains[j].size, default=None)
    at, step = (np.zeros(len(parts)), 0.0) if line is None else line_positions(domains[line])
    at = at if line is None else at[parts[:, line]]
    order = np.argsort(at, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    options = {j: covering_options(domain) for j, domain in enumerate(domains) if j != line}
    # the costliest attribute first: most combinations with it cost too much, and are skipped together
    columns = sorted(options, key=lambda j: -min((float(each.cost.max()) for each in options[j][1:]), default=0.0))
    label, cost = _option_arrays([options[j] for j in columns])
    return DistinctRows(
        CoveringArrays(
            np.array([len(options[j]) for j in columns], np.int64), label, cost,
            np.ascontiguousarray(parts[order][:, columns], np.int64), at[order], float(step),
            np.bincount(of_row, minlength=len(parts))[order], np.ascontiguousarray(parts[order, -1]),
            size, crowds.share.denominator, crowds.share.numerator * size, 0,
        ),
        rank[of_row],
    )  # fmt: skip


def sound_charges(rows: DistinctRows) -> NDArray[np.float64]:
    """Return for each distinct row a charge such that no group costs less than its rows are charged.

    The first charges are the least cost of the cells of a group that contains the row. They are raised as long as that
    helps, and as the number of steps allows.
    """
    search = _Search(rows)
    charge = search.first_charges()
    for _ in range(_ROUNDS):
        if search.steps < _GROWTH * search.taken:  # each round takes more steps than the one before
            break
        factor = search.factors(charge, np.full(len(charge), _MOST_FACTOR))
        if factor is None:
            break
        raised = charge * np.maximum(factor, 1.0)
        gain = search.total(raised) / max(search.total(charge), 1e-300)
        charge = raised
        if gain < _ENOUGH:
            break
    return charge


class _Search:
    """Searches with the same arrays, which stop when their steps are used up."""

    def __init__(self, rows: DistinctRows) -> None:
        self.rows = rows.covering
        count, attributes = len(self.rows.at), len(self.rows.options)
        self.buffers = np.empty((attributes + 1, count), np.int64)
        self.buffers[0] = np.arange(count)
        self.frames = np.zeros((attributes + 1, 4), np.int64)
        self.base = np.zeros(attributes + 1)
        self.inside = np.zeros(int(self.rows.crowd.max(initial=0)) + 1, np.int64)
        self.top = np.zeros(int(self.rows.size))
        self.keys, self.value = np.zeros(count + 1, np.int64), np.zeros(count)
        self.steps, self.taken = max(_LEAST_STEPS, _STEPS * count), 0

    def total(self, charge: NDArray[np.float64]) -> float:
        """Return the charges of all rows of the table."""
        return math.fsum((charge * self.rows.count).tolist())

    def factors(self, charge: NDArray[np.float64], most: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return the factors by which charges may be raised, at most `most`; None if the steps do not suffice."""
        factor = np.where(charge > 0, most, 0.0)
        rows = self.rows._replace(limit=self.steps)
        self.inside[:] = 0
        arrays = (self.buffers, self.frames, self.base, self.inside, self.top, self.keys, self.value)
        left = int(lower_factors(rows, charge, factor, *arrays))
        if left < 0:
            return None
        self.steps, self.taken = left, self.steps - left
        return factor

    def first_charges(self) -> NDArray[np.float64]:
        """Return for each distinct row the least cost of the cells of a group with it, as far as it could be found.

        Groups that cost at most a radius are searched. A row without such a group is charged the radius.
        """
        count, radius, most = len(self.rows.at), _FIRST_RADIUS, float(len(self.rows.options) + 1)
        charge, found = np.zeros(count), np.zeros(count, bool)
        while found.mean() < _MOST_FOUND and charge.max(initial=0.0) < most:
            # a factor of a charge of 1 is a cost; the charges of rows whose cost is known are not searched for
            factor = self.factors(np.ones(count), np.where(found, 0.0, radius))
            if factor is None:
                break
            charge = np.where(found, charge, factor)
            found |= factor < radius
            radius *= 2
        return charge


def _option_arrays(options: list[list[CoveringOption]]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the labels and costs of all attributes and options, padded to one shape."""
    shape = (
        len(options),
        max(map(len, options), default=0),
        max((len(each[0].label) for each in options), default=0),
    )
    label, cost = np.zeros(shape, np.int64), np.zeros(shape)
    for j, each in enumerate(options):
        for o, option in enumerate(each):
            label[j, o, : len(option.label)], cost[j, o, : len(option.cost)] = option.label, option.cost
    return label, cost

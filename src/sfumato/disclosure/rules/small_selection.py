"""The best selection in small cases, exactly: record by record, everything that is not beaten is kept."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.disclosure.rules.record_choices import Columns, Demand, Selection

MOST_LOOKS = 200_000
"""How often two ways may be compared; if there is more to do, the case is not small."""


class Way(NamedTuple):
    """A selection for the records so far: what is lost in each dictionary, and the last column taken after which way."""

    lost: tuple[float, ...]
    last: int
    before: Way | None


def best_of_few(columns: Columns, demand: Demand) -> Selection | None:
    """Find the selection that meets the demand with the least worst total; None if there is too much to look at.

    Two ways to the same numbers of cells are compared in every dictionary, and the one that is nowhere less is dropped.
    """
    used = demand.used(columns.choices).astype(np.int64)
    wanted = tuple(int(cells) for cells in demand.cells)
    ways = {(0,) * len(demand): [Way((0.0,) * len(columns.losses), -1, None)]}
    looks = 0
    for g in np.repeat(np.arange(len(columns.copies)), columns.copies).tolist():
        own = range(columns.starts[g], columns.starts[g + 1])
        looks += len(own) * sum(len(some) ** 2 for some in ways.values())
        if looks > MOST_LOOKS:
            return None
        after: dict[tuple[int, ...], list[Way]] = {}
        for cells, before in ways.items():
            for at in own:
                losses = columns.losses[:, at].tolist()
                now = tuple(one + other for one, other in zip(cells, used[at].tolist(), strict=True))
                if all(have <= want for have, want in zip(now, wanted, strict=True)):
                    for way in before:
                        lost = tuple(one + other for one, other in zip(way.lost, losses, strict=True))
                        _keep(after.setdefault(now, []), Way(lost, at, way))
        ways = after
    best = way = min(ways[wanted], key=lambda way: max(way.lost))
    taken = np.zeros(len(columns.choices), np.int64)
    while way.before is not None:
        taken[way.last] += 1
        way = way.before
    return Selection(taken, max(best.lost), max(best.lost))


def _keep(ways: list[Way], way: Way) -> None:
    """Keep a way unless another loses no more anywhere, and drop those that it beats."""
    for other in ways:
        if all(one <= two for one, two in zip(other.lost, way.lost, strict=True)):
            return
    ways[:] = [other for other in ways if any(one < two for one, two in zip(other.lost, way.lost, strict=True))]
    ways.append(way)

"""The best selection in small cases, exactly: record by record, everything that is not beaten is kept."""

from __future__ import annotations

import numpy as np

from sfumato.disclosure.rules.columns import Columns, Demand, Selection

MOST_LABELS = 4_000
"""How many ways are kept side by side; if there are more, the case is not small."""

Label = tuple[tuple[float, ...], tuple[int, ...]]
"""What was lost so far in each dictionary, and the columns taken."""


def best_of_few(columns: Columns, demand: Demand) -> Selection | None:
    """Find the selection that meets the demand with the least worst total; None if that is too much to keep in mind.

    Two ways to the same numbers of cells are compared in every dictionary, and the one that is nowhere less is dropped.
    """
    used = demand.used(columns.choices).astype(np.int64)
    wanted = tuple(int(cells) for cells in demand.cells)
    nothing = (0,) * len(demand)
    ways: dict[tuple[int, ...], list[Label]] = {nothing: [((0.0,) * len(columns.losses), ())]}
    for g in np.repeat(np.arange(len(columns.copies)), columns.copies).tolist():
        own = [
            (tuple(used[at].tolist()), tuple(columns.losses[:, at].tolist()), at)
            for at in range(columns.starts[g], columns.starts[g + 1])
        ]
        if len(own) * sum(map(len, ways.values())) > 10 * MOST_LABELS:
            return None
        after: dict[tuple[int, ...], list[Label]] = {}
        for cells, labels in ways.items():
            for more, losses, at in own:
                now = tuple(one + other for one, other in zip(cells, more, strict=True))
                if any(have > want for have, want in zip(now, wanted, strict=True)):
                    continue
                for lost, path in labels:
                    together = tuple(one + other for one, other in zip(lost, losses, strict=True))
                    _keep(after.setdefault(now, []), together, (*path, at))
        ways = after
        if sum(map(len, ways.values())) > MOST_LABELS:
            return None
    lost, path = min(ways[wanted], key=lambda label: max(label[0]))
    taken = np.bincount(np.array(path, np.int64), minlength=len(columns.choices)).astype(np.int64)
    return Selection(taken, max(lost), max(lost))


def _keep(labels: list[Label], lost: tuple[float, ...], path: tuple[int, ...]) -> None:
    """Keep a way unless another loses no more anywhere, and drop those that it beats."""
    for other, _ in labels:
        if all(one <= two for one, two in zip(other, lost, strict=True)):
            return
    labels[:] = [label for label in labels if any(one < two for one, two in zip(label[0], lost, strict=True))]
    labels.append((lost, path))

"""Neighbours as points in a ball, counted with a tree over each set."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.distances.base import Balls
from sfumato.kernels.ball_counts import ball_counts


class BallCounter:
    """Counts neighbours without ever holding pairs, but for the few that floats cannot decide."""

    def __init__(self, balls: Balls) -> None:
        self.balls = balls

    def counts(self, offsets: NDArray[np.int64], values: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each entry of each set: how many tuples of the set are near it, itself included."""
        b = self.balls
        out = np.empty(len(values), np.int64)
        room = 1024
        while True:
            unknown = np.empty((room, 2), np.int64)
            doubtful = ball_counts(
                b.points, offsets, values, counts, b.weights, b.full, b.span, b.names,
                b.power, b.sure, b.never, out, unknown,
            )  # fmt: skip
            if doubtful <= room:
                break
            room = doubtful
        i, j = unknown[:doubtful].T
        near = b.decide(values[i], values[j])
        np.add.at(out, i[near], counts[j[near]])
        return out

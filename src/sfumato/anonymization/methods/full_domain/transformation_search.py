"""The search for the best transformation: lowest bound first, ruling out whole parts of the lattice at once.

A transformation is a level per quasi-identifier. It is coarser than another if none of its levels is lower. The
transformations form a lattice, stored as arrays with one axis per quasi-identifier: the transformations that are finer than
a given one, or coarser, are a slice of such an array.

The search is branch and bound. It takes the open transformation with the lowest bound on the loss, walks up from it, and
examines that path by bisection (after Kohlmayer et al., 2012). A transformation in which too many rows must stay suppressed
rules out everything finer. An admissible one closes everything whose bound is not below its loss.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.full_domain.equivalence_classes import EquivalenceClasses, TransformationCube
from sfumato.anonymization.methods.full_domain.transformation_checks import (
    MARGIN,
    Levels,
    SearchResult,
    TransformationChecks,
)
from sfumato.anonymization.methods.method import FINDING, Task
from sfumato.exact import nearest_float

_UNKNOWN, _RULED_OUT, _ADMISSIBLE = 0, 1, 2
"""What is known of a transformation."""


class TransformationSearch(TransformationChecks):
    """A search in the lattice of a task, which keeps a float and a byte for every transformation.

    See `best`. One object runs one search.
    """

    def __init__(self, task: Task, loss: str, *, settled: bool, cube: TransformationCube | None = None) -> None:
        """Prepare the search; see `TransformationChecks`."""
        super().__init__(task, loss, settled=settled, cube=cube)
        bounds = self.loss.bounds()[tuple(slice(size) for size in self.shape)]  # without levels that are not allowed
        self.bounds = bounds - np.abs(bounds) * MARGIN
        """For every transformation the lower bound on its loss that is known in advance."""
        self.open = self.bounds.copy()
        """For every transformation that may still be the best the lower bound on its loss; infinite for all others."""
        self.state = np.zeros(self.shape, np.int8)

    def best(self, *, count: bool = False, checks: int | None = None, seconds: float | None = None) -> SearchResult:
        """Return the admissible transformation with the least loss; of several the one whose levels come first.

        `count`: continue until every transformation is known to be admissible or not. `checks`, `seconds`: stop after this
        many examined transformations, or this long.
        """
        self._begin(checks, seconds)
        lowest = math.inf
        # best first: the transformation with the lowest bound is the one that may be best
        while True:
            self._close()
            at = int(np.argmin(self.open))
            lowest = float(self.open.flat[at])
            if lowest == math.inf or self._spent():
                break
            self._bisect(self._path(np.unravel_index(at, self.shape), self.open))
        proven = lowest == math.inf  # no transformation is open any more
        admissible = self._counted() if count else None
        return self._result(lowest, proven, admissible)

    def _counted(self) -> int | None:
        """Return the number of admissible transformations; None if the search was stopped before it is known."""
        while not self._spent():
            unknown = np.flatnonzero(self.state == _UNKNOWN)
            if not len(unknown):
                return int((self.state == _ADMISSIBLE).sum())
            key = np.where(self.state == _UNKNOWN, 0.0, math.inf)
            self._bisect(self._path(np.unravel_index(int(unknown[0]), self.shape), key))
        return None

    def _path(self, start: Sequence[np.intp], key: NDArray[np.float64]) -> list[Levels]:
        """Return a path up from a transformation through unknown ones, each step to the lowest key."""
        at = [int(level) for level in start]
        path = [tuple(at)]
        while True:
            best, axis = math.inf, -1
            for j, height in enumerate(self.cube.heights):
                if at[j] < height:
                    at[j] += 1
                    bound = key[tuple(at)]
                    if bound < best and self.state[tuple(at)] == _UNKNOWN:
                        best, axis = bound, j
                    at[j] -= 1
            if axis < 0:
                return path
            at[axis] += 1
            path.append(tuple(at))

    def _bisect(self, path: list[Levels]) -> None:
        """Examine the transformations of a path by bisection.

        If one rules out everything finer, the search continues above it, otherwise below it. It begins with the last, which
        can rule out most; if bounds decide about most transformations, with the middle.
        """
        low, high = 0, len(path) - 1
        middle = high // 2 if self.loss.decided_by_bound and self.best_score is not None else high
        while low <= high and not self._spent():
            if self._closed(path[middle]) or not self._examine(path[middle]):
                high = middle - 1
            else:
                low = middle + 1
            middle = (low + high) // 2
        self.task.progress(FINDING)

    def _closed(self, levels: Levels) -> bool:
        """Return whether the classes of a finer transformation show that this one, and each coarser one, costs more."""
        if not self.loss.decided_by_bound or self.best_score is None:
            return False
        score = nearest_float(self.best_score)
        return score + abs(score) * MARGIN < float(self.open[levels]) < math.inf

    def _examine(self, levels: Levels) -> bool:
        """Examine one transformation; return whether it rules out all finer ones."""
        best = self.best_levels
        found = self._check(levels)
        self._raise_bounds(found.classes)
        # too many rows stay suppressed: this transformation and all finer ones are ruled out
        if found.rules_out:
            self.state[_finer(levels)] = _RULED_OUT
            self.open[_finer(levels)] = math.inf
            return True
        self.open[levels] = math.inf  # examined
        if self.most and found.staying.any():
            self._raise_finer(found.classes, found.staying)
        if found.rows > self.most:
            self.state[levels] = _RULED_OUT
            return False
        if self.upward_closed:
            self.state[_coarser(levels)] = _ADMISSIBLE
        self.state[levels] = _ADMISSIBLE
        if self.best_levels != best:
            self._close()
        return False

    def _raise_finer(self, classes: EquivalenceClasses, staying: NDArray[np.bool_]) -> None:
        """Raise the bounds of all finer transformations by what the rows that stay suppressed imply."""
        more, least = self.loss.finer(classes, staying)
        here = self.open[_finer(classes.levels)]
        if more > 0:
            np.maximum(here, self.bounds[_finer(classes.levels)] + more * (1 - MARGIN), out=here)
        if least > -math.inf:
            np.maximum(here, least * (1 - MARGIN), out=here)

    def _raise_bounds(self, classes: EquivalenceClasses) -> None:
        """Raise the bounds of all coarser transformations by what the classes imply."""
        if self.loss.bounds_coarser:
            bound = self.loss.bound(classes)
            here = self.open[_coarser(classes.levels)]
            np.maximum(here, bound - abs(bound) * MARGIN, out=here)

    def _close(self) -> None:
        """Close the transformations that cannot be better than the best: a higher bound, or the same and later levels."""
        if self.best_score is None or self.best_levels is None:
            return
        score = nearest_float(self.best_score)
        slack = abs(score) * MARGIN
        self.open[self.open > score + slack] = math.inf
        after = int(np.ravel_multi_index(self.best_levels, self.shape)) + 1
        rest = self.open.reshape(-1)[after:]
        rest[rest >= score - slack] = math.inf


def _finer(levels: Levels) -> tuple[slice, ...]:
    """Return the slice of the lattice with a transformation and all finer ones."""
    return tuple(slice(level + 1) for level in levels)


def _coarser(levels: Levels) -> tuple[slice, ...]:
    """Return the slice of the lattice with a transformation and all coarser ones."""
    return tuple(slice(level, None) for level in levels)

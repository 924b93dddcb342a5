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
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.full_domain.class_verdicts import generalized, judge_of
from sfumato.anonymization.methods.full_domain.equivalence_classes import EquivalenceClasses, TransformationCube
from sfumato.anonymization.methods.method import FINDING, Task
from sfumato.errors import ParameterError
from sfumato.exact import nearest_float
from sfumato.principles import Principle
from sfumato.principles.principle import measurement_of
from sfumato.registry import LOSSES

Levels = tuple[int, ...]

_MOST = 1 << 24
"""The largest number of transformations of a lattice that is searched: one float and one byte for each."""

_MARGIN = 1e-12
"""Bounds are floats; lowering them by this share makes sure that they are bounds despite rounding."""

_UNKNOWN, _RULED_OUT, _ADMISSIBLE = 0, 1, 2
"""What is known of a transformation."""


@dataclass(frozen=True)
class SearchResult:
    """The result of a search: the best transformation, and whether it is proven to be the best."""

    levels: Levels
    score: Fraction | None
    """Its loss; None if no examined transformation is admissible: then this is the one with the fewest violating rows."""
    suppressed: int
    """The rows of its classes that violate a principle."""
    transformations: int
    """The number of transformations in the lattice."""
    admissible: int | None
    """The number of admissible transformations, if it was requested and the search was not stopped."""
    checked: int
    """The number of transformations that were examined."""
    lowest: float
    """A lower bound on the loss of all admissible transformations."""
    proven: bool
    """Whether no transformation that was not examined can be better."""


class TransformationSearch:
    """A search in the lattice of a task; see `best`. One object runs one search.

    A transformation is *admissible* if the rows of its violating classes are at most the rows that may be suppressed.
    """

    def __init__(self, task: Task, loss: str, *, settled: bool) -> None:
        """Prepare the search.

        `settled`: require that the principles still hold when they are measured again without the suppressed rows.
        """
        self.cube = TransformationCube(task)
        self.task, self.settled = task, settled
        self.most = int(task.suppress * task.table.rows)
        self.shape = tuple(height + 1 for height in self.cube.heights)
        size = math.prod(self.shape)
        if size > _MOST:
            raise ParameterError(
                f"the quasi-identifiers have {size:,} transformations; at most {_MOST:,} can be searched",
                remedy="Declare fewer quasi-identifiers or hierarchies with fewer levels, or use another method.",
                key="quasi_identifiers",
                file=task.table.source,
                value=size,
            )
        for principle, names in task.requirements:
            # a principle that cannot be measured is an error before any work is done
            measurement_of(principle, task.views[names])
        requirements = [(principle, names) for principle, names in task.requirements if not principle.size_only]
        requirements.sort(key=lambda one: not self._predictable(one[0]))  # first those that rule out finer transformations
        self.judges = [judge_of(self.cube, principle, names) for principle, names in requirements]
        self.upward_closed = all(self._predictable(principle) for principle, _ in requirements)
        """Whether every transformation that is coarser than an admissible one is admissible."""
        self.least = max((principle.implied_k or 1 for principle in task.principles), default=1)
        """The largest k of the principles: a smaller class violates one, and so does every class that it is split into."""
        self.loss = LOSSES.find(loss, key="loss")(self.cube, self.most, self.least, self.least)
        bounds = self.loss.bounds()[tuple(slice(size) for size in self.shape)]  # without levels that are not allowed
        self.bounds = bounds - np.abs(bounds) * _MARGIN
        """For every transformation the lower bound on its loss that is known in advance."""
        self.open = self.bounds.copy()
        """For every transformation that may still be the best the lower bound on its loss; infinite for all others."""
        self.state = np.zeros(self.shape, np.int8)
        self.checked = 0
        self.best_levels: Levels | None = None
        self.best_score: Fraction | None = None
        self.suppressed = 0
        self.nearest: tuple[int, Levels] | None = None
        """The fewest violating rows of any examined transformation, and its levels."""
        self.deadline = math.inf
        self.checks = math.inf

    def _predictable(self, principle: Principle) -> bool:
        """Return whether a violation persists in every finer transformation.

        For an absorbing principle the violating rows stay in violating classes. If no row may be suppressed, a monotone
        principle is enough: one violating class remains.
        """
        return principle.absorbing or (self.most == 0 and principle.monotone)

    def best(self, *, count: bool = False, checks: int | None = None, seconds: float | None = None) -> SearchResult:
        """Return the admissible transformation with the least loss; of several the one whose levels come first.

        `count`: continue until every transformation is known to be admissible or not. `checks`, `seconds`: stop after this
        many examined transformations, or this long.
        """
        self.checks = math.inf if checks is None else checks
        self.deadline = math.inf if seconds is None else time.monotonic() + seconds
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
        if self.best_levels is None:
            self._examine_top()
        return self._result(lowest, proven, admissible)

    def _spent(self) -> bool:
        return self.checked >= self.checks or time.monotonic() >= self.deadline

    def _result(self, lowest: float, proven: bool, admissible: int | None) -> SearchResult:
        score = math.inf if self.best_score is None else nearest_float(self.best_score)
        levels, suppressed = self.best_levels, self.suppressed
        if levels is None:
            assert self.nearest is not None
            suppressed, levels = self.nearest
        return SearchResult(
            levels=levels,
            score=self.best_score,
            suppressed=suppressed,
            transformations=self.state.size,
            admissible=admissible,
            checked=self.checked,
            lowest=min(lowest, score),
            proven=proven,
        )

    def _examine_top(self) -> None:
        """Examine the coarsest transformation, for the error message if nothing is admissible."""
        top = self.cube.heights
        classes = self.cube.classes(top)
        violating = classes.sizes < self.least
        for judge in self.judges:
            violating |= judge.judged(classes).violating
        rows = int(classes.sizes[violating].sum())
        self._note(rows, top)
        if rows <= self.most:
            self._consider(top, classes, violating)

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
        """Examine the transformations of a path by bisection: the last first, because it can rule out most.

        If one rules out everything finer, the search continues above it, otherwise below it.
        """
        low, high, middle = 0, len(path) - 1, len(path) - 1
        while low <= high and not self._spent():
            if self._examine(path[middle]):
                low = middle + 1
            else:
                high = middle - 1
            middle = (low + high) // 2
        self.task.progress(FINDING)

    def _examine(self, levels: Levels) -> bool:
        """Examine one transformation; return whether it rules out all finer ones."""
        self.checked += 1
        classes = self.cube.classes(levels)
        self._raise_bounds(classes)
        sizes = classes.sizes
        violating = sizes < self.least
        staying = violating.copy()  # the classes whose rows stay in violating classes in every finer transformation
        surely = float(sizes[staying].sum())  # a lower bound on the violating rows of every finer transformation
        # judges of persisting violations come first, so the loop often ends before the expensive ones
        for judge in self.judges:
            if surely > self.most:
                break
            verdicts = judge.judged(classes)
            violating |= verdicts.violating
            if self._predictable(judge.principle):
                staying |= verdicts.violating
                surely = float(sizes[staying].sum())
            elif verdicts.kept_down is not None:
                surely = float(np.where(staying, 1.0, verdicts.kept_down) @ sizes.astype(float))
        # too many rows stay suppressed: this transformation and all finer ones are ruled out
        if surely > self.most:
            self.state[_finer(levels)] = _RULED_OUT
            self.open[_finer(levels)] = math.inf
            return True
        rows = int(sizes[violating].sum())
        self._note(rows, levels)
        self.open[levels] = math.inf  # examined
        if self.most and staying.any():
            self._raise_finer(classes, staying)
        if rows > self.most:
            self.state[levels] = _RULED_OUT
            return False
        if self.upward_closed:
            self.state[_coarser(levels)] = _ADMISSIBLE
        self.state[levels] = _ADMISSIBLE
        self._consider(levels, classes, violating)
        return False

    def _raise_finer(self, classes: EquivalenceClasses, staying: NDArray[np.bool_]) -> None:
        """Raise the bounds of all finer transformations by what the rows that stay suppressed imply."""
        more, least = self.loss.finer(classes, staying)
        here = self.open[_finer(classes.levels)]
        if more > 0:
            np.maximum(here, self.bounds[_finer(classes.levels)] + more * (1 - _MARGIN), out=here)
        if least > -math.inf:
            np.maximum(here, least * (1 - _MARGIN), out=here)

    def _raise_bounds(self, classes: EquivalenceClasses) -> None:
        """Raise the bounds of all coarser transformations by what the classes imply."""
        bound = self.loss.bound(classes)
        if bound > -math.inf:
            here = self.open[_coarser(classes.levels)]
            np.maximum(here, bound - abs(bound) * _MARGIN, out=here)

    def _note(self, rows: int, levels: Levels) -> None:
        if self.nearest is None or (rows, levels) < self.nearest:
            self.nearest = rows, levels

    def _consider(self, levels: Levels, classes: EquivalenceClasses, violating: NDArray[np.bool_]) -> None:
        """Keep an admissible transformation if it is the best so far."""
        score = self.loss.score(classes, violating)
        if not self._better(score, levels) and not (self.settled and self.loss.may_fall):
            return
        if self.settled and violating.any():
            still = self._settled(classes, violating)
            if still is None:
                return
            violating, score = still, self.loss.score(classes, still)
        if not self._better(score, levels):
            return
        self.best_levels, self.best_score = levels, score
        self.suppressed = int(classes.sizes[violating].sum())
        self._close()

    def _better(self, score: Fraction, levels: Levels) -> bool:
        return self.best_score is None or (score, levels) < (self.best_score, self.best_levels)

    def _close(self) -> None:
        """Close the transformations that cannot be better than the best: a higher bound, or the same and later levels."""
        if self.best_score is None or self.best_levels is None:
            return
        score = nearest_float(self.best_score)
        slack = abs(score) * _MARGIN
        self.open[self.open > score + slack] = math.inf
        after = int(np.ravel_multi_index(self.best_levels, self.shape)) + 1
        rest = self.open.reshape(-1)[after:]
        rest[rest >= score - slack] = math.inf

    def _settled(self, classes: EquivalenceClasses, violating: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        """Return the classes to suppress until the principles hold in what is left; None if these are too many rows.

        Some principles compare a class with the whole table, which changes when rows are dropped.
        """
        if not any(judge.principle.relative for judge in self.judges):
            return violating
        while True:
            failing = self._failing(classes, ~violating)
            if not failing.any():
                return violating
            violating = violating | failing
            if int(classes.sizes[violating].sum()) > self.most:
                return None

    def _failing(self, classes: EquivalenceClasses, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the kept classes in which a principle fails if only these are published."""
        failing = np.zeros(len(kept), bool)
        slow = []
        for judge in self.judges:
            if judge.principle.relative:
                again = judge.again(classes, kept)
                if again is None:
                    slow.append(judge.principle)
                else:
                    failing |= again & kept
        if slow:
            of_row = self.cube.of_rows(classes.levels)
            rows = np.flatnonzero(kept[of_row])
            part = generalized(self.cube, classes.levels, rows)
            present, number = np.unique(of_row[rows], return_inverse=True)
            try:
                failing[present] |= ~Task(part, tuple(dict.fromkeys(slow))).satisfied(number.astype(np.int64))
            except ParameterError:  # fewer rows are left than a principle requires
                failing |= kept
        return failing


def _finer(levels: Levels) -> tuple[slice, ...]:
    """Return the slice of the lattice with a transformation and all finer ones."""
    return tuple(slice(level + 1) for level in levels)


def _coarser(levels: Levels) -> tuple[slice, ...]:
    """Return the slice of the lattice with a transformation and all coarser ones."""
    return tuple(slice(level, None) for level in levels)

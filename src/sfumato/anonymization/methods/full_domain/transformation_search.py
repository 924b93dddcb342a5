"""The search for the best transformation: the lowest bound first, whole parts of the lattice ruled out at once.

A transformation is a level per quasi-identifier; one is coarser than another if no level of it is lower. Together they are a
lattice, held as an array with one axis per quasi-identifier: what is finer, or coarser, is a slice of it.
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
from sfumato.anonymization.methods.full_domain.equivalence_classes import Classes, Cube
from sfumato.anonymization.methods.method import FINDING, Task
from sfumato.errors import ParameterError
from sfumato.exact import nearest_float
from sfumato.principles import Principle
from sfumato.registry import LOSSES

Levels = tuple[int, ...]

_MOST = 1 << 24
"""Lattices of more transformations than this are not searched."""

_MARGIN = 1e-12
"""Bounds are floats, and lowered by this share so that they surely are bounds."""

_UNKNOWN, _RULED_OUT, _ADMISSIBLE = 0, 1, 2


@dataclass(frozen=True)
class SearchResult:
    """What a search found: the best transformation, and how sure it is."""

    levels: Levels
    score: Fraction | None
    """Its loss; None if none that was looked at is admissible: then this is the one with fewest rows in breach."""
    suppressed: int
    """Its rows that are in classes in breach of a principle."""
    transformations: int
    admissible: int | None
    """How many of them are, if that was asked for."""
    checked: int
    """How many were looked at."""
    lowest: float
    """No transformation has a lower loss than this."""
    proven: bool
    """Whether none that was not looked at can be better."""


class TransformationSearch:
    """A search in the lattice of a task; see `best`."""

    def __init__(self, task: Task, loss: str, *, settled: bool) -> None:
        """Prepare it. `settled`: only what still holds when the suppressed rows are gone, and measured again, counts."""
        self.cube = Cube(task)
        self.task, self.settled = task, settled
        self.most = int(task.suppress * task.table.rows)
        self.shape = tuple(height + 1 for height in self.cube.heights)
        size = math.prod(self.shape)
        if size > _MOST:
            raise ParameterError(
                f"the quasi-identifiers have {size:,} transformations, more than the {_MOST:,} that are searched",
                remedy="Declare fewer quasi-identifiers or hierarchies of fewer levels, or use another method.",
                key="quasi_identifiers",
                file=task.table.source,
                value=size,
            )
        for principle, names in task.requirements:
            principle.measure(task.views[names])  # what cannot be measured is an error, before any work is done
        asked = [(principle, names) for principle, names in task.requirements if not principle.size_only]
        asked.sort(key=lambda one: not self._predictable(one[0]))  # first what rules out finer transformations
        self.judges = [judge_of(self.cube, principle, names) for principle, names in asked]
        self.foreseen = all(self._predictable(principle) for principle, _ in asked)
        """Whether all that is coarser than an admissible transformation is admissible."""
        self.least = max((principle.implied_k or 1 for principle in task.principles), default=1)
        """A class of fewer rows is in breach, and all that it is split into: the k of a principle asks for so many."""
        self.loss = LOSSES.find(loss, key="loss")(self.cube, self.most, self.least, self.least)
        bounds = self.loss.bounds()
        self.bounds = bounds - np.abs(bounds) * _MARGIN
        """What is known of every transformation's loss before any is looked at."""
        self.open = self.bounds.copy()
        """The lower bound of every transformation that may yet be the best; infinite for all others."""
        self.state = np.zeros(self.shape, np.int8)
        self.checked = 0
        self.best_levels: Levels | None = None
        self.best_score: Fraction | None = None
        self.suppressed = 0
        self.nearest: tuple[int, Levels] | None = None
        """The fewest rows in breach of any transformation so far, and which."""
        self.deadline = math.inf
        self.checks = math.inf

    def _predictable(self, principle: Principle) -> bool:
        """Whether rows in breach stay so in every finer transformation, or (if none may be) one class in breach remains."""
        return principle.absorbing or (self.most == 0 and principle.monotone)

    def best(self, *, count: bool = False, checks: int | None = None, seconds: float | None = None) -> SearchResult:
        """The admissible transformation of least loss; of several the one whose levels come first.

        `count`: look on until it is known of every transformation whether it is admissible. `checks`, `seconds`: stop after
        so many were looked at, or so much time.
        """
        self.checks = math.inf if checks is None else checks
        self.deadline = math.inf if seconds is None else time.monotonic() + seconds
        lowest = math.inf
        while True:
            self._close()
            at = int(np.argmin(self.open))
            lowest = float(self.open.flat[at])
            if lowest == math.inf or self._spent():
                break
            self._descend(self._path(np.unravel_index(at, self.shape), self.open))
        proven = lowest == math.inf
        admissible = self._counted() if count else None
        if self.best_levels is None:
            self._look_at_top()
        return self._found(lowest, proven, admissible)

    def _spent(self) -> bool:
        return self.checked >= self.checks or time.monotonic() >= self.deadline

    def _found(self, lowest: float, proven: bool, admissible: int | None) -> SearchResult:
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

    def _look_at_top(self) -> None:
        """Nothing was found: see how far the coarsest transformation is from it, whatever was ruled out or not reached."""
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
        """How many transformations are admissible; None if the search was stopped before that was known."""
        while not self._spent():
            unknown = np.flatnonzero(self.state == _UNKNOWN)
            if not len(unknown):
                return int((self.state == _ADMISSIBLE).sum())
            key = np.where(self.state == _UNKNOWN, 0.0, math.inf)
            self._descend(self._path(np.unravel_index(int(unknown[0]), self.shape), key))
        return None

    def _path(self, start: Sequence[np.intp], key: NDArray[np.float64]) -> list[Levels]:
        """A way up from a transformation through those that are open, always to the lowest bound."""
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

    def _descend(self, path: list[Levels]) -> None:
        """Look at the transformations of a way up: the last one first, for it rules out most; then by halving what is left.

        What rules out all below it leads up, all else leads down.
        """
        low, high, middle = 0, len(path) - 1, len(path) - 1
        while low <= high and not self._spent():
            if self._look_at(path[middle]):
                low = middle + 1
            else:
                high = middle - 1
            middle = (low + high) // 2
        self.task.progress(FINDING)

    def _look_at(self, levels: Levels) -> bool:
        """Check one transformation; return whether it rules out all that are finer."""
        self.checked += 1
        classes = self.cube.classes(levels)
        self._raise_bounds(classes)
        sizes = classes.sizes
        violating = sizes < self.least
        staying = violating.copy()
        surely = float(sizes[staying].sum())
        for judge in self.judges:
            if surely > self.most:
                break
            found = judge.judged(classes)
            violating |= found.violating
            if self._predictable(judge.principle):
                staying |= found.violating
                surely = float(sizes[staying].sum())
            elif found.kept_down is not None:
                surely = float(np.where(staying, 1.0, found.kept_down) @ sizes.astype(float))
        if surely > self.most:
            self.state[_finer(levels)] = _RULED_OUT
            self.open[_finer(levels)] = math.inf
            return True
        rows = int(sizes[violating].sum())
        self._note(rows, levels)
        self.open[levels] = math.inf
        if self.most and staying.any():
            self._raise_finer(classes, staying)
        if rows > self.most:
            self.state[levels] = _RULED_OUT
            return False
        if self.foreseen:
            self.state[_coarser(levels)] = _ADMISSIBLE
        self.state[levels] = _ADMISSIBLE
        self._consider(levels, classes, violating)
        return False

    def _raise_finer(self, classes: Classes, staying: NDArray[np.bool_]) -> None:
        """What the rows that stay suppressed tell of all that is finer."""
        more, least = self.loss.finer(classes, staying)
        here = self.open[_finer(classes.levels)]
        if more > 0:
            np.maximum(here, self.bounds[_finer(classes.levels)] + more * (1 - _MARGIN), out=here)
        if least > -math.inf:
            np.maximum(here, least * (1 - _MARGIN), out=here)

    def _raise_bounds(self, classes: Classes) -> None:
        """What the classes tell of all that is coarser."""
        bound = self.loss.bound(classes)
        if bound > -math.inf:
            here = self.open[_coarser(classes.levels)]
            np.maximum(here, bound - abs(bound) * _MARGIN, out=here)

    def _note(self, rows: int, levels: Levels) -> None:
        if self.nearest is None or (rows, levels) < self.nearest:
            self.nearest = rows, levels

    def _consider(self, levels: Levels, classes: Classes, violating: NDArray[np.bool_]) -> None:
        """Take an admissible transformation if it is the best so far."""
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
        """Close what cannot be better than the best: a higher bound, or the same with levels that come later."""
        if self.best_score is None or self.best_levels is None:
            return
        score = nearest_float(self.best_score)
        slack = abs(score) * _MARGIN
        self.open[self.open > score + slack] = math.inf
        after = int(np.ravel_multi_index(self.best_levels, self.shape)) + 1
        rest = self.open.reshape(-1)[after:]
        rest[rest >= score - slack] = math.inf

    def _settled(self, classes: Classes, violating: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        """The classes that must go until what is left holds, measured by itself; None if that is too many rows.

        Some principles compare a class with the table as a whole, which changes when rows are dropped.
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

    def _failing(self, classes: Classes, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The kept classes in which a principle fails, with only those kept."""
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
            except ParameterError:  # fewer rows are left than a principle speaks of
                failing |= kept
        return failing


def _finer(levels: Levels) -> tuple[slice, ...]:
    """The part of the lattice that is as fine as a transformation, or finer."""
    return tuple(slice(level + 1) for level in levels)


def _coarser(levels: Levels) -> tuple[slice, ...]:
    """The part of the lattice that is as coarse as a transformation, or coarser."""
    return tuple(slice(level, None) for level in levels)

"""Examining single transformations: which classes fail, what that rules out, and the best one so far."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.full_domain.class_verdicts import generalized, judge_of
from sfumato.anonymization.methods.full_domain.equivalence_classes import EquivalenceClasses, TransformationCube
from sfumato.anonymization.methods.method import Task
from sfumato.errors import ParameterError
from sfumato.exact import nearest_float
from sfumato.principles import Principle
from sfumato.principles.principle import measurement_of
from sfumato.registry import LOSSES

Levels = tuple[int, ...]

MARGIN = 1e-12
"""Bounds are floats; lowering them by this share makes sure that they are bounds despite rounding."""


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


@dataclass(frozen=True, eq=False)
class Examination:
    """What examining one transformation shows."""

    classes: EquivalenceClasses
    rules_out: bool
    """Whether too many rows must stay suppressed, here and in every finer transformation. If so, nothing else is known."""
    violating: NDArray[np.bool_]
    """The classes that violate a principle."""
    staying: NDArray[np.bool_]
    """The classes whose rows stay in violating classes in every finer transformation."""
    rows: int
    """The rows of the violating classes."""


class TransformationChecks:
    """Examines the transformations of a task, keeps the best, and counts what a search may spend.

    A transformation is *admissible* if the rows of its violating classes are at most the rows that may be suppressed.
    """

    def __init__(self, task: Task, loss: str, *, settled: bool, cube: TransformationCube | None = None) -> None:
        """Prepare the checks.

        `settled`: require that the principles still hold when they are measured again without the suppressed rows. `cube`:
        that of the task, if it is known.
        """
        self.cube = TransformationCube(task) if cube is None else cube
        self.task, self.settled = task, settled
        self.most = int(task.suppress * task.table.rows)
        self.shape = tuple(height + 1 for height in self.cube.heights)
        self.transformations = math.prod(self.shape)
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

    def _begin(self, checks: int | None, seconds: float | None) -> None:
        """Set what the search may spend."""
        self.checks = math.inf if checks is None else checks
        self.deadline = math.inf if seconds is None else time.monotonic() + seconds

    def _spent(self) -> bool:
        return self.checked >= self.checks or time.monotonic() >= self.deadline

    def _result(self, lowest: float, proven: bool, admissible: int | None) -> SearchResult:
        if self.best_levels is None:
            self._examine_top()
        score = math.inf if self.best_score is None else nearest_float(self.best_score)
        levels, suppressed = self.best_levels, self.suppressed
        if levels is None:
            assert self.nearest is not None
            suppressed, levels = self.nearest
        return SearchResult(
            levels=levels,
            score=self.best_score,
            suppressed=suppressed,
            transformations=self.transformations,
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

    def _check(self, levels: Levels) -> Examination:
        """Examine one transformation, and keep it if it is the best so far."""
        self.checked += 1
        classes = self.cube.classes(levels)
        sizes = classes.sizes
        violating = sizes < self.least
        staying = violating.copy()
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
        if surely > self.most:
            return Examination(classes, True, violating, staying, 0)
        rows = int(sizes[violating].sum())
        self._note(rows, levels)
        if rows <= self.most:
            self._consider(levels, classes, violating)
        return Examination(classes, False, violating, staying, rows)

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

    def _better(self, score: Fraction, levels: Levels) -> bool:
        return self.best_score is None or (score, levels) < (self.best_score, self.best_levels)

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
            present, number = np.unique(of_row[rows], return_inverse=True)
            try:
                for task, levels in self._tasks(slow, classes.levels, rows):
                    failing[present] |= ~task.satisfied_at(number.astype(np.int64), levels)
            except ParameterError:  # fewer rows are left than a principle requires
                failing |= kept
        return failing

    def _tasks(
        self, principles: list[Principle], levels: Levels, rows: NDArray[np.int64]
    ) -> Iterator[tuple[Task, Levels | None]]:
        """Yield tasks of some rows in which to measure principles, and the levels at which the cells are to be read."""
        seen = [principle for principle in dict.fromkeys(principles) if not principle.reads_cells]
        if seen:
            yield Task(generalized(self.cube, levels, rows), tuple(seen)), None
        compared = [principle for principle in dict.fromkeys(principles) if principle.reads_cells]
        if compared:
            yield Task(self.task.table.take(rows), tuple(compared)), levels

"""The search in a lattice of any size, within a budget: the best transformation found, and a bound on all others.

A transformation in which too many rows must stay suppressed rules out every finer one. The search looks for such
transformations that are as coarse as possible, here called *conflicts*: in every admissible transformation, at least one
level is above that of the conflict. Conflicts between few quasi-identifiers say much, and they price what nobody can avoid.

A box contains the transformations between two given ones. The box with the lowest bound is taken first. If a conflict is
not resolved everywhere in it, it is split by the ways to resolve that conflict; otherwise its finest transformation is
examined, which yields another conflict or splits the box. Memory depends on the budget, not on the lattice. Without a
limit the search ends with the optimum.

The scheme is that of implicit hitting sets: Chandrasekaran et al. (2011).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.full_domain.equivalence_classes import TransformationCube
from sfumato.anonymization.methods.full_domain.transformation_checks import (
    MARGIN,
    Examination,
    Levels,
    SearchResult,
    TransformationChecks,
)
from sfumato.anonymization.methods.method import FINDING, Task
from sfumato.exact import nearest_float
from sfumato.kernels.conflict_bounds import EMPTY, NONE_OPEN, conflict_bound

DEFAULT_CHECKS = 2000
"""The transformations that are examined if the user sets no limit."""

_MOST_BOXES = 1 << 18
"""The search ends after this many boxes: a box takes little time, but examining nothing must not take forever."""

_ADMISSIBLE, _VIOLATING, _RULES_OUT = 1, 0, -1
"""What is known of a transformation; the last rules out every finer one."""

Integers = NDArray[np.int64]


@dataclass(eq=False)
class _Box:
    """The transformations from `low` to `high`."""

    low: Integers
    high: Integers
    more: float = 0.0
    """What suppressed rows add to the bound of every transformation of the box."""
    least: float = -math.inf
    """A lower bound on the loss in the box that is known from examined transformations."""


class BoundedSearch(TransformationChecks):
    """A search in the lattice of a task that stores what it has examined only. See `best`. One object runs one search."""

    def __init__(self, task: Task, loss: str, *, settled: bool, cube: TransformationCube | None = None) -> None:
        """Prepare the search; see `TransformationChecks`."""
        super().__init__(task, loss, settled=settled, cube=cube)
        self.heights = np.array(self.cube.heights, np.int64)
        terms = self.loss.terms()
        self.costs = np.zeros((len(terms), int(self.heights.max(initial=0)) + 1))
        for j, (term, size) in enumerate(zip(terms, self.shape, strict=True)):
            self.costs[j, :size] = term[:size]
        self.rounding = float(np.abs(self.costs).max(axis=1).sum()) * MARGIN
        """What rounding may add to a sum of costs or of their differences."""
        self.bits = self._bits()
        self.conflicts = np.zeros((0, len(terms)), np.int64)
        self.known: dict[Levels, int] = {}
        """What is known of the examined transformations."""
        self.boxes: list[tuple[float, int, _Box]] = []
        self.made = 0

    def best(self, *, checks: int | None = None, seconds: float | None = None) -> SearchResult:
        """Return the best transformation found, the first of several, and a bound on the loss of all others.

        `checks`, `seconds`: stop after this many examined transformations, or this long.
        """
        self._begin(checks, seconds)
        self._descend(tuple(self.heights.tolist()), None)
        self._exchange()
        self._push(_Box(np.zeros(len(self.heights), np.int64), self.heights.copy()), -math.inf)
        while self.boxes and self.made < _MOST_BOXES and not self._spent():
            bound, _, box = heapq.heappop(self.boxes)
            if not self._closed(bound, box):
                self._expand(box, bound)
        lowest = min((bound for bound, _, box in self.boxes if not self._closed(bound, box)), default=math.inf)
        return self._result(lowest, lowest == math.inf, None)

    # the best transformation, as seen from above

    def _bits(self) -> NDArray[np.float64]:
        """Return the entropy of each quasi-identifier on each level: how much it tells one row from another."""
        bits = np.zeros_like(self.costs)
        for j, (column, size) in enumerate(zip(self.cube.columns, self.shape, strict=True)):
            counts = np.bincount(column.domain.column.codes, minlength=column.nodes.shape[1])
            for level in range(size):
                shares = np.bincount(column.nodes[level], counts) / self.cube.rows
                shares = shares[shares > 0]
                bits[j, level] = -float(shares @ np.log2(shares))
        return bits

    def _descend(self, start: Levels, frozen: int | None) -> None:
        """Lower levels from an admissible transformation, while that is admissible: most loss saved per bit first.

        `frozen`: a quasi-identifier whose level stays.
        """
        if not self._admissible(start):
            return
        at, floor = list(start), [0] * len(start)
        if frozen is not None:
            floor[frozen] = at[frozen]
        while not self._spent():
            step = self._best_step(at, floor)
            if step is None:
                return
            axis, level = step
            if self._admissible((*at[:axis], level, *at[axis + 1 :])):
                at[axis] = level
            else:
                floor[axis] = level + 1

    def _best_step(self, at: list[int], floor: list[int]) -> tuple[int, int] | None:
        """Return the quasi-identifier and its new level that saves most per bit of entropy; None if nothing can be saved."""
        best, step = 0.0, None
        for j, level in enumerate(at):
            lower = slice(floor[j], level)
            if floor[j] < level:
                saved = self.costs[j, level] - self.costs[j, lower]
                ratio = saved / (np.maximum(0.0, self.bits[j, lower] - self.bits[j, level]) + 1e-9)
                k = int(ratio.argmax())
                if ratio[k] > best:
                    best, step = float(ratio[k]), (j, floor[j] + k)
        return step

    def _exchange(self) -> None:
        """Raise one level of the best transformation at a time and descend again, for at most half of the checks.

        What costs least per bit is raised first, to the top or by one level.
        """
        end = self.checks / 2
        tried: set[tuple[Levels, int, int]] = set()
        while self.best_levels is not None and self.checked < end and not self._spent():
            best = self.best_levels
            moves = [
                ((self.costs[j, to] - self.costs[j, at]) / (self.bits[j, at] - self.bits[j, to] + 1e-9), j, int(to))
                for j, (at, top) in enumerate(zip(best, self.heights.tolist(), strict=True))
                for to in {at + 1, top}
                if at < top and (best, j, to) not in tried
            ]
            if not moves:
                return
            _, axis, to = min(moves)
            tried.add((best, axis, to))
            self._descend((*best[:axis], to, *best[axis + 1 :]), axis)
            self.task.progress(FINDING)

    def _admissible(self, levels: Levels) -> bool:
        if levels not in self.known and not self._conflicting(levels):
            self._examined(levels)
        return self.known.get(levels) == _ADMISSIBLE

    def _examined(self, levels: Levels) -> Examination:
        """Examine a transformation and remember what it is."""
        found = self._check(levels)
        self.known[levels] = _RULES_OUT if found.rules_out else _ADMISSIBLE if found.rows <= self.most else _VIOLATING
        return found

    # conflicts

    def _conflicting(self, levels: Levels) -> bool:
        """Return whether a transformation is finer than a conflict."""
        return bool((np.array(levels) <= self.conflicts).all(axis=1).any())

    def _rules_out(self, levels: Levels) -> bool:
        """Return whether too many rows stay suppressed in a transformation and every finer one; examine it if necessary."""
        if levels not in self.known and not self._conflicting(levels):
            self._examined(levels)
        return self.known.get(levels, _RULES_OUT) == _RULES_OUT

    def _learn(self, low: Levels) -> None:
        """Find a conflict above a transformation that is ruled out: raise what is cheap and says little first.

        What is left at a low level are a few quasi-identifiers that cannot be published together.
        """
        at = np.array(low)
        axes = np.arange(len(at))
        value = (self.costs[axes, self.heights] - self.costs[axes, at]) * self.bits[axes, at]
        rest = [j for j in np.argsort(value, kind="stable").tolist() if at[j] < self.heights[j]]
        while rest and not self._spent():
            # as many as can be raised to the top at once
            raised, most = 0, len(rest)
            while raised < most and not self._spent():
                middle = (raised + most + 1) // 2
                if self._rules_out(self._with(at, rest[:middle], self.heights[rest[:middle]])):
                    raised = middle
                else:
                    most = middle - 1
            at[rest[:raised]] = self.heights[rest[:raised]]
            rest = rest[raised:]
            if rest:  # the next one cannot be raised to the top
                axis = rest.pop(0)
                at[axis] = self._highest_conflicting(at, axis)
        self.conflicts = np.concatenate([self.conflicts, at[None]])
        self.task.progress(FINDING)

    def _highest_conflicting(self, at: Integers, axis: int) -> int:
        """Return the highest level of one quasi-identifier, below the top, at which a transformation is still ruled out."""
        low, high = int(at[axis]), int(self.heights[axis]) - 1
        while low < high and not self._spent():
            middle = (low + high + 1) // 2
            if self._rules_out(self._with(at, [axis], [middle])):
                low = middle
            else:
                high = middle - 1
        return low

    @staticmethod
    def _with(at: Integers, axes: Sequence[int], levels: Sequence[int] | Integers) -> Levels:
        changed = at.copy()
        changed[axes] = levels
        return tuple(changed.tolist())

    # boxes

    def _expand(self, box: _Box, bound: float) -> None:
        """Split a box, or drop it if nothing in it can be the best."""
        increase, conflict = conflict_bound(self.costs, self.conflicts, box.low, box.high)
        if conflict == EMPTY:
            return
        now = self._bound(box, increase)
        if self._closed(now, box):
            return
        if self.boxes and now > max(bound, self.boxes[0][0]):  # another box is lower now
            self._push(box, now)
            return
        if conflict != NONE_OPEN:
            self._split(box, self.conflicts[conflict], now)
            return
        low = tuple(box.low.tolist())
        if self.known.get(low) == _RULES_OUT:
            self._learn(low)
            self._push(box, now)
            return
        found = self._examined(low)
        if self.loss.bounds_coarser:
            floor = self.loss.bound(found.classes)
            box.least = max(box.least, floor - abs(floor) * MARGIN)
        if found.rules_out:
            self._learn(low)
            self._push(box, self._bound(box, increase))
        elif self._spent() or self._narrowed(box):
            self._split(box, box.low, self._bound(box, increase))

    def _narrowed(self, box: _Box) -> bool:
        """Examine the coarsest transformation of a box, which bounds what is suppressed; return whether the box is open."""
        high = tuple(box.high.tolist())
        if not self.most or self._closed(self._bound(box, 0.0), box):
            return True
        found = self._examined(high)
        if found.rules_out:
            return False
        if found.staying.any():
            more, least = self.loss.finer(found.classes, found.staying)
            box.more = max(box.more, more * (1 - MARGIN))
            box.least = max(box.least, least * (1 - MARGIN))
        return True

    def _split(self, box: _Box, below: Integers, bound: float) -> None:
        """Split a box into the parts that are above given levels in some quasi-identifier, the cheapest first.

        The parts are disjoint: each is not above these levels in the quasi-identifiers before. What is above nowhere is
        dropped.
        """
        above = below + 1
        axes = np.flatnonzero(above <= box.high)
        steps = self.costs[axes, above[axes]] - self.costs[axes, box.low[axes]]
        high = box.high.copy()
        for axis in axes[np.argsort(steps, kind="stable")].tolist():
            low = box.low.copy()
            low[axis] = above[axis]
            part = _Box(low, high.copy(), box.more, box.least)
            now = max(bound, self._bound(part, 0.0))
            if not self._closed(now, part):
                self._push(part, now)
            high[axis] = below[axis]

    def _bound(self, box: _Box, increase: float) -> float:
        """Return a lower bound on the loss in a box, whose conflicts add at least `increase` to the terms."""
        total = float(self.costs[np.arange(len(box.low)), box.low].sum()) + max(0.0, increase - self.rounding)
        bound = float(self.loss.bound_of(np.float64(total)))
        return max(bound - abs(bound) * MARGIN + box.more, box.least)

    def _closed(self, bound: float, box: _Box) -> bool:
        """Return whether nothing in a box can be better than the best: a higher bound, or the same and later levels."""
        if self.best_score is None or self.best_levels is None:
            return False
        score = nearest_float(self.best_score)
        slack = abs(score) * MARGIN
        return bound > score + slack or (bound >= score - slack and tuple(box.low.tolist()) > self.best_levels)

    def _push(self, box: _Box, bound: float) -> None:
        self.made += 1
        heapq.heappush(self.boxes, (bound, -self.made, box))  # of equal bounds the most recent, which is nearest to an end

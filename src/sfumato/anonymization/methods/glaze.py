"""The default method: order, cut, blend, mend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.anonymization.methods.group_repair import mend
from sfumato.anonymization.methods.method import Grouping, Method, Task, numbered
from sfumato.anonymization.methods.packing import deal
from sfumato.anonymization.methods.search_constraints import Limits
from sfumato.anonymization.methods.search_state import SearchState
from sfumato.errors import ParameterError

_SMALL = 400
"""Tables of up to so many rows are begun several times over, and the best end is kept."""

_STARTS = 12


@dataclass(frozen=True)
class Glaze(Method):
    """Utility first: near rows are grouped at the least loss, and the principles are worked in like thin coats of paint.

    1. Order. Rows are put in an order in which near rows stand together: split again and again where it saves most, the
       costliest attribute first, the half that resembles the row before it turned towards it.
    2. Cut. A dynamic program cuts that order into groups so that loss + price · excess is least, at a low price. The
       excess of a group is what it lacks to satisfy the principles: neighbours too many, or values too few.
    3. Blend. Rows swap and move between groups whose rows stand near in other, random orders, at a slowly rising price
       and a falling heat, until no group has excess; then on, at a price no loss can pay, until the loss stops falling.
       Where the cut leaves more than one unit of excess per row the table is dealt first (see 4), then blended.
    4. Mend. Where excess is left: the rows of a bad group and of those around it are dealt anew, the most crowded values
       first, in ever wider circles; if most of the table is bad, all of it, in the smallest parts that can be dealt. If
       the bound of paper 001 promises that exchanges end well, they are made from an equitable start; and last, bad
       groups are merged with their neighbours. Then blended again.

    Serves every principle but (n,t)-closeness, several at once too. Deterministic for a seed. The result is checked by
    whoever asked for it; a group that still fails is reported, never hidden.

    >>> import pyarrow as pa
    >>> from sfumato.principles import KAnonymity
    >>> from sfumato.data.schema import Schema
    >>> from sfumato.data.table import Table
    >>> task = Task(Table(pa.table({"age": [30, 61, 31, 60]}), Schema(["age"])), (KAnonymity(2),))
    >>> Glaze().group(task).of_row.tolist()
    [0, 1, 0, 1]
    """

    effort: int = 1
    """How long to look for less loss: twice as much takes about twice as long."""

    name: ClassVar[str] = "glaze"

    def __post_init__(self) -> None:
        if isinstance(self.effort, bool) or not isinstance(self.effort, int) or self.effort < 1:
            raise ParameterError(
                f"the method {self.name}: effort = {self.effort!r} is not a whole number from 1",
                remedy="Write a whole number, at least 1.",
                key="effort",
                value=self.effort,
            )

    def group(self, task: Task, seed: int = 0) -> Grouping:
        """Order, cut, blend, mend."""
        rows = task.table.rows
        limits = Limits.of(task)
        if rows < 2 * limits.least:
            return Grouping(np.zeros(rows, np.int64), ("the table is too small for two groups",))
        starts = _STARTS if rows <= _SMALL else 1
        best: SearchState | None = None
        for start in range(starts):
            canvas = self._painted(task, limits, seed, start)
            if best is None or canvas.rank < best.rank:
                best = canvas
        assert best is not None
        return Grouping(numbered(best.labels))

    def _painted(self, task: Task, limits: Limits, seed: int, start: int) -> SearchState:
        canvas = SearchState(task, limits, seed * _STARTS + start)
        canvas.cut(price=(0.3, 3.0, 0.0)[start % 3], shuffled=start >= 3)
        canvas.span = (0.1, 0.5)
        if canvas.can_be_dealt and canvas.excess > canvas.rows:
            deal(canvas)
            canvas.blend_hard(self.effort)
        elif limits.crowds or limits.shapes:
            canvas.blend_in(self.effort)
        canvas.span = (0.5, 1.0)
        canvas.polish(self.effort)
        if canvas.excess > 0:
            task.progress("mending groups")
            mend(canvas, self.effort)
            canvas.polish(self.effort)
        return canvas

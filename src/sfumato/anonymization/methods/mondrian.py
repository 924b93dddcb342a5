"""Mondrian: cut the table along one quasi-identifier after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.cell_share_arrays import shares_over
from sfumato.anonymization.methods.method import Grouping, Method, Task, numbered
from sfumato.kernels.cell_shares import TREE, Shares, shares_of
from sfumato.kernels.mondrian_cuts import covers, cut

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Mondrian(Method):
    """Cut the rows in parts along the quasi-identifier on which they spread widest, and each part again, while it may be.

    Numbers, ordinal values and values without a hierarchy are cut at the median; values with a hierarchy into the
    children of their lowest common ancestor. A cut is made only if every part satisfies every principle, else the next
    quasi-identifier is tried. No value stands on both sides of a strict cut; `relaxed` lets rows with the median value
    go to either side, so that the halves are alike. Source: LeFevre, DeWitt and Ramakrishnan, ICDE 2006.

    With monotone principles every group satisfies them whenever the whole table does. With others the cutting stops
    where a cut breaks them, though smaller parts might satisfy them again: the grouping's notes say so.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"age": [30, 31, 50, 51, 52]}), sf.Schema(["age"]))
    >>> Mondrian().group(Task(table, (sf.KAnonymity(2),))).of_row.tolist()
    [0, 0, 1, 1, 1]
    """

    relaxed: bool = False

    name: ClassVar[str] = "mondrian"

    def group(self, task: Task, seed: int = 0) -> Grouping:
        """Cut level by level: all sets of one depth are tried together. Nothing is random.

        Cost: the depth times the number of quasi-identifiers times that of measuring the principles once.
        """
        del seed
        notes = _notes(task)
        shares = shares_over(task.domains)
        of_row = np.zeros(task.table.rows, np.int64)
        done, pending = 0, len(task.domains) and 1  # groups 0 to done - 1 are final, those after it may yet be cut
        while pending:
            rows = np.flatnonzero(of_row >= done)
            level = _Level(task, shares, self.relaxed, of_row, done, rows[np.argsort(of_row[rows], kind="stable")])
            done, pending = level.cut()
        return Grouping(numbered(of_row), notes)


class _Level:
    """The sets of rows of one depth, all tried together."""

    def __init__(self, task: Task, shares: Shares, relaxed: bool, of_row: Integers, done: int, order: Integers) -> None:
        self.task, self.shares, self.relaxed, self.of_row, self.done, self.order = task, shares, relaxed, of_row, done, order
        sizes = np.bincount(of_row[order] - done)
        self.offsets = np.concatenate([[0], np.cumsum(sizes)])
        self.set_of = np.repeat(np.arange(len(sizes)), sizes)

    def cut(self) -> tuple[int, int]:
        """Cut what may be cut; return how many groups are final, and how many are not. Final ones are numbered first."""
        count = len(self.offsets) - 1
        kept_part, kept_parts = np.zeros(len(self.order), np.int64), np.ones(count, np.int64)
        whole = np.ones(count, bool)
        s = self.shares
        for attribute in self._widest_first():
            for in_two in (False, True):
                tried = np.where(whole & (attribute >= 0) & ((s.kind[attribute] == TREE) | (not in_two)), attribute, -1)
                if (tried < 0).all():
                    continue
                part, parts = np.empty_like(kept_part), np.empty_like(kept_parts)
                cut(
                    self.order,
                    self.offsets,
                    self.task.places,
                    s.kind,
                    s.size,
                    s.above,
                    tried,
                    self.relaxed,
                    in_two,
                    part,
                    parts,
                )
                made = self._may(part, parts) & (tried >= 0)
                rows = made[self.set_of]
                kept_part[rows], kept_parts[made] = part[rows], parts[made]
                whole &= ~made
        final = int(whole.sum())
        first = np.empty(count, np.int64)
        first[whole] = np.arange(final)
        first[~whole] = final + np.cumsum(kept_parts[~whole]) - kept_parts[~whole]
        self.of_row[self.order] = self.done + first[self.set_of] + kept_part
        return self.done + final, int(kept_parts[~whole].sum())

    def _widest_first(self) -> Integers:
        """For each set its quasi-identifiers from the widest spread to the least, -1 where all values are equal."""
        shape = len(self.offsets) - 1, len(self.task.domains)
        low, high, distinct = (np.empty(shape, np.int64) for _ in range(3))
        spread = np.empty(shape)
        covers(self.order, self.offsets, self.task.places, self.shares.kind, self.shares.size, low, high, distinct)
        shares_of(self.shares, low, high, distinct, spread)
        spread[low == high] = -1
        ranked = np.argsort(-spread, axis=1, kind="stable")
        return np.where(np.take_along_axis(low != high, ranked, axis=1), ranked, -1).T

    def _may(self, part: Integers, parts: Integers) -> NDArray[np.bool_]:
        """For each set whether all parts satisfy the principles."""
        first = np.cumsum(parts) - parts
        trial = self.of_row.copy()
        trial[self.order] = self.done + first[self.set_of] + part
        return np.asarray(np.logical_and.reduceat(self.task.satisfied(trial)[self.done :], first))


def _notes(task: Task) -> tuple[str, ...]:
    """What the principles mean for a method that cuts from the top down."""
    notes = []
    for principle, names in task.requirements:
        on = f" on {' + '.join(names)}" if names else ""
        whole = principle.holds(task.views[names])
        if not principle.monotone:
            as_one = "" if whole else " The table as one group does not satisfy it either."
            notes.append(
                f"{principle.title}{on} is not monotone: Mondrian stops where a split breaks it and cannot look past; "
                f"smaller groups below might satisfy it.{as_one}"
            )
        elif not whole:
            notes.append(
                f"{principle.label}{on} does not hold in the table as one group; it is monotone, so no grouping reaches it."
            )
    return tuple(dict.fromkeys(notes))

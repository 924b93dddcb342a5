"""Mondrian: cut the table along one quasi-identifier after another (LeFevre, DeWitt & Ramakrishnan, 2006a)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.method import Grouping, Method, Task
from sfumato.data.groups import Groups, renumber
from sfumato.kernels.cell_shares import TREE, Shares, shares_of
from sfumato.kernels.mondrian_cuts import covers, cut
from sfumato.principles import Principle

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Mondrian(Method):
    """Cut the rows along the quasi-identifier with the widest spread, then each part again, while the principles allow.

    Numbers, ordinal values and values without a hierarchy are cut at the median; values with a hierarchy into the children
    of their lowest common ancestor. A cut is made only if every part satisfies every principle; otherwise the next
    quasi-identifier is tried. A strict cut keeps rows with equal values together; with `relaxed`, rows with the median
    value may go to either side, so that the halves have equal size. Source: LeFevre, DeWitt & Ramakrishnan (2006a).

    With monotone principles every group satisfies them whenever the whole table does. With others, cutting stops where a
    cut breaks them, although smaller parts might satisfy them again: the grouping's notes say so. With a principle whose
    verdict on a group depends on the other groups, such as δ-presence, cuts of a depth are made as far as they do not break
    one another's groups.

    A principle that narrower cells help to satisfy, such as credibility, states so. Sets that violate it are cut further,
    first along the quasi-identifier from which it expects most, while the parts satisfy the other principles. Groups that
    violate it may remain.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"age": [30, 31, 50, 51, 52]}), sf.Schema(["age"]))
    >>> Mondrian().group(Task(table, (sf.KAnonymity(2),))).of_row.tolist()
    [0, 0, 1, 1, 1]
    """

    relaxed: bool = False

    name: ClassVar[str] = "mondrian"
    honours_limits: ClassVar[bool] = True

    def group(self, task: Task, seed: int = 0) -> Grouping:
        """Cut depth by depth: all sets of one depth are tried together. Nothing is random.

        Cost: the depth times the number of quasi-identifiers times that of measuring the principles once; a few times that
        if a principle compares groups.
        """
        del seed
        notes = _notes(task)
        shares = task.search_space.shares
        strata = task.strata
        of_row = np.zeros(task.table.rows, np.int64) if strata is None else strata.of_row.copy()
        # invariant: groups 0 to done - 1 are final, and the `pending` groups after them may be cut further
        done, pending = 0, len(task.domains) and (1 if strata is None else strata.count)
        while pending:
            rows = np.flatnonzero(of_row >= done)
            order = rows[np.argsort(of_row[rows], kind="stable")]
            done, pending = _Depth(task, shares, self.relaxed, of_row, done, order).cut()
        return Grouping(renumber(of_row), notes)


class _Depth:
    """The sets of rows of one depth, which are tried together.

    `order` holds their rows, set by set; set g is `order[offsets[g]:offsets[g + 1]]` and has the group number `done + g`.
    `of_row`, the group of every row of the table, belongs to the caller and is updated by `cut`.
    """

    def __init__(self, task: Task, shares: Shares, relaxed: bool, of_row: Integers, done: int, order: Integers) -> None:
        self.task, self.shares, self.relaxed, self.of_row, self.done, self.order = task, shares, relaxed, of_row, done, order
        self.places = task.search_space.places
        self.compares_groups = any(principle.compares_groups for principle in task.principles)
        """Whether a cut of one set may break groups of another."""
        self.helped = [] if self.compares_groups else _violations(task, of_row, done)
        sizes = np.bincount(of_row[order] - done)
        self.offsets = np.concatenate([[0], np.cumsum(sizes)])
        self.set_of = np.repeat(np.arange(len(sizes)), sizes)
        """The set of each entry of `order`."""

    def cut(self) -> tuple[int, int]:
        """Cut the sets that can be cut; return the number of final groups and of pending ones, final ones numbered first."""
        count = len(self.offsets) - 1
        kept_part, kept_parts = np.zeros(len(self.order), np.int64), np.ones(count, np.int64)
        whole = np.ones(count, bool)  # the sets that no cut was found for yet
        s = self.shares
        for attribute in self._widest_first():
            # a hierarchy is cut into all children first, and into two runs of children where that fails
            for in_two in (False, True):
                tried = np.where(whole & (attribute >= 0) & ((s.kind[attribute] == TREE) | (not in_two)), attribute, -1)
                if (tried < 0).all():
                    continue
                part, parts = np.empty_like(kept_part), np.empty_like(kept_parts)
                cut(
                    self.order, self.offsets, self.places, s.kind, s.size, s.above, tried, self.relaxed, in_two, part,
                    parts,
                )  # fmt: skip
                if self.compares_groups:
                    made = self._allowed_together(tried >= 0, part, parts, kept_part, kept_parts)
                else:
                    made = self._allowed(part, parts) & (tried >= 0)
                rows = made[self.set_of]
                kept_part[rows], kept_parts[made] = part[rows], parts[made]
                whole &= ~made
        # number the sets that stay whole first: they are final
        final = int(whole.sum())
        first = np.empty(count, np.int64)
        first[whole] = np.arange(final)
        first[~whole] = final + np.cumsum(kept_parts[~whole]) - kept_parts[~whole]
        self.of_row[self.order] = self.done + first[self.set_of] + kept_part
        return self.done + final, int(kept_parts[~whole].sum())

    def _widest_first(self) -> Integers:
        """Return, rank by rank, each set's quasi-identifier by descending promise and spread; -1 if all values are equal."""
        shape = len(self.offsets) - 1, self.places.shape[1]
        low, high, distinct = (np.empty(shape, np.int64) for _ in range(3))
        spread = np.empty(shape)
        covers(self.order, self.offsets, self.places, self.shares.kind, self.shares.size, low, high, distinct)
        shares_of(self.shares, low, high, distinct, spread)
        for one in self.helped:
            spread = np.where(one.promise > 0, np.maximum(spread, 1 + one.promise), spread)  # a spread is at most 1
        spread[low == high] = -1
        ranked = np.argsort(-spread, axis=1, kind="stable")
        return np.where(np.take_along_axis(low != high, ranked, axis=1), ranked, -1).T

    def _allowed(self, part: Integers, parts: Integers) -> NDArray[np.bool_]:
        """Return for each set whether all its parts satisfy the principles, but for those that the set violates itself."""
        first = np.cumsum(parts) - parts
        trial = self._trial(part, first)
        if not self.helped:
            return np.asarray(np.logical_and.reduceat(self.task.satisfied(trial)[self.done :], first))
        others = [one for one in self.task.requirements if not one[0].helped_by_cuts]
        fine = np.logical_and.reduceat(self.task.satisfied_at(trial, None, others)[self.done :], first)
        for one in self.helped:
            holds = self.task.satisfied_at(trial, None, [one.requirement])[self.done :]
            fine &= np.logical_and.reduceat(holds, first) | one.violated
        return np.asarray(fine)

    def _allowed_together(
        self, tried: NDArray[np.bool_], part: Integers, parts: Integers, kept_part: Integers, kept_parts: Integers
    ) -> NDArray[np.bool_]:
        """Return for each set whether it is cut, so that after these cuts all groups of the table satisfy the principles.

        `tried`: the sets that have a cut. `kept_part`, `kept_parts`: the cuts that are made already. Cuts with a part that
        violates a principle are left out until no group does.
        """
        made = tried.copy()
        while made.any():
            now_part, now_parts = np.where(made[self.set_of], part, kept_part), np.where(made, parts, kept_parts)
            first = np.cumsum(now_parts) - now_parts
            satisfied = self.task.satisfied(self._trial(now_part, first))
            if satisfied.all():
                break
            violating = made & ~np.logical_and.reduceat(satisfied[self.done :], first)
            if not violating.any():  # the cuts break groups of other sets: try half of them
                places = np.flatnonzero(made)
                violating[places[len(places) // 2 :]] = True
            made &= ~violating
        return made

    def _trial(self, part: Integers, first: Integers) -> Integers:
        """Return the group of each row if the sets were cut into parts; `first`: the number of each set's first part."""
        trial = self.of_row.copy()
        trial[self.order] = self.done + first[self.set_of] + part
        return trial


@dataclass(frozen=True, eq=False)
class _Violation:
    """A requirement that narrower cells help to satisfy, and which sets of a depth violate it."""

    requirement: tuple[Principle, tuple[str, ...]]
    violated: NDArray[np.bool_]
    promise: NDArray[np.float64]
    """For each set and quasi-identifier how much a cut promises; 0 for sets that satisfy the requirement."""


def _violations(task: Task, of_row: Integers, done: int) -> list[_Violation]:
    """Return which of the groups from `done` on violate requirements that narrower cells help to satisfy."""
    found = []
    for principle, names in task.requirements:
        if principle.helped_by_cuts:
            groups = Groups.partition(task.table, of_row, int(of_row.max()) + 1)
            violated = ~task.measured(principle, names, groups).group_holds[done:]
            promise = principle.cut_order(task.views[names].regrouped(groups))[done:]
            found.append(_Violation((principle, names), violated, np.where(violated[:, None], promise, 0)))
    return found


def _notes(task: Task) -> tuple[str, ...]:
    """Return what the principles mean for a method that cuts from the top down."""
    notes = []
    everyone = Groups.partition(task.table, np.zeros(task.table.rows, np.int64), 1)
    for principle, names in task.requirements:
        on = f" on {' + '.join(names)}" if names else ""
        whole = task.measured(principle, names, everyone).holds
        if principle.helped_by_cuts:
            notes.append(
                f"{principle.title}{on} is not monotone: Mondrian cuts sets that violate it further, and the rows of "
                "groups that still violate it can only be suppressed."
            )
        elif not principle.monotone:
            as_one = "" if whole else " The table as one group does not satisfy it either."
            notes.append(
                f"{principle.title}{on} is not monotone: Mondrian stops where a cut breaks it, and smaller groups might "
                f"satisfy it again.{as_one}"
            )
        elif not whole:
            notes.append(
                f"{principle.label}{on} does not hold for the table as one group; it is monotone, so no grouping "
                "satisfies it."
            )
    return tuple(dict.fromkeys(notes))

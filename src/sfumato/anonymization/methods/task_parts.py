"""Groups within strata: a method groups each part of the table alone, and compares it with the whole table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.method import Grouping, Method, Task
from sfumato.anonymization.methods.search_constraints import SearchConstraints
from sfumato.anonymization.methods.search_space import SearchSpace
from sfumato.anonymization.recoding import Domain
from sfumato.anonymization.recoding.strata import Strata
from sfumato.data.groups import Groups
from sfumato.principles import View
from sfumato.progress import Progress
from sfumato.releases.declarations import resolved_schema

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TaskPart(Task):
    """A task of some rows of a table: domains, weights and the distributions to compare with are those of the whole table.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"end": ["died", "died", "home"], "ill": ["flu", "gout", "flu"]})
    >>> table = sf.Table(people, sf.Schema(["end"], ["ill"], never_mix={"end": ["died"]}))
    >>> part = TaskPart.of(Task(table, (sf.TCloseness("0.2"),)), np.array([0, 1]))
    >>> part.table.rows, part.domains[0].size, part.satisfied(np.array([0, 0])).tolist()
    (2, 2, [True])
    """

    whole: Task | None = None
    rows: Integers | None = None
    """The rows of the whole table that this part consists of."""

    @classmethod
    def of(cls, whole: Task, rows: Integers, progress: Progress | None = None) -> TaskPart:
        """Return the part of a task with some rows."""
        table = whole.table.take(rows, resolved_schema(whole.table))
        return cls(table, whole.principles, progress or whole.progress, whole.suppress, whole, rows)

    @property
    def _parent(self) -> tuple[Task, Integers]:
        assert self.whole is not None
        assert self.rows is not None
        return self.whole, self.rows

    @cached_property
    def domains(self) -> list[Domain]:
        """The domains of the whole table, with the codes of these rows."""
        whole, rows = self._parent
        return [replace(each, column=replace(each.column, codes=each.column.codes[rows])) for each in whole.domains]

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """The weights of the quasi-identifiers."""
        return self._parent[0].weights

    @cached_property
    def search_space(self) -> SearchSpace:
        """The search space of the whole table, with the places of these rows."""
        whole, rows = self._parent
        return SearchSpace(whole.search_space.places[rows], whole.search_space.shares)

    @cached_property
    def search_constraints(self) -> SearchConstraints:
        """The constraints of the whole table, on these rows."""
        whole, rows = self._parent
        return whole.search_constraints.restricted(rows)

    def values_vary(self, names: tuple[str, ...]) -> bool:
        """Return whether the rows are units within which a sensitive attribute varies."""
        return self._parent[0].values_vary(names)

    @cached_property
    def strata(self) -> Strata | None:
        """None: all rows of a part may share a group."""
        return None

    @cached_property
    def views(self) -> dict[tuple[str, ...], View]:
        """The sensitive attributes, with all rows of the part in one group, over the values and counts of the whole."""
        whole, rows = self._parent
        everyone = Groups.partition(self.table, np.zeros(self.table.rows, np.int64), 1)
        views = {names: View(self.table, names, everyone) for names in whole.views}
        for names, view in views.items():
            if names:
                attribute = whole.views[names].attribute
                columns = tuple(replace(column, codes=column.codes[rows]) for column in attribute.columns)
                view.attribute = replace(attribute, columns=columns, codes=attribute.codes[rows])
        return views

    def satisfied(self, of_row: Integers) -> NDArray[np.bool_]:
        """Return for each group of a partition of these rows whether every principle holds in it, exactly.

        It is measured in the whole table, with all other rows in one more group.
        """
        whole, rows = self._parent
        count = int(np.asarray(of_row).max(initial=-1)) + 1
        if len(rows) == whole.table.rows:
            return whole.satisfied(of_row)
        everyone = np.full(whole.table.rows, count, np.int64)
        everyone[rows] = of_row
        return whole.satisfied(everyone)[:count]


def group_by_strata(method: Method, task: Task, strata: Strata, seed: int) -> Grouping:
    """Let a method group each stratum alone, and return all its groups.

    A stratum with fewer people than every group needs becomes one group, which the caller rejects or suppresses. Levels
    that a method states are those of one stratum: they are left out, so that the smallest cells are published.
    """
    from sfumato.anonymization.methods.method import checked_grouping

    least = max((principle.implied_k or 1 for principle in task.principles), default=1)
    heads = Groups.partition(task.table, strata.of_row, strata.count).heads
    of_row, made, done = np.empty(task.table.rows, np.int64), 0, 0
    notes: dict[str, None] = {}
    private: dict[str, None] = {}
    order = np.argsort(strata.of_row, kind="stable")
    for stratum, rows in enumerate(np.split(order, np.cumsum(strata.sizes)[:-1])):
        if heads[stratum] < least:
            of_row[rows], made = made, made + 1
        else:
            part = TaskPart.of(task, rows, _within(task.progress, done, len(rows), task.table.rows))
            grouping = checked_grouping(method, part, seed)
            of_row[rows] = made + grouping.of_row
            made += grouping.count
            notes.update(dict.fromkeys(grouping.notes))
            private.update(dict.fromkeys(grouping.private))
        done += len(rows)
    # what a method notes about one stratum may reveal its size
    return Grouping(of_row, private=(*private, *notes))


def _within(progress: Progress, done: int, rows: int, total: int) -> Progress:
    """Return a callback for the progress of a part, which reports that of the whole."""

    def report(step: str, share: float | None = None) -> None:
        progress(step, None if share is None else (done + share * rows) / total)

    return report

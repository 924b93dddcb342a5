"""The interface of every method: it finds groups of rows for principles."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.recoding import Domain, domains_of
from sfumato.data.groups import Groups
from sfumato.data.table import Table
from sfumato.exact import as_parameter
from sfumato.principles import Principle, View, attributes_of
from sfumato.progress import Progress, silent

FINDING = "finding groups"
"""The step of a method, as the progress reports it."""


@dataclass(frozen=True, eq=False)
class Task:
    """A table and the principles that every group of it must satisfy.

    >>> import pyarrow as pa
    >>> from sfumato.principles import KAnonymity
    >>> from sfumato.data.schema import Schema
    >>> task = Task(Table(pa.table({"age": [30, 31, 50, 51]}), Schema(["age"])), (KAnonymity(2),))
    >>> task.satisfied(np.array([0, 0, 0, 1])).tolist()
    [True, False]
    """

    table: Table
    principles: tuple[Principle, ...]
    progress: Progress = silent
    """Called with the progress of the method."""
    suppress: Fraction = Fraction(0)
    """The largest share of the rows that may be dropped from the method's groups."""

    @cached_property
    def domains(self) -> list[Domain]:
        """The domains of the quasi-identifiers."""
        return domains_of(self.table)

    @cached_property
    def places(self) -> NDArray[np.int32]:
        """For each row and quasi-identifier the place of its value in the domain."""
        columns = [domain.place[domain.column.codes] for domain in self.domains]
        return np.column_stack(columns) if columns else np.zeros((self.table.rows, 0), np.int32)

    @cached_property
    def requirements(self) -> tuple[tuple[Principle, tuple[str, ...]], ...]:
        """Each principle with each sensitive attribute, or set of attributes taken together, that it must hold on."""
        return tuple((p, names) for p in self.principles for names in attributes_of(p, self.table.schema))

    @cached_property
    def views(self) -> dict[tuple[str, ...], View]:
        """The sensitive attributes of the requirements, with all rows in one group."""
        everyone = Groups.partition(self.table, np.zeros(self.table.rows, np.int64), 1)
        return {names: View(self.table, names, everyone) for _, names in self.requirements}

    def satisfied(self, of_row: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return for each group of a partition whether every principle holds in it, exactly.

        `of_row[row]` is the group of a row; groups are numbered from 0, none is empty.
        """
        count = int(of_row.max()) + 1
        groups = Groups.partition(self.table, of_row, count)
        views = {names: view.regrouped(groups) for names, view in self.views.items()}
        fine = np.ones(count, bool)
        for principle, names in self.requirements:
            fine &= principle.measure(views[names]).group_holds
        return fine


@dataclass(frozen=True, eq=False)
class Grouping:
    """The result of a method: the group of each row, numbered from 0, none empty. Principles may fail in some groups.

    >>> Grouping(np.array([0, 1, 1, 0])).count
    2
    """

    of_row: NDArray[np.int64]
    notes: tuple[str, ...] = ()
    """What a reader of the release should know about how the groups were found."""
    levels: tuple[int, ...] | None = None
    """For each quasi-identifier the level at which all its cells are published, if the groups were made for that."""
    private: tuple[str, ...] = ()
    """What only the publisher may know: exact figures of the search would let a reader check guesses at secrets."""

    @property
    def count(self) -> int:
        """The number of groups."""
        return int(self.of_row.max()) + 1


class Method(ABC):
    """An algorithm that finds groups for principles. The same task and seed give the same groups.

    Methods are small frozen values, as principles are. An instance of your own class is accepted wherever a method is, and
    its groups are checked like those of any other:

    >>> @dataclass(frozen=True)
    ... class Halves(Method):
    ...     name = "halves"
    ...
    ...     def group(self, task, seed=0):
    ...         return Grouping(np.arange(task.table.rows) * 2 // task.table.rows)
    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = pa.table({"age": [30, 31, 50, 51]})
    >>> sf.anonymize(table, sf.Schema(["age"]), sf.KAnonymity(2), method=Halves()).audit.groups.count
    2
    """

    name: ClassVar[str]
    """The name in a config; by default the name of the class."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if not hasattr(cls, "name"):
            cls.name = cls.__name__

    @abstractmethod
    def group(self, task: Task, seed: int = 0) -> Grouping:
        """Partition the rows. Principles may fail in some groups: the caller checks the result."""

    def parameters(self) -> dict[str, Any]:
        """Return the parameters as a config states them; none if the method is not a dataclass."""
        if not is_dataclass(self):
            return {}
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: as_parameter(value) for name, value in values.items() if value is not None}

"""What every method is: it finds groups of rows for principles."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
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
"""What a method does, as it is told to whoever wants to know how far it has got."""


@dataclass(frozen=True, eq=False)
class Task:
    """A table and the principles that every group of it is to satisfy.

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
    """Told how far a method has got."""
    suppress: Fraction = Fraction(0)
    """The largest share of the rows that may be dropped from what the method finds."""

    @cached_property
    def domains(self) -> list[Domain]:
        """The domains of the quasi-identifiers."""
        return domains_of(self.table)

    @cached_property
    def places(self) -> NDArray[np.int32]:
        """For each row and quasi-identifier the place of its value along the domain."""
        columns = [domain.place[domain.column.codes] for domain in self.domains]
        return np.column_stack(columns) if columns else np.zeros((self.table.rows, 0), np.int32)

    @cached_property
    def requirements(self) -> tuple[tuple[Principle, tuple[str, ...]], ...]:
        """Each principle with each sensitive attribute, or several taken together, that it is to hold on."""
        return tuple((p, names) for p in self.principles for names in attributes_of(p, self.table.schema))

    @cached_property
    def views(self) -> dict[tuple[str, ...], View]:
        """The sensitive attributes asked about, with all rows in one group."""
        everyone = Groups.partition(self.table, np.zeros(self.table.rows, np.int64), 1)
        return {names: View(self.table, names, everyone) for _, names in self.requirements}

    def satisfied(self, of_row: NDArray[np.int64]) -> NDArray[np.bool_]:
        """For each group of a partition (numbered from 0, none empty) whether every principle holds in it, exactly."""
        count = int(of_row.max()) + 1
        groups = Groups.partition(self.table, of_row, count)
        views = {names: view.regrouped(groups) for names, view in self.views.items()}
        fine = np.ones(count, bool)
        for principle, names in self.requirements:
            fine &= principle.measure(views[names]).group_holds
        return fine


@dataclass(frozen=True, eq=False)
class Grouping:
    """What a method found: each row's group, numbered from 0, none empty. The principles may fail in some groups.

    >>> Grouping(np.array([0, 1, 1, 0])).count
    2
    """

    of_row: NDArray[np.int64]
    notes: tuple[str, ...] = ()
    """What a reader should know about how it was found."""
    levels: tuple[int, ...] | None = None
    """For each quasi-identifier the level that all its cells are to be published at, if the groups were made for that."""
    private: tuple[str, ...] = ()
    """What the publisher alone should know: exact figures of the search would let a reader check guesses at secrets."""

    @property
    def count(self) -> int:
        """The number of groups."""
        return int(self.of_row.max()) + 1


class Method(ABC):
    """Finds groups for principles: the same task and seed, the same groups. Small frozen values, like principles.

    One of your own can be given wherever one is asked for; what it finds is checked like any other:

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
    """The name in a config; that of the class if none is given."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if not hasattr(cls, "name"):
            cls.name = cls.__name__

    @abstractmethod
    def group(self, task: Task, seed: int = 0) -> Grouping:
        """Partition the rows. The principles are served as far as the method can: whoever calls checks the result."""

    def parameters(self) -> dict[str, Any]:
        """The parameters as they stand in a config; none if the method is no dataclass."""
        if not is_dataclass(self):
            return {}
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: as_parameter(value) for name, value in given.items() if value is not None}


def numbered(labels: NDArray[Any] | Sequence[int]) -> NDArray[np.int64]:
    """Groups numbered from 0 in the order of their first rows."""
    labels = np.asarray(labels)
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]

"""The interface of every method: it finds groups of rows for principles."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from inspect import isabstract
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.recoding import Domain, domains_of, recode
from sfumato.anonymization.recoding.strata import Strata, strata_of
from sfumato.data.cell_classes import CellClasses, cell_classes
from sfumato.data.column import Column
from sfumato.data.groups import Groups
from sfumato.data.table import Table
from sfumato.errors import ParameterError
from sfumato.exact import as_fraction, nearest_float
from sfumato.parameters import ParameterChecks
from sfumato.principles import HistogramCondition, Measurement, NeighbourLimit, Principle, View, attributes_of
from sfumato.principles.principle import measurement_of
from sfumato.progress import Progress, silent
from sfumato.storage import stored

if TYPE_CHECKING:
    from sfumato.anonymization.methods.search_constraints import SearchConstraints
    from sfumato.anonymization.methods.search_space import SearchSpace

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
        return stored(np.column_stack(columns)) if columns else np.zeros((self.table.rows, 0), np.int32)

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """For each quasi-identifier how much its loss counts, as the schema declares it, scaled so that the mean is 1."""
        declared = self.table.schema.weights
        weights = [as_fraction(declared.get(name, 1), "weight") for name in self.table.schema.quasi_identifiers]
        mean = sum(weights, Fraction(0)) / max(1, len(weights))
        return np.array([nearest_float(weight / mean) for weight in weights])

    @cached_property
    def strata(self) -> Strata | None:
        """The rows that no cell may join, because the schema limits cells; None if it does not."""
        return strata_of(self.domains, self.cell_classes)

    def cell_classes(self, column: Column) -> CellClasses | None:
        """Return which values of a quasi-identifier may share a cell; None if the schema does not limit that."""
        return cell_classes(column, self.table.schema)

    @cached_property
    def search_constraints(self) -> SearchConstraints:
        """What the principles require of a group, in the form that a local search can satisfy step by step."""
        from sfumato.anonymization.methods.search_constraints import SearchConstraints

        return SearchConstraints.of(self)

    @cached_property
    def search_space(self) -> SearchSpace:
        """What the methods of sfumato minimise: weighted shares of cells, and what preserves associations."""
        from sfumato.anonymization.methods.search_space import SearchSpace

        return SearchSpace.of(self)

    @cached_property
    def requirements(self) -> tuple[tuple[Principle, tuple[str, ...]], ...]:
        """Each principle with each sensitive attribute, or set of attributes taken together, that it must hold on."""
        return tuple((p, names) for p in self.principles for names in attributes_of(p, self.table.schema))

    @cached_property
    def views(self) -> dict[tuple[str, ...], View]:
        """The sensitive attributes of the requirements, with all rows in one group."""
        everyone = Groups.partition(self.table, np.zeros(self.table.rows, np.int64), 1)
        return {names: View(self.table, names, everyone) for _, names in self.requirements}

    def search_conditions(
        self, principle: Principle, names: tuple[str, ...]
    ) -> Sequence[NeighbourLimit | HistogramCondition]:
        """Return the conditions of a principle that a local search can satisfy step by step."""
        return principle.search_conditions(self.views[names])

    def measured(
        self, principle: Principle, names: tuple[str, ...], groups: Groups, view: View | None = None
    ) -> Measurement:
        """Measure a principle on groups of the rows; `view`: the attribute in these groups, if it exists already."""
        return measurement_of(principle, self.views[names].regrouped(groups) if view is None else view)

    def values_vary(self, names: tuple[str, ...]) -> bool:
        """Return whether the rows are units within which a sensitive attribute varies, so that the table lacks values."""
        del names
        return False

    def satisfied(self, of_row: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return for each group of a partition whether every principle holds in it, exactly.

        `of_row[row]` is the group of a row; groups are numbered from 0, none is empty.
        """
        return self.satisfied_at(of_row, None)

    def satisfied_at(
        self,
        of_row: NDArray[np.int64],
        levels: Sequence[int] | None,
        requirements: Sequence[tuple[Principle, tuple[str, ...]]] | None = None,
    ) -> NDArray[np.bool_]:
        """Return what `satisfied` does for groups whose cells are published at some levels; None: the smallest cells.

        That matters to principles that compare the cells with a population. `requirements`: only some of those of the task.
        """
        of_row = np.asarray(of_row)
        count = int(of_row.max(initial=-1)) + 1
        groups = Groups.partition(self.table, of_row, count)
        # A cheap test first, because methods call this often; partition_problem sorts.
        if of_row.shape != (self.table.rows,) or of_row.min() < 0 or not groups.sizes.all():
            raise ParameterError(
                f"the argument of task.satisfied() has {partition_problem(of_row, self.table.rows)}",
                remedy="Number the groups from 0 without gaps; sf.anonymization.renumber does so.",
                key="of_row",
            )
        views = {names: view.regrouped(groups) for names, view in self.views.items()}
        if levels is not None and any(principle.uses_population for principle in self.principles):
            recoding = recode(self.table, groups, levels)
            for view in views.values():
                view.recoding = recoding
        fine = np.ones(count, bool)
        for principle, names in self.requirements if requirements is None else requirements:
            fine &= self.measured(principle, names, groups, views[names]).group_holds
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


class Method(ParameterChecks, ABC):
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
    publishes_levels: ClassVar[bool] = False
    """Whether every column is published at one level of its hierarchy, so that there is no recoding to choose."""
    honours_limits: ClassVar[bool] = False
    """Whether `group` itself keeps rows of different `task.strata` apart; otherwise it is called for each stratum alone."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if not hasattr(cls, "name"):
            cls.name = cls.__name__

    @abstractmethod
    def group(self, task: Task, seed: int = 0) -> Grouping:
        """Partition the rows. Principles may fail in some groups: the caller checks the result."""

    def refuse_unsupported(self, table: Table, principles: Sequence[Principle]) -> None:
        """Raise an error for a table or a principle that the method does not support; by default it supports all.

        This is called before rows are put into a secret order, so that errors may name rows.
        """


def check_method_class(kind: type[Method]) -> None:
    """Check that a class defines what every method needs; what is missing is an error that says what to add."""
    place = f"{kind.__module__}.{kind.__qualname__}"
    problem = remedy = None
    if isabstract(kind):
        problem, remedy = "does not define group()", "Define group(self, task, seed=0), which returns a Grouping."
    elif not isinstance(kind.name, str):
        problem, remedy = "has no name", 'Add name = "…", the name in a config, to the class.'
    if problem is not None and remedy is not None:
        raise ParameterError(f"the method class {place} {problem}", remedy=remedy, key="method", value=place)


def grouping_of(method: Method, task: Task, seed: int) -> Grouping:
    """Run a method within the limits that the schema declares, and check that its groups honour them."""
    strata = task.strata
    if strata is None:
        return checked_grouping(method, task, seed)
    if not method.honours_limits:
        from sfumato.anonymization.methods.task_parts import group_by_strata

        result = group_by_strata(method, task, strata, seed)
    else:
        result = checked_grouping(method, task, seed)
    first = np.empty(result.count, np.int64)
    first[result.of_row] = strata.of_row  # the stratum of one row of each group
    mixed = np.flatnonzero(first[result.of_row] != strata.of_row)
    if len(mixed):
        one, other = strata.of_row[mixed[0]], first[result.of_row[mixed[0]]]
        raise ParameterError(
            f"the method {method.name} puts rows with {strata.name(int(one))} and rows with {strata.name(int(other))} into "
            "one group, although the schema keeps them apart",
            remedy="Fix the method: keep the strata of the task apart, or leave honours_limits False.",
            key="method",
            value=method.name,
        )
    return result


def checked_grouping(method: Method, task: Task, seed: int) -> Grouping:
    """Run a method, and check that it returns a partition of the rows; anything else is an error that names the class."""
    result: Any = method.group(task, seed)
    place = f"{type(method).__module__}.{type(method).__qualname__}"
    if not isinstance(result, Grouping):
        raise ParameterError(
            f"the method {method.name}: {place}.group() returns {type(result).__name__}, not a Grouping",
            remedy="Fix the method: return Grouping(of_row), with the number of each row's group.",
            key="method",
            value=method.name,
        )
    problem = partition_problem(result.of_row, task.table.rows)
    if problem is not None:
        raise ParameterError(
            f"the method {method.name}: {place}.group() returns {problem}",
            remedy="Fix the method: of_row must contain one whole number per row, numbered from 0 without gaps; "
            "sf.anonymization.renumber numbers any labels so.",
            key="method",
            value=method.name,
        )
    return result


def partition_problem(of_row: Any, rows: int) -> str | None:
    """Return why an array is not a partition of some rows into groups that are numbered from 0; None if it is one.

    >>> partition_problem(np.array([0, 2, 2]), 3)
    'no row in group 1, and rows in group 2'
    """
    groups = np.asarray(of_row)
    if groups.shape != (rows,):
        return f"group numbers of shape {groups.shape} for {rows:,} rows"
    if not np.issubdtype(groups.dtype, np.integer):
        return f"group numbers of type {groups.dtype}, not integers"
    if rows and groups.min() < 0:
        return f"the negative group number {groups.min()}"
    present = np.unique(groups)
    gaps = np.flatnonzero(present != np.arange(len(present)))
    return f"no row in group {gaps[0]}, and rows in group {present[gaps[0]]}" if len(gaps) else None

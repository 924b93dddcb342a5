"""What a principle measures: the groups of a table, and one sensitive attribute in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.attribute import Attribute
from sfumato.data.groups import Groups, Histogram, joint_ranks
from sfumato.data.population import shared_codes
from sfumato.data.table import Table
from sfumato.data.units import UnitValues
from sfumato.distances import Distance, distance_of
from sfumato.distances.default_distance import is_equality_by_default
from sfumato.distances.neighbour_graph import NeighbourGraph, Neighbours, graph_of
from sfumato.errors import ColumnError, DistanceError
from sfumato.exact import written
from sfumato.principles.units_counting import counted_twice


class View:
    """A table's groups with one sensitive attribute. What several principles need is computed once.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> table = Table(pa.table({"age": [30, 30, 41], "ill": ["a", "b", "a"]}), Schema(["age"], ["ill"]))
    >>> View(table, ["ill"]).histogram.distinct.tolist()
    [2, 1]
    """

    def __init__(
        self,
        table: Table,
        sensitive: Sequence[str] | None = None,
        groups: Groups | None = None,
    ) -> None:
        """Take the named sensitive attributes as one; all of the schema's if `sensitive` is None."""
        self.table = table
        self.groups = groups if groups is not None else Groups.of(table)
        self.sensitive = tuple(table.schema.sensitive if sensitive is None else sensitive)
        self.recoding: Any = None
        """How the groups are published, if not by the smallest cells that cover their rows; see `group_cells`."""
        self._population: dict[str, Any] = {}
        """What was read of the population; the views of the attribute in other groups share it."""

    @cached_property
    def attribute(self) -> Attribute:
        """The sensitive attribute."""
        if not self.sensitive:
            raise ColumnError(
                "the schema declares no sensitive column, and this principle requires one",
                remedy='Give a column the role "sensitive".',
            )
        return self.table.attribute(self.components, " + ".join(self.sensitive))

    @property
    def people(self) -> Table | None:
        """The people of the population that the schema declares; None if it declares none."""
        population = self.table.schema.population
        if "people" not in self._population:
            self._population["people"] = None if population is None else population.people_of(self.table)
        people: Table | None = self._population["people"]
        return people

    @property
    def secrets_of_people(self) -> NDArray[np.int64]:
        """For each of the people of the population the number of the sensitive value; -1 if the table does not have it."""
        if "secrets" not in self._population:
            population = self.table.schema.population
            assert population is not None
            self._population["secrets"] = _secrets(self.attribute, population.columns_of(self.table, self.components))
        secrets: NDArray[np.int64] = self._population["secrets"]
        return secrets

    @property
    def components(self) -> list[str]:
        """The columns that the sensitive attribute consists of."""
        return [column for name in self.sensitive for column in self.table.schema.components(name)]

    @cached_property
    def histogram(self) -> Histogram:
        """How many rows have each value in each group; units with at least one such row, if units are counted."""
        return Histogram.of(self.groups, self.attribute, self.unit_values)

    @cached_property
    def unit_values(self) -> UnitValues | None:
        """The distinct values of each unit; None if rows are counted."""
        units = self.groups.units
        return None if units is None else UnitValues.of(units, self.groups.of_row, self.attribute)

    @property
    def values_vary(self) -> bool:
        """Whether some unit has rows with different values in one group."""
        return self.unit_values is not None and self.unit_values.vary

    @cached_property
    def table_counts(self) -> NDArray[np.int64]:
        """How many rows of the whole table have each value; units with at least one such row, if units are counted."""
        units = self.groups.units
        if units is None:
            return self.attribute.counts
        everyone = UnitValues.of(units, np.zeros(len(units.of_row), np.int64), self.attribute)
        return np.bincount(everyone.value, minlength=len(self.attribute))

    def near_counts(self, neighbours: Neighbours) -> NDArray[np.int64]:
        """Return for each entry of the histogram how many rows of the group are near its value, its own included.

        If units are counted: how many units have at least one row that is near it.
        """
        h, values = self.histogram, self.unit_values
        near = neighbours.counts(h.offsets, h.values, h.counts)
        return near if values is None or not values.vary else near - counted_twice(h, values, neighbours)

    def one_row_per_unit(self, wanted_by: str) -> View:
        """Return the view of a table with one row of each unit in each group; values that vary within a unit are an error.

        `wanted_by`: the principle that can count units in no other way.
        """
        groups, schema = self.groups, self.table.schema
        units = groups.units
        if units is None:
            return self
        if self.sensitive and self.values_vary:
            raise ColumnError(
                f"{wanted_by} compares distributions, which are defined for one value per {units.noun} only, and a "
                f"{units.noun} has several values here",
                remedy=f"Publish one value per {units.noun}, such as the first or the worst; or use a principle that counts "
                f"{units.plural}, such as alpha-k-anonymity, frequency-l-diversity or distinct-l-diversity.",
                file=self.table.source,
                column=self.attribute.name,
            )
        _, rows = np.unique(groups.of_row * units.count + units.of_row, return_index=True)
        rows.sort()
        columns = {name: self.table.column(name) for name in (*schema.quasi_identifiers, *schema.sensitive_columns())}
        # the kinds stay those of the whole table, and hierarchies are not read again
        trees = {name: tree for name, tree in schema.hierarchies.items() if hasattr(tree, "build") or name not in columns}
        trees |= {name: tree for name, column in columns.items() if name not in trees and (tree := column.hierarchy)}
        plain = replace(
            schema,
            kinds={**schema.kinds, **{name: column.kind for name, column in columns.items()}},
            hierarchies=trees,
            person_id=None,
            household_id=None,
        )
        return View(self.table.take(rows, plain), self.sensitive, Groups(groups.of_row[rows], groups.count, len(rows)))

    @cached_property
    def distance(self) -> Distance:
        """The distance of the attribute."""
        return distance_of(self.table.schema, self.attribute)

    def graph(self, epsilon: Fraction) -> NeighbourGraph:
        """Return the neighbour graph of the attribute under its distance; ε above 0 needs a distance that has a meaning."""
        if epsilon > 0 and is_equality_by_default(self.table.schema, self.attribute):
            note = self.attribute.columns[0].note
            raise DistanceError(
                f"ε = {written(epsilon)} has no meaning for {self.attribute.name!r}: the column is read as categorical, and "
                f"two categories are equal or not{'' if note is None else f' ({note})'}",
                remedy='Declare kind = "numeric" or "date" if it contains numbers or dates, or a distance; to compare for '
                'equality on purpose, declare kind = "categorical", or write epsilon = 0.',
                column=self.attribute.name,
                value=epsilon,
            )
        return graph_of(self.attribute, self.distance, epsilon)

    def regrouped(self, groups: Groups) -> View:
        """Return the same attribute in other groups of the same table, sharing its values and neighbour graphs."""
        other = View(self.table, self.sensitive, groups)
        if groups.units is self.groups.units and "table_counts" in self.__dict__:
            other.table_counts = self.table_counts
        if self.sensitive:
            other.attribute = self.attribute
        other._population = self._population
        return other

    def as_one_group(self) -> View:
        """Return the same attribute with all rows in one group.

        >>> import pyarrow as pa
        >>> from sfumato.data.schema import Schema
        >>> View(Table(pa.table({"age": [30, 41]}), Schema(["age"]))).as_one_group().groups.sizes.tolist()
        [2]
        """
        return self.regrouped(Groups.of(self.table, ()))


def _secrets(attribute: Attribute, people: Table) -> NDArray[np.int64]:
    """Return the number of each person's value among those of an attribute, whose columns `people` has; -1 for others."""
    codes = [shared_codes(people.column(column.name), column)[0] for column in attribute.columns]
    both = [np.concatenate(pair) for pair in zip(attribute.parts.T, codes, strict=True)]
    numbers = joint_ranks((each, int(each.max()) + 1) for each in both)
    value = np.full(int(numbers.max()) + 1, -1)
    value[numbers[: len(attribute)]] = np.arange(len(attribute))
    return np.asarray(value[numbers[len(attribute) :]])

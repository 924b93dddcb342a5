"""What a principle measures: the groups of a table, and one sensitive attribute in them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

from sfumato.data.attribute import Attribute
from sfumato.data.groups import Groups, Histogram
from sfumato.data.table import Table
from sfumato.distances import Distance, distance_of
from sfumato.distances.default_distance import is_equality_by_default
from sfumato.distances.neighbour_graph import NeighbourGraph, graph_of
from sfumato.errors import ColumnError, DistanceError
from sfumato.exact import written


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

    @cached_property
    def attribute(self) -> Attribute:
        """The sensitive attribute."""
        if not self.sensitive:
            raise ColumnError(
                "the schema declares no sensitive column, and this principle requires one",
                remedy='Give a column the role "sensitive".',
            )
        columns = [column for name in self.sensitive for column in self.table.schema.components(name)]
        return self.table.attribute(columns, " + ".join(self.sensitive))

    @cached_property
    def histogram(self) -> Histogram:
        """How often each value occurs in each group."""
        return Histogram.of(self.groups, self.attribute)

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
        if self.sensitive:
            other.attribute = self.attribute
        return other

    def as_one_group(self) -> View:
        """Return the same attribute with all rows in one group.

        >>> import pyarrow as pa
        >>> from sfumato.data.schema import Schema
        >>> View(Table(pa.table({"age": [30, 41]}), Schema(["age"]))).as_one_group().groups.sizes.tolist()
        [2]
        """
        return self.regrouped(Groups.of(self.table, ()))

"""Guarded people: k, l, ε and δ for the groups that some people could be in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data.schema import Role
from sfumato.data.table import Table
from sfumato.distances.neighbour_graph import NeighbourGraph
from sfumato.errors import ParameterError
from sfumato.exact import Number, Ratios, written
from sfumato.parameters import ParameterRange, whole
from sfumato.plurals import count_of
from sfumato.principles.certificate import Certificate
from sfumato.principles.population_matches import people_matches, refuse_units
from sfumato.principles.principle import Measurement, On, Part, Principle, exactly
from sfumato.principles.stronger_protection import rules_of, set_protection, set_rules
from sfumato.principles.value_rules import is_known, matching_codes
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, ExampleGroup

_FEWEST = 2
"""The fewest people that a rule about a column that identifies people may mean: the rule is published."""


@dataclass(frozen=True)
class GuardedPeople(Principle):
    """A group that covers a guarded person has at least k rows, each value at most 1/l, each row (1−δ)(|G|−1) ε-neighbours.

    In plain words: some people, such as minors, are better hidden than others: whatever group such a person could be in,
    as far as the published cells show, is larger, has more different secrets, or secrets that are farther apart.

    A group covers a person of the original table if its published cells cover all of the person's quasi-identifiers,
    whether or not the person's own row is in it: nobody who knows the person can tell. For a table that is not recoded, the
    cells are its values. The requirement is about all values of such a group. If it were about the secrets of guarded
    people only, who knows the requirement could rule out the more frequent secrets, and would be left with fewer. The level
    is the size of a group over the count of its most frequent value, or its size if l is not given; infinite in a group that
    covers no guarded person. If only k is given, no sensitive attribute is needed.
    State one requirement for each kind of people that needs its own protection, beside those for everybody.

    - `column`: the column that says who is guarded; it need not be published. Its name and the rule are.
    - `values`: the values of that column that guarded people have: a value, a node of the column's hierarchy, an item of
      sets, `(missing)`, or a comparison such as "< 18"; one or several.
    - `l`: each value may make up at most 1/l of such a group; 1 does not limit them.
    - `k`: the smallest number of people in such a group.
    - `epsilon`: the largest distance at which another value is near a value; without it, nearness is not limited.
    - `delta`: the share of the others in such a group that must be farther than that; all of them unless stated.

    Not monotone: a group that covers no guarded person may contain one value only, and its union with a group that covers
    one must not; and the cells of a union may cover a person whom neither group covers.

    Does not protect against learning that somebody is guarded: a group that is unusually large shows that its cells cover
    such a person, and the rule may follow from the quasi-identifiers. People who are not guarded are protected by other
    requirements only. A release alone does not show whom its cells cover: without the original this is not verified.

    Source: Xiao & Tao (2006b), Personalized privacy preservation, SIGMOD, for requirements that differ from person to
    person; Wang & Liu (2010), XColor: protecting general proximity privacy, ICDE, for ε and δ. That all groups count which a
    person could be in is ours.

    >>> GuardedPeople("age", "< 18", l=5, k=10).label
    'guarded people (column = age, values = < 18, l = 5, k = 10)'
    """

    column: str
    values: Any
    l: Number = 1
    k: int = 1
    epsilon: Number | None = None
    delta: Number | None = None
    on: On = None

    name: ClassVar[str] = "guarded-people"
    title: ClassVar[str] = "guarded people"
    family: ClassVar[str] = "diversity"
    scope: ClassVar[Literal["each"]] = "each"
    covers: ClassVar[bool] = False
    uses_distance: ClassVar[bool] = True
    uses_original: ClassVar[bool] = True
    units: ClassVar[Literal["rows"]] = "rows"
    ranges: ClassVar[Mapping[str, ParameterRange]] = {
        "column": ParameterRange("column"),
        "values": ParameterRange("values"),
        "l": ParameterRange("number", "factor", "higher", usual=(2, 20), least=1),
        "k": whole("people", usual=(2, 50)),
        "epsilon": ParameterRange("number", "distance", "higher", usual=(0, "0.25")),
        "delta": ParameterRange("number", "share", "higher", usual=("0.1", 1), most=1),
    }

    def __post_init__(self) -> None:
        if not isinstance(self.column, str) or not self.column:
            raise ParameterError(
                f"{self.name}: column = {self.column!r} is not the name of a column",
                remedy='Name the column that says who is guarded, such as "age".',
                key="column",
                value=self.column,
            )
        set_rules(self)
        set_protection(self, "people")
        object.__setattr__(self, "uses_distance", self.epsilon is not None)
        if self.l == 1 and self.epsilon is None and self.on is None:
            object.__setattr__(self, "scope", "groups")  # k alone needs no sensitive attribute

    def check_table(self, table: Table, attributes: Sequence[tuple[str, ...]]) -> None:
        """Raise an error if the rule means nobody of the table, or names a person, or k is larger than the table."""
        del attributes
        refuse_units(table, self.title)
        column = table.column(self.column)
        for rule in rules_of(self):
            if not is_known(column, rule):
                raise ParameterError(
                    f"{self.name}: no row of {self.column!r} has the value {rule!r}, and no hierarchy contains it",
                    remedy="Write the value as it is in the data, or remove it: nobody would be guarded.",
                    key="values",
                    value=rule,
                    file=table.source,
                )
        count = len(self.guarded(table))
        role = table.schema.role(self.column)
        naming = role is Role.IDENTIFIER or (role is None and 2 * column.size > table.rows)
        if naming and count < _FEWEST:
            raise ParameterError(
                f"{self.name}: the values of {self.column!r} identify people, and the rule, which is published, means "
                f"{count_of(count, 'row')}: it would name a person",
                remedy="Add a column that says who is guarded, such as yes or no, and name that column.",
                key="column",
                value=self.column,
                file=table.source,
            )
        if self.k > table.rows and count:
            raise ParameterError(
                f"k = {self.k} is larger than the table, which contains {table.rows} rows",
                remedy=f"No grouping can reach it: give k at most {table.rows}, or more rows.",
                key="k",
                value=self.k,
                file=table.source,
            )

    def guarded(self, people: Table) -> NDArray[np.int64]:
        """Return the rows of guarded people, ascending."""
        column = people.column(self.column)
        return np.flatnonzero(matching_codes(column, rules_of(self), self.title)[column.codes])

    def measure(self, view: View) -> Measurement:
        """Return the size over the most frequent value, the size and the risk of each group that covers a guarded person."""
        refuse_units(view.table, self.title)
        people = view.original.people(self.title)
        matches = people_matches(view, people, self.guarded(people))
        covering = (matches.people > 0)[matches.of_group].astype(np.int64)
        sizes = view.groups.sizes
        parts = [Part.at_least("k", Ratios(sizes, covering), self.k)]
        if exactly(self.l) > 1:
            parts.insert(0, Part.at_least("l", Ratios(sizes, view.histogram.largest * covering), exactly(self.l)))
        if self.epsilon is not None:
            near = np.maximum.reduceat(view.near_counts(self._graph(view)), view.histogram.starts)
            others = np.where(sizes == 1, 1, near - 1) * covering
            risk = Ratios(others, np.maximum(sizes - 1, 1))
            parts.append(Part.at_most("risk", risk, 1 - exactly(self.delta)))  # type: ignore[arg-type]
        return Measurement(tuple(parts))

    def _graph(self, view: View) -> NeighbourGraph:
        return view.graph(exactly(self.epsilon))  # type: ignore[arg-type]

    def neighbours(self, view: View) -> NeighbourGraph | None:
        """Return the ε-neighbour graph under the declared distance, if ε is given."""
        return None if self.epsilon is None else self._graph(view)

    def certificate(self, view: View) -> Certificate | None:
        """Rule l out by a value that too many guarded people have: each of their groups has l rows for each of them."""
        if view.table.units is not None or self.l == 1:
            return None
        attribute, people = view.attribute, self.guarded(view.table)
        counts = np.bincount(attribute.codes[people], minlength=len(attribute))
        value, rows = int(counts.argmax()), view.table.rows
        count, most = int(counts[value]), int(rows / exactly(self.l))
        if count <= most:
            return None
        sentence = (
            f"{count} guarded people of the {rows} rows have the value {attribute.label(value)}; groups of which at most "
            f"1/{written(exactly(self.l))} may have it can hold {most} of them"
        )
        return Certificate("crowd", sentence, (attribute.label(value),), count, rows, most)

    @classmethod
    def example(cls) -> Example:
        """Return two groups of guarded people: in one half have the flu, in the other all have other illnesses."""
        return Example(
            cls("age", ("0-9", "10-17"), l=3),
            ("age",),
            "illness",
            (
                ExampleGroup(("0-9",), ("flu", "flu", "gout", "ulcer"), "flu is the illness of 2 of the 4", "4/2"),
                ExampleGroup(("10-17",), ("flu", "gout", "ulcer"), "each illness is that of 1 of the 3", "3/1"),
            ),
        )

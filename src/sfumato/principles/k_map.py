"""k-map: every group matches at least k people of a population."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from sfumato.data.table import Table
from sfumato.errors import ParameterError
from sfumato.exact import Ratios
from sfumato.parameters import ParameterRange, whole
from sfumato.principles.certificate import Certificate
from sfumato.principles.population_matches import check_population, population_matches
from sfumato.principles.principle import Measurement, Part, Principle
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, ExampleGroup


@dataclass(frozen=True)
class KMap(Principle):
    """At least k people of the population match every group: the published cells cover all their quasi-identifiers.

    In plain words: who knows somebody's quasi-identifiers, but not whether that person is in the table, is left with at
    least k people whom a row could be about.

    The population is a table that the schema declares, such as a register from which the people were drawn; the table's
    people are among them. The cells are those that are published, so under local recoding a person may match several
    groups, and counts for each. For a table that is not recoded, the cells are its values.

    - `k`: the smallest number of people of the population who match a group.

    Monotone.

    Does not protect against who knows that a person is in the table: a group may contain one row. Nor does it protect
    against learning the secret of everybody who matches a group, as sensitive values are not considered. It holds for the
    population that was given, and says nothing about people who are not listed there.

    Source: Sweeney (2001), Computational disclosure control, PhD thesis, MIT; El Emam & Dankar (2008), Protecting privacy
    using k-anonymity, JAMIA 15(5).

    >>> KMap(5).label
    'k-map (k = 5)'
    """

    k: int

    name: ClassVar[str] = "k-map"
    title: ClassVar[str] = "k-map"
    family: ClassVar[str] = "membership"
    scope: ClassVar[Literal["groups"]] = "groups"
    # the cells of a union cover what those of its parts cover
    monotone: ClassVar[bool] = True
    absorbing: ClassVar[bool] = True
    relative: ClassVar[bool] = False
    uses_population: ClassVar[bool] = True
    units: ClassVar[Literal["rows"]] = "rows"
    ranges: ClassVar[Mapping[str, ParameterRange]] = {"k": whole("population", (2, 50))}

    def __post_init__(self) -> None:
        self.check_ranges()

    def check_table(self, table: Table, attributes: Sequence[tuple[str, ...]]) -> None:
        """Raise an error if the table has no population, is not part of it, or the population has fewer than k people."""
        del attributes
        people = check_population(table, self.title)
        if people.rows < self.k:
            raise ParameterError(
                f"k = {self.k} is larger than the population, which contains {people.rows:,} people",
                remedy=f"No grouping can reach it: give k at most {people.rows}, or a larger population.",
                key="k",
                value=self.k,
                file=people.source,
            )

    def measure(self, view: View) -> Measurement:
        """Return for each group how many people of the population match it; see `population_matches` for the cost."""
        matches = population_matches(view)
        return Measurement((Part.at_least("k", Ratios.whole(matches.people[matches.of_group]), self.k),))

    def certificate(self, view: View) -> Certificate | None:
        """Return none: a method may publish wider cells than the smallest ones that cover the table."""
        del view
        return None

    @classmethod
    def example(cls) -> Example:
        """Return a row that three people of a register match, and two rows that only their own two people match."""
        return Example(
            cls(k=3),
            ("age",),
            "illness",
            (
                ExampleGroup(("20-29",), ("flu",), "one row, and three people of the register are 20-29", "3"),
                ExampleGroup(("30-39",), ("gout", "flu"), "two rows, and the register has no others of 30-39", "2"),
            ),
            population=((("20-29",), 3), (("30-39",), 2)),
        )

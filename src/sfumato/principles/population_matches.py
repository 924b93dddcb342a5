"""Which people of a population the published cells of groups cover.

A person matches a group if each of the person's quasi-identifiers is covered by the cell that the group publishes for it.
Groups that publish the same cells match the same people. Where cells of different groups overlap, as they may under local
recoding, a person may match several groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.column import Column
from sfumato.data.groups import combination_counts, joint_ranks
from sfumato.data.population import check_people
from sfumato.data.table import Table
from sfumato.errors import ParameterError
from sfumato.principles.view import View
from sfumato.registry import CELL_READER, RECODER, load

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells that groups publish for one quasi-identifier."""

    texts: tuple[str | None, ...]
    """The distinct cells."""
    of_group: Integers
    """For each group the number of its cell."""
    recoding: str
    """How they are to be read: "interval", "ancestor" or "set"."""


@dataclass(frozen=True, eq=False)
class Matches:
    """The people that each distinct combination of cells matches. People with equal quasi-identifiers are one kind."""

    of_group: Integers
    """For each group the number of its combination of cells."""
    kinds: tuple[Integers, ...]
    """For each combination the kinds of people that match it, ascending."""
    weights: Integers
    """For each kind of people how many there are."""

    @property
    def people(self) -> Integers:
        """For each combination how many people match it."""
        return np.array([int(self.weights[kinds].sum()) for kinds in self.kinds], np.int64)

    @property
    def unmatched(self) -> int:
        """How many people match no group."""
        some = np.zeros(len(self.weights), bool)
        for kinds in self.kinds:
            some[kinds] = True
        return int(self.weights[~some].sum())


def population_matches(view: View) -> Matches:
    """Return the people of the population that match each group of a view.

    Cost: for each distinct combination of cells the kinds of people that its first cells match; those that combinations
    share are counted once.
    """
    people = population_of(view)
    columns = [people.column(name) for name in view.table.schema.quasi_identifiers]
    if not columns:
        everyone = np.array([people.rows], np.int64)
        return Matches(np.zeros(view.groups.count, np.int64), (np.array([0]),), everyone)
    codes, weights = combination_counts([column.codes for column in columns], [column.domain for column in columns])
    cells = group_cells(view)
    of_group = joint_ranks([(column.of_group, len(column.texts)) for column in cells])
    _, first = np.unique(of_group, return_index=True)  # ranks ascend with the cells, column by column
    combinations = np.column_stack([column.of_group[first] for column in cells])
    readers = [cell_reader(column, of) for column, of in zip(cells, columns, strict=True)]
    return Matches(of_group, tuple(_matched(combinations, readers, codes)), weights)


def population_of(view: View) -> Table:
    """Return the people of the population; a schema that declares none is an error."""
    if view.people is None:
        raise _no_population()
    return view.people


def cell_reader(cells: Cells, column: Column) -> Any:
    """Return the reader of published cells that says which values of a column each covers."""
    return load(CELL_READER)(list(cells.texts), column, cells.recoding)


def _matched(combinations: Integers, readers: list[Any], codes: Integers) -> Iterator[Integers]:
    """Yield for each combination of cells the rows of `codes` that match it; combinations are in lexicographic order."""
    narrowed = [np.arange(len(codes))]  # those that the first cells of the last combination match, cell by cell
    last: Integers | None = None
    for combination in combinations:
        same = 0 if last is None else int(np.argmax(combination != last))  # distinct combinations differ somewhere
        del narrowed[same + 1 :]
        for position in range(same, len(readers)):
            here = narrowed[-1]
            covered = readers[position].covers(combination[position : position + 1], codes[here, position])
            narrowed.append(here[covered])
        last = combination
        yield narrowed[-1]


def group_cells(view: View) -> list[Cells]:
    """Return the cells that the groups of a view publish for each quasi-identifier.

    They are the texts of the table if it is published already; else those of the view's recoding, by default the smallest
    that cover the rows of each group.
    """
    population = view.table.schema.population
    names = view.table.schema.quasi_identifiers
    if population is not None and population.recodings is not None:
        first = view.groups.first_rows
        # a damaged release may not state how a column is published; then its cells cover what a set would
        stated = [population.recodings.get(name, "set") for name in names]
        return [_published(view.table.column(name), first, how) for name, how in zip(names, stated, strict=True)]
    recoding = load(RECODER)(view.table, view.groups) if view.recoding is None else view.recoding
    return [_recoded(each.cells, each.cell, str(each.domain.recoding)) for each in recoding.columns]


def _recoded(texts: Sequence[str | None], of_group: Integers, recoding: str) -> Cells:
    """Return cells of which several may have the same text: a node is the same whichever of its leaves occur."""
    number = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    return Cells(tuple(number), np.array([number[text] for text in texts], np.int64)[of_group], recoding)


def _published(column: Column, rows: Integers, recoding: str) -> Cells:
    texts: list[str | None] = [column.label(code) for code in range(column.size)]
    return Cells((*texts, None), column.codes[rows].astype(np.int64), recoding)


def check_population(table: Table, title: str) -> Table:
    """Check that a table has a population that contains its people, and that each row is one person; return the people."""
    schema = table.schema
    if schema.population is None:
        raise _no_population(title)
    if table.units is not None:
        key = "household_id" if table.units.noun == "household" else "person_id"
        raise ParameterError(
            f"{title} takes each row for a person, and the schema declares {key}",
            remedy=f"Reduce the table to one row per {table.units.noun} and remove {key}.",
            key=key,
            file=table.source,
            value=getattr(schema, key),
        )
    people = schema.population.people_of(table)
    if schema.population.recodings is None:
        check_people(table, people)
    return people


def _no_population(title: str = "the principle") -> ParameterError:
    return ParameterError(
        f"{title} compares groups with a population, and none is declared",
        remedy="Add [population] with path = … to the config; in Python, population=sf.Population(…) to the schema.",
        key="population",
    )

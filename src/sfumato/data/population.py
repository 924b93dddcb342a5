"""The population that the people of a table were drawn from, for principles that compare a release with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.column import Column
from sfumato.data.groups import joint_ranks
from sfumato.data.hierarchy import HierarchyBuilder
from sfumato.data.schema import Kind, Schema
from sfumato.data.table import Table
from sfumato.errors import CellError, ParameterError, SfumatoError
from sfumato.plurals import count_of
from sfumato.registry import TABLE_READER, load

_BY_COLUMN = ("kinds", "orders", "hierarchies", "separators", "decimals", "formats", "timezones", "ages")
"""The fields of a schema that declare how single columns are read."""


class Population:
    """The people from whom those of a table were drawn, such as a register: a table with one row for each person.

    `data`: a path, a database URI, a frame, or a Table. It contains the quasi-identifiers of the table under the same
    names, which are read as the schema of the table declares, and for credibility the sensitive columns; other columns are
    ignored. The people of the table are among its people. `options`: how to read a file, as arguments of `sf.read_table`.
    Nothing is read before it is needed, and nothing of it is published: neither `repr` nor a pickle contains it.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> register = sf.Population(pa.table({"age": [30, 30, 31, 50, 51]}))
    >>> schema = sf.Schema(["age"], population=register)
    >>> sf.audit(pa.table({"age": [30, 51]}), schema, sf.KMap(2))[0].measurement.parts[0].levels.numerators.tolist()
    [2, 1]
    """

    def __init__(self, data: Any, options: Mapping[str, str] | None = None) -> None:
        self._data = data
        self._options = dict(options or {})
        self._schema: Schema | None = None
        self._read: dict[str, Table] = {}
        self._recodings: dict[str, str] | None = None

    @property
    def recodings(self) -> Mapping[str, str] | None:
        """How each quasi-identifier is published, for a table whose quasi-identifiers are published cells; else None."""
        return self._recodings

    def __repr__(self) -> str:
        """Show how many people there are if that is known, never cells or where they are."""
        known = next(iter(self._read.values()), self._data)
        rows = getattr(known, "rows", getattr(known, "num_rows", None))
        return f"<Population: {rows:,} people>" if isinstance(rows, int) else "<Population>"

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the people and where they are: a pickle holds only what may be published."""
        return {**vars(self), "_data": None, "_options": {}, "_read": {}}

    def __copy__(self) -> Population:
        return self

    def __deepcopy__(self, memo: Any) -> Population:
        return self

    def section(self) -> dict[str, str] | None:
        """Return the population as a config names it; None if it is not a file or a database."""
        return {"path": str(self._data), **self._options} if isinstance(self._data, str | Path) else None

    def check_readable(self, schema: Schema) -> None:
        """Raise an error if the people cannot be read as a schema declares, which states each quasi-identifier's kind."""
        self._with(_of_quasi_identifiers(schema, {}))

    def published(self, schema: Schema, recodings: Mapping[str, str]) -> Population:
        """Return the population for the published form of a table: its cells are texts, and their kinds not to be seen.

        `schema`: that of the original, with the kind of each quasi-identifier stated.
        """
        other = Population(self._data, self._options)
        other._schema, other._recodings = _of_quasi_identifiers(schema, {}), dict(recodings)
        other._read = self._read  # a file is read once
        return other

    def people_of(self, table: Table) -> Table:
        """Return the people, with the quasi-identifiers of a table read as they are in that table."""
        if self._schema is not None:
            return self._with(self._schema)
        schema = table.schema
        return self._with(_of_quasi_identifiers(schema, {name: table.column(name) for name in schema.quasi_identifiers}))

    def columns_of(self, table: Table, names: Sequence[str]) -> Table:
        """Return the people, with some columns that are published unchanged, read as they are in a table."""
        return self._with(_of_columns(names, table.schema, {name: table.column(name) for name in names}))

    def _with(self, schema: Schema) -> Table:
        if self._data is None:
            raise ParameterError(
                "the population is not available: a pickle holds only what may be published",
                remedy="Declare the population again: replace(schema, population=sf.Population(…)).",
                key="population",
            )
        if "table" not in self._read:
            own = isinstance(self._data, Table)
            self._read["table"] = self._data if own else load(TABLE_READER)(self._data, Schema(), **self._options)
        read = self._read["table"]
        try:
            # a table of its own: what is encoded depends on the kinds of the other table
            people = Table(read.data, schema, read.source, read.untyped)
            for name in schema.quasi_identifiers:
                people.column(name)
        except SfumatoError as error:
            raise error.inside(None, "the population") from error
        return people


def _of_quasi_identifiers(schema: Schema, columns: Mapping[str, Column]) -> Schema:
    """Return the schema of the quasi-identifiers alone; `columns`: these as they were read, where that is left open."""
    return _of_columns(schema.quasi_identifiers, schema, columns)


def _of_columns(own: Sequence[str], schema: Schema, columns: Mapping[str, Column]) -> Schema:
    """Return the schema of some columns alone, as quasi-identifiers.

    A hierarchy that depends on the rows of the table is that of the table.
    """
    declared: dict[str, Any] = {
        key: {name: value for name, value in getattr(schema, key).items() if name in own} for key in _BY_COLUMN
    }
    for name, column in columns.items():
        declared["kinds"][name] = column.kind
        if column.kind is Kind.ORDINAL:
            declared["orders"][name] = tuple(column.texts)
        if column.timezone is not None:
            declared["timezones"][name] = column.timezone
        tree = declared["hierarchies"].get(name)
        if isinstance(tree, HierarchyBuilder):
            declared["hierarchies"][name] = tree.resolved(column)
        elif tree is not None and not hasattr(tree, "build"):
            declared["hierarchies"][name] = column.hierarchy
    return Schema(own, missing=replace(schema.missing, policy="value"), undeclared="drop", **declared)


def check_people(table: Table, people: Table) -> None:
    """Check that the people of a table are among those of its population, as far as the quasi-identifiers show.

    Each combination of quasi-identifiers must occur in the population at least as often as in the table.
    """
    names = table.schema.quasi_identifiers
    if not names:
        return
    both = [shared_codes(table.column(name), people.column(name)) for name in names]
    numbers = joint_ranks((np.concatenate([theirs, mine]), int(theirs.max()) + 2) for mine, theirs in both)
    in_population = np.bincount(numbers[: people.rows], minlength=int(numbers.max()) + 1)
    in_table = np.bincount(numbers[people.rows :], minlength=len(in_population))
    lacking = np.flatnonzero((in_table > in_population)[numbers[people.rows :]])
    if not len(lacking):
        return
    number = int(numbers[people.rows + lacking[0]])
    raise CellError(
        f"the table has {count_of(int(in_table[number]), 'row')} with the quasi-identifiers of this row, and the population "
        f"{in_population[number]:,}: the people of the table are not all among those of the population",
        remedy="Give a population that contains everybody of the table, with values written in the same way.",
        file=table.source,
        row=int(lacking[0]) + 1,
    )


def shared_codes(mine: Column, theirs: Column) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the codes of two columns in numbers that they share; a value that the other lacks has the number after."""
    known = {_value(theirs, code): code for code in range(theirs.size)}
    absent = int(theirs.codes.max(initial=0)) + 1
    number = [known.get(_value(mine, code), absent) for code in range(mine.size)]
    missing = theirs.size if theirs.has_missing else absent
    return np.array([*number, missing], np.int64)[mine.codes], theirs.codes.astype(np.int64)


def _value(column: Column, code: int) -> Any:
    """Return a value in a form that is the same in two columns of one kind."""
    if column.numbers is not None:
        return column.numbers[code]
    return column.sets[code] if column.sets else column.label(code)

"""A dictionary: what an attacker may know, as a table of identities and attributes (Lebanon et al. 2006, Section 2.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.column import Column
from sfumato.data.schema import Kind, Missing, Schema
from sfumato.data.table import Table, unknown_column
from sfumato.errors import CellError, ColumnError, ParameterError, SfumatoError
from sfumato.exact import nearest_float
from sfumato.io.read_table import as_table
from sfumato.plurals import count_of
from sfumato.summaries import listed

if TYPE_CHECKING:
    from sfumato.disclosure.dictionaries.dictionary_order import DictionaryOrder

_LEAST_FLOAT = Fraction(1, 2**1022)
"""Below this, floats lose digits, and finally all of them."""

_GREATEST_SUM = 2**1000
"""Sums below this are far from the largest float."""


class Dictionary:
    """Identities and their attributes, as an attacker may have them: a phone book, a voter list, the table itself.

    `data` is a file (CSV, Parquet, Excel), a database URI, a frame of pandas, polars or pyarrow, or a Table. `identity`
    is the column that names the individuals, each once; without it each row is an individual, named by its row number.
    `columns` maps attributes of the records to columns of the dictionary where the names differ. `missing` lists the
    texts that mean a missing value; by default they are those of the records. A missing value is consistent with
    anything.

    `weight` is a column that says how strongly the attacker leans towards each individual; without it, towards all alike.
    With weights, the chance of identification is the share of the record's own individual, hence 0 for a record whose
    individual is not known, not in the dictionary or not consistent. Without weights it is one over the number of
    consistent individuals, whether or not the right one is among them. Only the ratios of weights matter, so all may be
    scaled alike.

    >>> book = Dictionary(
    ...     pa.table({"id": ["a", "b"], "last_name": ["Rossi", None]}),
    ...     identity="id", columns={"surname": "last_name"}, name="phone book",
    ... )
    >>> book
    <dictionary 'phone book': 2 individuals, surname>
    >>> book.identities
    ['a', 'b']
    """

    def __init__(
        self,
        data: str | Path | Table | Any,
        *,
        identity: str | None = None,
        columns: Mapping[str, str] | None = None,
        name: str = "dictionary",
        weight: str | None = None,
        missing: Missing | str | Sequence[str] | None = None,
    ) -> None:
        if not (isinstance(name, str) and name):
            raise ParameterError(
                f"invalid name {name!r} for a dictionary",
                remedy='Pass a non-empty text, such as name="phone book".',
                key="name",
                value=name,
            )
        if weight is not None and weight == identity:
            raise ParameterError(
                f"dictionary {name!r}: the column {weight!r} is declared as both identity and weight",
                remedy="Declare a column of numbers as the weight, or omit it.",
                key="weight",
                value=weight,
            )
        self.name = name
        self.identity = identity
        if isinstance(missing, str | Sequence):
            missing = Missing((missing,) if isinstance(missing, str) else tuple(missing))
        elif missing is not None and not isinstance(missing, Missing):
            raise ParameterError(
                f"invalid missing = {missing!r}",
                remedy='List the texts that mean a missing value, such as missing=["", "?"].',
                key="missing",
                value=missing,
            )
        self.missing: Missing | None = missing
        """What counts as missing; None if it is what counts as missing in the records."""
        try:
            self.table = data if isinstance(data, Table) else _deduplicate_texts(as_table(data, Schema()))
            if self.missing is None and isinstance(data, Table):
                self.missing = Missing(data.schema.missing.values)
            self.attributes = self._attributes(columns or {}, weight)
            """The column of the dictionary for each attribute."""
            self._names = None if identity is None else self._unique(identity)
            self.weights = np.zeros(0) if weight is None else self._weights(weight)
            """How strongly the attacker leans towards each individual; empty if towards all alike."""
        except SfumatoError as error:
            raise error.inside(None, self.title) from error

    @classmethod
    def of(cls, table: Table, identity: str | None = None, name: str = "the table itself") -> Dictionary:
        """Take the records' own table as a dictionary, as k-anonymity does (Lebanon et al. 2006, Section 4).

        >>> people = Table(pa.table({"age": [30, 41]}), Schema(["age"]))
        >>> Dictionary.of(people)
        <dictionary 'the table itself': 2 individuals, age>
        """
        return cls(table, identity=identity, name=name)

    def __repr__(self) -> str:
        attributes = listed(list(self.attributes))
        return f"<{self.title}: {count_of(self.individuals, 'individual')}, {attributes}>"

    @property
    def title(self) -> str:
        """The name in messages."""
        return f"dictionary {self.name!r}"

    @property
    def individuals(self) -> int:
        """The number of individuals."""
        return self.table.rows

    @cached_property
    def identities(self) -> list[str]:
        """The name of each individual: its identity, or its row number (from 1) without an identity column."""
        if self._names is None:
            return [str(row + 1) for row in range(self.individuals)]
        return [self._names.label(code) for code in self._names.codes.tolist()]

    def find_individuals(self, names: Sequence[str]) -> NDArray[np.int64]:
        """The number of the individual with each name; -1 if there is none."""
        from pyarrow import compute

        positions = compute.index_in(pa.array(names, pa.string()), pa.array(self.identities, pa.string()))
        return np.asarray(positions.fill_null(-1)).astype(np.int64)

    def column(self, attribute: str, kind: Kind, schema: Schema) -> Column:
        """Read an attribute of the individuals as a column of this kind, as the records' schema declares it.

        If the dictionary lacks the attribute, every value is missing.
        """
        name = self.attributes.get(attribute, attribute)
        only = {name: kind}
        declared = Schema(
            kinds=only,
            orders={name: schema.orders[attribute]} if kind is Kind.ORDINAL else {},
            separators={name: schema.separators[attribute]} if attribute in schema.separators else {},
            missing=self.missing or Missing(schema.missing.values),
        )
        try:
            if attribute in self.attributes and kind is Kind.DATE:
                return self._dates(name, attribute, declared, schema)
            if attribute not in self.attributes:
                return Table(pa.table({name: pa.nulls(self.individuals, pa.string())}), declared).column(name)
            return self._with(declared).column(name)
        except SfumatoError as error:
            raise error.inside(None, self.title) from error

    def _dates(self, name: str, attribute: str, declared: Schema, schema: Schema) -> Column:
        """Read dates in the format that is detected; in that of the records if it is not clear."""
        zones = {name: schema.timezones[attribute]} if attribute in schema.timezones else {}
        declared = replace(declared, timezones=zones)
        try:
            return self._with(declared).column(name)
        except SfumatoError:
            if attribute not in schema.formats:
                raise
            return self._with(replace(declared, formats={name: schema.formats[attribute]})).column(name)

    def precedes(self, other: Dictionary, *, like: Table | None = None) -> DictionaryOrder:
        """Check whether this dictionary precedes (⪯) another (Lebanon et al. 2006, Definition 8); see `precedes`."""
        from sfumato.disclosure.dictionaries.dictionary_order import precedes

        return precedes(self, other, like=like)

    def _with(self, schema: Schema) -> Table:
        return Table(self.table.data, schema, self.table.source, untyped=self.table.untyped)

    def _attributes(self, columns: Mapping[str, str], weight: str | None) -> dict[str, str]:
        columns_of_table = self.table.data.column_names
        if not isinstance(columns, Mapping) or None in (*columns, *columns.values()):
            raise ParameterError(
                "invalid columns: expected a mapping from attributes to columns",
                remedy='Map an attribute of the records to a column of the dictionary, such as {"surname": "last_name"}.',
                key="columns",
                value=columns,
            )
        for column in (self.identity, weight, *columns.values()):
            if column is not None and column not in columns_of_table:
                raise unknown_column(str(column), columns_of_table, self.table.source)
        taken = {*columns.values(), self.identity, weight}
        own = {column: column for column in columns_of_table if column not in taken}
        return own | dict(columns)

    def _unique(self, identity: str) -> Column:
        """The column of identities; raise an error at a missing or repeated one."""
        column = self._with(Schema(missing=self.missing or Missing())).column(identity)
        where: dict[str, Any] = {"file": self.table.source, "column": identity}
        if column.has_missing:
            row = int(np.argmax(column.codes == column.size)) + 1
            raise CellError(
                "the identity is missing",
                remedy="Fill in the identity, or omit `identity` to identify individuals by row.",
                row=row,
                **where,
            )
        if column.size < self.individuals:
            twice = int(np.argmax(np.bincount(column.codes) > 1))
            first, second = (np.flatnonzero(column.codes == twice)[:2] + 1).tolist()
            value = column.label(twice)
            raise CellError(
                f"the identity {value!r} occurs in row {first} and in row {second}",
                remedy="Give every individual one row, or omit `identity` if every row is an individual.",
                row=second,
                value=value,
                **where,
            )
        return column

    def _weights(self, weight: str) -> NDArray[np.float64]:
        column = self._with(Schema(kinds={weight: Kind.NUMERIC}, missing=self.missing or Missing())).column(weight)
        where: dict[str, Any] = {"file": self.table.source, "column": weight}
        if column.has_missing:
            row = int(np.argmax(column.codes == column.size)) + 1
            raise CellError("the weight is missing", remedy="Write a number that is at least 0.", row=row, **where)
        assert column.numbers is not None
        if column.numbers[0] < 0:  # numbers ascend
            row, value = int(np.argmax(column.codes == 0)) + 1, column.label(0)
            raise CellError(
                f"the weight {value} is negative", remedy="Write a number that is at least 0.", row=row, value=value, **where
            )
        if column.numbers[column.size - 1] == 0:
            raise ColumnError(
                "all weights are 0", remedy="Give at least one individual a weight above 0, or omit the weight.", **where
            )
        numbers = [column.numbers[code] for code in range(column.size)]
        total = sum((number * int(n) for number, n in zip(numbers, np.bincount(column.codes), strict=True)), Fraction(0))
        least = next(code for code, number in enumerate(numbers) if number > 0)
        if numbers[least] < _LEAST_FLOAT * total:
            row, value = int(np.argmax(column.codes == least)) + 1, column.label(least)
            raise CellError(
                f"the weight {value} is too small next to {column.label(column.size - 1)}: the chance would round to 0",
                remedy="Write 0 if the attacker never picks the individual, or a larger number.",
                row=row,
                value=value,
                **where,
            )
        scale = Fraction(1)
        # only ratios matter, so that all weights may be scaled; a power of ten keeps their digits
        if not (numbers[least] >= _LEAST_FLOAT and total < _GREATEST_SUM):
            scale = Fraction(10) ** -_magnitude(numbers[-1])
        return np.array([nearest_float(number * scale) for number in numbers])[column.codes]


def _magnitude(number: Fraction) -> int:
    """The power of ten of a positive number, off by one at most."""
    return round((number.numerator.bit_length() - number.denominator.bit_length()) * math.log10(2))


def _deduplicate_texts(table: Table) -> Table:
    """Return the same table with each distinct text of a column stored once."""
    columns = [
        column.dictionary_encode() if pa.types.is_string(column.type) or pa.types.is_large_string(column.type) else column
        for column in table.data.columns
    ]
    data = pa.Table.from_arrays(columns, table.data.column_names).unify_dictionaries()
    return Table(data, table.schema, table.source, untyped=table.untyped, notes=table.notes)

"""What an attacker may know: a table of identities and attributes (paper 002, Section 2.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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

if TYPE_CHECKING:
    from sfumato.disclosure.dictionaries.dictionary_order import DictionaryOrder

_LEAST_FLOAT = Fraction(1, 2**1022)
"""Below this floats lose digits, and then all."""

_GREATEST_SUM = 2**1000
"""Sums below this are far from what floats can hold."""


class Dictionary:
    """Identities and their attributes, as an attacker may have them: a phone book, a voter list, the table itself.

    `data` is a file (CSV, Parquet, Excel), a database URI, a frame of pandas, polars or pyarrow, or a Table. `identity` is
    the column that names the individuals, each once; without it each row is an individual, named by its row number.
    `columns` says under which column the dictionary has an attribute of the records, where the names differ. `weight` is a
    column that tells how much the attacker leans to each individual; without it to all alike. With weights the chance of
    identification is the share of the record's own individual, hence 0 for a record whose individual is not known, not in
    the dictionary or not consistent; without them it is one over the number of consistent individuals, whether or not the
    right one is among them. Only the shares of weights matter, so all may be scaled alike. A missing value is consistent
    with anything; `missing` lists the texts that mean it, and if it is left out they are those of the records.

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
                f"name = {name!r} is not what a dictionary can be called",
                remedy='Write a text, such as name="phone book".',
                key="name",
                value=name,
            )
        if weight is not None and weight == identity:
            raise ParameterError(
                f"dictionary {name!r}: the column {weight!r} is both its identity and its weight",
                remedy="Name a column of numbers as the weight, or leave it out.",
                key="weight",
                value=weight,
            )
        self.name = name
        self.identity = identity
        if isinstance(missing, str | Sequence):
            missing = Missing((missing,) if isinstance(missing, str) else tuple(missing))
        elif missing is not None and not isinstance(missing, Missing):
            raise ParameterError(
                f"missing = {missing!r} is not what counts as missing",
                remedy='List the texts that do, such as missing=["", "?"].',
                key="missing",
                value=missing,
            )
        self.missing: Missing | None = missing
        """What counts as missing; None if it is what does so in the records."""
        try:
            self.table = data if isinstance(data, Table) else _kept_once(as_table(data, Schema()))
            if self.missing is None and isinstance(data, Table):
                self.missing = Missing(data.schema.missing.values)
            self.attributes = self._attributes(columns or {}, weight)
            """Under which column the dictionary has each attribute."""
            self._names = None if identity is None else self._unique(identity)
            self.weights = np.zeros(0) if weight is None else self._weights(weight)
            """How much the attacker leans to each individual; empty if to all alike."""
        except SfumatoError as error:
            raise error.inside(None, self.title) from error

    @classmethod
    def of(cls, table: Table, identity: str | None = None, name: str = "the table itself") -> Dictionary:
        """The records' own table as a dictionary: what k-anonymity takes the attacker to have (paper 002, Section 4).

        >>> people = Table(pa.table({"age": [30, 41]}), Schema(["age"]))
        >>> Dictionary.of(people)
        <dictionary 'the table itself': 2 individuals, age>
        """
        return cls(table, identity=identity, name=name)

    def __repr__(self) -> str:
        known = ", ".join(self.attributes)
        return f"<{self.title}: {count_of(self.individuals, 'individual')}, {known}>"

    @property
    def title(self) -> str:
        """What messages call it."""
        return f"dictionary {self.name!r}"

    @property
    def individuals(self) -> int:
        """The number of individuals."""
        return self.table.rows

    @cached_property
    def identities(self) -> list[str]:
        """The name of each individual: its identity, or its row number (from 1) if there is no such column."""
        if self._names is None:
            return [str(row + 1) for row in range(self.individuals)]
        return [self._names.label(code) for code in self._names.codes.tolist()]

    def whose(self, names: Sequence[str]) -> NDArray[np.int64]:
        """The individual that each name belongs to, by number; -1 if it is nobody's."""
        from pyarrow import compute

        found = compute.index_in(pa.array(names, pa.string()), pa.array(self.identities, pa.string()))
        return np.asarray(found.fill_null(-1)).astype(np.int64)

    def column(self, attribute: str, kind: Kind, schema: Schema) -> Column:
        """What the individuals have of an attribute, read as a column of this kind as the records' schema declares it.

        Of an attribute that the dictionary lacks nobody has a value.
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
            if attribute not in self.attributes:
                return Table(pa.table({name: pa.nulls(self.individuals, pa.string())}), declared).column(name)
            return self._with(declared).column(name)
        except SfumatoError as error:
            raise error.inside(None, self.title) from error

    def precedes(self, other: Dictionary, *, like: Table | None = None) -> DictionaryOrder:
        """Check whether this dictionary precedes (⪯) another (Lebanon et al. 2006, Definition 8); see `precedes`."""
        from sfumato.disclosure.dictionaries.dictionary_order import precedes

        return precedes(self, other, like=like)

    def _with(self, schema: Schema) -> Table:
        return Table(self.table.data, schema, self.table.source, untyped=self.table.untyped)

    def _attributes(self, columns: Mapping[str, str], weight: str | None) -> dict[str, str]:
        known = self.table.data.column_names
        if not isinstance(columns, Mapping) or None in (*columns, *columns.values()):
            raise ParameterError(
                "columns does not map attributes to columns",
                remedy='Write the records\' attribute and the dictionary\'s column, such as {"surname": "last_name"}.',
                key="columns",
                value=columns,
            )
        for column in (self.identity, weight, *columns.values()):
            if column is not None and column not in known:
                raise unknown_column(str(column), known, self.table.source)
        taken = {*columns.values(), self.identity, weight}
        own = {column: column for column in known if column not in taken}
        return own | dict(columns)

    def _unique(self, identity: str) -> Column:
        """The column of identities; a name that is missing or that two rows have is an error."""
        column = self._with(Schema(missing=self.missing or Missing())).column(identity)
        where: dict[str, Any] = {"file": self.table.source, "column": identity}
        if column.has_missing:
            row = int(np.argmax(column.codes == column.size)) + 1
            raise CellError(
                "the identity is missing",
                remedy="Name the individual, or leave `identity` out to name them by row.",
                row=row,
                **where,
            )
        if column.size < self.individuals:
            twice = int(np.argmax(np.bincount(column.codes) > 1))
            first, second = (np.flatnonzero(column.codes == twice)[:2] + 1).tolist()
            value = column.label(twice)
            raise CellError(
                f"the identity {value!r} stands in row {first} and in row {second}",
                remedy="Give every individual one row, or leave `identity` out if every row is an individual.",
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
            raise CellError("the weight is missing", remedy="Write a number, 0 or more.", row=row, **where)
        assert column.numbers is not None
        if column.numbers[0] < 0:  # numbers ascend
            row, value = int(np.argmax(column.codes == 0)) + 1, column.label(0)
            raise CellError(
                f"the weight {value} is negative", remedy="Write a number, 0 or more.", row=row, value=value, **where
            )
        if column.numbers[column.size - 1] == 0:
            raise ColumnError("all weights are 0", remedy="Give somebody a weight above 0, or leave it out.", **where)
        numbers = [column.numbers[code] for code in range(column.size)]
        total = sum((number * int(n) for number, n in zip(numbers, np.bincount(column.codes), strict=True)), Fraction(0))
        least = next(code for code, number in enumerate(numbers) if number > 0)
        if numbers[least] < _LEAST_FLOAT * total:
            row, value = int(np.argmax(column.codes == least)) + 1, column.label(least)
            raise CellError(
                f"the weight {value} is too small beside {column.label(column.size - 1)}: the chance would round to 0",
                remedy="Write 0 if the attacker never picks the individual, or a larger number.",
                row=row,
                value=value,
                **where,
            )
        scale = Fraction(1)
        if not (numbers[least] >= _LEAST_FLOAT and total < _GREATEST_SUM):  # only the shares matter; ten keeps the digits
            scale = Fraction(10) ** -_magnitude(numbers[-1])
        return np.array([nearest_float(number * scale) for number in numbers])[column.codes]


def _magnitude(number: Fraction) -> int:
    """About the power of ten of a positive number, off by one at most."""
    return round((number.numerator.bit_length() - number.denominator.bit_length()) * math.log10(2))


def _kept_once(table: Table) -> Table:
    """The same table with each distinct text of a column held once."""
    columns = [
        column.dictionary_encode() if pa.types.is_string(column.type) or pa.types.is_large_string(column.type) else column
        for column in table.data.columns
    ]
    data = pa.Table.from_arrays(columns, table.data.column_names).unify_dictionaries()
    return Table(data, table.schema, table.source, untyped=table.untyped, notes=table.notes)

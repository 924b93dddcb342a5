"""The microdata, encoded once: every column as integer codes over its dictionary of distinct values."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.ages import with_ages
from sfumato.data.attribute import Attribute
from sfumato.data.cache_lock import CacheLock
from sfumato.data.column import Column
from sfumato.data.column_encoder import build_hierarchy, encode_column
from sfumato.data.original_people import OriginalPeople
from sfumato.data.schema import Kind, Schema
from sfumato.data.units import Units, units_of
from sfumato.errors import ColumnError, FileError, SfumatoError
from sfumato.masking import masked
from sfumato.plurals import count_of
from sfumato.summaries import listed

_ATTRIBUTES = 16
"""The number of attributes that a table caches; each takes eight bytes per row."""


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Microdata with its schema. Each column is encoded when it is first needed, and once.

    Tables that are derived from one another (`take`, `select`, `with_schema`) share encoded columns as far as both schemas
    encode them in the same way. `repr` shows the schema and the number of rows, never cells.

    >>> table = Table(pa.table({"age": [30, 30, 41]}), Schema(quasi_identifiers=["age"]))
    >>> table.rows, table.column("age").codes.tolist(), table.column("age").label(1)
    (3, [0, 0, 1], '41')
    >>> table
    <Table: 3 rows, 1 column; quasi-identifiers: age>
    """

    data: pa.Table
    schema: Schema
    source: str | None = None
    """The file that the data was read from, for error messages."""
    untyped: bool = False
    """Whether all cells are text because the file has no types (CSV); then kinds may be inferred from the text."""
    notes: tuple[str, ...] = ()
    """Remarks for the reader on how the data was read."""
    reading: Mapping[str, str] = field(default_factory=dict)
    """How to read the file where it is not as usual, as declared or detected: `delimiter`, `encoding`, `sheet`."""
    original: OriginalPeople | None = None
    """What these are some rows of, or the published form of, where a principle needs that; None: the table itself."""
    _columns: dict[str, Column] = field(default_factory=dict, init=False)
    """The columns that have been encoded."""
    _attributes: dict[tuple[tuple[str, ...], str], Attribute] = field(default_factory=dict, init=False)
    """The attributes that have been built, the last used last."""
    _lock: Any = field(default_factory=CacheLock, init=False)
    """Guards `_columns` and `_attributes`. A thread never holds the locks of two tables."""

    @classmethod
    def elsewhere(
        cls, names: Sequence[str], rows: int, columns: Mapping[str, Column], schema: Schema, source: str | None
    ) -> Table:
        """Return a table whose rows are in another process: its names, the number of rows, and columns with their tallies.

        >>> Table.elsewhere(["age", "ill"], 1000, {}, Schema(["age"]), None)
        <Table: 1,000 rows, 2 columns; quasi-identifiers: age>
        """
        table = cls(pa.table({name: pa.nulls(rows) for name in names}), schema, source)
        table._columns.update(columns)
        return table

    def __post_init__(self) -> None:
        if self.data.num_rows == 0:
            raise FileError("the table has no rows", remedy="Give a table with at least one row.", file=self.source)
        known = set(self.data.column_names)
        for name in self.schema.named_columns():
            if name not in known:
                raise unknown_column(name, self.data.column_names, self.source)
        if self.schema.ages:
            ages = with_ages(self.data, self.schema, untyped=self.untyped, source=self.source)
            object.__setattr__(self, "data", ages)

    def __repr__(self) -> str:
        """Show the schema and the number of rows, never cells."""
        roles = {
            "identifiers": self.schema.identifiers,
            "quasi-identifiers": self.schema.quasi_identifiers,
            "sensitive": self.schema.sensitive,
        }
        parts = [f"{count_of(self.rows, 'row')}, {count_of(len(self.data.column_names), 'column')}"]
        parts += [f"{role}: {listed(names)}" for role, names in roles.items() if names]
        parts += [] if self.source is None else [f"from {masked(self.source)}"]
        return f"<Table: {'; '.join(parts)}>"

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the caches, which can be computed again, and their lock."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.init}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _columns={}, _attributes={}, _lock=CacheLock())

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.data.num_rows)

    @cached_property
    def units(self) -> Units | None:
        """Whose row each row is; None if the schema declares neither people nor households."""
        return units_of(self)

    def column(self, name: str) -> Column:
        """Return a column, encoded."""
        with self._lock:
            if name not in self._columns:
                # the list of all names is made only if the index, which knows no duplicates, does not have this one
                if self.data.schema.get_field_index(name) < 0 and name not in self.data.column_names:
                    raise unknown_column(name, self.data.column_names, self.source)
                self._columns[name] = encode_column(
                    self.data.column(name), name, self.schema, untyped=self.untyped, source=self.source
                )
            return self._columns[name]

    def attribute(self, names: Sequence[str], name: str | None = None) -> Attribute:
        """Return columns combined into one attribute, under a name of its own if one is given.

        The table caches the attributes that were used last. Cost of a new one: linear in the rows while its values are
        few, else that of sorting.
        """
        key = (tuple(names), name or " + ".join(names))
        with self._lock:
            attribute = self._attributes.pop(key, None)
            if attribute is None:
                attribute = Attribute.of([self.column(column) for column in names], key[1])
            self._keep(key, attribute)
            return attribute

    def _keep(self, key: tuple[tuple[str, ...], str], attribute: Attribute) -> None:
        """Cache an attribute as the one used last, and drop those used longest ago. The caller holds the lock."""
        while len(self._attributes) >= _ATTRIBUTES:
            del self._attributes[next(iter(self._attributes))]
        self._attributes[key] = attribute

    def take(self, rows: NDArray[np.int64], schema: Schema | None = None) -> Table:
        """Return the table of some rows, in their order, under the same schema or another one.

        >>> table = Table(pa.table({"x": [5, 7, 9]}), Schema(sensitive=["x"]))
        >>> table.take(np.array([2, 0])).data.to_pydict()
        {'x': [9, 5]}
        """
        part = replace(self, data=self.data.take(pa.array(rows)), schema=schema or self.schema)
        part.share_columns(self, self.data.column_names, rows)
        return part

    def select(self, names: Sequence[str], schema: Schema) -> Table:
        """Return the table of some columns under a schema of their own; without the notes on how the file was read."""
        part = replace(self, data=self.data.select(list(names)), schema=schema, notes=())
        part.share_columns(self, names)
        return part

    def with_schema(self, schema: Schema) -> Table:
        """Return the same data under another schema."""
        other = replace(self, schema=schema)
        other.share_columns(self, self.data.column_names)
        return other

    def with_original(self, original: OriginalPeople) -> Table:
        """Return the same table as some rows, or the published form, of an original."""
        other = replace(self, original=original)
        other.share_columns(self, self.data.column_names)
        return other

    def share_columns(self, other: Table, names: Iterable[str], rows: NDArray[np.int64] | None = None) -> None:
        """Use the encodings that another table has of the same cells, instead of making them again.

        `names`: the columns whose cells are the same in both tables. `rows`: for each row of this table its row in the
        other one; without them the rows are the same. Columns that the other table has not encoded, or that this schema
        encodes in another way, are left to be encoded when they are needed. Attributes are shared if all their columns are.
        """
        with other._lock:  # copies, because other threads may add to both
            columns, attributes = dict(other._columns), dict(other._attributes)
        present = set(self.data.column_names)
        with self._lock:
            shared = {}
            for name in names:
                if name in columns and name in present and name not in self._columns:
                    column = self._shared(columns[name], other, rows)
                    if column is not None:
                        shared[name] = self._columns[name] = column
            for key, attribute in attributes.items():
                # A column that this table encoded itself may have other codes, even if it has as many values.
                if key not in self._attributes and shared.keys() >= set(key[0]):
                    same = self._shared_attribute(attribute, [shared[part] for part in key[0]], rows)
                    if same is not None:
                        self._keep(key, same)

    def _shared_attribute(
        self, attribute: Attribute, columns: Sequence[Column], rows: NDArray[np.int64] | None
    ) -> Attribute | None:
        """Return an attribute of another table over this table's columns; None if its values or their counts differ."""
        if not all(mine.has_dictionary_of(theirs) for mine, theirs in zip(columns, attribute.columns, strict=True)):
            return None
        if rows is None:
            # a new object without cached properties of the other one; the graphs and their lock are shared
            return replace(attribute, columns=tuple(columns))
        return attribute.reordered(columns, rows) if self.rows == len(attribute.codes) else None

    def _shared(self, column: Column, other: Table, rows: NDArray[np.int64] | None) -> Column | None:
        """Return a column of another table as this table would encode it; None if it must be encoded from the cells."""
        name, schema = column.name, self.schema
        if not schema.encodes_alike(other.schema, column):
            return None
        if schema.kinds.get(name) is None and self.untyped and rows is not None and column.kind is not Kind.DATE:
            # the kind of a text column without a declared kind depends on which cells occur; but any of its dates are dates
            return None
        if column.has_missing and schema.missing.policy == "refuse" != other.schema.missing.policy:
            return None  # encoding reports the row
        shared = column if rows is None else column.take(rows)
        if schema.kinds.get(name) is not None and column.note is not None:
            shared = replace(shared, note=None)  # it is a remark on an inferred kind
        declared = schema.hierarchies.get(name)
        unchanged = declared is other.schema.hierarchies.get(name) and shared.has_dictionary_of(column)
        return shared if unchanged or declared is shared.hierarchy else _with_hierarchy(shared, declared)


def _with_hierarchy(column: Column, declared: Any) -> Column | None:
    """Return a column with another hierarchy, or with none; None if the hierarchy does not fit the column."""
    if declared is None:
        return replace(column, hierarchy=None)
    try:
        column = replace(column, hierarchy=build_hierarchy(declared, column))
        _ = column.paths  # raises for values that the hierarchy lacks
    except SfumatoError:
        return None  # encoding the column raises it, when the column is needed
    return column


def unknown_column(name: str, known: Sequence[str], source: str | None) -> ColumnError:
    """Return the error for a column that the data does not have."""
    close = difflib.get_close_matches(name.strip(), known, n=1, cutoff=0.6)
    hint = f"Did you mean {close[0]!r}?" if close else f"The columns are: {', '.join(map(repr, known))}."
    if len(known) == 1 and name in re.split(r"[,;|\t]", known[0]):
        hint = f"The header is read as one column, {known[0][:60]!r}; declare data.delimiter."
    return ColumnError("there is no such column", remedy=hint, file=source, column=name)

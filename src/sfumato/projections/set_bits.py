"""Set-valued attributes as bits: one column of 0 and 1 for each item, and the way back (paper 004, Definition 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.data.column import Column
from sfumato.data.schema import Kind, Schema
from sfumato.data.table import Table
from sfumato.errors import ColumnError

MOST_ITEMS = 300
"""A set of more different items is not spread: it would have tens of thousands of pairs of bits."""


@dataclass(frozen=True, eq=False)
class EncodedSets:
    """A table whose sets are spread into bits, and which bits stand for which set. Made by `spread`.

    >>> people = pa.table({"dx": [["flu"], ["flu", "gout"]], "job": ["cook", "smith"]})
    >>> apart = spread(Table(people, Schema(sensitive=["dx", "job"])))
    >>> apart.table.schema.sensitive, apart.bits
    (('dx=flu', 'dx=gout', 'job'), {'dx': ('dx=flu', 'dx=gout')})
    """

    table: Table
    bits: Mapping[str, tuple[str, ...]]
    """For each set its bits, named "set=item", in the order of the items.

    Each bit may be close to the table while the set is not, so principles are to be asked of them together too.
    """

    def gathered(self) -> Table:
        """The table with its sets again: the values are those that were spread, cell by cell."""
        table = self.table
        for name, bits in self.bits.items():
            table = _gathered(table, name, bits)
        return table


def spread(table: Table, names: Sequence[str] | None = None) -> EncodedSets:
    """Replace sensitive sets (those named, or all) by bits: a column "set=item" of 0 and 1 for each item that occurs.

    Nothing is lost: a missing set is missing in all its bits, an empty one is 0 in all. The bits are sensitive attributes
    of their own, in the place of the set.

    >>> people = pa.table({"dx": [["flu"], ["flu", "gout"], [], None]})
    >>> apart = spread(Table(people, Schema(sensitive=["dx"])))
    >>> apart.bits, apart.table.data.to_pydict()
    ({'dx': ('dx=flu', 'dx=gout')}, {'dx=flu': ['1', '1', '0', None], 'dx=gout': ['0', '1', '0', None]})
    >>> apart.gathered().data.to_pydict()
    {'dx': [['flu'], ['flu', 'gout'], [], None]}
    """
    if names is None:
        single = [name for name in table.schema.sensitive if name not in table.schema.vectors]
        names = [name for name in single if table.column(name).kind is Kind.SET]
    found: dict[str, tuple[str, ...]] = {}
    for name in names:
        columns = bits(table, name)
        table = _replaced(table, (name,), columns)
        found[name] = tuple(columns)
    return EncodedSets(table, found)


def bits(table: Table, name: str) -> dict[str, pa.Array]:
    """The bits of one set-valued column: for each item "set=item", with 0 and 1 as text and null where it is missing.

    >>> people = Table(pa.table({"dx": [["flu"], ["flu", "gout"]]}), Schema(sensitive=["dx"]))
    >>> {bit: array.to_pylist() for bit, array in bits(people, "dx").items()}
    {'dx=flu': ['1', '1'], 'dx=gout': ['0', '1']}
    """
    column = table.column(name)
    items = sorted(set().union(*column.sets))
    _check(table, column, items)
    held = np.array([[item in members for item in items] for members in column.sets], np.int8)
    rows = column.codes
    missing = rows == column.size
    found = {}
    for position, item in enumerate(items):
        bit = f"{name}={item}"
        if bit in table.data.column_names:
            raise ColumnError(
                f"the bit of the item {item!r} of {name!r} would have the name of another column",
                remedy="Rename the column, or keep the set whole.",
                file=table.source,
                column=bit,
                value=item,
            )
        codes = np.append(held[:, position], 0)[rows]
        found[bit] = pa.array(["0", "1"]).take(pa.array(codes, pa.int8(), mask=missing))
    return found


def _check(table: Table, column: Column, items: Sequence[str]) -> None:
    """Refuse what cannot be spread without loss or sense."""
    name, schema = column.name, table.schema
    problem = remedy = None
    if column.kind is not Kind.SET or name not in schema.sensitive:
        problem = f"only a sensitive set is spread into bits, and this column is {schema.role(name)} and {column.kind}"
        remedy = 'Declare role = "sensitive" and kind = "set".'
    elif not items:
        problem, remedy = "no row has an item in this set, so there is no bit to spread it into", "Drop the column."
    elif len(items) > MOST_ITEMS:
        problem = f"the set has {len(items):,} different items, and at most {MOST_ITEMS} are spread into bits"
        remedy = "Gather rare items under a common name, or keep the set whole."
    elif name in schema.distances:
        problem = "the set has a distance of its own, which its bits cannot have"
        remedy = "Keep the set whole, or drop the distance."
    elif {"0", "1"} & set(schema.missing.texts(Kind.CATEGORICAL)):
        problem = "0 or 1 counts as missing, and bits are written so"
        remedy = "Take it off missing.values, or keep the set whole."
    if problem is not None and remedy is not None:
        raise ColumnError(problem, remedy=remedy, file=table.source, column=name)


def _gathered(table: Table, name: str, columns: Sequence[str]) -> Table:
    """A table with one set in the place of its bits."""
    held = np.column_stack([table.data.column(bit).combine_chunks().fill_null("").to_numpy(False) for bit in columns])
    items = np.array([bit.removeprefix(f"{name}=") for bit in columns], object)
    missing = (held == "").any(axis=1)
    cells = [None if gone else items[row == "1"].tolist() for row, gone in zip(held, missing, strict=True)]
    return _replaced(table, columns, {name: pa.array(cells, pa.list_(pa.string()))})


def _replaced(table: Table, old: Sequence[str], new: Mapping[str, pa.Array]) -> Table:
    """A table with sensitive columns in the place of others: sets in the place of bits, or bits in the place of a set."""
    kind = Kind.CATEGORICAL if len(old) == 1 and table.column(old[0]).kind is Kind.SET else Kind.SET
    columns: dict[str, Any] = {}
    sensitive: list[str] = []
    for name in table.data.column_names:
        columns.update(new if name == old[0] else {} if name in old else {name: table.data.column(name)})
    for name in table.schema.sensitive:
        sensitive += list(new) if name == old[0] else [] if name in old else [name]
    schema: Schema = table.schema
    kinds = {name: each for name, each in schema.kinds.items() if name not in old} | dict.fromkeys(new, kind)
    separators = {name: each for name, each in schema.separators.items() if name not in old}
    schema = replace(schema, sensitive=sensitive, kinds=kinds, separators=separators)
    result = replace(table, data=pa.table(columns), schema=schema)
    result.share_columns(table, [name for name in table.data.column_names if name not in old])
    return result

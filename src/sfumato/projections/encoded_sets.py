"""Sets as bits: a column of 0 and 1 for each item, and the way back.

Definition 2 of Fang, Ashrafi & Ng (2011), a multi-valued attribute as several binary ones.
"""

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

MAX_ITEMS = 300
"""A set with more distinct items is not encoded: it would have tens of thousands of pairs of bits."""


@dataclass(frozen=True, eq=False)
class EncodedSets:
    """A table whose sets are encoded as bits, with the bits of each set. Returned by `encode_sets`.

    >>> people = pa.table({"dx": [["flu"], ["flu", "gout"]], "job": ["cook", "smith"]})
    >>> encoded = encode_sets(Table(people, Schema(sensitive=["dx", "job"])))
    >>> encoded.table.schema.sensitive, encoded.bits
    (('dx=flu', 'dx=gout', 'job'), {'dx': ('dx=flu', 'dx=gout')})
    """

    table: Table
    bits: Mapping[str, tuple[str, ...]]
    """For each set its bits, named "set=item", in the order of the items.

    Each bit may satisfy a principle although the set does not, so require principles on the bits together as well.
    """

    def decode(self) -> Table:
        """Return the table with its sets, cell by cell as they were before encoding."""
        table = self.table
        for name, bits in self.bits.items():
            table = _decode_set(table, name, bits)
        return table

    def expand(self, names: Sequence[str]) -> list[str]:
        """Return attribute names with the name of each encoded set replaced by its bits."""
        return [part for name in names for part in self.bits.get(name, (name,))]


def encode_sets(table: Table, names: Sequence[str] | None = None) -> EncodedSets:
    """Replace sensitive sets (those named, or all) by bits: a column "set=item" of 0 and 1 for each item that occurs.

    The encoding is lossless: a missing set is missing in all its bits, an empty one is 0 in all. The bits are sensitive
    attributes of their own, in the position of the set.

    >>> people = pa.table({"dx": [["flu"], ["flu", "gout"], [], None]})
    >>> encoded = encode_sets(Table(people, Schema(sensitive=["dx"])))
    >>> encoded.bits, encoded.table.data.to_pydict()
    ({'dx': ('dx=flu', 'dx=gout')}, {'dx=flu': ['1', '1', '0', None], 'dx=gout': ['0', '1', '0', None]})
    >>> encoded.decode().data.to_pydict()
    {'dx': [['flu'], ['flu', 'gout'], [], None]}
    """
    if names is None:
        single = [name for name in table.schema.sensitive if name not in table.schema.vectors]
        names = [name for name in single if table.column(name).kind is Kind.SET]
    bits: dict[str, tuple[str, ...]] = {}
    for name in names:
        columns = encode_set(table, name)
        table = _replace_columns(table, (name,), columns)
        bits[name] = tuple(columns)
    return EncodedSets(table, bits)


def encode_set(table: Table, name: str) -> dict[str, pa.Array]:
    """Return the bits of one set-valued column: "set=item" with "0" and "1" as text, null where the set is missing.

    >>> people = Table(pa.table({"dx": [["flu"], ["flu", "gout"]]}), Schema(sensitive=["dx"]))
    >>> {bit: array.to_pylist() for bit, array in encode_set(people, "dx").items()}
    {'dx=flu': ['1', '1'], 'dx=gout': ['0', '1']}
    """
    column = table.column(name)
    items = sorted(set().union(*column.sets))
    _check_set(table, column, items)
    # contains[v, i]: whether distinct value v of the column contains item i
    contains = np.array([[item in members for item in items] for members in column.sets], np.int8)
    rows = column.codes
    missing = rows == column.size
    bits = {}
    for index, item in enumerate(items):
        bit = f"{name}={item}"
        if bit in table.data.column_names:
            raise ColumnError(
                f"the bit for item {item!r} of {name!r} would have the name of an existing column",
                remedy="Rename the column, or keep the set whole.",
                file=table.source,
                column=bit,
                value=item,
            )
        codes = np.append(contains[:, index], 0)[rows]  # the appended 0 is the entry of missing sets
        bits[bit] = pa.array(["0", "1"]).take(pa.array(codes, pa.int8(), mask=missing))
    return bits


def _check_set(table: Table, column: Column, items: Sequence[str]) -> None:
    """Raise an error for a column that cannot be encoded without loss."""
    name, schema = column.name, table.schema
    problem = remedy = None
    if column.kind is not Kind.SET or name not in schema.sensitive:
        problem = f"only a sensitive set can be encoded as bits; this column is {schema.role(name)} and {column.kind}"
        remedy = 'Declare role = "sensitive" and kind = "set".'
    elif not items:
        problem, remedy = "no row has an item in this set, so it has no bits", "Drop the column."
    elif len(items) > MAX_ITEMS:
        problem = f"the set has {len(items):,} different items; at most {MAX_ITEMS} can be encoded as bits"
        remedy = "Group rare items under a common name, or keep the set whole."
    elif name in schema.distances:
        problem = "the set has its own distance, which does not apply to bits"
        remedy = "Keep the set whole, or remove the distance."
    elif {"0", "1"} & set(schema.missing.texts(Kind.CATEGORICAL)):
        problem = "0 or 1 is declared as a missing value, but bits are written as 0 and 1"
        remedy = "Remove it from missing.values, or keep the set whole."
    if problem is not None and remedy is not None:
        raise ColumnError(problem, remedy=remedy, file=table.source, column=name)


def _decode_set(table: Table, name: str, columns: Sequence[str]) -> Table:
    """Return a table with one set in place of its bits."""
    bits = np.column_stack([table.data.column(bit).combine_chunks().fill_null("").to_numpy(False) for bit in columns])
    items = np.array([bit.removeprefix(f"{name}=") for bit in columns], object)
    missing = (bits == "").any(axis=1)
    cells = [None if is_missing else items[row == "1"].tolist() for row, is_missing in zip(bits, missing, strict=True)]
    return _replace_columns(table, columns, {name: pa.array(cells, pa.list_(pa.string()))})


def _replace_columns(table: Table, old: Sequence[str], new: Mapping[str, pa.Array]) -> Table:
    """Return a table with sensitive columns replaced: a set by its bits, or bits by their set."""
    # One set becomes bits (categorical), or several bits become one set.
    kind = Kind.CATEGORICAL if len(old) == 1 and table.column(old[0]).kind is Kind.SET else Kind.SET
    # The new columns take the position of the first old one, in the data and among the sensitive attributes.
    columns: dict[str, Any] = {}
    sensitive: list[str] = []
    for name in table.data.column_names:
        columns.update(new if name == old[0] else {} if name in old else {name: table.data.column(name)})
    for name in table.schema.sensitive:
        sensitive += list(new) if name == old[0] else [] if name in old else [name]
    schema: Schema = table.schema
    kinds = {name: each for name, each in schema.kinds.items() if name not in old} | dict.fromkeys(new, kind)
    separators = {name: each for name, each in schema.separators.items() if name not in old}
    preserve = tuple(pair for pair in schema.preserve if not {*old} & {*pair})
    accepted = {name: each for name, each in schema.accepted.items() if name not in old}
    if old[0] in schema.accepted:  # what is accepted of a set is accepted of its bits
        accepted |= dict.fromkeys(new, schema.accepted[old[0]])
    schema = replace(schema, sensitive=sensitive, kinds=kinds, separators=separators, preserve=preserve, accepted=accepted)
    result = replace(table, data=pa.table(columns), schema=schema)
    result.share_columns(table, [name for name in table.data.column_names if name not in old])
    return result

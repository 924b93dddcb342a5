"""The tables of an anatomized release: the people with their groups, and how often each secret occurs in each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.groups import Groups, stable_order
from sfumato.data.schema import Kind, Schema
from sfumato.data.table import Table
from sfumato.io.shuffle import Contents, shuffled
from sfumato.releases.table_files import published_schema
from sfumato.seeds import PUBLIC_SEED

Codes = NDArray[np.int64]

PEOPLE = "people"
"""The name of the file of the people, without its suffix."""


def secrets_schema(schema: Schema, attributes: Sequence[str], group: str) -> Schema:
    """Return the schema of a table of secrets with one row for each person: a group and some attributes.

    `schema`: of the original, with all kinds stated.

    >>> found = secrets_schema(Schema(["age"], ["ill", "pay"], kinds={"pay": "numeric"}), ["pay"], "group")
    >>> found.quasi_identifiers, found.sensitive, sorted(found.kinds)
    ((), ('pay',), ['group', 'pay'])
    """
    found = published_schema(schema.projected(attributes), group)
    kinds = {name: kind for name, kind in found.kinds.items() if name not in schema.quasi_identifiers}
    # the distance of all attributes together is not that of some of them
    distance = schema.distance if len(attributes) == len(schema.sensitive) else None
    return replace(found, quasi_identifiers=(), kinds=kinds, undeclared="drop", distance=distance)


def people_schema(schema: Schema, names: Sequence[str], group: str) -> Schema:
    """Return the schema with which the table of people is read: its columns are published unchanged.

    >>> people_schema(Schema(["age"], ["ill"], kinds={"age": "numeric"}), ["age"], "group").other
    ('age',)
    """
    return Schema(other=tuple(names), kinds={group: Kind.NUMERIC}, group=group, missing=schema.missing)


@dataclass(frozen=True, eq=False)
class SecretCounts:
    """A table of secrets: entries of a group, the values of some attributes, and how many people of the group have them."""

    group: Codes
    """For each entry its group, from 0."""
    values: pa.Table
    """For each entry its values."""
    counts: Codes

    @classmethod
    def of(cls, values: pa.Table, group_of_row: Codes, separators: Mapping[str, str]) -> SecretCounts:
        """Count the values of each group, in the order in which they are written: by group, then by their texts.

        So the order says nothing about the people of a group. `values`: the secrets of each person.

        >>> found = SecretCounts.of(pa.table({"ill": ["gout", "flu", "gout"]}), np.array([0, 0, 0]), {})
        >>> found.values["ill"].to_pylist(), found.counts.tolist()
        (['flu', 'gout'], [1, 2])
        """
        ranks = text_ranks(values, separators)
        keys, first, counts = np.unique(group_of_row * (int(ranks.max()) + 1) + ranks, return_index=True, return_counts=True)
        return cls(keys // (int(ranks.max()) + 1), values.take(pa.array(first)), counts.astype(np.int64))

    def as_table(self, group: str, count: str) -> pa.Table:
        """Return the table as it is published."""
        table = self.values.add_column(0, group, pa.array(self.group + 1, pa.int64()))
        return table.append_column(count, pa.array(self.counts, pa.int64()))

    @property
    def row_of_person(self) -> Codes:
        """For each person, entry by entry, the number of the entry."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def in_order(self, separators: Mapping[str, str]) -> bool:
        """Return whether the entries are in the order of `of`, and none occurs twice."""
        ranks = text_ranks(self.values, separators)
        keys = self.group * (int(ranks.max()) + 1) + ranks
        return bool((np.diff(keys) > 0).all())

    def by_person(self, schema: Schema, group: str, *, untyped: bool) -> Table:
        """Return the table with one row for each person, in which principles are measured."""
        numbers = pa.array(self.group + 1, pa.int64())
        return Table(self.values.add_column(0, group, numbers), schema, untyped=untyped).take(self.row_of_person)


def text_ranks(values: pa.Table, separators: Mapping[str, str]) -> Codes:
    """Return the rank of each row by the texts of its cells in a CSV; null is before all texts.

    >>> text_ranks(pa.table({"ill": ["gout", None, "flu", "gout"]}), {}).tolist()
    [2, 0, 1, 2]
    """
    return contents_of(values, separators).as_text


def contents_of(table: pa.Table, separators: Mapping[str, str]) -> Contents:
    """Return the rows of a table as numbers."""
    return Contents.of({name: table.column(name) for name in table.column_names}, table.num_rows, separators)


def public_order(
    people: pa.Table, groups: Groups, secrets: Sequence[SecretCounts], separators: Mapping[str, str]
) -> tuple[Codes, Codes]:
    """Return the published order of the people, and for each group its number, from 1.

    Both are a permutation, by a public seed, of an order that depends on what is published alone: on the cells of the people
    of each group, and, where two groups are equal in these, on their secrets. `people`: without the group column.

    >>> people = pa.table({"age": [30, 30, 40]})
    >>> groups = Groups(np.array([0, 1, 1]), 2, 3)
    >>> ill = SecretCounts.of(pa.table({"ill": ["flu", "gout", "flu"]}), groups.of_row, {})
    >>> rows, number = public_order(people, groups, [ill], {})
    >>> sorted(rows.tolist()), sorted(number.tolist())
    ([0, 1, 2], [1, 2])
    """
    signature = _signatures(groups, secrets, separators)
    columns: dict[str, Any] = {name: people.column(name) for name in people.column_names}
    columns[""] = pa.array(signature[groups.of_row])  # no column has this name: it is not published
    return shuffled(Contents.of(columns, people.num_rows, separators), groups, PUBLIC_SEED)


def _signatures(groups: Groups, secrets: Sequence[SecretCounts], separators: Mapping[str, str]) -> Codes:
    """Return for each group the rank of its secrets: equal where two groups have the same ones in every table."""
    parts: list[list[bytes]] = []
    number = np.dtype(">u8")
    at = [0, *(number.itemsize * np.cumsum(groups.sizes)).tolist()]
    for table in secrets:
        person = table.row_of_person
        ranks = text_ranks(table.values, separators)[person]
        span = int(ranks.max()) + 1
        keys = table.group[person] * span + ranks
        cells = ranks[stable_order(keys, groups.count * span)].astype(number).tobytes()
        parts.append([cells[start:end] for start, end in pairwise(at)])
    whole = [b"".join(each) for each in zip(*parts, strict=True)]
    rank = {cells: place for place, cells in enumerate(sorted(set(whole)))}
    return np.array([rank[cells] for cells in whole], np.int64)

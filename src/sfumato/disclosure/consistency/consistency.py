"""Consistency of a record's value with a dictionary's value: the interface, and equality."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.column import Column
from sfumato.data.schema import Kind, Schema
from sfumato.data.table import Table
from sfumato.disclosure.dictionaries.dictionary import Dictionary
from sfumato.errors import ColumnError
from sfumato.exact import as_parameter
from sfumato.exact.numbers import packed


class ConsistentValues(NamedTuple):
    """For each value of the records, by number, the dictionary's values that are consistent with it, ascending.

    Those of value a are `near[starts[a]:starts[a + 1]]`.
    """

    starts: NDArray[np.int64]
    near: NDArray[np.int32]


class AttributePairing(NamedTuple):
    """One attribute of the records and of a dictionary, as numbers of their distinct values; -1 where it is missing."""

    record_values: NDArray[np.int32]
    """The value of each record."""
    dictionary_values: NDArray[np.int32]
    """The value of each individual."""
    consistent: ConsistentValues


class Consistency(ABC):
    """Which values of a record and of a dictionary are consistent, for one attribute.

    Missing values are not its concern: they are consistent with anything.
    """

    kind: str
    """The name in a config."""

    @abstractmethod
    def pair(self, table: Table, attribute: str, dictionary: Dictionary) -> AttributePairing:
        """Number the values of an attribute on both sides, and find which are consistent."""

    def parameters(self) -> dict[str, Any]:
        """The kind and its parameters, as a config contains them."""
        return {each.name: as_parameter(getattr(self, each.name)) for each in fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True)
class EqualityConsistency(Consistency):
    """Equal values are consistent (Lebanon et al. 2006, Section 2.1), both read as the records' kind.

    >>> from sfumato import Schema
    >>> people = Table(pa.table({"age": [17, 20]}), Schema(["age"]))
    >>> EqualityConsistency().pair(people, "age", Dictionary(pa.table({"age": [20.0, 17.0, 17.5]}))).consistent.near.tolist()
    [0, 2]
    """

    kind: str = field(default="equality", init=False, repr=False)

    def pair(self, table: Table, attribute: str, dictionary: Dictionary) -> AttributePairing:
        """Encode both sides as the records' kind, and look up each value of the records."""
        mine = table.column(attribute)
        theirs = dictionary.column(attribute, mine.kind, table.schema)
        same = equal_values(mine, theirs)
        has_equal = same >= 0
        starts = np.concatenate([[0], np.cumsum(has_equal)]).astype(np.int64)
        return AttributePairing(present(mine), present(theirs), ConsistentValues(starts, same[has_equal]))


def present(column: Column) -> NDArray[np.int32]:
    """A column's codes with -1 where the value is missing."""
    return np.where(column.codes < column.size, column.codes, -1).astype(np.int32)


def equal_values(mine: Column, theirs: Column) -> NDArray[np.int32]:
    """For each value of a column the code of the equal value in another column of the same kind; -1 if there is none.

    >>> from sfumato import Schema
    >>> one, other = (Table(pa.table({"a": a}), Schema()).column("a") for a in ([1.5, 2.0], [2, 3]))
    >>> equal_values(one, other).tolist()
    [-1, 0]
    """
    if mine.numbers is not None and theirs.numbers is not None:
        unit = min(mine.numbers.unit, theirs.numbers.unit)
        one, other = (
            packed([int(integer) * int(side.numbers.unit / unit) for integer in side.numbers.integers.tolist()])
            for side in (mine, theirs)
            if side.numbers is not None
        )
        at = np.searchsorted(other, one)
        inside = at < len(other)
        inside[inside] = other[at[inside]] == one[inside]
        return np.where(inside, at, -1).astype(np.int32)
    if mine.kind is Kind.SET:
        position = {members: code for code, members in enumerate(theirs.sets)}
        return np.array([position.get(members, -1) for members in mine.sets], np.int32)
    from pyarrow import compute

    positions = compute.index_in(pa.array(mine.texts, pa.string()), pa.array(theirs.texts, pa.string()))
    return np.asarray(positions.fill_null(-1)).astype(np.int32)


def as_texts(table: Table, attribute: str, requested_by: str) -> Column:
    """The records' column with every cell as its text, whatever its kind; raise an error for a column of sets."""
    declared = table.schema.kinds.get(attribute)
    if declared is Kind.SET or pa.types.is_nested(table.data.schema.field(attribute).type):
        raise ColumnError(
            f"consistency by {requested_by} needs texts or numbers, and the column is of kind 'set'",
            remedy="Compare it by equality.",
            file=table.source,
            column=attribute,
        )
    schema = Schema(kinds={attribute: Kind.CATEGORICAL}, missing=table.schema.missing)
    return Table(table.data, schema, table.source, untyped=table.untyped).column(attribute)

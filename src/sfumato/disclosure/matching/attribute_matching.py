"""Match records with a dictionary attribute by attribute, as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Table, unknown_column
from sfumato.disclosure.consistency.consistency import AttributePairing, Consistency, EqualityConsistency
from sfumato.disclosure.dictionaries.dictionary import Dictionary
from sfumato.disclosure.matching.matching import Matching
from sfumato.errors import ColumnError, ParameterError


def match_attributes(
    table: Table,
    attributes: Sequence[str],
    dictionary: Dictionary,
    consistency: Mapping[str, Consistency] | None = None,
    identity: str | None = None,
    misfits: int = 0,
) -> Matching:
    """Match records with a dictionary over these attributes of the records.

    Attributes that `consistency` does not name are compared by equality. The dictionary may lack some of the attributes;
    it then knows nothing of them. `identity` is the column of the records that identifies their individuals. If the
    dictionary is the same Table object as the records, record i is of individual i.

    >>> import pyarrow as pa
    >>> from sfumato import Schema
    >>> people = Table(pa.table({"id": ["x", "y"], "age": [30, 41], "town": ["Rome", None]}), Schema(["age", "town"]))
    >>> book = Dictionary(pa.table({"id": ["z", "y", "x"], "age": [41, 41, 30]}), identity="id")
    >>> both = match_attributes(people, ["age", "town"], book, identity="id")
    >>> both.sizes(both.everything).tolist(), both.own.tolist()
    ([1, 2], [2, 1])
    """
    for name in (*attributes, *([] if identity is None else [identity])):
        if name not in table.data.column_names:
            raise unknown_column(name, table.data.column_names, table.source)
    consistency = {} if consistency is None else consistency
    _check(table, attributes, dictionary, consistency)
    pairs = [(consistency.get(name) or EqualityConsistency()).pair(table, name, dictionary) for name in attributes]
    return join_pairings(pairs, dictionary.weights, _own(table, dictionary, identity), misfits)


def join_pairings(
    pairs: Sequence[AttributePairing], weights: NDArray[np.float64], own: NDArray[np.int64], misfits: int
) -> Matching:
    """Return the matching of columns that were paired one by one: their values are numbered over all columns.

    `weights` of the individuals, and the individual of each record, are those of the dictionary.
    """
    counts, near = [np.zeros(1, np.int64)], [np.zeros(0, np.int32)]
    values = np.empty((len(pairs[0].record_values), len(pairs)), np.int32)
    theirs = np.empty((len(pairs[0].dictionary_values), len(pairs)), np.int32)
    record_base = dictionary_base = 0  # numbers of values are unique over all attributes
    for j, pair in enumerate(pairs):
        values[:, j] = np.where(pair.record_values >= 0, pair.record_values + record_base, -1)
        theirs[:, j] = np.where(pair.dictionary_values >= 0, pair.dictionary_values + dictionary_base, -1)
        counts.append(np.diff(pair.consistent.starts))
        near.append(pair.consistent.near + np.int32(dictionary_base))
        record_base += len(pair.consistent.starts) - 1
        dictionary_base += int(max(pair.dictionary_values.max(initial=-1), pair.consistent.near.max(initial=-1))) + 1
    return Matching(values, theirs, np.cumsum(np.concatenate(counts)), np.concatenate(near), weights, own, misfits)


def _check(table: Table, attributes: Sequence[str], dictionary: Dictionary, consistency: Mapping[str, Consistency]) -> None:
    """Raise an error if the dictionary shares no attribute with the records, or a declaration names an unknown one."""
    columns = table.data.column_names
    if not attributes:
        raise ParameterError("there are no attributes", remedy="Name at least one.", key="attributes", value=attributes)
    for name, how in consistency.items():
        if name not in attributes:
            listed = ", ".join(map(repr, attributes))
            raise ParameterError(
                f"consistency is declared for {name!r}, which is not an attribute of the records",
                remedy=f"The attributes are: {listed}.",
                key="consistency",
                value=name,
            )
        if not isinstance(how, Consistency):
            raise ParameterError(
                f"invalid consistency {how!r} for attribute {name!r}",
                remedy='Pass one such as ContainmentConsistency() or SimilarityConsistency("jaro", "0.8").',
                key="consistency",
                value=how,
            )
    for name, column in dictionary.attributes.items():
        if name != column and name not in columns:
            raise unknown_column(name, columns, table.source).inside(
                None, f"{dictionary.title}: its column {column!r} is declared as attribute {name!r} of the records"
            )
    if not any(name in dictionary.attributes for name in attributes):
        ours, theirs = (", ".join(map(repr, names)) for names in (attributes, dictionary.attributes))
        raise ColumnError(
            f"{dictionary.title} shares no attribute with the records: "
            f"they have {ours}, the dictionary has {theirs or 'none'}",
            remedy='Declare which columns are attributes: columns={"attribute of the records": "column of the dictionary"}.',
            file=dictionary.table.source,
        )


def _own(table: Table, dictionary: Dictionary, identity: str | None) -> NDArray[np.int64]:
    """The individual that each record is of; -1 if the dictionary does not have it, or if it is not known."""
    if dictionary.table is table:
        return np.arange(table.rows)
    if identity is None or dictionary.identity is None:
        return np.full(table.rows, -1, np.int64)
    column = table.column(identity)
    whose = np.append(dictionary.find_individuals([column.label(code) for code in range(column.size)]), -1)
    return np.asarray(whose[column.codes])

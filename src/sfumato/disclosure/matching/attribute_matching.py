"""From records and a dictionary to numbers: who is consistent with whom, attribute by attribute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Table, unknown_column
from sfumato.disclosure.consistency.consistency import Consistency, EqualityConsistency
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
    """Lay records beside a dictionary, over these attributes of the records.

    What is not named in `consistency` is compared by equality. The dictionary may lack some of the attributes: it knows
    nothing of them. `identity` is the records' column that tells whose they are. A dictionary that is the same Table
    as the records has them in the same rows.

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
    counts, near = [np.zeros(1, np.int64)], [np.zeros(0, np.int32)]
    values = np.empty((table.rows, len(pairs)), np.int32)
    held = np.empty((dictionary.individuals, len(pairs)), np.int32)
    mine = theirs = 0
    for j, pair in enumerate(pairs):
        values[:, j] = np.where(pair.values >= 0, pair.values + mine, -1)
        held[:, j] = np.where(pair.held >= 0, pair.held + theirs, -1)
        counts.append(np.diff(pair.near.starts))
        near.append(pair.near.near + np.int32(theirs))
        mine += len(pair.near.starts) - 1
        theirs += int(max(pair.held.max(initial=-1), pair.near.near.max(initial=-1))) + 1
    return Matching(
        values,
        held,
        np.cumsum(np.concatenate(counts)),
        np.concatenate(near),
        dictionary.weights,
        _own(table, dictionary, identity),
        misfits,
    )


def _check(table: Table, attributes: Sequence[str], dictionary: Dictionary, consistency: Mapping[str, Consistency]) -> None:
    """Raise if the dictionary has nothing in common with the records, or something is said of what is not there."""
    known = table.data.column_names
    if not attributes:
        raise ParameterError("no attribute is given", remedy="Name at least one.", key="attributes", value=attributes)
    for name, how in consistency.items():
        if name not in attributes:
            listed = ", ".join(map(repr, attributes))
            raise ParameterError(
                f"consistency is declared for {name!r}, which is no attribute of the records",
                remedy=f"The attributes are: {listed}.",
                key="consistency",
                value=name,
            )
        if not isinstance(how, Consistency):
            raise ParameterError(
                f"the consistency of {name!r} is {how!r}",
                remedy='Pass one such as ContainmentConsistency() or SimilarityConsistency("jaro", "0.8").',
                key="consistency",
                value=how,
            )
    for name, column in dictionary.attributes.items():
        if name != column and name not in known:
            raise unknown_column(name, known, table.source).inside(
                None, f"{dictionary.title}: its column {column!r} is said to be the records' {name!r}"
            )
    if not any(name in dictionary.attributes for name in attributes):
        ours, theirs = (", ".join(map(repr, names)) for names in (attributes, dictionary.attributes))
        raise ColumnError(
            f"{dictionary.title} shares no attribute with the records, which have {ours}, while it has {theirs or 'none'}",
            remedy='Say which are the same: columns={"attribute of the records": "column of the dictionary"}.',
            file=dictionary.table.source,
        )


def _own(table: Table, dictionary: Dictionary, identity: str | None) -> NDArray[np.int64]:
    """For each record the individual whose it is; -1 where the dictionary does not have them, or nobody knows."""
    if dictionary.table is table:
        return np.arange(table.rows)
    if identity is None or dictionary.identity is None:
        return np.full(table.rows, -1, np.int64)
    column = table.column(identity)
    whose = np.append(dictionary.whose([column.label(code) for code in range(column.size)]), -1)
    return np.asarray(whose[column.codes])

"""Candidates: what a group publishes unchanged, row by row, of which one is a person's own.

A candidate is everything that is published unchanged in a row: the sensitive columns and the others. Whoever finds the
group of a person knows that one of its candidates is that of the person, and how often each of them occurs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.column_encoder import missing_as_null
from sfumato.data.groups import combined
from sfumato.data.schema import Kind, Role, Schema
from sfumato.errors import ParameterError
from sfumato.io.write_files import cell_texts

Candidate = tuple[str | None, ...]
"""The texts of the unchanged columns of a row, in the order of `candidate_columns`; None where a cell is missing."""


def candidate_columns(schema: Schema, names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that are published unchanged, in alphabetical order: the order of a file may change.

    >>> candidate_columns(Schema(["age"], ["ill"], identifiers=["name"], other=["area"]), ["name", "ill", "age", "area"])
    ('area', 'ill')
    """
    return tuple(sorted(name for name in schema.published_columns(names) if schema.role(name) is not Role.QUASI_IDENTIFIER))


def people_column(schema: Schema) -> str:
    """Return the column by which people are matched between versions; an error if the schema does not say which one.

    >>> people_column(Schema(["age"], identifiers=["name"]))
    'name'
    """
    if schema.household_id is not None:
        raise ParameterError(
            "versions of a table are matched person by person, and the schema counts households",
            remedy="Remove household_id, and declare the person of each row.",
            key="household_id",
            value=schema.household_id,
        )
    if schema.person_id is not None:
        return schema.person_id
    if len(schema.identifiers) != 1:
        stated = "has no identifier" if not schema.identifiers else f"has {len(schema.identifiers)} identifiers"
        raise ParameterError(
            f"people are matched between versions of a table by an identifier, and the schema {stated}",
            remedy="Declare the column that identifies people as person_id, or as the only identifier.",
            key="identifiers",
            value=schema.identifiers,
        )
    return schema.identifiers[0]


def candidates_of(data: pa.Table, schema: Schema, names: Sequence[str]) -> tuple[NDArray[np.int64], list[Candidate]]:
    """Return for each row the number of its candidate, and the candidates.

    `names`: the columns of `candidate_columns`. A table without any has one candidate, which is empty.

    >>> people = pa.table({"ill": ["flu", "gout", "flu"], "ward": [1, 2, 1]})
    >>> candidates_of(people, Schema(sensitive=["ill", "ward"]), ["ill", "ward"])
    (array([0, 1, 0]), [('flu', '1'), ('gout', '2')])
    """
    if not names:
        return np.zeros(data.num_rows, np.int64), [()]
    codes, texts = [], []
    for name in names:
        encoded = _texts(data, schema, name).dictionary_encode(null_encoding="encode")
        codes.append(np.asarray(encoded.indices).astype(np.int64))
        texts.append(encoded.dictionary.to_pylist())
    of_row, parts = combined(codes, [len(each) for each in texts])
    values = [tuple(own[code] for own, code in zip(texts, part, strict=True)) for part in parts.tolist()]
    return of_row, values


def _texts(data: pa.Table, schema: Schema, name: str) -> pa.Array:
    sensitive = name in schema.sensitive_columns()
    kind = Kind(schema.kinds[name]) if sensitive and name in schema.kinds else None
    separators: Mapping[str, str] = {name: schema.separators.get(name, ";")}
    texts = cell_texts(missing_as_null(data.column(name), schema.missing.texts(kind)), name, separators)
    return texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts

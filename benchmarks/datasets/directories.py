"""Dictionaries that disclosure risk is measured on, and random samples of their records.

Below SFUMATO_DATA: `catalogue/items.csv.gz`, a table of items; `record_linkage/RLdata10000.csv` and
`record_linkage/febrl_dataset4a.csv`, directories of artificial persons. Every row is an individual. All columns except the
keys are attributes. If the files are absent, the synthetic census replaces them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
import pyarrow as pa

from benchmarks.datasets import data_file, required_data_file
from sfumato.census import synthetic_census
from sfumato.data.schema import Schema
from sfumato.disclosure.consistency.consistency import Consistency
from sfumato.disclosure.consistency.similarity import SimilarityConsistency
from sfumato.disclosure.dictionaries.dictionary import Dictionary
from sfumato.disclosure.setting import Setting, setting_of
from sfumato.io.read_csv import read_csv

IDENTITY = "individual"
"""The column added to each directory: the number of the row."""

_CENSUS_ROWS = 5000


@cache
def catalogue() -> pa.Table:
    """Return 68,825 packages with 22 attributes; many are texts, and many are missing."""
    return _with_identity("catalogue/items.csv.gz")


@cache
def persons() -> pa.Table:
    """Return 10,000 artificial persons with 7 attributes; 1,000 are misspelt duplicates and count as individuals."""
    return _with_identity("record_linkage/RLdata10000.csv", "true_id")


@cache
def febrl() -> pa.Table:
    """Return 5,000 artificial persons with 10 attributes."""
    return _with_identity("record_linkage/febrl_dataset4a.csv", "rec_id")


@cache
def census() -> pa.Table:
    """Return the synthetic census."""
    data = synthetic_census(_CENSUS_ROWS, 0)
    return data.append_column(IDENTITY, _row_numbers(data))


DIRECTORIES: dict[str, Callable[[], pa.Table]] = {"catalogue": catalogue, "RLdata10000": persons, "febrl 4a": febrl}
"""The real directories by name."""


def available_directories() -> dict[str, Callable[[], pa.Table]]:
    """Return the real directories, or the synthetic census if they are absent."""
    return DIRECTORIES if data_file("catalogue", "items.csv.gz") else {"synthetic census": census}


def sample_records(data: pa.Table, records: int, seed: int = 0, name: str = "dictionary", similar: bool = False) -> Setting:
    """Draw records at random from a directory; the whole directory is the attacker's dictionary.

    Values are consistent if they are equal or, with `similar`, if their Jaro similarity is at least 0.8 in every attribute,
    as in Lebanon et al. (2006).
    """
    rows = np.sort(np.random.default_rng(seed).permutation(data.num_rows)[:records])
    attributes = [column for column in data.column_names if column != IDENTITY]
    consistency: Mapping[str, Consistency] = (
        {column: SimilarityConsistency("jaro", "0.8") for column in attributes} if similar else {}
    )
    texts = pa.table({column: data[column].cast(pa.string()) for column in data.column_names})
    return setting_of(
        texts.take(pa.array(rows)),
        Schema(),
        [Dictionary(texts, identity=IDENTITY, name=name)],
        attributes=attributes,
        identity=IDENTITY,
        consistency=consistency,
    )


def _with_identity(file: str, key: str | None = None) -> pa.Table:
    data = read_csv(required_data_file(*file.split("/"))).data
    return (data if key is None else data.drop_columns([key])).append_column(IDENTITY, _row_numbers(data))


def _row_numbers(data: pa.Table) -> pa.Array:
    return pa.array([str(row) for row in range(data.num_rows)])

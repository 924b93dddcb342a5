"""Dictionaries that disclosure risk is measured on, and records drawn from them.

Below SFUMATO_DATA: `catalogue/items.csv.gz`, an item table; `record_linkage/RLdata10000.csv` and
`record_linkage/febrl_dataset4a.csv`, directories of artificial persons. Every row is an individual; all columns but keys are
attributes. Where they are absent the synthetic census stands in.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa

from sfumato.census import synthetic_census
from sfumato.data.schema import Schema
from sfumato.disclosure.consistency.consistency import Consistency
from sfumato.disclosure.consistency.similarity import SimilarityConsistency
from sfumato.disclosure.dictionaries.dictionary import Dictionary
from sfumato.disclosure.setting import Setting, setting_of
from sfumato.errors import FileError
from sfumato.io.read_csv import read_csv

WHO = "individual"
"""The column that is added: a number for every row."""

_CENSUS_ROWS = 5000


@cache
def catalogue() -> pa.Table:
    """68,825 packages with 22 attributes, many of them texts, many missing."""
    return _numbered("catalogue/items.csv.gz")


@cache
def persons() -> pa.Table:
    """10,000 rows of artificial persons with 7 attributes; 1,000 are there twice, misspelt, and count as two individuals."""
    return _numbered("record_linkage/RLdata10000.csv", "true_id")


@cache
def directory() -> pa.Table:
    """5,000 artificial persons with 10 attributes."""
    return _numbered("record_linkage/febrl_dataset4a.csv", "rec_id")


@cache
def census() -> pa.Table:
    """The synthetic census."""
    data = synthetic_census(_CENSUS_ROWS, 0)
    return data.append_column(WHO, _numbers(data))


DIRECTORIES: dict[str, Callable[[], pa.Table]] = {"catalogue": catalogue, "RLdata10000": persons, "febrl 4a": directory}
"""The real ones, by name."""


def there() -> dict[str, Callable[[], pa.Table]]:
    """Those that can be measured here: the real ones, or the census that stands in."""
    home = os.environ.get("SFUMATO_DATA")
    return DIRECTORIES if home and Path(home, "catalogue", "items.csv.gz").exists() else {"synthetic census": census}


def drawn(data: pa.Table, records: int, seed: int = 0, name: str = "dictionary", similar: bool = False) -> Setting:
    """Records drawn at random from a directory, beside the whole of it; consistent if equal or, if asked for, similar.

    Similar: by Jaro at 0.8 in every attribute, as in paper 002.
    """
    rows = np.sort(np.random.default_rng(seed).permutation(data.num_rows)[:records])
    attributes = [column for column in data.column_names if column != WHO]
    how: Mapping[str, Consistency] = (
        {column: SimilarityConsistency("jaro", "0.8") for column in attributes} if similar else {}
    )
    texts = pa.table({column: data[column].cast(pa.string()) for column in data.column_names})
    return setting_of(
        texts.take(pa.array(rows)),
        Schema(),
        [Dictionary(texts, identity=WHO, name=name)],
        attributes=attributes,
        identity=WHO,
        consistency=how,
    )


def _numbered(file: str, key: str | None = None) -> pa.Table:
    home = os.environ.get("SFUMATO_DATA")
    if not home or not Path(home, file).exists():
        raise FileError(
            "this needs real data, which is not there",
            remedy="Point SFUMATO_DATA at the folder that holds it.",
            file=file,
        )
    data = read_csv(Path(home, file)).data
    return (data if key is None else data.drop_columns([key])).append_column(WHO, _numbers(data))


def _numbers(data: pa.Table) -> pa.Array:
    return pa.array([str(row) for row in range(data.num_rows)])

"""The published rows of a withheld release: texts, in an order that reveals nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.column import in_quotes
from sfumato.data.groups import combination_ranks
from sfumato.data.table import Table
from sfumato.disclosure.generalized.attribute_levels import CellLabels
from sfumato.io.shuffle import SHUFFLE, ranks_of
from sfumato.io.write_files import cell_texts
from sfumato.seeds import PUBLIC_SEED

WITHHELD_CELL = "*"
"""A withheld cell; a value that is itself `*`, empty or in quotes is put in quotes."""


def withheld_rows(
    table: Table,
    attributes: Sequence[str],
    rule: NDArray[np.bool_],
    present: NDArray[np.bool_],
    generalized: Sequence[CellLabels] | None = None,
) -> tuple[pa.Table, NDArray[np.int64]]:
    """Return the published table, all columns as texts, and for each of its rows the record (which is never written).

    The order is a permutation, by a public seed, of an order that depends only on what is published, so that it reveals
    nothing about the order of the records. `present`: where a record has a value. `generalized`: for each attribute what is
    published in place of values.

    >>> from sfumato.data.schema import Schema
    >>> people = Table(pa.table({"sex": ["f", "m"], "star": ["*", None]}), Schema())
    >>> rule, present = np.array([[False, True], [True, False]]), np.array([[True, True], [True, False]])
    >>> withheld_rows(people, ["sex", "star"], rule, present)[0].to_pylist()
    [{'sex': '*', 'star': '"*"'}, {'sex': 'm', 'star': None}]
    """
    columns = {}
    for j, name in enumerate(attributes):
        separators = {name: table.schema.separators.get(name, ";")}
        encoded = cell_texts(table.data.column(name), name, separators).dictionary_encode(null_encoding="encode")
        cells = [None if text is None else _safe(text) for text in encoded.dictionary.to_pylist()]
        which = np.asarray(encoded.indices).astype(np.int64)
        if generalized is not None:
            labels, of_record = generalized[j]
            which = np.where(of_record >= 0, len(cells) + of_record, which)
            cells += map(_safe, labels)
        # two more cells behind the dictionary: `*` for withheld, null for missing
        which[~rule[:, j]] = len(cells)
        which[~present[:, j]] = len(cells) + 1
        columns[name] = pa.array([*cells, WITHHELD_CELL, None], pa.string()).take(pa.array(which))
    # sort by what is published, then shuffle: the order of the records has no influence
    ranked = [ranks_of(column, name) for name, column in columns.items()]
    keys = combination_ranks([ranks.of_row for ranks in ranked], [ranks.domain for ranks in ranked])
    order = np.argsort(keys, kind="stable")
    rows = order[np.random.default_rng([PUBLIC_SEED, SHUFFLE]).permutation(len(order))]
    return pa.table(columns).take(pa.array(rows)), rows


def _safe(text: str) -> str:
    return in_quotes(text) if text in ("", WITHHELD_CELL) or text.startswith('"') else text

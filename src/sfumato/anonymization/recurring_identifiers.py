"""Identifiers whose values recur: where they are people, groups of k rows contain fewer than k people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.groups import dense_ranks
from sfumato.data.table import Table
from sfumato.errors import CellError, ColumnError
from sfumato.io.stored_columns import HASHED
from sfumato.plurals import count_of
from sfumato.principles import Principle


@dataclass(frozen=True)
class RecurringNotes:
    """What to say about identifiers whose values recur."""

    public: tuple[str, ...] = ()
    """For readers of the release; without figures of the original."""
    private: tuple[str, ...] = ()
    """For the publisher: how many different values the smallest groups contain."""


def recurring_identifiers(
    table: Table, kept: NDArray[np.int64], of_row: NDArray[np.int64], principles: Sequence[Principle]
) -> RecurringNotes:
    """Return notes on identifiers with recurring values, if the schema does not declare whose row a row is.

    `kept`: the rows that are published. `of_row`: the group of each row of the table.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> visits = sf.Table(pa.table({"who": [1, 1, 2], "age": [30, 30, 30]}), sf.Schema(["age"], identifiers=["who"]))
    >>> print(recurring_identifiers(visits, np.arange(3), np.zeros(3, np.int64), [sf.KAnonymity(3)]).private[0])
    values of the identifier 'who' recur (2 in 3 rows): if they are people, the smallest group contains 2 of them, and 1 of
    1 group contains fewer than k = 3; declare person_id = 'who' to count people and keep their rows together
    """
    if table.units is not None:
        return RecurringNotes()
    public, private = [], []
    k = max((p.implied_k or 1 for p in principles), default=1)
    for name in table.schema.identifiers:
        try:
            codes, values, known = _codes(table, name)
        except (ColumnError, CellError):
            continue  # cells that cannot be read are not published, so nothing depends on them
        if not 1 < values < known:
            continue
        groups = dense_ranks(of_row[kept])
        pairs = np.unique(groups * (values + 1) + codes[kept])
        each = np.bincount(pairs // (values + 1))
        fewer = int((each < k).sum())
        private.append(
            f"values of the identifier {name!r} recur ({values:,} in {table.rows:,} rows): if they are people, the smallest "
            f"group contains {each.min():,} of them, and {fewer:,} of {count_of(len(each), 'group')} "
            f"{'contains' if fewer == 1 else 'contain'} fewer than k = {k}; declare person_id = {name!r} to count people "
            "and keep their rows together"
        )
        public.append(f"rows are counted, and several have the same value of the unpublished identifier {name!r}")
    return RecurringNotes(tuple(public), tuple(private))


def _codes(table: Table, name: str) -> tuple[NDArray[np.int64], int, int]:
    """Return the values of an identifier as codes, the number of values, and of rows that have one; then the missing."""
    if table.data.schema.field(name).metadata != HASHED:
        column = table.column(name)
        return column.codes.astype(np.int64), column.size, int((column.codes < column.size).sum())
    # a table on disk has hashes of the cells, 0 for a missing one
    distinct, codes = np.unique(np.asarray(table.data.column(name).fill_null(0)), return_inverse=True)
    missing = int(np.searchsorted(distinct, 0))
    if missing == len(distinct) or distinct[missing] != 0:
        return codes, len(distinct), len(codes)
    last = len(distinct) - 1
    codes = np.where(codes == missing, last, codes - (codes > missing))
    return codes, last, int((codes < last).sum())

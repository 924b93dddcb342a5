"""Decide whether any grouping of a small table satisfies principles, by trying all of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sfumato.anonymization.exact_search.best_partition import best_partition
from sfumato.anonymization.exact_search.possible_groups import MOST_ROWS, PossibleGroups
from sfumato.anonymization.methods.method import Task
from sfumato.data.table import Table
from sfumato.errors import ParameterError
from sfumato.principles import Certificate, Principle
from sfumato.principles.known_original import with_known_original

CERTIFICATE = Certificate("all", "all groupings of the rows were tried, and none satisfies it")
"""What rules out a principle on a small table where no other certificate does."""


def most_groups_of_all(table: Table, *principles: Principle) -> int | None:
    """Return the largest number of groups in which principles can hold together; 0 if there is no such grouping.

    None for tables that are too large, or that count people with several rows.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"x": [1, 2, 3, 4, 5]}), sf.Schema(sensitive=["x"]))
    >>> [most_groups_of_all(table, sf.Dissimilarity(epsilon=1, delta=1, k=k)) for k in (1, 2, 3)]
    [2, 2, 0]
    """
    if table.rows > MOST_ROWS or table.units is not None:
        return None
    try:
        groups = PossibleGroups.of(Task(with_known_original(table, principles), principles), priced=False)
    except ParameterError as problem:
        if problem.key not in ("k", "n"):  # these two mean that the table is too small
            raise
        return 0
    found = best_partition(replace(groups, costs=np.full(len(groups.masks), -1.0)))
    return 0 if found is None else int(found.max()) + 1

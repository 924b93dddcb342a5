"""Test whether a method can satisfy a principle, and at what loss, without publishing anything."""

from __future__ import annotations

import numpy as np

from sfumato.anonymization._anonymize import check
from sfumato.anonymization.feasibility import Attempt
from sfumato.anonymization.methods import Method, Task
from sfumato.anonymization.methods.method import grouping_of
from sfumato.anonymization.recoding import recode
from sfumato.anonymization.recoding_choice import for_publication, open_recodings
from sfumato.anonymization.utility import mean_loss
from sfumato.data.groups import Groups
from sfumato.data.table import Table
from sfumato.errors import ParameterError
from sfumato.principles import Dissimilarity
from sfumato.releases.declarations import resolved_schema


def attempt_with(table: Table, method: Method, seed: int = 0, sample: int | None = None) -> Attempt:
    """Return a function for `frontier`: the loss at which a method satisfies a principle on a table, or None.

    `sample`: the largest number of rows to use, drawn by the seed.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = sf.Table(pa.table({"age": [30, 31, 50, 51], "x": [1, 9, 2, 8]}), sf.Schema(["age"], ["x"]))
    >>> class Pairs(Method):
    ...     def group(self, task, seed=0):
    ...         return sf.anonymization.Grouping(np.arange(task.table.rows) // 2)
    >>> attempt = attempt_with(people, Pairs())
    >>> round(attempt(Dissimilarity(epsilon=1, delta=1, k=2)), 4), attempt(Dissimilarity(epsilon=9, delta=1, k=2))
    (0.0476, None)
    """
    part = table  # drawn once, so that all cells of a frontier use the same rows
    if sample is not None and sample < table.rows:
        rows = np.sort(np.random.default_rng(seed).choice(table.rows, sample, replace=False))
        part = table.take(rows, resolved_schema(table))
    check(part, ())
    part, searched = open_recodings(part, method)

    def attempt(principle: Dissimilarity) -> float | None:
        if principle.k > part.rows:
            raise ParameterError(
                f"k = {principle.k} is larger than the sample of {part.rows:,} rows",
                remedy=f"Use a sample of at least {principle.k:,} rows, or all rows.",
                key="sample",
                value=sample,
            )
        task = Task(searched, (principle,))
        grouping = grouping_of(method, task, seed)
        of_row = np.asarray(grouping.of_row, np.int64)
        if not task.satisfied(of_row).all():
            return None
        recoded = for_publication(part, searched, grouping)
        return mean_loss(recode(recoded, Groups(of_row, int(of_row.max()) + 1, part.rows), grouping.levels))

    return attempt

"""Test whether a method can satisfy a principle, and at what loss, without publishing anything."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.anonymization._anonymize import check
from sfumato.anonymization.feasibility import Attempt
from sfumato.anonymization.methods import Method, Task
from sfumato.anonymization.recoding import recode
from sfumato.anonymization.recoding_choice import for_publication, open_recodings
from sfumato.anonymization.unit_groups import find_groups
from sfumato.anonymization.utility import mean_loss
from sfumato.data.cell_classes import limits_that_occur
from sfumato.data.groups import Groups
from sfumato.data.table import Table
from sfumato.errors import ParameterError
from sfumato.principles import Dissimilarity, Principle
from sfumato.releases.declarations import resolved_schema


def attempt_with(
    table: Table, method: Method, seed: int = 0, sample: int | None = None, others: Sequence[Principle] = ()
) -> Attempt:
    """Return a function for `frontier`: the loss at which a method satisfies a principle on a table, or None.

    `sample`: the largest number of rows to use, or of people if the schema declares them, drawn by the seed. `others`:
    principles to satisfy besides.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = sf.Table(pa.table({"age": [30, 31, 50, 51], "x": [1, 9, 2, 8]}), sf.Schema(["age"], ["x"]))
    >>> class Pairs(Method):
    ...     def group(self, task, seed=0):
    ...         return sf.anonymization.Grouping(np.argsort(np.argsort(task.table.column("age").codes)) // 2)
    >>> attempt = attempt_with(people, Pairs())
    >>> round(attempt(Dissimilarity(epsilon=1, delta=1, k=2)), 4), attempt(Dissimilarity(epsilon=9, delta=1, k=2))
    (0.0476, None)
    """
    check(table, ())
    part = sample_of(table, sample, seed)  # drawn once, so that all cells of a frontier use the same rows
    people = part.rows if part.units is None else part.units.count

    def attempt(principle: Dissimilarity) -> float | None:
        if principle.k > people:
            raise ParameterError(
                f"k = {principle.k} is larger than the sample of {people:,} rows",
                remedy=f"Use a sample of at least {principle.k:,} rows, or all rows.",
                key="sample",
                value=sample,
            )
        return loss_with(part, method, (principle, *others), seed)

    return attempt


def sample_of(table: Table, sample: int | None, seed: int) -> Table:
    """Return a table of at most this many rows, or people if the schema declares them, drawn by the seed."""
    everyone = table.rows if table.units is None else table.units.count
    if sample is None or sample >= everyone:
        return table
    chosen = np.sort(np.random.default_rng(seed).choice(everyone, sample, replace=False))
    rows = chosen if table.units is None else np.flatnonzero(np.isin(table.units.of_row, chosen))
    part = table.take(rows, resolved_schema(table))
    return part.with_schema(limits_that_occur(part, part.schema))


def loss_with(part: Table, method: Method, principles: Sequence[Principle], seed: int) -> float | None:
    """Return the loss at which a method satisfies principles on a table; None if it does not."""
    part, searched = open_recodings(part, method, principles)
    task = Task(searched, tuple(principles))
    grouping = find_groups(task, method, seed)
    of_row = np.asarray(grouping.of_row, np.int64)
    if not task.satisfied_at(of_row, grouping.levels).all():
        return None
    recoded = for_publication(part, searched, grouping)
    return mean_loss(recode(recoded, Groups(of_row, int(of_row.max()) + 1, part.rows), grouping.levels))

"""Groups that a test gives, row by row of the original, as a method must return them: it sees the rows in a secret order."""

from __future__ import annotations

import numpy as np

from sfumato.anonymization.methods import Grouping, Method
from sfumato.anonymization.unit_task import UnitTask
from sfumato.seeds import secret_order


def as_seen(of_row, task, seed):
    """Return groups of the rows of the original as a method sees these rows, or their units."""
    of_row = np.asarray(of_row)[secret_order(seed, len(of_row))]
    if isinstance(task, UnitTask):
        return of_row[np.unique(task.units.of_row, return_index=True)[1]]
    return of_row


class Fixed(Method):
    """Groups that are given."""

    name = "fixed"

    def __init__(self, of_row):
        self.of_row = np.asarray(of_row)

    def group(self, task, seed=0):
        return Grouping(as_seen(self.of_row, task, seed))

    def parameters(self):
        return {}

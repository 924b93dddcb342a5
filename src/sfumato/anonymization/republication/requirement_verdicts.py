"""Whether multisets of candidates satisfy the requirements, as if each of them were a group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.republication.multisets import Multisets
from sfumato.data.attribute import Attribute
from sfumato.data.groups import Groups
from sfumato.data.table import Table
from sfumato.errors import ParameterError
from sfumato.principles import Principle, View, attributes_of
from sfumato.principles.principle import measurement_of

Integers = NDArray[np.int64]


class RequirementVerdicts:
    """Measures principles on multisets of candidates.

    `values`: a table whose row v has the candidate v. `rows`: how many rows of the table that is published have each; a
    principle that compares a group with the whole table compares a multiset with these.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> values = sf.Table(pa.table({"ill": ["flu", "gout"]}), sf.Schema(sensitive=["ill"]))
    >>> verdicts = RequirementVerdicts(values, [sf.DistinctLDiversity(2)], np.array([3, 2]))
    >>> verdicts(Multisets.listed([[(0, 1), (1, 1)], [(0, 2)], []])).tolist()
    [True, False, False]
    """

    def __init__(self, values: Table, principles: Sequence[Principle], rows: Integers) -> None:
        self.values = values
        self.rows = rows
        self.requirements = [(p, names) for p in principles for names in attributes_of(p, values.schema)]
        self.population = int(rows.sum())
        self.views = {names: View(values, names) for _, names in self.requirements}

    def __call__(self, sets: Multisets) -> NDArray[np.bool_]:
        """Return for each multiset whether every requirement holds; nothing holds for an empty one."""
        fine = sets.sizes > 0
        if not fine.any():
            return fine
        some = sets if fine.all() else sets.take(np.flatnonzero(fine))
        of_row = np.repeat(some.owner, some.counts)
        rows = np.repeat(some.values, some.counts)
        groups = Groups(of_row, len(some), self.population)
        holds = np.ones(len(some), bool)
        views: dict[tuple[str, ...], View] = {}
        for principle, names in self.requirements:
            if principle.histogram_only:
                view = views.setdefault(names, self._view(names, rows, groups))
            else:
                view = View(self.values.take(rows), names, groups)
            holds &= measurement_of(principle, view).group_holds
        fine[fine] = holds
        return fine

    def _view(self, names: tuple[str, ...], rows: Integers, groups: Groups) -> View:
        view = View(self.values, names, groups)
        if names:
            own = self.views[names].attribute
            counts = np.bincount(own.codes, self.rows, len(own)).astype(np.int64)
            view.attribute = Attribute(own.name, own.columns, own.codes[rows], own.parts, counts, own.graphs, own.lock)
        return view


def refuse_wider_groups(principles: Sequence[Principle]) -> None:
    """Raise an error for a principle that is not a condition on the values of a group and of the table."""
    for principle in principles:
        if principle.relative and not principle.histogram_only:
            raise ParameterError(
                f"{principle.title} compares groups with wider groups of rows, and candidates of several releases have no "
                "such groups",
                remedy="Use a principle that compares a group with the whole table, or with nothing.",
                key="principles",
                value=principle.name,
            )

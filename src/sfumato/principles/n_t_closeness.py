"""(n,t)-closeness."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data.groups import Groups, Histogram
from sfumato.errors import ParameterError
from sfumato.exact import Number, Ratios
from sfumato.principles.base import Measurement, On, Part, Principle, exactly
from sfumato.principles.earth_mover import GROUNDS, Target, emd
from sfumato.principles.view import View

_CELLS = 1 << 22
"""So many counts of supersets are held at a time."""

_MOST = 12
"""Subsets of more quasi-identifiers than this are too many to try all."""


@dataclass(frozen=True)
class NTCloseness(Principle):
    """Every group is within t of some natural superset that holds at least n rows.

    In plain words: the secrets of every group are distributed much as in some larger part of the table that it belongs
    to.

    A natural superset of a group is the set of rows that agree with all of it on some of the quasi-identifiers: on any
    subset of them, or on the subsets listed in `supersets`; the empty subset, the whole table, always counts. The level
    is the smallest distance to such a superset, the earth mover's as in t-closeness.

    - `n`: how many rows a superset holds at least.
    - `t`: how far a group may be from it, from 0 to 1.
    - `ground`: how far apart two values are: "equal", "ordered" or "hierarchical".
    - `supersets`: the subsets of the quasi-identifiers to try; every subset if not given.

    Not monotone: two groups may be close to different supersets.

    Does not protect against what is common in the superset, nor against narrow ranges within a group.

    Source: Li, Li and Venkatasubramanian, Closeness: a new privacy measure for data publishing, TKDE 22(7), 2010.

    >>> NTCloseness(n=1000, t="0.2").parameters()
    {'n': 1000, 't': '0.2', 'ground': 'equal'}
    """

    n: int
    t: Number
    ground: str = "equal"
    supersets: tuple[tuple[str, ...], ...] | None = None
    on: On = None

    name: ClassVar[str] = "n-t-closeness"
    title: ClassVar[str] = "(n,t)-closeness"
    monotone: ClassVar[bool] = False
    scope: ClassVar[Literal["each"]] = "each"

    def __post_init__(self) -> None:
        self._check_whole("n")
        self._set_fraction("t", least=0, most=1)
        self._check_choice("ground", GROUNDS)
        if self.supersets is not None:
            lists = isinstance(self.supersets, list | tuple)
            if not lists or any(isinstance(s, str) or not isinstance(s, list | tuple) for s in self.supersets):
                raise ParameterError(
                    f"{self.name}: supersets is not a list of lists of columns",
                    remedy='Write such as supersets = [["state"], ["state", "sex"]].',
                    key="supersets",
                    value=self.supersets,
                )
            object.__setattr__(self, "supersets", tuple(tuple(columns) for columns in self.supersets))

    def measure(self, view: View) -> Measurement:
        """Return each group's distance from the nearest superset that is large enough."""
        rows = view.table.rows
        if self.n > rows:
            raise ParameterError(
                f"n = {self.n} is larger than the table, which has {rows} rows",
                remedy=f"Give n at most {rows}.",
                key="n",
                value=self.n,
                file=view.table.source,
            )
        limit = exactly(self.t)
        best = np.full(view.groups.count, np.inf)
        numerators = np.ones(view.groups.count, object)
        denominators = np.zeros(view.groups.count, object)
        holds = np.zeros(view.groups.count, bool)
        for columns in self._subsets(view):
            wider = Groups.of(view.table, columns)
            for chosen, target in _targets(view, wider, self.n):
                level = emd(view.attribute, view.histogram.of_groups(chosen), self.ground, target)
                holds[chosen] |= level.at_most(limit)
                floats = level.floats()
                nearer = floats < best[chosen]
                best[chosen[nearer]] = floats[nearer]
                numerators[chosen[nearer]] = level.numerators[nearer]
                denominators[chosen[nearer]] = level.denominators[nearer]
        part = Part("t", Ratios(numerators, denominators), holds, "at most", limit)
        return Measurement((part,))

    def _subsets(self, view: View) -> Iterator[tuple[str, ...]]:
        schema = view.table.schema
        yield ()
        if self.supersets is not None:
            for columns in self.supersets:
                unknown = [column for column in columns if column not in schema.quasi_identifiers]
                if unknown:
                    raise ParameterError(
                        f"{self.name}: {unknown[0]!r} in supersets is no quasi-identifier",
                        remedy=f"The quasi-identifiers are: {', '.join(schema.quasi_identifiers)}.",
                        key="supersets",
                        value=unknown[0],
                    )
                yield columns
            return
        if len(schema.quasi_identifiers) > _MOST:
            raise ParameterError(
                f"{self.name}: {len(schema.quasi_identifiers)} quasi-identifiers have too many subsets to try all",
                remedy='List the ones that matter, such as supersets = [["state"], ["state", "sex"]].',
                key="supersets",
            )
        for size in range(1, len(schema.quasi_identifiers) + 1):
            yield from combinations(schema.quasi_identifiers, size)


def _targets(view: View, wider: Groups, least: int) -> Iterator[tuple[NDArray[np.int64], Target]]:
    """Groups whose superset has at least so many rows, with that superset's distribution; some supersets at a time."""
    large = np.flatnonzero(wider.sizes >= least)
    histogram = Histogram.of(wider, view.attribute)
    of_group = wider.of_row[view.groups.first_rows]
    # a superset holds the whole group: all its rows agree
    apart = np.bincount(view.groups.of_row, wider.of_row != of_group[view.groups.of_row], minlength=view.groups.count)
    width = len(view.attribute)
    step = max(1, _CELLS // width)
    for start in range(0, len(large), step):
        some = large[start : start + step]
        h = histogram.of_groups(some)
        totals = np.zeros((len(some), width), np.int64)
        totals[h.group, h.values] = h.counts
        chosen = np.flatnonzero(np.isin(of_group, some) & (apart == 0))
        if not len(chosen):
            continue
        yield chosen, Target(totals, np.searchsorted(some, of_group[chosen]))

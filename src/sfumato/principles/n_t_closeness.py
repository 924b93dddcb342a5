"""(n,t)-closeness."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data.groups import Groups, Histogram
from sfumato.errors import ParameterError
from sfumato.exact import Number, Ratios
from sfumato.parameters import ParameterRange, choice, whole
from sfumato.principles.earth_mover import GROUNDS, Target, emd
from sfumato.principles.principle import Measurement, On, Part, Principle, exactly
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, ExampleGroup

_CELLS = 1 << 22
"""How many counts of supersets are in memory at a time."""

_MOST = 12
"""The largest number of quasi-identifiers all of whose subsets are tried."""


@dataclass(frozen=True)
class NTCloseness(Principle):
    """Every group is within t of some natural superset that contains at least n rows.

    In plain words: the secrets of every group are distributed much as in some larger part of the table that contains
    it.

    A natural superset of a group is the set of rows that agree with all its rows on some of the quasi-identifiers: on any
    subset of them, or on the subsets listed in `supersets`. The empty subset, which is the whole table, always counts. The
    level is the smallest earth mover's distance to such a superset, as in t-closeness.

    - `n`: the smallest number of rows in a superset.
    - `t`: the largest distance of a group from it, from 0 to 1.
    - `ground`: the ground distance of two values: "equal", "ordered" or "hierarchical".
    - `supersets`: the subsets of the quasi-identifiers to try; every subset by default.

    Not monotone: two groups may be close to different supersets.

    Does not protect against what is common in the superset, nor against narrow ranges within a group.

    Source: Li, Li & Venkatasubramanian (2010), Closeness: a new privacy measure for data publishing, TKDE 22(7).

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
    family: ClassVar[str] = "distribution"
    scope: ClassVar[Literal["each"]] = "each"
    monotone: ClassVar[bool] = False
    ranges: ClassVar[Mapping[str, ParameterRange]] = {
        "n": whole("rows", usual=(100, 10_000)),
        "t": ParameterRange("number", "share", "lower", usual=("0.05", "0.5"), most=1),
        "ground": choice(*GROUNDS),
        "supersets": ParameterRange("columns"),
    }

    def __post_init__(self) -> None:
        self.check_ranges()
        if self.supersets is not None:
            lists = isinstance(self.supersets, list | tuple)
            if not lists or any(isinstance(s, str) or not isinstance(s, list | tuple) for s in self.supersets):
                raise ParameterError(
                    f"{self.name}: supersets is not a list of lists of columns",
                    remedy='Write, for example, supersets = [["state"], ["state", "sex"]].',
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
        # For each group the nearest superset so far: floats choose it, the verdict is decided exactly for each.
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

    @classmethod
    def example(cls) -> Example:
        """Return two groups that are like their town, and one whose town is too small to be compared with."""
        alike = "(|1/2 − 2/4| + |1/2 − 2/4|)/2"
        groups = (
            ExampleGroup(
                ("Lyon", "20-29"),
                ("flu", "gout"),
                "flu and gout are 1/2 each of the group, and 2/4 each of Lyon, which has 4 people",
                alike,
            ),
            ExampleGroup(("Lyon", "30-39"), ("flu", "gout"), "the same", alike),
            ExampleGroup(
                ("Nice", "30-39"),
                ("ulcer", "ulcer"),
                "Nice has 2 people, too few; of the 4 who are 30-39 ulcer is 2/4, flu and gout 1/4 each",
                "(|2/2 − 2/4| + |0/2 − 1/4| + |0/2 − 1/4|)/2",
            ),
        )
        return Example(cls(n=4, t="0.2"), ("town", "age"), "illness", groups)

    def _subsets(self, view: View) -> Iterator[tuple[str, ...]]:
        """Yield the subsets of the quasi-identifiers to try, the empty one first."""
        schema = view.table.schema
        yield ()
        if self.supersets is not None:
            for columns in self.supersets:
                unknown = [column for column in columns if column not in schema.quasi_identifiers]
                if unknown:
                    raise ParameterError(
                        f"{self.name}: {unknown[0]!r} in supersets is not a quasi-identifier",
                        remedy=f"The quasi-identifiers are: {', '.join(schema.quasi_identifiers)}.",
                        key="supersets",
                        value=unknown[0],
                    )
                yield columns
            return
        if len(schema.quasi_identifiers) > _MOST:
            raise ParameterError(
                f"{self.name}: {len(schema.quasi_identifiers)} quasi-identifiers have too many subsets to try all",
                remedy='List the subsets that matter, for example supersets = [["state"], ["state", "sex"]].',
                key="supersets",
            )
        for size in range(1, len(schema.quasi_identifiers) + 1):
            yield from combinations(schema.quasi_identifiers, size)


def _targets(view: View, wider: Groups, least: int) -> Iterator[tuple[NDArray[np.int64], Target]]:
    """Yield groups whose superset has at least `least` rows, with the distributions of those supersets; in batches."""
    large = np.flatnonzero(wider.sizes >= least)
    histogram = Histogram.of(wider, view.attribute)
    of_group = wider.of_row[view.groups.first_rows]
    # A superset must contain the whole group: count the rows of each group that are in another superset than its first row.
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

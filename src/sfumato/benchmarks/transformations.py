"""Every full-domain transformation of a table, and what each attribute's closeness would be under it.

A transformation puts each quasi-identifier on one level of its hierarchy. There are few enough here to look at all of them,
each attribute once; what a projected table can reach is then a matter of looking up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from sfumato.groups import Groups, combination_ranks
from sfumato.principles import TCloseness, View
from sfumato.table import Column, Table


@dataclass(frozen=True, eq=False)
class Transformations:
    """The transformations of a table whose groups have at least k rows."""

    quasi_identifiers: tuple[str, ...]
    names: tuple[str, ...]
    """The attributes whose closeness is known."""
    count: int
    """All transformations, those with smaller groups included."""
    levels: tuple[tuple[int, ...], ...]
    smallest: NDArray[np.int64]
    """The rows of the smallest group of each."""
    discernibility: NDArray[np.int64]
    """The sum of the squares of its groups' sizes (Bayardo and Agrawal, ICDE 2005)."""
    closeness: tuple[tuple[Fraction, ...], ...]
    """For each transformation and attribute the largest distance of a group from the table (equal ground distance)."""

    @classmethod
    def of(
        cls, table: Table, names: Sequence[str], k: int = 2, tell: Callable[[str], None] = lambda _: None
    ) -> Transformations:
        """Measure every transformation with groups of at least k rows. Cost: for each as many sorts as attributes."""
        quasi = table.schema.quasi_identifiers
        every = list(product(*(range(paths_of(table.column(name)).shape[1]) for name in quasi)))
        principle = TCloseness(1)
        views: list[View] = []
        levels, smallest, discernibility, closeness = [], [], [], []
        for place, chosen in enumerate(every, start=1):
            of_row = grouped(table, chosen)
            groups = Groups.partition(table, of_row, int(of_row.max()) + 1)
            least = int(groups.sizes.min())
            if least < k:
                continue
            tell(f"transformation {place} of {len(every)}")
            if not views:
                views = [View(table, (name,), groups) for name in names]
                _ = [view.attribute for view in views]  # encoded once, and kept when the groups change
            levels.append(chosen)
            smallest.append(least)
            discernibility.append(int((groups.sizes**2).sum()))
            closeness.append(tuple(Fraction(principle.measure(view.regrouped(groups)).level) for view in views))
        return cls(
            tuple(quasi),
            tuple(names),
            len(every),
            tuple(levels),
            np.array(smallest),
            np.array(discernibility),
            tuple(closeness),
        )

    def valid(self, k: int = 2, most: float | None = None) -> NDArray[np.bool_]:
        """Those with groups of at least k rows and at most so much discernibility."""
        enough = self.smallest >= k
        return enough if most is None else enough & (self.discernibility <= most)

    def best(self, block: Sequence[str], k: int = 2, most: float | None = None) -> Fraction | None:
        """The best closeness that a projected table with these attributes can have; None if no transformation is valid."""
        place = self._best(block, k, most)
        return None if place is None else self._reached(place, block)

    def best_levels(self, block: Sequence[str], k: int = 2, most: float | None = None) -> tuple[int, ...] | None:
        """The levels of the transformation that has it, the one of least discernibility; None if none is valid."""
        place = self._best(block, k, most)
        return None if place is None else self.levels[place]

    def finest(self, k: int = 2) -> tuple[int, ...] | None:
        """The levels of the transformation of least discernibility whose groups have at least k rows."""
        valid = np.flatnonzero(self.valid(k)).tolist()
        return self.levels[min(valid, key=lambda place: int(self.discernibility[place]))] if valid else None

    def best_of(self, blocks: Sequence[Sequence[str]], k: int = 2, most: float | None = None) -> Fraction | None:
        """The best closeness of a plan, each of whose tables may have a transformation of its own: that of the worst."""
        each = [self.best(block, k, most) for block in blocks]
        return None if None in each else max(reached for reached in each if reached is not None)

    def _best(self, block: Sequence[str], k: int, most: float | None) -> int | None:
        valid = np.flatnonzero(self.valid(k, most)).tolist()
        return min(valid, key=lambda place: (self._reached(place, block), self.discernibility[place]), default=None)

    def _reached(self, place: int, block: Sequence[str]) -> Fraction:
        return max(self.closeness[place][self.names.index(name)] for name in block)


def grouped(table: Table, levels: Sequence[int]) -> NDArray[np.int64]:
    """The group of each row if each quasi-identifier is put on a level of its hierarchy."""
    columns = [table.column(name) for name in table.schema.quasi_identifiers]
    codes = [paths_of(column)[:, level][column.codes] for column, level in zip(columns, levels, strict=True)]
    return combination_ranks(codes, [int(code.max()) + 1 for code in codes])


def paths_of(column: Column) -> NDArray[np.int32]:
    """The nodes above each code of a quasi-identifier, which has a hierarchy here."""
    assert column.paths is not None
    return column.paths

"""Every full-domain transformation of a table, and the closeness of each attribute under it.

A transformation generalizes each quasi-identifier to one level of its hierarchy. There are few enough to measure all,
once per attribute. The closeness that a projected table can reach is then a look-up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from benchmarks.measurement import Notify, silent
from sfumato.anonymization.methods import Task
from sfumato.anonymization.methods.full_domain.class_verdicts import Judge
from sfumato.anonymization.methods.full_domain.equivalence_classes import TransformationCube
from sfumato.data.table import Table
from sfumato.principles import TCloseness


@dataclass(frozen=True, eq=False)
class Transformations:
    """The transformations of a table whose groups have at least k rows."""

    cube: TransformationCube
    names: tuple[str, ...]
    """The attributes whose closeness is measured."""
    count: int
    """The number of all transformations, including those with smaller groups."""
    levels: tuple[tuple[int, ...], ...]
    smallest: NDArray[np.int64]
    """The number of rows in the smallest group of each transformation."""
    discernibility: NDArray[np.int64]
    """The sum of the squared group sizes of each transformation (Bayardo & Agrawal, 2005)."""
    closeness: tuple[tuple[Fraction, ...], ...]
    """For each transformation and attribute, the largest distance of a group from the table (equal ground distance)."""

    @classmethod
    def measure(cls, table: Table, names: Sequence[str], k: int = 2, notify: Notify = silent) -> Transformations:
        """Measure every transformation with groups of at least k rows. Each is merged from a finer one."""
        cube = TransformationCube(Task(table, tuple(TCloseness(1, on=name) for name in names)))
        judges = [Judge(cube, principle, asked) for principle, asked in cube.task.requirements]
        every = list(product(*(range(height + 1) for height in cube.heights)))
        levels, smallest, discernibility, closeness = [], [], [], []
        for place, chosen in enumerate(every, start=1):
            classes = cube.classes(chosen)
            least = int(classes.sizes.min())
            if least < k:
                continue
            notify(f"transformation {place} of {len(every)}")
            levels.append(chosen)
            smallest.append(least)
            discernibility.append(int((classes.sizes**2).sum()))
            closeness.append(tuple(Fraction(judge.measured(classes).level) for judge in judges))
        return cls(
            cube,
            tuple(names),
            len(every),
            tuple(levels),
            np.array(smallest),
            np.array(discernibility),
            tuple(closeness),
        )

    def valid(self, k: int = 2, most: float | None = None) -> NDArray[np.bool_]:
        """Return which transformations have groups of at least k rows and at most the discernibility `most`."""
        enough = self.smallest >= k
        return enough if most is None else enough & (self.discernibility <= most)

    def best(self, block: Sequence[str], k: int = 2, most: float | None = None) -> Fraction | None:
        """Return the best closeness that a projected table with these attributes can have; None if none is valid."""
        place = self._best(block, k, most)
        return None if place is None else self._closeness(place, block)

    def best_levels(self, block: Sequence[str], k: int = 2, most: float | None = None) -> tuple[int, ...] | None:
        """Return the levels of the closest transformation; among equals, the one of least discernibility."""
        place = self._best(block, k, most)
        return None if place is None else self.levels[place]

    def finest(self, k: int = 2) -> tuple[int, ...] | None:
        """Return the levels of the transformation of least discernibility whose groups have at least k rows."""
        valid = np.flatnonzero(self.valid(k)).tolist()
        return self.levels[min(valid, key=lambda place: int(self.discernibility[place]))] if valid else None

    def best_of(self, blocks: Sequence[Sequence[str]], k: int = 2, most: float | None = None) -> Fraction | None:
        """Return the best closeness of a plan whose tables may have different transformations: that of the worst table."""
        each = [self.best(block, k, most) for block in blocks]
        return None if None in each else max(closeness for closeness in each if closeness is not None)

    def groups(self, levels: tuple[int, ...]) -> NDArray[np.int64]:
        """Return the group of each row under a transformation."""
        return self.cube.of_rows(levels).astype(np.int64)

    def _best(self, block: Sequence[str], k: int, most: float | None) -> int | None:
        valid = np.flatnonzero(self.valid(k, most)).tolist()
        return min(valid, key=lambda place: (self._closeness(place, block), self.discernibility[place]), default=None)

    def _closeness(self, place: int, block: Sequence[str]) -> Fraction:
        return max(self.closeness[place][self.names.index(name)] for name in block)

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
            tell(f"transformation {place} of {len(every)}")
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

    def groups(self, levels: tuple[int, ...]) -> NDArray[np.int64]:
        """The group of each row under a transformation."""
        return self.cube.of_rows(levels).astype(np.int64)

    def _best(self, block: Sequence[str], k: int, most: float | None) -> int | None:
        valid = np.flatnonzero(self.valid(k, most)).tolist()
        return min(valid, key=lambda place: (self._reached(place, block), self.discernibility[place]), default=None)

    def _reached(self, place: int, block: Sequence[str]) -> Fraction:
        return max(self.closeness[place][self.names.index(name)] for name in block)

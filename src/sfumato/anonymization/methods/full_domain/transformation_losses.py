"""What a transformation costs: losses that a full-domain search can minimise; `sfumato.registry` names them all.

Each gives the exact loss of a transformation, and for every transformation a lower bound on its own loss and on that of all
coarser ones. Suppressed rows, S of n, are those of the classes that violate a principle; d is the number of
quasi-identifiers. A node's share is that of `Domain.share`: leaves under it over all leaves, 0 if it tells the value.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.full_domain.equivalence_classes import Classes, Cube
from sfumato.exact import nearest_float
from sfumato.kernels.class_rollup import sum_costs

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(eq=False)
class FullLoss(ABC):
    """A loss of transformations; smaller is better."""

    cube: Cube
    most: int
    """How many rows may be suppressed."""
    k: int
    """The k that the size of classes is told in."""
    least: int
    """How many rows every published class surely holds."""

    name: ClassVar[str]
    may_fall: ClassVar[bool] = False
    """Whether it may be lower when more rows are suppressed: those do not count, and others were cheaper."""

    @abstractmethod
    def bounds(self) -> Floats:
        """For every transformation a lower bound on its loss and that of all coarser ones, known before any is looked at."""

    @abstractmethod
    def score(self, classes: Classes, violating: NDArray[np.bool_]) -> Fraction:
        """The loss of a transformation."""

    def bound(self, classes: Classes) -> float:
        """What its classes tell of its own loss and that of all coarser ones; at least this."""
        del classes
        return -math.inf

    def finer(self, classes: Classes, staying: NDArray[np.bool_]) -> tuple[float, float]:
        """What classes whose rows stay suppressed in every finer transformation tell of the loss of those.

        It is at least what `bounds` says plus the first number; and at least the second.
        """
        del classes, staying
        return 0.0, -math.inf

    def _over(self, terms: list[Floats]) -> Floats:
        """The sum of one term per quasi-identifier and level, for every transformation."""
        return np.asarray(reduce(np.add.outer, terms))


class NodeCosts(FullLoss):
    """The mean over rows and quasi-identifiers of the cost of the published node; a suppressed row costs 1 in each."""

    @abstractmethod
    def costs(self) -> list[tuple[Integers, int]]:
        """For each quasi-identifier the cost of each level and code, as whole numbers over a denominator."""

    @cached_property
    def _flat(self) -> Integers:
        return np.concatenate([costs.ravel() for costs, _ in self._each])

    @cached_property
    def _each(self) -> list[tuple[Integers, int]]:
        return self.costs()

    @cached_property
    def _sums(self) -> list[Integers]:
        """For each quasi-identifier and level the sum of the costs over all rows."""
        return [
            costs @ np.bincount(ladder.domain.column.codes, minlength=costs.shape[1])
            for (costs, _), ladder in zip(self._each, self.cube.columns, strict=True)
        ]

    def bounds(self) -> Floats:
        """The loss if nothing is suppressed: coarser nodes cost no less, nor do suppressed cells."""
        d, rows = len(self._each), self.cube.rows
        return self._over([sums / (den * rows * d) for sums, (_, den) in zip(self._sums, self._each, strict=True)])

    def score(self, classes: Classes, violating: NDArray[np.bool_]) -> Fraction:
        """The loss of a transformation."""
        d, rows = len(self._each), self.cube.rows
        dropped = np.zeros(d, np.int64)
        if violating.any():
            at = self.cube.at(classes.levels)
            sum_costs(self.cube.codes, self._flat, at, classes.first, classes.sizes, violating, dropped)
        suppressed = int(classes.sizes[violating].sum())
        total = Fraction(suppressed * d)
        for sums, level, less, (_, den) in zip(self._sums, classes.levels, dropped.tolist(), self._each, strict=True):
            total += Fraction(int(sums[level]) - less, den)
        return total / (rows * d)

    def finer(self, classes: Classes, staying: NDArray[np.bool_]) -> tuple[float, float]:
        """Rows that stay suppressed cost 1 per cell; what their cells would cost instead is even less if they are finer."""
        bare = sum(int(sums[at]) / den for sums, at, (_, den) in zip(self._sums, classes.levels, self._each, strict=True))
        return nearest_float(self.score(classes, staying)) - bare / (self.cube.rows * len(self._each)), -math.inf


class Mean(NodeCosts):
    """The mean share over rows and quasi-identifiers: the package's `mean_loss`."""

    name = "mean"

    def costs(self) -> list[tuple[Integers, int]]:
        """The leaves that each node leaves open, over all."""
        return [(ladder.leaves, max(1, ladder.domain.size)) for ladder in self.cube.columns]


class Normalised(NodeCosts):
    """As the mean, with (leaves − 1) / (leaves of the domain − 1) for a share: the package's `normalised_loss`.

    Source: V. Iyengar, Transforming data to satisfy privacy constraints, KDD 2002.
    """

    name = "normalised"

    def costs(self) -> list[tuple[Integers, int]]:
        """The steps from one leaf to those that each node leaves open, over all steps."""
        found = []
        for ladder in self.cube.columns:
            steps = ladder.domain.size - 1
            open_steps = ladder.leaves - 1 if steps > 0 else ladder.leaves
            found.append((np.where(ladder.leaves > 0, open_steps, 0), max(1, steps)))
        return found


class Precision(NodeCosts):
    """The mean over rows and quasi-identifiers of level over height: one minus the precision of a release.

    Source: L. Sweeney, Achieving k-anonymity privacy protection using generalization and suppression, IJUFKS 10(5), 2002.
    """

    name = "precision"

    def costs(self) -> list[tuple[Integers, int]]:
        """The level, over the height."""
        shapes = [(ladder.nodes.shape, ladder.height) for ladder in self.cube.columns]
        return [(np.broadcast_to(np.arange(height + 1)[:, None], shape).copy(), height) for shape, height in shapes]


class GroupMean(NodeCosts):
    """The mean over published groups of the sum of their shares: the package's loss per group, after paper 001."""

    name = "group-mean"
    may_fall = True

    def costs(self) -> list[tuple[Integers, int]]:
        """As for the mean."""
        return [(ladder.leaves, max(1, ladder.domain.size)) for ladder in self.cube.columns]

    def bounds(self) -> Floats:
        """A group costs at least what its cheapest nodes do, and coarser nodes are no cheaper."""
        return self._over([costs.min(axis=1) / den for costs, den in self._each])

    def score(self, classes: Classes, violating: NDArray[np.bool_]) -> Fraction:
        """The loss of a transformation."""
        sums = np.zeros(len(self._each), np.int64)
        ones, at = np.ones(len(classes.first), np.int64), self.cube.at(classes.levels)
        sum_costs(self.cube.codes, self._flat, at, classes.first, ones, ~violating, sums)
        total = sum((Fraction(own, den) for own, (_, den) in zip(sums.tolist(), self._each, strict=True)), Fraction(0))
        return total / int((~violating).sum())

    def finer(self, classes: Classes, staying: NDArray[np.bool_]) -> tuple[float, float]:
        """Nothing: suppressed groups do not count."""
        return 0.0, -math.inf


class Entropy(FullLoss):
    """Non-uniform entropy: Σ over all rows, suppressed or not, and quasi-identifiers of −log₂(freq(v) / freq(node above v)).

    Frequencies are those of the table. Told to a millionth of a bit, so that what is equal stays equal. Source: A. Gionis
    and T. Tassa, k-anonymization with minimal loss of information, TKDE 21(2), 2009.
    """

    name = "entropy"

    @cached_property
    def _bits(self) -> list[Floats]:
        found = []
        for ladder in self.cube.columns:
            column = ladder.domain.column
            counts = np.bincount(column.codes, minlength=column.domain)
            levels = []
            for nodes in ladder.nodes:
                above = np.bincount(nodes, counts)[nodes]
                pairs = zip(counts.tolist(), above.tolist(), strict=True)
                terms = [count * math.log2(whole / count) for count, whole in pairs if count]  # some may but do not occur
                levels.append(math.fsum(terms))
            found.append(np.array(levels))
        return found

    @cached_property
    def _table(self) -> Floats:
        return np.round(self._over(self._bits), 6)

    def bounds(self) -> Floats:
        """The loss itself."""
        return self._table

    def score(self, classes: Classes, violating: NDArray[np.bool_]) -> Fraction:
        """The loss of a transformation."""
        del violating
        return Fraction(round(float(self._table[classes.levels]) * 10**6), 10**6)


class Discernibility(FullLoss):
    """Σ over published classes of |E|², and n for each suppressed row: the package's `discernibility`.

    Source: R. Bayardo and R. Agrawal, Data privacy through optimal k-anonymization, ICDE 2005.
    """

    name = "discernibility"

    def bounds(self) -> Floats:
        """In c classes n rows cost at least n²/c, and there are no more classes than combinations of nodes."""
        combinations = np.exp(self._over([np.log(ladder.nodes.max(axis=1) + 1.0) for ladder in self.cube.columns]))
        return np.asarray(self.cube.rows**2 / combinations)

    def score(self, classes: Classes, violating: NDArray[np.bool_]) -> Fraction:
        """The loss of a transformation."""
        sizes = classes.sizes[~violating]
        return Fraction(_dot(sizes, sizes) + int(classes.sizes[violating].sum()) * self.cube.rows)

    def bound(self, classes: Classes) -> float:
        """Coarser classes are larger, and a published one is not smaller than was asked."""
        return float(_dot(classes.sizes, np.maximum(classes.sizes, self.least)))

    def finer(self, classes: Classes, staying: NDArray[np.bool_]) -> tuple[float, float]:
        """Rows that stay suppressed cost n each."""
        stay = int(classes.sizes[staying].sum())
        return 0.0, float(stay * self.cube.rows + (self.cube.rows - stay) * self.least)


class ClassSize(FullLoss):
    """Published rows over classes × k: the package's `average_class_size`; with k = 1 if no principle has a k.

    Source: K. LeFevre, D. DeWitt and R. Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006.
    """

    name = "class-size"
    may_fall = True

    def bounds(self) -> Floats:
        """There are no more classes than combinations of nodes."""
        combinations = np.exp(self._over([np.log(ladder.nodes.max(axis=1) + 1.0) for ladder in self.cube.columns]))
        return np.asarray((self.cube.rows - self.most) / (combinations * self.k))

    def score(self, classes: Classes, violating: NDArray[np.bool_]) -> Fraction:
        """The loss of a transformation."""
        return Fraction(int(classes.sizes[~violating].sum()), int((~violating).sum()) * self.k)

    def bound(self, classes: Classes) -> float:
        """A published class of a coarser transformation holds one of at least that many rows, or so many of smaller ones."""
        small = classes.sizes < self.least
        count = int((~small).sum()) + int(classes.sizes[small].sum()) // self.least
        return (self.cube.rows - self.most) / (max(1, count) * self.k)


def _dot(one: Integers, other: Integers) -> int:
    """The sum of products; whole numbers of any size if 64 bits could be too few."""
    if float(one.max(initial=0)) * float(other.max(initial=0)) * len(one) < 2.0**62:
        return int(one @ other)
    return sum(a * b for a, b in zip(one.tolist(), other.tolist(), strict=True))

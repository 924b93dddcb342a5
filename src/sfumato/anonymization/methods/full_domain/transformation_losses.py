"""The losses that a full-domain search can minimise; `sfumato.registry.LOSSES` names them.

Each computes the exact loss of a transformation and, for every transformation, a lower bound on its own loss and on that of
all coarser ones. Suppressed rows are those of the classes that violate a principle. The share of a node is that of
`Domain.share`: the leaves under it over all leaves, 0 if it is a single value. Where a loss is a sum over
quasi-identifiers, each counts by the weight that the schema declares for it; discernibility and class size are about
classes, not columns.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.association_lines import AssociationLine, association_lines
from sfumato.anonymization.methods.full_domain.equivalence_classes import EquivalenceClasses, TransformationCube
from sfumato.anonymization.recoding import ColumnLevels
from sfumato.exact import as_fraction, nearest_float
from sfumato.kernels.class_rollup import sum_costs

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_POSITIONS = 10**6
"""Positions on an association line are whole numbers up to this."""


@dataclass(eq=False)
class TransformationLoss(ABC):
    """A loss of transformations; smaller is better.

    A subclass of your own defines `terms` and `score`. The search examines a transformation only if its bound is below the
    best score, so a bound that is too high loses the optimum; if no loss is negative, 0 everywhere is right, and slow.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> class Rows(TransformationLoss):
    ...     name = "suppressed-rows"
    ...
    ...     def terms(self):
    ...         return [np.zeros(column.height + 1) for column in self.cube.columns]
    ...
    ...     def score(self, classes, violating):
    ...         return Fraction(int(classes.sizes[violating].sum()))
    >>> table = sf.Table(pa.table({"sex": ["f", "f", "m"]}), sf.Schema(["sex"]))
    >>> cube = TransformationCube(sf.anonymization.Task(table, ()))
    >>> loss, classes = Rows(cube, most=1, k=2, least=2), cube.classes((0,))
    >>> loss.score(classes, classes.sizes < 2)
    Fraction(1, 1)
    """

    cube: TransformationCube
    most: int
    """The largest number of rows that may be suppressed."""
    k: int
    """The k in units of which class sizes are given."""
    least: int
    """A lower bound on the size of every published class."""

    name: ClassVar[str]
    may_fall: ClassVar[bool] = False
    """Whether the loss may fall when more rows are suppressed: suppressed rows do not count, and others were cheaper."""
    decided_by_bound: ClassVar[bool] = False
    """Whether `bound` decides about most transformations, so that a search may expect as much from it as from violations."""

    @abstractmethod
    def terms(self) -> list[Floats]:
        """Return a number for each quasi-identifier and each of its levels, which does not fall from level to level.

        Their sum under a transformation, passed through `bound_of`, is a lower bound on its loss. It holds for all coarser
        ones too, because their sums are no smaller. Computed once, before any transformation is examined.
        """

    def bound_of(self, total: Floats) -> Floats:
        """Return the bound that belongs to a sum of terms: a function that does not fall."""
        return total

    def bounds(self) -> Floats:
        """Return the bound of every transformation: an array with one axis per quasi-identifier."""
        return self.bound_of(np.asarray(reduce(np.add.outer, self.terms())))

    @abstractmethod
    def score(self, classes: EquivalenceClasses, violating: NDArray[np.bool_]) -> Fraction:
        """Return the loss of a transformation if the rows of the violating classes are suppressed."""

    def bound(self, classes: EquivalenceClasses) -> float:
        """Return a lower bound on the loss of a transformation and of all coarser ones, from its classes."""
        del classes
        return -math.inf

    @property
    def bounds_coarser(self) -> bool:
        """Whether `bound` is defined."""
        return type(self).bound is not TransformationLoss.bound

    def finer(self, classes: EquivalenceClasses, staying: NDArray[np.bool_]) -> tuple[float, float]:
        """Return what classes whose rows stay suppressed in every finer transformation imply for the loss of those.

        The loss of a finer transformation is at least its entry in `bounds` plus the first number, and at least the second.
        """
        del classes, staying
        return 0.0, -math.inf

    def _combinations(self) -> list[Floats]:
        """Return terms whose sum is −log of the number of combinations of nodes, an upper bound on the classes."""
        return [-np.log(column.nodes.max(axis=1) + 1.0) for column in self.cube.columns]


class NodeCosts(TransformationLoss):
    """The mean over rows and quasi-identifiers of the cost of the published node; a suppressed row costs 1 in each.

    Each quasi-identifier counts by its weight. An association that the schema preserves counts as one more: the cost of a
    node is how far apart the usual outcomes of its values are (see `association_lines`).
    """

    @abstractmethod
    def costs(self) -> list[tuple[Integers, int]]:
        """Return, for each quasi-identifier, the cost of each level and code as whole numbers over a denominator."""

    @cached_property
    def _terms(self) -> list[_Term]:
        """The quasi-identifiers, then the associations."""
        weights = self.cube.task.table.schema.weights
        columns = [column.domain.name for column in self.cube.columns]
        terms = [
            _Term(j, costs, den, as_fraction(weights.get(name, 1), "weight"))
            for j, (name, (costs, den)) in enumerate(zip(columns, self.costs(), strict=True))
        ]
        mean = sum((term.weight for term in terms), Fraction(0)) / max(1, len(terms))
        lines = association_lines(self.cube.task.table, [column.domain for column in self.cube.columns], self.k)
        for line in lines:
            j = columns.index(line.column)
            costs = _outcome_ranges(line, self.cube.columns[j])
            terms.append(_Term(j, costs, _POSITIONS, as_fraction(line.weight) * mean))
        return terms

    @cached_property
    def _flat(self) -> Integers:
        return np.concatenate([term.costs.ravel() for term in self._terms])

    @cached_property
    def _codes(self) -> NDArray[np.int32]:
        """The codes of each combination, one column for each term."""
        return np.ascontiguousarray(self.cube.codes[:, [term.column for term in self._terms]])

    def _at(self, levels: Sequence[int]) -> Integers:
        """Return where the costs of each term on its level begin in the flat array."""
        starts = np.cumsum([0, *(term.costs.size for term in self._terms)])[:-1]
        return np.array(
            [s + t.costs.shape[1] * levels[t.column] for s, t in zip(starts, self._terms, strict=True)], np.int64
        )

    @cached_property
    def _sums(self) -> list[Integers]:
        """For each term and level the sum of the costs over all rows."""
        data = [self.cube.columns[term.column].domain.column.codes for term in self._terms]
        return [
            term.costs @ np.bincount(codes, minlength=term.costs.shape[1])
            for term, codes in zip(self._terms, data, strict=True)
        ]

    @cached_property
    def _weight(self) -> Fraction:
        """The cost of a row if each of its cells costs 1."""
        return sum((term.weight for term in self._terms), Fraction(0))

    def terms(self) -> list[Floats]:
        """Return the loss without suppression: coarser nodes cost no less, and neither do suppressed cells."""
        by_column = [np.zeros(column.height + 1) for column in self.cube.columns]
        for term, sums in zip(self._terms, self._sums, strict=True):
            if term.weight:
                by_column[term.column] += sums / nearest_float(term.den * self.cube.rows * self._weight / term.weight)
        return by_column

    def score(self, classes: EquivalenceClasses, violating: NDArray[np.bool_]) -> Fraction:
        """Return the loss over all rows, less the cells of suppressed rows, plus 1 for each of these cells."""
        dropped = np.zeros(len(self._terms), np.int64)  # per term the cost of the cells that are suppressed
        if violating.any():
            at = self._at(classes.levels)
            sum_costs(self._codes, self._flat, at, classes.first, classes.sizes, violating, dropped)
        total = int(classes.sizes[violating].sum()) * self._weight + self._bare(classes.levels, dropped)
        return total / (self.cube.rows * self._weight)

    def _bare(self, levels: Sequence[int], dropped: Integers | None = None) -> Fraction:
        """Return the sum of the costs of a transformation's cells, less those that are dropped."""
        less = np.zeros(len(self._terms), np.int64) if dropped is None else dropped
        total = Fraction(0)
        for term, sums, own in zip(self._terms, self._sums, less.tolist(), strict=True):
            total += term.weight * Fraction(int(sums[levels[term.column]]) - own, term.den)
        return total

    def finer(self, classes: EquivalenceClasses, staying: NDArray[np.bool_]) -> tuple[float, float]:
        """Return what suppression adds here: a suppressed cell costs 1, and a finer cell would cost even less instead."""
        bare = self._bare(classes.levels) / (self.cube.rows * self._weight)
        return nearest_float(self.score(classes, staying) - bare), -math.inf


@dataclass(frozen=True, eq=False)
class _Term:
    """What a node costs in one respect."""

    column: int
    """The quasi-identifier."""
    costs: Integers
    """The cost of each level and code, as whole numbers over `den`."""
    den: int
    weight: Fraction


def _outcome_ranges(line: AssociationLine, levels: ColumnLevels) -> Integers:
    """Return, for each level and code, how far apart the usual outcomes of the values under its node are."""
    outcome = line.outcome[levels.domain.place]  # of each code
    ranges = np.zeros(levels.nodes.shape, np.int64)
    for level, nodes in enumerate(levels.nodes):
        ranges[level] = np.rint(line.ranges(nodes, outcome) * _POSITIONS)[nodes]
    return ranges


class Mean(NodeCosts):
    """The mean share over rows and quasi-identifiers: `mean_loss` of the utility figures."""

    name = "mean"

    def costs(self) -> list[tuple[Integers, int]]:
        """Return the leaves that each node leaves open, over all leaves."""
        return [(column.leaves, max(1, column.domain.size)) for column in self.cube.columns]


class Normalised(NodeCosts):
    """As the mean, with (leaves − 1) / (leaves of the domain − 1) as share: `normalised_loss` of the utility figures.

    Source: Iyengar (2002).
    """

    name = "normalised"

    def costs(self) -> list[tuple[Integers, int]]:
        """Return the leaves beyond the first that each node leaves open, over all leaves beyond the first."""
        costs = []
        for column in self.cube.columns:
            steps = column.domain.size - 1
            open_steps = column.leaves - 1 if steps > 0 else column.leaves
            costs.append((np.where(column.leaves > 0, open_steps, 0), max(1, steps)))
        return costs


class Precision(NodeCosts):
    """The mean over rows and quasi-identifiers of level over height: one minus the precision of a release.

    Source: Sweeney (2002b).
    """

    name = "precision"

    def costs(self) -> list[tuple[Integers, int]]:
        """Return the level, over the height."""
        shapes = [(column.nodes.shape, column.height) for column in self.cube.columns]
        return [(np.broadcast_to(np.arange(height + 1)[:, None], shape).copy(), height) for shape, height in shapes]


class GroupMean(NodeCosts):
    """The mean over published groups of the sum of their shares: `group_mean` of the utility figures.

    Suppressed groups do not count. Source: Wang & Liu (2010).
    """

    name = "group-mean"
    may_fall = True

    def costs(self) -> list[tuple[Integers, int]]:
        """Return the leaves that each node leaves open, over all leaves."""
        return [(column.leaves, max(1, column.domain.size)) for column in self.cube.columns]

    def terms(self) -> list[Floats]:
        """Return the cost of the cheapest nodes: a group costs at least that, and coarser nodes are no cheaper."""
        by_column = [np.zeros(column.height + 1) for column in self.cube.columns]
        for term in self._terms:
            by_column[term.column] += term.costs.min(axis=1) * nearest_float(term.weight * self._scale / term.den)
        return by_column

    @cached_property
    def _scale(self) -> Fraction:
        """The factor of the weights that makes their mean 1."""
        return len(self._terms) / self._weight

    def score(self, classes: EquivalenceClasses, violating: NDArray[np.bool_]) -> Fraction:
        """Return the mean over the classes that are published."""
        sums = np.zeros(len(self._terms), np.int64)
        ones, at = np.ones(len(classes.first), np.int64), self._at(classes.levels)
        sum_costs(self._codes, self._flat, at, classes.first, ones, ~violating, sums)
        each = zip(sums.tolist(), self._terms, strict=True)
        total = sum((self._scale * term.weight * Fraction(own, term.den) for own, term in each), Fraction(0))
        return total / int((~violating).sum())

    def finer(self, classes: EquivalenceClasses, staying: NDArray[np.bool_]) -> tuple[float, float]:
        """Return nothing: suppressed groups do not count."""
        return 0.0, -math.inf


class Entropy(TransformationLoss):
    """Non-uniform entropy: Σ over all rows, suppressed or not, and quasi-identifiers of −log₂(freq(v) / freq(node above v)).

    Frequencies are those of the table. Rounded to a millionth of a bit, so that equal losses stay equal. Source: Gionis &
    Tassa (2009).
    """

    name = "entropy"

    @cached_property
    def _bits(self) -> list[Floats]:
        """For each quasi-identifier and level the bits over all rows."""
        bits = []
        for levels, weight in zip(self.cube.columns, self.cube.task.weights, strict=True):
            column = levels.domain.column
            counts = np.bincount(column.codes, minlength=column.domain)
            by_level = []
            for nodes in levels.nodes:
                above = np.bincount(nodes, counts)[nodes]
                pairs = zip(counts.tolist(), above.tolist(), strict=True)
                terms = [count * math.log2(whole / count) for count, whole in pairs if count]  # 0 if no row has the value
                by_level.append(math.fsum(terms))
            bits.append(np.array(by_level) * weight)
        return bits

    def terms(self) -> list[Floats]:
        """Return the bits: their rounded sum is the loss itself."""
        return self._bits

    def bound_of(self, total: Floats) -> Floats:
        """Return the sum, rounded as the loss is."""
        return np.round(total, 6)

    def score(self, classes: EquivalenceClasses, violating: NDArray[np.bool_]) -> Fraction:
        """Return the loss, which does not depend on what is suppressed."""
        del violating
        total = sum(float(bits[level]) for bits, level in zip(self._bits, classes.levels, strict=True))
        return Fraction(round(total * 10**6), 10**6)


class Discernibility(TransformationLoss):
    """Σ over published classes of |E|², and n for each suppressed row: `discernibility` of the utility figures.

    Source: Bayardo & Agrawal (2005).
    """

    name = "discernibility"

    def terms(self) -> list[Floats]:
        """Return the terms of the number of classes."""
        return self._combinations()

    def bound_of(self, total: Floats) -> Floats:
        """Return n²/c: n rows in at most c classes cost at least that."""
        return np.asarray(self.cube.rows**2 * np.exp(total))

    def score(self, classes: EquivalenceClasses, violating: NDArray[np.bool_]) -> Fraction:
        """Return the sum of squares, and n for each suppressed row."""
        sizes = classes.sizes[~violating]
        return Fraction(_dot(sizes, sizes) + int(classes.sizes[violating].sum()) * self.cube.rows)

    def bound(self, classes: EquivalenceClasses) -> float:
        """Return the sum of squares, each class at least as large as a published class must be: coarser ones are larger."""
        return float(_dot(classes.sizes, np.maximum(classes.sizes, self.least)))

    def finer(self, classes: EquivalenceClasses, staying: NDArray[np.bool_]) -> tuple[float, float]:
        """Return n for each row that stays suppressed, and the least size for every other row."""
        stay = int(classes.sizes[staying].sum())
        return 0.0, float(stay * self.cube.rows + (self.cube.rows - stay) * self.least)


class ClassSize(TransformationLoss):
    """Published rows over classes × k: `average_class_size` of the utility figures; k is 1 if no principle has a k.

    Source: LeFevre, DeWitt & Ramakrishnan (2006a).
    """

    name = "class-size"
    may_fall = True
    decided_by_bound = True

    def terms(self) -> list[Floats]:
        """Return the terms of the number of classes."""
        return self._combinations()

    def bound_of(self, total: Floats) -> Floats:
        """Return the rows that are surely published over the largest possible number of classes."""
        return np.asarray((self.cube.rows - self.most) / self.k * np.exp(total))

    def score(self, classes: EquivalenceClasses, violating: NDArray[np.bool_]) -> Fraction:
        """Return the published rows over the published classes, in units of k."""
        return Fraction(int(classes.sizes[~violating].sum()), int((~violating).sum()) * self.k)

    def bound(self, classes: EquivalenceClasses) -> float:
        """Return a bound from the number of classes that a coarser transformation can publish.

        Each contains a class of at least `least` rows, or at least `least` rows of smaller classes. If the principles
        require a size only, every suppressed row is in a smaller class too. Leaving out rows of smaller classes raises the
        average, except for those too few to make one more class: with L large classes and s rows in smaller ones, of which
        s − m·least are left out, the average is at least (n − s + m·least) / (L + m), which falls with m since n − s ≥
        L·least.
        """
        small = classes.sizes < self.least
        rows = int(classes.sizes[small].sum())
        count = len(small) - int(np.count_nonzero(small)) + rows // self.least
        published = self.cube.rows - (rows % self.least if self._sizes_only else self.most)
        return published / (max(1, count) * self.k)

    @cached_property
    def _sizes_only(self) -> bool:
        """Whether a class is suppressed only if it is smaller than `least`."""
        return all(principle.size_only for principle in self.cube.task.principles)


def _dot(one: Integers, other: Integers) -> int:
    """Return the sum of products, in whole numbers of any size if 64 bits could be too few."""
    if float(one.max(initial=0)) * float(other.max(initial=0)) * len(one) < 2.0**62:
        return int(one @ other)
    return sum(a * b for a, b in zip(one.tolist(), other.tolist(), strict=True))

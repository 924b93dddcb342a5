"""How much sensitive attributes tell of one another, and what a plan makes of it (paper 004, section 4)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Table
from sfumato.errors import ColumnError
from sfumato.exact import Number, as_fraction
from sfumato.projections.contingency import entropy_of, pair_of, spectrum_of
from sfumato.projections.harmless import Harmless, sensitive_rows
from sfumato.projections.information_sums import Logs
from sfumato.projections.plan import Plan, unknown_attribute

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class PlanRatios:
    """A plan with its two ratios.

    >>> weighed = PlanRatios(Plan.apart(["diagnosis", "job"]), 1.0, 0.0)
    >>> print(weighed)
    diagnosis | job: Γ_α 1.0000, Γ_β 0.0000
    """

    plan: Plan
    association_loss: float
    """Γ_α: the share of the association between attributes that the plan gives up."""
    information_exposure: float
    """Γ_β: the share of what one attribute can betray of another that the plan leaves open."""

    def __str__(self) -> str:
        return f"{self.plan.label}: Γ_α {self.association_loss:.4f}, Γ_β {self.information_exposure:.4f}"


@dataclass(frozen=True, eq=False)
class Dependence:
    """Entropy H, mutual information I and exposable information E of the sensitive attributes of a table, in bits.

    I is exactly 0.0 if and only if two attributes are independent. E(A,B) is what an attacker who knows one of a
    person's values learns by reading off the other: P(Sens A)·H(A|B) + P(Sens B)·H(B|A), which is exactly 0.0 if each is
    a function of the other. (The definition as printed has H(A_j) twice in its last case; H(A_i) + H(A_j) − 2I is meant.)
    A missing value is a value of its own, and a vector is one attribute.

    Sums over pairs count every pair: of a column that stands in the table twice, all that it shares with others is
    counted twice. `notes` says so.

    Source: Fang, Ashrafi and Ng, Privacy beyond single sensitive attribute, DEXA 2011 (paper 004).

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> people = pa.table({"sex": ["f", "f", "m", "m"], "title": ["ms", "ms", "mr", "mr"], "rich": ["y", "n", "y", "n"]})
    >>> dependence = Dependence.of(Table(people, Schema(sensitive=["sex", "title", "rich"])))
    >>> dependence.information.tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> plan = Plan.of([["sex", "title"], ["rich"]], dependence.names)
    >>> dependence.association_loss(plan), dependence.information_exposure(plan)
    (0.0, 0.0)
    >>> dependence.notes
    ("'sex' and 'title' determine each other: what they share with others is counted twice",)
    """

    names: tuple[str, ...]
    rows: int
    entropy: NDArray[np.float64]
    """H of each attribute."""
    information: Matrix
    """I of each pair; on the diagonal the entropy."""
    exposure: Matrix
    """E of each pair; 0 on the diagonal."""
    conditional: Matrix
    """H(A_i | A_j): what is left to learn of the row's attribute for one who knows the column's."""
    sensitive_rows: tuple[int, ...]
    """For each attribute the number of rows whose value is sensitive: all, unless some are harmless."""
    logs: Logs = field(repr=False)
    """The counts behind the figures, for verdicts that no rounding can flip."""
    notes: tuple[str, ...] = ()
    """What a reader should know: attributes that tell nothing, and those that say the same."""

    @classmethod
    def of(cls, table: Table, names: Sequence[str] | None = None, harmless: Harmless | None = None) -> Dependence:
        """Measure the sensitive attributes of a table, or those named.

        `harmless` tells for an attribute the values for which Sens is false, or a function that says of a value whether
        it is harmless. All other values are sensitive. Cost: one pass over the rows for each pair of attributes.
        """
        names = tuple(table.schema.sensitive if names is None else names)
        _check(names, table)
        attributes = [table.attribute(table.schema.components(name), name) for name in names]
        harmed = sensitive_rows(attributes, harmless)
        size = len(names)
        entropy = np.array([entropy_of(attribute) for attribute in attributes])
        information, conditional = np.diag(entropy), np.zeros((size, size))
        joint = {}
        for i, j in combinations(range(size), 2):
            pair = pair_of(attributes[i], attributes[j])
            information[i, j] = information[j, i] = pair.information
            conditional[i, j], conditional[j, i] = pair.first_given_second, pair.second_given_first
            joint[i, j] = pair.spectrum
        share = np.array(harmed)[:, None] / table.rows
        exposure = share * conditional + (share * conditional).T
        logs = Logs(table.rows, tuple(harmed), tuple(spectrum_of(a.counts) for a in attributes), joint)
        notes = _notes(names, entropy, conditional)
        return cls(names, table.rows, entropy, information, exposure, conditional, tuple(harmed), logs, notes)

    def association_loss(self, plan: Plan) -> float:
        """Γ_α: the mutual information of pairs in different tables, as a share of that of all pairs; 0 if there is none."""
        together, upper = self._together(plan)
        every = math.fsum(self.information[upper].tolist())
        return math.fsum(self.information[upper & ~together].tolist()) / every if every else 0.0

    def information_exposure(self, plan: Plan) -> float:
        """Γ_β: the exposable information of pairs in one table, each times its table's share of the attributes, as a share
        of that of all pairs; 0 if there is none.
        """  # noqa: D205
        together, upper = self._together(plan)
        every = math.fsum(self.exposure[upper].tolist())
        weights = (together.sum(axis=1) / len(self.names))[:, None] * self.exposure
        return math.fsum(weights[upper & together].tolist()) / every if every else 0.0

    def average_information(self, names: Sequence[str]) -> float:
        """AvgI: the mean mutual information of the pairs among these attributes; 0 for one alone."""
        places = [self._place(name) for name in names]
        pairs = [float(self.information[i, j]) for i, j in combinations(sorted(places), 2)]
        return math.fsum(pairs) / len(pairs) if pairs else 0.0

    def weighed(self, plan: Plan) -> PlanRatios:
        """A plan with its ratios."""
        return PlanRatios(plan, self.association_loss(plan), self.information_exposure(plan))

    def loses_at_most(self, plan: Plan, alpha: Number) -> bool:
        """Whether Γ_α ≤ α, exactly: a float decides what is clear, and integers what is nearly a tie."""
        limit = as_fraction(alpha, "alpha")
        together, upper = self._together(plan)
        lost = math.fsum(self.information[upper & ~together].tolist())
        every = math.fsum(self.information[upper].tolist())
        clear = self._clear(lost, limit, every)
        if clear is not None:
            return clear
        p, q = limit.numerator, limit.denominator
        weights = {(i, j): (0 if together[i, j] else q) - p for i, j in self._pairs(self.information)}
        return self.logs.sign_of_information(weights) <= 0

    def exposes_at_most(self, plan: Plan, beta: Number) -> bool:
        """Whether Γ_β ≤ β, exactly: a float decides what is clear, and integers what is nearly a tie."""
        limit = as_fraction(beta, "beta")
        together, upper = self._together(plan)
        sizes, size = together.sum(axis=1), len(self.names)
        weighted = (sizes / size)[:, None] * self.exposure
        exposed = math.fsum(weighted[upper & together].tolist())
        every = math.fsum(self.exposure[upper].tolist())
        clear = self._clear(exposed, limit, every)
        if clear is not None:
            return clear
        p, q = limit.numerator, limit.denominator
        weights = {(i, j): (int(sizes[i]) * q if together[i, j] else 0) - p * size for i, j in self._pairs(self.exposure)}
        return self.logs.sign_of_exposure(weights) <= 0

    def hundredths(self, plan: Plan) -> tuple[Fraction, Fraction]:
        """The least α and β in whole hundredths that admit a plan, exactly.

        >>> import pyarrow as pa
        >>> from sfumato.data.schema import Schema
        >>> people = pa.table({"job": ["a", "a", "b", "b"], "pay": ["x", "x", "x", "y"], "rich": ["y", "n", "n", "n"]})
        >>> dependence = Dependence.of(Table(people, Schema(sensitive=["job", "pay", "rich"])))
        >>> tuple(map(str, dependence.hundredths(Plan.of([["job", "pay"], ["rich"]], dependence.names))))
        ('59/100', '11/50')
        """
        return (
            _hundredth(self.association_loss(plan), lambda limit: self.loses_at_most(plan, limit)),
            _hundredth(self.information_exposure(plan), lambda limit: self.exposes_at_most(plan, limit)),
        )

    def _clear(self, part: float, limit: Fraction, every: float) -> bool | None:
        """Whether part ≤ limit·every where floats are sure of it; None where they are not.

        Each I and E is a sum of shares times logarithms, the shares summing to 1 and each logarithm to base 2 of a ratio of
        64-bit integers: it is wrong by less than 1e-13 bits. So is each product with a limit; the margin is ten times that.
        """
        if part <= 0 <= limit:  # no pair at all, or pairs that share nothing
            return True
        margin = 1e-12 * len(self.names) ** 2
        gap = part - float(min(max(limit, Fraction(-1)), Fraction(2))) * every
        return gap < 0 if abs(gap) > margin else None

    def _pairs(self, matrix: Matrix) -> list[tuple[int, int]]:
        """The pairs of which a matrix holds something; the others add nothing to a sum over it."""
        return [(i, j) for i, j in self.logs.joint if matrix[i, j] > 0]

    def _together(self, plan: Plan) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which attributes the plan publishes together; and which entries of a matrix hold a pair, each once."""
        if plan.attributes != self.names:
            plan = Plan.of(plan.blocks, self.names)
        block = np.array(plan.of_attribute)
        return block[:, None] == block, np.triu(np.ones((len(block), len(block)), bool), 1)

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise unknown_attribute(name, self.names, "this is not one of the attributes that were measured")
        return self.names.index(name)


def _hundredth(ratio: float, within: Callable[[Fraction], bool]) -> Fraction:
    """The least hundredth that a ratio is within; its float may be on the wrong side of one."""
    below = max(int(ratio * 100) - 1, 0)
    return next(limit for more in range(3) if within(limit := Fraction(below + more, 100)))


def _check(names: tuple[str, ...], table: Table) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ColumnError("the attribute is named twice", remedy="Name each once.", column=name)
    if len(names) < 2:
        raise ColumnError(
            "plans are about several sensitive attributes, and " + ("there is one" if names else "there is none"),
            remedy="Declare another one as sensitive, or use anonymize: it publishes one table.",
            file=table.source,
            column=names[0] if names else None,
        )


def _notes(names: tuple[str, ...], entropy: NDArray[np.float64], conditional: Matrix) -> tuple[str, ...]:
    constant = [f"{name!r} tells nothing: all rows have one value" for name, h in zip(names, entropy, strict=True) if h == 0]
    same = [
        f"{names[i]!r} and {names[j]!r} determine each other: what they share with others is counted twice"
        for i, j in combinations(range(len(names)), 2)
        if entropy[i] > 0 and entropy[j] > 0 and conditional[i, j] == conditional[j, i] == 0
    ]
    return (*constant, *same)

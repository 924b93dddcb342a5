"""How much sensitive attributes reveal about one another, and the two ratios of a plan.

Section 4 of Fang, Ashrafi & Ng (2011).
"""

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
from sfumato.projections.plans.harmless_values import Harmless, count_sensitive_rows
from sfumato.projections.plans.information import CountSpectra, entropy, pair_information, spectrum
from sfumato.projections.plans.plan import Plan, unknown_attribute

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class PlanRatios:
    """A plan with its two ratios.

    >>> print(PlanRatios(Plan.singletons(["diagnosis", "job"]), 1.0, 0.0))
    diagnosis | job: Γ_α 1.0000, Γ_β 0.0000
    """

    plan: Plan
    association_loss: float
    """Γ_α: the share of the association between attributes that the plan loses."""
    information_exposure: float
    """Γ_β: the share of the information that one attribute can reveal about another that the plan exposes."""

    def __str__(self) -> str:
        return f"{self.plan.label}: Γ_α {self.association_loss:.4f}, Γ_β {self.information_exposure:.4f}"


@dataclass(frozen=True, eq=False)
class Dependence:
    """Entropy H, mutual information I and exposable information E of the sensitive attributes of a table, in bits.

    I is exactly 0.0 if and only if two attributes are independent. E(A,B) is what an attacker who knows one value of a
    person learns by reading the other: P(Sens A)·H(A|B) + P(Sens B)·H(B|A). It is exactly 0.0 if each attribute is a
    function of the other. (The printed definition has H(A_j) twice in its last case; H(A_i) + H(A_j) − 2I is meant.)
    A missing value is a value of its own, and a vector is one attribute.

    Sums over pairs include every pair: for a column that occurs twice in the table, everything that it shares with other
    columns counts twice. `notes` reports this.

    Source: Fang, Ashrafi & Ng (2011), section 4.

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
    ("'sex' and 'title' determine each other: the information that they share with others counts twice",)
    """

    names: tuple[str, ...]
    rows: int
    entropy: NDArray[np.float64]
    """H of each attribute."""
    information: Matrix
    """I of each pair; the entropy on the diagonal."""
    exposure: Matrix
    """E of each pair; 0 on the diagonal."""
    conditional: Matrix
    """H(A_i | A_j): the entropy of the row's attribute that remains if the column's attribute is known."""
    sensitive_rows: tuple[int, ...]
    """For each attribute the number of rows whose value is sensitive: all rows, unless some values are harmless."""
    spectra: CountSpectra = field(repr=False)
    """The counts behind the figures, for verdicts that do not depend on rounding."""
    notes: tuple[str, ...] = ()
    """What a reader should know: constant attributes, and attributes that determine each other."""

    @classmethod
    def of(cls, table: Table, names: Sequence[str] | None = None, harmless: Harmless | None = None) -> Dependence:
        """Measure the sensitive attributes of a table, or those named.

        `harmless` maps an attribute to the values for which Sens is false, or to a function that returns whether a value is
        harmless. All other values are sensitive. Cost: one pass over the rows for each pair of attributes.
        """
        names = tuple(table.schema.sensitive if names is None else names)
        _check_names(names, table)
        attributes = [table.attribute(table.schema.components(name), name) for name in names]
        sensitive_rows = count_sensitive_rows(attributes, harmless)
        size = len(names)
        entropies = np.array([entropy(attribute) for attribute in attributes])
        # The matrices are symmetric except `conditional`; every pair is counted once and entered twice.
        information, conditional = np.diag(entropies), np.zeros((size, size))
        joint = {}
        for i, j in combinations(range(size), 2):
            pair = pair_information(attributes[i], attributes[j])
            information[i, j] = information[j, i] = pair.information
            conditional[i, j], conditional[j, i] = pair.first_given_second, pair.second_given_first
            joint[i, j] = pair.spectrum
        # share[i] is P(Sens A_i); row i of the product is P(Sens A_i)·H(A_i | A_j), and E adds the two directions.
        share = np.array(sensitive_rows)[:, None] / table.rows
        exposure = share * conditional + (share * conditional).T
        single = tuple(spectrum(attribute.counts) for attribute in attributes)
        spectra = CountSpectra(table.rows, tuple(sensitive_rows), single, joint)
        notes = _notes(names, entropies, conditional)
        return cls(names, table.rows, entropies, information, exposure, conditional, tuple(sensitive_rows), spectra, notes)

    def association_loss(self, plan: Plan) -> float:
        """Return Γ_α: the mutual information of pairs in different tables as a share of that of all pairs.

        If no pair shares information, Γ_α is 0 for every plan.
        """
        together, upper = self._together(plan)
        total = math.fsum(self.information[upper].tolist())
        return math.fsum(self.information[upper & ~together].tolist()) / total if total else 0.0

    def information_exposure(self, plan: Plan) -> float:
        """Return Γ_β: the exposable information of pairs in one table as a share of that of all pairs.

        Each pair is weighted with its table's share of the attributes. If no pair exposes information, Γ_β is 0.
        """
        together, upper = self._together(plan)
        total = math.fsum(self.exposure[upper].tolist())
        # A row of `together` counts the attributes in the table of its attribute.
        weights = (together.sum(axis=1) / len(self.names))[:, None] * self.exposure
        return math.fsum(weights[upper & together].tolist()) / total if total else 0.0

    def average_information(self, names: Sequence[str]) -> float:
        """Return AvgI: the mean mutual information of the pairs among these attributes; 0 for a single attribute."""
        indices = [self._index(name) for name in names]
        pairs = [float(self.information[i, j]) for i, j in combinations(sorted(indices), 2)]
        return math.fsum(pairs) / len(pairs) if pairs else 0.0

    def ratios(self, plan: Plan) -> PlanRatios:
        """Return a plan with its two ratios."""
        return PlanRatios(plan, self.association_loss(plan), self.information_exposure(plan))

    def loses_at_most(self, plan: Plan, alpha: Number) -> bool:
        """Return whether Γ_α ≤ α, exactly: floats decide clear cases, integers decide near ties."""
        limit = as_fraction(alpha, "alpha")
        together, upper = self._together(plan)
        lost = math.fsum(self.information[upper & ~together].tolist())
        total = math.fsum(self.information[upper].tolist())
        verdict = self._float_verdict(lost, limit, total)
        if verdict is not None:
            return verdict
        # Γ_α ≤ p/q is Σ I over separated pairs · q − p · Σ I over all pairs ≤ 0: integer weights.
        p, q = limit.numerator, limit.denominator
        weights = {(i, j): (0 if together[i, j] else q) - p for i, j in self._positive_pairs(self.information)}
        return self.spectra.sign_of_information(weights) <= 0

    def exposes_at_most(self, plan: Plan, beta: Number) -> bool:
        """Return whether Γ_β ≤ β, exactly: floats decide clear cases, integers decide near ties."""
        limit = as_fraction(beta, "beta")
        together, upper = self._together(plan)
        sizes, size = together.sum(axis=1), len(self.names)
        weighted = (sizes / size)[:, None] * self.exposure
        exposed = math.fsum(weighted[upper & together].tolist())
        total = math.fsum(self.exposure[upper].tolist())
        verdict = self._float_verdict(exposed, limit, total)
        if verdict is not None:
            return verdict
        # As above; both sides are multiplied with the number of attributes, so the weights stay integers.
        p, q = limit.numerator, limit.denominator
        weights = {
            (i, j): (int(sizes[i]) * q if together[i, j] else 0) - p * size for i, j in self._positive_pairs(self.exposure)
        }
        return self.spectra.sign_of_exposure(weights) <= 0

    def hundredths(self, plan: Plan) -> tuple[Fraction, Fraction]:
        """Return the smallest α and β in whole hundredths that admit a plan, exactly.

        >>> import pyarrow as pa
        >>> from sfumato.data.schema import Schema
        >>> people = pa.table({"job": ["a", "a", "b", "b"], "pay": ["x", "x", "x", "y"], "rich": ["y", "n", "n", "n"]})
        >>> dependence = Dependence.of(Table(people, Schema(sensitive=["job", "pay", "rich"])))
        >>> tuple(map(str, dependence.hundredths(Plan.of([["job", "pay"], ["rich"]], dependence.names))))
        ('59/100', '11/50')
        """
        return (
            _round_up(self.association_loss(plan), lambda limit: self.loses_at_most(plan, limit)),
            _round_up(self.information_exposure(plan), lambda limit: self.exposes_at_most(plan, limit)),
        )

    def _float_verdict(self, part: float, limit: Fraction, total: float) -> bool | None:
        """Return whether part ≤ limit·total where floats are certain of it; None where they are not.

        Each I and E is a sum of shares times logarithms. The shares sum to 1, and each logarithm to base 2 is of a ratio of
        64-bit integers, so the error is below 1e-13 bits. The same holds for each product with a limit. The margin is ten
        times that.
        """
        if part <= 0 <= limit:  # no pair, or only pairs that share nothing
            return True
        margin = 1e-12 * len(self.names) ** 2  # in bits; the sums have at most n² terms
        gap = part - float(min(max(limit, Fraction(-1)), Fraction(2))) * total
        return gap < 0 if abs(gap) > margin else None

    def _positive_pairs(self, matrix: Matrix) -> list[tuple[int, int]]:
        """Return the pairs with a positive entry; the others add nothing to a sum over the matrix."""
        return [(i, j) for i, j in self.spectra.joint if matrix[i, j] > 0]

    def _together(self, plan: Plan) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which attributes the plan publishes together, and the mask of the upper triangle (each pair once)."""
        # A plan over the same attributes in another order is put into this order; other attributes are an error.
        if plan.attributes != self.names:
            plan = Plan.of(plan.blocks, self.names)
        block = np.array(plan.block_indices)
        return block[:, None] == block, np.triu(np.ones((len(block), len(block)), bool), 1)

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise unknown_attribute(name, self.names, "the dependence of this attribute was not measured")
        return self.names.index(name)


def _round_up(ratio: float, within: Callable[[Fraction], bool]) -> Fraction:
    """Return the smallest hundredth that admits a ratio; the float itself may be on the wrong side of a hundredth."""
    # The float is off by far less than a hundredth, so one of three consecutive hundredths is the answer.
    below = max(int(ratio * 100) - 1, 0)
    return next(limit for more in range(3) if within(limit := Fraction(below + more, 100)))


def _check_names(names: tuple[str, ...], table: Table) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ColumnError("the attribute is named twice", remedy="Name each attribute once.", column=name)
    if len(names) < 2:
        raise ColumnError(
            f"a plan needs at least two sensitive attributes; the table has {'one' if names else 'none'}",
            remedy="Declare another column as sensitive, or publish a single table with: anonymize.",
            file=table.source,
            column=names[0] if names else None,
        )


def _notes(names: tuple[str, ...], entropies: NDArray[np.float64], conditional: Matrix) -> tuple[str, ...]:
    constant = [
        f"{name!r} carries no information: all rows have the same value"
        for name, bits in zip(names, entropies, strict=True)
        if bits == 0
    ]
    equivalent = [
        f"{names[i]!r} and {names[j]!r} determine each other: the information that they share with others counts twice"
        for i, j in combinations(range(len(names)), 2)
        if entropies[i] > 0 and entropies[j] > 0 and conditional[i, j] == conditional[j, i] == 0
    ]
    return (*constant, *equivalent)

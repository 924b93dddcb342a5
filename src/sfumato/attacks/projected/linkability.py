"""How far joined tables link people to values: (X,Y)-linkability, and the bound of Theorem 2, as stated and corrected.

Section 6.1 of Fang, Ashrafi & Ng (2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.projected.attacker_view import AttackerView, view_attributes
from sfumato.attacks.projected.confidence import most_frequent
from sfumato.data.table import Table
from sfumato.exact import written
from sfumato.exact.shown_levels import level_shown


@dataclass(frozen=True)
class Link:
    """The confidence in a combination of values, one attribute from each of several projected tables.

    As in the paper, every combination of rows in the join of the tables on a person's groups is assumed equally likely.
    """

    tables: int
    """The number of joined tables: p."""
    largest: Fraction
    """The maximum over people, choices of tables, and values."""
    mean: float
    """The mean over people of their maximum over choices of tables and values."""
    bound: Fraction
    """((k−l+1)/k)^p: the bound as stated in Theorem 2; it holds if every group has exactly k rows."""
    corrected_bound: Fraction
    """((n−l+1)/n)^p with n the size of the largest group; it holds for groups of any size."""

    @property
    def exceeds(self) -> bool:
        """Whether the confidence exceeds the bound as stated in the paper."""
        return self.largest > self.bound

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "tables": self.tables,
            "largest": float(self.largest),
            "exact": written(self.largest),
            "mean": self.mean,
            "bound": float(self.bound),
            "corrected_bound": float(self.corrected_bound),
            "exceeds": self.exceeds,
        }

    def __repr__(self) -> str:
        exceeded = ", EXCEEDED" if self.exceeds else ""
        return (
            f"joined from {self.tables}: at most {level_shown(self.largest)}, on average {self.mean:.4f} "
            f"(stated bound {level_shown(self.bound)}{exceeded}; corrected bound {level_shown(self.corrected_bound)})"
        )


def theorem_2(k: int, l: int, tables: int) -> Fraction:
    """Return ((k−l+1)/k)^p: the largest confidence from p tables whose groups have k rows and l distinct values.

    >>> theorem_2(5, 2, 1)
    Fraction(4, 5)
    """
    return Fraction(k - l + 1, k) ** tables


def measure_links(table: Table, views: Sequence[AttackerView]) -> tuple[int, int, tuple[Link, ...]]:
    """Return k and l over the groups of all tables, and the confidence in values joined from 1, 2, … tables.

    A combination of several attributes of one table is never more likely than one of them, so one per table suffices.
    """
    # counts[row, t] / sizes[row, t] is the confidence from table t alone; a count of 0 marks an unpublished row.
    counts = np.zeros((table.rows, len(views)), np.int64)
    sizes = np.ones((table.rows, len(views)), np.int64)
    fewest_values = table.rows
    by_name = view_attributes(table, views)
    for t, view in enumerate(views):
        attributes = [by_name[name] for name in view.attributes]
        results = [most_frequent(view.groups, view.values(attribute), len(attribute)) for attribute in attributes]
        fewest_values = min(fewest_values, *(int(distinct.min()) for _, distinct in results))
        counts[view.rows, t] = np.max([most for most, _ in results], axis=0)[view.groups]
        sizes[view.rows, t] = view.sizes[view.groups]
    # The largest product of p shares of a person takes the p largest shares.
    order = np.argsort(-(counts / sizes), axis=1, kind="stable")
    counts, sizes = np.take_along_axis(counts, order, 1), np.take_along_axis(sizes, order, 1)
    products = np.cumprod(counts / sizes, axis=1)
    k, n = min(int(view.sizes.min()) for view in views), max(int(view.sizes.max()) for view in views)
    links = []
    for p in range(1, len(views) + 1):
        published = products[:, p - 1] > 0  # people in at least p tables
        if published.any():
            largest = _largest_product(products[published, p - 1], counts[published, :p], sizes[published, :p])
            mean = float(products[published, p - 1].mean())
            links.append(Link(p, largest, mean, theorem_2(k, fewest_values, p), theorem_2(n, fewest_values, p)))
    return k, fewest_values, tuple(links)


def _largest_product(products: NDArray[np.float64], counts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Fraction:
    """Return the largest product of shares, exactly: floats select the candidates, fractions decide."""
    near = products >= products.max() * (1 - 1e-12)
    cases = np.unique(np.hstack([counts[near], sizes[near]]), axis=0)
    half = counts.shape[1]
    return max(Fraction(prod(case[:half]), prod(case[half:])) for case in cases.tolist())

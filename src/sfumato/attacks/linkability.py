"""How far joined tables link people to values: (X,Y)-linkability, and Theorem 2 of paper 004, as stated and mended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato._audit import level_shown
from sfumato.attacks.attacker_view import AttackerView, secrets
from sfumato.attacks.confidence import commonest
from sfumato.data.table import Table
from sfumato.exact import written


@dataclass(frozen=True)
class Link:
    """The confidence in a value that takes one attribute from each of several projected tables.

    Assumed, as in the paper: in the join of the tables on a person's groups every combination of rows is as likely.
    """

    tables: int
    """From how many tables the value is joined: p."""
    largest: Fraction
    """Of the person, tables and values for which it is largest."""
    mean: float
    """Over people, each with the tables and values for which it is largest."""
    stated: Fraction
    """((k−l+1)/k)^p: the bound of Theorem 2, which holds if every group has exactly k rows."""
    mended: Fraction
    """((n−l+1)/n)^p with n the rows of the largest group: it holds for groups of any size."""

    @property
    def exceeds(self) -> bool:
        """Whether the confidence is above the bound that the paper states."""
        return self.largest > self.stated

    def to_dict(self) -> dict[str, Any]:
        """As plain data, ready for JSON."""
        return {
            "tables": self.tables,
            "largest": float(self.largest),
            "exact": written(self.largest),
            "mean": self.mean,
            "stated": float(self.stated),
            "mended": float(self.mended),
            "exceeds": self.exceeds,
        }

    def __repr__(self) -> str:
        beyond = ", EXCEEDED" if self.exceeds else ""
        return (
            f"joined from {self.tables}: at most {level_shown(self.largest)}, on average {self.mean:.4f} "
            f"(stated bound {level_shown(self.stated)}{beyond}; for groups of any size {level_shown(self.mended)})"
        )


def theorem_2(k: int, l: int, tables: int) -> Fraction:
    """((k−l+1)/k)^p: what p tables with l distinct values in groups of k rows let an attacker be sure of, at most.

    >>> theorem_2(5, 2, 1)
    Fraction(4, 5)
    """
    return Fraction(k - l + 1, k) ** tables


def links(table: Table, seen: Sequence[AttackerView]) -> tuple[int, int, tuple[Link, ...]]:
    """The k and l of the weakest group of all tables; and the confidence in a value joined from 1, 2, … of them.

    A value of several attributes of one table is never likelier than that of one of them, so one per table is tried.
    """
    counts = np.zeros((table.rows, len(seen)), np.int64)  # 0: the row is not published in that table
    sizes = np.ones((table.rows, len(seen)), np.int64)
    fewest = table.rows
    known = secrets(table, seen)
    attributes = [[known[name] for name in each.attributes] for each in seen]
    for place, each in enumerate(seen):
        found = [commonest(each.groups, each.values(attribute), len(attribute)) for attribute in attributes[place]]
        fewest = min(fewest, *(int(distinct.min()) for _, distinct in found))
        counts[each.rows, place] = np.max([most for most, _ in found], axis=0)[each.groups]
        sizes[each.rows, place] = each.sizes[each.groups]
    order = np.argsort(-(counts / sizes), axis=1, kind="stable")
    counts, sizes = np.take_along_axis(counts, order, 1), np.take_along_axis(sizes, order, 1)
    products = np.cumprod(counts / sizes, axis=1)
    k, n = min(int(each.sizes.min()) for each in seen), max(int(each.sizes.max()) for each in seen)
    found_links = []
    for p in range(1, len(seen) + 1):
        there = products[:, p - 1] > 0  # people whom at least p tables publish
        if there.any():
            largest = _largest_product(products[there, p - 1], counts[there, :p], sizes[there, :p])
            mean = float(products[there, p - 1].mean())
            found_links.append(Link(p, largest, mean, theorem_2(k, fewest, p), theorem_2(n, fewest, p)))
    return k, fewest, tuple(found_links)


def _largest_product(products: NDArray[np.float64], counts: NDArray[np.int64], sizes: NDArray[np.int64]) -> Fraction:
    """The largest product of shares, exactly: floats choose who may have it, fractions decide."""
    near = products >= products.max() * (1 - 1e-12)
    cases = np.unique(np.hstack([counts[near], sizes[near]]), axis=0)
    half = counts.shape[1]
    return max(Fraction(prod(case[:half]), prod(case[half:])) for case in cases.tolist())

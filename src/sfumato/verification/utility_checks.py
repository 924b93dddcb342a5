"""Check the utility that a release states, as far as it follows from the published table: the sizes of its groups."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.principles import Principle
from sfumato.releases.models import GroupedTable
from sfumato.verification.checks import Check
from sfumato.verification.row_facts import RowFacts


def utility_checks(document: GroupedTable, facts: RowFacts, requested: Sequence[Principle]) -> list[Check]:
    """Count rows and groups again.

    Information loss and marginals do not follow from the files: they are reported as not checked.
    """
    return [
        sizes_check(document, facts, requested),
        Check("loss", None, "not checked: information loss and marginals depend on the domains of the original"),
    ]


def sizes_check(document: GroupedTable, facts: RowFacts, requested: Sequence[Principle]) -> Check:
    """Count rows and groups again."""
    published, sizes = facts.table, facts.sizes()
    k = max((k for principle in requested if (k := principle.implied_k) is not None), default=None)
    rows, suppressed = published.rows, document.suppressed
    counted: dict[str, Any] = {"rows": rows, "groups": len(sizes), "suppressed": suppressed, "k": k}
    histogram = np.unique(sizes, return_counts=True)
    counted["classes"] = {
        # Σ |G|² over the groups; a suppressed row counts as many as there are rows in all
        "discernibility": int((sizes.astype(object) ** 2).sum()) + suppressed * (rows + suppressed),
        "mean": rows / len(sizes),
        "average": None if k is None else float(Fraction(rows, len(sizes) * k)),
        "histogram": [[int(size), int(count)] for size, count in zip(*histogram, strict=True)],
    }
    stated = document.utility.to_dict()
    for key, value in counted.items():
        if stated[key] != value:
            return Check("utility", False, f"{key}: the stated value is not that of the table")
    return Check("utility", True, "the sizes of the groups are as stated")

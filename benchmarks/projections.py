"""Plans over several sensitive attributes: the tables of paper 004's figures, and what a plan costs in CPU seconds.

The yardstick is the CPU time that numpy takes to lexsort the codes of the same table once.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.anonymize import cpu_seconds
from benchmarks.closeness_figures import (
    LOSS,
    MOST,
    K,
    anonymizations_table,
    attacks_table,
    close,
    closeness_table,
    limit_of,
)
from benchmarks.figures import write_rows
from benchmarks.plan_figures import BETA, FULL, QUICK, Row, Subject, Tell, attributes_table, tradeoff_table
from benchmarks.several import several
from benchmarks.transformations import Transformations
from sfumato.anonymization.methods import Lattice
from sfumato.principles import KAnonymity, TCloseness
from sfumato.projections import Dependence, search_plans
from sfumato.projections._project import project

T = Fraction(28, 100)
"""The closeness that the plan is to reach at k = 2, within the discernibility of Figure 9."""
PROJECTED_T = "0.3"
"""The closeness that `sf.project` is to reach at k = 2, with the lattice method and no limit of discernibility."""
_WARM = 500
"""Rows of the run that compiles, or loads what was compiled."""
GOAL = 60
"""The project's own, on 98,839 rows and 15 attributes: CPU seconds that should not be exceeded."""

TRADEOFF, ATTRIBUTES = "projection_tradeoff.csv", "projection_attributes.csv"
CLOSENESS, ANONYMIZATIONS = "projection_closeness.csv", "projection_anonymizations.csv"
ATTACKS = "projection_attacks.csv"


def run(out: Path, quick: bool = False, tell: Tell = lambda _: None) -> list[Path]:
    """Measure, and write the tables; return the files."""
    out.mkdir(parents=True, exist_ok=True)
    subject = Subject.of(QUICK if quick else FULL, tell)
    transformations = Transformations.of(subject.table, subject.dependence.names, tell=tell)
    tables: dict[str, Iterator[Row]] = {
        TRADEOFF: tradeoff_table(subject),
        ATTRIBUTES: attributes_table(subject),
        CLOSENESS: closeness_table(subject, transformations),
        ANONYMIZATIONS: anonymizations_table(subject, transformations),
        ATTACKS: attacks_table(subject, transformations),
    }
    for name, rows in tables.items():
        write_rows(out / name, rows)
    return [out / name for name in tables]


def cost(tell: Tell = lambda _: None) -> dict[str, Any]:
    """What it takes to find a plan with α = 0.3 and β = 0.5 whose tables can all be 0.28-close at k = 2.

    Beside it `sf.project`, which finds a plan, asks the lattice method for each block, and makes the releases.
    """
    subject = Subject.of(QUICK, tell)
    table = subject.table
    encoding, columns = cpu_seconds(lambda: [table.column(name) for name in table.schema.named_columns()])
    tell("sorting")
    codes = np.array([column.codes for column in columns])
    sorting = min(cpu_seconds(lambda: np.lexsort(codes))[0] for _ in range(3))
    tell("dependence")
    dependent, dependence = cpu_seconds(lambda: Dependence.of(table))
    tell("transformations")
    transformed, transformations = cpu_seconds(lambda: Transformations.of(table, dependence.names))
    tell("the plan")
    reachable = partial(close, transformations, T, K, limit_of(table, MOST))
    searched, search = cpu_seconds(lambda: search_plans(dependence, LOSS, BETA, reachable, "greedy", monotone=True))
    together = dependent + transformed + searched
    tell("the releases")
    wish = KAnonymity(K), TCloseness(PROJECTED_T)
    _ = project(several(_WARM).table, None, wish, alpha=LOSS, beta=BETA, method=Lattice())  # compiles
    projecting, projection = cpu_seconds(lambda: project(table, None, wish, alpha=LOSS, beta=BETA, method=Lattice()))
    return {
        "source": subject.source,
        "rows": table.rows,
        "attributes": len(dependence.names),
        "transformations": transformations.count,
        "encoding, CPU s": round(encoding, 3),
        "dependence, CPU s": round(dependent, 3),
        "closeness of every transformation, CPU s": round(transformed, 3),
        "search, CPU s": round(searched, 3),
        "CPU s": round(together, 3),
        "goal: CPU s": GOAL if subject.source == "census_income_kdd" else None,
        "lexsort, CPU s": round(sorting, 3),
        "CPU / lexsort": round(together / sorting, 1),
        "plan": search.summary,
        "sf.project with its releases, CPU s": round(projecting, 3),
        "its plan": projection.plan.label,
    }

"""CPU time of a plan over several sensitive attributes, and of `sf.project`.

The baseline is the CPU time of one numpy lexsort of the codes of the same table.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from benchmarks.datasets.income_census import income_census
from benchmarks.experiments.closeness_tables import (
    ALPHA_WITH_CLOSENESS,
    DISCERNIBILITY_LIMIT,
    K,
    can_be_close,
    scaled_limit,
)
from benchmarks.experiments.plan_tables import BETA, QUICK, Subject
from benchmarks.experiments.transformations import Transformations
from benchmarks.measurement import Notify, cpu_seconds, silent
from sfumato.anonymization.methods import Lattice
from sfumato.data.table import Table
from sfumato.principles import KAnonymity, TCloseness
from sfumato.projections import Dependence, Projection, search_plans
from sfumato.projections._project import project

PLAN_T = Fraction(28, 100)
"""The closeness that every table of the plan must be able to reach at k = 2, within the discernibility of Figure 9."""
PROJECT_T = "0.3"
"""The closeness that `sf.project` must reach at k = 2, with the lattice method and no limit of discernibility."""
GOAL = 60
"""The project's goal on 98,839 rows and 15 attributes: the largest number of CPU seconds."""

_WARM_UP_ROWS = 500
"""Rows of the first run, which compiles the kernels or loads them from the cache."""


def run(notify: Notify = silent) -> dict[str, Any]:
    """Find a plan with α = 0.3 and β = 0.5 whose tables can all be 0.28-close at k = 2, and return its cost.

    Measure `sf.project` as well, which finds a plan, runs the lattice method for each block, and makes the releases.
    """
    subject = Subject.read(QUICK, notify)
    table = subject.table
    encoding, columns = cpu_seconds(lambda: [table.column(name) for name in table.schema.named_columns()])
    notify("sorting")
    codes = np.array([column.codes for column in columns])
    baseline = min(cpu_seconds(lambda: np.lexsort(codes))[0] for _ in range(3))
    notify("dependence")
    dependence_seconds, dependence = cpu_seconds(lambda: Dependence.of(table))
    notify("transformations")
    closeness_seconds, transformations = cpu_seconds(lambda: Transformations.measure(table, dependence.names))
    notify("the plan")
    limit = scaled_limit(table, DISCERNIBILITY_LIMIT)
    admissible = partial(can_be_close, transformations, PLAN_T, K, limit)
    search_seconds, search = cpu_seconds(
        lambda: search_plans(dependence, ALPHA_WITH_CLOSENESS, BETA, admissible, "greedy", monotone=True)
    )
    total = dependence_seconds + closeness_seconds + search_seconds
    notify("the releases")
    _project(income_census(_WARM_UP_ROWS).table)
    project_seconds, projection = cpu_seconds(lambda: _project(table))
    return {
        "source": subject.source,
        "rows": table.rows,
        "attributes": len(dependence.names),
        "transformations": transformations.count,
        "encoding, CPU s": round(encoding, 3),
        "dependence, CPU s": round(dependence_seconds, 3),
        "closeness of every transformation, CPU s": round(closeness_seconds, 3),
        "search, CPU s": round(search_seconds, 3),
        "CPU s": round(total, 3),
        "goal: CPU s": GOAL if subject.source == "census_income_kdd" else None,
        "lexsort, CPU s": round(baseline, 3),
        "CPU / lexsort": round(total / baseline, 1),
        "plan": search.summary,
        "sf.project with its releases, CPU s": round(project_seconds, 3),
        "its plan": projection.plan.label,
    }


def _project(table: Table) -> Projection:
    requirements = KAnonymity(K), TCloseness(PROJECT_T)
    return project(table, None, requirements, alpha=ALPHA_WITH_CLOSENESS, beta=BETA, method=Lattice())

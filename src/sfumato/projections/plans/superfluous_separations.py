"""Which separations of a plan could be left out: tables that may as well be published as one.

A plan is *minimal* if nothing can be left out of it: every coarser plan exposes more than β, contains a table that cannot
satisfy the principles, or preserves no more association. It need not be the plan with the smallest loss.

It is enough to look at plans that join the tables of one set, and leave the others alone. If a coarser plan is allowed
and loses less, it joins some set of tables in which two attributes of different tables depend. The plan that joins only
that set loses less than the given one as well; it exposes at most what the coarser plan does, because every further
merge exposes more; and each of its tables is a table of one of the two. If a table with more attributes never satisfies
the principles more easily, pairs of tables are enough, by the same argument.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from sfumato.errors import ParameterError
from sfumato.exact import Number
from sfumato.parameters import check_ratio
from sfumato.projections.plans.dependence import Dependence, PlanRatios
from sfumato.projections.plans.plan import Plan
from sfumato.projections.plans.reachability import Reachable

MOST_TABLES = 16
"""The largest number of tables of which all sets are examined: 65,519 of them."""


def superfluous_separations(
    dependence: Dependence,
    plan: Plan,
    beta: Number,
    reachable: Reachable = lambda block: True,
    *,
    monotone: bool = False,
) -> tuple[PlanRatios, ...]:
    """Return the plans that join some tables of a plan and lose less, within β and the principles; least loss first.

    The plan is minimal if and only if there are none. Each returned plan joins one set of tables of which no smaller part
    can be joined. `reachable` and `monotone` are those of `search_plans`; without `monotone`, all sets of tables are
    examined. The tables of the plan itself need not satisfy the principles. Cost: sets of tables, times pairs of
    attributes; `reachable` is called once for each set that is within β.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> from sfumato.data.table import Table
    >>> people = pa.table({"sex": ["f", "f", "m", "m"], "title": ["ms", "ms", "mr", "mr"], "rich": ["y", "n", "y", "n"]})
    >>> dependence = Dependence.of(Table(people, Schema(sensitive=["sex", "title", "rich"])))
    >>> [str(joined) for joined in superfluous_separations(dependence, Plan.singletons(dependence.names), beta="0.1")]
    ['sex + title | rich: Γ_α 0.0000, Γ_β 0.0000']
    """
    limit = check_ratio(beta, "beta")
    if not monotone and len(plan) > MOST_TABLES:
        raise ParameterError(
            f"the plan has {len(plan)} tables, whose sets are too many to examine",
            remedy=f"It is possible up to {MOST_TABLES} tables; or declare monotone=True if no table becomes easier to "
            "publish with more attributes.",
            key="plan",
            value=len(plan),
        )
    found: list[tuple[frozenset[int], Plan]] = []
    for tables in _sets(len(plan), 2 if monotone else len(plan)):
        if any(smaller <= tables for smaller, _ in found) or not _depend(dependence, plan, tables):
            continue
        joined = _joined(plan, tables)
        block = next(block for block in joined.blocks if plan.blocks[min(tables)][0] in block)
        if dependence.exposes_at_most(joined, limit) and reachable(block):
            found.append((tables, joined))
    return tuple(sorted((dependence.ratios(joined) for _, joined in found), key=lambda r: r.association_loss))


def _sets(count: int, most: int) -> Iterator[frozenset[int]]:
    """Yield the sets of two or more of some tables, smaller ones first."""
    for size in range(2, most + 1):
        yield from map(frozenset, combinations(range(count), size))


def _depend(dependence: Dependence, plan: Plan, tables: frozenset[int]) -> bool:
    """Return whether attributes in different ones of these tables depend on each other, exactly."""
    index = {name: position for position, name in enumerate(dependence.names)}
    return any(
        dependence.information[index[a], index[b]] > 0
        for u, w in combinations(sorted(tables), 2)
        for a in plan.blocks[u]
        for b in plan.blocks[w]
    )


def _joined(plan: Plan, tables: frozenset[int]) -> Plan:
    """Return the plan with some of its tables as one."""
    union = [name for position in tables for name in plan.blocks[position]]
    others = [block for position, block in enumerate(plan.blocks) if position not in tables]
    return Plan.of([union, *others], plan.attributes)

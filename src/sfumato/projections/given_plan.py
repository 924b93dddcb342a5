"""A plan that the publisher gives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sfumato.errors import ParameterError
from sfumato.projections.plan import Plan
from sfumato.projections.set_bits import EncodedSets

_REMEDY = 'List the attributes of each table, such as [["diagnosis", "job"], ["income"]], or write "diagnosis,job|income".'


def tables_of(plan: Any) -> list[list[str]]:
    """The attributes of each table of a plan; in a text, commas stand between attributes and bars between tables.

    An attribute that is to be alone may be given without a list around it.

    >>> tables_of("job, pay|sex"), tables_of([("job", "pay"), "sex"])
    ([['job', 'pay'], ['sex']], [['job', 'pay'], ['sex']])
    """
    if isinstance(plan, str):
        plan = [[name.strip() for name in table.split(",") if name.strip()] for table in plan.split("|")]
    if isinstance(plan, Plan):
        plan = plan.blocks
    if isinstance(plan, Mapping) or not isinstance(plan, Iterable):
        raise ParameterError(f"{plan!r} is no plan", remedy=_REMEDY, key="plan", value=plan)
    tables = []
    for table in plan:
        names = [table] if isinstance(table, str) else table
        if isinstance(names, Mapping) or not isinstance(names, Iterable):
            raise ParameterError(f"{table!r} is no table of a plan", remedy=_REMEDY, key="plan", value=table)
        tables.append(list(names))
    for name in (name for names in tables for name in names):
        if not isinstance(name, str):
            raise ParameterError(f"{name!r} is no name of an attribute", remedy=_REMEDY, key="plan", value=name)
    if not any(tables):
        raise ParameterError("the plan is empty", remedy=_REMEDY, key="plan", value=tables)
    return tables


def plan_of(tables: Sequence[Sequence[str]], apart: EncodedSets, names: Sequence[str]) -> Plan:
    """The plan over the attributes that there are; a set that is named stands for all of its bits."""
    return Plan.of([[part for name in block for part in apart.bits.get(name, (name,))] for block in tables], names)


def left_of(tables: Sequence[Sequence[str]], apart: EncodedSets) -> list[list[str]]:
    """The tables without the bits that nobody has any more, for some of the rows."""
    known = {*apart.table.schema.sensitive, *apart.bits}
    left = [[name for name in block if name in known] for block in tables]
    return [block for block in left if block]

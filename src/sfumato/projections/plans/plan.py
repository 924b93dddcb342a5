"""A plan: which sensitive attributes are published together, and in how many tables.

Definition 3 of Fang, Ashrafi & Ng (2011), *complete disjoint projections*.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from sfumato.errors import ColumnError, ParameterError

_REMEDY = 'List the attributes of each table, such as [["diagnosis", "job"], ["income"]], or write "diagnosis,job|income".'


@dataclass(frozen=True)
class Plan:
    """Disjoint blocks of sensitive attributes that together contain each attribute once; every block becomes a table.

    Create a plan with `Plan.of`, which validates it. Attributes are kept in the order of their declaration and blocks in the
    order of their first attribute, so two plans are equal if and only if they publish the same tables.

    >>> plan = Plan.of([["income"], ["job", "diagnosis"]], ["diagnosis", "job", "income"])
    >>> plan.blocks, plan.label
    ((('diagnosis', 'job'), ('income',)), 'diagnosis + job | income')
    >>> Plan.singletons(["diagnosis", "job", "income"]).merge(0, 2).label
    'diagnosis + income | job'
    """

    blocks: tuple[tuple[str, ...], ...]
    attributes: tuple[str, ...]
    """All attributes, in the order of their declaration."""

    @classmethod
    def of(cls, blocks: Iterable[Iterable[str]], attributes: Sequence[str]) -> Plan:
        """Build the plan of these blocks over these attributes; each attribute must be in exactly one block."""
        block_list = [(block,) if isinstance(block, str) else tuple(block) for block in blocks]
        position = {name: index for index, name in enumerate(attributes)}
        placed: set[str] = set()
        for block in block_list:
            if not block:
                raise ParameterError(
                    "the plan contains an empty block", remedy="Remove it, or name its attributes.", key="plan"
                )
            for name in block:
                if name not in position:
                    raise unknown_attribute(
                        name, attributes, "the plan names a column that is not a sensitive attribute", "plan"
                    )
                if name in placed:
                    raise ColumnError(
                        "the plan contains the attribute twice",
                        remedy="Put it into one table only.",
                        key="plan",
                        column=name,
                    )
                placed.add(name)
        missing = [name for name in attributes if name not in placed]
        if missing:
            raise ColumnError(
                f"the plan leaves out {', '.join(map(repr, missing))}",
                remedy="Put every sensitive attribute into one of the tables; a table may contain a single attribute.",
                key="plan",
                column=missing[0],
            )
        ordered = sorted(
            (tuple(sorted(block, key=position.__getitem__)) for block in block_list), key=lambda block: position[block[0]]
        )
        return cls(tuple(ordered), tuple(attributes))

    @classmethod
    def single_table(cls, attributes: Sequence[str]) -> Plan:
        """Return the plan with all attributes in one table: no association is lost, all information is exposed."""
        return cls((tuple(attributes),), tuple(attributes))

    @classmethod
    def singletons(cls, attributes: Sequence[str]) -> Plan:
        """Return the plan with one table for each attribute: all association is lost, no information is exposed."""
        return cls(tuple((name,) for name in attributes), tuple(attributes))

    def merge(self, u: int, w: int) -> Plan:
        """Return the plan in which the blocks at two positions are one block."""
        first, second = sorted((u, w))
        blocks = list(self.blocks)
        blocks[first] = self.union(u, w)
        # The union starts with the first attribute of the earlier block, so the order of the blocks is preserved.
        del blocks[second]
        return Plan(tuple(blocks), self.attributes)

    def union(self, u: int, w: int) -> tuple[str, ...]:
        """Return the union of the blocks at two positions."""
        members = {*self.blocks[u], *self.blocks[w]}
        return tuple(name for name in self.attributes if name in members)

    @property
    def label(self) -> str:
        """The plan on one line: "diagnosis + job | income"."""
        return " | ".join(map(block_label, self.blocks))

    @property
    def block_indices(self) -> list[int]:
        """For each attribute, the position of its block."""
        index = {name: position for position, block in enumerate(self.blocks) for name in block}
        return [index[name] for name in self.attributes]

    def __len__(self) -> int:
        return len(self.blocks)

    def __str__(self) -> str:
        return self.label


def block_label(block: Sequence[str]) -> str:
    """Return a block on one line.

    >>> block_label(["diagnosis", "job"])
    'diagnosis + job'
    """
    return " + ".join(block)


def parse_plan(plan: Any) -> list[list[str]]:
    """Return the attributes of each table of a plan that the publisher wrote.

    Accepts a `Plan`, nested lists, or a text with commas between attributes and bars between tables. An attribute that is
    alone in its table needs no list around it. The names are not compared with a schema; `Plan.of` does that.

    >>> parse_plan("job, pay|sex"), parse_plan([("job", "pay"), "sex"])
    ([['job', 'pay'], ['sex']], [['job', 'pay'], ['sex']])
    """
    if isinstance(plan, str):
        plan = [[name.strip() for name in table.split(",") if name.strip()] for table in plan.split("|")]
    if isinstance(plan, Plan):
        plan = plan.blocks
    if isinstance(plan, Mapping) or not isinstance(plan, Iterable):
        raise ParameterError(f"invalid plan {plan!r}", remedy=_REMEDY, key="plan", value=plan)
    tables = []
    for table in plan:
        names = [table] if isinstance(table, str) else table
        if isinstance(names, Mapping) or not isinstance(names, Iterable):
            raise ParameterError(f"invalid table {table!r} in the plan", remedy=_REMEDY, key="plan", value=table)
        tables.append(list(names))
    for name in (name for names in tables for name in names):
        if not isinstance(name, str):
            raise ParameterError(f"invalid attribute name {name!r} in the plan", remedy=_REMEDY, key="plan", value=name)
    if not any(tables):
        raise ParameterError("the plan is empty", remedy=_REMEDY, key="plan", value=tables)
    return tables


def unknown_attribute(name: str, attributes: Sequence[str], problem: str, key: str | None = None) -> ColumnError:
    """Return the error for a name that is not one of the attributes, with suggestions of similar names."""
    similar = get_close_matches(str(name), attributes, n=3, cutoff=0.6)
    listing = ", ".join(map(repr, attributes))
    hint = f"Did you mean {' or '.join(map(repr, similar))}?" if similar else f"The sensitive attributes are: {listing}."
    return ColumnError(problem, remedy=hint, key=key, column=str(name))

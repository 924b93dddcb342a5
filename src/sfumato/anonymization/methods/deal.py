"""Deal: groups that reveal nothing about how they were found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.anonymization.methods.block_deals import deal_forest
from sfumato.anonymization.methods.block_forest import make_forest
from sfumato.anonymization.methods.block_size import choose_block_rows
from sfumato.anonymization.methods.method import FINDING, Grouping, Method, Task
from sfumato.anonymization.methods.search_problem import SearchProblem
from sfumato.data.groups import renumber
from sfumato.data.table import Table
from sfumato.errors import ParameterError
from sfumato.principles import Principle


@dataclass(frozen=True)
class Deal(Method):
    """Put similar rows into blocks without looking at secrets, then deal each block without looking at similarity.

    The groups withstand attackers who know the method (minimality attacks): somebody who knows the quasi-identifiers and the
    group of everybody, the method and the release, and to whom all assignments of secrets to people were equally likely
    before, believes afterwards exactly what the counts of a group say. The page "Resist attackers who know
    the method" has the proof.

    1. Blocks. Put the rows into blocks of equal size with a low loss, the blocks into pairs, and the pairs into pools, by
       the quasi-identifiers alone. A few rows that do not fit are drawn at random, and dealt by themselves.
    2. Deal. Deal the rows of each block to groups that satisfy the principles, by the secrets alone. If a block cannot be
       dealt, deal it together with the other block of its pair, so that each group takes equally many rows of both. If that
       fails too, deal the pair together with other pairs of its pool, and finally the pool with other pools.

    The loss is higher than that of glaze, and much higher where similar people have similar secrets. Supports every
    principle whose verdict depends on the secrets of a group alone: all but (n,t)-closeness. People with several rows, and
    associations to preserve, are refused. Deterministic for a seed. Cost: about linear in the rows.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [23, 25, 27, 51, 52, 58], "ill": ["flu", "flu", "gout", "flu", "gout", "cold"]})
    >>> task = Task(sf.Table(people, sf.Schema(["age"], ["ill"])), (sf.DistinctLDiversity(2),))
    >>> bool(task.satisfied(Deal().group(task, seed=1).of_row).all())
    True
    """

    block_rows: int | None = None
    """The number of rows of a block; by default chosen from how often each secret occurs in the table."""

    name: ClassVar[str] = "deal"

    def __post_init__(self) -> None:
        if self.block_rows is not None:
            self.check_whole("block_rows")

    def group(self, task: Task, seed: int = 0) -> Grouping:
        """Make blocks, and deal them."""
        self.refuse_unsupported(task.table, task.principles)
        space, constraints = task.search_space, task.search_constraints
        task.progress(FINDING, 0.0)
        rows = task.table.rows
        block = self.block_rows or choose_block_rows(constraints, rows)
        # the constraints would let secrets decide about blocks
        unconstrained = SearchProblem(space.places, space.shares, constraints, len(task.domains), task.progress)
        forest = make_forest(unconstrained, block, seed).shuffled(np.random.default_rng([seed, 1]))
        labels, fine = deal_forest(forest, constraints)
        private = (f"blocks of {block} rows; {1 - fine[labels].mean():.1%} of the rows could not be dealt",)
        return Grouping(renumber(labels), private=private)

    def refuse_unsupported(self, table: Table, principles: Sequence[Principle]) -> None:
        """Raise an error for what would let groups depend on who has which secret, beyond what the proof allows."""
        for principle in principles:
            if not (principle.histogram_only and principle.searchable):
                raise ParameterError(
                    f"the method deal does not support {principle.title}: whether it holds must depend on the secrets of "
                    "the group and of the table alone, and be stated as search conditions",
                    remedy="Require another principle, or use another method, without resist.",
                    key="method.name",
                    value=principle.name,
                )
        if table.schema.preserve:
            raise ParameterError(
                "the method deal does not look at secrets while it compares rows, so it cannot preserve associations",
                remedy="Remove preserve from the schema, or use another method, without resist.",
                key="preserve",
                file=table.source,
                value=[list(pair) for pair in table.schema.preserve],
            )
        units = table.units
        if units is not None:
            key = "household_id" if units.noun == "household" else "person_id"
            raise ParameterError(
                f"the method deal treats each row as a person, and the schema declares {key}",
                remedy=f"Reduce the table to one row per {units.noun} and remove {key}, or use another method, without "
                "resist.",
                key=key,
                file=table.source,
                value=getattr(table.schema, key),
            )

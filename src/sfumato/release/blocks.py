"""The projected tables of a plan: each block of attributes is tried once, and what was found for it is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from sfumato.errors import ParameterProblem, Unreached
from sfumato.io.shuffle import table_seed
from sfumato.methods import Method
from sfumato.principles import Principle, in_projection
from sfumato.progress import Progress, silent
from sfumato.release.anonymize import anonymize
from sfumato.release.release import Release
from sfumato.table import Table


@dataclass(eq=False)
class Blocks:
    """Finds, for a block of sensitive attributes, the projected table in which the principles hold."""

    table: Table
    """The table that is projected, sets spread into bits."""
    sets: Mapping[str, Sequence[str]]
    """The bits of each set."""
    principles: tuple[Principle, ...]
    method: Method | str | None = None
    seed: int = 0
    suppress: Fraction = Fraction(0)
    progress: Progress = silent
    tried: dict[tuple[str, ...], Release | Unreached] = field(default_factory=dict)

    def reachable(self, block: Sequence[str]) -> bool:
        """Whether the principles can be reached in the projected table of a block."""
        return isinstance(self.of(block), Release)

    def of(self, block: Sequence[str]) -> Release | Unreached:
        """What became of a block: its table, or why there is none."""
        block = tuple(block)
        if block not in self.tried:
            self.tried[block] = self._try(block)
        return self.tried[block]

    def release(self, block: Sequence[str]) -> Release:
        """The table of a block; why there is none is raised."""
        found = self.of(block)
        if isinstance(found, Unreached):
            raise found.inside(None, f"the table of {' + '.join(block)}")
        return found

    def _try(self, block: tuple[str, ...]) -> Release | Unreached:
        asked = self._asked(block)
        if isinstance(asked, Unreached):
            return asked
        self.progress(f"trying the table of {' + '.join(block)}")
        try:
            return anonymize(
                projected(self.table, block),
                None,
                asked,
                method=self.method,
                seed=table_seed(self.seed, self.table.schema.sensitive.index(block[0])),
                suppress=self.suppress,
            )
        except Unreached as error:
            return error

    def _asked(self, block: tuple[str, ...]) -> list[Principle] | Unreached:
        """The principles that the table of a block must hold; why it cannot, if they bind attributes that it lacks."""
        asked: list[Principle] = []
        for principle in self.principles:
            here = in_projection(principle, block, self.sets)
            if here is None:
                return Unreached(
                    f"{principle.label} takes together attributes of which only some stand here",
                    remedy="Let the plan keep them together, or ask for the principle on each alone.",
                    value=getattr(principle, "on", None),
                )
            asked += here
        if not asked:
            raise ParameterProblem(
                f"no principle speaks of the table of {' + '.join(block)}, so nothing would be promised of it",
                remedy="Ask for one that holds in every table, such as k-anonymity.",
                key="principles",
                value=block,
            )
        return asked


def projected(table: Table, block: Sequence[str]) -> Table:
    """The projection of a table on its quasi-identifiers and some of its sensitive attributes, in their order.

    >>> import pyarrow as pa
    >>> from sfumato.schema import Schema
    >>> people = pa.table({"name": ["Ann"], "age": [30], "ill": ["flu"], "job": ["cook"]})
    >>> projected(Table(people, Schema(["age"], ["ill", "job"])), ["job"]).data.column_names
    ['age', 'job']
    """
    schema = table.schema.projected(block)
    wanted = {*schema.quasi_identifiers, *schema.sensitive_columns()}
    names = [name for name in table.data.column_names if name in wanted]
    return Table(table.data.select(names), schema, table.source, untyped=table.untyped, reading=table.reading)

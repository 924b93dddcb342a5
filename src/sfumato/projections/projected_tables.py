"""The projected tables of a plan: each block of attributes is tried once, and what was found for it is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from sfumato._audit import library_of
from sfumato.anonymization._anonymize import anonymized
from sfumato.anonymization.methods import Method
from sfumato.anonymization.release import Release
from sfumato.data.table import Table
from sfumato.errors import RequirementError
from sfumato.io.shuffle import table_seed
from sfumato.principles import Principle, in_projection
from sfumato.progress import Progress, silent


@dataclass(eq=False)
class Blocks:
    """Finds, for a block of sensitive attributes, the projected table in which the principles hold."""

    table: Table
    """The table that is projected, sets spread into bits."""
    sets: Mapping[str, Sequence[str]]
    """The bits of each set."""
    data: Any
    """The same rows as they came in, for frames in that library; they need not have the bits."""
    principles: tuple[Principle, ...]
    method: Method | str | None = None
    seed: int = 0
    suppress: Fraction = Fraction(0)
    progress: Progress = silent
    tried: dict[tuple[str, ...], Release | RequirementError] = field(default_factory=dict)

    def reachable(self, block: Sequence[str]) -> bool:
        """Whether the principles can be reached in the projected table of a block."""
        return isinstance(self.of(block), Release)

    def of(self, block: Sequence[str]) -> Release | RequirementError:
        """What became of a block: its table, or why there is none."""
        block = tuple(block)
        if block not in self.tried:
            self.tried[block] = self._try(block)
        return self.tried[block]

    def release(self, block: Sequence[str]) -> Release:
        """The table of a block; why there is none is raised."""
        found = self.of(block)
        if isinstance(found, RequirementError):
            raise found.inside(None, f"the table of {' + '.join(block)}")
        return found

    def promised(self, block: Sequence[str]) -> bool:
        """Whether a principle speaks of the table of a block."""
        return any(in_projection(principle, block, self.sets) != () for principle in self.principles)

    def _try(self, block: tuple[str, ...]) -> Release | RequirementError:
        asked = self._asked(block)
        if isinstance(asked, RequirementError):
            return asked
        self.progress(f"trying the table of {' + '.join(block)}")
        try:
            return anonymized(
                projected(self.table, block),
                self._framed,
                tuple(asked),
                self.method,
                table_seed(self.seed, self.table.schema.sensitive.index(block[0])),
                self.suppress,
            )
        except RequirementError as error:
            return error

    @cached_property
    def _framed(self) -> Any:
        """The rows as they came in; a frame of pandas, whose columns are published as they are, with the bits beside."""
        if library_of(self.data) != "pandas":
            return self.data
        names = [bit for bits in self.sets.values() for bit in bits]
        return self.data.assign(**{name: self.table.data.column(name).to_pandas().to_numpy() for name in names})

    def _asked(self, block: tuple[str, ...]) -> list[Principle] | RequirementError:
        """The principles that the table of a block must hold; why it cannot, if they bind attributes that it lacks."""
        if not self.promised(block):
            return RequirementError(
                f"no principle speaks of the table of {' + '.join(block)}, so nothing would be promised of it",
                remedy="Ask for one that holds in every table, such as k-anonymity.",
                value=block,
            )
        asked: list[Principle] = []
        for principle in self.principles:
            here = in_projection(principle, block, self.sets)
            if here is None:
                return RequirementError(
                    f"{principle.label} takes together attributes of which only some stand here",
                    remedy="Let the plan keep them together, or ask for the principle on each alone.",
                    value=getattr(principle, "on", None),
                )
            asked += here
        return asked


def projected(table: Table, block: Sequence[str]) -> Table:
    """The projection of a table on its quasi-identifiers and some of its sensitive attributes, in their order.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> people = pa.table({"name": ["Ann"], "age": [30], "ill": ["flu"], "job": ["cook"]})
    >>> projected(Table(people, Schema(["age"], ["ill", "job"])), ["job"]).data.column_names
    ['age', 'job']
    """
    schema = table.schema.projected(block)
    wanted = {*schema.quasi_identifiers, *schema.sensitive_columns()}
    names = [name for name in table.data.column_names if name in wanted]
    return table.select(names, schema)

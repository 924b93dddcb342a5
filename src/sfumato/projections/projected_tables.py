"""The projected tables of plans: each block of attributes is anonymize_table once, and the result is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from sfumato._audit import library_of
from sfumato.anonymization._anonymize import anonymize_table
from sfumato.anonymization.methods import Method
from sfumato.anonymization.release import Release
from sfumato.data.table import Table
from sfumato.errors import RequirementError
from sfumato.exact import written
from sfumato.io.shuffle import table_seed
from sfumato.principles import Principle, in_projection
from sfumato.progress import Progress, silent
from sfumato.projections.plans.plan import block_label
from sfumato.seeds import PUBLIC_SEED, table_secret


@dataclass(frozen=True)
class DiscernibilityLimit:
    """The largest discernibility of a table, in which every row of the original counts, also one that is in no table.

    >>> DiscernibilityLimit(Fraction(12), rows=5).measured([2, 2])
    13
    """

    limit: Fraction | None
    """None: there is none."""
    rows: int
    """The rows of the original."""

    def measured(self, sizes: Iterable[int]) -> int:
        """Return Σ |G|² over groups of these sizes, and the number of all rows for each row in none of them."""
        sizes = list(map(int, sizes))
        return sum(size * size for size in sizes) + (self.rows - sum(sizes)) * self.rows

    def excess(self, block: Sequence[str], sizes: Iterable[int]) -> RequirementError | None:
        """Return the error for a table whose groups exceed the limit."""
        if self.limit is None or (measured := self.measured(sizes)) <= self.limit:
            return None
        return RequirementError(
            f"the groups of the table of {block_label(block)} have discernibility {measured:,}, above {written(self.limit)}",
            remedy='Raise discernibility, relax the principles, or use the method "lattice" with loss = "discernibility".',
            key="discernibility",
            value=measured,
        )


@dataclass(eq=False)
class ProjectedTables:
    """For each block of sensitive attributes, the projected table in which the principles hold, or why there is none."""

    table: Table
    """The table that is projected, with its sets encoded as bits."""
    sets: Mapping[str, Sequence[str]]
    """The bits of each set."""
    data: Any
    """The same rows as the user passed them, for frames in that library; they need not contain the bits."""
    principles: tuple[Principle, ...]
    method: Method | str | None = None
    seed: int = 0
    suppress: Fraction = Fraction(0)
    progress: Progress = silent
    quality: DiscernibilityLimit = DiscernibilityLimit(None, 0)
    _results: dict[tuple[str, ...], Release | RequirementError] = field(default_factory=dict)

    def reachable(self, block: Sequence[str]) -> bool:
        """Return whether the principles can be reached in the projected table of a block."""
        return isinstance(self.result(block), Release)

    def result(self, block: Sequence[str]) -> Release | RequirementError:
        """Return the release of a block, or the error that prevents it."""
        block = tuple(block)
        if block not in self._results:
            self._results[block] = self._anonymize(block)
        return self._results[block]

    def release(self, block: Sequence[str]) -> Release:
        """Return the release of a block; raise the error if there is none."""
        result = self.result(block)
        if isinstance(result, RequirementError):
            raise result.inside(None, f"the table of {block_label(block)}")
        return result

    def has_principle(self, block: Sequence[str]) -> bool:
        """Return whether any principle applies to the table of a block."""
        return any(in_projection(principle, block, self.sets) != () for principle in self.principles)

    def _anonymize(self, block: tuple[str, ...]) -> Release | RequirementError:
        principles = self._block_principles(block)
        if isinstance(principles, RequirementError):
            return principles
        self.progress(f"trying the table of {block_label(block)}")
        # Both seeds depend on the block alone, not on the order in which blocks are tried.
        place = self.table.schema.sensitive.index(block[0])
        try:
            release = anonymize_table(
                project_table(self.table, block),
                self._frame,
                tuple(principles),
                self.method,
                table_secret(self.seed, place),
                self.suppress,
                order_seed=table_seed(PUBLIC_SEED, place),
            )
        except RequirementError as error:
            return error
        return self.quality.excess(block, release.audit.groups.sizes) or release

    @cached_property
    def _frame(self) -> Any:
        """The rows as the user passed them; a pandas frame, whose columns are published as they are, gets the bits added."""
        if library_of(self.data) != "pandas":
            return self.data
        names = [bit for bits in self.sets.values() for bit in bits]
        return self.data.assign(**{name: self.table.data.column(name).to_pandas().to_numpy() for name in names})

    def _block_principles(self, block: tuple[str, ...]) -> list[Principle] | RequirementError:
        """Return the principles that the table of a block must satisfy, or an error if one needs attributes it lacks."""
        if not self.has_principle(block):
            return RequirementError(
                f"no principle applies to the table of {block_label(block)}, so it would be published without protection",
                remedy="Require a principle that applies to every table, such as k-anonymity.",
                value=block,
            )
        principles: list[Principle] = []
        for principle in self.principles:
            applicable = in_projection(principle, block, self.sets)
            if applicable is None:
                return RequirementError(
                    f"{principle.label} is on several attributes together, but this table contains only some of them",
                    remedy="Keep them in one table, or require the principle on each attribute separately.",
                    value=getattr(principle, "on", None),
                )
            principles += applicable
        return principles


def project_table(table: Table, block: Sequence[str]) -> Table:
    """Project a table on its quasi-identifiers and some of its sensitive attributes, in the order of the table.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> people = pa.table({"name": ["Ann"], "age": [30], "ill": ["flu"], "job": ["cook"]})
    >>> project_table(Table(people, Schema(["age"], ["ill", "job"])), ["job"]).data.column_names
    ['age', 'job']
    """
    schema = table.schema.projected(block)
    columns = {*schema.quasi_identifiers, *schema.sensitive_columns()}
    names = [name for name in table.data.column_names if name in columns]
    return table.select(names, schema)

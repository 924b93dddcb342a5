"""The best full-domain generalization of a table, without publishing anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sfumato._audit import table_of
from sfumato.anonymization._anonymize import check
from sfumato.anonymization.methods import Task
from sfumato.anonymization.methods.full_domain import SearchResult, TransformationSearch
from sfumato.anonymization.methods.lattice import check_loss, checked_limits, searched
from sfumato.errors import RequirementError
from sfumato.exact import Number, nearest_float
from sfumato.parameters import check_share
from sfumato.plurals import count_of
from sfumato.principles import PrincipleRequest, requested_principles


@dataclass(frozen=True, repr=False)
class FullDomain:
    """The best full-domain generalization of a table: a level per quasi-identifier. Made by `full_domain`.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> ages = sf.Schema(["age"], hierarchies={"age": sf.Intervals((10, 20))})
    >>> found = sf.full_domain(pa.table({"age": [31, 34, 47, 48, 63]}), ages, sf.KAnonymity(2), suppress="0.2", count=True)
    >>> found.levels, found.suppressed, found.admissible, found.transformations, found.proven
    ({'age': 1}, 1, 3, 4, True)
    """

    levels: dict[str, int]
    """For each quasi-identifier how far up its hierarchy it goes: 0 is the value itself."""
    loss: str
    """What is minimised."""
    score: float
    """The loss of this transformation."""
    suppressed: int
    """The rows that lie in classes in which a principle fails."""
    transformations: int
    """How many transformations there are."""
    admissible: int | None
    """How many of them have at most the allowed rows in such classes; None if they were not counted."""
    checked: int
    """How many were looked at."""
    gap: float
    """By how much the least loss of all admissible transformations may be below `score`; 0 if `proven`."""
    proven: bool
    """Whether it is known that none is better."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {**vars(self), "levels": dict(self.levels)}

    def __repr__(self) -> str:
        levels = ", ".join(f"{name} {level}" for name, level in self.levels.items())
        lines = [f"Full-domain generalization: {levels}"]
        lines.append(f"  loss        {self.score:.6g} ({self.loss}), {count_of(self.suppressed, 'row')} suppressed")
        sure = "none has a lower loss" if self.proven else f"the least loss may be up to {self.gap:.3g} lower"
        lines.append(f"  search      {self.checked:,} of {count_of(self.transformations, 'transformation')} checked: {sure}")
        if self.admissible is not None:
            lines.append(f"  admissible  {self.admissible:,}")
        return "\n".join(lines)


def full_domain(
    data: Any,
    schema: Any,
    principles: PrincipleRequest | Sequence[PrincipleRequest],
    *,
    loss: str = "mean",
    suppress: Number = 0,
    count: bool = False,
    checks: int | None = None,
    seconds: float | None = None,
) -> FullDomain:
    """Find the level of every quasi-identifier's hierarchy at which the principles hold at the least loss.

    Rows with equal generalized values are a class. A transformation, one level per quasi-identifier, is admissible if at
    most the share `suppress` of the rows lie in classes in which a principle fails, measured against the whole table.
    `loss`: "mean", "group-mean", "normalised", "precision", "entropy", "discernibility" or "class-size". `count`: count the
    admissible ones too. `checks`, `seconds`: end the search after so many transformations, or so long; then `gap` tells how
    much lower the least loss may be. To publish, use `anonymize` with the method `sf.Lattice`, which also sees to it that
    what is left holds when the suppressed rows are gone.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [31, 34, 47, 48], "sex": ["f", "m", "f", "m"]})
    >>> full_domain(people, sf.Schema(["age", "sex"], hierarchies={"age": sf.Intervals((10,))}), sf.KAnonymity(2))
    Full-domain generalization: age 2, sex 0
      loss        0.5 (mean), 0 rows suppressed
      search      4 of 6 transformations checked: none has a lower loss
    """
    asked = requested_principles(principles)
    share = check_share(suppress)
    check_loss(loss)
    checks, seconds = checked_limits(checks, seconds)
    table = table_of(data, schema)
    check(table, asked)
    search = TransformationSearch(Task(table, asked, suppress=share), loss, settled=False)
    found = search.best(count=count, checks=checks, seconds=seconds)
    if found.score is None:
        raise _unreached(found, search, loss, table.source)
    score = nearest_float(found.score)
    return FullDomain(
        levels=dict(zip(table.schema.quasi_identifiers, found.levels, strict=True)),
        loss=loss,
        score=score,
        suppressed=found.suppressed,
        transformations=found.transformations,
        admissible=found.admissible,
        checked=found.checked,
        gap=0.0 if found.proven else max(0.0, score - found.lowest),
        proven=found.proven,
    )


def _unreached(found: SearchResult, search: TransformationSearch, loss: str, source: str | None) -> RequirementError:
    """The error that says how far the search got."""
    levels = dict(zip(search.task.table.schema.quasi_identifiers, found.levels, strict=True))
    so_far = "" if found.proven else " The search was stopped before it had looked everywhere."
    return RequirementError(
        f"{searched(found, loss)}; the nearest, {levels}, has {found.suppressed:,} of {count_of(search.cube.rows, 'row')} "
        f"in classes in which a principle fails, and at most {search.most:,} may be.{so_far}".removesuffix("."),
        remedy="Ask for less, allow more rows to be suppressed, or use a method that is not bound to whole levels.",
        file=source,
        value=levels,
    )

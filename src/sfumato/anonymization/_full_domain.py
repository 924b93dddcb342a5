"""The best full-domain generalization of a table, without publishing anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sfumato._audit import table_of
from sfumato.anonymization._anonymize import check
from sfumato.anonymization.methods import Task
from sfumato.anonymization.methods.full_domain import SearchResult, TransformationChecks, search_lattice
from sfumato.anonymization.methods.lattice import check_loss, checked_limits, search_summary
from sfumato.anonymization.unit_groups import refuse_units
from sfumato.errors import RequirementError
from sfumato.exact import Number, nearest_float
from sfumato.parameters import check_share
from sfumato.plurals import count_of
from sfumato.principles import PrincipleRequest, requested_principles
from sfumato.principles.known_original import with_known_original


@dataclass(frozen=True, repr=False)
class FullDomain:
    """The best full-domain generalization of a table: a level per quasi-identifier. Made by `full_domain`.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> ages = sf.Schema(["age"], hierarchies={"age": sf.Intervals((10, 20))})
    >>> best = sf.full_domain(pa.table({"age": [31, 34, 47, 48, 63]}), ages, sf.KAnonymity(2), suppress="0.2", count=True)
    >>> best.levels, best.suppressed, best.admissible, best.transformations, best.proven
    ({'age': 1}, 1, 3, 4, True)
    """

    levels: dict[str, int]
    """For each quasi-identifier its level in the hierarchy: 0 is the value itself."""
    loss: str
    """The name of the loss that is minimised."""
    score: float
    """The loss of this transformation."""
    suppressed: int
    """The number of rows in classes in which a principle fails."""
    transformations: int
    """The number of transformations."""
    admissible: int | None
    """The number of transformations with at most the allowed rows in such classes; None if they were not counted."""
    checked: int
    """The number of transformations that were examined."""
    gap: float
    """How far the least loss of all admissible transformations may be below `score`; 0 if `proven`."""
    proven: bool
    """Whether it is proven that no transformation is better."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {**vars(self), "levels": dict(self.levels)}

    def __repr__(self) -> str:
        levels = ", ".join(f"{name} {level}" for name, level in self.levels.items())
        lines = [f"Full-domain generalization: {levels}"]
        lines.append(f"  loss        {self.score:.6g} ({self.loss}), {count_of(self.suppressed, 'row')} suppressed")
        sure = "none has a lower loss" if self.proven else f"not proven optimal, gap {self.gap:.3g}"
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
    """Find the level of every quasi-identifier's hierarchy at which the principles hold with the least loss.

    Rows with equal generalized values are a class. A transformation, one level per quasi-identifier, is admissible if at
    most the share `suppress` of the rows lie in classes in which a principle fails, measured against the whole table.
    `loss`: "mean", "group-mean", "normalised", "precision", "entropy", "discernibility" or "class-size". `count`: also count
    the admissible transformations. `checks`, `seconds`: stop the search after this many transformations, or this long;
    `gap` then states how much lower the least loss may be. More than 16 million transformations are searched within a
    budget, 2,000 transformations unless `checks` or `seconds` is set, and are not counted. To publish, use `anonymize` with
    the method `sf.Lattice`, which also ensures that the principles hold without the suppressed rows.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [31, 34, 47, 48], "sex": ["f", "m", "f", "m"]})
    >>> full_domain(people, sf.Schema(["age", "sex"], hierarchies={"age": sf.Intervals((10,))}), sf.KAnonymity(2))
    Full-domain generalization: age 2, sex 0
      loss        0.5 (mean), 0 rows suppressed
      search      4 of 6 transformations checked: none has a lower loss
    """
    requested = requested_principles(principles)
    share = check_share(suppress)
    check_loss(loss)
    checks, seconds = checked_limits(checks, seconds)
    table = table_of(data, schema)
    check(table, requested)
    refuse_units(table, "full_domain")
    task = Task(with_known_original(table, requested), requested, suppress=share)
    search, result = search_lattice(task, loss, settled=False, count=count, checks=checks, seconds=seconds)
    if result.score is None:
        raise _requirement_error(result, search, loss, table.source)
    score = nearest_float(result.score)
    return FullDomain(
        levels=dict(zip(table.schema.quasi_identifiers, result.levels, strict=True)),
        loss=loss,
        score=score,
        suppressed=result.suppressed,
        transformations=result.transformations,
        admissible=result.admissible,
        checked=result.checked,
        gap=0.0 if result.proven else max(0.0, score - result.lowest),
        proven=result.proven,
    )


def _requirement_error(
    result: SearchResult, search: TransformationChecks, loss: str, source: str | None
) -> RequirementError:
    """Return the error that says how far the search got."""
    levels = dict(zip(search.task.table.schema.quasi_identifiers, result.levels, strict=True))
    stopped = "" if result.proven else " The search was stopped before every transformation was ruled out."
    return RequirementError(
        f"{search_summary(result, loss)}; the nearest, {levels}, has {result.suppressed:,} of "
        f"{count_of(search.cube.rows, 'row')} in classes in which a principle fails, and at most {search.most:,} are "
        f"allowed.{stopped}".removesuffix("."),
        remedy="Relax the requirements, allow more rows to be suppressed, or use a method without fixed levels.",
        file=source,
        value=levels,
    )

"""Lattice: full-domain generalization, the best of all transformations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, ClassVar

from sfumato.anonymization.methods.full_domain import SearchResult, TransformationCube, search_lattice
from sfumato.anonymization.methods.full_domain.bounded_search import DEFAULT_CHECKS
from sfumato.anonymization.methods.full_domain.search_choice import is_small
from sfumato.anonymization.methods.method import Grouping, Method, Task
from sfumato.data.groups import renumber
from sfumato.errors import ParameterError
from sfumato.exact import nearest_float
from sfumato.plurals import count_of
from sfumato.registry import LOSSES


@dataclass(frozen=True)
class Lattice(Method):
    """Publish every quasi-identifier at one level of its hierarchy: of all such transformations the one with the least loss.

    Rows with equal generalized values are a group. If rows may be suppressed, groups in which a principle fails are
    dropped. The result is optimal, for any principles, among all transformations whose dropped rows are within the limit.
    A quasi-identifier without a hierarchy is published unchanged or as `*`. Source: Sweeney (2002b); the order of the search
    follows Kohlmayer et al. (2012).

    `loss`: the loss to minimise, a name in `sfumato.registry.LOSSES`. `checks`: the largest number of transformations to
    examine. `seconds`: the longest time to search; the result may then differ between machines. More than 16 million
    transformations are searched within a budget, 2,000 transformations unless a limit is set. If the search is cut short,
    the result is not proven to be optimal, and the grouping's private notes state how far from the optimum it may be.
    `levels`: publish at these levels, one for each quasi-identifier in their order, instead of searching: see
    `sf.anonymization.transformations`.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> ages = sf.Schema(["age"], hierarchies={"age": sf.Intervals((10, 20))})
    >>> people = pa.table({"age": [31, 34, 47, 48, 63]})
    >>> release = sf.anonymize(people, ages, sf.KAnonymity(2), method=Lattice(), suppress="0.2")
    >>> release.levels, sorted(release.frame["age"].to_pylist())
    ({'age': 1}, ['[30, 40)', '[30, 40)', '[40, 50)', '[40, 50)'])
    """

    loss: str = "mean"
    checks: int | None = None
    seconds: float | None = None
    levels: tuple[int, ...] | None = None

    name: ClassVar[str] = "lattice"
    publishes_levels: ClassVar[bool] = True
    honours_limits: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_loss(self.loss)
        checks, seconds = checked_limits(self.checks, self.seconds)
        object.__setattr__(self, "checks", checks)
        object.__setattr__(self, "seconds", seconds)
        object.__setattr__(self, "levels", _checked_levels(self.levels))

    def group(self, task: Task, seed: int = 0) -> Grouping:
        """Search the lattice. Nothing is random.

        Cost: for each transformation examined that of merging the classes of a finer one.
        """
        del seed
        if self.levels is not None:
            return self._at_levels(task, self.levels)
        search, result = search_lattice(task, self.loss, settled=True, checks=self.checks, seconds=self.seconds)
        of_row = renumber(search.cube.of_rows(result.levels))
        return Grouping(of_row, self._notes(search.cube, result), result.levels, (search_summary(result, self.loss),))

    def _at_levels(self, task: Task, levels: tuple[int, ...]) -> Grouping:
        """Return the groups at levels that were requested."""
        cube = TransformationCube(task)
        names = [column.name for column in cube.columns]
        if len(levels) != len(names) or any(level > height for level, height in zip(levels, cube.heights, strict=False)):
            heights = ", ".join(f"{name} 0 to {height}" for name, height in zip(names, cube.heights, strict=True))
            raise ParameterError(
                f"the levels {list(levels)} do not fit the quasi-identifiers",
                remedy=f"Write one level for each: {heights}.",
                key="levels",
                value=list(levels),
                file=task.table.source,
            )
        listed = ", ".join(f"{name} {level} of {top}" for name, level, top in zip(names, levels, cube.heights, strict=True))
        note = f"every column is published at one level of its hierarchy, which was requested: {listed}"
        return Grouping(renumber(cube.of_rows(levels)), (note,), levels)

    def _notes(self, cube: TransformationCube, result: SearchResult) -> tuple[str, ...]:
        """Return notes that follow from the release, the schema and the parameters alone.

        What the search saw stays private, because it depends on sensitive values.
        """
        columns = cube.columns
        levels = [f"{column.name} {level} of {column.height}" for column, level in zip(columns, result.levels, strict=True)]
        plain = [repr(column.name) for column in columns if column.domain.column.hierarchy is None]
        notes = [f"every column is published at one level of its hierarchy: {', '.join(levels)}"]
        if plain:
            notes.append(
                f"a column without a hierarchy is published unchanged or as *: {', '.join(plain)}; "
                "a hierarchy such as { intervals = [5, 10, 20] } gives more choices"
            )
        if self.checks is None and self.seconds is None and not is_small(cube):
            notes.append(
                f"there are {result.transformations:,} transformations, and the search examines at most {DEFAULT_CHECKS:,}: "
                "the result is not proven to be optimal, and there may be a better one"
            )
        if self.checks is not None:
            notes.append(f"the search examines at most {count_of(self.checks, 'transformation')}: there may be a better one")
        if self.seconds is not None:
            notes.append(
                f"the search ends after {self.seconds:g} s: there may be a better transformation, and the result may differ "
                "on another machine"
            )
        return tuple(notes)


def _checked_levels(levels: Any) -> tuple[int, ...] | None:
    """Return levels as whole numbers from 0; anything else is a ParameterError."""
    if levels is None:
        return None
    wrong = not isinstance(levels, list | tuple)
    if wrong or any(isinstance(level, bool) or not isinstance(level, Integral) or level < 0 for level in levels):
        raise ParameterError(
            f"invalid levels {levels!r}: they must be whole numbers from 0",
            remedy="Write one level for each quasi-identifier, such as [1, 0, 2].",
            key="levels",
            value=levels,
        )
    return tuple(int(level) for level in levels)


def search_summary(result: SearchResult, loss: str) -> str:
    """Describe in words how far a search got."""
    head = f"{result.checked:,} of {count_of(result.transformations, 'transformation')} checked"
    if result.score is None:
        return f"{head}: none of them is admissible"
    score = nearest_float(result.score)
    if result.proven:
        return f"{head}: none has a lower {loss} loss than {score:.6g}"
    gap = max(0.0, score - result.lowest)
    return f"{head}: {loss} loss {score:.6g}, not proven optimal, gap {gap:.3g} (the least is at least {result.lowest:.6g})"


def check_loss(loss: object) -> None:
    """Raise a ParameterError if a loss is unknown."""
    if not isinstance(loss, str) or loss not in LOSSES:
        raise ParameterError(f"there is no loss {loss!r}", remedy=LOSSES.suggestion(str(loss)), key="loss", value=loss)


def checked_limits(checks: Any, seconds: Any) -> tuple[int | None, float | None]:
    """Return the limits of the search as plain numbers; an invalid limit is a ParameterError.

    >>> from decimal import Decimal
    >>> checked_limits(1000, Decimal("0.5"))
    (1000, 0.5)
    """
    if checks is not None and (isinstance(checks, bool) or not isinstance(checks, Integral) or checks < 1):
        raise ParameterError(
            f"invalid checks {checks!r}: it must be a whole number of at least 1",
            remedy="Write the number of transformations to examine, such as 1000.",
            key="checks",
            value=checks,
        )
    number = isinstance(seconds, Real | Decimal) and not isinstance(seconds, bool)
    if seconds is not None and not (number and 0 < seconds < math.inf):
        raise ParameterError(
            f"invalid seconds {seconds!r}: it must be a number above 0",
            remedy="Write the longest time to search, such as 10.",
            key="seconds",
            value=seconds,
        )
    return None if checks is None else int(checks), None if seconds is None else float(seconds)

"""Lattice: full-domain generalization, the best of all transformations."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, ClassVar

from sfumato.anonymization.methods.full_domain import SearchResult, TransformationSearch
from sfumato.anonymization.methods.method import Grouping, Method, Task, numbered
from sfumato.errors import ParameterError
from sfumato.exact import nearest_float
from sfumato.plurals import count_of
from sfumato.registry import LOSSES


@dataclass(frozen=True)
class Lattice(Method):
    """Publish every quasi-identifier at one level of its hierarchy: of all such transformations the one of least loss.

    Rows with equal generalized values are a group. If rows may be suppressed, groups in which a principle fails are
    dropped. The result is optimal, for any principles, among all transformations whose dropped rows are within the limit.
    A quasi-identifier without a hierarchy is published as it is, or as `*`. Source: L. Sweeney, IJUFKS 10(5), 2002;
    the order of the search follows F. Kohlmayer et al., Flash, PASSAT 2012.

    `loss`: what is minimised, a name in `sfumato.registry.LOSSES`. `checks`: the largest number of transformations to
    examine. `seconds`: the
    longest time to search; the result may then differ between machines. The grouping states the optimality gap.

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

    name: ClassVar[str] = "lattice"

    def __post_init__(self) -> None:
        check_loss(self.loss)
        checks, seconds = checked_limits(self.checks, self.seconds)
        object.__setattr__(self, "checks", checks)
        object.__setattr__(self, "seconds", seconds)

    def group(self, task: Task, seed: int = 0) -> Grouping:
        """TransformationSearch the lattice. Nothing is random.

        Cost: for each transformation looked at that of merging the classes of a finer one.
        """
        del seed
        search = TransformationSearch(task, self.loss, settled=True)
        found = search.best(checks=self.checks, seconds=self.seconds)
        of_row = numbered(search.cube.of_rows(found.levels))
        return Grouping(of_row, self._notes(search, found), found.levels, (searched(found, self.loss),))

    def _notes(self, search: TransformationSearch, found: SearchResult) -> tuple[str, ...]:
        """What follows from the release, the schema and the parameters alone: what the search met would tell of secrets."""
        ladders = search.cube.columns
        told = [f"{ladder.name} {level} of {ladder.height}" for ladder, level in zip(ladders, found.levels, strict=True)]
        plain = [repr(ladder.name) for ladder in ladders if ladder.domain.column.hierarchy is None]
        notes = [f"every column is published at one level of its hierarchy: {', '.join(told)}"]
        if plain:
            notes.append(
                f"without a hierarchy a column is published as it is, or as *: {', '.join(plain)}; "
                "one such as { intervals = [5, 10, 20] } would leave more to choose from"
            )
        if self.checks is not None:
            notes.append(
                f"the search looks at no more than {count_of(self.checks, 'transformation')}: there may be a better one"
            )
        if self.seconds is not None:
            notes.append(
                f"the search ends after {self.seconds:g} s: there may be a better transformation, and another machine may "
                "end with another one"
            )
        return tuple(notes)


def searched(found: SearchResult, loss: str) -> str:
    """How far a search got, in words."""
    head = f"{found.checked:,} of {count_of(found.transformations, 'transformation')} checked"
    if found.score is None:
        return f"{head}: none of them is admissible"
    score = nearest_float(found.score)
    if found.proven:
        return f"{head}: none has a lower {loss} loss than {score:.6g}"
    return f"{head}: {loss} loss {score:.6g}, at most {score - found.lowest:.3g} above the least"


def check_loss(loss: object) -> None:
    """Refuse a loss that is unknown."""
    if not isinstance(loss, str) or loss not in LOSSES:
        raise ParameterError(f"there is no loss {loss!r}", remedy=LOSSES.suggestion(str(loss)), key="loss", value=loss)


def checked_limits(checks: Any, seconds: Any) -> tuple[int | None, float | None]:
    """The limits of the search as plain numbers; what is none is refused.

    >>> from decimal import Decimal
    >>> checked_limits(1000, Decimal("0.5"))
    (1000, 0.5)
    """
    if checks is not None and (isinstance(checks, bool) or not isinstance(checks, Integral) or checks < 1):
        raise ParameterError(
            f"checks = {checks!r} is not a whole number from 1",
            remedy="Write how many transformations may be looked at, such as 1000.",
            key="checks",
            value=checks,
        )
    number = isinstance(seconds, Real | Decimal) and not isinstance(seconds, bool)
    if seconds is not None and not (number and 0 < seconds < math.inf):
        raise ParameterError(
            f"seconds = {seconds} is not a number above 0",
            remedy="Write how long the search may take, such as 10.",
            key="seconds",
            value=seconds,
        )
    return None if checks is None else int(checks), None if seconds is None else float(seconds)

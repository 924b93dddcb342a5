"""Every table of a projection publishes the same people.

If each dropped rows of its own, whoever is in one table and not in another would be known to be in breach there; and a bit
of an item that only suppressed rows have would tell of them by its name alone. So where a table drops rows, they are taken
from the original, and everything is done again with those that are left, until no table drops any.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato._audit import library_of
from sfumato.anonymization.published_table import resolved_schema
from sfumato.anonymization.release import Release
from sfumato.data.table import Table
from sfumato.errors import RequirementError, SfumatoError
from sfumato.plurals import count_of
from sfumato.projections import Dependence, EncodedSets, Harmless, Tradeoff, judged
from sfumato.projections.plan_choice import Choice


@dataclass(frozen=True, eq=False)
class Round:
    """What was made of some people: the plan, and its tables."""

    apart: EncodedSets
    dependence: Dependence
    curve: Tradeoff
    choice: Choice
    releases: tuple[Release, ...]

    def dropped(self, most: int) -> NDArray[np.bool_]:
        """The rows that some table drops; those of the first one that drops any, if all are more than may be."""
        gone = [~np.isin(np.arange(self.apart.table.rows), release.kept_rows) for release in self.releases]
        every = np.logical_or.reduce(gone)
        return every if every.sum() <= most else next(rows for rows in gone if rows.any())


Made = Callable[[Table, Any, Harmless | None, Fraction], Round]
"""Makes tables of people: of their rows, the same as they came in, the harmless values, and the share that may be lost."""


@dataclass(frozen=True, eq=False)
class Same:
    """Tables of the same people."""

    last: Round
    harmless: Harmless
    """For each attribute that is published a function that says of a value whether it harms nobody."""
    rows: int
    """Those of the original."""
    dropped: int
    """How many of them are in no table."""


def same_people(source: Table, data: Any, harmless: Harmless | None, share: Fraction, made: Made) -> Same:
    """Make tables until none drops a row that another one has; a share of the rows at most is in none."""
    last = made(source, data, harmless, share)
    harms = judged(last.apart.table, harmless or {})
    kept, most = np.arange(source.rows), int(share * source.rows)
    resolved = resolved_schema(source)  # the kinds stay those of the whole table
    while any(release.suppressed for release in last.releases):
        kept = kept[~last.dropped(most - (source.rows - len(kept)))]
        gone = source.rows - len(kept)
        people = source.take(kept, resolved)
        rows = data.iloc[kept] if library_of(data) == "pandas" else data
        known = {*resolved.sensitive, *_bits(people, last.apart)}
        harms = {name: says for name, says in harms.items() if name in known}
        try:
            last = made(people, rows, harms, Fraction(most - gone, len(kept)))
        except SfumatoError as error:
            raise RequirementError(
                f"every table must publish the same people, and without the {count_of(gone, 'row')} that the principles do "
                f"not hold for, of {most:,} that may be suppressed: {error.problem}",
                remedy="Allow a larger share of the rows to be suppressed, or ask for less.",
                file=source.source,
                value=gone,
            ) from error
    dropped = source.rows - len(kept)
    note = (f"{count_of(dropped, 'row')} of {source.rows:,} were suppressed",) if dropped else ()
    releases = tuple(
        replace(release, kept_rows=kept, suppress=share, suppressed=dropped, notes=(*release.notes, *note))
        for release in last.releases
    )
    return Same(replace(last, releases=releases), harms, source.rows, dropped)


def _bits(people: Table, before: EncodedSets) -> set[str]:
    """The bits that these people still have."""
    return {f"{name}={item}" for name in before.bits for members in people.column(name).sets for item in members}

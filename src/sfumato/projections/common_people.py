"""Make every table of a projection publish the same people.

If each table dropped rows of its own, anybody in one table but not in another would be known to violate a principle there;
and a bit for an item that only suppressed rows have would reveal the item by its column name. So if a table drops rows, they
are removed from the original and everything is repeated with the remaining rows, until no table drops any.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato._audit import library_of
from sfumato.anonymization.release import Release
from sfumato.data.table import Table
from sfumato.errors import RequirementError, SfumatoError
from sfumato.plurals import count_of
from sfumato.projections.encoded_sets import EncodedSets
from sfumato.projections.plan_choice import PlanChoice
from sfumato.projections.plans.dependence import Dependence
from sfumato.projections.plans.harmless_values import Harmless, harmless_predicates
from sfumato.projections.plans.tradeoff_curve import Tradeoff
from sfumato.releases.declarations import resolved_schema


@dataclass(frozen=True, eq=False)
class ProjectionRound:
    """The plan and the tables of some of the people."""

    encoded: EncodedSets
    dependence: Dependence
    curve: Tradeoff
    choice: PlanChoice
    releases: tuple[Release, ...]

    def dropped_rows(self, limit: int) -> NDArray[np.bool_]:
        """Return the mask of rows that any table drops; above the limit, those of the first table that drops any."""
        dropped = [~np.isin(np.arange(self.encoded.table.rows), release.private.kept_rows) for release in self.releases]
        union = np.logical_or.reduce(dropped)
        return union if union.sum() <= limit else next(rows for rows in dropped if rows.any())


RoundMaker = Callable[[Table, Any, Harmless | None, Fraction], ProjectionRound]
"""Projects some people: their table, the same rows as the user passed them, the harmless values, the share to suppress."""


@dataclass(frozen=True, eq=False)
class CommonPeople:
    """Tables that all publish the same people."""

    last: ProjectionRound
    harmless: Harmless
    """For each published attribute a function that returns whether a value is harmless."""
    rows: int
    """The number of rows of the original."""
    suppressed: int
    """The number of rows in no table."""


def publish_common_people(
    source: Table, data: Any, harmless: Harmless | None, share: Fraction, make_round: RoundMaker
) -> CommonPeople:
    """Repeat the projection until no table drops a row that another one has; at most a share of the rows is dropped."""
    last = make_round(source, data, harmless, share)
    predicates = harmless_predicates(last.encoded.table, harmless or {})
    # `kept` indexes the original; `limit` is the total number of rows that may be dropped over all rounds.
    kept, limit = np.arange(source.rows), int(share * source.rows)
    resolved = resolved_schema(source)  # the kinds of columns stay those of the whole table
    while any(release.suppressed for release in last.releases):
        kept = kept[~last.dropped_rows(limit - (source.rows - len(kept)))]
        dropped = source.rows - len(kept)
        people = source.take(kept, resolved)
        rows = data.iloc[kept] if library_of(data) == "pandas" else data
        # A bit whose item only dropped rows had is gone, and with it its harmless values.
        attributes = {*resolved.sensitive, *_remaining_bits(people, last.encoded)}
        predicates = {name: predicate for name, predicate in predicates.items() if name in attributes}
        try:
            # The remaining allowance as a share of the remaining rows.
            last = make_round(people, rows, predicates, Fraction(limit - dropped, len(kept)))
        except SfumatoError as error:
            raise RequirementError(
                f"all tables must publish the same people; without the {count_of(dropped, 'row')} that violate a principle "
                f"(of {limit:,} that may be suppressed): {error.problem}",
                remedy="Allow a larger share of suppressed rows, or relax the principles.",
                file=source.source,
                value=dropped,
            ) from error
    suppressed = source.rows - len(kept)
    note = (f"{count_of(suppressed, 'row')} of {source.rows:,} were suppressed",) if suppressed else ()
    # The last round dropped nothing; every table states the rows that earlier rounds dropped.
    releases = tuple(
        replace(
            release,
            suppress=share,
            suppressed=suppressed,
            notes=(*release.notes, *note),
        )
        for release in last.releases
    )
    return CommonPeople(replace(last, releases=releases), predicates, source.rows, suppressed)


def _remaining_bits(people: Table, before: EncodedSets) -> set[str]:
    """Return the bits of the items that these people still have."""
    return {f"{name}={item}" for name in before.bits for members in people.column(name).sets for item in members}

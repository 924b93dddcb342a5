"""A projection: several sensitive attributes published in several tables, so that none betrays another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from sfumato.anonymization.release import Release
from sfumato.attacks import AttackerView, AttackResults, DependentPair, attack, warnings_of
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.exact import written
from sfumato.plurals import count_of
from sfumato.principles import Principle
from sfumato.progress import Progress, silent
from sfumato.projections import Dependence, Plan, PlanRatios, PlanSearch, Tradeoff
from sfumato.projections.projection_document import described_projection
from sfumato.projections.save_projection import save_projection


@dataclass(frozen=True)
class Threshold:
    """A threshold on a plan, and where it comes from.

    >>> Threshold(Fraction(3, 10), "given").limit
    Fraction(3, 10)
    """

    limit: Fraction
    origin: str
    """Where it comes from: "given"; "knee", of the trade-off; "near", of the plan nearest to it whose tables can satisfy
    the principles; "least", of all plans beside the other threshold; or "open": nothing was asked of the plan given."""


@dataclass(frozen=True, eq=False, repr=False)
class Projection:
    """What is published of several sensitive attributes: `releases`, one for each table of the plan.

    Every table has all quasi-identifiers, recoded for it alone, and some of the sensitive attributes; its rows stand in an
    order of their own. `frames` are the tables in the library that the data came in.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 50, 51], "job": ["cook", "nurse"] * 2, "rich": ["no", "no", "yes", "yes"]})
    >>> projection = sf.project(people, sf.Schema(["age"], ["job", "rich"]), sf.KAnonymity(2), alpha=1, beta=0)
    >>> projection.plan.label, [frame.column_names for frame in projection.frames]
    ('job | rich', [['group', 'age', 'job'], ['group', 'age', 'rich']])
    """

    plan: Plan
    releases: tuple[Release, ...]
    """One for each block of the plan."""
    dependence: Dependence
    """What the attributes tell of one another, of the people who are published; never written."""
    tradeoff: Tradeoff
    """What other plans would lose and expose; never written."""
    search: PlanSearch | None
    """How the plan was found; None if it was given."""
    alpha: Threshold
    """On the association that is lost."""
    beta: Threshold
    """On the information that is exposed."""
    principles: tuple[Principle, ...]
    seed: int
    source: Table
    """The original table; never written."""
    table: Table
    """The people who are published, as they are in the original, with sets spread into bits; never written."""
    sets: Mapping[str, Sequence[str]]
    """The bits of each set that was spread."""
    schema: Schema
    """The schema of the original, the kind of each column that matters stated."""
    harmless: Mapping[str, Sequence[str | None]]
    """For attributes of which some published values are not sensitive, those values as they are shown; None if missing."""
    left_out: tuple[str, ...]
    """The columns that are in no table, because they would link the tables row by row."""
    notes: Sequence[str] = ()
    """What a reader of the release should know; written with it."""
    reading: Sequence[str] = ()
    """What the publisher should know about how the original was understood; never written."""

    @property
    def weighed(self) -> PlanRatios:
        """The plan with what it loses and exposes."""
        return self.dependence.weighed(self.plan)

    @cached_property
    def frames(self) -> tuple[Any, ...]:
        """The published tables in the library that the data came in."""
        return tuple(release.frame for release in self.releases)

    @cached_property
    def seen(self) -> tuple[AttackerView, ...]:
        """For each table its attributes, and for each person who is published the group there; never written."""
        pairs = zip(self.plan.blocks, self.releases, strict=True)
        return tuple(AttackerView(block, release.recoded.groups.of_row) for block, release in pairs)

    def attacks(self) -> AttackResults:
        """What an attacker who knows the quasi-identifiers reaches; for the publisher, since it takes the original."""
        return attack(self.table, self.seen, self.dependence)

    @cached_property
    def warnings(self) -> tuple[DependentPair, ...]:
        """Attributes in different tables that depend beyond chance; for the publisher, since it takes the original."""
        return tuple(warned for warned in warnings_of(self.dependence, self.plan) if warned.beyond_chance)

    def to_dict(self) -> dict[str, Any]:
        """What release.json says, but for the files."""
        return described_projection(self)

    def save(
        self,
        folder: str | Path,
        *,
        force: bool = False,
        format: str = "csv",  # noqa: A002
        internal: str | Path | None = None,
        progress: Progress = silent,
    ) -> Path:
        """Write `table_1.csv` and so on (or `.parquet`), `release.json` and `report.html` to a new folder, and return where.

        The files are written aside, verified as written, and only then renamed into place: if anything fails, nothing is
        left behind. `force` replaces a release that is there already, and nothing else. `internal`: a file elsewhere, for
        the report that tells more than may be published: how all attributes depend on one another, what other plans would
        do, what an attacker reaches.
        """
        return save_projection(self, folder, force=force, format=format, internal=internal, progress=progress)

    def __repr__(self) -> str:
        weighed = self.weighed
        lines = [
            f"Projection of {count_of(self.source.rows, 'row')} on {count_of(len(self.plan), 'table')}, seed {self.seed}: "
            f"{self.plan.label}",
            f"  association loss      {weighed.association_loss:.4f}, wanted at most {written(self.alpha.limit)}",
            f"  information exposure  {weighed.information_exposure:.4f}, wanted at most {written(self.beta.limit)}",
        ]
        lines += [f"  note   {note}" for note in (*self.reading, *self.notes)]
        lines += [f"  warns  {warned.text}" for warned in self.warnings[:3]]
        for block, release in zip(self.plan.blocks, self.releases, strict=True):
            told = repr(release).splitlines()
            lines += [f"  {' + '.join(block)}: {told[0]}", *(f"  {line}" for line in told[1:])]
        return "\n".join(lines)

"""A projection: several sensitive attributes published in several tables, so that one does not reveal another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.anonymization.release import Release
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.exact import written
from sfumato.plurals import count_of
from sfumato.principles import Principle
from sfumato.progress import Progress, silent
from sfumato.projections.plan_choice import Threshold
from sfumato.projections.plans.dependence import Dependence, PlanRatios
from sfumato.projections.plans.dependent_pairs import DependentPair, dependent_pairs
from sfumato.projections.plans.plan import Plan, block_label
from sfumato.projections.plans.plan_search import PlanSearch
from sfumato.projections.plans.tradeoff_curve import Tradeoff
from sfumato.projections.projection_document import described_projection
from sfumato.projections.save_projection import save_projection
from sfumato.registry import load_function
from sfumato.releases.private import Private, private_part

if TYPE_CHECKING:
    from sfumato.attacks.attack_results import AttackResults
    from sfumato.attacks.attacker_view import AttackerView


@dataclass(frozen=True, eq=False, repr=False)
class PrivateProjection(Private):
    """What the publisher knows about a projection and must not publish; it refuses pickling, and `repr` shows nothing."""

    source: Table
    """The original table."""
    table: Table
    """The published people with their original values, sets encoded as bits."""
    dependence: Dependence
    """How the attributes of the published people depend on one another."""
    tradeoff: Tradeoff
    """The ratios of other plans."""
    search: PlanSearch | None
    """The search for the plan; None for the publisher's own plan."""
    reading: tuple[str, ...] = ()
    """Notes for the publisher about how the original was read."""


@dataclass(frozen=True, eq=False, repr=False)
class Projection:
    """What is published of several sensitive attributes: `releases`, one for each table of the plan.

    Every table contains all quasi-identifiers, recoded for this table alone, and some of the sensitive attributes; the rows
    of each table are shuffled independently. `frames` are the tables in the library of the input data.

    A pickle contains what may be published. `source`, `table`, `dependence`, `tradeoff`, `search`, `reading`, `ratios`,
    `attacker_views`, `warnings`, `attacks` and `save` need the original; they raise `ReleaseError` for an unpickled
    projection.

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
    rows: int
    """The number of rows of the original, including suppressed ones."""
    alpha: Threshold
    """The threshold on the association loss."""
    beta: Threshold
    """The threshold on the information exposure."""
    principles: tuple[Principle, ...]
    seed: int
    sets: Mapping[str, Sequence[str]]
    """The bits of each set that is published as bits."""
    schema: Schema
    """The schema of the original, with the kind of each relevant column stated."""
    harmless: Mapping[str, Sequence[str | None]]
    """The published values that are declared harmless, by attribute, as the release shows them; None if missing."""
    left_out: tuple[str, ...]
    """The columns in no table, because they would link the tables row by row."""
    notes: Sequence[str] = ()
    """What a reader of the release should know; published."""
    private: PrivateProjection | None = None
    """What must not be published; None for an unpickled projection."""

    def __getstate__(self) -> dict[str, Any]:
        # The public fields alone: cached properties are computed from private data.
        return {field.name: getattr(self, field.name) for field in fields(self)} | {"private": None}

    @property
    def _private(self) -> PrivateProjection:
        part: PrivateProjection = private_part(self.private, "the private part of the projection")
        return part

    @property
    def source(self) -> Table:
        """The original table; private."""
        return self._private.source

    @property
    def table(self) -> Table:
        """The published people with their original values, sets encoded as bits; private."""
        return self._private.table

    @property
    def dependence(self) -> Dependence:
        """How the attributes of the published people depend on one another; private."""
        return self._private.dependence

    @property
    def tradeoff(self) -> Tradeoff:
        """The ratios of other plans; private."""
        return self._private.tradeoff

    @property
    def search(self) -> PlanSearch | None:
        """The search for the plan; None for the publisher's own plan. Private."""
        return self._private.search

    @property
    def reading(self) -> tuple[str, ...]:
        """Notes for the publisher about how the original was read; private."""
        return self._private.reading

    @property
    def ratios(self) -> PlanRatios:
        """The plan with its association loss and information exposure; exact, so private."""
        return self.dependence.ratios(self.plan)

    @cached_property
    def frames(self) -> tuple[Any, ...]:
        """The published tables in the library of the input data."""
        return tuple(release.frame for release in self.releases)

    @cached_property
    def attacker_views(self) -> tuple[AttackerView, ...]:
        """For each table its attributes, and the group of each published person; private."""
        view = load_function("sfumato.attacks.attacker_view:AttackerView")
        pairs = zip(self.plan.blocks, self.releases, strict=True)
        return tuple(view(block, release.recoded.groups.of_row) for block, release in pairs)

    def attacks(self, names: Sequence[str] | None = None) -> AttackResults:
        """Run attacks by an attacker who knows the quasi-identifiers; they use the original, so the results are private.

        `names`: the attacks to run, by their names in `sfumato.registry.ATTACKS`, including those of plug-ins; by default
        the built-in ones.
        """
        attack = load_function("sfumato.attacks.attack_results:attack")
        results: AttackResults = attack(self.table, self.attacker_views, names, dependence=self.dependence)
        return results

    @cached_property
    def warnings(self) -> tuple[DependentPair, ...]:
        """Attributes in different tables that depend on each other beyond chance; private."""
        return tuple(pair for pair in dependent_pairs(self.dependence, self.plan) if pair.beyond_chance)

    def to_dict(self) -> dict[str, Any]:
        """Return the content of release.json, without the file digests."""
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
        """Write `table_1.csv` and so on (or `.parquet`), `release.json` and `report.html` to a new folder; return its path.

        The files are written to a temporary folder, verified there, and only then renamed into place: if anything fails,
        nothing is left behind. `force` replaces an existing release, and nothing else. `internal`: a file outside the folder
        for the internal report, which must not be published: the dependence of all attributes, the ratios of other plans,
        the results of attacks.
        """
        return save_projection(self, folder, force=force, format=format, internal=internal, progress=progress)

    def __repr__(self) -> str:
        lines = [
            f"Projection of {count_of(self.rows, 'row')} on {count_of(len(self.plan), 'table')}, seed {self.seed}: "
            f"{self.plan.label}"
        ]
        if self.private is not None:
            ratios = self.ratios
            lines += [
                f"  association loss      {ratios.association_loss:.4f}, required at most {written(self.alpha.limit)}",
                f"  information exposure  {ratios.information_exposure:.4f}, required at most {written(self.beta.limit)}",
            ]
            lines += [f"  note     {note}" for note in self.reading]
        lines += [f"  note     {note}" for note in self.notes]
        if self.private is not None:
            lines += [f"  warning  {pair.text}" for pair in self.warnings[:3]]
        for block, release in zip(self.plan.blocks, self.releases, strict=True):
            first, *rest = repr(release).splitlines()
            lines += [f"  {block_label(block)}: {first}", *(f"  {line}" for line in rest)]
        return "\n".join(lines)

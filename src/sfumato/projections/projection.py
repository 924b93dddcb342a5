"""A projection: several sensitive attributes published in several tables, so that one does not reveal another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.anonymization.figures.rounding_steps import in_steps
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
from sfumato.projections.projected_tables import DiscernibilityLimit
from sfumato.projections.projection_document import HUNDREDTH, describe_projection, internal_content
from sfumato.projections.projection_page import internal_page
from sfumato.registry import ATTACKER_VIEW, PROJECTED_ATTACK_RUNNER, load
from sfumato.releases.expectations import Expectations
from sfumato.releases.models import ProjectedDocument
from sfumato.releases.private import Private, Publication
from sfumato.releases.row_key import key_text
from sfumato.releases.writer import InternalReport, write_release

if TYPE_CHECKING:
    from sfumato.attacks.projected.attack_results import ProjectedAttackResults
    from sfumato.attacks.projected.attacker_view import AttackerView


class PrivateProjection(Private):
    """What the publisher knows about a projection and must not publish; it refuses pickling, and `repr` shows nothing."""

    seed: int
    """The seed of the methods of all tables."""
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
    attack_names: tuple[str, ...] | None = None
    """The attacks that the internal report shows; None: the built-in ones."""


@dataclass(frozen=True, eq=False, repr=False)
class Projection(Publication):
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
    discernibility: Fraction | None
    """The largest discernibility of a table that was allowed; None if there was no limit."""
    sets: Mapping[str, Sequence[str]]
    """The bits of each set that is published as bits."""
    schema: Schema
    """The schema of the original, with the kind of each relevant column stated."""
    harmless: Mapping[str, Sequence[str | None]]
    """The published values that are declared harmless, by attribute, as the release shows them; None if missing."""
    left_out: tuple[str, ...]
    """The columns in no table, because they would link the tables row by row."""
    notes: Sequence[str]
    """What a reader of the release should know; published."""
    private: PrivateProjection
    """What must not be published."""

    def __getstate__(self) -> dict[str, Any]:
        # The public fields, and what is public of the properties that need the original; all others are private.
        public = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "private"}
        return {**public, "document": self.document, "published_ratios": self.published_ratios}

    @property
    def source(self) -> Table:
        """The original table; private."""
        return self.private.source

    @property
    def table(self) -> Table:
        """The published people with their original values, sets encoded as bits; private."""
        return self.private.table

    @property
    def dependence(self) -> Dependence:
        """How the attributes of the published people depend on one another; private."""
        return self.private.dependence

    @property
    def tradeoff(self) -> Tradeoff:
        """The ratios of other plans; private."""
        return self.private.tradeoff

    @property
    def search(self) -> PlanSearch | None:
        """The search for the plan; None for the publisher's own plan. Private."""
        return self.private.search

    @property
    def reading(self) -> tuple[str, ...]:
        """Notes for the publisher about how the original was read; private."""
        return self.private.reading

    @property
    def discernibilities(self) -> tuple[int, ...]:
        """For each table the sum of the squared sizes of its groups, and the number of all rows for each row in none."""
        limit = DiscernibilityLimit(self.discernibility, self.rows)
        return tuple(limit.measured(release.audit.groups.sizes) for release in self.releases)

    @property
    def ratios(self) -> PlanRatios:
        """The plan with its association loss and information exposure; exact, so private."""
        return self.dependence.ratios(self.plan)

    @cached_property
    def published_ratios(self) -> tuple[float, float]:
        """The association loss and the information exposure in hundredths, as they are published."""
        ratios = self.ratios
        return (in_steps(ratios.association_loss, HUNDREDTH), in_steps(ratios.information_exposure, HUNDREDTH))

    @cached_property
    def frames(self) -> tuple[Any, ...]:
        """The published tables in the library of the input data."""
        return tuple(release.frame for release in self.releases)

    @cached_property
    def attacker_views(self) -> tuple[AttackerView, ...]:
        """For each table its attributes, and the group of each published person; private."""
        view = load(ATTACKER_VIEW)
        pairs = zip(self.plan.blocks, self.releases, strict=True)
        return tuple(view(block, release.private.recoding.groups.of_row) for block, release in pairs)

    def attacks(self, names: Sequence[str] | None = None) -> ProjectedAttackResults:
        """Run attacks by an attacker who knows the quasi-identifiers; they use the original, so the results are private.

        `names`: the attacks to run, by their names in `sfumato.registry.PROJECTED_ATTACKS`, including those of plug-ins; by
        default those that `sf.project` was called with, or the built-in ones.
        """
        names = self.private.attack_names if names is None else names
        attack = load(PROJECTED_ATTACK_RUNNER)
        results: ProjectedAttackResults = attack(self.table, self.attacker_views, names, dependence=self.dependence)
        return results

    @cached_property
    def warnings(self) -> tuple[DependentPair, ...]:
        """Attributes in different tables that depend on each other beyond chance; private."""
        return tuple(pair for pair in dependent_pairs(self.dependence, self.plan) if pair.beyond_chance)

    def to_dict(self) -> dict[str, Any]:
        """Return the content of release.json, without the file digests."""
        return {key: value for key, value in self.document.to_dict().items() if key != "files"}

    @cached_property
    def document(self) -> ProjectedDocument:
        """What release.json states, without the files."""
        return ProjectedDocument.of(describe_projection(self))

    def save(
        self,
        folder: str | Path,
        *,
        force: bool = False,
        format: str = "csv",  # noqa: A002
        internal: str | Path | None = None,
        key: str | Path | None = None,
        progress: Progress = silent,
    ) -> Path:
        """Write `table_1.csv` and so on (or `.parquet`), `release.json` and `report.html` to a new folder; return its path.

        The files are written to a temporary folder, verified there, and only then renamed into place: if anything fails,
        nothing is left behind. `force` replaces an existing release, and nothing else. `internal`: a file outside the folder
        for the internal report, which must not be published: the dependence of all attributes, the ratios of other plans,
        the results of attacks. `key`: a file outside the folder for the seed, with which `sf.project` makes the same tables
        again; it must not be published either.
        """
        return write_release(
            ProjectedDocument,
            lambda: self.document,
            [release.table_data for release in self.releases],
            folder,
            original=self.source,
            expected=Expectations(self.schema, self.principles, project=self._arguments()),
            format=format,
            force=force,
            internal=None if internal is None else InternalReport(internal, self._internal_page),
            key=None if key is None else InternalReport(key, self._key_text, "writing the key"),
            progress=progress,
        )

    def _arguments(self) -> dict[str, Any]:
        """Return the arguments of `sf.project` that verification compares; thresholds only if they were given."""
        limits = {"alpha": self.alpha, "beta": self.beta}
        given = {key: threshold.limit for key, threshold in limits.items() if threshold.origin == "given"}
        if self.discernibility is not None:
            given["discernibility"] = self.discernibility
        return {"plan": self.plan.blocks, "harmless": self.harmless, **given}

    def _key_text(self, document: ProjectedDocument) -> str:
        return key_text(document, self.private.seed)

    def _internal_page(self, document: ProjectedDocument) -> str:
        return internal_page(document, internal_content(self))

    def __repr__(self) -> str:
        lines = [f"Projection of {count_of(self.rows, 'row')} on {count_of(len(self.plan), 'table')}: {self.plan.label}"]
        loss, exposure = self.published_ratios
        lines += [
            f"  association loss      {loss:.2f}, required at most {written(self.alpha.limit)}",
            f"  information exposure  {exposure:.2f}, required at most {written(self.beta.limit)}",
        ]
        if self.discernibility is not None:
            largest = max(self.discernibilities)
            lines.append(f"  discernibility        {largest:,}, required at most {written(self.discernibility)}")
        lines += [f"  note     {note}" for note in self.notes]
        for block, release in zip(self.plan.blocks, self.releases, strict=True):
            first, *rest = repr(release).splitlines()
            lines += [f"  {block_label(block)}: {first}", *(f"  {line}" for line in rest)]
        return "\n".join(lines)

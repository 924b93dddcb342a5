"""Models of release.json: one document for each kind of release.

    GroupedDocument     rows in groups, as `sf.anonymize` makes them
    ProjectedDocument   several tables of rows in groups, as `sf.project` makes them
    WithheldDocument    records with cells withheld, as `sf.withhold` makes them
    AnatomizedDocument  people with exact quasi-identifiers, and the secrets of their groups, as `sf.anatomize` makes them

The fields are declared in the order in which they are written. docs/release-format.md explains them, and
docs/release.schema.json is generated from them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from sfumato.releases.exposure_models import CoverageClaim, ReleaseWarning, UnchangedClaim, UncoveredWarning
from sfumato.releases.figure_models import Figures, UtilityClaim
from sfumato.releases.model_base import Number, Part, as_json

FORMAT = 6
"""The version of the format that is written, and the newest that is read."""

MARKED_SINCE = 4
"""The first format in which a missing cell is empty, or null in Parquet, in every column."""

SECRET_SINCE = 5
"""The first format that does not state the seed of the method."""

GROUPS, WITHHELD, PROJECTED, ANATOMIZED = "groups", "withheld", "projected", "anatomized"
"""The names of the kinds of releases, as the key `kind` states them."""

ColumnRole = Literal["identifier", "quasi-identifier", "sensitive", "other"]


class FileDigest(Part):
    """The SHA-256, in hexadecimal digits, and the size of a file."""

    sha256: str
    bytes: int


class HierarchyDeclaration(Part):
    """A hierarchy: a builder with its parameters, or written out row by row, from a leaf to the root."""

    flat: bool | None = None
    intervals: list[Number | str] | None = None
    origin: Number | str | None = None
    prefix: list[int] | None = None
    mask: list[int] | None = None
    side: str | None = None
    character: str | None = None
    ranges: list[list[Number | str] | dict[str, list[Number | str]]] | None = None
    groups: list[dict[str, list[str]]] | None = None
    rest: str | list[str] | None = None
    consecutive: list[int] | None = None
    bounds: list[list[str]] | None = None
    numeric: bool | None = None
    dates: list[str] | None = None
    icd: int | None = None
    rows: list[list[str]] | None = None


class ColumnDeclaration(Part):
    """What the schema of the original declares about a column."""

    role: ColumnRole | None = None
    kind: str | None = None
    order: list[str] | None = None
    hierarchy: HierarchyDeclaration | None = None
    recoding: str | None = None
    separator: str | None = None
    decimal: str | None = None
    """The decimal mark of a numeric column, if it was read as a comma."""
    format: str | None = None
    """The strptime directives of dates that are not written in ISO 8601."""
    timezone: str | None = None
    age_at: str | None = None
    """The date, or the column of dates, at which the age was taken that replaces a date of birth."""
    columns: list[str] | None = None
    """The columns that make up a vector."""
    distance: dict[str, Any] | None = None
    """The `kind` of a distance, and its parameters."""
    accepted: str | None = None
    """Why the publisher accepts that no requirement covers a sensitive attribute."""
    weight: int | str | None = None
    """How much the loss of a quasi-identifier counts when groups are chosen."""
    never_mix: list[str | list[str]] | None = None
    """Values, or lists of values, that never share a cell with any other value."""
    coarsest: int | None = None
    """The coarsest level of the hierarchy that a cell may have."""


class MissingDeclaration(Part):
    """Which texts count as missing (null: the usual ones), and what is done with missing values."""

    values: list[str] | None = None
    policy: str = "value"


class ConfigDeclaration(Part):
    """The schema of the original, as far as it is about columns that are published, and the requested principles."""

    columns: dict[str, ColumnDeclaration]
    undeclared: Literal["drop", "refuse", "keep"] | None = None
    """What becomes of columns without a role. Before format 3, which introduced the key, they were kept."""
    unchanged_limit: str | None = None
    """The largest share of rows that columns published unchanged may single out, exact. Before format 3 there was none."""
    missing: MissingDeclaration | None = None
    distance: dict[str, Any] | None = None
    """The `kind` of the distance over all sensitive attributes, and its parameters."""
    person_id: str | None = None
    """The column of the original that identifies the person of a row, where people with several rows are counted."""
    household_id: str | None = None
    """The column of the original that identifies the household of a row, where households are counted."""
    preserve: list[list[str]] | None = None
    """Pairs of columns whose association the search preserves."""
    principles: list[dict[str, Any]] | None = None
    """The `name` of each requested principle, and its parameters; a withheld release has none."""


class Reading(Part):
    """How the file of the original is read, where it is not read as usual."""

    delimiter: str | None = None
    encoding: str | None = None


class MethodClaim(Part):
    """The method that found the groups."""

    name: str
    parameters: dict[str, Any]


class UnitsClaim(Part):
    """What k and shares count where a person or a household may have several rows, each kept in one group."""

    counted: Literal["people", "households"]
    total: int
    """How many there are in the release."""
    smallest: int
    """How many the smallest group contains."""


class AfterClaim(Part):
    """The release that a release of a later version of the table follows."""

    release: str
    """The SHA-256 of its release.json."""
    version: int
    """The number of this release in the sequence, from 2."""
    counterfeits: int
    """How many of the published rows stand for nobody."""
    allowed: str
    """The largest share of counterfeits that was allowed, exact."""


class PublishedColumn(Part):
    """A column of the data file."""

    name: str
    role: Literal["group", "quasi-identifier", "sensitive", "other", "identifier"]
    kind: str | None = None
    """Of quasi-identifiers and sensitive columns."""
    recoding: Literal["interval", "ancestor", "set"] | None = None
    """Of quasi-identifiers: how their cells are published."""
    level: int | None = None
    """The level of the hierarchy, if all cells of a quasi-identifier are at one."""


class PrincipleClaim(Part):
    """A principle, measured on the groups or on one sensitive attribute."""

    name: str
    label: str
    parameters: dict[str, Any]
    attribute: str | None
    distance: str | None
    holds: bool
    measured: dict[str, Number | None]
    """The level of each part of the principle in its worst group; null if it is infinite."""
    exact: dict[str, str]
    """The same levels, exact where they are rational."""
    wanted: dict[str, str]
    violating_groups: int
    violating_rows: int
    vulnerability: Number
    monotone: bool
    worst_groups: list[dict[str, Any]]
    """Empty: which groups are worst is not published."""


class DependenceClaim(Part):
    """How the attributes of one table depend on one another, in bits, as the table itself reveals."""

    names: list[str]
    entropy: list[Number]
    information: list[list[Number]]
    exposure: list[list[Number]]


class ThresholdClaim(Part):
    """A threshold on a plan, with what was measured, in hundredths."""

    name: str
    symbol: str
    key: str
    measured: Number
    wanted: str
    origin: Literal["given", "knee", "near", "least", "open"]
    holds: bool


class QualityClaim(Part):
    """The limit on the discernibility of every table, and what was measured."""

    discernibility: list[int]
    """For each table the sum of the squared sizes of its groups, and the number of all rows for each suppressed row."""
    wanted: str
    """The largest one that was allowed."""
    holds: bool


class RuleClaim(Part):
    """How many cells are disclosed, and against whom they were chosen."""

    cells: int
    """With `shares` at least this much information per record, where a value on level l of h counts as 1 − l/h."""
    per: Literal["record", "attribute", "table"]
    against: Literal["prior", "worst"]
    shares: dict[str, list[str]] | None = None
    """For each attribute whose cells may be generalized the share of its sensitivity by level. Absent if there is none."""


class AttributeCounts(Part):
    """How many cells of an attribute are disclosed, withheld and missing."""

    name: str
    disclosed: int
    withheld: int
    missing: int
    generalized: int | None = None
    """How many of the disclosed cells are nodes of the hierarchy. Absent if the attribute may not be generalized."""


class DictionaryClaim(Part):
    """What an attacker with one dictionary achieves against a withheld release."""

    name: str
    individuals: int
    prior: str | None
    highest: Number
    """The highest probability of identification over the records."""
    mean: Number
    risk: Number | Literal["inf"]


class Header(Part):
    """What every release.json begins with."""

    format: int
    kind: str = GROUPS
    """Not written for a grouped release."""
    sfumato: str
    python: str
    numpy: str
    pyarrow: str
    jinja2: str


VERSIONS = ("sfumato", "python", "numpy", "pyarrow", "jinja2")
"""The keys of the versions that determine the bytes of a release."""


class GroupedTable(Part):
    """A table of rows in groups: what a grouped release has, and each table of a projected one."""

    seed: int | None = None
    """Before format 5 only."""
    method: MethodClaim
    resist: list[str] | None = None
    """The attacks that the groups withstand; not written if there are none."""
    rows: int
    groups: int
    suppressed: int
    suppress: str
    """The largest share of rows that was allowed to be suppressed, exact."""
    holds: bool
    group: str
    """The name of the group column."""
    units: UnitsClaim | None = None
    """Not written where each row is a person."""
    columns: list[PublishedColumn]
    config: ConfigDeclaration
    reading: Reading
    principles: list[PrincipleClaim]
    warnings: list[ReleaseWarning] | None = None
    """What a reader must be warned of; since format 3, where the list may be empty."""
    coverage: CoverageClaim | None = None
    """Since format 3, if the table has sensitive attributes."""
    unchanged: UnchangedClaim | None = None
    """Since format 3, if columns are published unchanged."""
    utility: UtilityClaim
    figures: Figures
    notes: list[str]


class Document(Header):
    """A whole release.json."""

    KIND: ClassVar[str]
    """The name of the kind, a key of `KINDS`."""

    if TYPE_CHECKING:  # every kind declares these itself, so that they are written in their place
        config: ConfigDeclaration
        reading: Reading
        files: dict[str, FileDigest]
        seed: int | None

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Self:
        """Return the document of plain data as a maker describes it: without files, which the writer adds.

        The content goes through JSON first, so the document holds what a reader will find.
        """
        return cls.model_validate(json.loads(as_json({**content, "files": {}})))

    def to_json(self) -> str:
        """Return the text of release.json."""
        return as_json(self.to_dict())

    def with_files(self, files: Mapping[str, FileDigest]) -> Self:
        """Return the same document, listing these files."""
        return self.model_copy(update={"files": dict(files)})


class GroupedDocument(GroupedTable, Document):
    """release.json of a grouped release."""

    KIND: ClassVar[str] = GROUPS
    kind: Literal["groups"] = "groups"
    after: AfterClaim | None = None
    """Not written for the first release of a table."""
    files: dict[str, FileDigest]


class WithheldDocument(Document):
    """release.json of a withheld release."""

    KIND: ClassVar[str] = WITHHELD
    kind: Literal["withheld"]
    seed: int | None = None
    """Before format 5 only."""
    rows: int
    rule: RuleClaim
    attributes: list[AttributeCounts]
    sensitivity: dict[str, Any]
    """The `kind` of the sensitivity and its parameters; weights of single records are not published."""
    consistency: dict[str, dict[str, Any]]
    """For each attribute that is not compared by equality, the `kind` of the consistency and its parameters."""
    misfits: int
    weighted: bool
    dictionaries: list[DictionaryClaim]
    config: ConfigDeclaration
    reading: Reading
    files: dict[str, FileDigest]


class _Attributes(Part):
    """The sensitive attributes of one table of several; written before everything else."""

    attributes: list[str]


class ProjectedTable(GroupedTable, _Attributes):
    """One table of a projected release."""

    dependence: DependenceClaim


class ProjectedDocument(Document):
    """release.json of a projected release."""

    KIND: ClassVar[str] = PROJECTED
    kind: Literal["projected"]
    seed: int | None = None
    """Before format 5 only."""
    rows: int
    """Rows of the table that was projected, those that were suppressed included."""
    holds: bool
    attributes: list[str]
    sets: dict[str, list[str]]
    """The bits of each set-valued attribute that was spread."""
    plan: list[list[str]]
    chosen: Literal["given", "greedy", "exhaustive"]
    thresholds: list[ThresholdClaim]
    quality: QualityClaim | None = None
    """Absent if there was no limit."""
    harmless: dict[str, list[str | None]]
    """For each attribute its values that are not sensitive; null for a missing one."""
    left_out: list[str]
    config: ConfigDeclaration
    reading: Reading
    tables: list[ProjectedTable]
    notes: list[str]
    files: dict[str, FileDigest]


class SecretsTable(Part):
    """One table of secrets of an anatomized release: how often each value occurs in each group."""

    attributes: list[str]
    principles: list[PrincipleClaim]
    warnings: list[UncoveredWarning]
    """The attributes that no requirement covers, unless that is accepted."""
    coverage: CoverageClaim


class AnatomizedDocument(Document):
    """release.json of an anatomized release: people with exact quasi-identifiers, and the secrets of their groups."""

    KIND: ClassVar[str] = ANATOMIZED
    kind: Literal["anatomized"]
    method: MethodClaim
    rows: int
    groups: int
    suppressed: int
    suppress: str
    """The largest share of rows that was allowed to be suppressed, exact."""
    holds: bool
    group: str
    """The name of the group column of every table."""
    count: str
    """The name of the column that counts the people of a group with a secret."""
    alone: int
    """How many people have quasi-identifiers and other columns, taken together, that nobody else has."""
    columns: list[PublishedColumn]
    """The columns of the table of people."""
    config: ConfigDeclaration
    reading: Reading
    tables: list[SecretsTable]
    notes: list[str]
    files: dict[str, FileDigest]


def stated_seeds(document: Document) -> list[tuple[str, int | None]]:
    """Return each key of a document at which a format before 5 states a seed, and the seed; None where none is stated."""
    tables = getattr(document, "tables", ())
    keys = {"seed": document, **{f"tables[{number}].seed": table for number, table in enumerate(tables)}}
    return [(key, getattr(part, "seed", None)) for key, part in keys.items()]

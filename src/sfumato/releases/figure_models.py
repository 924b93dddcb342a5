"""Models of what a table of groups reports about its utility, and of the tables that its report is drawn from."""

from __future__ import annotations

from typing import Literal

from sfumato.releases.model_base import Number, Part


class LossClaim(Part):
    """The information loss of the quasi-identifiers, each figure from 0 to 1 but `group_mean`."""

    mean: Number
    columns: dict[str, Number]
    group_mean: Number
    ncp: Number
    normalised: Number


class GroupSizes(Part):
    """How large the groups are."""

    discernibility: int
    mean: Number
    average: Number | None
    """The mean size as a multiple of the largest k among the principles; null if none has a k."""
    histogram: list[list[int]]
    """Pairs of a size and the number of groups of that size."""


class MarginalClaim(Part):
    """How far a quasi-identifier's distribution, as a reader estimates it, is from the original one."""

    column: str
    distance: Number


class UtilityClaim(Part):
    """The utility of a table of groups; query errors are not published, and distances are rounded."""

    rows: int
    groups: int
    suppressed: int
    k: int | None
    loss: LossClaim
    classes: GroupSizes
    marginals: list[MarginalClaim]
    bound: Number | None = None
    """No grouping of the original that satisfies the requirements has a mean loss below this; not written if it was not
    computed."""


class PrincipleWords(Part):
    """What a principle means, in words."""

    definition: str
    plain: str
    body: str
    not_protected: str
    units: str | None = None
    """How it counts people or households that have several rows."""
    source: str


class RiskFigures(Part):
    """The risk of re-identification by quasi-identifiers alone."""

    highest: Number
    mean: Number
    unique: Number
    above: dict[str, Number]
    """For each threshold the share of rows whose risk is above it."""


class RiskComparison(Part):
    """The risk in the original, in steps, and in the release."""

    before: RiskFigures
    after: RiskFigures


class SizeHistogram(Part):
    """The share of rows in classes of each size, in the original and in the release."""

    bins: list[str]
    before: list[Number]
    after: list[Number]


class LevelHistogram(Part):
    """How the level of one part of a principle is distributed over the groups."""

    finding: int
    """Which of `principles` this belongs to, counted from 0."""
    part: str
    relation: str
    threshold: str
    width: Number | None
    values: list[Number]
    groups: list[int]
    breaching: list[int]
    infinite: int


class NeighbourGraph(Part):
    """The values of the worst group, and which of them lie within ε of each other."""

    finding: int
    """Which of `principles` this belongs to, counted from 0."""
    quasi_identifiers: dict[str, str]
    group: int
    rows: int
    distinct: int
    epsilon: str
    labels: list[str]
    at: list[Number] | None
    """Where the values are on a line, if they are numbers."""
    counts: list[int]
    neighbours: list[int]
    densest: int
    edges: list[list[int]]


class ColumnFigures(Part):
    """The distribution of a quasi-identifier before and after, or of a sensitive column as it is published."""

    name: str
    role: Literal["quasi-identifier", "sensitive"]
    loss: Number | None = None
    """Only of a quasi-identifier."""
    misplaced: Number | None = None
    """Only of a quasi-identifier: the share of rows that a reader expects under another value."""
    distinct: int | None = None
    """Only of a sensitive column."""
    ordered: bool
    labels: list[str]
    before: list[Number] | None = None
    """Only of a quasi-identifier."""
    after: list[Number]


class ErrorQuartiles(Part):
    """Relative errors of counts that combine a number of quasi-identifiers; null if no such query matches a row."""

    columns: int
    counted: int
    lower: Number | None
    median: Number | None
    upper: Number | None


class CountErrors(Part):
    """The errors of counts over a workload of queries, by the number of quasi-identifiers in a query."""

    asked: int
    """Queries for each number of quasi-identifiers."""
    sensitive: int
    """Sensitive columns in each query."""
    selectivity: str
    by: list[ErrorQuartiles]


class _Drawn(Part):
    """How many originals were drawn; written before everything else."""

    drawn: int


class ExpectedErrors(CountErrors, _Drawn):
    """The errors of counts that a reader of the release must expect."""


class ContourTable(Part):
    """The share of groups in breach of dissimilarity, for each ε and within it each δ."""

    finding: int
    """Which of `principles` this belongs to, counted from 0."""
    attribute: str
    epsilons: list[str]
    deltas: list[str]
    groups: int
    shares: list[list[Number]]
    sampled: bool
    asked: list[str]
    """The requested ε and δ."""


class RateRow(Part):
    """How often an attacker is right, with the ends of the 95 % interval, and how many people were attacked."""

    share: Number
    low: Number
    high: Number
    tried: int


class AttackRow(Part):
    """What one attack achieves, as `sfumato.attacks` measures it."""

    attack: str
    about: str | None
    success: RateRow
    baselines: dict[str, RateRow]
    exceeds: bool
    certain: int
    right: int
    summary: str
    assumptions: str
    comparison: str
    notes: list[str]

    @property
    def label(self) -> str:
        """The attack, and what it is about."""
        return self.attack if self.about is None else f"{self.attack}: {self.about}"

    @property
    def strongest(self) -> tuple[str, RateRow] | None:
        """The baseline that is right most often, with its name; None if there is none."""
        return max(self.baselines.items(), key=lambda entry: entry[1].share, default=None)


class Figures(Part):
    """The tables that report.html is drawn from."""

    words: list[PrincipleWords]
    step: str
    """The step in which shares of the original's rows are rounded."""
    risk: RiskComparison
    sizes: SizeHistogram
    levels: list[LevelHistogram]
    neighbourhoods: list[NeighbourGraph]
    columns: list[ColumnFigures]
    errors: ExpectedErrors | None
    contours: list[ContourTable]
    attacks: list[AttackRow] | None = None
    """What attackers achieve who have the published table only; since format 6."""

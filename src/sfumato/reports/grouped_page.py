"""The report of a grouped release: one page, drawn from the document of release.json and from nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from sfumato.releases.figure_models import (
    AttackRow,
    ContourTable,
    CountErrors,
    Figures,
    LevelHistogram,
    NeighbourGraph,
    PrincipleWords,
)
from sfumato.releases.model_base import Number, Part
from sfumato.releases.models import GroupedDocument, PrincipleClaim
from sfumato.reports.exposure_text import alert, notes_on
from sfumato.reports.grouped_text import config_text, criteria, heading, level_text, sources, verdict
from sfumato.reports.page_frame import invalid_content, render_page
from sfumato.reports.plots.attack_chart import UnmeasuredAttack, attack_figure
from sfumato.reports.plots.column_figures import column_figure, error_figure, loss_figure
from sfumato.reports.plots.figure import Figure, Numbered
from sfumato.reports.plots.group_figures import class_sizes, contour_figure, level_figure, risk_dials, worst_group


class AssociationRow(Part):
    """How strongly a column depends on a quasi-identifier: in the original, and as a reader of the release estimates it."""

    column: str
    outcome: str
    original: Number
    released: Number
    chance: Number
    attenuation: Number | None


class InternalFigures(Part):
    """What only the internal report shows: the principles measured on the original, true errors of counts, associations.

    It depends on which original row has which sensitive value, so it must not be published.
    """

    principles: list[PrincipleClaim]
    levels: list[LevelHistogram]
    neighbourhoods: list[NeighbourGraph]
    errors: CountErrors | None
    contours: list[ContourTable]
    associations: list[AssociationRow]
    notes: list[str]
    """How the original was read, and what was found in it."""
    attacks: list[AttackRow]
    """What attackers achieve."""
    unmeasured_attacks: list[UnmeasuredAttack]


def public_page(document: GroupedDocument) -> str:
    """Return the public report of a release as HTML; the entry of `KINDS`."""
    return grouped_page(document)


def grouped_page(document: GroupedDocument, internal: InternalFigures | None = None) -> str:
    """Return the report of a release as HTML: self-contained, the same bytes for the same document.

    `internal`: for a report that must not be published; it is marked so throughout.
    """
    with invalid_content("the figures are invalid", "Make the release again with this version of sfumato.", "figures"):
        return _draw(document, internal)


def _draw(document: GroupedDocument, internal: InternalFigures | None) -> str:
    numbered = Numbered()
    drawn = {name: numbered.add(figures) for name, figures in _sections(document, internal).items()}
    return render_page(
        Path(__file__).with_name("grouped_page.html.j2"),
        numbered,
        version=document.sfumato,
        internal=internal,
        document=document,
        figures=document.figures,
        drawn=drawn,
        verdict=verdict(document),
        alerts=[alert(document)],
        notes=[*document.notes, *notes_on(document)],
        findings=_findings(document, internal),
        criteria=criteria(document),
        config=config_text(document.config),
        sources=sources(document.figures.words),
        files={name: digest for name, digest in document.files.items() if name.startswith("data.")},
        has_epsilon=bool(document.figures.neighbourhoods),
    )


@dataclass(frozen=True)
class Finding:
    """A principle as the page shows it."""

    heading: str
    claim: PrincipleClaim
    words: PrincipleWords
    parts: list[tuple[str, str, str, str]]
    """For each part its name, the level on the original (or nothing), the level of the release, and the requirement."""


def _findings(document: GroupedDocument, internal: InternalFigures | None) -> list[Finding]:
    return [
        Finding(
            heading(claim),
            claim,
            words,
            [
                (
                    part,
                    "" if internal is None else level_text(internal.principles[number], part),
                    level_text(claim, part),
                    required,
                )
                for part, required in claim.wanted.items()
            ],
        )
        for number, (claim, words) in enumerate(zip(document.principles, document.figures.words, strict=True))
    ]


def _sections(document: GroupedDocument, internal: InternalFigures | None) -> dict[str, list[Figure]]:
    """Return the figures of each section, in the order of the page."""
    figures, principles = document.figures, document.principles
    sizes = [int(claim.parameters["k"]) for claim in principles if "k" in claim.parameters]
    loss = loss_figure(figures.columns, document.utility.loss.mean)
    true_errors = None if internal is None else internal.errors
    private = [] if internal is None else internal.attacks
    attacks = attack_figure(private or figures.attacks or [], internal=bool(private))
    return {
        "gauges": risk_dials(figures.risk),
        "sizes": [class_sizes(figures.sizes, max(sizes, default=None))],
        "proximity": _proximity(figures, principles) + ([] if internal is None else _proximity(internal, principles)),
        "attacks": [] if attacks is None else [attacks],
        "loss": [] if loss is None else [loss],
        "columns": [column_figure(column, number) for number, column in enumerate(figures.columns) if column.labels],
        "errors": [] if figures.errors is None else [error_figure(figures.errors, true_errors)],
        "contours": _contours(figures, principles) + ([] if internal is None else _contours(internal, principles)),
    }


def _proximity(tables: Figures | InternalFigures, principles: list[PrincipleClaim]) -> list[Figure]:
    """Return the figures of sensitive values within groups, of the release or of the original."""
    private = isinstance(tables, InternalFigures)
    levels = [
        level_figure(table, principles[table.finding], heading(principles[table.finding]), internal=private)
        for table in tables.levels
    ]
    graphs = [
        worst_group(graph, heading(principles[graph.finding]), _allowed(principles[graph.finding], graph), internal=private)
        for graph in tables.neighbourhoods
    ]
    return levels + graphs


def _contours(tables: Figures | InternalFigures, principles: list[PrincipleClaim]) -> list[Figure]:
    private = isinstance(tables, InternalFigures)
    return [contour_figure(table, heading(principles[table.finding]), internal=private) for table in tables.contours]


def _allowed(claim: PrincipleClaim, graph: NeighbourGraph) -> int | None:
    """Return how many others may be near a value in a group of this size; None if the principle is not one of these."""
    if claim.name == "dissimilarity":
        return int((1 - Fraction(claim.parameters["delta"])) * (graph.rows - 1))
    share = {"epsilon-m-anonymity": "m", "delta-l-diversity": "l"}.get(claim.name)
    return None if share is None else int(Fraction(graph.rows) / Fraction(claim.parameters[share])) - 1

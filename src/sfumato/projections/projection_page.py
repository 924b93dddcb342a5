"""The reports of a projected release: the public one, drawn from release.json alone, and the internal one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.projections.attack_figures import inference_figure, join_figure
from sfumato.projections.plan_figures import (
    dependence_figure,
    plan_figure,
    plan_row,
    ratio_figure,
    reached_figure,
    threshold_sentences,
    tradeoff_figure,
)
from sfumato.projections.projection_tables import attribute_pairs, principle_findings, published_dependence
from sfumato.projections.projection_text import (
    FACT_HEADINGS,
    LINK_HEADINGS,
    WARNING_HEADINGS,
    attack_sentences,
    fact_rows,
    limitations,
    link_rows,
    search_sentence,
    verdict_sentence,
    warning_rows,
)
from sfumato.releases.models import VERSIONS, ProjectedDocument
from sfumato.reports.exposure_text import alert, notes_on
from sfumato.reports.grouped_text import config_text, sources
from sfumato.reports.page_frame import invalid_content, render_page
from sfumato.reports.plots.figure import Figure, Numbered

_MAX_WARNINGS = 15
"""The number of warnings that are listed, strongest first; the heat map shows all."""
_MAX_PLANS = 200
"""The number of examined plans that are listed."""

_FIGURES_OF_ATTACKS = ("background-join", "intersection")
"""The attacks that have figures of their own; the results of others are shown as plain data."""

Content = Mapping[str, Any]
"""What only the internal report contains, as plain data; see `projection_document.internal_content`."""


def public_page(document: ProjectedDocument) -> str:
    """Return the public report of a release as HTML; the entry of `KINDS`."""
    with invalid_content("release.json is invalid", "Download the release again, or project again.", "tables"):
        return _draw(document, None)


def internal_page(document: ProjectedDocument, internal: Content) -> str:
    """Return the internal report as HTML: the public one, and how the attributes depend in the original.

    `internal`: the result of `projection_document.internal_content`. It depends on who has which value.
    """
    with invalid_content(
        "the figures of the projection are invalid", "Project again with this version of sfumato.", "tables"
    ):
        return _draw(document, internal)


def _draw(document: ProjectedDocument, internal: Content | None) -> str:
    numbered = Numbered()
    findings = principle_findings(document, None if internal is None else internal["tables"])
    # Figures are numbered in the order of the page: the plan, the principles, the attacks.
    drawn = {name: numbered.add(figures) for name, figures in _plan_sections(document, internal).items()}
    count, levels = 0, []
    for finding in findings:
        figures = [
            reached_figure(count + i, finding.heading, table, internal=internal is not None)
            for i, table in enumerate(finding.levels)
        ]
        count += len(figures)
        levels.append(numbered.add(figures))
    drawn |= {name: numbered.add(figures) for name, figures in _attack_sections(internal).items()}
    return render_page(
        Path(__file__).with_name("projection_page.html.j2"),
        numbered,
        version=document.sfumato,
        internal=internal,
        content=document,
        versions={name: getattr(document, name) for name in VERSIONS if name != "sfumato"},
        drawn=drawn,
        findings=list(zip(findings, levels, strict=True)),
        verdict=verdict_sentence(document),
        alerts=[alert(table, f"Table {i}: {', '.join(table.attributes)}") for i, table in enumerate(document.tables, 1)],
        table_notes=[[*table.notes, *notes_on(table)] for table in document.tables],
        search_sentence=search_sentence(document),
        thresholds=threshold_sentences(document.thresholds),
        facts=[FACT_HEADINGS, *fact_rows(document)],
        limits=limitations(document),
        config=config_text(document.config),
        sources=sources([finding.words for finding in findings]),
        files={name: digest for name, digest in document.files.items() if name.startswith("table_")},
        **_internal_fields(internal),
    )


def _internal_fields(internal: Content | None) -> dict[str, Any]:
    """Return what the template uses in the internal report only."""
    if internal is None:
        return {"search": None}
    search, warnings, links = internal["search"], warning_rows(internal), link_rows(internal)
    results = internal["attacks"]["attacks"]
    return {
        "search": search,
        "examined": [] if search is None else [plan_row(plan) for plan in search["reachable_plans"][:_MAX_PLANS]],
        "warnings": [WARNING_HEADINGS, *warnings[:_MAX_WARNINGS]] if warnings else [],
        "more_warnings": max(0, len(warnings) - _MAX_WARNINGS),
        "links": [LINK_HEADINGS, *links] if links else [],
        "results": results,
        "attack_sentences": attack_sentences(internal),
        "other_attacks": {name: result for name, result in results.items() if name not in _FIGURES_OF_ATTACKS},
    }


def _plan_sections(document: ProjectedDocument, internal: Content | None) -> dict[str, list[Figure]]:
    """Return the figures before the principles, by section, in the order of the page."""
    plan, thresholds = document.plan, document.thresholds
    quasi_identifiers = [column.name for column in document.tables[0].columns if column.role == "quasi-identifier"]
    figures = {
        "plan": [plan_figure(plan, quasi_identifiers)],
        "ratios": [ratio_figure(thresholds)],
        "dependence": [dependence_figure(attribute_pairs(published_dependence(document), plan), plan)],
    }
    if internal is not None:
        loss, exposure = (claim["measured"] for claim in internal["thresholds"])
        chosen = {"plan": plan, "label": "this release", "association_loss": loss, "information_exposure": exposure}
        examined = [] if internal["search"] is None else internal["search"]["reachable_plans"]
        figures["ratios"].append(tradeoff_figure(internal["tradeoff"], chosen, examined, thresholds))
        pairs = attribute_pairs(internal["dependence"], plan)
        figures["dependence"].append(dependence_figure(pairs, plan, internal=True))
    return figures


def _attack_sections(internal: Content | None) -> dict[str, list[Figure]]:
    if internal is None:
        return {"joins": [], "inferences": []}
    results = internal["attacks"]["attacks"]
    joins = results.get("background-join", {}).get("joins", [])
    inferences = results.get("intersection", {}).get("inferences", [])
    return {
        "joins": [join_figure(joins)] if joins else [],
        "inferences": [inference_figure(inferences)] if inferences else [],
    }

"""The report: one page that opens without a network, drawn from what release.json says and from nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from sfumato.errors import ReleaseError
from sfumato.releases.models import GroupedDocument
from sfumato.reports.grouped_text import cited, configured, criteria, heading, level, verdict
from sfumato.reports.page_frame import invalid_content, render_page
from sfumato.reports.plots.column_figures import column_figure, error_figure, loss_figure
from sfumato.reports.plots.figure import Figure, Numbered
from sfumato.reports.plots.group_figures import class_sizes, contour_figure, level_figure, risk_dials, worst_group


def public_page(document: GroupedDocument) -> str:
    """Return the public report of a release as HTML; the entry of `KINDS`."""
    return page(document.to_dict())


def page(content: Mapping[str, Any], internal: Mapping[str, Any] | None = None) -> str:
    """The report of a release as HTML: self-contained, the same bytes for the same content.

    `content`: what release.json says. `internal`: what `internal_figures` computed, for a report that is not to be
    published; it is marked so throughout.
    """
    remedy = "Make the release again with this version of sfumato."
    if not isinstance(content.get("figures"), Mapping):
        raise ReleaseError("release.json holds no figures", remedy=remedy, key="figures")
    with invalid_content("the figures are invalid", remedy, "figures"):
        return _drawn(content, internal)


def _drawn(content: Mapping[str, Any], internal: Mapping[str, Any] | None) -> str:
    figures, principles = content["figures"], content["principles"]
    numbered = Numbered()
    sections = _sections(figures, principles, content["utility"]["loss"]["mean"], internal)
    drawn = {name: numbered.add(found) for name, found in sections.items()}
    return render_page(
        Path(__file__).with_name("grouped_page.html.j2"),
        numbered,
        version=str(content["sfumato"]),
        internal=internal,
        content=content,
        figures=figures,
        drawn=drawn,
        verdict=verdict(content),
        findings=_findings(principles, figures["words"], None if internal is None else internal["principles"]),
        criteria=criteria(content),
        config=configured(content["config"]),
        cited=cited(figures["words"]),
        files={name: claim for name, claim in content.get("files", {}).items() if name.startswith("data.")},
        has_epsilon=bool(figures["neighbourhoods"]),
    )


def _findings(
    claims: Sequence[Mapping[str, Any]], words: Sequence[Mapping[str, str]], before: Sequence[Mapping[str, Any]] | None
) -> list[dict[str, Any]]:
    """Each principle in words, with what it wants and what was measured; on the original too, if that is told."""
    return [
        {
            "heading": heading(claim),
            "claim": claim,
            "words": said,
            "parts": [
                {**level(claim, part), "before": "" if before is None else level(before[number], part)["measured"]}
                for part in claim["wanted"]
            ],
        }
        for number, (claim, said) in enumerate(zip(claims, words, strict=True))
    ]


def _sections(
    figures: Mapping[str, Any], principles: list[Mapping[str, Any]], mean_loss: float, internal: Mapping[str, Any] | None
) -> dict[str, list[Figure]]:
    """The figures of each section, in the order of the page."""
    sizes = [claim["parameters"]["k"] for claim in principles if "k" in claim["parameters"]]

    def titled(table: Mapping[str, Any]) -> str:
        return heading(principles[table["finding"]])

    def within(tables: Mapping[str, Any], mine: bool) -> list[Figure]:
        plots = [level_figure(table, titled(table), internal=mine) for table in tables["levels"]]
        for graph in tables["neighbourhoods"]:
            plots.append(worst_group(graph, titled(graph), _allowed(principles[graph["finding"]], graph), internal=mine))
        return plots

    def contours(tables: Mapping[str, Any], mine: bool) -> list[Figure]:
        return [contour_figure(contour, titled(contour), internal=mine) for contour in tables["contours"]]

    loss = loss_figure(figures["columns"], mean_loss)
    true = None if internal is None else internal["errors"]
    return {
        "gauges": risk_dials(figures["risk"]),
        "sizes": [class_sizes(figures["sizes"], max(map(int, sizes), default=None))],
        "proximity": within(figures, False) + ([] if internal is None else within(internal, True)),
        "loss": [] if loss is None else [loss],
        "columns": [column_figure(column, number) for number, column in enumerate(figures["columns"]) if column["labels"]],
        "errors": [] if figures["errors"] is None else [error_figure(figures["errors"], true)],
        "contours": contours(figures, False) + ([] if internal is None else contours(internal, True)),
    }


def _allowed(claim: Mapping[str, Any], graph: Mapping[str, Any]) -> int | None:
    """How many others may lie near a value of a group of this size."""
    others, parameters = graph["rows"] - 1, claim["parameters"]
    if claim["name"] == "dissimilarity":
        return int((1 - Fraction(parameters["delta"])) * others)
    most = Fraction(parameters["m"] if claim["name"] == "epsilon-m-anonymity" else parameters["l"])
    return int(Fraction(graph["rows"]) / most) - 1

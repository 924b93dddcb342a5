"""The reports of several tables: the public one, drawn from release.json and nothing else, and the internal one."""

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
from sfumato.projections.projection_tables import pairs, reached, told_dependence
from sfumato.projections.projection_text import (
    FACTS,
    LINKS,
    WARNED,
    certain,
    chosen,
    facts,
    limits,
    links,
    verdict,
    warned,
)
from sfumato.releases.models import ProjectedDocument
from sfumato.reports.grouped_text import cited, configured
from sfumato.reports.page_frame import invalid_content, render_page
from sfumato.reports.plots.figure import Figure, Numbered

_WARNINGS = 15
"""The most warnings that are told one by one, the strongest; the heat map shows all."""
_EXAMINED = 200
"""The most plans that are listed, of those that were examined."""


def public_page(document: ProjectedDocument) -> str:
    """Return the public report of a release as HTML; the entry of `KINDS`."""
    return projected_page(document.to_dict())


def projected_page(content: Mapping[str, Any]) -> str:
    """The public report of several tables as HTML; `content`: what release.json says, as `describe_projection` tells."""
    with invalid_content("release.json is invalid", "Fetch or make the release again.", "tables"):
        return _drawn(content, None)


def projection_page(content: Mapping[str, Any], internal: Mapping[str, Any]) -> str:
    """The internal report of several tables as HTML: it tells, beside the public one, how the attributes truly depend.

    `internal`: what `internal_content` of `release/describe_projection.py` computed. It depends on who has which secret.
    """
    with invalid_content(
        "the figures of the projection are invalid", "Project again with this version of sfumato.", "tables"
    ):
        return _drawn(content, internal)


def _drawn(content: Mapping[str, Any], internal: Mapping[str, Any] | None) -> str:
    numbered = Numbered()
    found = reached(content, None if internal is None else internal["tables"])
    drawn = {name: numbered.add(plots) for name, plots in _sections(content, internal).items()}
    findings, count = [], 0
    for finding in found:
        plots = [reached_figure(count + at, finding["heading"], part) for at, part in enumerate(finding["parts"])]
        count += len(plots)
        findings.append({**finding, "drawn": numbered.add(plots)})
    after = {name: numbered.add(plots) for name, plots in _attacks(internal).items()}
    search = None if internal is None else internal["search"]
    warnings = [] if internal is None else warned(internal)
    return render_page(
        Path(__file__).with_name("projection_page.html.j2"),
        numbered,
        version=str(content["sfumato"]),
        internal=internal,
        content=content,
        drawn={**drawn, **after},
        findings=findings,
        verdict=verdict(content),
        chosen=chosen(content),
        asked=threshold_sentences(content["thresholds"]),
        facts=[FACTS, *facts(content)],
        limits=limits(content),
        search=search,
        examined=[] if search is None else [plan_row(one) for one in search["examined"][:_EXAMINED]],
        warnings=[WARNED, *warnings[:_WARNINGS]] if warnings else [],
        more_warnings=max(0, len(warnings) - _WARNINGS),
        links=[] if internal is None else [LINKS, *links(internal)],
        certain=[] if internal is None else certain(internal),
        config=configured(content["config"]),
        cited=cited([finding["words"] for finding in found]),
        files={name: claim for name, claim in content.get("files", {}).items() if name.startswith("table_")},
    )


def _sections(content: Mapping[str, Any], internal: Mapping[str, Any] | None) -> dict[str, list[Figure]]:
    """The figures up to the principles, section by section, in the order of the page."""
    plan, thresholds = content["plan"], content["thresholds"]
    shared = [column["name"] for column in content["tables"][0]["columns"] if column["role"] == "quasi-identifier"]
    found = {
        "plan": [plan_figure(plan, shared)],
        "ratios": [ratio_figure(thresholds)],
        "dependence": [dependence_figure(pairs(told_dependence(content), plan), plan)],
    }
    if internal is not None:
        loss, exposure = (one["measured"] for one in internal["thresholds"])
        ours = {"plan": plan, "label": "this release", "association_loss": loss, "information_exposure": exposure}
        examined = [] if internal["search"] is None else internal["search"]["examined"]
        found["ratios"].append(tradeoff_figure(internal["tradeoff"], ours, examined, thresholds))
        found["dependence"].append(dependence_figure(pairs(internal["dependence"], plan), plan, internal=True))
    return found


def _attacks(internal: Mapping[str, Any] | None) -> dict[str, list[Figure]]:
    if internal is None:
        return {"joins": [], "inferences": []}
    results = internal["attacks"]["attacks"]
    joins = results.get("background-join", {}).get("joins", [])
    others = results.get("intersection", {}).get("inferences", [])
    return {"joins": [join_figure(joins)] if joins else [], "inferences": [inference_figure(others)] if others else []}

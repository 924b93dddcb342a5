"""The report of records with values withheld: what may be published of it, drawn from release.json and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.disclosure.risk_report.loss_format import amount
from sfumato.disclosure.risk_report.risk_figures import disclosed_figure
from sfumato.disclosure.risk_report.risk_text import compared, sensitivity
from sfumato.plurals import count_of
from sfumato.releases.models import WithheldDocument
from sfumato.reports.page_frame import invalid_content, render_page
from sfumato.reports.plots.figure import Numbered, percent

_EACH = {"record": "of each record", "attribute": "of each attribute", "table": "in all"}
_AGAINST = {
    "prior": "so that the mean risk over the dictionaries, under the prior below, is small",
    "worst": "so that the worst risk over the dictionaries below is small",
}


def public_page(document: WithheldDocument) -> str:
    """Return the public report of a release as HTML; the entry of `KINDS`."""
    return withheld_page(document.to_dict())


def withheld_page(content: Mapping[str, Any]) -> str:
    """The report of records with values withheld as HTML; `content`: what release.json says."""
    with invalid_content("release.json is invalid", "Fetch or make the release again.", "attributes"):
        return _drawn(content)


def _drawn(content: Mapping[str, Any]) -> str:
    numbered, attributes, rule = Numbered(), content["attributes"], content["rule"]
    prior = any(one["prior"] is not None for one in content["dictionaries"])
    why = _AGAINST[rule["against"]] if len(content["dictionaries"]) > 1 else "so that the risk is small"
    return render_page(
        Path(__file__).with_name("withheld_page.html.j2"),
        numbered,
        version=str(content["sfumato"]),
        internal=None,
        content=content,
        drawn=numbered.add([disclosed_figure(attributes)]),
        rule=f"{count_of(rule['cells'], 'value')} {_EACH[rule['per']]} are disclosed, {why}.",
        prior=prior,
        dictionaries=[_row(one, prior) for one in content["dictionaries"]],
        assumed=[
            "The attacker has one of the dictionaries above, and nothing else about the people in the records.",
            "He picks one of those who are consistent with a record"
            + (", leaning to some as the dictionary tells." if content["weighted"] else ", each with the same chance."),
            *(f"{what}: {how}" for what, how in compared(content["consistency"], [one["name"] for one in attributes])),
            *([f"An individual may misfit in {content['misfits']} of the disclosed values."] if content["misfits"] else []),
            f"Sensitivity: {sensitivity(content['sensitivity'])}",
            "A record that nobody in the dictionary is consistent with loses nothing.",
        ],
        files=[(name, claim) for name, claim in content.get("files", {}).items() if name.startswith("data.")],
        **{key: sum(one[key] for one in attributes) for key in ("disclosed", "withheld", "missing")},
    )


def _row(one: Mapping[str, Any], prior: bool) -> list[str]:
    share = [str(one["prior"])] if prior else []
    chances = [percent(one["highest"]), percent(one["mean"])]
    return [one["name"], f"{one['individuals']:,}", *share, *chances, amount(one["risk"])]

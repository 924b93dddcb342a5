"""The report of records with values withheld: what may be published of it, drawn from release.json and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.disclosure.risk_report.loss_format import amount
from sfumato.disclosure.risk_report.risk_text import compared, sensitivity
from sfumato.plurals import count_of
from sfumato.releases.models import WithheldDocument
from sfumato.reports.page_frame import framed, torn
from sfumato.reports.plots.figure import AFTER, BEFORE, LEGEND, PALE, Figure, Numbered, axis, percent, plain

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
    with torn("release.json is torn", "Fetch or make the release again.", "attributes"):
        return _drawn(content)


def _drawn(content: Mapping[str, Any]) -> str:
    numbered, attributes, rule = Numbered(), content["attributes"], content["rule"]
    prior = any(one["prior"] is not None for one in content["dictionaries"])
    why = _AGAINST[rule["against"]] if len(content["dictionaries"]) > 1 else "so that the risk is small"
    return framed(
        Path(__file__).with_name("withheld_page.html.j2"),
        numbered,
        version=str(content["sfumato"]),
        internal=None,
        content=content,
        drawn=numbered.add([shown_plot(attributes)]),
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


def shown_plot(attributes: Sequence[Mapping[str, Any]]) -> Figure:
    """The share of each attribute's values that is disclosed, withheld, or missing."""
    total = [one["disclosed"] + one["withheld"] + one["missing"] for one in attributes]
    places = list(range(len(attributes)))
    colours = {"disclosed": AFTER, "withheld": BEFORE, "missing": PALE}
    most = max(attributes, key=lambda one: one["withheld"])
    return Figure(
        key="shown",
        title="What is disclosed of each attribute",
        caption="Share of the records in which the attribute is disclosed, withheld, or was missing from the start.",
        alt=f"Bars: what is disclosed of each of {len(attributes)} attributes; most values are withheld of {most['name']}.",
        data=[
            {
                "type": "bar",
                "orientation": "h",
                "name": key,
                "y": places,
                "x": [one[key] / whole for one, whole in zip(attributes, total, strict=True)],
                "marker": {"color": colour},
                "customdata": [[plain(one["name"], 80), f"{one[key]:,}"] for one in attributes],
                "hovertemplate": f"%{{customdata[0]}}: %{{customdata[1]}} {key}<extra></extra>",
            }
            for key, colour in colours.items()
        ],
        layout={
            "barmode": "stack",
            "showlegend": True,
            "legend": {**LEGEND, "traceorder": "normal"},
            "xaxis": axis(None, tickformat=".0%", range=[0, 1]),
            "yaxis": axis(
                None, tickvals=places, ticktext=[plain(one["name"], 24) for one in attributes], autorange="reversed"
            ),
            "margin": {"l": 60, "r": 16, "t": 36, "b": 36},
        },
        head=("attribute", "disclosed", "withheld", "missing"),
        rows=[(one["name"], *(f"{one[key]:,}" for key in colours)) for one in attributes],
        height=100 + 26 * len(attributes),
    )

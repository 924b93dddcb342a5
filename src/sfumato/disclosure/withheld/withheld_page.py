"""The public report of a withheld release, drawn from release.json alone."""

from __future__ import annotations

from pathlib import Path

from sfumato.disclosure.risk_report.loss_format import amount
from sfumato.disclosure.risk_report.risk_figures import disclosed_figure
from sfumato.disclosure.risk_report.risk_text import consistency_lines, false_identification_text, sensitivity_text
from sfumato.plurals import count_of
from sfumato.releases.models import DictionaryClaim, RuleClaim, WithheldDocument
from sfumato.reports.page_frame import invalid_content, render_page
from sfumato.reports.plots.figure import Numbered, percent

_PER = {"record": "of each record", "attribute": "of each attribute", "table": "in total"}
_PURPOSE = {
    "prior": "chosen for the smallest mean risk over the dictionaries, under the prior below",
    "worst": "chosen so that the largest risk over the dictionaries below is smallest",
}


def public_page(document: WithheldDocument) -> str:
    """Return the public report of a withheld release as HTML; the entry of `KINDS`."""
    with invalid_content("release.json is invalid", "Fetch or make the release again.", "attributes"):
        return _render(document)


def _render(document: WithheldDocument) -> str:
    numbered, attributes, rule = Numbered(), document.attributes, document.rule
    has_prior = any(claim.prior is not None for claim in document.dictionaries)
    purpose = _PURPOSE[rule.against] if len(document.dictionaries) > 1 else "chosen for the smallest risk"
    return render_page(
        Path(__file__).with_name("withheld_page.html.j2"),
        numbered,
        version=document.sfumato,
        internal=None,
        content=document.to_dict(),
        drawn=numbered.add([disclosed_figure(attributes)]),
        rule=f"{_amount(rule)}, {purpose}.",
        generalized=None if rule.shares is None else sum(counts.generalized or 0 for counts in attributes),
        prior=has_prior,
        dictionaries=[_row(claim, has_prior) for claim in document.dictionaries],
        assumptions=_assumptions(document),
        files=[(name, digest) for name, digest in document.files.items() if name.startswith("data.")],
        disclosed=sum(counts.disclosed for counts in attributes),
        withheld=sum(counts.withheld for counts in attributes),
        missing=sum(counts.missing for counts in attributes),
    )


def _amount(rule: RuleClaim) -> str:
    """How much is disclosed, as the beginning of a sentence."""
    values = count_of(rule.cells, "value")
    if rule.shares is None:
        return f"{values} {_PER[rule.per]} are disclosed"
    return f"The information of at least {values} of each record is disclosed"


def _assumptions(document: WithheldDocument) -> list[str]:
    """What the risk was computed from, one sentence each."""
    choice = (
        ", with the chances that the dictionary's weights give." if document.weighted else ", each with the same chance."
    )
    lines = [
        "The attacker has one of the dictionaries above, and knows nothing else about the people in the records.",
        f"The attacker picks one of the individuals who are consistent with a record{choice}",
    ]
    names = [counts.name for counts in document.attributes]
    lines += [f"{subject}: {text}" for subject, text in consistency_lines(document.consistency, names)]
    if document.misfits:
        values = count_of(document.misfits, "disclosed value")
        lines.append(f"An individual may be inconsistent in {values} and still count as consistent.")
    lines.append(f"Sensitivity: {sensitivity_text(document.sensitivity)}")
    for name, shares in (document.rule.shares or {}).items():
        lines.append(f"Of the sensitivity of {name}, a cell reveals by level of the hierarchy: {', '.join(shares)}.")
    if "false_identification" in document.sensitivity:
        lines.append(false_identification_text(document.sensitivity))
    lines.append("A record loses nothing if nobody in the dictionary is consistent with it.")
    return lines


def _row(claim: DictionaryClaim, has_prior: bool) -> list[str]:
    prior = [str(claim.prior)] if has_prior else []
    chances = [percent(float(claim.highest)), percent(float(claim.mean))]
    return [claim.name, f"{claim.individuals:,}", *prior, *chances, amount(claim.risk)]

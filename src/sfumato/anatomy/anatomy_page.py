"""The reports of an anatomized release: the public one, drawn from release.json alone, and the internal one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.releases.exposure_models import share_text
from sfumato.releases.kinds import table_name
from sfumato.releases.models import AnatomizedDocument, PrincipleClaim
from sfumato.reports.page_frame import invalid_content, render_page
from sfumato.reports.plots.figure import Numbered, percent


def public_page(document: AnatomizedDocument) -> str:
    """Return the public report of an anatomized release as HTML; the entry of `KINDS`."""
    with invalid_content("release.json is invalid", "Fetch or make the release again.", "tables"):
        return _render(document, None)


def internal_page(document: AnatomizedDocument, internal: Mapping[str, Any]) -> str:
    """Return the internal report as HTML: the public one, with what attackers achieve and the errors of counts.

    `internal`: the errors of `Anatomy.count_errors`, the attacks of `sf.attack` and the notes for the publisher, as plain
    data. They depend on who has which secret.
    """
    with invalid_content("the internal content is invalid", "Make it from the anatomy.", "internal"):
        return _render(document, {**internal, "attacks": internal["attacks"]["attacks"]})


def _render(document: AnatomizedDocument, internal: Mapping[str, Any] | None) -> str:
    claims = [claim for table in document.tables for claim in table.principles]
    return render_page(
        Path(__file__).with_name("anatomy_page.html.j2"),
        Numbered(),
        version=document.sfumato,
        internal=internal,
        error=_error,
        content=document.to_dict(),
        alone=share_text(document.alone, document.rows, "person", "people"),
        exact=[column.name for column in document.columns if column.role != "group"],
        tables=[
            {
                "file": table_name(number),
                "attributes": table.attributes,
                "rows": [_row(claim) for claim in table.principles],
                "warnings": [warning.text for warning in table.warnings],
                "accepted": [accepted.text for accepted in table.coverage.accepted],
            }
            for number, table in enumerate(document.tables, 1)
        ],
        held=sum(claim.holds for claim in claims),
        claims=len(claims),
        files=[(name, digest) for name, digest in document.files.items() if not name.endswith(".html")],
    )


def _error(errors: Mapping[str, Any]) -> str:
    """Return the errors of count queries in words."""
    if errors["median"] is None:
        return "no query matches a row"
    return f"{percent(errors['median'])} median, {percent(errors['mean'])} on average"


def _row(claim: PrincipleClaim) -> list[str]:
    """Return what is required of a table of secrets, and what was measured in the worst group."""
    measured: list[Any] = [f"{name} {claim.exact.get(name, level)}" for name, level in claim.measured.items()]
    return [
        f"{claim.label} on {claim.attribute}",
        "; ".join(f"{name} {wanted}" for name, wanted in claim.wanted.items()),
        "; ".join(measured),
        "holds" if claim.holds else "FAILS",
    ]

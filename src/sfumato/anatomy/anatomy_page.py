"""The public report of an anatomized release, drawn from release.json alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sfumato.releases.exposure_models import share_text
from sfumato.releases.kinds import table_name
from sfumato.releases.models import AnatomizedDocument, PrincipleClaim
from sfumato.reports.page_frame import invalid_content, render_page
from sfumato.reports.plots.figure import Numbered


def public_page(document: AnatomizedDocument) -> str:
    """Return the public report of an anatomized release as HTML; the entry of `KINDS`."""
    with invalid_content("release.json is invalid", "Fetch or make the release again.", "tables"):
        return _render(document)


def _render(document: AnatomizedDocument) -> str:
    claims = [claim for table in document.tables for claim in table.principles]
    return render_page(
        Path(__file__).with_name("anatomy_page.html.j2"),
        Numbered(),
        version=document.sfumato,
        internal=None,
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


def _row(claim: PrincipleClaim) -> list[str]:
    """Return what is required of a table of secrets, and what was measured in the worst group."""
    measured: list[Any] = [f"{name} {claim.exact.get(name, level)}" for name, level in claim.measured.items()]
    return [
        f"{claim.label} on {claim.attribute}",
        "; ".join(f"{name} {wanted}" for name, wanted in claim.wanted.items()),
        "; ".join(measured),
        "holds" if claim.holds else "FAILS",
    ]

"""Write several tables: aside first, verified from the written files, and only then renamed into place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.anonymization.save_release import (
    check_format,
    free_target,
    refuse_unless,
    refuse_what_cannot_be_held,
    report_aside,
    take_place,
    write_rows,
    write_told,
    written_aside,
)
from sfumato.io.atomic_replace import open_to_readers
from sfumato.progress import Progress, silent
from sfumato.projections.projection_document import described_projection, internal_content
from sfumato.projections.projection_page import projected_page, projection_page
from sfumato.releases.kinds import table_name
from sfumato.releases.reader import Manifest
from sfumato.reports.report_files import free_page
from sfumato.verification._verify import verify

if TYPE_CHECKING:
    from sfumato.projections.projection import Projection


def save_projection(
    projection: Projection,
    folder: str | Path,
    *,
    force: bool = False,
    format: str = "csv",  # noqa: A002
    internal: str | Path | None = None,
    progress: Progress = silent,
) -> Path:
    """Write a projection to a new folder; if anything goes wrong nothing is left behind."""
    check_format(format)
    for release in projection.releases:
        refuse_what_cannot_be_held(release, format)
    target = free_target(folder, force)
    private = None if internal is None else free_page(internal, target, force)
    with written_aside(folder, target) as aside:
        progress("writing")
        data = [aside / f"{table_name(number)}.{format}" for number in range(1, len(projection.releases) + 1)]
        for release, file in zip(projection.releases, data, strict=True):
            write_rows(release, file)
        write_told(aside, described_projection(projection), data, projected_page)
        progress("verifying what was written")
        wished = {"plan": projection.plan.blocks, "harmless": projection.harmless, **_given(projection)}
        schema, principles = projection.schema, projection.principles
        refuse_unless(verify(aside, projection.source, schema=schema, principles=principles, project=wished))
        open_to_readers(aside)
        with report_aside(private, lambda: _internal_page(projection, aside), progress):
            take_place(aside, target, force)
    return target


def _given(projection: Projection) -> dict[str, Any]:
    """The thresholds that were given, and not taken from the trade-off."""
    limits = {"alpha": projection.alpha, "beta": projection.beta}
    return {key: threshold.limit for key, threshold in limits.items() if threshold.origin == "given"}


def _internal_page(projection: Projection, aside: Path) -> str:
    return projection_page(Manifest.load(aside).content, internal_content(projection))

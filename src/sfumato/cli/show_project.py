"""Show a projection, and the trade-off between plans, on a terminal."""

from __future__ import annotations

import math
from pathlib import Path

from rich.markup import escape
from rich.table import Table as Grid
from rich.text import Text

from sfumato.anonymization.utility import percent
from sfumato.cli.release_warnings import show_warnings
from sfumato.cli.show import console, show_findings, show_notes, source_heading
from sfumato.exact import written
from sfumato.plurals import count_of
from sfumato.projections.plans.dependence import PlanRatios
from sfumato.projections.plans.tradeoff_curve import Tradeoff
from sfumato.projections.projection import Projection
from sfumato.releases.kinds import table_name
from sfumato.visible_text import one_line

_MAX_WARNINGS = 3
"""The number of warnings that are shown."""

_MAX_POINTS = 20
"""A curve with at most this number of points is shown completely."""

_MIN_DISTANCE = 0.04
"""Of points of a long curve that are closer to one another than this, one is shown."""

_ORIGINS = {
    "given": "given",
    "knee": "the knee of the trade-off",
    "near": "the plan nearest to the knee of the trade-off",
    "least": "the smallest within the other threshold",
    "open": "not set",
}


def show_projection(projection: Projection, folder: Path, report: Path | None) -> None:
    """Print the plan, its ratios, the verdicts in each table, and warnings."""
    out = console()
    source = source_heading(projection.source.source)
    out.print(
        f"{source}{count_of(projection.source.rows, 'row')}, "
        f"{count_of(len(projection.plan.attributes), 'sensitive attribute')} in {count_of(len(projection.plan), 'table')}"
    )
    show_notes((*projection.reading, *projection.notes), out)
    out.print(_ratios(projection))
    for number, release in enumerate(projection.releases, 1):
        dropped = f", {count_of(release.suppressed, 'row')} suppressed" if release.suppressed else ""
        out.print(
            f"\n[bold]{table_name(number)}[/bold]: {escape(one_line(' + '.join(release.schema.sensitive)))}  "
            f"({count_of(release.audit.groups.count, 'group')}, loss {percent(release.loss)}{dropped})"
        )
        show_findings(release.audit, out)
        show_notes(release.exposure, out)
        show_warnings(release.warnings)
    if projection.warnings:
        out.print(
            "\n[yellow]warning[/yellow] Attributes in different tables depend on each other beyond chance: an attacker who "
            "knows how they depend can combine the tables."
        )
    for pair in projection.warnings[:_MAX_WARNINGS]:
        (one, other), (u, w) = pair.attributes, pair.tables
        names = f"{one} ({table_name(u + 1)}) and {other} ({table_name(w + 1)})"
        out.print(f"        {one_line(names)}: {percent(pair.share)} of the smaller entropy", markup=False)
    more = len(projection.warnings) - _MAX_WARNINGS
    if more > 0:
        out.print(f"        and {count_of(more, 'weaker pair')}; see the internal report")
    out.print("\n[bold green]Both thresholds are met, and every principle holds in every table.[/bold green]")
    if report is not None:
        out.print(f"Wrote the internal report to {report}; it must not be published.", markup=False)
    out.print(f"Wrote and verified the release in {folder}; verify it again with: sfumato verify {folder}", markup=False)


def _ratios(projection: Projection) -> Grid:
    ratios = projection.ratios
    grid = _grid("", "measured", "required", "")
    rows = [
        ("association loss Γ_α", ratios.association_loss, projection.alpha),
        ("information exposure Γ_β", ratios.information_exposure, projection.beta),
    ]
    for name, ratio, threshold in rows:
        grid.add_row(name, f"{ratio:.4f}", f"at most {written(threshold.limit)}", _ORIGINS[threshold.origin])
    if projection.discernibility is not None:
        grid.add_row(
            "discernibility",
            f"{max(projection.discernibilities):,}",
            f"at most {written(projection.discernibility)}",
            "given",
        )
    return grid


def show_curve(curve: Tradeoff) -> None:
    """Print the Pareto-optimal plans, from the smallest association loss to the smallest information exposure."""
    out = console()
    shown = _spaced(curve)
    wide = max(len(point.plan.label) for point in shown) > out.width - 40
    grid = _grid("", "loss Γ_α", "exposure Γ_β", "tables", "attributes per table" if wide else "plan")
    for point in shown:
        plan = " | ".join(str(len(block)) for block in point.plan.blocks) if wide else point.plan.label
        grid.add_row(
            Text("knee", "bold green") if point is curve.knee else "",
            f"{point.association_loss:.4f}",
            f"{point.information_exposure:.4f}",
            str(len(point.plan)),
            Text(plan),
        )
    out.print(grid)
    plans = "all plans" if curve.exhaustive else "the plans that CODIP* finds"
    more = len(curve.points) - len(shown)
    omitted = f" {more:,} more are between them; --json prints all." if more else ""
    out.print(f"\nOf {plans}, those that no other plan beats in both ratios.{omitted}")
    out.print(escape(f"{curve.explanation[:1].upper()}{curve.explanation[1:]}."))


def _spaced(curve: Tradeoff) -> list[PlanRatios]:
    """Return all points of a short curve; of a long one the ends, the knee, and points at some distance from one another."""
    if len(curve.points) <= _MAX_POINTS:
        return list(curve.points)
    shown: list[PlanRatios] = []
    for point in curve.points:
        near = shown and math.dist(_ratios_of(point), _ratios_of(shown[-1])) < _MIN_DISTANCE
        if not near or point is curve.knee or point is curve.points[-1]:
            shown.append(point)
    return shown


def _ratios_of(point: PlanRatios) -> tuple[float, float]:
    return point.association_loss, point.information_exposure


def _grid(*headings: str) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in headings:
        grid.add_column(heading, overflow="fold")
    return grid

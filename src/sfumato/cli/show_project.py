"""Show a projection, and what other plans would do, on a terminal."""

from __future__ import annotations

import math
from pathlib import Path

from rich.markup import escape
from rich.table import Table as Grid
from rich.text import Text

from sfumato.anonymization.utility import percent
from sfumato.cli.show import console, show_findings
from sfumato.exact import written
from sfumato.plurals import count_of
from sfumato.projections.plans.dependence import PlanRatios
from sfumato.projections.plans.tradeoff_curve import Tradeoff
from sfumato.projections.projection import Projection
from sfumato.releases.kinds import table_name

_WARNED = 3
"""How many of the warnings are shown."""

_FEW = 20
"""So many points of the curve are all shown."""

_SPACE = 0.04
"""Points of the curve that are nearer to one another than this are not all shown."""

_ORIGINS = {
    "given": "as given",
    "knee": "the knee of the trade-off",
    "near": "the plan nearest to the knee of the trade-off",
    "least": "the least beside the other",
    "open": "not asked for",
}


def show_projection(found: Projection, folder: Path, report: Path | None) -> None:
    """Print the plan, what it loses and exposes, what holds in each table, and what to beware of."""
    out = console()
    source = f"{found.source.source}: " if found.source.source else ""
    out.print(
        f"[bold]{escape(source)}[/bold]{count_of(found.source.rows, 'row')}, "
        f"{count_of(len(found.plan.attributes), 'sensitive attribute')} in {count_of(len(found.plan), 'table')}"
    )
    for note in (*found.reading, *found.notes):
        out.print(f"[yellow]note[/yellow] {escape(note)}")
    out.print(_ratios(found))
    for number, release in enumerate(found.releases, 1):
        dropped = f", {count_of(release.suppressed, 'row')} suppressed" if release.suppressed else ""
        out.print(
            f"\n[bold]{table_name(number)}[/bold]: {escape(' + '.join(release.schema.sensitive))}  "
            f"({count_of(release.audit.groups.count, 'group')}, loss {percent(release.loss)}{dropped})"
        )
        show_findings(release.audit, out)
    if found.warnings:
        out.print(
            "\n[yellow]beware[/yellow] Attributes that depend on each other beyond chance stand in different tables: who "
            "knows how they depend can combine the tables."
        )
    for warned in found.warnings[:_WARNED]:
        (one, other), (u, w) = warned.attributes, warned.tables
        told = f"{one} ({table_name(u + 1)}) and {other} ({table_name(w + 1)})"
        out.print(f"       {told}: {percent(warned.share)} of what the lesser of them holds", markup=False)
    more = len(found.warnings) - _WARNED
    if more > 0:
        out.print(f"       and {count_of(more, 'weaker pair')}; the internal report tells more")
    out.print("\n[bold green]Both thresholds are met, and every principle holds in every table.[/bold green]")
    if report is not None:
        out.print(f"Wrote the internal report, which is not for publication, to {report}.", markup=False)
    out.print(
        f"Wrote the release to {folder}, verified as written; check it again with: sfumato verify {folder}", markup=False
    )


def _ratios(found: Projection) -> Grid:
    weighed = found.ratios
    grid = _grid("", "measured", "wanted", "")
    rows = [
        ("association loss Γ_α", weighed.association_loss, found.alpha),
        ("information exposure Γ_β", weighed.information_exposure, found.beta),
    ]
    for name, ratio, threshold in rows:
        grid.add_row(name, f"{ratio:.4f}", f"at most {written(threshold.limit)}", _ORIGINS[threshold.origin])
    return grid


def show_curve(curve: Tradeoff) -> None:
    """Print the plans worth a choice, from the least association lost to the least information exposed."""
    out = console()
    shown = _spaced(curve)
    wide = max(len(point.plan.label) for point in shown) > out.width - 40
    grid = _grid("", "loss Γ_α", "exposure Γ_β", "tables", "attributes of each" if wide else "plan")
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
    what = "all plans" if curve.exhaustive else "the plans that CODIP* finds"
    more = len(curve.points) - len(shown)
    beside = f" {more:,} more lie between them; --json tells all." if more else ""
    out.print(f"\nOf {what}, those that no other one beats in both ratios.{beside}")
    out.print(escape(f"{curve.explanation[:1].upper()}{curve.explanation[1:]}."))


def _spaced(curve: Tradeoff) -> list[PlanRatios]:
    """All points if they are few; else the ends, the knee, and of those between them some that are not all in one place."""
    if len(curve.points) <= _FEW:
        return list(curve.points)
    shown: list[PlanRatios] = []
    for point in curve.points:
        near = shown and math.dist(_ratios_of(point), _ratios_of(shown[-1])) < _SPACE
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

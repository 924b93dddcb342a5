"""Show results on a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table as Grid
from rich.text import Text

from sfumato.anonymization.joint_assessment import JointFeasibility
from sfumato.anonymization.loss_bounds.published_bound import bound_text
from sfumato.anonymization.release import Release
from sfumato.anonymization.utility import percent
from sfumato.audits.audit_result import Audit, Finding, finding_heading, measured_on, worst_shown
from sfumato.cli.streams import abandon_output
from sfumato.plurals import count_of, figure_of
from sfumato.visible_text import one_line, visible

_PLAIN_WIDTH = 140
"""The width of the output without a terminal."""

_NARROW = 110
"""On a narrower terminal a table would break words: each principle then gets its own lines."""


class _SafeConsole(Console):
    """A console that escapes control characters in texts, and ignores a closed pipe.

    After a closed pipe (`| head`) the exit status stays the verdict.
    """

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render, with control characters of texts escaped; the colours of the console are no text yet."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible(text), style, control)

    def on_broken_pipe(self) -> None:
        abandon_output()


def console() -> Console:
    """Return a console for standard output: as wide as the terminal, or COLUMNS, or a fixed width."""
    if sys.stdout is None:  # closed by the caller
        return Console(quiet=True)
    fixed = sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit()
    return _SafeConsole(width=None if fixed else _PLAIN_WIDTH, highlight=False, emoji=False)


def source_heading(source: str | None) -> str:
    """Return the markup of the name of a source at the beginning of a line."""
    return "" if source is None else f"[bold]{escape(one_line(source))}: [/bold]"


def show_notes(notes: Iterable[str], out: Console) -> None:
    """Print notes, one per line."""
    for note in notes:
        out.print(f"[yellow]note[/yellow] {escape(one_line(note))}")


def show_audit(result: Audit, worst: int, rows: int = 0) -> None:
    """Print the verdicts, and the worst groups of principles that fail, with some of their rows."""
    out = console()
    source = source_heading(result.table.source)
    people = "" if result.units is None else f", {result.units.total:,} {result.units.plural}"
    out.print(
        f"{source}{count_of(result.table.rows, 'row')}{people}, "
        f"{count_of(result.groups.count, 'group')} by {escape(_grouped_by(result))}"
    )
    show_notes(result.notes, out)
    show_findings(result, out)
    failing = [finding for finding in result if not finding.holds and worst]
    if failing:
        out.print("\n[bold]Worst groups[/bold]")
    for finding in failing:
        out.print(f"  {escape(finding_heading(finding))}")
        for group in finding.worst_groups(worst):
            if not finding.holds_in(group):
                out.print(f"    {escape(result.describe(finding, group))}")
                if rows:
                    out.print(Padding(_rows_grid(result.group_rows(group, rows)), (0, 0, 0, 6), expand=False))
    colour = "green" if result.holds else "red"
    out.print(f"\n[bold {colour}]{result.summary()}.[/bold {colour}]")


def show_joint(joint: JointFeasibility) -> None:
    """Print whether other groups can satisfy all principles together."""
    out = console()
    out.print(f"[bold]All together: {joint.verdict}[/bold]: {escape(one_line(joint.reason))}")
    for one in joint.nearest:
        out.print(f"  nearest: {escape(one_line(one.principle.label))}")


def _rows_grid(frame: Any) -> Grid:
    """Return rows of the original as a table."""
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in frame.column_names:
        grid.add_column(escape(one_line(name)), overflow="fold")
    for row in frame.to_pylist():
        grid.add_row(*(Text("" if cell is None else one_line(str(cell))) for cell in row.values()))
    return grid


def show_findings(result: Audit, out: Console) -> None:
    """Print the findings: as a table, or as lines on a narrow terminal."""
    if out.width >= _NARROW:
        out.print(_grid(result))
        return
    for finding in result:
        out.print(_lines(finding, result))


def show_worth(release: Release) -> None:
    """Print the utility of a release: its loss, the errors of answers from it, and the sizes of its groups."""
    utility = release.utility
    queries, sizes = utility.queries, utility.classes
    weighted = f" ({percent(utility.loss.ncp)} weighted)" if release.schema.weights else ""
    bound = "" if not release.bound else f", and {bound_text(release.bound)}"
    parts = [f"loss {percent(utility.loss.mean)}{weighted}{bound}"]
    if queries is not None and queries.mean is not None:
        parts.append(f"mean relative error of {len(queries.workload):,} count queries {percent(queries.mean)}")
    times = "" if sizes.average is None else f" ({figure_of(sizes.average, 3)} × k)"
    parts.append(f"{count_of(utility.groups, 'group')} of {figure_of(sizes.mean)} rows on average{times}")
    console().print(f"Utility: {'; '.join(parts)}.")


def _grouped_by(result: Audit) -> str:
    schema = result.table.schema
    names = f"column {schema.group}" if schema.group is not None else ", ".join(schema.quasi_identifiers) or "nothing"
    return one_line(names)


def _verdict(finding: Finding) -> Text:
    return Text("holds", "green") if finding.holds else Text("FAILS", "bold red")


def _grid(result: Audit) -> Grid:
    """Return all findings as a table; each part of a principle has its own row."""
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    grid.add_column("")
    for heading in ("principle", "on", "level", "wanted"):
        grid.add_column(heading, overflow="fold")
    for heading in ("groups in breach", "rows in breach"):
        grid.add_column(heading, justify="right", no_wrap=True)
    for finding in result:
        first, *rest = finding.measurement.parts
        grid.add_row(
            _verdict(finding),
            Text(finding.principle.label),
            Text(measured_on(finding)),
            Text(worst_shown(first)),
            Text(first.wanted),
            *map(Text, _breaches(finding, result)),
        )
        for part in rest:
            grid.add_row("", "", "", Text(worst_shown(part)), Text(part.wanted))
    return grid


def _lines(finding: Finding, result: Audit) -> Text:
    """Return one finding as lines, for a narrow terminal."""
    groups, rows = _breaches(finding, result)
    text = Text.assemble(_verdict(finding), "  ", (finding_heading(finding), "bold"))
    for part in finding.measurement.parts:
        text.append(f"\n       {worst_shown(part)}, wanted {part.wanted}")
    if not finding.holds:
        text.append(f"\n       in breach: groups {groups}, rows {rows}")
    return text


def _breaches(finding: Finding, result: Audit) -> tuple[str, str]:
    """Return the number of groups and rows that violate a principle, with their shares."""

    def share(count: int, whole: int) -> str:
        return f"{count:,} ({_percent(count, whole)})" if count else "0"

    groups = share(finding.violating_groups, result.groups.count)
    return groups, share(finding.violating_rows, result.table.rows)


def _percent(count: int, whole: int) -> str:
    """Return a share in percent; only an exact 0 or 1 is shown as 0 or 100."""
    if count == whole:
        return "100 %"
    percent = 100 * count / whole
    return "< 0.1 %" if percent < 0.1 else f"{min(percent, 99.9):.1f} %"

"""Show results on a terminal."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid
from rich.text import Text

from sfumato.auditing import Audit, Finding, finding_heading, level_shown

_PLAIN_WIDTH = 140
"""Columns to use where there is no terminal to ask."""


def console() -> Console:
    """A console for standard output: as wide as the terminal, or fixed where there is none."""
    return Console(width=None if sys.stdout.isatty() else _PLAIN_WIDTH, highlight=False)


def show_audit(found: Audit, worst: int) -> None:
    """Print the verdicts as a table, and the worst groups of what does not hold."""
    out = console()
    source = f"{found.table.source}: " if found.table.source else ""
    people = "" if found.groups.people is None else f", {found.groups.population:,} people"
    out.print(
        f"[bold]{escape(source)}[/bold]{found.table.rows:,} rows{people}, {found.groups.count:,} groups by "
        f"{escape(_grouped_by(found))}"
    )
    for note in found.table.notes:
        out.print(f"[yellow]note[/yellow] {escape(note)}")
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading, justify in (
        ("", "left"), ("principle", "left"), ("on", "left"), ("level", "left"),
        ("wanted", "left"), ("groups in breach", "right"), ("rows in breach", "right"),
    ):  # fmt: skip
        grid.add_column(heading, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for finding in found:
        grid.add_row(*_row(finding, found))
    out.print(grid)
    for finding in found:
        if finding.holds or not worst:
            continue
        out.print(f"\n[bold]Worst groups for {escape(finding_heading(finding))}[/bold]")
        for group in finding.worst_groups(worst):
            if not finding.measurement.group_holds[group]:
                out.print(f"  {escape(found.describe(finding, group))}")
    held = sum(finding.holds for finding in found)
    colour = "green" if found.holds else "red"
    out.print(f"\n[bold {colour}]{held} of {len(found)} principles hold.[/bold {colour}]")


def _grouped_by(found: Audit) -> str:
    schema = found.table.schema
    if schema.group is not None:
        return f"column {schema.group}"
    return ", ".join(schema.quasi_identifiers) or "nothing (no quasi-identifiers: all rows are one group)"


def _row(finding: Finding, found: Audit) -> list[Text]:
    parts = finding.measurement.parts
    verdict = Text("holds", "green") if finding.holds else Text("FAILS", "bold red")
    groups, rows = finding.violating_groups, finding.violating_rows
    shares = [
        f"{count:,} ({_percent(count, whole)})" if count else "0"
        for count, whole in ((groups, found.groups.count), (rows, found.table.rows))
    ]
    return [
        verdict,
        Text(finding.principle.label),
        Text(finding.attribute or ""),
        Text("\n".join(f"{part.name} {level_shown(part.worst)}" for part in parts)),
        Text("\n".join(part.wanted for part in parts)),
        *map(Text, shares),
    ]


def _percent(count: int, whole: int) -> str:
    """A share in percent that shows neither 0 nor 100 unless it is."""
    if count == whole:
        return "100 %"
    percent = 100 * count / whole
    return "< 0.1 %" if percent < 0.1 else f"{min(percent, 99.9):.1f} %"

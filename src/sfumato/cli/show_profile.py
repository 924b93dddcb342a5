"""Show a profile: every column with its suggested role, identifying combinations, and the requirements of the draft."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table as Grid
from rich.text import Text

from sfumato.cli.show import console, show_notes, source_heading
from sfumato.data.schema import Role
from sfumato.plurals import count_of
from sfumato.profiling import ColumnProfile, Profile
from sfumato.profiling.config_draft import rows_without_key
from sfumato.profiling.identifying_combinations import SMALL_GROUP, Combination
from sfumato.profiling.name_words import printable
from sfumato.profiling.table_profile import NO_ROLE

_COLOURS = {
    Role.IDENTIFIER: "red",
    Role.QUASI_IDENTIFIER: "yellow",
    Role.SENSITIVE: "magenta",
    Role.OTHER: "cyan",
    None: "dim",
}

_NARROW = 100
"""On a terminal with fewer characters per line, a table would break words, so each column has its own lines."""


def show_profile(profile: Profile, config: Path) -> None:
    """Print a profile, and the path of the config."""
    out = console()
    source = source_heading(profile.table.source)
    out.print(
        f"{source}{count_of(profile.rows, 'row')}, {count_of(len(profile.columns), 'column')}\n",
        soft_wrap=True,
    )
    show_notes(profile.table.notes, out)
    if out.width >= _NARROW:
        out.print(_grid(profile))
    else:
        for column in profile:
            out.print(_lines(column))
    _show_combinations(profile)
    undecided = profile.of_role(None)
    if undecided:
        out.print(
            f"\n{count_of(len(undecided), 'column')} [yellow]not published[/yellow] until you decide: no role could be "
            "justified."
        )
    for of in ("person", "household"):
        name = profile.key(of)
        if name is not None:
            facts = profile[name].facts
            out.print(
                f"Is {printable(name)} the number of a {of}? Its {facts.distinct:,} values recur in {facts.rows:,} rows; "
                f"the draft keeps all rows of one {of} together.",
                markup=False,
            )
    lacking = rows_without_key(profile)
    if lacking:
        out.print(
            f"Nothing can be released yet: {lacking}. Give each such row an identifier of its own, or delete it.",
            markup=False,
        )
    for name, twin in profile.equivalent_columns.items():
        out.print(f"{printable(name)} and {printable(twin)} determine each other: one of them can be dropped.", markup=False)
    out.print("\n[bold]Requirements[/bold]")
    for requirement in profile.requirements:
        if requirement.enabled:
            out.print(f"  {requirement.principle.label}: {printable(requirement.reason)}", markup=False)
    sensitive = profile.of_role(Role.SENSITIVE)
    if not sensitive:
        out.print("  No column looks sensitive, so k-anonymity is the only requirement.")
    left = len(sensitive) - sum(requirement.enabled for requirement in profile.requirements) + 1
    if sensitive and left > 0:
        out.print(f"  {left} of {count_of(len(sensitive), 'sensitive column')} have no principle yet.")
    out.print(
        f"\nWrote {config}. It is a draft: read it, make the decisions it lists, and then run\n"
        f"  sfumato audit {config}\n  sfumato anonymize {config}",
        markup=False,
    )


def _grid(profile: Profile) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    grid.add_column("column", overflow="fold")
    grid.add_column("kind")
    for heading in ("distinct", "missing", "unique"):
        grid.add_column(heading, justify="right", no_wrap=True)
    grid.add_column("role", no_wrap=True)
    grid.add_column("why", overflow="fold")
    for column in profile:
        facts = column.facts
        grid.add_row(
            Text(printable(column.name)),
            Text(str(column.kind or "-")),
            Text(f"{facts.distinct:,}"),
            Text(_share(facts.missing, facts.rows)),
            Text(_share(facts.unique, facts.rows)),
            Text(column.role or NO_ROLE, _COLOURS[column.role]),
            Text(column.suggestion.reason),
        )
    return grid


def _lines(column: ColumnProfile) -> Text:
    facts = column.facts
    return Text.assemble(
        (printable(column.name), "bold"),
        "  ",
        (column.role or NO_ROLE, _COLOURS[column.role]),
        f"\n    {column.suggestion.reason}\n    {column.kind or '-'}, {facts.distinct:,} distinct, "
        f"{_share(facts.missing, facts.rows)} missing, {_share(facts.unique, facts.rows)} unique",
    )


def _show_combinations(profile: Profile) -> None:
    out = console()
    worst = [combination for combination in profile.combinations if combination.unique]
    out.print("\n[bold]What singles people out[/bold]")
    if not worst:
        out.print(f"  no row is unique by up to three of the quasi-identifiers; {_together(profile.uniqueness)}")
        return
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 2), header_style="bold")
    for heading, side in (("rows unique", "right"), ("in groups < 5", "right"), ("by", "left")):
        grid.add_column(heading, justify=side)  # type: ignore[arg-type]
    for one in worst:
        grid.add_row(
            _share(one.unique, one.rows), _share(one.small, one.rows), Text(" + ".join(map(printable, one.columns)))
        )
    if len(profile.uniqueness.columns) > 3:
        whole = profile.uniqueness
        grid.add_row(
            _share(whole.unique, whole.rows), _share(whole.small, whole.rows), f"all {len(whole.columns)} quasi-identifiers"
        )
    out.print(grid)


def _together(whole: Combination) -> str:
    return (
        f"all together: {_share(whole.unique, whole.rows)} unique, {_share(whole.small, whole.rows)} in groups of fewer "
        f"than {SMALL_GROUP}"
    )


def _share(count: int, rows: int) -> str:
    if not count:
        return "0"
    return "100 %" if count == rows else "< 0.1 %" if 1000 * count < rows else f"{min(100 * count / rows, 99.9):.1f} %"

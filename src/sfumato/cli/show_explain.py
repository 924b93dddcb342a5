"""Show the explanation of a principle on a terminal, wide or narrow."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from sfumato._explain import Explanation, MeasuredExample
from sfumato.cli.show import console

_READABLE = 100
"""The largest width of text: longer lines are hard to read."""


def show_principles(summaries: Mapping[str, str]) -> None:
    """Print every principle with one sentence about it."""
    out = console()
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    grid.add_column(no_wrap=True, style="bold")
    grid.add_column(overflow="fold")
    for name, summary in summaries.items():
        grid.add_row(name, Text(summary))
    out.print(grid)
    out.print("\nMore about one of them:  sfumato explain dissimilarity")


def show_explanation(explanation: Explanation) -> None:
    """Print a principle: definition, example with verdicts and arithmetic, limits, how to request it, source."""
    out = console()
    words = explanation.words
    out.print(Text(explanation.kind.title, "bold"))
    if words.plain:
        _paragraph(out, words.plain)
    _section(out, "Definition", words.definition, words.body)
    measured = explanation.measured
    if measured is not None:
        _section(out, "Example", f"{measured.example.principle.label}:")
        out.print(Padding(_groups(measured), (0, 0, 1, 2), expand=False))
        for line in measured.lines():
            _paragraph(out, f"{', '.join(line.group.key)}: {line.arithmetic}.")
        if measured.population:
            _paragraph(out, measured.population)
    _section(out, "When groups are merged", explanation.merging)
    if words.not_protected:
        _section(out, "Limits", words.not_protected)
    _section(out, "Several rows per person", words.units)
    _section(out, "In a config")
    _verbatim(out, explanation.toml())
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", max_width=_READABLE)
    for name, meaning in words.parameters.items():
        grid.add_row(name, Text(meaning))
    out.print()
    out.print(Padding(grid, (0, 0, 0, 2), expand=False))
    _section(out, "In Python")
    _verbatim(out, explanation.python())
    if words.source:
        _section(out, "Source", words.source)


def _section(out: Console, heading: str, *paragraphs: str) -> None:
    out.print()
    out.print(Text(heading, "bold"))
    for paragraph in paragraphs:
        if paragraph:
            _paragraph(out, paragraph)


def _paragraph(out: Console, text: str) -> None:
    _verbatim(out, "\n".join(wrap(text, min(out.width, _READABLE) - 2, break_on_hyphens=False)))


def _verbatim(out: Console, text: str) -> None:
    """Print lines to be copied, never broken, whatever the width."""
    for line in text.splitlines():
        out.print(Text(f"  {line}"), soft_wrap=True)


def _groups(measured: MeasuredExample) -> Grid:
    """Return the example as a table: a row per group, with its secrets, its levels and the verdict."""
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in measured.example.key_names:
        grid.add_column(name, overflow="fold")
    grid.add_column(measured.example.sensitive, overflow="fold")
    for part in measured.parts:
        grid.add_column(f"{part.name}, {part.wanted}", overflow="fold")
    grid.add_column("", no_wrap=True)
    for line in measured.lines():
        verdict = Text("holds", "green") if line.holds else Text("FAILS", "bold red")
        grid.add_row(*line.group.key, line.group.shown, *line.levels, verdict)
    return grid

"""Show a principle explained on a terminal, wide or narrow."""

from __future__ import annotations

from textwrap import wrap

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from sfumato._explain import Explanation
from sfumato.cli.show import console
from sfumato.principles import PRINCIPLES, told

_READABLE = 100
"""Text is not set wider than this: longer lines are hard to read."""


def show_principles() -> None:
    """Print every principle with one line that says what it asks."""
    out = console()
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    grid.add_column(no_wrap=True, style="bold")
    grid.add_column(overflow="fold")
    for name, kind in PRINCIPLES.items():
        grid.add_row(name, Text(told(kind).plain))
    out.print(grid)
    out.print("\nMore about one of them:  sfumato explain dissimilarity")


def show_explanation(found: Explanation) -> None:
    """Print a principle: definition, example with verdicts and arithmetic, limits, how to ask for it, source."""
    out = console()
    words = found.words
    out.print(Text(found.kind.title, "bold"))
    _paragraph(out, words.plain)
    _section(out, "Definition", words.definition, words.body)
    _section(out, "Example", f"{found.example.principle.label}:")
    out.print(Padding(_groups(found), (0, 0, 1, 2), expand=False))
    for line in found.lines():
        _paragraph(out, f"{', '.join(line.group.key)}: {line.arithmetic}.")
    _section(out, "When groups are merged", found.merging)
    _section(out, "Limits", words.not_protected)
    _section(out, "In a config")
    _verbatim(out, found.toml())
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold", max_width=_READABLE)
    for name, meaning in words.parameters.items():
        grid.add_row(name, Text(meaning))
    out.print()
    out.print(Padding(grid, (0, 0, 0, 2), expand=False))
    _section(out, "In Python")
    _verbatim(out, found.python())
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
    """Lines to be copied: never broken, whatever the width."""
    for line in text.splitlines():
        out.print(Text(f"  {line}"), soft_wrap=True)


def _groups(found: Explanation) -> Grid:
    """The example: a row per group, with its secrets, its levels, what is wanted, and the verdict."""
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in found.example.quasi_identifiers:
        grid.add_column(name, overflow="fold")
    grid.add_column(found.example.sensitive, overflow="fold")
    for part in found.parts:
        grid.add_column(f"{part.name}, {part.wanted}", overflow="fold")
    grid.add_column("", no_wrap=True)
    for line in found.lines():
        verdict = Text("holds", "green") if line.holds else Text("FAILS", "bold red")
        grid.add_row(*line.group.key, ", ".join(map(str, line.group.secrets)), *line.levels, verdict)
    return grid

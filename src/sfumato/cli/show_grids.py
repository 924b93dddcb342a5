"""Show a frontier and a contour on a terminal: a table of ε by δ for each k."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table as Grid
from rich.text import Text

from sfumato.anonymization.feasibility import Contour, Frontier, FrontierCell
from sfumato.cli.show import console, show_notes, source_heading
from sfumato.data.table import Table
from sfumato.exact import written
from sfumato.plurals import count_of
from sfumato.visible_text import one_line

_STYLES = {
    "guaranteed": "green",
    "reached": "green",
    "one group": "yellow",
    "open": "yellow",
    "not reached": "yellow",
    "impossible": "red",
}

_WORDS = {
    "guaranteed": "a bound proves that groups exist (with --reach: but the method found none)",
    "reached": "the method found groups, at the loss shown (0: unchanged, 1: nothing left)",
    "one group": "only the table as one group is known to satisfy it",
    "not reached": "the method found no groups; other methods may",
    "open": "neither is known: a method may succeed (try --reach)",
    "impossible": "a certificate proves that no groups exist",
}
"""What each status means, in the order in which they are explained."""

_HIGH = 0.5
"""From this share of groups in breach, a cell of a contour is red."""


def show_frontier(frontier: Frontier, table: Table, notes: Sequence[str]) -> None:
    """Print one table per k, and what the words in it mean."""
    out = console()
    source = source_heading(table.source)
    out.print(f"{source}{count_of(table.rows, 'row')}")
    show_notes(notes, out)
    out.print(f"(ε,δ)^k-dissimilarity of {escape(one_line(frontier.attribute))}")
    for k in frontier.ks:
        grid = _grid(f"k = {k}", [written(delta) for delta in frontier.deltas])
        for epsilon in frontier.epsilons:
            grid.add_row(f"ε = {written(epsilon)}", *(_cell(frontier.cell(epsilon, delta, k)) for delta in frontier.deltas))
        out.print()
        out.print(grid)
    out.print()
    occurring = {cell.status for cell in frontier.cells}
    for status, words in _WORDS.items():
        if status in occurring:
            out.print(Text.assemble((status, _STYLES[status]), f": {words}"))


def show_contour(contour: Contour) -> None:
    """Print the share of groups in breach."""
    out = console()
    out.print(f"\nGroups in breach as the table is, of {count_of(contour.groups, 'group')}\n")
    grid = _grid("", [written(delta) for delta in contour.deltas])
    for epsilon, shares in zip(contour.epsilons, contour.shares, strict=True):
        cells = [Text(f"{100 * float(s):.1f} %", "red" if s >= _HIGH else "yellow" if s else "green") for s in shares]
        grid.add_row(f"ε = {written(epsilon)}", *cells)
    out.print(grid)


def _grid(corner: str, deltas: Sequence[str]) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    grid.add_column(corner, no_wrap=True)
    for delta in deltas:
        grid.add_column(f"δ = {delta}", overflow="fold")
    return grid


def _cell(cell: FrontierCell) -> Text:
    loss = "" if cell.loss is None else f" {cell.loss:.3f}"
    return Text(f"{cell.status}{loss}", _STYLES[cell.status])

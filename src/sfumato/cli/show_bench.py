"""Show what benchmarks of anonymizing measured."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from sfumato.auditing import count_of
from sfumato.cli.show import console


@contextmanager
def telling() -> Iterator[Callable[[str], None]]:
    """What is under way, as one line on a terminal; nothing where standard error is none."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    with Console(stderr=True).status("starting") as status:
        yield status.update


def show_runs(figures: Mapping[str, Any]) -> None:
    """Print one table: a line per setting and method, with the goal beside what was measured."""
    out = console()
    heads = [
        "setting",
        "rows",
        "method",
        "loss",
        "goal",
        "violating",
        "groups",
        "CPU s",
        "goal",
        "/ lexsort",
        "check s",
        "MB",
    ]
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for head in heads:
        grid.add_column(head, justify="left" if head in ("setting", "method", "violating") else "right", no_wrap=True)
    for one in figures["runs"]:
        start = [one["setting"], f"{one['rows']:,}", one["method"]]
        if "not served" in one:
            grid.add_row(*start, Text("not served", "yellow"))
            continue
        breached = (
            f"{one['violating groups']:,} ({count_of(one['violating rows'], 'row')})" if one["violating groups"] else "0"
        )
        grid.add_row(
            *start,
            _beside(one["loss"], one["goal: loss"], f"{one['loss']:.4f}"),
            _goal(one["goal: loss"]),
            Text(breached, "red" if one["violating groups"] else "green"),
            f"{one['groups']:,}",
            _beside(one["CPU s"], one["goal: CPU s"], f"{one['CPU s']:.2f}"),
            _goal(one["goal: CPU s"]),
            f"{one['CPU / lexsort']:,}",
            f"{one['publish and audit, CPU s']:.2f}",
            f"{one['peak memory, MB']:,}",
        )
    out.print(grid)
    out.print(
        "\nA loss is over rows and quasi-identifiers, from 0 to 1 (adult: as other tools normalise it). Memory: so far."
    )
    for name, wish in {one["setting"]: f"{one['source']}: {one['wish']}" for one in figures["runs"]}.items():
        out.print(f"{name}: {wish}", markup=False)
    for one in figures["growth"]:
        few, many = one["rows"]
        out.print(
            f"{one['setting']}, {one['method']}: {few:,} → {many:,} rows ({one['times the rows']} times) takes "
            f"{one['times the CPU time']} times the CPU time"
        )


def _goal(goal: float | None) -> str:
    return "" if goal is None else f"≤ {goal:g}"


def _beside(value: float, goal: float | None, text: str) -> Text:
    """A figure, coloured by whether it meets the goal."""
    return Text(text, "" if goal is None else "green" if value <= goal else "yellow")

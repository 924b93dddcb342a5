"""Show what benchmarks of anonymizing measured."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from sfumato.cli.show import console
from sfumato.plurals import count_of


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


def show_release(figures: Mapping[str, Any]) -> None:
    """Print one table: a line per file, wish and method; below it the seconds of each stage."""
    out = console()
    heads = ["rows", "wish", "method", "its own s", "wall s", "/ pyarrow", "CPU s", "/ pyarrow", "MB"]
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for head in heads:
        grid.add_column(head, justify="left" if head in ("wish", "method") else "right", no_wrap=True)
    most, room = figures["goals"]["/ pyarrow"], figures["goals"]["peak memory, MB"]
    for one in figures["runs"]:
        start = [f"{one['rows']:,}", one["wish"], one["method"]]
        if "not reached" in one:
            grid.add_row(*start, Text("not reached", "yellow"))
            continue
        grid.add_row(
            *start,
            f"{one['method, wall s']:.1f}",
            f"{one['wall s']:.2f}",
            _beside(one["wall / pyarrow"], most, f"{one['wall / pyarrow']:.1f}"),
            f"{one['CPU s']:.2f}",
            _beside(one["CPU / pyarrow"], most, f"{one['CPU / pyarrow']:.1f}"),
            _beside(one["peak memory, MB"], room, f"{one['peak memory, MB']:,}"),
        )
    out.print(grid)
    out.print(f"\nSeconds are beside the method's own. Goals: at most {most:g} times pyarrow, below {room:,} MB.\n")
    for one in figures["runs"]:
        stages = ", ".join(f"{stage} {seconds['wall']:.2f}" for stage, seconds in one["stages"].items())
        out.print(f"{one['rows']:,} rows, {one['wish']}, {one['method']}: {stages}", markup=False)
        out.print(
            f"  {one['source']}: {one['asks']}; pyarrow {one['pyarrow, wall s']:.2f}; warmed up, pyarrow is faster, and the "
            f"ratio {one['wall / pyarrow, warmed up']} (CPU {one['CPU / pyarrow, warmed up']})",
            markup=False,
        )
    for one in figures["growth"]:
        few, many = one["rows"]
        out.print(
            f"{one['wish']}, {one['method']}: {few:,} → {many:,} rows ({one['times the rows']} times) takes "
            f"{one['times the CPU time']} times the CPU time"
        )


def show_plan(figures: Mapping[str, Any]) -> None:
    """Print what a plan costs, a figure per line."""
    out = console()
    width = max(map(len, figures))
    for name, value in figures.items():
        if value is not None:
            out.print(Text(f"{name:<{width}}  {value:,}" if isinstance(value, int) else f"{name:<{width}}  {value}"))


def show_lattice(figures: Mapping[str, Any]) -> None:
    """Print one table: a line per table, wish and loss, with the goal beside what was measured."""
    out = console()
    heads = ["table", "rows", "wish", "loss", "least", "suppressed", "checked", "CPU s", "goal", "/ lexsort"]
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for head in heads:
        grid.add_column(head, justify="left" if head in ("table", "wish", "loss") else "right", no_wrap=True)
    for one in figures["runs"]:
        grid.add_row(
            one["source"],
            f"{one['rows']:,}",
            one["wish"],
            one["loss"],
            "none" if one["score"] is None else f"{one['score']:.6g}",
            f"{one['suppressed']:,}",
            f"{one['checked']:,} of {one['transformations']:,}",
            _beside(one["CPU s"], one["goal: CPU s"], f"{one['CPU s']:.3f}"),
            _goal(one["goal: CPU s"]),
            f"{one['CPU / lexsort']:,}",
        )
    out.print(grid)
    out.print("\nCPU seconds from encoded columns, after compilation; every least loss is proven.")
    for one in figures["growth"]:
        few, many = one["rows"]
        out.print(
            f"{one['source']}, {one['wish']}, {one['loss']}: {few:,} → {many:,} rows take {one['times the CPU time']} times "
            "the CPU time"
        )


def show_risk(figures: Mapping[str, Any]) -> None:
    """Print one table: a line per number of records and kind of consistency, with the goals beside what was measured."""
    out = console()
    heads = ["consistency", "records", "matching s", "risk s", "rules s", "CPU s", "goal", "/ lexsort", "MB", "goal"]
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for head in heads:
        grid.add_column(head, justify="left" if head == "consistency" else "right", no_wrap=True)
    for one in figures["runs"]:
        grid.add_row(
            one["consistency"],
            f"{one['records']:,}",
            f"{one['matching, CPU s']:.2f}",
            f"{one['risk, CPU s']:.2f}",
            f"{one['rules, CPU s']:.2f}",
            _beside(one["CPU s"], one["goal: CPU s"], f"{one['CPU s']:.2f}"),
            _goal(one["goal: CPU s"]),
            f"{one['CPU / lexsort']:,}",
            _beside(one["peak memory, MB"], one["goal: MB"], f"{one['peak memory, MB']:,}"),
            _goal(one["goal: MB"]),
        )
    out.print(grid)
    first = figures["runs"][0]
    out.print(
        f"\n{first['source']}: {first['individuals']:,} individuals, {first['attributes']} attributes. CPU seconds, after "
        "compilation; the rules are the best of 25, 50, 75 and 100 % of the cells of each record."
    )
    for one in figures["runs"]:
        least = ", ".join(f"{risk:.4g} with {k}" for k, risk in one["least risk"].items())
        proven = "exactly" if one["exact"] else "not proven"
        out.print(
            f"{one['records']:,} records by {one['consistency']}: risk {one['risk']:.4g}; least, {proven}: {least} cells"
        )
    for one in figures["growth"]:
        few, many = one["records"]
        out.print(
            f"{one['consistency']}: {few:,} → {many:,} records ({one['times the records']} times) takes "
            f"{one['times the CPU time']} times the CPU time"
        )


def _goal(goal: float | None) -> str:
    return "" if goal is None else f"≤ {goal:g}"


def _beside(value: float, goal: float | None, text: str) -> Text:
    """A figure, coloured by whether it meets the goal."""
    return Text(text, "" if goal is None else "green" if value <= goal else "yellow")

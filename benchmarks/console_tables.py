"""Print the figures of benchmarks as tables."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from benchmarks.measurement import Notify, silent
from sfumato.cli.show import console
from sfumato.plurals import count_of


@contextmanager
def progress_line() -> Iterator[Notify]:
    """Show the current step as one line if standard error is a terminal, and nothing otherwise."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield silent
        return
    with Console(stderr=True).status("starting") as status:
        yield status.update


def show_figures(figures: Mapping[str, Any]) -> None:
    """Print one figure per line."""
    out = console()
    width = max(map(len, figures))
    for name, value in figures.items():
        if value is not None:
            out.print(Text(f"{name:<{width}}  {value:,}" if isinstance(value, int) else f"{name:<{width}}  {value}"))


def show_runs(figures: Mapping[str, Any]) -> None:
    """Print the figures of each run, one per line."""
    for one in figures["runs"]:
        show_figures(one)


def show_shapes(figures: Mapping[str, Any]) -> None:
    """Print the figures of each setting and shape, and those of the audit."""
    show_runs(figures)
    show_figures(figures["audit"])


def show_anonymize(figures: Mapping[str, Any]) -> None:
    """Print a line per setting and method, with the goals."""
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
    grid = _grid(heads, ("setting", "method", "violating"))
    for one in figures["runs"]:
        start = [one["setting"], f"{one['rows']:,}", one["method"]]
        if "not supported" in one:
            grid.add_row(*start, Text("not supported", "yellow"))
            continue
        violating = (
            f"{one['violating groups']:,} ({count_of(one['violating rows'], 'row')})" if one["violating groups"] else "0"
        )
        grid.add_row(
            *start,
            _coloured(one["loss"], one["goal: loss"], f"{one['loss']:.4f}"),
            _goal(one["goal: loss"]),
            Text(violating, "red" if one["violating groups"] else "green"),
            f"{one['groups']:,}",
            _coloured(one["CPU s"], one["goal: CPU s"], f"{one['CPU s']:.2f}"),
            _goal(one["goal: CPU s"]),
            f"{one['CPU / lexsort']:,}",
            f"{one['publish and audit, CPU s']:.2f}",
            _megabytes(one["peak memory, MB"]),
        )
    out.print(grid)
    out.print(
        "\nThe loss is the mean over rows and quasi-identifiers, from 0 to 1 (adult: normalised as other tools do). "
        "The memory is the peak of the process so far."
    )
    for name, text in {one["setting"]: f"{one['source']}: {one['requirements']}" for one in figures["runs"]}.items():
        out.print(f"{name}: {text}", markup=False)
    _show_growth(out, figures["growth"])


def show_release(figures: Mapping[str, Any]) -> None:
    """Print a line per file, requirement and method, then the seconds of each stage."""
    out = console()
    heads = ["rows", "requirement", "method", "method s", "wall s", "/ pyarrow", "CPU s", "/ pyarrow", "MB"]
    grid = _grid(heads, ("requirement", "method"))
    most, room = figures["goals"]["/ pyarrow"], figures["goals"]["peak memory, MB"]
    for one in figures["runs"]:
        start = [f"{one['rows']:,}", one["requirements"], one["method"]]
        if "not reached" in one:
            grid.add_row(*start, Text("not reached", "yellow"))
            continue
        grid.add_row(
            *start,
            f"{one['method, wall s']:.1f}",
            f"{one['wall s']:.2f}",
            _coloured(one["wall / pyarrow"], most, f"{one['wall / pyarrow']:.1f}"),
            f"{one['CPU s']:.2f}",
            _coloured(one["CPU / pyarrow"], most, f"{one['CPU / pyarrow']:.1f}"),
            _coloured(one["peak memory, MB"], room, _megabytes(one["peak memory, MB"])),
        )
    out.print(grid)
    out.print(f"\nWall and CPU seconds exclude the method. Goals: at most {most:g} times pyarrow, at most {room:,} MB.\n")
    for one in figures["runs"]:
        stages = ", ".join(f"{stage} {seconds['wall']:.2f}" for stage, seconds in one["stages"].items())
        out.print(f"{one['rows']:,} rows, {one['requirements']}, {one['method']}: {stages}", markup=False)
        out.print(
            f"  {one['source']}: {one['principles']}; pyarrow {one['pyarrow, wall s']:.2f}; ratio to a warm "
            f"pyarrow, which is faster: {one['wall / pyarrow, warm']} (CPU {one['CPU / pyarrow, warm']})",
            markup=False,
        )
    _show_growth(out, figures["growth"])


def show_lattice(figures: Mapping[str, Any]) -> None:
    """Print a line per table, requirement and loss, with the goals."""
    out = console()
    heads = ["table", "rows", "requirement", "loss", "least", "suppressed", "checked", "CPU s", "goal", "/ lexsort"]
    grid = _grid(heads, ("table", "requirement", "loss"))
    for one in figures["runs"]:
        grid.add_row(
            one["source"],
            f"{one['rows']:,}",
            one["requirements"],
            one["loss"],
            "none" if one["score"] is None else f"{one['score']:.6g}",
            f"{one['suppressed']:,}",
            f"{one['checked']:,} of {one['transformations']:,}",
            _coloured(one["CPU s"], one["goal: CPU s"], f"{one['CPU s']:.3f}"),
            _goal(one["goal: CPU s"]),
            f"{one['CPU / lexsort']:,}",
        )
    out.print(grid)
    out.print("\nCPU seconds from encoded columns, after compilation; every least loss is proven to be optimal.")
    _show_growth(out, figures["growth"])


def show_wide(figures: Mapping[str, Any]) -> None:
    """Print a line per shape, k, method and size, and the growth from size to size."""
    out = console()
    heads = ["table", "k", "method", "rows", "loss", "violations", "CPU s", "method s", "other s", "µs / row", "/ lexsort"]
    grid = _grid(heads, ("table", "method"))
    for one in figures["runs"]:
        grid.add_row(
            one["shape"],
            f"{one['k']:,}",
            one["method"],
            f"{one['rows']:,}",
            f"{one['loss']:.4f}",
            f"{one['violations']:,}",
            f"{one['CPU s']:.2f}",
            f"{one['method, CPU s']:.2f}",
            f"{one['other, CPU s']:.2f}",
            f"{one['µs per row']:,.0f}",
            f"{one['CPU / lexsort']:,}",
        )
    out.print(grid)
    out.print("\nCPU seconds from columns to a verified release, after compilation.")
    for one in figures["growth"]:
        few, many = one["rows"]
        out.print(
            f"{one['shape']}, k = {one['k']:,}, {one['method']}: from {few:,} to {many:,} rows "
            f"({one['times the rows']} times), the CPU time grows {one['times the CPU time']} times",
            markup=False,
        )


def show_risk(figures: Mapping[str, Any]) -> None:
    """Print a line per number of records and kind of consistency, with the goals."""
    out = console()
    heads = ["consistency", "records", "matching s", "risk s", "rules s", "CPU s", "goal", "/ lexsort", "MB", "goal"]
    grid = _grid(heads, ("consistency",))
    for one in figures["runs"]:
        grid.add_row(
            one["consistency"],
            f"{one['records']:,}",
            f"{one['matching, CPU s']:.2f}",
            f"{one['risk, CPU s']:.2f}",
            f"{one['rules, CPU s']:.2f}",
            _coloured(one["CPU s"], one["goal: CPU s"], f"{one['CPU s']:.2f}"),
            _goal(one["goal: CPU s"]),
            f"{one['CPU / lexsort']:,}",
            _coloured(one["peak memory, MB"], one["goal: MB"], _megabytes(one["peak memory, MB"])),
            _goal(one["goal: MB"]),
        )
    out.print(grid)
    first = figures["runs"][0]
    out.print(
        f"\n{first['source']}: {first['individuals']:,} individuals, {first['attributes']} attributes. CPU seconds, after "
        "compilation; the rules are the best for 25, 50, 75 and 100 % of the cells of each record."
    )
    for one in figures["runs"]:
        least = ", ".join(f"{risk:.4g} with {k}" for k, risk in one["least risk"].items())
        proven = "exactly" if one["exact"] else "not proven"
        out.print(
            f"{one['records']:,} records by {one['consistency']}: risk {one['risk']:.4g}; least, {proven}: {least} cells"
        )
    _show_growth(out, figures["growth"])


def _show_growth(out: Console, growth: Sequence[Mapping[str, Any]]) -> None:
    """Print how CPU time grows, a line per pair of runs."""
    for one in growth:
        unit = "records" if "records" in one else "rows"
        name = ", ".join(value for value in one.values() if isinstance(value, str))
        few, many = one[unit]
        out.print(
            f"{name}: from {few:,} to {many:,} {unit} ({one[f'times the {unit}']} times), the CPU time grows "
            f"{one['times the CPU time']} times",
            markup=False,
        )


def _grid(heads: Sequence[str], left: Sequence[str]) -> Grid:
    """Return an empty table; the columns named in `left` are aligned to the left."""
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for head in heads:
        grid.add_column(head, justify="left" if head in left else "right", no_wrap=True)
    return grid


def _goal(goal: float | None) -> str:
    return "" if goal is None else f"≤ {goal:g}"


def _megabytes(peak: int | None) -> str:
    return "" if peak is None else f"{peak:,}"


def _coloured(value: float | None, goal: float | None, text: str) -> Text:
    """Return a figure, coloured by whether it meets the goal."""
    return Text(text, "" if goal is None or value is None else "green" if value <= goal else "yellow")

"""Options that several benchmarks share, and how their figures are printed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from sfumato.cli.streams import say

Command = TypeVar("Command", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
seed_option = click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Seed of everything that is random."
)


def figure_options(command: Command) -> Command:
    """Add the options of an experiment: the output folder, and which of tables and plots to make."""
    out = click.option(
        "--out",
        default=Path("docs/figures"),
        show_default=True,
        type=click.Path(path_type=Path, file_okay=False),
        help="The folder for tables and plots.",
    )
    quick = click.option("--quick", is_flag=True, help="Measure few points, as a test of the experiment.")
    tables_only = click.option("--tables-only", is_flag=True, help="Do not draw plots.")
    plots_only = click.option("--plots-only", is_flag=True, help="Do not measure; draw plots from existing tables.")
    return out(quick(tables_only(plots_only(command))))


def names_in(text: str) -> list[str]:
    """Split a list of names at its commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


def show(figures: Mapping[str, Any], as_json: bool, show_table: Callable[[Mapping[str, Any]], None]) -> None:
    """Print figures as JSON or as a table."""
    if as_json:
        say(json.dumps(figures, indent=2, ensure_ascii=False))
    else:
        show_table(figures)

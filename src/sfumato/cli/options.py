"""Options that several verbs have in common, each said once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

output_option = click.option(
    "--output", type=click.Path(path_type=Path), help="The folder to write; output.path of the config if not given."
)
seed_option = click.option(
    "--seed", type=click.IntRange(min=0), help="The same seed, the same release; method.seed if not given."
)
internal_option = click.option(
    "--internal",
    type=click.Path(path_type=Path),
    help="Also write the internal report, which is not for publication, to this file; output.internal if not given.",
)
force_option = click.option("--force", is_flag=True, help="Replace a release that is there already.")


def figure_options(command: Command) -> Command:
    """Where tables and pictures of an experiment go, and which of them are made."""
    out = click.option(
        "--out",
        default=Path("docs/figures"),
        show_default=True,
        type=click.Path(path_type=Path, file_okay=False),
        help="The folder that tables and pictures are written to.",
    )
    quick = click.option("--quick", is_flag=True, help="Few points: to see that it works.")
    tables_only = click.option("--tables-only", is_flag=True, help="Draw nothing.")
    pictures_only = click.option(
        "--pictures-only", is_flag=True, help="Measure nothing; draw from the tables that are there."
    )
    return out(quick(tables_only(pictures_only(command))))

"""`sfumato frontier`: for a grid of ε, δ and k, what is guaranteed, reached, impossible or open."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sfumato.cli.completion import config_files
from sfumato.cli.options import allow_code_option
from sfumato.cli.progress import progress_bar
from sfumato.cli.streams import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sfumato.anonymization.feasibility import Attempt, Frontier
    from sfumato.anonymization.feasibility.varied_requirement import VariedRequirement
    from sfumato.config import Config
    from sfumato.data.table import Table
    from sfumato.principles import Dissimilarity, Principle
    from sfumato.progress import Progress


@click.command(
    epilog="""\b
Example:
  sfumato frontier sfumato.toml
  sfumato frontier sfumato.toml --epsilon 0.05,0.1 --delta 0.7,0.8,0.9 --k 5,10 --reach --sample 5000
  sfumato frontier sfumato.toml --on income --reach
  sfumato frontier sfumato.toml --contour --json | jq .contour.shares"""
)
@click.argument("config", type=click.Path(path_type=Path), shell_complete=config_files)
@click.option(
    "--on", metavar="COLUMN", help='The sensitive column, or "whole" for all as one; by default that of the config.'
)
@click.option("--epsilon", metavar="LIST", help="Values of ε, separated by commas; values around the config's ε by default.")
@click.option("--delta", metavar="LIST", help="Values of δ.")
@click.option("--k", "k", metavar="LIST", help="Values of k.")
@click.option("--reach", is_flag=True, help="Try every cell that is possible with the config's method, and show its loss.")
@click.option("--sample", type=click.IntRange(min=1), help="Try on at most this many rows; on all rows by default.")
@click.option("--contour", is_flag=True, help="Also show the share of groups in breach in the table as it is.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@allow_code_option
def frontier(
    config: Path,
    on: str | None,
    epsilon: str | None,
    delta: str | None,
    k: str | None,
    reach: bool,
    sample: int | None,
    contour: bool,
    as_json: bool,
    allow_code: bool,
) -> None:
    """Show for a grid of ε, δ and k whether (ε,δ)^k-dissimilarity is guaranteed, impossible, open, or reached.

    CONFIG is a sfumato.toml. The grid surrounds its dissimilarity principle, unless options give other values. All other
    requirements of the config are held in every cell. Exit status: 0 done, 2 bad input.
    """
    from sfumato.anonymization.feasibility import frontier as assess
    from sfumato.anonymization.feasibility import vulnerability
    from sfumato.anonymization.feasibility.parameter_grid import grid_around
    from sfumato.anonymization.feasibility.varied_requirement import varied_requirement
    from sfumato.cli.show_grids import show_contour, show_frontier
    from sfumato.config import Config

    declared = Config.load(config, allow_code=allow_code)
    varied = varied_requirement(declared.requested_principles, declared.schema, on)
    grid = {"epsilon": _numbers(epsilon, "--epsilon"), "delta": _numbers(delta, "--delta"), "k": _numbers(k, "--k")}
    _check_grid(varied, grid, config)
    epsilons, deltas, ks = grid_around(varied.requirement, grid["epsilon"], grid["delta"], grid["k"])
    with progress_bar() as progress:
        progress("reading")
        table = declared.table()
        progress("assessing feasibility")
        cells = len(epsilons) * len(deltas) * len(ks)
        attempt = _attempt(declared, varied.others, table, max(ks), cells, sample, progress) if reach else None
        result = assess(table, None, epsilons, deltas, ks, varied.on, attempt, which="all", others=varied.others)
        breaches = vulnerability(table, None, epsilons, deltas, on=varied.on) if contour else None
    notes = _notes(result, table, sample if reach else None)
    if as_json:
        content: dict[str, Any] = {
            "source": table.source,
            "rows": table.rows,
            "method": declared.grouping_method.name if reach else None,
            "sample": min(sample, table.rows) if reach and sample is not None else None,
            "frontier": result.to_dict(),
            "contour": None if breaches is None else breaches.to_dict(),
            "notes": notes,
        }
        say(json.dumps(content, indent=2))
        return
    show_frontier(result, table, notes)
    if breaches is not None:
        show_contour(breaches)


def _numbers(text: str | None, option: str) -> list[str] | None:
    """Return the numbers of an option as they were written, without repetition."""
    if text is None:
        return None
    parts = list(dict.fromkeys(part.strip() for part in text.split(",")))
    if not all(parts):
        raise click.BadParameter(f"{text!r} has an empty entry; separate numbers with commas.", param_hint=option)
    return parts


def _check_grid(varied: VariedRequirement, grid: dict[str, list[str] | None], config: Path) -> None:
    """Raise an error if neither the config nor the options say what the grid is."""
    from sfumato.errors import ConfigError
    from sfumato.principles import Dissimilarity

    missing = " and ".join(f"--{name}" for name, values in grid.items() if values is None)
    if varied.requirement is None and missing:
        on = "" if varied.on is None else f" on {varied.on if isinstance(varied.on, str) else ' + '.join(varied.on)}"
        # a frontier varies the star; requirements of other shapes are only held
        shaped = " of the shape star" if any(isinstance(other, Dissimilarity) for other in varied.others) else ""
        raise ConfigError(
            f"the config requests no dissimilarity{on}{shaped}; {missing} must be given",
            remedy='Add [[principles]] with name = "dissimilarity", or give --epsilon, --delta and --k.',
            file=str(config),
            key="principles",
        )


def _attempt(
    declared: Config,
    others: Sequence[Principle],
    table: Table,
    largest: int,
    cells: int,
    sample: int | None,
    progress: Progress,
) -> Attempt:
    """Return a function that tries a cell with the config's method, with the other requirements, and reports progress."""
    from sfumato.anonymization.attempt import attempt_with
    from sfumato.config import MethodSection
    from sfumato.errors import ParameterError

    if sample is not None and sample < min(largest, table.rows):
        raise ParameterError(
            f"a sample of {sample:,} rows cannot contain a group of k = {largest:,}",
            remedy="Draw a larger sample, or request a smaller k.",
            key="sample",
            value=sample,
        )
    method = declared.method or MethodSection()
    attempt = attempt_with(table, declared.grouping_method, method.seed or 0, sample, others)
    tried = 0

    def attempt_with_progress(principle: Dissimilarity) -> float | None:
        nonlocal tried
        progress(f"trying {principle.label}", tried / cells)
        tried += 1
        return attempt(principle)

    return attempt_with_progress


def _notes(result: Frontier, table: Table, sample: int | None) -> list[str]:
    """Return what a reader should know."""
    notes = [*table.notes]
    if result.others:
        notes.append(f"held in every cell: {'; '.join(principle.label for principle in result.others)}")
    if result.impossible is not None:
        notes.append(result.impossible)
    if sample is not None and sample < table.rows:
        notes.append(f"what is reached, and at what loss, was tried on {sample:,} of {table.rows:,} rows")
    return notes

"""`sfumato frontier`: over a grid of ε, δ and k, what is guaranteed, reached, impossible or open."""

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
    from sfumato.anonymization.feasibility import Attempt
    from sfumato.config import Config
    from sfumato.data.table import Table
    from sfumato.principles import Dissimilarity
    from sfumato.progress import Progress


@click.command(
    epilog="""\b
Example:
  sfumato frontier sfumato.toml
  sfumato frontier sfumato.toml --epsilon 0.05,0.1 --delta 0.7,0.8,0.9 --k 5,10 --reach --sample 5000
  sfumato frontier sfumato.toml --contour --json | jq .contour.shares"""
)
@click.argument("config", type=click.Path(path_type=Path), shell_complete=config_files)
@click.option("--epsilon", metavar="LIST", help="Values of ε with commas between; around the config's wish if not given.")
@click.option("--delta", metavar="LIST", help="Values of δ.")
@click.option("--k", "k", metavar="LIST", help="Values of k.")
@click.option("--reach", is_flag=True, help="Try what the bounds leave open with the config's method, and tell the loss.")
@click.option("--sample", type=click.IntRange(min=1), help="Try on at most so many rows; on all if not given.")
@click.option("--contour", is_flag=True, help="Also tell which share of the groups breaches as the table is.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@allow_code_option
def frontier(
    config: Path,
    epsilon: str | None,
    delta: str | None,
    k: str | None,
    reach: bool,
    sample: int | None,
    contour: bool,
    as_json: bool,
    allow_code: bool,
) -> None:
    """Tell for a grid of ε, δ and k whether (ε,δ)^k-dissimilarity is guaranteed, impossible, open, or reached.

    CONFIG is a sfumato.toml. The grid is around its dissimilarity principle, or what you give. Exit status: 0 done, 2 bad
    input.
    """
    from sfumato.anonymization.feasibility import frontier as look
    from sfumato.anonymization.feasibility import vulnerability
    from sfumato.anonymization.feasibility.parameter_grid import grid_around
    from sfumato.cli.show_grids import show_contour, show_frontier
    from sfumato.config import Config
    from sfumato.principles import Dissimilarity

    declared = Config.load(config, allow_code=allow_code)
    wishes = [principle for principle in declared.requested_principles if isinstance(principle, Dissimilarity)]
    wish = wishes[0] if wishes else None
    given = {"epsilon": _listed(epsilon, "--epsilon"), "delta": _listed(delta, "--delta"), "k": _listed(k, "--k")}
    _refuse_no_wish(wish, given, config)
    epsilons, deltas, ks = grid_around(wish, given["epsilon"], given["delta"], given["k"])
    on = None if wish is None else wish.on
    with progress_bar() as progress:
        progress("reading")
        table = declared.table()
        progress("looking at what is possible")
        attempt = _attempt(declared, table, max(ks), sample, progress) if reach else None
        found = look(table, None, epsilons, deltas, ks, on, attempt)
        shown = vulnerability(table, None, epsilons, deltas, on=on) if contour else None
    notes = _notes(declared, wishes, table, sample if reach else None)
    if as_json:
        content: dict[str, Any] = {
            "source": table.source,
            "rows": table.rows,
            "method": declared.grouping_method.name if reach else None,
            "sample": min(sample, table.rows) if reach and sample is not None else None,
            "frontier": found.to_dict(),
            "contour": None if shown is None else shown.to_dict(),
            "notes": notes,
        }
        say(json.dumps(content, indent=2))
        return
    show_frontier(found, table, notes)
    if shown is not None:
        show_contour(shown)


def _listed(text: str | None, option: str) -> list[str] | None:
    """The numbers of an option, each as it was written, once."""
    if text is None:
        return None
    parts = list(dict.fromkeys(part.strip() for part in text.split(",")))
    if not all(parts):
        raise click.BadParameter(f"{text!r} holds an empty place; write numbers with commas between.", param_hint=option)
    return parts


def _refuse_no_wish(wish: Dissimilarity | None, given: dict[str, list[str] | None], config: Path) -> None:
    from sfumato.errors import ConfigError

    missing = " and ".join(f"--{name}" for name, values in given.items() if values is None)
    if wish is None and missing:
        raise ConfigError(
            f"the config asks for no dissimilarity, and there is no {missing}",
            remedy='Add [[principles]] with name = "dissimilarity", or give --epsilon, --delta and --k.',
            file=str(config),
            key="principles",
        )


def _attempt(declared: Config, table: Table, largest: int, sample: int | None, progress: Progress) -> Attempt:
    """Try a cell with the config's method, and say which."""
    from sfumato.anonymization.attempt import attempt_with
    from sfumato.config import MethodSection
    from sfumato.errors import ParameterError

    if sample is not None and sample < min(largest, table.rows):
        raise ParameterError(
            f"a sample of {sample:,} rows cannot hold a group of k = {largest:,}",
            remedy="Draw a larger sample, or ask for a smaller k.",
            key="sample",
            value=sample,
        )
    method = declared.method or MethodSection()
    attempt = attempt_with(table, declared.grouping_method, method.seed, sample)

    def told(principle: Dissimilarity) -> float | None:
        progress(f"trying {principle.label}")
        return attempt(principle)

    return told


def _notes(declared: Config, wishes: list[Dissimilarity], table: Table, sample: int | None) -> list[str]:
    """What a reader should know."""
    notes = [*table.notes]
    if wishes and len(declared.requested_principles) > 1:
        notes.append(f"only {wishes[0].label} is looked at, not the other principles of the config")
    if sample is not None and sample < table.rows:
        notes.append(f"what was reached, and at what loss, was tried on {sample:,} of {table.rows:,} rows")
    return notes

"""`sfumato init`: profile a table, and write a config to start from."""

from __future__ import annotations

import json
from pathlib import Path

import click

from sfumato.cli.streams import abandon_output


@click.command(
    epilog="""\b
Example:
  sfumato init people.csv
  sfumato init people.csv --output draft.toml --json | jq '.columns[] | {name, role, reason}'"""
)
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "--output",
    default=Path("sfumato.toml"),
    show_default=True,
    type=click.Path(path_type=Path),
    help="The config to write.",
)
@click.option("--force", is_flag=True, help="Replace a config that is there already.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def init(data: Path, output: Path, force: bool, as_json: bool) -> None:
    """Look at every column of a table, suggest its role and say why, and write a commented config that runs as it is.

    DATA is a table with a row per person. The config is a draft: a person must read it. Exit status: 0 written; 2 bad input.
    """
    from sfumato.cli.show_profile import show_profile
    from sfumato.config import Config, write_config
    from sfumato.errors import ConfigProblem
    from sfumato.profiling import draft, profile

    if output.exists() and not force:  # before the work, not after it
        raise ConfigProblem("there is something here already", remedy="Use --force, or --output.", file=str(output))
    found = profile(data)
    text = draft(found, data, output)
    Config.parse(text, output)
    write_config(output, text)
    if as_json:
        try:
            click.echo(json.dumps({"config": str(output), **found.to_dict()}, indent=2, ensure_ascii=False))
        except BrokenPipeError:
            abandon_output()
        return
    show_profile(found, output)

"""`sfumato verify`: check a release from its files."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from sfumato.cli.completion import config_files
from sfumato.cli.progress import progress_bar
from sfumato.cli.source import declared_in, named_source, projected_in, risk_in
from sfumato.cli.streams import say


@click.command(
    epilog="""\b
Example:
  sfumato verify release
  sfumato verify release --original people.csv --config sfumato.toml --json
  sfumato verify release --original sfumato.toml --config sfumato.toml"""
)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--original",
    metavar="SOURCE",
    help="The table it was made from: a file, or a config that names it (with its database, query or sheet).",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    shell_complete=config_files,
    help="What it is to have been made under: compare, and take your own functions.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
def verify(folder: Path, original: str | None, config: Path | None, as_json: bool) -> None:
    """Check a release from its written files: nothing was changed, and every principle holds as it says.

    FOLDER is what `sfumato anonymize`, `sfumato project` or `sfumato risk --disclose` wrote; of the last, --config also has
    the risk measured again. Exit status: 0 every check holds, 1 one does not, 2 it is no release.
    """
    from sfumato.cli.show import console
    from sfumato.releases.models import PROJECTED, WITHHELD
    from sfumato.releases.reader import Manifest
    from sfumato.verification._verify import verify as check

    schema, principles = declared_in(config)
    kind = Manifest.load(folder).kind
    project = projected_in(config) if kind == PROJECTED else None
    with progress_bar() as progress:
        progress("verifying")
        risk = risk_in(config) if kind == WITHHELD else None
        found = check(folder, named_source(original), schema=schema, principles=principles, project=project, risk=risk)
    if as_json:
        say(json.dumps(found.to_dict(), indent=2))
    else:
        console().print(repr(found), markup=False)
    sys.exit(0 if found.holds else 1)

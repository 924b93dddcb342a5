"""`sfumato verify`: check a release from its files."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from sfumato.cli.completion import config_files
from sfumato.cli.options import allow_code_option, engine_option, master_option
from sfumato.cli.progress import progress_bar
from sfumato.cli.source import (
    named_engine,
    named_source,
    requested_projection,
    requested_suppression,
    requested_terms,
    risk_assumptions,
)
from sfumato.cli.streams import say


@click.command(
    epilog="""\b
Example:
  sfumato verify release
  sfumato verify release --original people.csv --config sfumato.toml --json
  sfumato verify release --original sfumato.toml --config sfumato.toml
  sfumato verify release --published 'parquet.`/data/open/people`' --engine spark"""
)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--original",
    metavar="SOURCE",
    help="The original table: a file, or a config that names it (with its database, query or sheet).",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    shell_complete=config_files,
    help="The config to compare the release with. The checks use the functions that it names.",
)
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    help="The private key that was written with the release: it says whose row each published row is.",
)
@click.option(
    "--published",
    metavar="TABLE",
    help="The published rows as executors of Spark wrote them, to be checked in place of the data file: a table, or a "
    "folder such as parquet.`/data/open/people`. Needs the engine spark.",
)
@engine_option
@master_option
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
@allow_code_option
def verify(
    folder: Path,
    original: str | None,
    config: Path | None,
    key: Path | None,
    published: str | None,
    engine: str | None,
    master: str | None,
    as_json: bool,
    allow_code: bool,
) -> None:
    """Check a release from its written files: nothing was changed, and every principle holds as stated.

    FOLDER was written by `sfumato anonymize`, `sfumato project` or `sfumato risk --disclose`. For the last one, --config
    also measures the risk again. Checks that need more than was given are listed as not checked. Exit status: 0 no check
    fails, 1 one fails, 2 it is not a release.
    """
    from sfumato.cli.show import console
    from sfumato.engines import Spark
    from sfumato.releases.models import GROUPS, PROJECTED, WITHHELD
    from sfumato.releases.reader import Manifest
    from sfumato.verification._verify import verify as check

    schema, principles = requested_terms(config, allow_code)
    kind = Manifest.load(folder).kind
    if kind == WITHHELD:
        principles = None  # a withheld release has none; those of the config are for releases with groups
    project = requested_projection(config, allow_code) if kind == PROJECTED else None
    suppress = requested_suppression(config, allow_code) if kind == GROUPS else None
    chosen = named_engine(engine, master, original, config, allow_code)
    with progress_bar() as progress, chosen.running():
        progress("verifying")
        risk = risk_assumptions(config, allow_code) if kind == WITHHELD else None
        # the rows of a table of Spark stay on the cluster
        table = named_source(original, allow_code, as_frame=isinstance(chosen, Spark))
        result = check(
            folder,
            table,
            schema=schema,
            principles=principles,
            project=project,
            risk=risk,
            key=key,
            suppress=suppress,
            published=published,
            engine=chosen,
        )
    if as_json:
        say(json.dumps(result.to_dict(), indent=2))
    else:
        console().print(repr(result), markup=False)
    sys.exit(0 if result.holds else 1)

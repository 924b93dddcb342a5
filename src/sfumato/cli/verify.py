"""`sfumato verify`: check a release from its files."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from sfumato.engines import Engine
    from sfumato.verification.checks import Verification


@click.command(
    epilog="""\b
Example:
  sfumato verify release
  sfumato verify release --original people.csv --config sfumato.toml --json
  sfumato verify release --original sfumato.toml --config sfumato.toml
  sfumato verify release --published 'parquet.`/data/open/people`' --engine spark
  sfumato verify v1 v2 --original people1.csv --original people2.csv --key key1.json --key key2.json"""
)
@click.argument("folder", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--original",
    "originals",
    metavar="SOURCE",
    multiple=True,
    help="The original table: a file, or a config that names it (with its database, query or sheet). For several releases "
    "one each, in the same order.",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    shell_complete=config_files,
    help="The config to compare the release with. The checks use the functions that it names.",
)
@click.option(
    "--key",
    "keys",
    multiple=True,
    type=click.Path(path_type=Path),
    help="The private key that was written with the release: it says whose row each published row is. For several releases "
    "one each, in the same order.",
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
    folder: tuple[Path, ...],
    originals: tuple[str, ...],
    config: Path | None,
    keys: tuple[Path, ...],
    published: str | None,
    engine: str | None,
    master: str | None,
    as_json: bool,
    allow_code: bool,
) -> None:
    """Check a release from its written files: nothing was changed, and every principle holds as stated.

    FOLDER was written by `sfumato anonymize`, `sfumato project`, `sfumato anatomize` or `sfumato risk --disclose`. For the
    last one, --config also measures the risk again. Several folders are checked as a sequence of releases of one table, the
    first one first; see `sfumato anonymize --after`. Checks that need more than was given are listed as not checked. Exit
    status: 0 no check fails, 1 one fails, 2 it is not a release.
    """
    from sfumato.cli.show import console

    for name, given in (("--original", originals), ("--key", keys)):
        if len(given) > len(folder) or (given and len(folder) > 1 and len(given) != len(folder)):
            raise click.UsageError(f"There are {len(folder)} releases, and {name} is given {len(given)} times.")
    if published is not None and len(folder) > 1:
        raise click.UsageError("--published is for one release.")
    chosen = named_engine(engine, master, originals[0] if originals else None, config, allow_code)
    with progress_bar() as progress, chosen.running():
        progress("verifying")
        if len(folder) == 1:
            result = _one(folder[0], originals, keys, published, config, allow_code, chosen)
        else:
            result = _sequence(folder, originals, keys, config, allow_code, chosen)
    if as_json:
        say(json.dumps(result.to_dict(), indent=2))
    else:
        console().print(repr(result), markup=False)
    sys.exit(0 if result.holds else 1)


def _one(
    folder: Path,
    originals: tuple[str, ...],
    keys: tuple[Path, ...],
    published: str | None,
    config: Path | None,
    allow_code: bool,
    engine: Engine,
) -> Verification:
    """Check one release."""
    from sfumato.engines import Spark
    from sfumato.releases.models import ANATOMIZED, GROUPS, PROJECTED, WITHHELD
    from sfumato.releases.reader import Manifest
    from sfumato.verification._verify import verify as check

    schema, principles = requested_terms(config, allow_code)
    kind = Manifest.load(folder).kind
    if kind == WITHHELD:
        principles = None  # a withheld release has none; those of the config are for releases with groups
    return check(
        folder,
        # the rows of a table of Spark stay on the cluster
        named_source(originals[0] if originals else None, allow_code, as_frame=isinstance(engine, Spark)),
        schema=schema,
        principles=principles,
        project=requested_projection(config, allow_code) if kind == PROJECTED else None,
        risk=risk_assumptions(config, allow_code) if kind == WITHHELD else None,
        key=keys[0] if keys else None,
        suppress=requested_suppression(config, allow_code) if kind in (GROUPS, ANATOMIZED) else None,
        published=published,
        engine=engine,
    )


def _sequence(
    folders: tuple[Path, ...],
    originals: tuple[str, ...],
    keys: tuple[Path, ...],
    config: Path | None,
    allow_code: bool,
    engine: Engine,
) -> Verification:
    """Check several releases of one table."""
    from sfumato.verification._verify_sequence import verify_sequence

    schema, principles = requested_terms(config, allow_code)
    return verify_sequence(
        folders,
        [named_source(original, allow_code) for original in originals] or None,
        keys=keys or None,
        schema=schema,
        principles=principles,
        engine=engine,
    )

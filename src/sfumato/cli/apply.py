"""`sfumato apply`: put new rows into the groups of a release."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from sfumato.cli.completion import config_files
from sfumato.cli.options import allow_code_option
from sfumato.cli.progress import progress_bar
from sfumato.cli.source import named_source, requested_terms
from sfumato.cli.streams import say


@click.command(
    epilog="""\b
Example:
  sfumato apply release --data new.csv --output added.csv
  sfumato apply release/release.json --data new.csv --strict --json"""
)
@click.argument("folder", type=click.Path(path_type=Path), metavar="RELEASE")
@click.option("--data", required=True, metavar="SOURCE", help="The new rows: a file, or a config that names it.")
@click.option("--output", "-o", type=click.Path(path_type=Path), help="The CSV or Parquet file to write.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Shuffles the rows.")
@click.option("--strict", is_flag=True, help="Refuse if a row fits no group.")
@click.option("--insist", is_flag=True, help="Write even if a principle does not hold in release and new rows together.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    shell_complete=config_files,
    help="The config of the release, if it names distance functions.",
)
@allow_code_option
def apply(
    folder: Path, data: str, output: Path | None, seed: int, strict: bool, insist: bool, force: bool, as_json: bool,
    config: Path | None, allow_code: bool,
) -> None:  # fmt: skip
    """Apply the published transformation of a release to new rows.

    RELEASE is the folder of a release, or its release.json. Each row gets the cells of the most specific group that covers
    all its quasi-identifiers. Rows that fit no group are listed, and are not written; do not publish the list. Whoever has
    the release can tell which rows are new: add many at once. Exit status: 0 done; 1 a row fits no group and --strict is
    given, or a principle would not hold; 2 bad input.
    """
    from sfumato._apply import apply as apply_release
    from sfumato.cli.show import console

    schema, _ = requested_terms(config, allow_code)
    with progress_bar() as progress:
        progress("applying")
        result = apply_release(
            folder, named_source(data, allow_code), schema=schema, seed=seed, strict=strict, insist=insist
        )
    if output is not None:
        result.save(output, force)
    if as_json:
        unfit = [{"row": each.row, "group": each.group, "columns": list(each.columns)} for each in result.unfit]
        say(
            json.dumps(
                {"rows": result.data.num_rows, "unfit": unfit, "dropped": list(result.dropped), "holds": result.holds},
                indent=2,
            )
        )
    else:
        console().print(repr(result), markup=False)
        if output is not None:
            console().print(f"Wrote {output}.", markup=False)
    sys.exit(0 if result.holds else 1)

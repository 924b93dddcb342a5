"""`sfumato attack`: measure what attackers achieve against a release."""

from __future__ import annotations

from itertools import zip_longest
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
  sfumato attack release --original people.csv --key key.json
  sfumato attack release --original people.csv --attack homogeneity --json
  sfumato attack release --original people.csv --key key.json --with release-2024 --with-key key-2024.json
  sfumato attack other-tool.csv --original people.csv --config sfumato.toml"""
)
@click.argument("release", type=click.Path(path_type=Path))
@click.option(
    "--original",
    metavar="SOURCE",
    help="The original table: a file, or a config that names it (with its database, query or sheet).",
)
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    help="The private key that was written with the release: it says whose row each published row is.",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    shell_complete=config_files,
    help="The roles of the columns, if RELEASE is a table of another tool, and the functions that a release names.",
)
@click.option("--attack", "names", multiple=True, metavar="NAME", help="Run only this attack; may be repeated.")
@click.option(
    "--with",
    "earlier",
    multiple=True,
    type=click.Path(path_type=Path),
    help="An earlier release of the same original, for attacks that combine several; may be repeated.",
)
@click.option(
    "--with-key",
    "earlier_keys",
    multiple=True,
    type=click.Path(path_type=Path),
    help="The key of an earlier release, in the order of --with; may be repeated.",
)
@click.option("--sample", type=click.IntRange(min=1), help="Attack at most this many people. Default: 20,000.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@allow_code_option
def attack(
    release: Path,
    original: str | None,
    key: Path | None,
    config: Path | None,
    names: tuple[str, ...],
    earlier: tuple[Path, ...],
    earlier_keys: tuple[Path, ...],
    sample: int | None,
    as_json: bool,
    allow_code: bool,
) -> None:
    """Attack a release, and count how often the attackers are right.

    RELEASE is a folder that `sfumato anonymize` or `sfumato anatomize` wrote, or a CSV or Parquet file that another tool
    published, with the same people in the same order as the original. Compare each attack with its baselines. Most attacks
    need the original, and their figures must not be published. Exit status: 0 done, 2 bad input.
    """
    from sfumato.attacks._attack import attack as run
    from sfumato.attacks.attacked_release import SAMPLE
    from sfumato.cli.show_attack import show_attacks

    if len(earlier_keys) > len(earlier):
        raise click.UsageError("There are more keys (--with-key) than earlier releases (--with).")
    schema, principles = requested_terms(config, allow_code)
    with progress_bar() as progress:
        progress("reading")
        found = run(
            release,
            named_source(original, allow_code),
            attacks=names or None,
            schema=schema,
            principles=principles or (),
            key=key,
            earlier=tuple(zip_longest(earlier, earlier_keys)),
            sample=SAMPLE if sample is None else sample,
            progress=progress,
        )
    if as_json:
        say(found.to_json())
    else:
        show_attacks(found)

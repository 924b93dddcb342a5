"""`sfumato anonymize`: find groups in which the principles of a config hold, and write the release."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sfumato.cli.completion import repeatable_files
from sfumato.cli.options import (
    SEED_KEPT,
    allow_code_option,
    engine_option,
    force_option,
    internal_option,
    master_option,
    output_option,
    seed_option,
    strict_option,
)
from sfumato.cli.progress import progress_bar
from sfumato.cli.source import named_source, private_files, release_folder
from sfumato.cli.streams import say

if TYPE_CHECKING:
    from sfumato.anonymization.release import Release
    from sfumato.config import Config
    from sfumato.progress import Progress


@click.command(
    epilog="""\b
Example:
  sfumato anonymize sfumato.toml --output release --key key.json
  sfumato anonymize sfumato.toml --seed 7 --force --json | jq .principles
  sfumato anonymize release/release.json --data people.csv --key key.json --output again
  sfumato anonymize sfumato.toml --output v2 --key v2.json --after v1 --after-key v1.json"""
)
@click.argument("config", type=click.Path(path_type=Path), shell_complete=repeatable_files)
@click.option(
    "--data",
    metavar="SOURCE",
    help="The table to use instead of data.path; to repeat a release, a file or a config that names one.",
)
@output_option
@seed_option
@internal_option
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    help="Also write the private key, which contains the seed and whose row each published row is. Do not publish it. "
    "To repeat a release, the key that was written with it. Default: output.key.",
)
@click.option(
    "--resist",
    multiple=True,
    metavar="ATTACK",
    help="An attack that the release must provably withstand: minimality, by the method deal; ends, by intervals with "
    "public ends. Default: method.resist.",
)
@click.option(
    "--after",
    type=click.Path(path_type=Path),
    help="The last release of an earlier version of the table. Over all releases together, nobody's candidates are narrowed "
    "below the principles. Default: after.release.",
)
@click.option(
    "--after-key",
    type=click.Path(path_type=Path),
    help="The private key that was written with that release. Default: after.key.",
)
@click.option(
    "--counterfeits",
    metavar="SHARE",
    help="With --after: the largest share of rows that may be added although they stand for nobody. Default: 0.",
)
@engine_option
@master_option
@force_option
@strict_option
@click.option("--json", "as_json", is_flag=True, help="Print release.json.")
@allow_code_option
def anonymize(
    config: Path,
    data: str | None,
    output: Path | None,
    seed: int | None,
    internal: Path | None,
    key: Path | None,
    resist: tuple[str, ...],
    after: Path | None,
    after_key: Path | None,
    counterfeits: str | None,
    engine: str | None,
    master: str | None,
    force: bool,
    strict: bool,
    as_json: bool,
    allow_code: bool,
) -> None:
    """Find groups in which every principle holds, and write a release that is verified from its files.

    CONFIG is a sfumato.toml, or the release.json of a release to repeat from its original table and its key, byte for byte.
    The seed is not published, because anybody who knows it can test guesses of secrets. Exit status:
    0 written, and every principle holds, with or without warnings; 1 the principles cannot be reached, a repeated release
    differs, or --strict was given and there are warnings, and nothing was written; 2 bad input.
    """
    # Long because of its options; each step is one call.
    from sfumato.cli.release_warnings import refuse_warnings
    from sfumato.config import Config
    from sfumato.config.configured_release import configured_release
    from sfumato.engines import engine_of
    from sfumato.io.write_database import check_target
    from sfumato.releases.folder import free_target
    from sfumato.workers import available_workers

    declared = None if config.suffix == ".json" or config.is_dir() else Config.load(config, allow_code=allow_code)
    folder = release_folder(declared, config, output)
    sink = expected = None
    follows = _follows(declared, after, after_key, counterfeits)
    if declared is not None:
        declared.require_principles()
        declared = declared.resisting(resist)
        _ = declared.grouping_method
        sink = declared.sink
    # errors that need no data are raised before the work, not after it
    available_workers()
    free_target(folder, force, [config, data if declared is None else declared.data_source(data)])
    if declared is None and resist:
        raise click.UsageError("--resist: a release is repeated as its release.json states")
    repeated, key = (key, None) if declared is None else (None, key)
    report, key = private_files(declared, internal, key, folder, force)
    if sink is not None:
        check_target(*sink, force)
    database, table = sink or (None, None)
    # large arrays are stored where the release will be, unless the config names another folder
    place = folder.absolute().parent
    if declared is None:
        running = engine_of(engine, data, place if place.is_dir() else None, master=master)
    else:
        running = declared.chosen_engine(engine, data, place if place.is_dir() else None, master)
    with progress_bar() as progress, running.running():
        if declared is None:
            follows.pop("counterfeits", None)  # release.json states them
            release = _repeat(config, data, repeated, seed, allow_code, progress, follows)
            expected, form = config, _format_of(config)
        else:
            release, form = (
                configured_release(declared, data, seed, progress, follows),
                declared.output.format if declared.output else "csv",
            )
        if strict:
            refuse_warnings(release.warnings, release.private.original.source)
        written = release.save(
            folder,
            force=force,
            format=form,
            internal=report,
            key=key,
            database=database,
            table=table,
            expected=expected,
            progress=progress,
        )
    content = json.loads((written / "release.json").read_text(encoding="utf-8"))
    if as_json:
        say(json.dumps({"folder": str(folder), **content}, indent=2))
    else:
        _show(release, folder, report, key, sink, expected)


def _show(
    release: Release,
    folder: Path,
    report: Path | None,
    key: Path | None,
    sink: tuple[str, str] | None,
    expected: Path | None,
) -> None:
    from sfumato.cli.release_warnings import show_warnings
    from sfumato.cli.show import console, show_audit, show_worth
    from sfumato.io.database_uri import shown
    from sfumato.visible_text import one_line

    out = console()
    for note in (*release.private.notes, *release.notes, *release.exposure):
        out.print(f"note {one_line(note)}", markup=False)
    show_audit(release.audit, worst=0)
    show_worth(release)
    show_warnings(release.warnings)
    if report is not None:
        out.print(f"Wrote the internal report to {report}. Do not publish it.", markup=False)
    if key is not None:
        out.print(
            f"Wrote the key to {key}. Do not publish it: it contains the seed, and whose row each published row is.",
            markup=False,
        )
    if sink is not None:
        out.print(f"Wrote its rows to the table {sink[1]} of {shown(sink[0])}.", markup=False)
    counted = "" if release.audit.units is None or key is None else f" --original DATA --key {key}"
    out.print(
        f"Wrote the release to {folder}, verified as written; check it again with: sfumato verify {folder}{counted}",
        markup=False,
    )
    if key is not None:
        out.print(f"Measure what attackers achieve: sfumato attack {folder} --original DATA --key {key}", markup=False)
    if key is None and expected is None:
        out.print(f"The seed is not published; {SEED_KEPT}", markup=False)
    if release.audit.units is not None and key is None:
        out.print(
            f"No key was written (--key), so the {release.audit.units.plural} of its groups cannot be counted again later.",
            markup=False,
        )
    if release.after is not None and key is None and expected is None:
        out.print("No key was written (--key), so no later version can follow this release.", markup=False)
    if expected is not None:
        out.print(f"Its files are the same, byte for byte, as those that {expected} lists.", markup=False)


def _follows(declared: Config | None, after: Path | None, key: Path | None, counterfeits: str | None) -> dict[str, Any]:
    """Return which release is followed, as arguments of `sf.anonymize`: options in place of what the config declares."""
    found: dict[str, Any] = {} if declared is None else declared.follows
    if after is not None or key is not None:
        before, own = found.get("after", (None, None))
        folder = after or before
        if folder is None:
            raise click.UsageError("--after-key is given without --after.")
        # the key of the config belongs to the release of the config
        found["after"] = (folder, key or (own if after is None else None))
    return found if counterfeits is None else {**found, "counterfeits": counterfeits}


def _repeat(
    config: Path,
    data: str | None,
    key: Path | None,
    seed: int | None,
    allow_code: bool,
    progress: Progress,
    follows: Mapping[str, Any],
) -> Release:
    """Make the release that a release.json describes again. Functions are those of the config that `data` names, if any."""
    from sfumato.anonymization._replay import replay
    from sfumato.data.table import Table
    from sfumato.errors import ParameterError

    if data is None:
        raise ParameterError(
            "a release.json does not contain the path of the original table",
            remedy="Name it with --data.",
            file=str(config),
            key="data",
        )
    progress("reading")
    original = named_source(data, allow_code)
    schema = original.schema if isinstance(original, Table) else None
    return replay(config, original, schema=schema, key=key, seed=seed, progress=progress, **follows)


def _format_of(config: Path) -> str:
    """Return the data format of the release that is repeated."""
    from sfumato.releases.kinds import DATA_FILES
    from sfumato.releases.reader import Manifest

    files = Manifest.read(Path(config)).files
    return next((name for name, file in DATA_FILES.items() if file in files), "csv")

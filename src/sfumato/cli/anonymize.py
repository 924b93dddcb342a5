"""`sfumato anonymize`: find groups in which the principles of a config hold, and write the release."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sfumato.cli.completion import repeatable_files
from sfumato.cli.options import force_option, internal_option, output_option, seed_option
from sfumato.cli.progress import progress_bar, tell_first_use
from sfumato.cli.source import named_source, release_folder
from sfumato.cli.streams import say

if TYPE_CHECKING:
    from sfumato.anonymization.release import Release
    from sfumato.config import Config
    from sfumato.progress import Progress


@click.command(
    epilog="""\b
Example:
  sfumato anonymize sfumato.toml --output release
  sfumato anonymize sfumato.toml --seed 7 --force --json | jq .principles
  sfumato anonymize release/release.json --data people.csv --output again"""
)
@click.argument("config", type=click.Path(path_type=Path), shell_complete=repeatable_files)
@click.option(
    "--data",
    metavar="SOURCE",
    help="The table, in place of data.path; to repeat a release: a file, or a config that names one.",
)
@output_option
@seed_option
@internal_option
@force_option
@click.option("--json", "as_json", is_flag=True, help="Print what release.json says.")
def anonymize(
    config: Path,
    data: str | None,
    output: Path | None,
    seed: int | None,
    internal: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Find groups in which every principle holds, and write them as a release that was verified from its files.

    CONFIG is a sfumato.toml; or the release.json of a release that is to be repeated from its original table, byte for byte.
    Exit status: 0 written, and every principle holds; 1 the principles cannot be reached, or a release was repeated and
    came out different, and nothing was written; 2 bad input.
    """
    from sfumato.anonymization.save_release import free_target
    from sfumato.config import Config
    from sfumato.io.write_database import refuse_taken
    from sfumato.reports.report_files import free_page

    declared = None if config.suffix == ".json" or config.is_dir() else Config.load(config)
    folder = release_folder(declared, config, output)
    sink = expected = None
    if declared is not None:
        declared.wishes()
        sink = declared.sink
    # what is in the way is found before the work, not after it
    free_target(folder, force)
    report = internal if internal is not None or declared is None else declared.internal
    if report is not None:
        free_page(report, folder, force)
    if sink is not None:
        refuse_taken(*sink, force)
    database, table = sink or (None, None)
    with progress_bar() as progress:
        tell_first_use(progress)
        if declared is None:
            release, form = _repeated(config, data, seed, progress), _format_of(config)
            expected = config if seed is None else None
        else:
            release, form = _made(declared, data, seed, progress), declared.output.format if declared.output else "csv"
        written = release.save(
            folder,
            force=force,
            format=form,
            internal=report,
            database=database,
            table=table,
            expected=expected,
            progress=progress,
        )
    content = json.loads((written / "release.json").read_text(encoding="utf-8"))
    if as_json:
        say(json.dumps({"folder": str(folder), **content}, indent=2))
    else:
        _show(release, folder, report, sink, expected)


def _show(release: Release, folder: Path, report: Path | None, sink: tuple[str, str] | None, expected: Path | None) -> None:
    from sfumato.cli.show import console, show_audit, show_worth
    from sfumato.io.database_uri import shown

    out = console()
    for note in (*release.reading, *release.notes):
        out.print(f"note {note}", markup=False)
    show_audit(release.audit, worst=0)
    show_worth(release)
    if report is not None:
        out.print(f"Wrote the internal report, which is not for publication, to {report}.", markup=False)
    if sink is not None:
        out.print(f"Wrote its rows to the table {sink[1]} of {shown(sink[0])}.", markup=False)
    out.print(
        f"Wrote the release to {folder}, verified as written; check it again with: sfumato verify {folder}", markup=False
    )
    if expected is not None:
        out.print(f"Its files are the same, byte for byte, as those that {expected} lists.", markup=False)


def _made(declared: Config, data: str | None, seed: int | None, progress: Progress) -> Release:
    """The release that a config asks for."""
    from sfumato.anonymization._anonymize import anonymize as publish
    from sfumato.config import MethodSection

    method = declared.method or MethodSection()
    progress("reading")
    return publish(
        declared.table(data),
        None,
        declared.wishes(),
        method=declared.finder,
        seed=method.seed if seed is None else seed,
        suppress=method.suppress,
        progress=progress,
    )


def _repeated(config: Path, data: str | None, seed: int | None, progress: Progress) -> Release:
    """The release that a release.json tells of, made again."""
    from sfumato.anonymization._replay import replay
    from sfumato.errors import ParameterError

    if data is None:
        raise ParameterError(
            "a release.json does not say where the original table is",
            remedy="Name it with --data.",
            file=str(config),
            key="data",
        )
    progress("reading")
    return replay(config, named_source(data), seed=seed, progress=progress)


def _format_of(config: Path) -> str:
    """The format of the data of the release that is repeated."""
    from sfumato.releases.kinds import DATA_FILES
    from sfumato.releases.reader import Manifest

    files = Manifest.read(Path(config)).content["files"]
    return next((name for name, file in DATA_FILES.items() if file in files), "csv")

"""`sfumato anonymize`: find groups in which the principles of a config hold, and write the release."""

from __future__ import annotations

import json
from pathlib import Path

import click

from sfumato.cli.completion import config_files
from sfumato.cli.streams import abandon_output


@click.command(
    epilog="""\b
Example:
  sfumato anonymize sfumato.toml --output release
  sfumato anonymize sfumato.toml --seed 7 --force --json | jq .principles"""
)
@click.argument("config", type=click.Path(path_type=Path), shell_complete=config_files)
@click.option(
    "--output", type=click.Path(path_type=Path), help="The folder to write; output.path of the config if not given."
)
@click.option("--seed", type=click.IntRange(min=0), help="The same seed, the same release; method.seed if not given.")
@click.option(
    "--internal",
    type=click.Path(path_type=Path),
    help="Also write the internal report, which is not for publication, to this file; output.internal if not given.",
)
@click.option("--force", is_flag=True, help="Replace a release that is there already.")
@click.option("--json", "as_json", is_flag=True, help="Print what release.json says.")
def anonymize(
    config: Path, output: Path | None, seed: int | None, internal: Path | None, force: bool, as_json: bool
) -> None:
    """Find groups in which every principle holds, and write them as a release that was verified from its files.

    CONFIG is a sfumato.toml. Exit status: 0 written, and every principle holds; 1 the principles cannot be reached, and
    nothing was written; 2 bad input.
    """
    from sfumato.cli.show import console, show_audit, show_worth
    from sfumato.config import Config, MethodSection
    from sfumato.errors import ConfigProblem
    from sfumato.release import anonymize as publish
    from sfumato.release import free_target
    from sfumato.reporting import free_page

    declared = Config.load(config)
    wishes = declared.wishes()
    folder = declared.folder if output is None else output
    if folder is None:
        raise ConfigProblem(
            "the config does not say where the release goes",
            remedy='Write [output] with path = "release", or use --output.',
            file=str(config),
            key="output.path",
        )
    free_target(folder, force)  # before the work, not after it
    report = declared.internal if internal is None else internal
    if report is not None:
        free_page(report, folder, force)
    method = declared.method or MethodSection()
    release = publish(
        declared.table(),
        None,
        wishes,
        method=declared.finder,
        seed=method.seed if seed is None else seed,
        suppress=method.suppress,
    )
    written = release.save(
        folder, force=force, format="csv" if declared.output is None else declared.output.format, internal=report
    )
    if as_json:
        content = json.loads((written / "release.json").read_text(encoding="utf-8"))
        try:
            click.echo(json.dumps({"folder": str(folder), **content}, indent=2))
        except BrokenPipeError:
            abandon_output()
        return
    out = console()
    for note in (*release.reading, *release.notes):
        out.print(f"note {note}", markup=False)
    show_audit(release.audit, worst=0)
    show_worth(release)
    if report is not None:
        out.print(f"Wrote the internal report, which is not for publication, to {report}.", markup=False)
    out.print(
        f"Wrote the release to {folder}, verified as written; check it again with: sfumato verify {folder}", markup=False
    )

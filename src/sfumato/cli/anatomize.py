"""`sfumato anatomize`: publish people with exact quasi-identifiers, and the secrets of their groups apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sfumato.cli.completion import config_files
from sfumato.cli.options import (
    SEED_KEPT,
    allow_code_option,
    force_option,
    internal_option,
    key_option,
    output_option,
    seed_option,
    strict_option,
)
from sfumato.cli.progress import progress_bar
from sfumato.cli.source import private_files, release_folder
from sfumato.cli.streams import say

if TYPE_CHECKING:
    from sfumato.anatomy.anatomy_release import Anatomy
    from sfumato.config import Config


@click.command(
    epilog="""\b
Example:
  sfumato anatomize sfumato.toml --output release --key key.json
  sfumato anatomize sfumato.toml --plan "diagnosis,drugs|income" --output release --json"""
)
@click.argument("config", type=click.Path(path_type=Path), shell_complete=config_files)
@click.option("--data", metavar="SOURCE", help="The table, instead of data.path.")
@click.option(
    "--plan",
    metavar="PLAN",
    help='The tables of secrets, such as "a,b|c"; default: anatomy.plan, otherwise each attribute has a table of its own.',
)
@output_option
@seed_option
@internal_option
@key_option
@force_option
@strict_option
@click.option("--json", "as_json", is_flag=True, help="Print the content of release.json.")
@allow_code_option
def anatomize(
    config: Path,
    data: str | None,
    plan: str | None,
    output: Path | None,
    seed: int | None,
    internal: Path | None,
    key: Path | None,
    force: bool,
    strict: bool,
    as_json: bool,
    allow_code: bool,
) -> None:
    """Publish people with exact quasi-identifiers, and the secrets of their groups in tables of their own.

    CONFIG is a sfumato.toml. Everybody in the table can be recognized; which secret of a group is whose is protected by the
    principles, which must be about secrets alone. Exit status: 0 written, and every principle holds; 1 the principles
    cannot be reached, or --strict was given and there are warnings, and nothing was written; 2 bad input.
    """
    from sfumato.anatomy._anatomize import anatomize as publish
    from sfumato.anonymization.methods import AUTO
    from sfumato.cli.release_warnings import refuse_warnings
    from sfumato.config import Config, MethodSection
    from sfumato.errors import ColumnError, ParameterError
    from sfumato.releases.folder import free_target

    declared = Config.load(config, allow_code=allow_code)
    principles, method = declared.require_principles(), declared.method or MethodSection()
    _refuse_other_sections(declared)
    folder = release_folder(declared, config, output)
    free_target(folder, force, [config, declared.data_source(data)])
    report, key = private_files(declared, internal, key, folder, force)
    own_plan = None if declared.anatomy is None else declared.anatomy.plan
    with progress_bar() as progress:
        progress("reading")
        try:
            anatomy = publish(
                declared.table(data),
                None,
                principles,
                plan=own_plan if plan is None else plan,
                method=None if method.name == AUTO else declared.grouping_method,
                seed=method.seed if seed is None else seed,
                suppress=method.suppress,
                engine=declared.chosen_engine(data=data, folder=folder.absolute().parent),
                progress=progress,
            )
        except (ColumnError, ParameterError) as error:
            raise declared.locate("anatomy", error) if error.key == "plan" and plan is None else error from None
        if strict:
            refuse_warnings(anatomy.warnings, data)
        form = declared.output.format if declared.output is not None else "csv"
        written = anatomy.save(folder, force=force, format=form, internal=report, key=key, progress=progress)
    if as_json:
        content = json.loads((written / "release.json").read_text(encoding="utf-8"))
        say(json.dumps({"folder": str(folder), **content}, indent=2))
    else:
        _show(anatomy, folder, report, key)


def _refuse_other_sections(declared: Config) -> None:
    """Raise an error for what a config requests and an anatomy does not have."""
    from sfumato.errors import ConfigError

    requested = {
        "output.database": declared.sink is not None,
        "method.resist": bool(declared.method is not None and declared.method.resist),
        "after": declared.after is not None,
    }
    for key in (key for key, there in requested.items() if there):
        raise ConfigError(
            "an anatomy is written to files, follows no earlier release, and is not proved to withstand attacks that know "
            "the method",
            remedy=f"Remove {key}, or publish cells with sfumato anonymize.",
            file=None if declared.source is None else str(declared.source),
            key=key,
        )


def _show(anatomy: Anatomy, folder: Path, report: Path | None, key: Path | None) -> None:
    """Print the notes, the verdicts for each table of secrets, the errors of counts, and what to do next."""
    from sfumato.cli.release_warnings import show_warnings
    from sfumato.cli.show import console, show_findings
    from sfumato.plurals import count_of
    from sfumato.releases.exposure_models import share_text
    from sfumato.releases.kinds import table_name
    from sfumato.visible_text import one_line

    out = console()
    for note in (*anatomy.private.notes, *anatomy.notes):
        out.print(f"note {one_line(note)}", markup=False)
    people, groups = anatomy.people.num_rows, count_of(anatomy.audits[0].groups.count, "group")
    alone = share_text(anatomy.alone, people, "person", "people")
    out.print(
        f"{count_of(people, 'person', 'people')} in {groups}; nobody else has the exact values of {alone}", markup=False
    )
    for number, (block, audit) in enumerate(zip(anatomy.plan, anatomy.audits, strict=True), 1):
        out.print(f"\n{table_name(number)}: {one_line(' + '.join(block))}", markup=False)
        show_findings(audit, out)
    show_warnings(anatomy.warnings)
    errors = anatomy.count_errors()
    if errors.anatomy.median is not None and errors.generalized.median is not None:
        out.print(
            f"\nCounts over exact values and secrets are wrong by {100 * errors.anatomy.median:.3g} % (median); from cells "
            f"of the same groups by {100 * errors.generalized.median:.3g} %. These figures must not be published.",
            markup=False,
        )
    if report is not None:
        out.print(f"Wrote the internal report to {report}. Do not publish it.", markup=False)
    if key is not None:
        out.print(
            f"Wrote the key to {key}. Do not publish it: it contains the seed, and whose row each published row is.",
            markup=False,
        )
    else:
        out.print(f"The seed is not published; {SEED_KEPT}", markup=False)
    out.print(
        f"Wrote the release to {folder}, verified as written; check it again with: sfumato verify {folder}", markup=False
    )

"""`sfumato project`: publish several sensitive attributes in several tables, so that one does not reveal another."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    from sfumato.config import Config


@click.command(
    epilog="""\b
Example:
  sfumato project sfumato.toml --curve
  sfumato project sfumato.toml --alpha 0.2 --beta 0.5 --output release
  sfumato project sfumato.toml --plan "diagnosis,job|income" --output release --json"""
)
@click.argument("config", type=click.Path(path_type=Path), shell_complete=config_files)
@click.option("--data", metavar="SOURCE", help="The table, instead of data.path.")
@click.option("--alpha", metavar="A", help="The largest share of association that may be lost; default: project.alpha.")
@click.option("--beta", metavar="B", help="The largest share of information that may be exposed; default: project.beta.")
@click.option(
    "--plan", metavar="PLAN", help='The tables, such as "a,b|c"; default: project.plan, otherwise a plan is searched for.'
)
@click.option(
    "--discernibility",
    metavar="D",
    help="The largest sum of squared group sizes of each table; default: project.discernibility.",
)
@click.option("--curve", is_flag=True, help="Print the ratios of other plans, and write nothing.")
@output_option
@seed_option
@internal_option
@key_option
@force_option
@strict_option
@click.option("--json", "as_json", is_flag=True, help="Print the content of release.json; with --curve, the curve.")
@allow_code_option
def project(
    config: Path,
    data: str | None,
    alpha: str | None,
    beta: str | None,
    plan: str | None,
    discernibility: str | None,
    curve: bool,
    output: Path | None,
    seed: int | None,
    internal: Path | None,
    key: Path | None,
    force: bool,
    strict: bool,
    as_json: bool,
    allow_code: bool,
) -> None:
    """Publish several sensitive attributes in several tables, so that one does not reveal another.

    CONFIG is a sfumato.toml; its [project] section may contain the thresholds or the plan. Every table contains the
    quasi-identifiers and some of the sensitive attributes, and satisfies every principle. Thresholds that are not set are
    those of the knee of the trade-off. Exit status: 0 written, all requirements hold; 1 no plan meets the requirements, or
    --strict was given and there are warnings, and nothing was written; 2 invalid input.
    """
    from sfumato.config import Config, ProjectSection

    declared = Config.load(config, allow_code=allow_code)
    options = (declared.project or ProjectSection()).options()
    flags = {"alpha": alpha, "beta": beta, "plan": plan, "discernibility": discernibility}
    arguments = {key: value for key, value in flags.items() if value is not None}
    options |= arguments
    with _config_errors(declared, [key for key in options if key not in arguments]):
        if curve:
            _curve(declared, data, options, as_json)
        else:
            _publish(declared, config, data, options, output, seed, internal, key, force, strict, as_json)


@contextmanager
def _config_errors(declared: Config, keys: Sequence[str]) -> Iterator[None]:
    """Add the file and the key of the config to an error about a parameter that comes from it."""
    from sfumato.errors import ColumnError, ParameterError

    try:
        yield
    except (ColumnError, ParameterError) as error:
        raise declared.locate("project", error) if error.key in keys else error from None


def _curve(declared: Config, data: str | None, options: dict[str, Any], as_json: bool) -> None:
    from sfumato.cli.show_project import show_curve
    from sfumato.projections._project import measure_attributes
    from sfumato.projections.plans.tradeoff_curve import tradeoff
    from sfumato.projections.projection_document import curve_content

    with progress_bar() as progress:
        progress("reading")
        table = declared.table(data)
        progress("measuring how the attributes depend on one another")
        result = tradeoff(measure_attributes(table, options["sets"], options["harmless"])[1])
    if as_json:
        say(json.dumps(curve_content(result), indent=2))
    else:
        show_curve(result)


def _publish(
    declared: Config,
    config: Path,
    data: str | None,
    options: dict[str, Any],
    output: Path | None,
    seed: int | None,
    internal: Path | None,
    key: Path | None,
    force: bool,
    strict: bool,
    as_json: bool,
) -> None:
    # Long because of what a projection refuses; each step is one call.
    from sfumato.anonymization.methods import AUTO
    from sfumato.cli.release_warnings import refuse_warnings
    from sfumato.cli.show_project import show_projection
    from sfumato.config import MethodSection
    from sfumato.errors import ConfigError
    from sfumato.projections._project import project as publish
    from sfumato.releases.folder import free_target

    principles, method = declared.require_principles(), declared.method or MethodSection()
    if declared.sink is not None:
        raise ConfigError(
            "a projection is written to files, not to a database",
            remedy="Remove output.database and output.table, and load the files of the release.",
            file=str(config),
            key="output.database",
        )
    if method.resist:
        raise ConfigError(
            "several tables of the same people are not proved to withstand minimality attacks",
            remedy="Remove method.resist, or publish one table with sfumato anonymize.",
            file=str(config),
            key="method.resist",
        )
    folder = release_folder(declared, config, output)
    # Fail before the work if the target exists.
    free_target(folder, force, [declared.data_source(data)])
    report, key = private_files(declared, internal, key, folder, force)
    with progress_bar() as progress:
        progress("reading")
        projection = publish(
            declared.table(data),
            None,
            principles,
            **options,
            method=None if method.name == AUTO else declared.grouping_method,
            seed=method.seed if seed is None else seed,
            suppress=method.suppress,
            progress=progress,
        )
        if strict:
            refuse_warnings([warning for release in projection.releases for warning in release.warnings], data)
        form = declared.output.format if declared.output is not None else "csv"
        written = projection.save(folder, force=force, format=form, internal=report, key=key, progress=progress)
    if as_json:
        content = json.loads((written / "release.json").read_text(encoding="utf-8"))
        say(json.dumps({"folder": str(folder), **content}, indent=2))
    else:
        show_projection(projection, folder, report)
        kept = f"The key {key} contains it: do not publish it." if key is not None else SEED_KEPT
        say(f"The seed is not published. {kept[:1].upper()}{kept[1:]}")

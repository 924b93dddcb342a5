"""`sfumato risk`: measure what an attacker with a dictionary gains from the records of a config, and withhold values."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sfumato.cli.completion import config_files
from sfumato.cli.options import allow_code_option, key_option, output_option
from sfumato.cli.progress import progress_bar
from sfumato.cli.source import release_folder
from sfumato.cli.streams import say

if TYPE_CHECKING:
    from sfumato.disclosure import Risk
    from sfumato.disclosure._withhold import WithheldRelease


@click.command(
    epilog="""\b
Example:
  sfumato risk sfumato.toml
  sfumato risk sfumato.toml --report risk.html --worst 20
  sfumato risk sfumato.toml --disclose 5 --output release
  sfumato risk sfumato.toml --disclose 50% --per attribute --against worst --output release --json"""
)
@click.argument("config", type=click.Path(path_type=Path), shell_complete=config_files)
@click.option("--data", metavar="SOURCE", help="The records, instead of data.path.")
@click.option("--limit", metavar="R", help="The largest acceptable risk; by default risk.limit.")
@click.option(
    "--worst",
    default=5,
    show_default=True,
    type=click.IntRange(min=0),
    help="The number of records with the highest loss to list.",
)
@click.option(
    "--disclose",
    metavar="K",
    help="Disclose K values, or a share such as 50%, and withhold the others; with --output, by default risk.disclose.",
)
@click.option(
    "--per",
    type=click.Choice(["record", "attribute", "table"]),
    help="What K counts: values of each record, of each attribute, or in total; by default risk.per.",
)
@click.option(
    "--against",
    type=click.Choice(["prior", "worst"]),
    help="Minimize the mean risk under the prior, or the largest risk; by default the prior if there is one.",
)
@click.option(
    "--search",
    type=click.Choice(["best", "min-risk"]),
    help="Compare all choices, or take the fast algorithm MinRisk for any number of attributes; by default risk.search.",
)
@output_option
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    help="Also write the internal report to this file. It lists records: do not publish it.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Of the order in which the search sees the records, and of samples. Never published. Default: one that is drawn.",
)
@key_option
@click.option("--force", is_flag=True, help="Replace an existing release or report.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@allow_code_option
def risk(
    config: Path,
    data: str | None,
    limit: str | None,
    worst: int,
    disclose: str | None,
    per: str | None,
    against: str | None,
    search: str | None,
    output: Path | None,
    report: Path | None,
    seed: int | None,
    key: Path | None,
    force: bool,
    as_json: bool,
    allow_code: bool,
) -> None:
    """Measure what an attacker with a dictionary gains from the records, and withhold values to lower it.

    CONFIG is a sfumato.toml. Its [risk] section declares the dictionaries that an attacker may have and how sensitive the
    values are. Without it the table itself is the dictionary, and every value weighs 1. With --disclose the values with the
    least risk are disclosed, the others are withheld, and the release is written and verified. Exit status: 0 done, and the
    risk is within the limit; 1 the risk is above the limit, and no release was written; 2 bad input.
    """
    # Long because of its options; each step is one call.
    from sfumato.cli.show_risk import show_disclosure, show_risk
    from sfumato.config import Config
    from sfumato.config.risk_section import RiskSection
    from sfumato.disclosure import risk_of
    from sfumato.disclosure._withhold import withhold_in
    from sfumato.disclosure.risk_report.risk_page import risk_page
    from sfumato.disclosure.risk_report.risk_tables import risk_content
    from sfumato.releases.folder import free_page, free_target, write_page
    from sfumato.releases.row_key import is_key

    declared = Config.load(config, allow_code=allow_code)
    section = declared.risk or RiskSection()
    amount = disclose if disclose is not None else section.disclose if output is not None else None
    if amount is None and any(option is not None for option in (output, per, against, search)):
        raise click.UsageError("--output, --per, --against and --search apply to withholding: pass --disclose too.")
    folder = release_folder(declared, config, output) if amount is not None else None
    # an existing folder or report is an error before the work, not after it
    if folder is not None:
        free_target(folder, force, [declared.data_source(data)])
    target = None if report is None else free_page(report, folder, force)
    key = None if folder is None else key if key is not None else declared.key_file
    if key is not None:
        free_page(key, folder, force, is_key)
    at_most = limit if limit is not None else section.limit
    with progress_bar() as progress:
        progress("reading")
        setting = declared.setting(data, publish=amount is not None)
        found, made = risk_of(setting, limit=at_most, progress=progress), None
        progress("measuring each attribute")
        _ = found.by_attribute  # computed here, where the progress is shown
        if amount is not None:
            chosen = against or section.against
            made = withhold_in(
                setting,
                amount,
                per=per or section.per,
                against=chosen,
                search=search or section.search,
                seed=seed,
                limit=at_most,
                progress=progress,
            )
            if made.risk.holds is not False:
                made.save(
                    str(folder),
                    force=force,
                    format=declared.output.format if declared.output else "csv",
                    key=key,
                    progress=progress,
                )
        if target is not None:
            content = risk_content(found if made is None else made.risk, seed=seed or 0, progress=progress)
            progress("drawing the report")
            write_page(risk_page(content), target, private=True)
        if as_json:
            say(json.dumps(_content(found, made, folder, worst), indent=2))
    if not as_json:
        show_risk(found, worst)
        if made is not None:
            show_disclosure(made, folder)
        if report is not None:
            say(f"Wrote the internal report to {report}. It lists records: do not publish it.")
    sys.exit(1 if (found if made is None else made.risk).holds is False else 0)


def _content(found: Risk, made: WithheldRelease | None, folder: Path | None, worst: int) -> dict[str, Any]:
    """Return everything as plain data: the risk of the complete records, and of what is disclosed of them."""
    from sfumato.disclosure.risk_report.risk_tables import risk_content

    content = risk_content(found, curves=False, worst=worst)
    if made is not None:
        content["disclosure"] = {
            "folder": str(folder) if made.risk.holds is not False else None,
            "cells": made.cells,
            "per": made.per,
            "against": made.against,
            "withheld": made.withheld_cells,
            "generalized": made.generalized_cells,
            "short": made.rule.short,
            "exact": made.rule.exact,
            "gap": made.rule.gap,
            "how": made.rule.how,
            "risk": risk_content(made.risk, curves=False, worst=worst),
        }
    return content

"""`sfumato report`: draw the report of a release again; with the original, the internal report."""

from __future__ import annotations

from pathlib import Path

import click

from sfumato.cli.completion import config_files
from sfumato.cli.options import allow_code_option
from sfumato.cli.source import named_source, requested_terms


@click.command(
    epilog="""\b
Example:
  sfumato report release --output report.html
  sfumato report release --original people.csv --config sfumato.toml --output internal.html"""
)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--output", required=True, type=click.Path(path_type=Path), help="The file to write, outside the release.")
@click.option(
    "--original",
    metavar="SOURCE",
    help="The original, as a file or a config that names it: draw the internal report.",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    shell_complete=config_files,
    help="The config of the release: compare it, and use the functions that it names.",
)
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    help="The private key that was written with the release, for the attacks in the internal report.",
)
@click.option("--force", is_flag=True, help="Replace an existing report.")
@allow_code_option
def report(
    folder: Path,
    output: Path,
    original: str | None,
    config: Path | None,
    key: Path | None,
    force: bool,
    allow_code: bool,
) -> None:
    """Draw the report of a release again, as one HTML file that opens without a network.

    FOLDER is a release folder; it is verified first. Without --original, the report is drawn from release.json alone, and
    may be published. With it, the internal report is drawn, which also contains figures of the original and must not be
    published; `sfumato project --internal` draws that of several tables. Exit status: 0 written; 2 FOLDER is not a valid
    release, or was not made from this original.
    """
    from sfumato._report import report as draw_report
    from sfumato.cli.show import console
    from sfumato.releases.folder import free_page, write_page

    schema, principles = requested_terms(config, allow_code)
    target = free_page(output, folder, force)
    text = draw_report(folder, named_source(original, allow_code), schema=schema, principles=principles, key=key)
    write_page(text, target, private=original is not None)
    kind = "report" if original is None else "internal report, which must not be published,"
    console().print(f"Wrote the {kind} to {output}.", markup=False)

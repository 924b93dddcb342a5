"""`sfumato init`: profile a table, and write a config to start from."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import click

from sfumato.cli.streams import say


@click.command(
    epilog="""\b
Example:
  sfumato init people.csv
  sfumato init sqlite:///people.db --table people
  sfumato init people.csv --output draft.toml --json | jq '.columns[] | {name, role, reason}'"""
)
@click.argument("data")
@click.option("--query", help="The SQL query to read from a database.")
@click.option("--table", help="The table to read from a database.")
@click.option("--sheet", help="The sheet to read from an Excel file. Default: the first.")
@click.option(
    "--output",
    default=Path("sfumato.toml"),
    show_default=True,
    type=click.Path(path_type=Path),
    help="The config to write.",
)
@click.option("--force", is_flag=True, help="Replace an existing config.")
@click.option("--hierarchies", is_flag=True, help="Also write hierarchy files to fill in, for columns with many values.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def init(
    data: str,
    query: str | None,
    table: str | None,
    sheet: str | None,
    output: Path,
    force: bool,
    hierarchies: bool,
    as_json: bool,
) -> None:
    """Examine every column of a table, suggest its role with a reason, and write a commented config that runs as it is.

    DATA is a table about people: a file, or a database URI with a query or a table. The config is a draft: a person must
    read it. Columns for which no role can be justified are not published until that person decides. Exit status: 0 written;
    2 bad input.
    """
    from sfumato.cli.show_profile import show_profile
    from sfumato.config import Config, write_config
    from sfumato.data.schema import Schema
    from sfumato.errors import ConfigError
    from sfumato.io.database_uri import expanded, is_uri
    from sfumato.io.missing_files import refuse_missing
    from sfumato.io.read_table import read_table
    from sfumato.profiling import draft, profile
    from sfumato.profiling.config_draft import hierarchy_skeletons

    source = expanded(data, os.environ)
    if not is_uri(source):
        refuse_missing(source)
    if os.path.lexists(output):  # before the work, not after it
        if not force:
            raise ConfigError("the file exists", remedy="Use --force, or --output.", file=str(output))
        if not _is_config(output):
            raise ConfigError(
                "the existing file is not a config, and is not replaced",
                remedy="Name a new file, or remove it.",
                file=str(output),
            )
    result = profile(read_table(source, Schema(), query=query, table=table, sheet=sheet))
    text = draft(result, data, output, query=query, table=table)
    Config.parse(text, output)
    write_config(output, text)
    skeletons = hierarchy_skeletons(result) if hierarchies else {}
    written = {str(output.parent / name): _write_new(output.parent / name, text) for name, text in skeletons.items()}
    if as_json:
        content = {"config": str(output), **({"hierarchies": written} if hierarchies else {}), **result.to_dict()}
        say(json.dumps(content, indent=2, ensure_ascii=False))
        return
    show_profile(result, output)
    for path, new in written.items():
        say(f"{'Wrote' if new else 'Kept'} {path}: fill in its labels, and name it in the config.")


def _write_new(path: Path, text: str) -> bool:
    """Write a file and return True; a file that exists is kept, because a person may have filled it in."""
    if os.path.lexists(path):
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return True


def _is_config(path: Path) -> bool:
    """Return whether a file looks like a config, perhaps an invalid one."""
    try:
        return not path.is_symlink() and "data" in tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return False

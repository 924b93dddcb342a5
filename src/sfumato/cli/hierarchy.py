"""`sfumato hierarchy`: write the hierarchy file of a column, built from its values or to be filled in."""

from __future__ import annotations

import os
import sys
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from sfumato.cli.streams import say


@click.command(
    epilog="""\b
Example:
  sfumato hierarchy people.csv town --output town.csv
  sfumato hierarchy people.csv zip --builder "prefix = [3, 2, 1]" --output zip.csv
  sfumato hierarchy people.csv diagnosis --builder "icd = 9" """
)
@click.argument("data")
@click.argument("column")
@click.option("--builder", help="A builder as in a config, such as 'prefix = [3, 2]'. Default: labels to fill in.")
@click.option("--levels", default=1, show_default=True, type=click.IntRange(1), help="The number of labels to fill in.")
@click.option("--query", help="The SQL query to read from a database.")
@click.option("--table", help="The table to read from a database.")
@click.option("--sheet", help="The sheet to read from an Excel file. Default: the first.")
@click.option("--output", "-o", type=click.Path(path_type=Path), help="The file to write. Default: print it.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
def hierarchy(
    data: str,
    column: str,
    builder: str | None,
    levels: int,
    query: str | None,
    table: str | None,
    sheet: str | None,
    output: Path | None,
    force: bool,
) -> None:
    """Write the hierarchy file of a column: a line leaf;level1;…;* for each of its values.

    DATA is a file, or a database URI with a query or a table; COLUMN is the name of one of its columns. Without a builder
    the labels are empty, and a person fills them in. The file contains every value of the column: do not publish it.
    Exit status: 0 written; 2 bad input.
    """
    from sfumato.data.column_encoder import build_hierarchy
    from sfumato.data.schema import Kind, Schema
    from sfumato.data.skeletons import hierarchy_skeleton
    from sfumato.errors import ConfigError
    from sfumato.io.atomic_replace import write_file
    from sfumato.io.database_uri import expanded
    from sfumato.io.files_in_use import refuse_in_use
    from sfumato.io.read_table import read_table
    from sfumato.serialization import hierarchy_of

    source = expanded(data, os.environ)
    if output is not None:
        if os.path.lexists(output) and not force:
            raise ConfigError("the file exists", remedy="Use --force, or --output.", file=str(output))
        refuse_in_use(output, [source])
    section = None if builder is None else _section(builder)
    tree = None if section is None else hierarchy_of(section, "--builder")
    # codes such as 02139 and 250.0 must stay as they are written; builders of numbers read them from the text
    codes = section is not None and not section.keys() & {"intervals", "ranges", "quantiles", "consecutive"}
    schema = Schema(kinds={column: Kind.CATEGORICAL} if codes else {})
    values = read_table(source, schema, query=query, table=table, sheet=sheet).column(column)
    if tree is None:
        text = hierarchy_skeleton([values.labels(code) for code in range(values.size)], levels)
    else:
        text = build_hierarchy(tree, values).to_csv()
    if output is None:
        say(text.rstrip("\n"), as_it_is=not sys.stdout.isatty())  # a file must contain the values as they are
    else:
        write_file(output, lambda file: file.write(text.encode()))


def _section(builder: str) -> dict[str, Any]:
    """Return a builder as plain data, as a config would contain it."""
    from sfumato.errors import ConfigError

    try:
        section: dict[str, Any] = tomllib.loads(f"builder = {{ {builder} }}", parse_float=Decimal)["builder"]
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"the builder is not valid TOML: {error}", remedy="Write it as in a config: prefix = [3, 2].", key="--builder"
        ) from error
    return section

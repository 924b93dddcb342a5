"""`sfumato audit`: measure the principles of a config on its table."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from sfumato.cli.completion import config_files
from sfumato.cli.options import allow_code_option, engine_option, master_option
from sfumato.cli.progress import progress_bar
from sfumato.cli.streams import say


@click.command(
    epilog="""\b
Example:
  sfumato audit sfumato.toml
  sfumato audit sfumato.toml --engine stream
  sfumato audit sfumato.toml --json | jq '.principles[] | select(.holds | not)'"""
)
@click.argument("config", type=click.Path(path_type=Path), shell_complete=config_files)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option(
    "--worst", default=1, show_default=True, type=click.IntRange(min=0), help="Worst groups to list per principle."
)
@engine_option
@master_option
@allow_code_option
def audit(config: Path, as_json: bool, worst: int, engine: str | None, master: str | None, allow_code: bool) -> None:
    """Measure which principles hold in a table, to what level, and where they fail.

    CONFIG is a sfumato.toml. Exit status: 0 every principle holds, 1 one does not, 2 bad input.
    """
    from sfumato._audit import audit as measure
    from sfumato._audit import audit_spark
    from sfumato.cli.show import show_audit
    from sfumato.config import Config
    from sfumato.engines import Spark

    declared = Config.load(config, allow_code=allow_code)
    principles = declared.require_principles()
    chosen = declared.chosen_engine(engine, master=master)
    with chosen.running():
        with progress_bar() as progress:
            # the rows of a table of Spark stay on the cluster
            frame = declared.spark_frame() if isinstance(chosen, Spark) else None
            if frame is not None:
                progress("measuring")
                result = audit_spark(frame[0], declared.schema, principles, frame[1])
            else:
                progress("reading")
                table = declared.table()
                progress("measuring")
                result = measure(table, None, principles)
        # notes and worst groups are found while they are shown
        if as_json:
            say(result.to_json(worst))
        else:
            show_audit(result, worst)
    sys.exit(0 if result.holds else 1)

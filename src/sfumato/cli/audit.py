"""`sfumato audit`: measure the principles of a config on its table."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sfumato.cli.completion import config_files
from sfumato.cli.options import allow_code_option, engine_option, master_option
from sfumato.cli.progress import progress_bar
from sfumato.cli.streams import say

if TYPE_CHECKING:
    from sfumato.anonymization import JointFeasibility
    from sfumato.audits.audit_result import Audit
    from sfumato.config import Config
    from sfumato.progress import Progress


@click.command(
    epilog="""\b
Example:
  sfumato audit sfumato.toml
  sfumato audit sfumato.toml --engine stream
  sfumato audit sfumato.toml --possible --worst 3 --rows 5
  sfumato audit sfumato.toml --json | jq '.principles[] | select(.holds | not)'"""
)
@click.argument("config", type=click.Path(path_type=Path), shell_complete=config_files)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option(
    "--worst", default=1, show_default=True, type=click.IntRange(min=0), help="Worst groups to list per principle."
)
@click.option(
    "--rows",
    default=0,
    show_default=True,
    type=click.IntRange(min=0),
    help="Rows of each worst group to list, without identifiers. They are rows of the original.",
)
@click.option("--possible", is_flag=True, help="Also show whether other groups can satisfy all principles together.")
@engine_option
@master_option
@allow_code_option
def audit(
    config: Path,
    as_json: bool,
    worst: int,
    rows: int,
    possible: bool,
    engine: str | None,
    master: str | None,
    allow_code: bool,
) -> None:
    """Measure which principles hold in a table, to what level, and where they fail.

    CONFIG is a sfumato.toml. Exit status: 0 every principle holds, 1 one does not, 2 bad input.
    """
    from sfumato._audit import audit as measure
    from sfumato._audit import audit_spark
    from sfumato.cli.show import show_audit, show_joint
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
                _refuse_rows(rows, possible)
                progress("measuring")
                result = audit_spark(frame[0], declared.schema, principles, frame[1])
            else:
                progress("reading")
                table = declared.table()
                progress("measuring")
                result = measure(table, None, principles)
            joint = _joint(declared, result, progress) if possible else None
        # notes and worst groups are found while they are shown
        if as_json:
            say(_as_json(result, worst, rows, joint))
        else:
            show_audit(result, worst, rows)
            if joint is not None:
                show_joint(joint)
    sys.exit(0 if result.holds else 1)


def _refuse_rows(rows: int, possible: bool) -> None:
    """Raise an error for what needs the rows, where they stay on the cluster."""
    if rows or possible:
        name = "--rows" if rows else "--possible"
        raise click.UsageError(f"{name}: the rows of a table of Spark stay on its cluster; use a file.")


def _joint(declared: Config, result: Audit, progress: Progress) -> JointFeasibility:
    """Assess whether any groups satisfy all principles together, with the rows that the config allows to be dropped."""
    from sfumato.anonymization.joint_assessment import joint_feasibility
    from sfumato.config import MethodSection

    progress("assessing feasibility")
    suppress = (declared.method or MethodSection()).suppress
    return joint_feasibility(result.table, None, declared.require_principles(), suppress=suppress)


def _as_json(result: Audit, worst: int, rows: int, joint: JointFeasibility | None) -> str:
    """Return the audit as JSON, with the rows of the worst groups and the joint verdict if they are requested."""
    content = result.to_dict(worst)
    if rows:
        for principle in content["principles"]:
            for group in principle["worst_groups"]:
                group["listed"] = result.group_rows(group["group"], rows).to_pylist()
    if joint is not None:
        content["possible"] = joint.to_dict()
    return json.dumps(content, indent=2, allow_nan=False, default=str)

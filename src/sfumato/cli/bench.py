"""`sfumato bench`: speed and memory, as ratios to a yardstick measured in the same run."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.group()
def bench() -> None:
    """Measure speed and memory against a yardstick in the same run."""


@bench.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data sfumato bench audit
  sfumato bench audit --rows 100000 --pycanon /tmp/pycanon/bin/python"""
)
@click.option("--rows", default=1_000_000, show_default=True, type=click.IntRange(min=1000), help="Rows to audit.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Seed of the resampling.")
@click.option(
    "--pycanon",
    type=click.Path(path_type=Path),
    help="A Python interpreter that has pycanon: measure it on the same table.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def audit(rows: int, seed: int, pycanon: Path | None, as_json: bool) -> None:
    """Audit k, four l, three t and dissimilarity together; the yardstick is numpy's lexsort of the same codes.

    The table is made by seeded resampling from acs2018/sal_occ.csv.gz below SFUMATO_DATA; where that is not there,
    from the synthetic census.
    """
    from sfumato.benchmarks.audit import run
    from sfumato.cli.show import console

    figures = run(rows, seed, pycanon)
    if as_json:
        click.echo(json.dumps(figures, indent=2))
        return
    out = console()
    width = max(map(len, figures))
    for name, value in figures.items():
        out.print(f"{name:<{width}}  {value}")

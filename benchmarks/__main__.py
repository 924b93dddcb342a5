"""`python -m benchmarks`: measure speed and memory as ratios to a yardstick in the same run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from sfumato.cli import ErrorReportingGroup
from sfumato.cli.streams import say

Command = TypeVar("Command", bound=Callable[..., Any])


def figure_options(command: Command) -> Command:
    """Add the options that say where the tables and pictures of an experiment are written, and which are made."""
    out = click.option(
        "--out",
        default=Path("docs/figures"),
        show_default=True,
        type=click.Path(path_type=Path, file_okay=False),
        help="The folder to write tables and pictures to.",
    )
    quick = click.option("--quick", is_flag=True, help="Measure few points, as a trial.")
    tables_only = click.option("--tables-only", is_flag=True, help="Draw nothing.")
    pictures_only = click.option("--pictures-only", is_flag=True, help="Measure nothing; draw from existing tables.")
    return out(quick(tables_only(pictures_only(command))))


@click.group(cls=ErrorReportingGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
def main() -> None:
    """Measure speed and memory against a yardstick in the same run."""


@main.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks audit
  python -m benchmarks audit --rows 100000 --pycanon /tmp/pycanon/bin/python"""
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
    from benchmarks.audit import run
    from sfumato.cli.show import console

    figures = run(rows, seed, pycanon)
    if as_json:
        say(json.dumps(figures, indent=2))
        return
    out = console()
    width = max(map(len, figures))
    for name, value in figures.items():
        out.print(f"{name:<{width}}  {value}")


@main.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks anonymize --all --adult --methods glaze,mondrian
  python -m benchmarks anonymize --rows 5000 --json"""
)
@click.option("--rows", default=50_000, show_default=True, type=click.IntRange(min=1000), help="Rows of the survey.")
@click.option("--all", "everything", is_flag=True, help="Then all rows of the survey too, and how the CPU time grows.")
@click.option("--hard", is_flag=True, help="Also a wish about which the bounds promise nothing.")
@click.option("--adult", is_flag=True, help="Also the Adult table, with wishes that other tools can be asked too.")
@click.option("--methods", default="glaze,mondrian,xcolor", show_default=True, metavar="LIST", help="Methods to compare.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def anonymize(rows: int, everything: bool, hard: bool, adult: bool, methods: str, as_json: bool) -> None:
    """Anonymize with several methods: loss, violations, CPU time, memory, beside the project's goals.

    The settings are made from acs2018/sal_occ.csv.gz below SFUMATO_DATA; where that is not there, one from the synthetic
    census.
    """
    from benchmarks.anonymize import run
    from benchmarks.show import show_runs, telling

    with telling() as tell:
        figures = run(rows, everything, hard, adult, _names(methods), tell)
    if as_json:
        say(json.dumps(figures, indent=2, ensure_ascii=False))
    else:
        show_runs(figures)


@main.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks figures --out figures
  python -m benchmarks figures --rows 5000 --only 4,5 --out figures"""
)
@click.option("--rows", default=50_000, show_default=True, type=click.IntRange(min=1000), help="Rows of the table.")
@click.option("--only", default="4,5,6", show_default=True, metavar="LIST", help="Which figures of the paper.")
@click.option("--methods", default="glaze,mondrian,xcolor", show_default=True, metavar="LIST", help="Methods to compare.")
@figure_options
def figures(rows: int, only: str, methods: str, out: Path, quick: bool, tables_only: bool, pictures_only: bool) -> None:
    """Repeat the experiments of paper 001 (Figures 4, 5 and 6): tables as CSV, and pictures drawn from them.

    The table is made from acs2018/sal_occ.csv.gz below SFUMATO_DATA; where that is not there, from the synthetic census.
    The pictures need matplotlib.
    """
    from benchmarks.draw import draw, need_matplotlib
    from benchmarks.figures import run
    from benchmarks.show import telling

    if not tables_only:
        need_matplotlib()  # to be missed before minutes of measuring, not after
    chosen = _names(only)
    if not pictures_only:
        with telling() as tell:
            for path in run(rows, chosen, _names(methods), out, quick, tell):
                say(str(path))
    if not tables_only:
        for path in draw(out, chosen):
            say(str(path))


@main.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks release --rows 140000 --rows 1400000
  python -m benchmarks release --rows 20000 --wishes k --json"""
)
@click.option(
    "--rows", "sizes", default=[1_400_000], show_default="1400000", multiple=True, type=click.IntRange(min=1000),
    help="Rows of the file; give it again for more files, and how the time grows.",
)  # fmt: skip
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Seed of the resampling.")
@click.option("--wishes", default="", metavar="LIST", help="What to ask for: k, S1, S3i.  [default: all]")
@click.option("--methods", default="mondrian", show_default=True, metavar="LIST", help="Methods that find the groups.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def release(sizes: tuple[int, ...], seed: int, wishes: str, methods: str, as_json: bool) -> None:
    """From a CSV file to a verified release: the time beside the method's own, and memory; the yardstick is pyarrow.

    The file is made by seeded resampling from acs2018/sal_occ.csv.gz below SFUMATO_DATA; where that is not there, from
    the synthetic census. pyarrow reads and writes the same file, with its defaults.
    """
    from benchmarks.release import run
    from benchmarks.show import show_release, telling

    with telling() as tell:
        figures = run(sizes, seed, _names(wishes), _names(methods), tell)
    if as_json:
        say(json.dumps(figures, indent=2, ensure_ascii=False))
    else:
        show_release(figures)


@main.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks risk
  python -m benchmarks risk --records 200 --similar 50 --json"""
)
@click.option(
    "--records", default=[2500, 10_000], show_default="2500, 10000", multiple=True, type=click.IntRange(min=50),
    help="Records whose values must be equal; give it again for more lines, and how the time grows.",
)  # fmt: skip
@click.option(
    "--similar", default=[500, 2000], show_default="500, 2000", multiple=True, type=click.IntRange(min=50),
    help="Records whose values must be similar, by Jaro at 0.8 in every attribute.",
)  # fmt: skip
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Seed of the records that are drawn.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def risk(records: tuple[int, ...], similar: tuple[int, ...], seed: int, as_json: bool) -> None:
    """Disclosure risk: match records with a dictionary, take their risk, find the best rules; the yardstick is a sort.

    The dictionary is catalogue/items.csv.gz below SFUMATO_DATA; where that is not there, the synthetic census.
    """
    from benchmarks.disclosure import run
    from benchmarks.show import show_risk, telling

    with telling() as tell:
        figures = run(records, similar, seed, tell)
    if as_json:
        say(json.dumps(figures, indent=2, ensure_ascii=False))
    else:
        show_risk(figures)


@main.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks curves --out figures
  python -m benchmarks curves --quick --out figures"""
)
@figure_options
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Seed of records, parts and weights.")
def curves(out: Path, seed: int, quick: bool, tables_only: bool, pictures_only: bool) -> None:
    """Repeat the experiment of paper 002 (Figure 1): tables as CSV, and pictures drawn from them.

    The directories are catalogue/items.csv.gz, record_linkage/RLdata10000.csv and record_linkage/febrl_dataset4a.csv
    below SFUMATO_DATA; where they are not there, the synthetic census. The pictures need matplotlib.
    """
    from benchmarks.draw import need_matplotlib
    from benchmarks.draw_risk import draw
    from benchmarks.risk_figures import run
    from benchmarks.show import telling

    if not tables_only:
        need_matplotlib()  # to be missed before minutes of measuring, not after
    if not pictures_only:
        with telling() as tell:
            for path in run(out, quick, seed, tell):
                say(str(path))
    if not tables_only:
        for path in draw(out):
            say(str(path))


@main.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks projections --out figures
  python -m benchmarks projections --quick --out figures"""
)
@figure_options
@click.option("--cost-only", is_flag=True, help="Only tell what a plan costs; write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print what a plan costs as JSON.")
def projections(out: Path, quick: bool, tables_only: bool, pictures_only: bool, cost_only: bool, as_json: bool) -> None:
    """Repeat the experiments of paper 004 (Figures 5 to 9): tables as CSV, pictures drawn from them, and what a plan costs.

    The table is census_income_kdd/census_income_train.csv.gz below SFUMATO_DATA; where that is not there, the synthetic
    census stands in. The cost is that of a plan whose tables can all be close at k = 2; the yardstick is a sort of the
    same table. The pictures need matplotlib.
    """
    from benchmarks.draw import need_matplotlib
    from benchmarks.draw_plans import draw
    from benchmarks.projections import cost, run
    from benchmarks.show import show_plan, telling

    if not tables_only and not cost_only:
        need_matplotlib()  # to be missed before minutes of measuring, not after
    if not pictures_only:
        with telling() as tell:
            figures = cost(tell)
            paths = [] if cost_only else run(out, quick, tell)
        if as_json:
            say(json.dumps(figures, indent=2, ensure_ascii=False))
        else:
            show_plan(figures)
            for path in paths:
                say(str(path))
    if not tables_only and not cost_only:
        for path in draw(out):
            if not as_json:
                say(str(path))


@main.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks lattice --times 1 --times 20
  python -m benchmarks lattice --losses mean --json"""
)
@click.option(
    "--times", default=[1], show_default="1", multiple=True, type=click.IntRange(min=1),
    help="How often each row of the table is there; give it again for more tables, and how the time grows.",
)  # fmt: skip
@click.option("--losses", default="", metavar="LIST", help="Which losses to minimise.  [default: all]")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def lattice(times: tuple[int, ...], losses: str, as_json: bool) -> None:
    """Full-domain search: k = 5, alone and with t-closeness, 5 % of the rows suppressed at most; the yardstick is a sort.

    The table is adult/adult_30162.csv below SFUMATO_DATA, with eight quasi-identifiers; where that is not there, the
    synthetic census.
    """
    from benchmarks.lattice import run
    from benchmarks.show import show_lattice, telling
    from sfumato.anonymization.methods.lattice import check_loss

    for loss in _names(losses):
        check_loss(loss)
    with telling() as tell:
        figures = run(times, _names(losses), tell)
    if as_json:
        say(json.dumps(figures, indent=2, ensure_ascii=False))
    else:
        show_lattice(figures)


def _names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")

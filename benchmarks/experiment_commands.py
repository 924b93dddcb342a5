"""Experiments of `python -m benchmarks`: what attacks achieve, what analysts estimate, and published figures repeated."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from benchmarks.command_options import figure_options, json_option, names_in, seed_option, show
from sfumato.cli.streams import say


@click.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks attacks --rows 30162 --methods glaze,mondrian
  python -m benchmarks attacks --rows 2000 --attacks homogeneity,learning --json"""
)
@click.option("--rows", default=30_162, show_default=True, type=click.IntRange(min=500), help="Rows of each table.")
@click.option("--diversity", default=3, show_default=True, type=click.IntRange(min=2), help="The l of l-diversity.")
@click.option(
    "--methods",
    default="glaze,mondrian,lattice",
    show_default=True,
    metavar="LIST",
    help="Methods to compare; projections: two tables.",
)
@click.option("--attacks", "names", default="", metavar="LIST", help="Attacks to run.  [default: all but replay]")
@seed_option
@json_option
def attacks(rows: int, diversity: int, methods: str, names: str, seed: int, as_json: bool) -> None:
    """Attack releases by several methods: success, strongest baseline, and people about whom the attacker is certain.

    The tables are Adult, the survey and the income census below SFUMATO_DATA; the synthetic census if they are absent.
    """
    from benchmarks.console_tables import progress_line, show_runs
    from benchmarks.experiments.attack_tables import run

    with progress_line() as notify:
        figures = run(rows, diversity, names_in(methods), names_in(names), seed, notify)
    show(figures, as_json, show_runs)


@click.command(
    epilog="""\b
Example:
  python -m benchmarks mutants --sample 20 --packages exact,principles
  SFUMATO_DATA=data python -m benchmarks mutants --sample 200 --seed 7 --json"""
)
@click.option("--sample", default=100, show_default=True, type=click.IntRange(min=1), help="Mutants to test.")
@click.option("--packages", default="", metavar="LIST", help="Packages to change.  [default: all of the privacy core]")
@click.option(
    "--only", default="", metavar="LIST", help="All mutants of these lines, such as cliques.py:104, and no sample."
)
@click.option("--seconds", default=60.0, show_default=True, help="Tests that run on one mutant, in seconds.")
@seed_option
@json_option
def mutants(sample: int, packages: str, only: str, seconds: float, seed: int, as_json: bool) -> None:
    """Change the code that verdicts depend on, one small change at a time, and count how many changes the tests notice.

    A mutant takes some seconds. Survivors are listed: a test is missing, or the change has no effect. Those that are known
    to have none are in benchmarks/quality/equivalent_mutants.toml, with the reason, and do not count. The first run also
    records which tests call which functions, which takes half an hour; it is kept in build/.
    """
    from benchmarks.console_tables import show_figures
    from benchmarks.quality.mutation_testing import run

    notify = partial(click.echo, err=True)
    show(run(sample, seed, names_in(packages), seconds, notify, names_in(only)), as_json, show_figures)


@click.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks republication
  python -m benchmarks republication --rows 1000 --versions 3 --json"""
)
@click.option("--rows", default=20_000, show_default=True, type=click.IntRange(min=200), help="Rows of the census.")
@click.option("--versions", default=10, show_default=True, type=click.IntRange(min=2), help="Versions of each table.")
@click.option("--churn", default=0.05, show_default=True, help="The share of people who leave from one version to the next.")
@click.option("--counterfeits", default="0.1", show_default=True, help="The largest share of counterfeits.")
@seed_option
@json_option
def republication(rows: int, versions: int, churn: float, counterfeits: str, seed: int, as_json: bool) -> None:
    """Release versions of a table after one another: loss, counterfeits, time, and people who are narrowed too far.

    In each version as many people are new as left. Compare with releases that are made independently of one another. The
    tables are Adult below SFUMATO_DATA, if it is there, and the synthetic census.
    """
    from benchmarks.console_tables import progress_line, show_runs
    from benchmarks.experiments.republication_tables import run

    with progress_line() as notify:
        figures = run(rows, versions, churn, counterfeits, seed, notify)
    show(figures, as_json, show_runs)


@click.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks proximity-figures --out figures
  python -m benchmarks proximity-figures --rows 5000 --figures 4,5 --out figures"""
)
@click.option("--rows", default=50_000, show_default=True, type=click.IntRange(min=1000), help="Rows of the table.")
@click.option("--figures", default="4,5,6", show_default=True, metavar="LIST", help="Figures of the paper.")
@click.option("--methods", default="glaze,mondrian,xcolor", show_default=True, metavar="LIST", help="Methods to compare.")
@figure_options
def proximity_figures(
    rows: int, figures: str, methods: str, out: Path, quick: bool, tables_only: bool, plots_only: bool
) -> None:
    """Repeat Figures 4, 5 and 6 of Wang & Liu (2010): CSV tables, and plots drawn from them.

    The table is a sample of acs2018/sal_occ.csv.gz below SFUMATO_DATA, or the synthetic census if that is absent. The plots
    need matplotlib.
    """
    from benchmarks.console_tables import progress_line
    from benchmarks.experiments.plotting import require_matplotlib
    from benchmarks.experiments.proximity_plots import draw
    from benchmarks.experiments.proximity_tables import run

    if not tables_only:
        require_matplotlib()  # fails before minutes of measuring, not after
    if not plots_only:
        with progress_line() as notify:
            for path in run(rows, names_in(figures), names_in(methods), out, quick, notify):
                say(str(path))
    if not tables_only:
        for path in draw(out, names_in(figures)):
            say(str(path))


@click.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks risk-figures --out figures
  python -m benchmarks risk-figures --quick --out figures"""
)
@figure_options
@seed_option
def risk_figures(out: Path, seed: int, quick: bool, tables_only: bool, plots_only: bool) -> None:
    """Repeat Figure 1 of Lebanon et al. (2006): CSV tables, and plots drawn from them.

    The directories are catalogue/items.csv.gz, record_linkage/RLdata10000.csv and record_linkage/febrl_dataset4a.csv below
    SFUMATO_DATA, or the synthetic census if they are absent. The plots need matplotlib.
    """
    from benchmarks.console_tables import progress_line
    from benchmarks.experiments.plotting import draw_all, require_matplotlib
    from benchmarks.experiments.risk_plots import PLOTS
    from benchmarks.experiments.risk_tables import run

    if not tables_only:
        require_matplotlib()
    if not plots_only:
        with progress_line() as notify:
            for path in run(out, quick, seed, notify):
                say(str(path))
    if not tables_only:
        for path in draw_all(out, PLOTS):
            say(str(path))


@click.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks projection-figures --out figures
  python -m benchmarks projection-figures --quick --out figures"""
)
@figure_options
def projection_figures(out: Path, quick: bool, tables_only: bool, plots_only: bool) -> None:
    """Repeat Figures 5 to 9 of Fang, Ashrafi & Ng (2011): CSV tables, and plots drawn from them.

    The table is census_income_kdd/census_income_train.csv.gz below SFUMATO_DATA, or the synthetic census if that is absent.
    The plots need matplotlib.
    """
    from benchmarks.console_tables import progress_line
    from benchmarks.experiments.plotting import draw_all, require_matplotlib
    from benchmarks.experiments.projection_plots import PLOTS
    from benchmarks.experiments.projection_tables import run

    if not tables_only:
        require_matplotlib()
    if not plots_only:
        with progress_line() as notify:
            for path in run(out, quick, notify):
                say(str(path))
    if not tables_only:
        for path in draw_all(out, PLOTS):
            say(str(path))


@click.command(
    epilog="""\b
Example:
  python -m benchmarks analysis
  python -m benchmarks analysis --rows 800 --tables 1 --methods mondrian"""
)
@click.option("--rows", default=2000, show_default=True, type=click.IntRange(min=100), help="Rows per table.")
@click.option("--tables", default=3, show_default=True, type=click.IntRange(min=1), help="Tables per method.")
@click.option("--methods", default="mondrian,glaze", show_default=True, help="Methods, separated by commas.")
@seed_option
@json_option
def analysis(rows: int, tables: int, methods: str, seed: int, as_json: bool) -> None:
    """Measure how often the intervals of sf.read_release contain the true figures.

    The tables are synthetic hospitals and, if SFUMATO_DATA is set, samples of real tables.
    """
    from benchmarks.console_tables import progress_line, show_runs
    from benchmarks.experiments.analysis_coverage import coverage

    with progress_line() as notify:
        figures = coverage(rows, tables, names_in(methods), seed, notify)
    show(figures, as_json, show_runs)


@click.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks resist
  SFUMATO_DATA=data python -m benchmarks resist --settings S3i --methods deal --json"""
)
@click.option("--rows", default=50_000, show_default=True, type=click.IntRange(min=1000), help="Rows of the survey.")
@click.option(
    "--settings",
    default="",
    metavar="LIST",
    help="S1, S3o, S3i, adult l=3, adult f=5, adult c=0.8, 0.9 and 0.95.  [default: all]",
)
@click.option("--methods", default="glaze,mondrian,deal", show_default=True, metavar="LIST", help="Methods to compare.")
@seed_option
@json_option
def resist(rows: int, settings: str, methods: str, seed: int, as_json: bool) -> None:
    """What it costs to withstand minimality attacks: loss, time, and what attackers who know the method achieve.

    The tables are acs2018/sal_occ.csv.gz and adult/adult_30162.csv below SFUMATO_DATA; the synthetic census if they are
    absent.
    """
    from benchmarks.console_tables import progress_line, show_runs
    from benchmarks.experiments.resistance_tables import run

    with progress_line() as notify:
        figures = run(rows, names_in(settings), names_in(methods), seed, notify)
    show(figures, as_json, show_runs)


@click.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks anatomy
  python -m benchmarks anatomy --rows 2000 --methods glaze --json"""
)
@click.option("--rows", default=30_162, show_default=True, type=click.IntRange(min=200), help="Rows of the survey.")
@click.option("--l", "diversity", default=5, show_default=True, type=click.IntRange(min=2), help="The l of l-diversity.")
@click.option("--methods", default="glaze,mondrian,deal", show_default=True, metavar="LIST", help="Methods to compare.")
@seed_option
@json_option
def anatomy(rows: int, diversity: int, methods: str, seed: int, as_json: bool) -> None:
    """Counts from exact quasi-identifiers and secrets of groups, and from cells of the same groups; and attacks.

    The tables are acs2018/sal_occ.csv.gz and adult/adult_30162.csv below SFUMATO_DATA; the synthetic census if they are
    absent.
    """
    from benchmarks.console_tables import progress_line, show_runs
    from benchmarks.experiments.anatomy_tables import run

    with progress_line() as notify:
        figures = run(rows, diversity, names_in(methods), seed, notify)
    show(figures, as_json, show_runs)

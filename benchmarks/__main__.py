"""`python -m benchmarks`: measure CPU time and memory as ratios to a baseline, and repeat published experiments."""

from __future__ import annotations

from pathlib import Path

import click

from benchmarks.command_options import json_option, names_in, seed_option, show
from benchmarks.experiment_commands import (
    analysis,
    anatomy,
    attacks,
    mutants,
    projection_figures,
    proximity_figures,
    republication,
    resist,
    risk_figures,
)
from sfumato.cli import ErrorReportingGroup


@click.group(cls=ErrorReportingGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
def main() -> None:
    """Measure CPU time and memory as ratios to a baseline in the same run, and repeat published experiments."""


@main.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks audit
  python -m benchmarks audit --rows 100000 --pycanon /tmp/pycanon/bin/python"""
)
@click.option("--rows", default=1_000_000, show_default=True, type=click.IntRange(min=1000), help="Rows to audit.")
@seed_option
@click.option(
    "--pycanon",
    type=click.Path(path_type=Path),
    help="A Python interpreter with pycanon, which is measured on the same table.",
)
@json_option
def audit(rows: int, seed: int, pycanon: Path | None, as_json: bool) -> None:
    """Audit nine principles together; the baseline is a numpy lexsort of the same codes.

    The table is resampled from acs2018/sal_occ.csv.gz below SFUMATO_DATA or, if that is absent, is the synthetic census.
    """
    from benchmarks.console_tables import show_figures
    from benchmarks.costs.audit_cost import run

    show(run(rows, seed, pycanon), as_json, show_figures)


@main.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks shapes
  python -m benchmarks shapes --rows 2000 --audited-rows 20000 --shapes star,ball"""
)
@click.option("--rows", default=50_000, show_default=True, type=click.IntRange(min=1000), help="Rows to anonymize.")
@click.option("--audited-rows", default=1_000_000, show_default=True, type=click.IntRange(min=1000), help="Rows to audit.")
@click.option("--shapes", default="star,ball,clique", show_default=True, metavar="LIST", help="Shapes that glaze enforces.")
@json_option
def shapes(rows: int, audited_rows: int, shapes: str, as_json: bool) -> None:
    """Enforce shapes of a breach with glaze: the loss beside that of the star; and audit all shapes of numbers.

    The settings use acs2018/sal_occ.csv.gz below SFUMATO_DATA. If that is absent, there is one setting, on the synthetic
    census.
    """
    from benchmarks.console_tables import progress_line, show_shapes
    from benchmarks.costs.shapes_cost import run

    with progress_line() as notify:
        figures = run(rows, audited_rows, names_in(shapes), notify)
    show(figures, as_json, show_shapes)


@main.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks anonymize --all --adult --methods glaze,mondrian
  python -m benchmarks anonymize --rows 5000 --json"""
)
@click.option("--rows", default=50_000, show_default=True, type=click.IntRange(min=1000), help="Rows of the survey.")
@click.option("--all", "all_rows", is_flag=True, help="Also measure all rows of the survey, and the growth of CPU time.")
@click.option("--hard", is_flag=True, help="Also measure a requirement that no bound guarantees.")
@click.option("--adult", is_flag=True, help="Also measure the Adult table, with requirements that other tools support.")
@click.option("--rare", is_flag=True, help="Instead measure requirements that need large groups because a value is rare.")
@click.option("--methods", default="glaze,mondrian,xcolor", show_default=True, metavar="LIST", help="Methods to compare.")
@json_option
def anonymize(rows: int, all_rows: bool, hard: bool, adult: bool, rare: bool, methods: str, as_json: bool) -> None:
    """Anonymize with several methods: loss, violations, CPU time and memory, with the project's goals.

    The settings use acs2018/sal_occ.csv.gz below SFUMATO_DATA. If that is absent, there is one setting, on the synthetic
    census.
    """
    from benchmarks.console_tables import progress_line, show_anonymize
    from benchmarks.costs.anonymize_cost import run

    with progress_line() as notify:
        figures = run(rows, all_rows, hard, adult, names_in(methods), notify, rare)
    show(figures, as_json, show_anonymize)


@main.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks gap
  python -m benchmarks gap --rows 1000 --json"""
)
@click.option("--rows", default=50_000, show_default=True, type=click.IntRange(min=1000), help="Rows of the survey.")
@json_option
def gap(rows: int, as_json: bool) -> None:
    """Compare the loss of glaze with the proven bound on the loss of all groupings, and their CPU times.

    The settings use acs2018/sal_occ.csv.gz and adult/adult_30162.csv below SFUMATO_DATA. If those are absent, there is one
    setting, on the synthetic census.
    """
    from benchmarks.console_tables import progress_line, show_runs
    from benchmarks.costs.gap_cost import run

    with progress_line() as notify:
        figures = run(rows, notify)
    show(figures, as_json, show_runs)


@main.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks exact
  python -m benchmarks exact --rows 20 --requirements k5,dissimilarity --json"""
)
@click.option("--rows", default=60, show_default=True, type=click.IntRange(min=13, max=60), help="Rows of each sample.")
@click.option("--requirements", "kinds", default="k5,k10,l4,dissimilarity", show_default=True, metavar="LIST")
@json_option
def exact(rows: int, kinds: str, as_json: bool) -> None:
    """Find the best groups of samples with the method exact: what is proven, the loss of glaze beside it, and CPU time.

    Requirements: k-anonymity (k5), distinct l-diversity (l4), and the dissimilarity of each setting.

    The samples are of acs2018/sal_occ.csv.gz and adult/adult_30162.csv below SFUMATO_DATA, or of the synthetic census if
    those are absent.
    """
    from benchmarks.console_tables import progress_line, show_runs
    from benchmarks.costs.exact_cost import run

    with progress_line() as notify:
        figures = run(rows, names_in(kinds), notify)
    show(figures, as_json, show_runs)


@main.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks parts --rows 50000 --rows 1400000 --settings S3i
  python -m benchmarks parts --rows 70000 --workers 2 --json"""
)
@click.option(
    "--rows", "sizes", default=[50_000, 295_243], show_default="50000, 295243", multiple=True,
    type=click.IntRange(min=1000), help="Rows of the table; repeat the option to measure the growth of CPU time.",
)  # fmt: skip
@click.option("--settings", default="", metavar="LIST", help="Settings to measure: S1, S3o, S3i.  [default: all]")
@click.option(
    "--workers", default=[1, 2], show_default="1, 2", multiple=True, type=click.IntRange(min=1),
    help="Threads; repeat the option to compare.",
)  # fmt: skip
@click.option("--whole", is_flag=True, help="Also search whole tables, without parts.")
@json_option
def parts(sizes: tuple[int, ...], settings: str, workers: tuple[int, ...], whole: bool, as_json: bool) -> None:
    """Glaze in parts and on whole tables: loss, CPU time, wall time and memory by rows and threads.

    The settings use acs2018/sal_occ.csv.gz below SFUMATO_DATA, resampled if more rows are requested than it has. If that is
    absent, there is one setting, on the synthetic census.
    """
    from benchmarks.console_tables import progress_line, show_runs
    from benchmarks.costs.parts_cost import run

    with progress_line() as notify:
        figures = run(sizes, names_in(settings), workers, whole, notify)
    show(figures, as_json, show_runs)


@main.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks lattice --times 1 --times 20
  python -m benchmarks lattice --losses mean --json"""
)
@click.option(
    "--times", default=[1], show_default="1", multiple=True, type=click.IntRange(min=1),
    help="How often each row of the table is repeated; repeat the option to measure the growth of CPU time.",
)  # fmt: skip
@click.option("--losses", default="", metavar="LIST", help="Losses to minimise.  [default: all]")
@json_option
def lattice(times: tuple[int, ...], losses: str, as_json: bool) -> None:
    """Full-domain search for k = 5, with and without t-closeness; the baseline is a numpy lexsort.

    At most 5 % of the rows may be suppressed. The table is adult/adult_30162.csv below SFUMATO_DATA, with eight
    quasi-identifiers, or the synthetic census if that is absent.
    """
    from benchmarks.console_tables import progress_line, show_lattice
    from benchmarks.costs.lattice_cost import run
    from sfumato.anonymization.methods.lattice import check_loss

    for loss in names_in(losses):
        check_loss(loss)
    with progress_line() as notify:
        figures = run(times, names_in(losses), notify)
    show(figures, as_json, show_lattice)


@main.command(
    epilog="""\b
Example:
  python -m benchmarks wide
  python -m benchmarks wide --rows 5000 --rows 10000 --k 10 --methods mondrian --json
  python -m benchmarks wide --rows 200000 --k 10 --shapes "many values" --distinct 1000000"""
)
@click.option(
    "--rows", "sizes", default=[10_000, 40_000], show_default="10000, 40000", multiple=True, type=click.IntRange(min=1000),
    help="Rows of the table; repeat the option to measure the growth of CPU time.",
)  # fmt: skip
@click.option(
    "--k", "ks", default=[2, 10, 100, 1000], show_default="2, 10, 100, 1000", multiple=True, type=click.IntRange(min=1),
    help="Rows of the smallest group; repeat the option to measure several.",
)  # fmt: skip
@click.option("--shapes", default="", metavar="LIST", help="Tables: 60 columns, many values, both.  [default: all]")
@click.option("--methods", default="glaze,mondrian,lattice", show_default=True, metavar="LIST", help="Methods to compare.")
@click.option(
    "--distinct", default=100_000, show_default=True, type=click.IntRange(min=1000),
    help="The range from which columns with many distinct values are drawn.",
)  # fmt: skip
@seed_option
@json_option
def wide(
    sizes: tuple[int, ...], ks: tuple[int, ...], shapes: str, methods: str, distinct: int, seed: int, as_json: bool
) -> None:
    """Tables with 60 quasi-identifiers, and with 100,000 distinct values in a column: CPU time per row and loss.

    The tables are synthetic. The time is that from columns to a verified release; the baseline is a numpy lexsort.
    """
    from benchmarks.console_tables import progress_line, show_wide
    from benchmarks.costs.wide_cost import run

    with progress_line() as notify:
        figures = run(sizes, ks, names_in(shapes), names_in(methods), seed, notify, distinct)
    show(figures, as_json, show_wide)


@main.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks release --rows 140000 --rows 1400000
  python -m benchmarks release --rows 20000 --requirements k --json"""
)
@click.option(
    "--rows", "sizes", default=[1_400_000], show_default="1400000", multiple=True, type=click.IntRange(min=1000),
    help="Rows of the file; repeat the option to measure the growth of CPU time.",
)  # fmt: skip
@seed_option
@click.option("--requirements", default="", metavar="LIST", help="Requirements to meet: k, S1, S3i.  [default: all]")
@click.option("--methods", default="mondrian", show_default=True, metavar="LIST", help="Methods that find the groups.")
@json_option
def release(sizes: tuple[int, ...], seed: int, requirements: str, methods: str, as_json: bool) -> None:
    """From a CSV file to a verified release: time and memory without the method; the baseline is pyarrow.

    The file is resampled from acs2018/sal_occ.csv.gz below SFUMATO_DATA or, if that is absent, is the synthetic census.
    pyarrow reads and writes the same file with its defaults.
    """
    from benchmarks.console_tables import progress_line, show_release
    from benchmarks.costs.release_cost import run

    with progress_line() as notify:
        figures = run(sizes, seed, names_in(requirements), names_in(methods), notify)
    show(figures, as_json, show_release)


@main.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks ui
  python -m benchmarks ui --rows 20000 --json"""
)
@click.option("--rows", default=295_243, show_default=True, type=click.IntRange(min=1000), help="Rows of the table.")
@json_option
def ui(rows: int, as_json: bool) -> None:
    """The browser interface: how long a user waits for each answer, with the project's goals, and the server's memory.

    Seconds are wall time, because a user waits for them. The table is a CSV file of acs2018/sal_occ.csv.gz below
    SFUMATO_DATA or, if that is absent, of the synthetic census.
    """
    from benchmarks.console_tables import progress_line, show_runs
    from benchmarks.costs.ui_cost import run

    with progress_line() as notify:
        figures = run(rows, notify)
    show(figures, as_json, show_runs)


@main.command(
    "first-use",
    epilog="""\b
Example:
  python -m benchmarks first-use
  python -m benchmarks first-use --commands demo --json""",
)
@click.option(
    "--commands",
    default="",
    metavar="LIST",
    help="Commands: demo, init, audit, frontier, anonymize, verify.  [default: all]",
)
@json_option
def first_use(commands: str, as_json: bool) -> None:
    """The first use of each command after installation, which compiles kernels; the baseline is an import of numba.

    Each command runs twice in a process of its own: with an empty kernel cache, and with what the first run left there.
    """
    from benchmarks.console_tables import progress_line, show_runs
    from benchmarks.costs.first_use_cost import run

    with progress_line() as notify:
        figures = run(names_in(commands), notify)
    show(figures, as_json, show_runs)


@main.command(
    epilog="""\b
Example:
  python -m benchmarks scale --rows 1000000
  python -m benchmarks scale --rows 20000000 --engines stream
  python -m benchmarks scale --rows 20000000 --engines stream --audit
  python -m benchmarks scale --rows 1400000 --engines local,spark --audit --format parquet
  python -m benchmarks scale --rows 1400000 --engines local,spark --method glaze --again"""
)
@click.option(
    "--rows", "sizes", default=[1_000_000], show_default="1000000", multiple=True, type=click.IntRange(min=1000),
    help="Rows of the synthetic census; may be repeated.",
)  # fmt: skip
@click.option("--engines", default="local,stream", show_default=True, metavar="LIST", help="Engines to compare.")
@click.option("--method", default="mondrian", show_default=True, help="The method that finds the groups.")
@click.option("--format", "form", default="csv", show_default=True, type=click.Choice(["csv", "parquet"]))
@click.option(
    "--master", default="local-cluster[2,1,2048]", show_default=True, help="The cluster of the engine spark."
)  # fmt: skip
@click.option("--audit", is_flag=True, help="Audit the file in place of making a release.")
@click.option("--again", is_flag=True, help="Make and save the release once more, when the engine has worked before.")
@seed_option
@json_option
def scale(
    sizes: tuple[int, ...],
    engines: str,
    method: str,
    form: str,
    master: str,
    audit: bool,
    again: bool,
    seed: int,
    as_json: bool,
) -> None:
    """From a file to a verified release, or an audit, by each engine: time and peak memory, and a digest of the result.

    CPU time and memory are those of the process that makes the release, without the executors of a cluster. Files
    and arrays are in the folder for temporary files (TMPDIR): 20,000,000 rows need about 6 GB there.
    """
    from benchmarks.console_tables import progress_line, show_runs
    from benchmarks.costs.scale_cost import run

    with progress_line() as notify:
        figures = run(sizes, names_in(engines), method, form, seed, notify, master, audit, again)
    show(figures, as_json, show_runs)


@main.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks risk
  python -m benchmarks risk --records 200 --similar 50 --json"""
)
@click.option(
    "--records", default=[2500, 10_000], show_default="2500, 10000", multiple=True, type=click.IntRange(min=50),
    help="Records matched by equality; repeat the option to measure the growth of CPU time.",
)  # fmt: skip
@click.option(
    "--similar", default=[500, 2000], show_default="500, 2000", multiple=True, type=click.IntRange(min=50),
    help="Records matched by similarity: Jaro of at least 0.8 in every attribute.",
)  # fmt: skip
@seed_option
@json_option
def risk(records: tuple[int, ...], similar: tuple[int, ...], seed: int, as_json: bool) -> None:
    """Disclosure risk: match records with a dictionary, compute their risk and the best rules; the baseline is a sort.

    The dictionary is catalogue/items.csv.gz below SFUMATO_DATA, or the synthetic census if that is absent.
    """
    from benchmarks.console_tables import progress_line, show_risk
    from benchmarks.costs.risk_cost import run

    with progress_line() as notify:
        figures = run(records, similar, seed, notify)
    show(figures, as_json, show_risk)


@main.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks generalize
  python -m benchmarks generalize --records 200 --json"""
)
@click.option("--records", default=2000, show_default=True, type=click.IntRange(min=20), help="Records of each table.")
@seed_option
@json_option
def generalize(records: int, seed: int, as_json: bool) -> None:
    """Disclosure rules that generalize: their least risk and CPU time beside those of rules that withhold.

    The tables are adult/adult_30162.csv and acs2018/sal_occ.csv.gz below SFUMATO_DATA, or the synthetic census.
    """
    from benchmarks.console_tables import progress_line, show_runs
    from benchmarks.costs.generalize_cost import run

    with progress_line() as notify:
        figures = run(records, seed, notify)
    show(figures, as_json, show_runs)


@main.command(
    "many-attributes",
    epilog="""\b
Example:
  python -m benchmarks many-attributes
  python -m benchmarks many-attributes --rows 20000 --json""",
)
@click.option("--rows", default=400_000, show_default=True, type=click.IntRange(min=100), help="Records of the table.")
@click.option("--attributes", default=72, show_default=True, type=click.IntRange(min=2), help="Attributes of the table.")
@click.option("--cells", default=10, show_default=True, type=click.IntRange(min=0), help="Values to disclose per record.")
@seed_option
@json_option
def many_attributes(rows: int, attributes: int, cells: int, seed: int, as_json: bool) -> None:
    """MinRisk on a synthetic table as wide and as long as that of Lebanon et al. (2006), which is its own dictionary."""
    from benchmarks.console_tables import progress_line, show_runs
    from benchmarks.costs.many_attributes_cost import run

    if cells > attributes:
        raise click.BadParameter("a record has no more values than the table has attributes", param_hint="--cells")
    with progress_line() as notify:
        figures = run(rows, attributes, cells, seed, notify)
    show(figures, as_json, show_runs)


@main.command(
    epilog="""\b
Example:
  python -m benchmarks register
  python -m benchmarks register --records 2000 --individuals 5000 --json"""
)
@click.option("--records", default=71_518, show_default=True, type=click.IntRange(min=50), help="Records to match.")
@click.option(
    "--individuals", default=151_518, show_default=True, type=click.IntRange(min=50), help="People in the register."
)
@click.option("--sample", default=200, show_default=True, type=click.IntRange(min=1), help="Records of the baseline.")
@seed_option
@json_option
def register(records: int, individuals: int, sample: int, seed: int, as_json: bool) -> None:
    """Match records with a register by a join of sorted tables; the baseline is record by record, on a sample."""
    from benchmarks.console_tables import progress_line, show_runs
    from benchmarks.costs.register_cost import run

    if records > individuals:
        raise click.BadParameter("the register must contain the people of all records", param_hint="--individuals")
    with progress_line() as notify:
        figures = run(records, individuals, sample, seed, notify)
    show(figures, as_json, show_runs)


@main.command(
    epilog="""\b
Example:
  SFUMATO_DATA=data python -m benchmarks projections
  python -m benchmarks projections --json"""
)
@json_option
def projections(as_json: bool) -> None:
    """Find a plan whose tables can all be close at k = 2, and project; the baseline is a sort of the same table.

    The table is census_income_kdd/census_income_train.csv.gz below SFUMATO_DATA, or the synthetic census if that is absent.
    """
    from benchmarks.console_tables import progress_line, show_figures
    from benchmarks.costs.projection_cost import run

    with progress_line() as notify:
        figures = run(notify)
    show(figures, as_json, show_figures)


for experiment in (attacks, resist, republication, anatomy, analysis, mutants):
    main.add_command(experiment)
for repeated in (proximity_figures, risk_figures, projection_figures):
    main.add_command(repeated)

if __name__ == "__main__":
    main(prog_name="python -m benchmarks")

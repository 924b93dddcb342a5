"""Options that several verbs share."""

from __future__ import annotations

from pathlib import Path

import click

SEED_KEPT = "--key FILE keeps it in a private file, for a repetition."
"""What to do to keep the seed of a release."""

output_option = click.option(
    "--output", type=click.Path(path_type=Path), help="The folder to write. Default: output.path of the config."
)
seed_option = click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="The same seed gives the same release. It is never published. Default: method.seed, or one that is drawn.",
)
internal_option = click.option(
    "--internal",
    type=click.Path(path_type=Path),
    help="Also write the internal report to this file. Do not publish it. Default: output.internal.",
)
key_option = click.option(
    "--key",
    type=click.Path(path_type=Path),
    help="Also write the seed to this private file, for a repetition. Do not publish it. Default: output.key.",
)
strict_option = click.option("--strict", is_flag=True, help="Write nothing, and exit with 1, if there are warnings.")
engine_option = click.option(
    "--engine",
    type=click.Choice(["local", "stream", "spark"]),
    help="Keep the table in memory (local) or on disk (stream, spark). With spark, tables of Spark are read, and parts of "
    "a table are searched on the cluster when it is anonymized. Default: engine.name, or what suits the size of the file.",
)
master_option = click.option(
    "--master", metavar="URL", help="The Spark cluster, such as spark://host:7077. Default: engine.master."
)
force_option = click.option("--force", is_flag=True, help="Replace an existing release.")
allow_code_option = click.option(
    "--allow-code", is_flag=True, help="Allow the config to name functions of your own. Their code is run."
)

"""The command line: thin. Each verb parses, calls the library, and shows what comes back.

Exit status: 0 done and every principle holds; 1 a principle does not hold; 2 bad input or usage.
"""

from __future__ import annotations

import sys
from typing import Any

import click

from sfumato.cli.audit import audit
from sfumato.cli.bench import bench
from sfumato.cli.demo import demo
from sfumato.errors import SfumatoError
from sfumato.version import __version__


class _Verbs(click.Group):
    """Turns the package's own errors into one line on the error stream and exit status 2."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except SfumatoError as error:
            click.echo(f"sfumato: {error}", err=True)
            sys.exit(2)
        except KeyboardInterrupt:
            click.echo("sfumato: stopped; nothing was left half-written.", err=True)
            sys.exit(130)


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="sfumato")
def main() -> None:
    """Publish tables about people so that nobody can pin a person, or a narrow range around a secret, to a row.

    Start with:  sfumato demo
    """


for verb in (demo, audit, bench):
    main.add_command(verb)

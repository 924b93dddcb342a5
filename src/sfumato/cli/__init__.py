"""The command line. Each verb parses its arguments, calls the library, and shows the result.

Exit status: 0 done and every principle holds; 1 a principle does not hold or cannot be reached; 2 bad input or usage;
3 a bug in sfumato or in a plug-in; 130 stopped by Ctrl-C, 143 by SIGTERM.
"""

from __future__ import annotations

import io
import sys
from typing import Any

import click

from sfumato.cli.anatomize import anatomize
from sfumato.cli.anonymize import anonymize
from sfumato.cli.apply import apply
from sfumato.cli.attack import attack
from sfumato.cli.audit import audit
from sfumato.cli.completion import completion
from sfumato.cli.config import config_group
from sfumato.cli.demo import demo
from sfumato.cli.explain import explain
from sfumato.cli.frontier import frontier
from sfumato.cli.hierarchy import hierarchy
from sfumato.cli.init import init
from sfumato.cli.interruption import run_interruptibly
from sfumato.cli.project import project
from sfumato.cli.report import report
from sfumato.cli.risk import risk
from sfumato.cli.streams import abandon_output, complain
from sfumato.cli.ui import ui
from sfumato.cli.verify import verify
from sfumato.errors import ReplayError, RequirementError, SfumatoError
from sfumato.masking import masked
from sfumato.version import __version__


class ErrorReportingGroup(click.Group):
    """A group of commands that turns errors into one line and an exit status: 1, 2, or 3 for a bug."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options before the command; no file can have a name with a NUL character."""
        if any("\0" in argument for argument in args):
            raise click.UsageError("an argument contains a NUL character", ctx)
        return super().parse_args(ctx, args)

    def invoke(self, context: click.Context) -> Any:
        """Run the command; an error never shows a traceback unless it is a bug."""
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # an output that cannot show ε shows ? instead of failing
                stream.reconfigure(errors="replace")
        try:
            return run_interruptibly(lambda: self._invoke(context))
        except SfumatoError as error:
            complain(f"sfumato: {error}")
            sys.exit(1 if isinstance(error, RequirementError | ReplayError) else 2)
        except OSError as error:
            abandon_output()
            place = masked(str(error.filename or "output"))
            complain(f"sfumato: {place}: {error.strerror}. Make room, or write elsewhere.")
            sys.exit(2)
        except click.ClickException as error:
            shown = io.StringIO()
            error.show(shown)
            complain(shown.getvalue().rstrip("\n"))
            sys.exit(error.exit_code)
        except (click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            import traceback

            from sfumato.cli.bug_origin import explain_bug

            complain(traceback.format_exc().rstrip("\n"))
            complain(f"sfumato: {explain_bug(error)}")
            sys.exit(3)

    def _invoke(self, context: click.Context) -> Any:
        with context.scope(cleanup=False):  # contexts belong to a thread, and this may be another one
            return super().invoke(context)


@click.group(cls=ErrorReportingGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="sfumato")
@click.option("--quiet", "-q", is_flag=True, help="Show no progress on standard error; errors are still shown.")
def main(quiet: bool) -> None:
    """Publish tables about people so that nobody can pin a person, or a narrow range around a secret, to a row.

    Start with:  sfumato demo
    """


for verb in (
    demo, init, config_group, hierarchy, explain, audit, anonymize, apply, verify, attack, report, frontier, risk, project,
    anatomize, ui, completion,
):  # fmt: skip
    main.add_command(verb)

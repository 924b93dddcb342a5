"""Standard output, also after its reader has closed it."""

from __future__ import annotations

import contextlib
import io
import os
import sys

import click

from sfumato.visible_text import visible


def say(text: str, as_it_is: bool = False) -> None:
    """Print; if the reader has closed the pipe, continue: the exit status depends on the result, not on the reader.

    Control characters are escaped as in JSON, unless the text is to be printed as it is.
    """
    try:
        click.echo(text if as_it_is else visible(text), color=as_it_is or None)  # otherwise escape sequences are removed
    except BrokenPipeError:
        abandon_output()


def complain(text: str) -> None:
    """Print to standard error, with control characters escaped."""
    click.echo(visible(text), err=True)


def abandon_output() -> None:
    """Discard everything that is still written to standard output, also at exit."""
    if sys.stdout is None:
        return
    with contextlib.suppress(io.UnsupportedOperation):  # a stream that is not a file of the system keeps its content
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

"""Standard output, also after its reader has closed it."""

from __future__ import annotations

import contextlib
import io
import os
import sys

import click


def say(text: str) -> None:
    """Print; if the reader has closed the pipe, continue: the exit status depends on the result, not on the reader."""
    try:
        click.echo(text)
    except BrokenPipeError:
        abandon_output()


def abandon_output() -> None:
    """Discard everything that is still written to standard output, also at exit."""
    if sys.stdout is None:
        return
    with contextlib.suppress(io.UnsupportedOperation):  # a stream that is not a file of the system keeps its content
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

"""Standard output, also when nobody takes it any more."""

from __future__ import annotations

import contextlib
import io
import os
import sys

import click


def say(text: str) -> None:
    """Print; if the reader has gone, go on: what a verb found decides its exit status, not who listens."""
    try:
        click.echo(text)
    except BrokenPipeError:
        abandon_output()


def abandon_output() -> None:
    """Let whatever is still to be written to standard output, at exit too, go nowhere: the exit status is decided."""
    if sys.stdout is None:
        return
    with contextlib.suppress(io.UnsupportedOperation):  # what is no stream of the system holds what it is given
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

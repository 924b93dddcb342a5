"""`sfumato completion`: the script that lets a shell complete verbs, options, configs and principles.

A shell waits for the result while the user types, so nothing here imports the principles or reads a file.
"""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import CompletionItem, get_completion_class

from sfumato.cli.streams import say


def principle_names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the principles whose names begin with what was typed, plug-ins included; none of them is imported."""
    from sfumato.registry import PRINCIPLES

    return [name for name in PRINCIPLES if name.startswith(incomplete.casefold())]


def config_files(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the configs whose names begin with what was typed, and the folders that may contain one."""
    return _files(incomplete, ".toml")


def repeatable_files(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return configs, and the release.json of releases that can be repeated."""
    return _files(incomplete, (".toml", "release.json"))


def _files(incomplete: str, ends: str | tuple[str, ...]) -> list[CompletionItem]:
    folder, start = os.path.split(incomplete)  # as typed: a Path would lose a "./"
    try:
        entries = sorted(Path(folder or ".").expanduser().iterdir())
    except OSError:
        return []
    shown = [entry for entry in entries if entry.name.startswith(start) and (start or not entry.name.startswith("."))]
    files = [entry.name for entry in shown if entry.name.endswith(ends) and entry.is_file()]
    if not files:
        return [CompletionItem(incomplete, type="dir")]  # the shell itself completes folders better
    folders = [f"{entry.name}/" for entry in shown if entry.is_dir()]
    return [CompletionItem(os.path.join(folder, name)) for name in files + folders]  # noqa: PTH118


@click.command(
    epilog="""\b
Example:
  sfumato completion bash > ~/.local/share/bash-completion/completions/sfumato
  sfumato completion fish > ~/.config/fish/completions/sfumato.fish"""
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that lets SHELL complete verbs, options, configs and principles.

    Save it where the shell looks for such scripts, and open a new shell.
    """
    kind = get_completion_class(shell)
    assert kind is not None
    say(kind(context.find_root().command, {}, "sfumato", "_SFUMATO_COMPLETE").source())

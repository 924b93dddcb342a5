"""Write the pages that repeat docstrings and help texts. A test compares them with the committed pages.

They are: principles.md, a page per principle below principles/, cli.md, reference.md and release.schema.json.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import click

from make_principles import principle_page, principles_page
from make_reference import reference_page
from sfumato.cli import main
from sfumato.registry import PRINCIPLES
from sfumato.releases.json_schema import release_schema

HERE = Path(__file__).parent

CLI_HEAD = """\
# The command line

The help of every command. `--json` prints the figures as JSON. `sfumato --quiet` before a command shows no progress.

| exit status | meaning |
|---|---|
| 0 | the command succeeded, and every principle holds |
| 1 | a principle does not hold or cannot be reached, or a check fails |
| 2 | the input or the command is invalid |
| 3 | an internal fault of sfumato or of a plug-in |
| 130 | stopped by Ctrl-C (SIGINT); nothing is left half-written |
| 143 | stopped by SIGTERM (`kill`, a batch system); likewise. 129: the terminal was closed (SIGHUP) |

## Completion

Shells can complete commands, options, configs and principles. In bash:

```sh
mkdir -p ~/.local/share/bash-completion/completions
sfumato completion bash > ~/.local/share/bash-completion/completions/sfumato
```

In zsh, with a folder in `fpath` before `compinit` runs:

```sh
mkdir -p ~/.zfunc
sfumato completion zsh > ~/.zfunc/_sfumato     # in ~/.zshrc: fpath=(~/.zfunc $fpath); autoload -U compinit; compinit
```

In fish:

```sh
sfumato completion fish > ~/.config/fish/completions/sfumato.fish
```

Then open a new shell.
"""


def schema_page() -> str:
    """Return the JSON Schema of release.json."""
    return json.dumps(release_schema(), indent=2, ensure_ascii=False) + "\n"


def cli_page() -> str:
    """Every verb with its help."""
    parts = [CLI_HEAD]
    context = click.Context(main, info_name="sfumato", terminal_width=100, **main.context_settings)
    for command, path in _commands(main, context):
        parts.append(f"## {path.command_path}\n\n```text\n{command.get_help(path)}\n```\n")
    return "\n".join(parts)


def _commands(group: click.Group, context: click.Context) -> list[tuple[click.Command, click.Context]]:
    """Every verb below a group, and those below that."""
    found = []
    for name, command in group.commands.items():
        own = click.Context(command, info_name=name, parent=context)
        found += _commands(command, own) if isinstance(command, click.Group) else [(command, own)]
    return found


PAGES = {
    "principles.md": principles_page,
    **{f"principles/{name}.md": partial(principle_page, name) for name in PRINCIPLES.entries},
    "cli.md": cli_page,
    "reference.md": reference_page,
    "release.schema.json": schema_page,
}

if __name__ == "__main__":
    (HERE / "principles").mkdir(exist_ok=True)
    for page, make in PAGES.items():
        (HERE / page).write_text(make(), encoding="utf-8")

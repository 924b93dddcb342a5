"""Write the pages that repeat docstrings and help texts. A test compares them with what is there.

They are: principles.md, a page per principle below principles/, cli.md and reference.md.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from make_reference import reference_page
from sfumato._explain import Explanation, explain
from sfumato.cli import main
from sfumato.principles import PRINCIPLES, told

HERE = Path(__file__).parent

PRINCIPLES_HEAD = """\
# Principles

A principle is a condition on every group. `measure` gives each group's level, `holds` the verdict; both are exact. A
principle is *monotone* if the union of two groups that satisfy it always satisfies it, with the table as a whole
unchanged; a property test holds each claim, and a counter-example stands for each principle that is not. Those that *ask for
a [distance](distances.md)* look at how near two sensitive values are under the distance that you declare.

Each name leads to a page with the definition, a worked example, what the principle does not protect against, and its source.
The same on a terminal:

```console
$ sfumato explain
$ sfumato explain dissimilarity
```
"""

PRINCIPLES_TAIL = """\
Every principle but k-anonymity also takes `on`: which sensitive attributes it is about (see [audit](audit.md)).

The papers that are cited by number: 000 *A General Proximity Privacy Principle*, 001 *XColor: Protecting General Proximity
Privacy*, 003 *(δ,l)-diversity*. Where a paper is wrong the text says what is done instead.

```{toctree}
:hidden:
:glob:

principles/*
```
"""

FAMILIES = {
    "How many people": ["k-anonymity"],
    "How near the secrets of a group are": [
        "dissimilarity",
        "epsilon-m-anonymity",
        "delta-l-diversity",
        "k-e-anonymity",
        "variance-control",
    ],
    "How many secrets, and how often each": [
        "alpha-k-anonymity",
        "distinct-l-diversity",
        "frequency-l-diversity",
        "entropy-l-diversity",
        "recursive-l-diversity",
        "p-sensitivity",
    ],
    "What a group tells that the table does not": ["t-closeness", "n-t-closeness", "beta-likeness", "delta-disclosure"],
}
"""The principles by what they look at."""

CLI_HEAD = """\
# The command line

Every verb, as `--help` tells it. The exit status is 0 if all went well and every principle holds, 1 if a principle does not
hold or cannot be reached, 2 if the input or the command is wrong, 3 if sfumato itself is at fault. `--json` prints the same
figures for a program to read.

## Completion

A shell completes verbs, options, configs and principles once it knows how. In bash:

```sh
mkdir -p ~/.local/share/bash-completion/completions
sfumato completion bash > ~/.local/share/bash-completion/completions/sfumato
```

In zsh, with a folder that is named in `fpath` before `compinit` is called:

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


def principles_page() -> str:
    """Every principle in a table, family by family."""
    parts = [PRINCIPLES_HEAD]
    for family, names in FAMILIES.items():
        lines = ["| in a config | | what it asks | monotone | asks for a distance |", "|---|---|---|---|---|"]
        for name in names:
            kind = PRINCIPLES[name]
            link = f"[{kind.title}](principles/{name}.md)"
            asks = [_yes(kind.monotone), _yes(kind.asks_distance)]
            lines.append(_row(f'`"{name}"`', link, told(kind).plain, *asks))
        parts.append(f"## {family}\n\n" + "\n".join(lines) + "\n")
    return "\n".join([*parts, PRINCIPLES_TAIL])


def principle_page(name: str) -> str:
    """One principle: what it asks, its worked example, how to ask for it, its limits and its source."""
    found = explain(name)
    words = found.words
    meanings = "\n".join(f"- `{key}`: {meaning}" for key, meaning in words.parameters.items())
    family = next(family for family in FAMILIES.values() if name in family)
    related = [f"[{PRINCIPLES[other].title}]({other}.md)" for other in family if other != name]
    see = " · ".join(["[all principles](../principles.md)", *related, f"`sfumato explain {name}`"])
    return f"""\
# {found.kind.title}

{words.plain}

**Definition.** {" ".join(filter(None, [words.definition, words.body]))}

## Example

{found.example.principle.label}:

{_example(found)}

## Ask for it

```toml
{found.toml()}
```

{meanings}

```python
{_doctest(found)}

```

## When groups are merged

{found.merging}

## Limits

{words.not_protected}

## Source

{words.source}

See also: {see}
"""


def _example(found: Explanation) -> str:
    """The groups of the example as a table, and below it the arithmetic."""
    example = found.example
    heads = [*example.quasi_identifiers, example.sensitive, *(f"{part.name}, {part.wanted}" for part in found.parts), ""]
    lines = [_row(*heads), "|" + "---|" * len(heads)]
    for line in found.lines():
        secrets = ", ".join(map(str, line.group.secrets))
        lines.append(_row(*line.group.key, secrets, *line.levels, "holds" if line.holds else "**fails**"))
    arithmetic = "\n".join(f"- {', '.join(line.group.key)}: {line.arithmetic}." for line in found.lines())
    return "\n".join(lines) + f"\n\n{arithmetic}"


def _doctest(found: Explanation) -> str:
    """The example in Python."""
    example = found.example
    columns = "\n".join(f"...     {_quoted(name)}: {_quoted(values)}," for name, values in example.columns().items())
    roles = f"quasi_identifiers={_quoted(list(example.quasi_identifiers))}, sensitive={_quoted([example.sensitive])}"
    return f"""\
>>> import pyarrow as pa
>>> import sfumato as sf
>>> people = pa.table({{
{columns}
... }})
>>> schema = sf.Schema({roles})
>>> sf.audit(people, schema, {found.python()})
{found.audit!r}"""


def _quoted(value: object) -> str:
    return repr(value).replace("'", '"')


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _yes(answer: bool) -> str:
    return "yes" if answer else "no"


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
    **{f"principles/{name}.md": partial(principle_page, name) for name in PRINCIPLES},
    "cli.md": cli_page,
    "reference.md": reference_page,
}

if __name__ == "__main__":
    (HERE / "principles").mkdir(exist_ok=True)
    for page, make in PAGES.items():
        (HERE / page).write_text(make(), encoding="utf-8")

"""Write the pages of the principles from their docstrings and worked examples."""

from __future__ import annotations

from sfumato._explain import Explanation, MeasuredExample, explain
from sfumato.principles import Principle, describe
from sfumato.registry import PRINCIPLES

HEAD = """\
# Principles

A principle is a condition on every group. `measure` returns the level of each group, `holds` the verdict; both are exact. A
principle is *monotone* if the union of two groups that satisfy it always satisfies it, with the table as a whole unchanged.
A property test checks each claim, and each principle that is not monotone has a counter-example. Principles that *use a
[distance](distances.md)* measure how near two sensitive values are under the distance that you declare. Dissimilarity has
several [shapes](shapes.md), of which the table lists the default; two of them are monotone.

Each name leads to a page with the definition, a worked example, what the principle does not protect against, and its source.
The same on a terminal, and in Python with `sf.explain("dissimilarity")`:

```console
$ sfumato explain
$ sfumato explain dissimilarity
```
"""

TAIL = """\
Every principle but k-anonymity, k-map and δ-presence also takes `on`: the sensitive attributes that it applies to (see
[audit](audit.md)). Some compare a release with a [population](population.md). To add a principle of your own, see
[extend sfumato](extending.md).

Where a source is wrong, the text says what is done instead. The [bibliography](bibliography.md) lists all sources.

```{toctree}
:hidden:
:glob:

principles/*
```
"""

FAMILIES = {
    "size": "The number of people",
    "nearness": "How near the secrets of a group are",
    "diversity": "How many secrets, and how frequent each is",
    "distribution": "What a group reveals that the table does not",
    "membership": "Who is in the table, compared with a population",
    "other": "Other principles",
}
"""The heading of each `Principle.family`."""


def principles_page() -> str:
    """Return every principle in a table, family by family."""
    parts = [HEAD]
    for family, heading in FAMILIES.items():
        kinds = _of_family(family)
        if not kinds:
            continue
        lines = ["| in a config | principle | in plain words | monotone | uses a distance |", "|---|---|---|---|---|"]
        for kind in kinds:
            link = f"[{kind.title}](principles/{kind.name}.md)"
            answers = [_yes(kind.monotone), _yes(kind.uses_distance)]
            lines.append(_row(f'`"{kind.name}"`', link, describe(kind).plain, *answers))
        parts.append(f"## {heading}\n\n" + "\n".join(lines) + "\n")
    return "\n".join([*parts, TAIL])


def _of_family(family: str) -> list[type[Principle]]:
    """Return the built-in principles of a family; plug-ins have documentation of their own."""
    return [kind for kind in (PRINCIPLES[name] for name in PRINCIPLES.entries) if kind.family == family]


def principle_page(name: str) -> str:
    """Return the page of one principle: definition, worked example, how to request it, limits and source."""
    found = explain(name)
    words, measured = found.words, found.measured
    assert measured is not None, f"{name} has no worked example"
    meanings = "\n".join(f"- `{key}`: {meaning}" for key, meaning in words.parameters.items())
    related = [f"[{other.title}]({other.name}.md)" for other in _of_family(found.kind.family) if other.name != name]
    see = " · ".join(["[all principles](../principles.md)", *related, f"`sfumato explain {name}`"])
    return f"""\
# {found.kind.title}

{words.plain}

**Definition.** {" ".join(filter(None, [words.definition, words.body]))}

## Example

{measured.example.principle.label}:

{_example(measured)}

## How to request it

```toml
{found.toml()}
```

{meanings}

```python
{_doctest(found, measured)}

```

## When groups are merged

{found.merging}

## Several rows per person

{words.units} See [several rows per person](../people.md).

## Limits

{words.not_protected}

## Source

{words.source}

See also: {see}
"""


def _example(measured: MeasuredExample) -> str:
    """Return the groups of the example as a table, and below it the arithmetic."""
    example, lines = measured.example, measured.lines()
    heads = [*example.key_names, example.sensitive, *(f"{part.name}, {part.wanted}" for part in measured.parts), ""]
    rows = [_row(*heads), "|" + "---|" * len(heads)]
    for line in lines:
        secrets = line.group.shown
        rows.append(_row(*line.group.key, secrets, *line.levels, "holds" if line.holds else "**fails**"))
    arithmetic = "\n".join(f"- {', '.join(line.group.key)}: {line.arithmetic}." for line in lines)
    population = f"\n\n{measured.population}" if measured.population else ""
    return "\n".join(rows) + f"\n\n{arithmetic}{population}"


def _doctest(found: Explanation, measured: MeasuredExample) -> str:
    """Return the example in Python."""
    example = measured.example
    columns = "\n".join(f"...     {_quoted(name)}: {_quoted(values)}," for name, values in example.columns().items())
    roles = f"quasi_identifiers={_quoted(list(example.quasi_identifiers))}, sensitive={_quoted([example.sensitive])}"
    register = ""
    if example.population:
        people = "\n".join(
            f"...     {_quoted(name)}: {_quoted(values)}," for name, values in example.population_columns().items()
        )
        register = f"\n>>> register = sf.Population(pa.table({{\n{people}\n... }}))"
        roles += ", population=register"
    roles += "" if example.group is None else f", group={_quoted(example.group)}"
    return f"""\
>>> import pyarrow as pa
>>> import sfumato as sf
>>> people = pa.table({{
{columns}
... }}){register}
>>> schema = sf.Schema({roles})
>>> sf.audit(people, schema, {found.python()})
{measured.audit!r}"""


def _quoted(value: object) -> str:
    return repr(value).replace("'", '"')


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _yes(answer: bool) -> str:
    return "yes" if answer else "no"

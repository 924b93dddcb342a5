"""A principle in words, from its docstring: what reports, `sfumato explain` and the documentation say about it."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from inspect import cleandoc

from sfumato.principles.principle import UNITS, Principle

ON = 'the sensitive attributes that it applies to: "each" alone, all as a "whole", a name, or several names taken together.'
"""The meaning of the parameter `on`."""


@dataclass(frozen=True)
class Description:
    """The parts of a principle's docstring. Each text is one line, empty if it is absent; wrap it where it is shown."""

    definition: str
    """What every group must satisfy, in a sentence."""
    plain: str
    """The same in plain words, in a sentence."""
    body: str
    """How the level is measured, and where that differs from the source."""
    parameters: dict[str, str]
    """The meaning of each parameter, by its name in a config."""
    monotone: bool
    """Whether the union of two groups that satisfy it always satisfies it."""
    merging: str
    """The same in words: "Monotone.", or "Not monotone" and why."""
    not_protected: str
    """The sentence that begins "Does not protect against"."""
    units: str
    """How it counts people or households that have several rows each."""
    source: str
    """Where it comes from, without the word "Source"."""


def describe(principle: type[Principle] | Principle) -> Description:
    """Split the docstring of a principle into its parts; of a requirement, the docstring of what its parameters request.

    Its paragraphs are: the definition; "In plain words: …"; details; a list of the parameters; "Monotone." or "Not
    monotone" and why; "Does not protect against …"; "Source: …"; an example. All but the definition may be absent.

    >>> from sfumato.principles import KAnonymity
    >>> describe(KAnonymity).definition
    'Every group contains at least k people.'
    >>> describe(KAnonymity).parameters
    {'k': 'the smallest number of people in a group.'}
    """
    kind = principle if isinstance(principle, type) else type(principle)
    described = kind if isinstance(principle, type) else principle.described_by
    definition, body, marked = _paragraphs(described)
    parameters = marked if described is kind else _paragraphs(kind)[2]
    return Description(
        definition=_line(definition),
        plain=_sentence(marked["In plain words: "].removeprefix("In plain words: ")),
        body=" ".join(body).strip(),
        parameters=_parameters(kind, parameters["- `"]),
        monotone=principle.monotone,
        merging=_line(marked["Monotone." if principle.monotone else "Not monotone"]),
        not_protected=_line(marked["Does not protect against "]),
        units=UNITS[principle.units],
        source=_line(marked["Source: "]).removeprefix("Source: "),
    )


def _paragraphs(described: type) -> tuple[str, list[str], dict[str, str]]:
    """Return the definition, the details, and the paragraphs that begin with a known word, by that word."""
    text, _, _ = cleandoc(described.__doc__ or "").partition("\n>>> ")
    definition, *rest = text.split("\n\n")
    marked = dict.fromkeys(
        ("In plain words: ", "- `", "Monotone.", "Not monotone", "Does not protect against ", "Source: "), ""
    )
    body = []
    for paragraph in rest:
        start = next((start for start in marked if paragraph.startswith(start)), None)
        if start is None:
            body.append(_line(paragraph))
        else:
            marked[start] = paragraph
    return definition, body, marked


def _parameters(kind: type[Principle], listed: str) -> dict[str, str]:
    """Return the list of parameters as a dict, with `on` where the principle has it."""
    meanings = {name: _line(meaning) for name, meaning in re.findall(r"^- `(\w+)`: (.*(?:\n  .*)*)", listed, re.MULTILINE)}
    has_on = any(field.name == "on" for field in fields(kind))  # type: ignore[arg-type]
    return {**meanings, "on": ON} if has_on else meanings


def _line(paragraph: str) -> str:
    return " ".join(paragraph.split())


def _sentence(text: str) -> str:
    line = _line(text)
    return line[:1].upper() + line[1:]

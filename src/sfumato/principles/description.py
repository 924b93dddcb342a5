"""A principle in words: its docstring, taken apart. What reports, `sfumato explain` and the docs say of it is said there."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from inspect import cleandoc

from sfumato.principles.base import Principle

ON = 'which sensitive attributes it is about: "each" alone, all as a "whole", a name, or several names taken together.'
"""What `on` means, wherever a principle has it."""


@dataclass(frozen=True)
class Description:
    """What the docstring of a principle says; every text is one line, to be wrapped where it is shown."""

    definition: str
    """What is asked of every group, in a sentence."""
    plain: str
    """The same in plain words, in a sentence."""
    body: str
    """How the level is measured, and where that departs from the source; empty if there is nothing to add."""
    parameters: dict[str, str]
    """What each parameter means, by its name in a config."""
    monotone: bool
    """Whether the union of two groups that satisfy it always satisfies it."""
    merging: str
    """The same in words: "Monotone.", or "Not monotone" and why."""
    not_protected: str
    """The sentence that begins "Does not protect against"."""
    source: str
    """Where it comes from, without the word "Source"."""


def told(kind: type[Principle]) -> Description:
    """Take the docstring of a principle apart.

    Its paragraphs are: the definition; "In plain words: …"; anything more about it; a list of the parameters; "Monotone."
    or "Not monotone" and why; "Does not protect against …"; "Source: …"; an example.

    >>> from sfumato.principles import KAnonymity
    >>> told(KAnonymity).definition
    'Every group holds at least k people.'
    >>> told(KAnonymity).parameters
    {'k': 'how many people a group holds at least.'}
    """
    text, _, _ = cleandoc(str(kind.__doc__)).partition("\n>>> ")
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
    return Description(
        definition=_line(definition),
        plain=_sentence(marked["In plain words: "].removeprefix("In plain words: ")),
        body=" ".join(body).strip(),
        parameters=_parameters(kind, marked["- `"]),
        monotone=kind.monotone,
        merging=_line(marked["Monotone." if kind.monotone else "Not monotone"]),
        not_protected=_line(marked["Does not protect against "]),
        source=_line(marked["Source: "]).removeprefix("Source: "),
    )


def _parameters(kind: type[Principle], listed: str) -> dict[str, str]:
    """The list of parameters as a dict, with `on` where the principle has it."""
    found = {name: _line(meaning) for name, meaning in re.findall(r"^- `(\w+)`: (.*(?:\n  .*)*)", listed, re.MULTILINE)}
    has_on = any(field.name == "on" for field in fields(kind))  # type: ignore[arg-type]
    return {**found, "on": ON} if has_on else found


def _line(paragraph: str) -> str:
    return " ".join(paragraph.split())


def _sentence(text: str) -> str:
    line = _line(text)
    return line[:1].upper() + line[1:]

"""Explain a principle: what its docstring says, with its worked example measured as it is asked for."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import pyarrow as pa

from sfumato._audit import Audit, audit, level_shown
from sfumato.data.schema import Schema
from sfumato.errors import ParameterError
from sfumato.principles import PRINCIPLES, Part, Principle
from sfumato.principles.description import Description, told
from sfumato.principles.examples import EXAMPLES, Example, Group

MERGING = {
    True: "Two groups that satisfy it still do when they are merged: making groups larger never breaks it, and if the table "
    "as one group fails it, every grouping does.",
    False: "Two groups that satisfy it may fail it when they are merged: making groups larger is not always safer.",
}
"""What it means that a principle is monotone, or not."""


@dataclass(frozen=True)
class Line:
    """One group of a worked example, measured: its level in each part, the verdict, and the arithmetic."""

    group: Group
    levels: tuple[str, ...]
    holds: bool
    arithmetic: str


@dataclass(frozen=True, eq=False)
class Explanation:
    """A principle explained: its words, and its example with what was measured."""

    kind: type[Principle]
    words: Description
    example: Example
    audit: Audit

    @property
    def parts(self) -> tuple[Part, ...]:
        """The requirements of the principle, as they were measured."""
        return self.audit[0].measurement.parts

    @property
    def merging(self) -> str:
        """Whether it is monotone, and what that means."""
        return f"{self.words.merging} {MERGING[self.kind.monotone]}"

    def lines(self) -> list[Line]:
        """The groups of the example, in the order in which it states them."""
        numbers = {tuple(self.audit.quasi_identifiers(g).values()): g for g in range(self.audit.groups.count)}
        holds = self.audit[0].measurement.group_holds
        found = []
        for group in self.example.groups:
            number = numbers[group.key]
            levels = tuple(level_shown(part.at(number), part.threshold) for part in self.parts)
            arithmetic = f"{group.why}: {_equation(group.sum, levels[0], self.parts[0].at(number))}"
            found.append(Line(group, levels, bool(holds[number]), arithmetic))
        return found

    def toml(self) -> str:
        """How a config asks for it, with the example's parameters."""
        lines = [f"{key} = {_written(value)}" for key, value in self.example.principle.parameters().items()]
        return "\n".join(["[[principles]]", f'name = "{self.kind.name}"', *lines])

    def python(self) -> str:
        """How Python asks for it, with the example's parameters."""
        given = [f"{key}={_written(value)}" for key, value in self.example.principle.parameters().items()]
        return f"sf.{self.kind.__name__}({', '.join(given)})"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, ready for JSON."""
        return {
            "name": self.kind.name,
            "title": self.kind.title,
            "definition": self.words.definition,
            "plain": self.words.plain,
            "details": self.words.body,
            "parameters": self.words.parameters,
            "monotone": self.kind.monotone,
            "merging": self.merging,
            "not_protected": self.words.not_protected,
            "asks_distance": self.kind.asks_distance,
            "example": {
                "parameters": self.example.principle.parameters(),
                "table": self.example.columns(),
                "wanted": {part.name: part.wanted for part in self.parts},
                "groups": [
                    {
                        "quasi_identifiers": dict(zip(self.example.quasi_identifiers, line.group.key, strict=True)),
                        self.example.sensitive: list(line.group.secrets),
                        "measured": dict(zip((part.name for part in self.parts), line.levels, strict=True)),
                        "holds": line.holds,
                        "arithmetic": line.arithmetic,
                    }
                    for line in self.lines()
                ],
            },
            "config": self.toml(),
            "python": self.python(),
            "source": self.words.source,
        }


def explain(name: str) -> Explanation:
    """Explain the principle of a name: the one in a config, its title in the literature, or its class in Python.

    >>> explain("K-Anonymity").kind.title, explain("(ε,m)-anonymity").kind.name
    ('k-anonymity', 'epsilon-m-anonymity')
    >>> explain("dissimilarity").lines()[0].arithmetic
    '500 has 490 and 510 within 10 of it: 2 of the 3 others: 2/3 ≈ 0.6667'
    """
    kind = named(name)
    example = EXAMPLES[kind.name]
    schema = Schema(example.quasi_identifiers, [example.sensitive])
    return Explanation(kind, told(kind), example, audit(pa.table(example.columns()), schema, example.principle))


def named(name: str) -> type[Principle]:
    """The principle that a person means; an error that suggests the nearest ones if it is none."""
    known = {_key(word): kind for kind in PRINCIPLES.values() for word in (kind.name, kind.title, kind.__name__)}
    asked = _key(name)
    if asked in known:
        return known[asked]
    within = [kind for kind in PRINCIPLES.values() if asked and asked in _key(kind.name)]
    near = [known[key] for key in get_close_matches(asked, known, n=3, cutoff=0.7)]
    close = list(dict.fromkeys(kind.name for kind in within or near))
    hint = f"Did you mean {' or '.join(close)}?" if close else f"The principles are: {', '.join(PRINCIPLES)}."
    raise ParameterError(f"there is no principle {name!r}", remedy=hint, key="PRINCIPLE", value=name)


def _key(name: str) -> str:
    """A name without case, blanks and signs: "(k,e)-Anonymity" and "KEAnonymity" are the same."""
    return re.sub(r"[\W_]", "", name.casefold())


def _equation(arithmetic: str, shown: str, level: Any) -> str:
    """The arithmetic with what it comes to; a number alone says it already."""
    if arithmetic == shown:
        return arithmetic
    exact = shown != "∞" and float(shown.replace(",", "")) == float(level)
    return f"{arithmetic} {'=' if exact else '≈'} {shown}"


def _written(value: Any) -> str:
    """A parameter as it may stand in a config and in Python: whole numbers bare, other numbers as text."""
    return value if isinstance(value, str) and value.isdigit() else json.dumps(value, ensure_ascii=False)

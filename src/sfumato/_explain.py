"""Explain a principle: what its docstring says, with its worked example measured when it is requested."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import pyarrow as pa

from sfumato._audit import audit
from sfumato.audits.audit_result import Audit
from sfumato.data.population import Population
from sfumato.data.schema import Schema
from sfumato.errors import ParameterError, PluginError
from sfumato.exact.shown_levels import level_shown
from sfumato.principles import Description, Dissimilarity, Example, ExampleGroup, Part, Principle, describe
from sfumato.principles.principle import check_principle_class
from sfumato.principles.requests import python_name
from sfumato.principles.shapes import SHAPES
from sfumato.registry import PLUGIN_HINT, PRINCIPLES, required_parameters

MERGING = {
    True: "Two groups that satisfy it still satisfy it when they are merged: larger groups never violate it, and if the "
    "table as one group violates it, every grouping does.",
    False: "Two groups that satisfy it may violate it when they are merged: larger groups are not always safer.",
}
"""What it means that a principle is monotone, or not."""

_PLACEHOLDER = "…"
"""Shown in place of a value that the user must choose."""


@dataclass(frozen=True)
class Line:
    """One group of a worked example, measured: its level in each part, the verdict, and the arithmetic."""

    group: ExampleGroup
    levels: tuple[str, ...]
    holds: bool
    arithmetic: str


@dataclass(frozen=True, eq=False)
class MeasuredExample:
    """A worked example with its audit."""

    example: Example
    audit: Audit

    @property
    def parts(self) -> tuple[Part, ...]:
        """The conditions of the principle, as measured."""
        return self.audit[0].measurement.parts

    @property
    def population(self) -> str:
        """The population of the example in words; empty if it has none."""
        counted = [f"{people} of {', '.join(key)}" for key, people in self.example.population]
        return f"The population: {' and '.join(counted)}." if counted else ""

    def lines(self) -> list[Line]:
        """Return the groups of the example, in its own order."""
        numbers = {tuple(self.audit.quasi_identifiers(g).values()): g for g in range(self.audit.groups.count)}
        holds = self.audit[0].measurement.group_holds
        lines = []
        for group in self.example.groups:
            number = numbers[group.key]
            levels = tuple(level_shown(part.at(number), part.threshold) for part in self.parts)
            arithmetic = f"{group.why}: {_equation(group.sum, levels[0], self.parts[0].at(number))}"
            lines.append(Line(group, levels, bool(holds[number]), arithmetic))
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return the example as plain data, ready for JSON."""
        return {
            "parameters": self.example.principle.parameters(),
            "table": self.example.columns(),
            **({"population": self.example.population_columns()} if self.example.population else {}),
            "wanted": {part.name: part.wanted for part in self.parts},
            "groups": [
                {
                    "quasi_identifiers": dict(zip(self.example.key_names, line.group.key, strict=True)),
                    self.example.sensitive: list(line.group.secrets),
                    "measured": dict(zip((part.name for part in self.parts), line.levels, strict=True)),
                    "holds": line.holds,
                    "arithmetic": line.arithmetic,
                }
                for line in self.lines()
            ],
        }


@dataclass(frozen=True, eq=False)
class Explanation:
    """A principle explained: its description, and its worked example with the measured levels.

    >>> explanation = explain("k-anonymity")
    >>> print(explanation.words.plain)
    The quasi-identifiers narrow nobody down to fewer than k people.
    >>> print(explanation.toml())
    [[principles]]
    name = "k-anonymity"
    k = 3
    """

    kind: type[Principle]
    words: Description
    measured: MeasuredExample | None
    """The worked example; None if the principle has none."""

    @property
    def merging(self) -> str:
        """Whether the principle is monotone, and what that means."""
        return f"{self.words.merging} {MERGING[self.words.monotone]}".strip()

    def toml(self) -> str:
        """Return the section of a config that requests the principle, with the parameters of the example."""
        lines = [f"{key} = {_written(value)}" for key, value in self._parameters().items()]
        population = ["", "[population]", 'path = "population.csv"'] if self.kind.uses_population else []
        return "\n".join(["[[principles]]", f'name = "{self.kind.name}"', *lines, *population])

    def python(self) -> str:
        """Return the Python expression for the principle, with the parameters of the example."""
        arguments = [f"{key}={_written(value)}" for key, value in self._parameters().items()]
        return f"{python_name(self.kind)}({', '.join(arguments)})"

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters of the example; without one, a placeholder for each parameter that is required."""
        if self.measured is None:
            return dict.fromkeys(required_parameters(self.kind), _PLACEHOLDER)
        return self.measured.example.principle.parameters()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON."""
        return {
            "name": self.kind.name,
            "title": self.kind.title,
            "definition": self.words.definition,
            "plain": self.words.plain,
            "details": self.words.body,
            "parameters": self.words.parameters,
            "monotone": self.words.monotone,
            "merging": self.merging,
            "not_protected": self.words.not_protected,
            "several_rows": self.words.units,
            "uses_distance": self.kind.uses_distance,
            "example": None if self.measured is None else self.measured.to_dict(),
            "config": self.toml(),
            "python": self.python(),
            "source": self.words.source,
        }


def explain(name: str, shape: str | None = None) -> Explanation:
    """Explain a principle, by its name in a config, its title in the literature, or its class in Python.

    The worked example is a table that can be counted by hand. Its levels and verdicts are measured. `shape`: that of a
    dissimilarity, instead of the star.

    >>> import sfumato as sf
    >>> sf.explain("K-Anonymity").kind.title, sf.explain("(ε,m)-anonymity").kind.name
    ('k-anonymity', 'epsilon-m-anonymity')
    >>> sf.explain("dissimilarity", shape="ball").words.monotone
    True
    >>> for line in sf.explain("dissimilarity").measured.lines():
    ...     print(line.holds, "-", line.arithmetic)
    False - 500 has 490 and 510 within 10 of it: 2 of the 3 others: 2/3 ≈ 0.6667
    True - no salary has another within 10 of it: 0 of the 2 others: 0/2 = 0
    """
    kind = find_principle(name)
    check_principle_class(kind)
    example = kind.example() if shape is None else _example_of_shape(kind, shape)
    if example is None:
        return Explanation(kind, describe(kind), None)
    population = Population(pa.table(example.population_columns())) if example.population else None
    schema = Schema(example.quasi_identifiers, [example.sensitive], group=example.group, population=population)
    measured = audit(pa.table(example.columns()), schema, example.principle)
    return Explanation(kind, describe(kind if shape is None else example.principle), MeasuredExample(example, measured))


def _example_of_shape(kind: type[Principle], shape: str) -> Example:
    """Return the worked example of a shape; a principle without shapes, or an unknown one, is an error."""
    if not issubclass(kind, Dissimilarity):
        raise ParameterError(
            f"the principle {kind.name} has no shapes",
            remedy=f"Shapes are those of {Dissimilarity.name}: leave the shape out.",
            key="shape",
            value=shape,
        )
    if shape not in SHAPES:
        close = get_close_matches(shape, SHAPES, n=1)
        hint = f"Did you mean {close[0]!r}? " if close else ""
        raise ParameterError(
            f"there is no shape {shape!r}", remedy=f"{hint}The shapes are: {', '.join(SHAPES)}.", key="shape", value=shape
        )
    return kind.example(shape)


def find_principle(name: str) -> type[Principle]:
    """Return the principle that a person means; an unknown name is an error that suggests near ones.

    A plug-in is imported only if it is named as in a config.
    """
    if name in PRINCIPLES:
        return PRINCIPLES[name]  # type: ignore[no-any-return]
    kinds: list[type[Principle]] = [PRINCIPLES[entry] for entry in PRINCIPLES.entries]
    known = {_key(word): kind for kind in kinds for word in (kind.name, kind.title, kind.__name__)}
    key = _key(name)
    if key in known:
        return known[key]
    within = [kind for kind in kinds if key and key in _key(kind.name)]
    near = [known[match] for match in get_close_matches(key, known, n=3, cutoff=0.7)]
    close = list(dict.fromkeys(kind.name for kind in within or near))
    hint = f"Did you mean {' or '.join(close)}?" if close else f"The principles are: {', '.join(PRINCIPLES)}."
    raise ParameterError(f"there is no principle {name!r}", remedy=f"{hint} {PLUGIN_HINT}", key="PRINCIPLE", value=name)


def summaries() -> dict[str, str]:
    """Return each principle with one sentence about it; a plug-in that cannot be loaded with the reason."""
    found = {}
    for name in PRINCIPLES:
        try:
            words = describe(PRINCIPLES[name])
            found[name] = words.plain or words.definition
        except PluginError as error:
            found[name] = f"Cannot be loaded: {error.problem}."
    return found


def _key(name: str) -> str:
    """Return a name without case, blanks and signs: "(k,e)-Anonymity" and "KEAnonymity" are the same."""
    return re.sub(r"[\W_]", "", name.casefold())


def _equation(arithmetic: str, shown: str, level: Any) -> str:
    """Return the arithmetic with its result; a number alone is its own result."""
    if arithmetic == shown:
        return arithmetic
    exact = shown != "∞" and float(shown.replace(",", "")) == float(level)
    return f"{arithmetic} {'=' if exact else '≈'} {shown}"


def _written(value: Any) -> str:
    """Return a parameter in the form that both a config and Python accept: whole numbers bare, other numbers as text."""
    bare = isinstance(value, str) and (value.isdigit() or value == _PLACEHOLDER)
    return value if bare else json.dumps(value, ensure_ascii=False)

"""Errors of pydantic in a config, reported under the key as the user wrote it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from sfumato.config.sections import Section
from sfumato.errors import ConfigError

_HINTS = {
    "principles": "Write [[principles]], in double brackets, before each one.",
    "distance": 'Write a table, such as { kind = "lp" }.',
    "columns": "Write a table, such as [columns.age].",
}
"""What to write instead of a value of the wrong type, by the last word of the key."""


def config_error(error: ValidationError, file: str | None, top: type[Section]) -> ConfigError:
    """Return the first error, under the key as the user wrote it; a misspelt key before the key that is then missing."""
    problems = error.errors(include_url=False)
    first = next((problem for problem in problems if problem["type"] == "extra_forbidden"), problems[0])
    # a column's hierarchy is a text or a table; pydantic adds the name of the alternative to the place
    place = [str(part) for part in first["loc"] if part not in ("str", "HierarchySection")]
    key, last = ".".join(place), place[-1]
    if first["type"] == "extra_forbidden":
        known = _known_keys(top, place)
        close = get_close_matches(last, known, n=1)
        remedy = f"Did you mean {close[0]!r}?" if close else f"The keys here are: {', '.join(known)}."
        return ConfigError("the key is unknown", remedy=remedy, file=file, key=key, value=first["input"])
    if first["type"] == "missing":
        return ConfigError("the key is missing", remedy="Add it.", file=file, key=key)
    message = first["msg"][0].lower() + first["msg"][1:]
    shown = repr(first["input"]) if isinstance(first["input"], str | int) else "the value"
    remedy = _HINTS.get(last) or _suggestion(first)
    return ConfigError(f"{shown} is invalid: {message}", remedy=remedy, file=file, key=key, value=first["input"])


def _suggestion(problem: ErrorDetails) -> str:
    """Return the choice that a misspelt one is closest to; for other values, where valid ones are listed."""
    choices = re.findall(r"'([^']*)'", str(problem.get("ctx", {}).get("expected", "")))
    close = get_close_matches(str(problem["input"]), choices, n=1)
    return f"Did you mean {close[0]!r}?" if close else "The page on the config lists the values of every key."


def _known_keys(top: type[Section], place: Sequence[str]) -> list[str]:
    """Return the keys that are allowed where an unknown one is."""
    section, is_name = top, False
    for part in place[:-1]:
        if is_name:  # the name of a column, or the number of an entry of a list
            is_name = False
            continue
        annotation = section.model_fields[part].annotation
        section = _sections_within(annotation)[0]
        is_name = any(get_origin(inner) in (dict, list) for inner in (annotation, *get_args(annotation)))
    return [key for key, field in section.model_fields.items() if not field.exclude]


def _sections_within(annotation: Any) -> list[type[Section]]:
    """Return the sections that a type annotation contains."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return [annotation]
    return [section for inner in get_args(annotation) for section in _sections_within(inner)]

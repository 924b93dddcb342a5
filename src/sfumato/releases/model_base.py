"""The base of the models of release.json: strict types, the order of the keys kept, unknown keys found."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from sfumato.summaries import short_call

Number = int | float
"""A JSON number. An integer stays an integer, so that a document is written as it was read."""


class Part(BaseModel):
    """A JSON object of release.json.

    Types are strict: "5" is not a number and true is not 1. Keys are written in the order in which the fields are declared,
    and a field that was not given is not written. A key that no field names is kept, and `unknown_keys` finds it: whether it
    is refused depends on the kind of release. The JSON Schema allows no such key.
    """

    model_config = ConfigDict(
        strict=True,
        frozen=True,
        extra="allow",
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        json_schema_extra={"additionalProperties": False},
    )

    def __repr__(self) -> str:
        return short_call(self, self.__repr_args__())

    def to_dict(self) -> dict[str, Any]:
        """Return plain data with the keys that were given, in the order in which release.json has them."""
        return self.model_dump(exclude_unset=True)


def as_json(content: Mapping[str, Any]) -> str:
    """Return the text that is written to release.json.

    >>> print(as_json({"rows": 2}), end="")
    {
      "rows": 2
    }
    """
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False, default=str) + "\n"


def unknown_keys(part: Part, within: str = "") -> Iterator[str]:
    """Yield the keys, at any depth, that the format does not know, such as `tables[0].colour`.

    >>> class Point(Part):
    ...     x: int
    >>> list(unknown_keys(Point.model_validate({"x": 1, "y": 2})))
    ['y']
    """
    yield from (f"{within}{key}" for key in sorted(part.model_extra or {}))
    for key in type(part).model_fields:
        yield from _unknown_within(getattr(part, key), f"{within}{key}.")


def _unknown_within(value: Any, within: str) -> Iterator[str]:
    if isinstance(value, Part):
        yield from unknown_keys(value, within)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _unknown_within(inner, f"{within}{key}.")
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield from _unknown_within(inner, f"{within.removesuffix('.')}[{position}].")


_EXPECTED = {
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "string_type": "text",
    "list_type": "a list",
    "dict_type": "a JSON object",
    "model_type": "a JSON object",
}
"""What pydantic's types of errors mean, in the words of JSON."""


def first_problem(error: ValidationError) -> tuple[str, str, Any]:
    """Return the key, the problem and the value of the first invalid entry; the key is written as in `tables[0].rows`.

    >>> class Point(Part):
    ...     x: int
    >>> try:
    ...     Point.model_validate({"x": "1"})
    ... except ValidationError as error:
    ...     first_problem(error)
    ('x', "invalid value '1'; expected a whole number", '1')
    """
    problems = error.errors(include_url=False)
    first = problems[0]
    place = _place(first["loc"])
    if first["type"] in ("union_tag_invalid", "union_tag_not_found"):  # the place is the whole part, and its kind is wrong
        place.append(f".{first['ctx']['discriminator'].strip(chr(39))}")
        key, wanted = "".join(place).removeprefix("."), first["ctx"].get("expected_tags", "one of the kinds of this version")
        return key, f"invalid value {_shortened(repr(first['input']))}; expected {wanted}", first["input"]
    key, value = "".join(place).removeprefix("."), first["input"]
    if first["type"] == "missing":
        return key, "the key is missing", None
    # a union reports one problem for each of its types
    types = [problem for problem in problems if _place(problem["loc"]) == place]
    expected = dict.fromkeys(_EXPECTED.get(each["type"], each["msg"].removeprefix("Input should be ")) for each in types)
    if "a number" in expected:
        expected.pop("a whole number", None)
    return key, f"invalid value {_shortened(repr(value))}; expected {' or '.join(expected)}", value


def _shortened(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


_BRANCHES = frozenset(("int", "float", "str", "list", "none", "constrained-str"))
"""What pydantic adds to a place to name the branch of a union that it tried; no key of release.json."""


_TAGS = frozenset(("uncovered", "revealing"))
"""What pydantic adds to a place to name the kind of a warning."""


def _place(loc: Sequence[int | str]) -> list[str]:
    *above, last = [part for i, part in enumerate(loc) if not (part in _TAGS and i and isinstance(loc[i - 1], int))]
    parts = [*above] if last in _BRANCHES or str(last).startswith("literal[") else [*above, last]
    return [f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts]

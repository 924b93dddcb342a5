"""Which sensitive attributes a principle is to be measured on."""

from __future__ import annotations

from sfumato.errors import ColumnProblem, ParameterProblem
from sfumato.principles.base import Principle
from sfumato.schema import Schema


def attributes_of(principle: Principle, schema: Schema) -> list[tuple[str, ...]]:
    """The sensitive attributes, each alone or several together, that a principle is to be measured on."""
    if principle.scope == "groups":
        return [()]
    declared = getattr(principle, "on", None)
    on = principle.scope if declared is None else declared
    if not schema.sensitive:
        raise ColumnProblem(
            f"the schema names no sensitive column, and {principle.title} needs one",
            remedy='Give a column the role "sensitive".',
        )
    if on == "each":
        return [(name,) for name in schema.sensitive]
    if on == "whole":
        return [tuple(schema.sensitive)]
    names = (on,) if isinstance(on, str) else tuple(on) if isinstance(on, list | tuple) else ()
    if not names or len(set(map(str, names))) != len(names):
        raise ParameterProblem(
            f"{principle.title}: on = {on!r} names no attribute, or one twice",
            remedy=f'Write "each", "whole", or some of: {", ".join(schema.sensitive)}.',
            key="on",
            value=on,
        )
    for name in names:
        if name not in schema.sensitive:
            raise ColumnProblem(
                f"{principle.title} is to be measured on what is not a sensitive attribute",
                remedy=f'The sensitive attributes are: {", ".join(schema.sensitive)}; or write "each" or "whole".',
                column=name,
            )
    return [names]

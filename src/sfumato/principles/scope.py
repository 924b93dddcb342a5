"""The sensitive attributes that a principle is measured on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches

from sfumato.data.schema import Schema
from sfumato.errors import ColumnError, ParameterError
from sfumato.principles.principle import Principle


def attributes_of(principle: Principle, schema: Schema) -> list[tuple[str, ...]]:
    """Return the sensitive attributes, each alone or several taken together, that a principle is measured on."""
    if principle.scope == "groups":
        return [()]
    declared = getattr(principle, "on", None)
    on = principle.scope if declared is None else declared
    if not schema.sensitive:
        raise ColumnError(
            f"the schema declares no sensitive column, and {principle.title} requires one",
            remedy='Give a column the role "sensitive".',
        )
    if on == "each":
        return [(name,) for name in schema.sensitive]
    if on == "whole":
        return [tuple(schema.sensitive)]
    names = (on,) if isinstance(on, str) else tuple(on) if isinstance(on, list | tuple) else ()
    if not names or len(set(map(str, names))) != len(names):
        raise ParameterError(
            f"{principle.title}: on = {on!r} names no attribute, or one of them twice",
            remedy=f'Write "each", "whole", or some of: {", ".join(schema.sensitive)}.',
            key="on",
            value=on,
        )
    for name in names:
        if name not in schema.sensitive:
            close = get_close_matches(str(name), [*schema.sensitive, "each", "whole"], n=1)
            hint = f"Did you mean {close[0]!r}? " if close else ""
            raise ColumnError(
                f"{principle.title}: `on` names a column that is not a sensitive attribute",
                remedy=f'{hint}The sensitive attributes are: {", ".join(schema.sensitive)}; or write "each" or "whole".',
                key="on",
                column=name,
                value=on,
            )
    return [names]


def covered_attributes(principles: Iterable[Principle], schema: Schema) -> set[str]:
    """Return the sensitive attributes that some principle protects, alone or together with others, in all their values.

    >>> from sfumato.principles import DistinctLDiversity, GuardedValues, KAnonymity
    >>> some = GuardedValues("judge", l=2, on="job")
    >>> covered_attributes([KAnonymity(2), some, DistinctLDiversity(2, on="ill")], Schema(["age"], ["ill", "job"]))
    {'ill'}
    """
    whole = (principle for principle in principles if principle.covers)
    return {name for principle in whole for names in attributes_of(principle, schema) for name in names}


def in_projection(
    principle: Principle, attributes: Sequence[str], sets: Mapping[str, Sequence[str]]
) -> tuple[Principle, ...] | None:
    """Return the requirements that a principle becomes in a table that has only some of the sensitive attributes.

    `sets`: the bits of each set-valued attribute that was encoded as bits. The table may reveal the set although every bit
    is protected, so a principle on each attribute also applies to the bits of a set taken together. A principle on an
    attribute of another table becomes nothing here. A principle on several attributes taken together, or on a set by its
    name, keeps them together: the result is None if only some of them are here.

    >>> from sfumato.principles import TCloseness
    >>> in_projection(TCloseness("0.2"), ["job", "dx=a", "dx=b"], {"dx": ("dx=a", "dx=b")})[1].on
    ('dx=a', 'dx=b')
    >>> in_projection(TCloseness("0.2", on="pay"), ["job"], {})
    ()
    >>> in_projection(TCloseness("0.2", on=("job", "pay")), ["job"], {}) is None
    True
    """
    on = getattr(principle, "on", None)
    if on is None:
        on = principle.scope
    if on in ("groups", "whole"):
        return (principle,)
    if on == "each":
        here = [tuple(bit for bit in attributes if bit in bits) for bits in sets.values()]
        return (principle, *(replace(principle, on=bits) for bits in here if len(bits) > 1))  # type: ignore[type-var]
    names = (on,) if isinstance(on, str) else tuple(on)
    parts = [part for name in names for part in sets.get(name, (name,))]
    present = tuple(name for name in parts if name in attributes)
    if 0 < len(present) < len(parts):
        return None
    if present == names:
        return (principle,)
    return (replace(principle, on=present if len(present) > 1 else present[0]),) if present else ()  # type: ignore[type-var]


def table_principles(
    principles: Sequence[Principle], schema: Schema, plan: Sequence[Sequence[str]]
) -> list[tuple[Principle, ...]]:
    """Return for each table of a plan the principles that are measured in it, where a table shows the secrets of groups.

    `plan`: the sensitive attributes of each table. Such a table has no quasi-identifiers, so a principle must read nothing
    but how often each secret occurs in each group, and all attributes that it takes together must be in one table.

    >>> from sfumato.principles import DistinctLDiversity, TCloseness
    >>> one, other = DistinctLDiversity(2), TCloseness("0.2", on="job")
    >>> [len(found) for found in table_principles([one, other], Schema(["age"], ["ill", "job"]), [["ill"], ["job"]])]
    [1, 2]
    """
    for principle in principles:
        if principle.scope == "groups" or not principle.histogram_only:
            raise ParameterError(
                f"{principle.title} reads more than the secrets of each group, and the quasi-identifiers are published "
                "exactly: everybody can find the people in the table, whatever cells or sizes their groups have",
                remedy="Require a principle about secrets alone, such as frequency-l-diversity, t-closeness or "
                "dissimilarity; or publish cells with sf.anonymize.",
                key="principles",
                value=principle.name,
            )
        for names in attributes_of(principle, schema):
            if not any(set(names) <= set(block) for block in plan):
                raise ParameterError(
                    f"{principle.title} takes {' + '.join(names)} together, and these secrets are in different tables, so "
                    "that nobody can link them",
                    remedy=f'Write on = "each" to measure each alone, or plan = [{list(names)!r}] to publish them together.',
                    key="plan",
                    value=[list(block) for block in plan],
                )
    return [tuple(one for principle in principles for one in in_projection(principle, block, {}) or ()) for block in plan]

"""Compare what release.json declares with the schema and the principles that the caller of `verify` passed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from sfumato.data.hierarchy import Hierarchy, HierarchyBuilder
from sfumato.data.hierarchy_builders import Prefix
from sfumato.data.near_unique import automatic_prefix
from sfumato.data.schema import Kind, Schema
from sfumato.data.table import Table
from sfumato.distances import Custom, Distance
from sfumato.errors import SfumatoError
from sfumato.exact import written
from sfumato.principles import Principle, principle_of
from sfumato.serialization import hierarchy_section

DECLARED = "release.json agrees with what is expected"


def first_difference(
    given: Schema,
    declared: Schema,
    original: Callable[[], Table] | None,
    published: Iterable[str],
    described: Iterable[str] | None = None,
) -> str | None:
    """Return the first difference between a schema that is given and the declared one; None if there is none.

    `declared` states the kind of every quasi-identifier and sensitive column. A kind that `given` leaves open is taken from
    the original, if there is one: `original` returns its table under the given schema. `published`: columns that are
    published under their own name. `described`: the columns of which release.json states more than the role, if those are
    not the quasi-identifiers and sensitive columns.

    >>> first_difference(Schema(["age"], ["ill"]), Schema(["age"]), None, ["age", "ill"])
    "the role of 'ill' is None in release.json, and 'sensitive' is given"
    """
    if described is None:
        described = (*given.quasi_identifiers, *given.sensitive_columns(), *given.vectors)
    return next(filter(None, _differences(given, declared, original, published, described)), None)


def _differences(
    given: Schema,
    declared: Schema,
    original: Callable[[], Table] | None,
    published: Iterable[str],
    described: Iterable[str],
) -> Iterator[str | None]:
    for name in {**given.named_columns(), **declared.named_columns(), **dict.fromkeys(published)}:
        yield _differ("role", name, given.role(name), declared.role(name))
    if set(given.sensitive) != set(declared.sensitive):
        yield f"{', '.join(declared.sensitive)} are sensitive in release.json, and {', '.join(given.sensitive)} are given"
    for name in described:
        kind = given.kinds.get(name)
        if kind is None and original is not None:
            kind = original().column(name).kind
        if kind is not None:
            yield _differ("kind", name, kind, declared.kinds.get(name))
        yield _differ("order", name, given.orders.get(name), declared.orders.get(name))
        yield _differ(
            "hierarchy", name, _tree(_resolved(given, declared, name, original)), _tree(declared.hierarchies.get(name))
        )
        yield _differ("recoding", name, given.recodings.get(name), declared.recodings.get(name))
        yield _differ("separator", name, given.separators.get(name), declared.separators.get(name))
        yield from _date_differences(given, declared, name, original if kind is Kind.DATE else None)
        yield _differ("columns", name, given.vectors.get(name), declared.vectors.get(name))
        yield _differ("weight", name, given.weights.get(name), declared.weights.get(name))
        yield _differ("never_mix", name, given.never_mix.get(name), declared.never_mix.get(name))
        yield _differ("coarsest", name, given.coarsest.get(name), declared.coarsest.get(name))
    for name in given.sensitive:
        if _distance(given.distances.get(name)) != _distance(declared.distances.get(name)):
            yield f"the distance of {name!r} in release.json differs from the one that is given"
    if _distance(given.distance) != _distance(declared.distance):
        yield "the distance in release.json differs from the one that is given"
    for key in ("person_id", "household_id", "undeclared", "unchanged_limit", "accepted", "preserve", "missing"):
        ours, theirs = getattr(given, key), getattr(declared, key)
        if ours != theirs:
            yield f"{key} is {_shown(theirs)} in release.json, and {_shown(ours)} is given"


def _shown(value: Any) -> str:
    return written(value) if isinstance(value, Fraction) else repr(list(value) if isinstance(value, tuple) else value)


def _date_differences(
    given: Schema, declared: Schema, name: str, original: Callable[[], Table] | None
) -> Iterator[str | None]:
    """Compare how dates are read; `original` is None for a column of another kind.

    What `given` leaves open is taken from the original, as far as it has it: typed columns have no format, and whether times
    are points in time is the same in each zone.
    """
    pattern, zone = given.formats.get(name), given.timezones.get(name)
    column = None if original is None else original().column(name)
    if pattern is None and column is not None:
        pattern = column.format
    if pattern is not None:
        yield _differ("format", name, pattern, declared.formats.get(name))
    stated = declared.timezones.get(name)
    if zone is None and column is not None:
        zone = stated if stated is not None and column.timezone is not None else column.timezone
    if zone is not None or column is not None:
        yield _differ("timezone", name, zone, stated)
    yield _differ("age_at", name, given.ages.get(name), declared.ages.get(name))


def _differ(key: str, name: str, given: Any, declared: Any) -> str | None:
    if given == declared:
        return None
    if isinstance(given, frozenset) or isinstance(declared, frozenset):
        return f"the {key} of {name!r} in release.json differs from the one that is given"
    ours, theirs = (str(value) if isinstance(value, str) else value for value in (given, declared))
    return f"the {key} of {name!r} is {theirs!r} in release.json, and {ours!r} is given"


def _resolved(given: Schema, declared: Schema, name: str, original: Callable[[], Table] | None) -> Any:
    """Return a given hierarchy as a release states it.

    What a builder takes from the rows is taken from the original. Without one, the declared hierarchy cannot be compared,
    and is accepted if the builder could have made it.
    """
    hierarchy, stated = given.hierarchies.get(name), declared.hierarchies.get(name)
    if hierarchy is None and isinstance(stated, Prefix) and name not in given.recodings:
        # near-unique codes are published as prefixes if the schema leaves it open
        return stated if original is None else automatic_prefix(original().column(name), original().units)
    if not isinstance(hierarchy, HierarchyBuilder):
        return hierarchy
    if original is not None:
        return hierarchy.resolved(original().column(name))
    return stated if hierarchy.may_resolve_to(stated) else hierarchy


def _tree(hierarchy: Any) -> Any:
    """Return a hierarchy as a value that can be compared: its rows, or how it is built from the values."""
    if isinstance(hierarchy, str | Path):
        hierarchy = Hierarchy.from_file(hierarchy)
    if isinstance(hierarchy, Hierarchy):
        return frozenset(map(tuple, hierarchy.rows()))
    section = hierarchy_section(hierarchy)
    return None if section is None else frozenset((key, json.dumps(value)) for key, value in section.items())


def _distance(distance: Distance | None) -> Any:
    """Return a distance as a value that can be compared; of a function only that it is one, because it is not declared."""
    if distance is None or isinstance(distance, Custom):
        return None if distance is None else (distance.name, distance.vectorised)
    return distance.name, as_plain_data(distance.parameters())


def as_plain_data(value: Any) -> Any:
    """Return plain data as it comes back from JSON."""
    return json.loads(json.dumps(value, default=str))


def in_declared_order(principles: Sequence[Principle], declared: Sequence[Any]) -> tuple[tuple[Principle, ...], str | None]:
    """Return the given principles in the order of release.json, and how they differ from those it declares, or None.

    >>> from sfumato.principles import KAnonymity
    >>> in_declared_order([KAnonymity(5)], [{"name": "k-anonymity", "k": 2}])[1]
    'release.json states k-anonymity (k = 2), but k-anonymity (k = 5) is requested'
    """
    left = list(principles)
    ordered, others = [], []
    for entry in declared:
        position = next((i for i, p in enumerate(left) if _entry(p) == entry), None)
        if position is None:
            others.append(_label(entry))
        else:
            ordered.append(left.pop(position))
    stated, requested = " and ".join(others), " and ".join(principle.label for principle in left)
    difference = None
    if stated and requested:
        difference = f"release.json states {stated}, but {requested} is requested"
    elif stated:
        difference = f"release.json states {stated}, but that is not requested"
    elif requested:
        difference = f"{requested} is requested, but release.json does not state it"
    return (*ordered, *left), difference


def _label(entry: Any) -> str:
    """Return a principle that release.json declares as it is shown elsewhere; as it is written, if it is invalid."""
    try:
        parameters = dict(entry)
        return principle_of(str(parameters.pop("name")), parameters).label
    except (SfumatoError, TypeError, ValueError, KeyError, AttributeError, IndexError):
        return str(entry)


def _entry(principle: Principle) -> Mapping[str, Any]:
    entry: Mapping[str, Any] = as_plain_data({"name": principle.name, **principle.parameters()})
    return entry


def allowed_recodings(schema: Schema, name: str) -> tuple[str, ...]:
    """Return how a quasi-identifier may be published under a schema that states its kind.

    With a hierarchy, if the schema leaves it open, the maker chooses between ancestors and what is published without one.

    >>> allowed_recodings(Schema(["sex"], hierarchies={"sex": "sex.csv"}), "sex")
    ('ancestor', 'set')
    """
    declared = schema.recodings.get(name)
    if declared is not None:
        return (declared,)
    plain = "interval" if schema.kinds.get(name) in (Kind.NUMERIC, Kind.DATE, Kind.ORDINAL) else "set"
    return ("ancestor", plain) if name in schema.hierarchies else (plain,)

"""A schema as plain data and back: the form that a config file and a release share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from sfumato.data.hierarchy import Hierarchy, HierarchyBuilder
from sfumato.data.hierarchy_builders import BUILDERS
from sfumato.data.schema import Kind, Missing, Role, Schema
from sfumato.data.schema_limits import classes_as_plain_data, weight_as_plain_data
from sfumato.distances import Custom, Distance
from sfumato.errors import ConfigError, SfumatoError
from sfumato.exact import as_fraction
from sfumato.registry import DISTANCES

COLUMN_KEYS = (
    "role", "kind", "order", "hierarchy", "recoding", "separator", "decimal", "format", "timezone", "age_at", "columns",
    "distance", "accepted", "weight", "never_mix", "coarsest",
)  # fmt: skip
"""The keys of a column."""


def stated(
    schema: Schema,
    hierarchy: Callable[[str, Any], Any],
    distance: Callable[[Distance | None], dict[str, Any] | None],
) -> dict[str, Any]:
    """Return a schema as plain data; callers write hierarchies and distances.

    >>> stated(Schema(["age"], ["income"]), lambda name, declared: None, lambda declared: None)["columns"]
    {'age': {'role': 'quasi-identifier'}, 'income': {'role': 'sensitive'}}
    """
    columns: dict[str, dict[str, Any]] = {}
    names = [*schema.identifiers, *schema.quasi_identifiers, *schema.sensitive, *schema.named_columns()]
    within = {column for parts in schema.vectors.values() for column in parts}
    for name in dict.fromkeys(names):
        declared: dict[str, Any] = {}
        role = Role.SENSITIVE if name in schema.vectors else schema.role(name)
        if (name not in within and role not in (None, Role.OTHER)) or name in schema.other:
            declared["role"] = str(role)
        kind = schema.kinds.get(name)
        declared |= {
            "kind": None if kind is None else str(kind),
            "order": list(schema.orders[name]) if name in schema.orders else None,
            "hierarchy": hierarchy(name, schema.hierarchies[name]) if name in schema.hierarchies else None,
            "recoding": schema.recodings.get(name),
            "separator": schema.separators.get(name),
            "decimal": schema.decimals.get(name),
            "format": schema.formats.get(name),
            "timezone": schema.timezones.get(name),
            "age_at": schema.ages.get(name),
            "columns": list(schema.vectors[name]) if name in schema.vectors else None,
            "distance": distance(schema.distances.get(name)),
            "accepted": schema.accepted.get(name),
            **_limits(schema, name),
        }
        declared = {key: value for key, value in declared.items() if value is not None}
        if declared:
            columns[name] = declared
    values = None if schema.missing.values is None else list(schema.missing.values)
    return {
        "columns": columns,
        "missing": {"values": values, "policy": schema.missing.policy},
        "distance": distance(schema.distance),
        "person_id": schema.person_id,
        "household_id": schema.household_id,
        "preserve": [list(pair) for pair in schema.preserve] or None,
    }


def _limits(schema: Schema, name: str) -> dict[str, Any]:
    """Return what limits the recoding of a column."""
    weight, classes = schema.weights.get(name), schema.never_mix.get(name)
    return {
        "weight": None if weight is None else weight_as_plain_data(as_fraction(weight)),
        "never_mix": None if classes is None else classes_as_plain_data(tuple(classes)),
        "coarsest": schema.coarsest.get(name),
    }


def schema_of(
    declared: Mapping[str, Any],
    hierarchy: Callable[[Any, str], Any],
    distance: Callable[[Mapping[str, Any], str], Distance],
    **more: Any,
) -> Schema:
    """Return the schema that plain data declares; an invalid value is a ConfigError with the key.

    >>> schema_of({"columns": {"age": {"role": "quasi-identifier"}}}, hierarchy_of, distance_of).quasi_identifiers
    ('age',)
    """
    columns: Mapping[str, Mapping[str, Any]] = declared.get("columns", {})
    for name, column in columns.items():
        _refuse_unknown(name, column)
    missing: Mapping[str, Any] = declared.get("missing", {})

    def of_role(role: Role) -> list[str]:
        return [name for name, column in columns.items() if column.get("role") == role]

    def each(key: str) -> dict[str, Any]:
        return {name: column[key] for name, column in columns.items() if column.get(key) is not None}

    distances = {name: distance(value, f"columns.{name}.distance") for name, value in each("distance").items()}
    section = declared.get("distance")
    whole = None if section is None else distance(section, "distance")
    values = missing.get("values")
    try:
        return Schema(
            quasi_identifiers=of_role(Role.QUASI_IDENTIFIER),
            sensitive=of_role(Role.SENSITIVE),
            identifiers=of_role(Role.IDENTIFIER),
            other=of_role(Role.OTHER),
            kinds=each("kind"),
            orders=each("order"),
            hierarchies={name: hierarchy(value, f"columns.{name}.hierarchy") for name, value in each("hierarchy").items()},
            recodings=each("recoding"),
            vectors=each("columns"),
            separators=each("separator"),
            decimals=each("decimal"),
            formats=each("format"),
            timezones=each("timezone"),
            ages=each("age_at"),
            distance=whole,
            distances=distances,
            accepted=each("accepted"),
            missing=Missing(None if values is None else tuple(values), missing.get("policy", "value")),
            weights=each("weight"),
            never_mix=each("never_mix"),
            coarsest=each("coarsest"),
            preserve=declared.get("preserve") or (),
            **{"person_id": declared.get("person_id"), "household_id": declared.get("household_id"), **more},
        )
    except ConfigError:
        raise
    except SfumatoError as error:
        raise located(error, f"columns.{error.column}" if error.column else "") from error


def _refuse_unknown(name: str, column: Mapping[str, Any]) -> None:
    """Raise an error for an unknown key or role: a typing error would change what is published."""
    for key in column:
        if key not in COLUMN_KEYS:
            remedy = f"Write one of: {', '.join(COLUMN_KEYS)}."
            raise ConfigError("the key is unknown", remedy=remedy, key=f"columns.{name}.{key}", column=name)
    for key, known in (("role", Role), ("kind", Kind)):
        value = column.get(key)
        if key in column and value not in list(known):
            problem, remedy = f"{key} {value!r} is unknown", f"Write one of: {', '.join(known)}."
            raise ConfigError(problem, remedy=remedy, key=f"columns.{name}.{key}", column=name, value=value)


def hierarchy_section(declared: Any) -> dict[str, Any] | None:
    """Return a hierarchy that is built from the values of the data as plain data; None for any other.

    >>> from sfumato.data.hierarchy import Intervals
    >>> hierarchy_section(Intervals((5, 10)))
    {'intervals': [5, 10], 'origin': 0}
    """
    return declared.section() if isinstance(declared, HierarchyBuilder) else None


def hierarchy_of(declared: Mapping[str, Any], key: str) -> HierarchyBuilder | Hierarchy:
    """Return the hierarchy that a section declares: a builder with its parameters, or listed row by row.

    >>> hierarchy_of({"flat": True}, "columns.sex.hierarchy")
    Flat()
    """
    section = {name: value for name, value in declared.items() if value is not None and value is not False}
    given = [name for name in (*BUILDERS, "rows") if name in section]
    try:
        if given == ["rows"]:
            return Hierarchy.from_rows(section["rows"])
        if len(given) == 1:
            builder = BUILDERS[given[0]]
            # the first field is the value of the key
            known = {builder.key, *(each.name for each in fields(builder)[1:])}  # type: ignore[arg-type]
            for name, value in section.items():
                if name not in known:
                    problem = f"the builder {builder.key!r} has no parameter {name!r}"
                    raise ConfigError(problem, remedy="Remove it.", key=f"{key}.{name}", value=value)
            return builder.of_section(section)
    except ConfigError:
        raise
    except SfumatoError as error:
        raise located(error, key) from error
    raise ConfigError(
        f"the hierarchy names {'no builder' if not given else 'several builders: ' + ', '.join(given)}",
        remedy=f"Write a file name, or one builder such as {{ intervals = [5, 10] }}; there are: {', '.join(BUILDERS)}.",
        key=key,
    )


def distance_of(declared: Mapping[str, Any], key: str) -> Distance:
    """Return the distance that a section declares.

    >>> distance_of({"kind": "lp", "p": 2}, "distance").name
    'lp'
    """
    parameters = dict(declared)
    name = parameters.pop("kind", None)
    kind: type[Distance] | None = DISTANCES.get(str(name))
    if kind is None:
        problem = f"the distance kind {name!r} is unknown" if name else "a distance has no kind"
        remedy = f"Write one of: {', '.join(DISTANCES)}."
        raise ConfigError(problem, remedy=remedy, key=f"{key}.kind", value=name)
    known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    remedy = f"Its parameters are: {', '.join(known) or 'none'}."
    for parameter, value in parameters.items():
        if parameter not in known:
            problem = f"the distance {name!r} has no parameter {parameter!r}"
            raise ConfigError(problem, remedy=remedy, key=f"{key}.{parameter}", value=value)
    if name == Custom.name and not isinstance(parameters.get("function"), str):
        raise ConfigError(
            "the distance 'function' names no function",
            remedy='Write function = "file.py:function".',
            key=f"{key}.function",
        )
    try:
        return kind(**parameters)
    except SfumatoError as error:
        raise located(error, key) from error
    except (TypeError, AttributeError) as error:
        problem = f"a parameter of the distance {name!r} has the wrong type: {error}"
        raise ConfigError(problem, remedy=remedy, key=key) from error


def located(error: SfumatoError, key: str) -> ConfigError:
    """Return the same error under the key that it is about."""
    inner = ".".join(filter(None, (key, (error.key or "").removeprefix("distance."))))
    return ConfigError(error.problem, remedy=error.remedy, key=inner, value=error.value, column=error.column)

"""What the publisher declares about a table: roles, kinds, hierarchies, missing values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.data.date_formats import format_problem, timezone_problem
from sfumato.data.schema_limits import Classes, classes_of, level_of, pairs_of, weights_of
from sfumato.data.text_values import text_value
from sfumato.errors import ColumnError, ParameterError
from sfumato.exact import Number
from sfumato.masking import masked_uris
from sfumato.parameters import check_ratio
from sfumato.summaries import short_repr

if TYPE_CHECKING:
    from sfumato.data.column import Column
    from sfumato.data.hierarchy import Hierarchy, HierarchyBuilder
    from sfumato.data.population import Population
    from sfumato.distances.distance import Distance


class Role(StrEnum):
    """What an attacker may use a column for."""

    IDENTIFIER = "identifier"
    QUASI_IDENTIFIER = "quasi-identifier"
    SENSITIVE = "sensitive"
    OTHER = "other"


class Kind(StrEnum):
    """What the values of a column are."""

    NUMERIC = "numeric"
    CATEGORICAL = "categorical"
    ORDINAL = "ordinal"
    SET = "set"
    TEXT = "text"
    DATE = "date"
    VECTOR = "vector"


RECODINGS = ("interval", "ancestor", "set")
"""How a group's values of a quasi-identifier may be published."""

UNDECLARED = ("drop", "refuse", "keep")
"""What may become of a column of the data that has no role."""


def _listed(value: str | Sequence[str]) -> tuple[str, ...]:
    """Return texts as a tuple; a single text is not split into letters."""
    return (value,) if isinstance(value, str) else tuple(value)


@dataclass(frozen=True)
class Missing:
    """Which cells are missing, and how they are treated.

    `values`: the cell texts that mean "missing". By default an empty cell is missing (in a set-valued column it is the empty
    set instead). Nulls of a frame are always missing. `policy`: "value" treats missing as a value of its own, equal to
    itself and different from every other; "refuse" makes it an error.

    >>> Missing(values=("", "?"), policy="refuse").policy
    'refuse'
    """

    values: tuple[str, ...] | None = None
    policy: str = "value"

    def __post_init__(self) -> None:
        if self.policy not in ("value", "refuse"):
            raise ParameterError(
                f"missing.policy = {self.policy!r} is unknown",
                remedy='Write "value" (missing is a value of its own) or "refuse".',
                key="missing.policy",
                value=self.policy,
            )
        if self.values is not None:
            object.__setattr__(self, "values", _listed(self.values))

    def texts(self, kind: Kind | None) -> tuple[str, ...]:
        """Return the cell texts that mean "missing" in a column of this kind."""
        if self.values is not None:
            return self.values
        return () if kind is Kind.SET else ("",)


@dataclass(frozen=True)
class Schema:
    """Each column's role and kind, and the distance of the sensitive attribute as a whole.

    Columns of the data that are not named have no role, and are not published; see `undeclared`. `kinds` are optional:
    numbers of a frame are numeric, lists are sets, and a CSV column is numeric if every cell is a plain number (no leading
    zeros), else categorical; texts with an order (ordered categories of pandas) are ordinal. A vector is one sensitive
    attribute over several numeric columns: name it in `sensitive` and its columns in `vectors`.

    >>> schema = Schema(quasi_identifiers=["age", "sex"], sensitive=["income"], kinds={"income": "numeric"})
    >>> schema.role("age"), schema.role("anything else")
    (<Role.QUASI_IDENTIFIER: 'quasi-identifier'>, None)
    """

    quasi_identifiers: Sequence[str] = ()
    sensitive: Sequence[str] = ()
    identifiers: Sequence[str] = ()
    other: Sequence[str] = ()
    """The columns that are published unchanged."""
    undeclared: str = "drop"
    """What becomes of columns without a role: "drop" leaves them out, "refuse" makes them an error, "keep" publishes them
    unchanged, like `other`."""
    kinds: Mapping[str, Kind | str] = field(default_factory=dict)
    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """For each ordinal column its values from lowest to highest."""
    hierarchies: Mapping[str, Hierarchy | HierarchyBuilder | str | Path] = field(default_factory=dict)
    recodings: Mapping[str, str] = field(default_factory=dict)
    """How quasi-identifiers are published: "interval", "ancestor" or "set". Where it is open, the loss decides."""
    vectors: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """For each vector attribute its numeric columns."""
    separators: Mapping[str, str] = field(default_factory=dict)
    """For each set-valued text column the text between two items (";" by default)."""
    decimals: Mapping[str, str] = field(default_factory=dict)
    """For each numeric text column its decimal mark: "." or ",". If it is not declared, decimal commas are recognised
    where they cannot be thousands separators."""
    formats: Mapping[str, str] = field(default_factory=dict)
    """For each text column of dates its format in strptime directives, if it is neither ISO 8601 nor to be detected."""
    timezones: Mapping[str, str] = field(default_factory=dict)
    """For each column of times the zone in which times without an offset are read, and all are displayed."""
    ages: Mapping[str, str] = field(default_factory=dict)
    """For each column of birth dates that is replaced by the age: an ISO date, or the column of dates, to take it at."""
    distance: Distance | None = None
    """The distance of all sensitive columns together."""
    distances: Mapping[str, Distance] = field(default_factory=dict)
    """Distances of single sensitive attributes."""
    accepted: Mapping[str, str] = field(default_factory=dict)
    """For sensitive attributes that no requirement covers, on purpose: the reason. Others are warned about."""
    unchanged_limit: Number = 0
    """The largest share of the rows that columns published unchanged may single out; above it nothing is published."""
    missing: Missing = field(default_factory=Missing)
    person_id: str | None = None
    """The column that identifies the person of a row, if a person may have several rows: people are then counted."""
    household_id: str | None = None
    """The column that identifies the household of a row: households are then counted, and kept together."""
    group: str | None = None
    """The column that contains the group of a row; without it rows with equal quasi-identifiers form a group."""
    weights: Mapping[str, Number] = field(default_factory=dict)
    """How much the loss of a quasi-identifier counts when groups are chosen; 1 by default."""
    never_mix: Mapping[str, Classes | Sequence[Any]] = field(default_factory=dict)
    """For a quasi-identifier its values, or lists of values, that never share a cell with any other value."""
    coarsest: Mapping[str, int] = field(default_factory=dict)
    """For a quasi-identifier with a hierarchy the coarsest level that its cells may have."""
    preserve: Sequence[Sequence[str]] = ()
    """Pairs of published columns whose association the search preserves; at least one is a quasi-identifier."""

    population: Population | None = None
    """The people from whom those of the table were drawn, for principles that compare a release with them."""

    __repr__ = short_repr

    def __post_init__(self) -> None:
        for name in ("quasi_identifiers", "sensitive", "identifiers", "other"):
            value = getattr(self, name)
            # frames may have numbers as column names; here every name is text
            names = (value,) if isinstance(value, str) else tuple(map(str, value))
            object.__setattr__(self, name, names)
        # whose row it is must not be published
        units = [name for name in (self.person_id, self.household_id) if name is not None]
        object.__setattr__(self, "identifiers", tuple(dict.fromkeys([*self.identifiers, *units])))
        kinds = {column: self._kind(column, kind) for column, kind in self.kinds.items()}
        kinds |= dict.fromkeys(self.orders, Kind.ORDINAL)
        kinds = dict.fromkeys(self.decimals, Kind.NUMERIC) | kinds
        kinds = dict.fromkeys([*self.formats, *self.timezones], Kind.DATE) | kinds
        # a date of birth becomes a number
        kinds |= {column: Kind.NUMERIC for column in self.ages if kinds.get(column) in (None, Kind.DATE)}
        kinds |= dict.fromkeys(self.vectors, Kind.VECTOR)
        # the columns of a vector are numeric
        kinds = {column: Kind.NUMERIC for columns in self.vectors.values() for column in columns} | kinds
        mappings: dict[str, dict[str, Any]] = {
            "kinds": kinds,
            "orders": {column: _listed(order) for column, order in self.orders.items()},
            "hierarchies": dict(self.hierarchies),
            "recodings": dict(self.recodings),
            "vectors": {name: _listed(columns) for name, columns in self.vectors.items()},
            "separators": dict(self.separators),
            "decimals": dict(self.decimals),
            "formats": dict(self.formats),
            "timezones": dict(self.timezones),
            "ages": dict(self.ages),
            "distances": dict(self.distances),
            # reasons are published
            "accepted": {name: masked_uris(why) if isinstance(why, str) else why for name, why in self.accepted.items()},
        }
        for name, mapping in mappings.items():
            object.__setattr__(self, name, mapping)
        object.__setattr__(self, "unchanged_limit", check_ratio(self.unchanged_limit, "unchanged_limit"))
        self._check()
        self._set_limits()

    @staticmethod
    def _kind(column: str, kind: Kind | str) -> Kind:
        try:
            return Kind(kind)
        except ValueError as error:
            raise ColumnError(
                f"kind {kind!r} is unknown",
                remedy=f"Write one of: {', '.join(Kind)}.",
                column=column,
                value=kind,
            ) from error

    def _check(self) -> None:
        if self.undeclared not in UNDECLARED:
            raise ParameterError(
                f"undeclared = {self.undeclared!r} is unknown",
                remedy=f"Write one of: {', '.join(UNDECLARED)}.",
                key="undeclared",
                value=self.undeclared,
            )
        seen: dict[str, Role] = {}
        for role, names in self._by_role():
            for name in names:
                if name in seen:
                    raise ColumnError(
                        f"the column is declared twice, as {seen[name]} and as {role}",
                        remedy="Give every column one role.",
                        column=name,
                    )
                seen[name] = role
        for column, kind in self.kinds.items():
            if kind is Kind.ORDINAL and column not in self.orders:
                raise ColumnError(
                    "an ordinal column has no order",
                    remedy='List its values from lowest to highest, such as order = ["low", "high"].',
                    column=column,
                )
            if kind is Kind.VECTOR and column not in self.vectors:
                raise ColumnError(
                    "a vector names no columns",
                    remedy='List its numeric columns, such as columns = ["x", "y"].',
                    column=column,
                )
        for name, columns in self.vectors.items():
            if name not in self.sensitive or not columns or name in columns:
                raise ColumnError(
                    "a vector must be sensitive and have at least one column, and a name of its own",
                    remedy='Give it the role "sensitive", and list its numeric columns.',
                    column=name,
                )
        for column, order in self.orders.items():
            if len(set(map(text_value, order))) != len(order) or not order:
                raise ColumnError(
                    "the order is empty or names a value twice",
                    remedy="List each value once, from lowest to highest.",
                    column=column,
                    value=order,
                )
        self._check_extras()

    def _set_limits(self) -> None:
        """Normalise and check what matters most to the analyst."""
        own, trees = self.quasi_identifiers, self.hierarchies
        limits: dict[str, Any] = {
            "weights": weights_of(self.weights, own),
            "never_mix": {column: classes_of(column, values, own) for column, values in self.never_mix.items()},
            "coarsest": {column: level_of(column, level, own, trees) for column, level in self.coarsest.items()},
            "preserve": pairs_of(self.preserve, own, (*own, *self.sensitive_columns(), *self.other)),
        }
        for name, value in limits.items():
            object.__setattr__(self, name, value)

    def _check_extras(self) -> None:
        for column, separator in self.separators.items():
            if self.kinds.get(column) is not Kind.SET or not separator:
                raise ColumnError(
                    "a separator is empty, or declared for a column that is not a set",
                    remedy='Declare kind = "set" and a separator such as ";".',
                    column=column,
                )
        for column, mark in self.decimals.items():
            if mark not in (".", ",") or self.kinds.get(column, Kind.NUMERIC) is not Kind.NUMERIC:
                raise ColumnError(
                    f"decimal = {mark!r} is unknown, or declared for a column that is not numeric",
                    remedy='Write decimal = "," or decimal = ".", for a numeric column.',
                    column=column,
                    value=mark,
                )
        self._check_dates()
        for column, recoding in self.recodings.items():
            if column not in self.quasi_identifiers or recoding not in RECODINGS:
                raise ColumnError(
                    f"recoding = {recoding!r} is unknown, or declared for a column that is not a quasi-identifier",
                    remedy=f"Write one of: {', '.join(RECODINGS)}; for a quasi-identifier.",
                    column=column,
                    value=recoding,
                )
        for column, reason in self.accepted.items():
            if column not in self.sensitive or not isinstance(reason, str) or not reason.strip():
                raise ColumnError(
                    f"accepted = {reason!r} is not a reason, or the column is not sensitive",
                    remedy="Write why no requirement needs to cover this sensitive column; or remove accepted.",
                    column=column,
                    value=reason,
                )
        for column in self.distances:
            if column not in self.sensitive:
                raise ColumnError(
                    "a distance is declared for a column that is not sensitive",
                    remedy="Declare the column as sensitive, or remove its distance.",
                    column=column,
                )

    def _check_dates(self) -> None:
        for key, mapping, problem_of, remedy in (
            ("format", self.formats, format_problem, "Write strptime directives for year, month and day, such as %d/%m/%Y."),
            ("timezone", self.timezones, timezone_problem, "Write a name such as Europe/Rome or UTC."),
        ):
            for column, value in mapping.items():
                problem = problem_of(value) if isinstance(value, str) else "it is not a text"
                if self.kinds[column] is not Kind.DATE and column not in self.ages:
                    problem = f"the column is of kind {str(self.kinds[column])!r}, not 'date'"
                if problem is not None:
                    raise ColumnError(
                        f"{key} = {value!r} cannot be used: {problem}", remedy=remedy, column=column, value=value
                    )

        for column, reference in self.ages.items():
            if self.kinds[column] is not Kind.NUMERIC or reference in self.ages or not isinstance(reference, str):
                raise ColumnError(
                    f"age_at = {reference!r} cannot be used: an age is a number, taken at a date or a column of dates",
                    remedy='Write a date such as "2024-01-01" or the name of a column of dates, and declare no other kind.',
                    column=column,
                    value=reference,
                )

    def _by_role(self) -> Iterable[tuple[Role, Sequence[str]]]:
        yield Role.IDENTIFIER, self.identifiers
        yield Role.QUASI_IDENTIFIER, self.quasi_identifiers
        yield Role.SENSITIVE, self.sensitive_columns()
        yield Role.OTHER, self.other

    def role(self, column: str) -> Role | None:
        """Return the role of a column. Without a declared one it is None, or "other" if such columns are kept."""
        kept = Role.OTHER if self.undeclared == "keep" else None
        return self._roles.get(column, kept)

    @cached_property
    def _roles(self) -> dict[str, Role]:
        """The role of each column that has one; a table may have very many columns."""
        return {name: role for role, names in self._by_role() for name in names}

    def published_columns(self, names: Iterable[str]) -> list[str]:
        """Return those of the columns of the data that a release may contain: neither identifiers nor without a role.

        >>> Schema(["age"], identifiers=["name"]).published_columns(["name", "age", "notes"])
        ['age']
        """
        return [name for name in names if self.role(name) not in (None, Role.IDENTIFIER)]

    def columns_without_role(self, names: Iterable[str]) -> list[str]:
        """Return those of the columns of the data that have no declared role; person and group columns need none.

        >>> Schema(["age"], identifiers=["name"], undeclared="keep").columns_without_role(["name", "age", "notes"])
        ['notes']
        """
        declared = {self.person_id, self.household_id, self.group}.union(*(columns for _, columns in self._by_role()))
        return [name for name in names if name not in declared]

    def components(self, attribute: str) -> tuple[str, ...]:
        """Return the columns of a sensitive attribute: its own, or those of a vector."""
        return tuple(self.vectors.get(attribute, (attribute,)))

    def sensitive_columns(self) -> tuple[str, ...]:
        """Return the columns of all sensitive attributes, with the columns of vectors."""
        return tuple(column for attribute in self.sensitive for column in self.components(attribute))

    def encodes_alike(self, other: Schema, encoded: Column) -> bool:
        """Whether cells of a column, encoded under the other schema, have the same values under this one.

        Hierarchies and the policy for missing cells are not compared.
        """
        column = encoded.name
        return (
            self.kinds.get(column) in (encoded.kind, other.kinds.get(column))
            and self.orders.get(column) == other.orders.get(column)
            and self.separators.get(column) == other.separators.get(column)
            and self.decimals.get(column) == other.decimals.get(column)
            and self.formats.get(column) in (encoded.format, other.formats.get(column))
            and self.ages.get(column) == other.ages.get(column)
            and self.timezones.get(column) in (encoded.timezone, other.timezones.get(column))
            and self.missing.values == other.missing.values
        )

    def projected(self, attributes: Sequence[str]) -> Schema:
        """Return the schema of a projected table: the quasi-identifiers, some of the sensitive attributes, and nothing else.

        >>> Schema(["age"], ["ill", "job"], identifiers=["name"]).projected(["job"]).sensitive
        ('job',)
        """
        columns = {column for attribute in attributes for column in self.components(attribute)}
        kept = {*self.quasi_identifiers, *attributes, *columns}

        def only(mapping: Mapping[str, Any]) -> dict[str, Any]:
            return {name: value for name, value in mapping.items() if name in kept}

        return replace(
            self,
            sensitive=tuple(attributes),
            identifiers=(),
            other=(),
            kinds=only(self.kinds),
            orders=only(self.orders),
            hierarchies=only(self.hierarchies),
            vectors=only(self.vectors),
            separators=only(self.separators),
            decimals=only(self.decimals),
            formats=only(self.formats),
            timezones=only(self.timezones),
            ages=only(self.ages),
            distance=None if self.distance is None else self.distance.over(columns),
            distances=only(self.distances),
            accepted=only(self.accepted),
            person_id=None,
            household_id=None,
            group=None,
            preserve=tuple(pair for pair in self.preserve if kept.issuperset(pair)),
        )

    def named_columns(self) -> dict[str, None]:
        """Return every column that the schema names, in order, once."""
        names: dict[str, Any] = {}
        for _, columns in self._by_role():
            names.update(dict.fromkeys(columns))
        for mapping in (self.kinds, self.hierarchies, self.separators, self.decimals):
            names.update(dict.fromkeys(column for column in mapping if column not in self.vectors))
        for column in (self.person_id, self.household_id, self.group):
            if column is not None:
                names[column] = None
        return names

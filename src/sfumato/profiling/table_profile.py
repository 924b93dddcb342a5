"""Profile a table: what each column contains, which role it should have and why, and which columns single people out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.data.column import Column
from sfumato.data.schema import Kind, Missing, Role, Schema
from sfumato.data.table import Table, unknown_column
from sfumato.errors import CellError, FileError, ParameterError
from sfumato.io.read_table import as_table
from sfumato.plurals import count_of
from sfumato.profiling.column_facts import Facts, facts_of
from sfumato.profiling.identifying_combinations import MOST_COLUMNS, Combination, most_identifying, uniqueness_of
from sfumato.profiling.missing_markers import Markers
from sfumato.profiling.recurring_keys import KeyOf
from sfumato.profiling.requirement_suggestions import SuggestedRequirement, suggest_requirements
from sfumato.profiling.role_suggestions import REPEATED, Suggestion, suggestions
from sfumato.progress import Progress, silent
from sfumato.summaries import first_lines

CHOSEN = "chosen by a person"
"""The reason for a role that a person chose."""

NO_ROLE = "not published"
"""What is shown for a column without a suggested role."""


@dataclass(frozen=True)
class ColumnProfile:
    """One column: its counts, and the suggested role.

    >>> import pyarrow as pa
    >>> column = profile(pa.table({"sex": ["f", "m", "f"]}))["sex"]
    >>> column.role.value, column.facts.distinct, column.suggestion.reason
    ('quasi-identifier', 2, 'named like sex: outsiders can know it')
    """

    facts: Facts
    suggestion: Suggestion

    @property
    def name(self) -> str:
        """The column's name."""
        return self.facts.name

    @property
    def role(self) -> Role | None:
        """The suggested role; None if a person must decide before the column is published."""
        return self.suggestion.role

    @property
    def kind(self) -> Kind | None:
        """The kind of its values; None if cells of its type cannot be read."""
        return Kind.CATEGORICAL if self.suggestion.codes else self.facts.kind

    def to_dict(self) -> dict[str, Any]:
        """Return the column as plain data: counts, never cells."""
        facts, suggestion = self.facts, self.suggestion
        return {
            "name": self.name,
            "kind": None if self.kind is None else str(self.kind),
            "distinct": facts.distinct,
            "missing": facts.missing,
            "unique": facts.unique,
            "share_unique": facts.uniqueness,
            "share_most_frequent": facts.common / facts.rows,
            "bits": round(facts.entropy, 3),
            "looks_like": suggestion.pattern,
            "role": None if self.role is None else str(self.role),
            "key_of": suggestion.key,
            "reason": suggestion.reason,
            "certain": suggestion.certain,
            "instead": [str(role) for role in suggestion.alternatives],
        }


@dataclass(frozen=True, repr=False)
class Profile:
    """The result of `profile`: columns with a suggested role each, and the combinations that single people out.

    >>> import pyarrow as pa
    >>> table = pa.table({"mail": ["a@x.org", "b@x.org", "c@x.org"], "age": [30, 30, 41], "wage": [10, 20, 30]})
    >>> found = profile(table)
    >>> found
    Profile of 3 rows and 3 columns
      mail  identifier        all of its cells look like a mail address
      age   quasi-identifier  named like age: outsiders can know it
      wage  sensitive         named like income: outsiders should not learn it
      the quasi-identifiers together single out 1 of 3 rows
    >>> found.schema.quasi_identifiers, found["age"].facts.unique
    (('age',), 1)
    """

    table: Table = field(compare=False)
    columns: tuple[ColumnProfile, ...]
    markers: Markers

    def __iter__(self) -> Iterator[ColumnProfile]:
        return iter(self.columns)

    def __getitem__(self, name: str) -> ColumnProfile:
        """Return a column by its name."""
        return next(column for column in self.columns if column.name == name)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.table.rows

    def of_role(self, role: Role | None) -> list[ColumnProfile]:
        """Return the columns of a role, or of none; sensitive ones with the most harmful first."""
        found = [column for column in self.columns if column.role is role]
        if role is Role.SENSITIVE:
            found.sort(key=lambda column: (column.suggestion.rank, column.facts.common))
        return found

    @cached_property
    def schema(self) -> Schema:
        """The schema of the suggested roles."""
        return Schema(
            quasi_identifiers=[column.name for column in self.of_role(Role.QUASI_IDENTIFIER)],
            sensitive=[column.name for column in self.columns if column.role is Role.SENSITIVE],
            identifiers=[column.name for column in self.of_role(Role.IDENTIFIER)],
            other=[column.name for column in self.of_role(Role.OTHER)],
            kinds={
                column.name: column.kind for column in self.columns if column.kind is not None and column.role is not None
            },
            missing=self.table.schema.missing,
            person_id=self.key("person"),
            household_id=self.key("household"),
        )

    @cached_property
    def table_with_roles(self) -> Table:
        """The table with the suggested schema; rows count as people if the person or household of some rows is invalid.

        Running the draft reports that error. It must not prevent the draft.
        """
        table = self.table.with_schema(self.schema)
        try:
            _ = table.units
        except CellError:
            return self.table.with_schema(replace(self.schema, person_id=None, household_id=None))
        return table

    def with_roles(self, roles: Mapping[str, Role | str | None]) -> Profile:
        """Return the profile with roles that a person chose for some columns; nothing is read or encoded again.

        None: the column is not published. What follows from roles, such as `uniqueness`, `combinations`, `requirements` and
        `schema`, is counted anew when it is first needed; the suggestions of other columns stay as they are.

        >>> import pyarrow as pa
        >>> found = profile(pa.table({"age": [30, 30, 41], "sex": ["f", "m", "m"], "wage": [10, 20, 30]}))
        >>> found.uniqueness.unique, found.with_roles({"sex": "other"}).uniqueness.unique
        (3, 1)
        """
        known = {column.name for column in self.columns}
        for name in roles:
            if name not in known:
                raise unknown_column(name, [column.name for column in self.columns], self.table.source)
        chosen = {name: None if role is None else _role(role, name) for name, role in roles.items()}
        return replace(self, columns=tuple(_with_role(one, chosen) for one in self.columns))

    def key(self, of: KeyOf) -> str | None:
        """Return the column that tells which rows belong to one person or household: the one with most values, if any."""
        found = [column for column in self.columns if column.suggestion.key == of]
        return max(found, key=lambda column: column.facts.distinct).name if found else None

    @cached_property
    def uniqueness(self) -> Combination:
        """The number of rows that all quasi-identifiers together single out."""
        return uniqueness_of(self.table, [column.name for column in self.of_role(Role.QUASI_IDENTIFIER)])

    @cached_property
    def unchanged_uniqueness(self) -> Combination:
        """The number of rows that the columns with the role other, which are published unchanged, single out."""
        return uniqueness_of(self.table, [column.name for column in self.of_role(Role.OTHER)])

    @cached_property
    def equivalent_columns(self) -> dict[str, str]:
        """For each column that determines an earlier one and is determined by it, the name of the earlier one."""
        found: dict[str, str] = {}
        first: dict[bytes, str] = {}
        for column in self.columns:
            facts = column.facts
            values = facts.distinct + (facts.missing > 0)
            if values < 3 or REPEATED * values > facts.rows or column.role is Role.IDENTIFIER:
                continue  # two values, or values that hardly recur, determine each other by chance
            same = first.setdefault(_partition_digest(self.table.column(column.name)), column.name)
            if same != column.name:
                found[column.name] = same
        return found

    @cached_property
    def combinations(self) -> tuple[Combination, ...]:
        """The most identifying quasi-identifiers, pairs and triples; of the columns of highest entropy if there are many."""
        candidates = sorted(self.of_role(Role.QUASI_IDENTIFIER), key=lambda column: -column.facts.entropy)[:MOST_COLUMNS]
        chosen = {column.name for column in candidates}
        return most_identifying(self.table, [column.name for column in self.columns if column.name in chosen])

    @cached_property
    def requirements(self) -> tuple[SuggestedRequirement, ...]:
        """Suggested principles; the enabled ones are guaranteed to be reachable."""
        return suggest_requirements(
            self.table_with_roles,
            [replace(column.facts, kind=column.kind) for column in self.of_role(Role.SENSITIVE)],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON."""
        return {
            "source": self.table.source,
            "rows": self.rows,
            "columns": [column.to_dict() for column in self.columns],
            "combinations": [combination.to_dict() for combination in self.combinations],
            "uniqueness": self.uniqueness.to_dict(),
            "unchanged_uniqueness": self.unchanged_uniqueness.to_dict(),
            "principles": [requirement.to_dict() for requirement in self.requirements],
            "equivalent_columns": dict(self.equivalent_columns),
            "markers": self.markers.to_dict(),
            "notes": list(self.table.notes),
        }

    def __repr__(self) -> str:
        name = max(len(column.name) for column in self.columns)
        role = max(len(column.role or NO_ROLE) for column in self.columns)
        lines = [f"Profile of {count_of(self.rows, 'row')} and {count_of(len(self.columns), 'column')}"]
        columns = [f"  {c.name:<{name}}  {c.role or NO_ROLE:<{role}}  {c.suggestion.reason}" for c in self.columns]
        lines += first_lines(columns, "columns")
        if self.schema.quasi_identifiers:
            lines.append(
                f"  the quasi-identifiers together single out {self.uniqueness.unique:,} of {count_of(self.rows, 'row')}"
            )
        return "\n".join(lines)


def _role(role: Role | str, column: str) -> Role:
    try:
        return Role(role)
    except ValueError:
        raise ParameterError(
            f"invalid role {role!r} for column {column!r}",
            remedy=f"Write one of: {', '.join(Role)}; or None for a column that is not published.",
            key="roles",
            value=role,
        ) from None


def _with_role(column: ColumnProfile, chosen: Mapping[str, Role | None]) -> ColumnProfile:
    """Return a column with the role that a person chose, if they did; it is then no longer a key by suggestion."""
    if column.name not in chosen or chosen[column.name] is column.role:
        return column
    role = chosen[column.name]
    key = column.suggestion.key if role is Role.IDENTIFIER else None
    others = tuple(other for other in column.suggestion.alternatives if other is not role)
    suggestion = replace(column.suggestion, role=role, reason=CHOSEN, alternatives=others, certain=True, key=key)
    return replace(column, suggestion=suggestion)


def _partition_digest(column: Column) -> bytes:
    """Return a digest of which rows have equal values: two columns have the same if each determines the other."""
    first_row = np.zeros(column.domain, np.int64)
    first_row[column.codes[::-1]] = np.arange(len(column.codes) - 1, -1, -1)  # the last assignment counts
    return hashlib.sha256(first_row[column.codes].tobytes()).digest()


def profile(data: Any, *, progress: Progress = silent) -> Profile:
    """Profile a table: what each column contains, the role it should have and why, and which columns single people out.

    `data`: a path, a frame of pandas, polars or pyarrow, or a `Table`, whose schema is ignored. The roles are suggestions:
    a person must decide whether outsiders can know a column, and whether it is a secret. `progress`: told which column is
    examined.

    >>> import pyarrow as pa
    >>> found = profile(pa.table({"zip": ["01234", "01234", "99999"], "ill": ["flu", "flu", "gout"]}))
    >>> [(column.name, column.role.value) for column in found]
    [('zip', 'quasi-identifier'), ('ill', 'sensitive')]
    """
    read = data if isinstance(data, Table) else as_table(data, Schema())
    if not read.data.num_columns:
        raise FileError("the table has no columns", remedy="Give a table with columns.", file=read.source)
    markers = Markers.of(read.data)
    missing = Missing(values=("", *markers.missing)) if markers.missing else Missing()
    table = replace(read, schema=Schema(missing=missing))
    names = table.data.column_names
    facts = []
    for at, name in enumerate(names):
        progress(f"examining column {at + 1} of {len(names)}", at / len(names))
        facts.append(facts_of(table, name))
    progress("suggesting roles")
    columns = zip(facts, suggestions(table, facts), strict=True)
    return Profile(table, tuple(ColumnProfile(fact, suggestion) for fact, suggestion in columns), markers)

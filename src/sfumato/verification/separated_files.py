"""Read the files of an anatomized release, and check that they have the stated columns, groups and counts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.groups import Groups
from sfumato.data.schema import Kind, Role, Schema
from sfumato.data.table import Table
from sfumato.plurals import count_of
from sfumato.releases.anatomy_tables import PEOPLE, SecretCounts, people_schema, secrets_schema
from sfumato.releases.kinds import table_name
from sfumato.releases.models import AnatomizedDocument
from sfumato.releases.reader import Manifest
from sfumato.releases.table_files import published_table
from sfumato.verification.checks import Check
from sfumato.verification.grouped_checks import count_problem

_WHOLE = re.compile("[1-9][0-9]{0,17}")
"""A count, or the number of a group, as a CSV has it."""


class UnlikeStatedError(Exception):
    """Raised for files that are not what release.json states; holds the check that fails."""

    def __init__(self, name: str, detail: str) -> None:
        super().__init__(detail)
        self.check = Check(name, False, detail)


def separated_files(manifest: Manifest, declared: Schema) -> SeparatedFiles:
    """Read the files for somebody who needs to rely on what release.json states; principles are not checked."""
    try:
        return SeparatedFiles.read(manifest, declared)
    except UnlikeStatedError as error:
        raise manifest.problem(error.check.name, f"the files are not what release.json states: {error}") from error


@dataclass(frozen=True, eq=False)
class SeparatedFiles:
    """The content of the files: the people, and the secrets of each table."""

    people: Table
    """With the group column; its other columns are those that are published as they are."""
    groups: Groups
    """The group of each person, from 0."""
    secrets: tuple[SecretCounts, ...]
    schemas: tuple[Schema, ...]
    """For each table of secrets the schema of `by_person`."""
    names: tuple[str, ...]
    """The columns of the people other than the group."""

    @classmethod
    def read(cls, manifest: Manifest, declared: Schema) -> SeparatedFiles:
        """Read all files; raise an error at the first that is not as stated. `declared`: the schema of the original."""
        document = manifest.anatomized
        check_plan(document, declared)
        listed = [column.name for column in document.columns]
        names = tuple(name for name in listed if name != document.group)
        people = published_table(manifest.data_file(PEOPLE), people_schema(declared, names, document.group))
        _check_columns(document, people, declared)
        group = _whole(people, document.group, PEOPLE) - 1
        problem = count_problem(document)
        if problem is not None:
            raise UnlikeStatedError("counts", problem)
        if (
            people.rows != document.rows
            or int(group.max()) + 1 != document.groups
            or len(np.unique(group)) != document.groups
        ):
            raise UnlikeStatedError(
                "counts",
                f"{count_of(people.rows, 'person', 'people')} in {count_of(len(np.unique(group)), 'group')}; release.json "
                f"states {document.rows} and {document.groups}, and groups are numbered from 1",
            )
        groups = Groups(group, document.groups, people.rows)
        schemas = tuple(secrets_schema(declared, table.attributes, document.group) for table in document.tables)
        secrets = [_secrets(manifest, number, schema, groups) for number, schema in enumerate(schemas, 1)]
        return cls(people, groups, tuple(secrets), schemas, names)

    def by_person(self, number: int) -> Table:
        """Return a table of secrets with one row for each person; `number`: from 0."""
        return self.secrets[number].by_person(
            self.schemas[number], str(self.people.schema.group), untyped=self.people.untyped
        )


def check_plan(document: AnatomizedDocument, declared: Schema) -> None:
    """Check that each sensitive attribute is in one table, in the order of the config."""
    plan = [table.attributes for table in document.tables]
    place = {name: position for position, name in enumerate(declared.sensitive)}
    listed = [name for block in plan for name in block]
    fine = sorted(listed) == sorted(place) and all(plan)
    if not fine or plan != sorted((sorted(block, key=place.__getitem__) for block in plan), key=lambda b: place[b[0]]):
        raise UnlikeStatedError(
            "plan", f"the tables have {plan}, and the sensitive attributes are {', '.join(declared.sensitive) or 'none'}"
        )
    if document.group == document.count:
        raise UnlikeStatedError("plan", f"the group and the count are both in the column {document.group!r}")


def _check_columns(document: AnatomizedDocument, people: Table, declared: Schema) -> None:
    """Check that the table of people has the listed columns in their roles, all quasi-identifiers, and no secret."""
    names, listed = people.data.column_names, [column.name for column in document.columns]
    if names != listed or names[:1] != [document.group]:
        raise UnlikeStatedError("columns", f"the people have {', '.join(names)}; release.json lists {', '.join(listed)}")
    for column in document.columns[1:]:
        role = declared.role(column.name)
        if role not in (Role.QUASI_IDENTIFIER, Role.OTHER):
            what = "has no role" if role is None else f"is {role}"
            raise UnlikeStatedError("columns", f"{column.name!r} {what}, and is published with the people")
        kind = str(declared.kinds.get(column.name)) if role is Role.QUASI_IDENTIFIER else None
        if (column.role, column.kind, column.recoding, column.level) != (str(role), kind, None, None):
            raise UnlikeStatedError("columns", f"{column.name!r} is listed in another way than the config says")
    missing = [name for name in declared.quasi_identifiers if name not in names]
    if missing or document.columns[0].role != "group":
        raise UnlikeStatedError("columns", f"{(missing or names)[0]!r} is not listed as the config says")


def _secrets(manifest: Manifest, number: int, schema: Schema, groups: Groups) -> SecretCounts:
    """Read a table of secrets: each value of a group once, and as many people in each group as the table of people has."""
    document, name = manifest.anatomized, table_name(number)
    with_count = replace(schema, kinds={**schema.kinds, document.count: Kind.NUMERIC})
    table = published_table(manifest.data_file(name), with_count)
    columns = list(schema.sensitive_columns())
    if table.data.column_names != [document.group, *columns, document.count]:
        found = ", ".join(table.data.column_names)
        raise UnlikeStatedError(
            "columns", f"{name} has {found}; expected {', '.join([document.group, *columns, document.count])}"
        )
    group, counts = _whole(table, document.group, name) - 1, _whole(table, document.count, name)
    if int(group.max()) >= groups.count or max(map(int, counts)) > groups.population:
        raise UnlikeStatedError("counts", f"{name} has a group or a count that the table of people does not allow")
    sizes = np.zeros(groups.count, np.int64)
    np.add.at(sizes, group, counts)
    if not np.array_equal(sizes, groups.sizes):
        wrong = int(np.argmax(sizes != groups.sizes))
        raise UnlikeStatedError(
            "counts",
            f"{name} counts {count_of(int(sizes[wrong]), 'secret')} in group {wrong + 1}, which has "
            f"{count_of(int(groups.sizes[wrong]), 'person', 'people')}",
        )
    return SecretCounts(group, table.data.select(columns), counts)


def _whole(table: Table, name: str, file: str) -> NDArray[np.int64]:
    """Return a column of whole numbers from 1, written as this program writes them."""
    column = table.data.column(name)
    if not table.untyped:
        if column.type != pa.int64() or column.null_count or min(column.to_pylist()) < 1:
            raise UnlikeStatedError("counts", f"{name!r} of {file} has a cell that is no whole number from 1")
        return np.asarray(column)
    encoded = column.dictionary_encode().combine_chunks()
    encoded = encoded.chunk(0) if isinstance(encoded, pa.ChunkedArray) else encoded
    texts: Sequence[str | None] = encoded.dictionary.to_pylist()
    wrong = [text for text in texts if text is None or not _WHOLE.fullmatch(text)]
    if wrong or encoded.indices.null_count:
        raise UnlikeStatedError("counts", f"{name!r} of {file} has a cell that is no whole number from 1: {wrong[:1]}")
    return np.asarray(np.array([int(str(text)) for text in texts], np.int64)[np.asarray(encoded.indices)])

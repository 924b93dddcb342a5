"""Names of tables: written in a config as `name` or `schema.name`, and quoted in SQL so that nothing in them is executed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from sfumato.errors import DatabaseError, ParameterError
from sfumato.io.database_uri import shown

_PART = re.compile(r'"((?:[^"]|"")+)"|([^.]+)')


def quoted(name: str) -> str:
    """Return the name of a table or column as SQL writes it, whatever characters it contains.

    >>> quoted('wei"rd')
    '"wei""rd"'
    """
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True)
class TableName:
    """The name of a table, and of the schema that it is in.

    >>> TableName.parse("open.people"), TableName.parse('"people.2020"')
    (TableName(name='people', schema='open'), TableName(name='people.2020', schema=None))
    >>> print(TableName.parse("open.people").sql)
    "open"."people"
    """

    name: str
    schema: str | None = None

    @classmethod
    def parse(cls, text: str) -> TableName:
        """Parse `name` or `schema.name`, case-sensitive; a part that contains a dot is in double quotes."""
        parts = []
        place = 0
        while found := _PART.match(text, place):
            parts.append(found[1].replace('""', '"') if found[1] is not None else found[2])
            place = found.end() + 1
            if text[found.end() : place] != ".":
                break
        if place != len(text) + 1 or len(parts) not in (1, 2) or "\0" in text:
            raise ParameterError(
                f"{text!r} is not the name of a table",
                remedy='Write name or schema.name; put a part that contains a dot in double quotes, such as "people.2020".',
                key="table",
                value=text,
            )
        return cls(parts[-1], parts[0] if len(parts) == 2 else None)

    @property
    def sql(self) -> str:
        """The name as SQL writes it."""
        return ".".join(quoted(part) for part in (self.schema, self.name) if part is not None)

    def __str__(self) -> str:
        return self.name if self.schema is None else f"{self.schema}.{self.name}"


def only_table(names: Sequence[str], uri: str) -> str:
    """Return the table of a database that has exactly one; otherwise raise an error that lists them.

    >>> only_table(["people"], "sqlite:///people.db")
    'people'
    """
    if len(names) == 1:
        return names[0]
    raise ParameterError(
        f"the database has {len(names) or 'no'} tables, and none is named",
        remedy=f"Name a table or a query; {_listed(names)}.",
        file=shown(uri),
        key="table",
    )


def unknown_table(name: TableName, names: Sequence[str], uri: str) -> DatabaseError:
    """Return the error for a table that the database does not have.

    >>> print(unknown_table(TableName("People"), ["people"], "sqlite:///people.db"))
    sqlite:///people.db: there is no table 'People'. Did you mean 'people'?
    """
    close = get_close_matches(str(name).lower(), [known.lower() for known in names], n=1)
    near = [known for known in names if known.lower() in close]
    remedy = f"Did you mean {near[0]!r}?" if near else f"Name another; {_listed(names)}."
    return DatabaseError(f"there is no table {str(name)!r}", remedy=remedy, file=shown(uri), value=str(name))


def _listed(names: Sequence[str]) -> str:
    listed = ", ".join(map(repr, names[:10])) + (", …" if len(names) > 10 else "")
    return f"the tables are: {listed}" if names else "there are none"

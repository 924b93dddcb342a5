"""Every error that sfumato raises on purpose.

    SfumatoError
    ├── FileError          a file is missing, unreadable, empty, or not what its name says
    ├── DatabaseError      a database cannot be reached, refuses a request, or disconnects
    ├── ClusterError       a Spark cluster cannot be started or reached, lacks a package, or loses too many executors
    ├── ColumnError        a column is unknown, declared twice, or of the wrong kind
    ├── CellError          one cell of the data does not fit the declaration of its column
    ├── HierarchyError     a hierarchy is not a tree, or lacks leaves
    ├── ConfigError        a key of a config file is unknown, missing or invalid
    ├── ParameterError     a parameter of a principle, distance or method is out of its range
    ├── DistanceError      a user's own distance is asymmetric, negative or not a number
    ├── PluginError        an installed plug-in cannot be loaded, or is not what its entry point says
    ├── ReleaseError       a release is corrupt, was changed, or does not satisfy what it states
    │   ├── ReplayError    a repeated release differs from the first one
    │   └── UnavailableError  a release that was unpickled does not have its private part
    └── RequirementError   no groups were found in which the principles hold

Each error has attributes (`file`, `column`, `row`, `value`, `key`) so that a program can act on it. Its text ends with
what to do next. A `file` may be a connection string: passwords in it are masked.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Self

from sfumato.masking import masked, masked_uris
from sfumato.visible_text import one_line

__all__ = [
    "CellError",
    "ClusterError",
    "ColumnError",
    "ConfigError",
    "DatabaseError",
    "DistanceError",
    "FileError",
    "HierarchyError",
    "ParameterError",
    "PluginError",
    "ReleaseError",
    "ReplayError",
    "RequirementError",
    "SfumatoError",
]


class SfumatoError(Exception):
    """Base class of all errors of this package: where, what is invalid, and what to do next.

    >>> error = CellError("'abc' is not a number", remedy="Fix the cell.", file="p.csv", column="age", row=3)
    >>> print(error)
    p.csv, column 'age', row 3: 'abc' is not a number. Fix the cell.
    >>> error.column, error.row
    ('age', 3)
    """

    def __init__(
        self,
        problem: str,
        *,
        remedy: str,
        file: str | None = None,
        key: str | None = None,
        column: str | None = None,
        row: int | None = None,
        value: Any = None,
    ) -> None:
        """Store the attributes and build the text."""
        # a connection string may be anywhere: written under a wrong key, it is an invalid value, or the name of a column
        self.problem = masked_uris(problem)
        self.remedy = masked(remedy)
        self.file = None if file is None else masked(file)
        self.key = None if key is None else masked_uris(key)
        self.column = None if column is None else masked_uris(column)
        self.row = row
        self.value = masked_uris(value) if isinstance(value, str) else value
        places = [
            self.file,
            self.key,
            None if self.column is None else f"column {self.column!r}",
            None if row is None else f"row {row}",
        ]
        where = ", ".join(one_line(place) for place in places if place is not None)
        super().__init__(f"{where}: {self.problem}. {self.remedy}" if where else f"{self.problem}. {self.remedy}")

    def __reduce__(self) -> tuple[Any, ...]:
        keywords = {name: getattr(self, name) for name in ("remedy", "file", "key", "column", "row", "value")}
        return partial(type(self), **keywords), (self.problem,)

    def inside(self, file: str | None, what: str) -> Self:
        """Return the same error with the file and the subject that it is about."""
        problem = self.problem if self.problem.startswith(what) else f"{what}: {self.problem}"
        return type(self)(
            problem,
            remedy=self.remedy,
            file=self.file or file,
            key=self.key,
            column=self.column,
            row=self.row,
            value=self.value,
        )


class FileError(SfumatoError):
    """A file is missing, unreadable, empty, or not what its name says."""


class DatabaseError(SfumatoError):
    """A database cannot be reached, refuses a request, or disconnects."""


class ClusterError(SfumatoError):
    """A Spark cluster cannot be started or reached, lacks a package, or loses too many executors."""


class ColumnError(SfumatoError):
    """A column is unknown, declared twice, or of the wrong kind."""


class CellError(SfumatoError):
    """One cell of the data does not fit the declaration of its column."""


class HierarchyError(SfumatoError):
    """A hierarchy is not a tree, or lacks leaves that the data contains."""


class ConfigError(SfumatoError):
    """A key of a config file is unknown, missing or invalid."""


class ParameterError(SfumatoError):
    """A parameter of a principle, a distance or a method is invalid."""


class DistanceError(SfumatoError):
    """A user's own distance is asymmetric, negative or not a number."""


class PluginError(SfumatoError):
    """An installed plug-in cannot be loaded, or is not what its entry point says."""


class ReleaseError(SfumatoError):
    """A release is corrupt, was changed after it was written, or does not satisfy what it states."""


class ReplayError(ReleaseError):
    """A repeated release differs from the first one: nothing is written."""


class UnavailableError(ReleaseError, AttributeError):
    """A release that was unpickled does not have its private part. Also an AttributeError, as `hasattr` expects."""


class RequirementError(SfumatoError):
    """No groups were found in which every principle holds: nothing is published. The input is valid."""

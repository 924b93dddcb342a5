"""The kinds of releases: what each is, and where its checks and its page are.

Code that reads, writes, verifies or reports a release knows the kinds only through `KINDS`. The functions are named as
"module:function" and loaded when they are needed, because they are in packages above this one. docs/release-format.md says
what a new kind must provide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sfumato.registry import load
from sfumato.releases.models import (
    ANATOMIZED,
    GROUPS,
    PROJECTED,
    WITHHELD,
    AnatomizedDocument,
    Document,
    GroupedDocument,
    ProjectedDocument,
    WithheldDocument,
)

DATA_FILES = {"csv": "data.csv", "parquet": "data.parquet"}
"""For each format, which is the suffix of its files, the name of the data file of a release with one table."""


def table_name(number: int) -> str:
    """Return the name of the file of one of several tables, without its suffix.

    >>> table_name(1)
    'table_1'
    """
    return f"table_{number}"


VERIFIER = "sfumato.verification._verify:verify_folder"
"""What `write_release` calls before a folder is put in place: (folder, original, Expectations) → Verification."""


@dataclass(frozen=True)
class ReleaseKind:
    """A kind of release.

    >>> KINDS["projected"].command
    'sfumato project'
    """

    document: type[Document]
    """The model of its release.json."""
    description: str
    """What such a release consists of, as a noun phrase."""
    command: str
    """The command that makes one."""
    checks: str
    """"module:function": (Manifest, original or None, Expectations) → an iterable of Check."""
    page: str
    """"module:function": (its document) → the HTML of the public report."""
    internal_command: str = ""
    """The command that draws the internal report, if that needs more than the files and the original."""
    several: bool = False
    """Whether it has several tables; then its document lists them as `tables`."""
    first: tuple[str, ...] = ()
    """The names of data files, without their suffix, that precede those of the tables that its document lists."""
    arguments: tuple[str, ...] = ()
    """The arguments of `sf.verify`, beyond the original, that the checks of this kind use; any other is an error."""

    def file_stems(self, tables: int) -> list[str]:
        """Return the names of the data files, without their suffix; `tables`: how many tables the document lists.

        >>> KINDS["projected"].file_stems(2), KINDS["groups"].file_stems(1), KINDS["anatomized"].file_stems(1)
        (['table_1', 'table_2'], ['data'], ['people', 'table_1'])
        """
        return [*self.first, *map(table_name, range(1, tables + 1))] if self.several else ["data"]

    def load(self, name: str) -> Callable[..., Any]:
        """Return the function that `checks` or `page` names."""
        function: Callable[..., Any] = load(str(getattr(self, name)))
        return function


KINDS: dict[str, ReleaseKind] = {
    GROUPS: ReleaseKind(
        GroupedDocument,
        "one table of rows in groups",
        "sfumato anonymize",
        checks="sfumato.verification.grouped_checks:release_checks",
        page="sfumato.reports.grouped_page:public_page",
        arguments=("schema", "principles", "key", "suppress", "published", "after"),
    ),
    PROJECTED: ReleaseKind(
        ProjectedDocument,
        "several tables, each with groups of its own",
        "sfumato project",
        checks="sfumato.projections.checks.projected_checks:release_checks",
        page="sfumato.projections.projection_page:public_page",
        internal_command="sfumato project CONFIG --output FOLDER --internal FILE",
        several=True,
        arguments=("schema", "principles", "project"),
    ),
    WITHHELD: ReleaseKind(
        WithheldDocument,
        "records with cells withheld, and has no groups",
        "sfumato risk --disclose",
        checks="sfumato.disclosure.withheld.withheld_checks:release_checks",
        page="sfumato.disclosure.withheld.withheld_page:public_page",
        internal_command="sfumato risk CONFIG --report FILE",
        arguments=("schema", "dictionaries", "risk"),
    ),
    ANATOMIZED: ReleaseKind(
        AnatomizedDocument,
        "people with exact quasi-identifiers, and the secrets of their groups apart",
        "sfumato anatomize",
        checks="sfumato.anatomy.checks.anatomy_checks:release_checks",
        page="sfumato.anatomy.anatomy_page:public_page",
        internal_command="sfumato anatomize CONFIG --output FOLDER --internal FILE",
        several=True,
        first=("people",),
        arguments=("schema", "principles", "key", "suppress"),
    ),
}

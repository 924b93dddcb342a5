"""Compare releases: loss, errors of counts, what attackers achieve, and each column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato._audit import audit_table
from sfumato.anonymization.figures.cell_ranges import covers_of
from sfumato.anonymization.figures.query_errors import true_errors
from sfumato.anonymization.release import Release
from sfumato.anonymization.utility import percent
from sfumato.attacks._attack import Attacks, attack
from sfumato.audits.audit_result import Audit
from sfumato.data.original_people import OriginalPeople
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.errors import ParameterError
from sfumato.progress import Progress, silent
from sfumato.releases.digests import check_digests
from sfumato.releases.models import GroupedDocument
from sfumato.releases.reader import Manifest
from sfumato.releases.table_files import original_table, published_schema, published_table
from sfumato.seeds import PUBLIC_SEED

COMPARED = ("linkage", "singling-out", "inference", "homogeneity", "proximity")
"""The attacks that are compared by default: the fast ones that say most about groups."""

_COLUMNS = 3
"""The number of quasi-identifiers in the questions whose error is shown, or as many as there are."""


@dataclass(frozen=True)
class ReleaseFigures:
    """The figures of one release that are compared with those of others. They depend on the original."""

    name: str
    method: str
    rows: int
    groups: int
    suppressed: int
    loss: float
    """The information loss, from 0 to 1."""
    bound: float | None
    """A loss that no groups go below that satisfy the same requirements, whatever the method; None if none is known."""
    query_error: float | None
    """The median relative error of counts over three quasi-identifiers; None if no question matches a row."""
    columns: Mapping[str, float]
    """The loss of each quasi-identifier."""
    marginals: Mapping[str, float]
    """For each quasi-identifier the share of rows that a reader expects under another value."""
    principles: Mapping[str, Mapping[str, str]]
    """For each principle the exact level that it reaches."""
    attacks: tuple[Mapping[str, Any], ...] = ()
    """What attackers achieve, as `Attacks.to_dict` states it."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {**vars(self), "attacks": [dict(one) for one in self.attacks]}


@dataclass(frozen=True, repr=False)
class ReleaseComparison:
    """Several releases of one original, side by side. Made by `compare_releases`; it must not be published."""

    releases: tuple[ReleaseFigures, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {"releases": [one.to_dict() for one in self.releases]}

    def table(self) -> list[tuple[str, ...]]:
        """Return the comparison as rows of texts: what is compared, then each release."""
        found: list[tuple[str, ...]] = [("", *(one.name for one in self.releases))]

        def add(name: str, values: Sequence[str]) -> None:
            found.append((name, *values))

        add("method", [one.method for one in self.releases])
        add("groups", [f"{one.groups:,}" for one in self.releases])
        add("suppressed rows", [f"{one.suppressed:,}" for one in self.releases])
        add("loss", [percent(one.loss) for one in self.releases])
        if any(one.bound for one in self.releases):
            add("no method loses less than", [_percent(one.bound) for one in self.releases])
        add("error of counts", ["–" if one.query_error is None else percent(one.query_error) for one in self.releases])
        for column in dict.fromkeys(name for one in self.releases for name in one.columns):
            add(f"loss of {column}", [_percent(one.columns.get(column)) for one in self.releases])
        for about in dict.fromkeys(_about(row) for one in self.releases for row in one.attacks):
            rows = [next((row for row in one.attacks if _about(row) == about), None) for one in self.releases]
            add(about, [_percent(None if row is None else row["success"]["share"]) for row in rows])
        return found

    def __repr__(self) -> str:
        rows = self.table()
        widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
        first, *others = widths
        return "\n".join(
            "  ".join(
                [row[0].ljust(first), *(cell.rjust(width) for cell, width in zip(row[1:], others, strict=True))]
            ).rstrip()
            for row in rows
        )


def compare_releases(
    releases: Mapping[str, Release | str | Path],
    original: Any = None,
    *,
    keys: Mapping[str, str | Path] | None = None,
    schema: Schema | None = None,
    attacks: Sequence[str] = COMPARED,
    progress: Progress = silent,
) -> ReleaseComparison:
    """Compare releases of one original: loss, errors of counts, what attackers achieve, and each column.

    `releases`: each a `Release` or the folder of one, by a name of your choice. `original`: the table that they were made
    from; a `Release` knows its own. `keys`: for folders, the private key of each, without which people are matched with rows
    for the attacks. `attacks`: names of `sfumato.registry.ATTACKS`; an empty list runs none. The figures depend on who has
    which sensitive value, so they must not be published.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 50, 51], "ill": ["flu", "gout", "flu", "cold"]})
    >>> made = {f"k = {k}": sf.anonymize(people, sf.Schema(["age"], ["ill"]), sf.KAnonymity(k), seed=0) for k in (2, 4)}
    >>> compare_releases(made, attacks=["homogeneity"])
                          k = 2  k = 4
    method                glaze  glaze
    groups                    2      1
    suppressed rows           0      0
    loss                4.762 %  100 %
    error of counts        50 %   50 %
    loss of age         4.762 %  100 %
    homogeneity on ill     50 %   50 %
    """
    found = []
    for number, (name, release) in enumerate(releases.items()):
        progress(f"comparing {name}", number / len(releases))
        key = (keys or {}).get(name)
        document, published, recodings, table = _content(release, original, schema)
        done = _attacked(release, original, schema, key, attacks)
        found.append(figures_of(name, document, published, recodings, table, done))
    return ReleaseComparison(tuple(found))


def figures_of(
    name: str,
    document: GroupedDocument,
    published: Audit,
    recodings: Mapping[str, str],
    original: Table,
    attacks: Attacks | None = None,
) -> ReleaseFigures:
    """Return the figures of one release; `published`: the audit of its published table."""
    covers = covers_of(original, published.table, published.groups, recodings)
    errors = true_errors(original, published.table, published.groups, covers, PUBLIC_SEED)
    by = [] if errors is None else [row for row in errors["by"] if row["columns"] <= _COLUMNS]
    return ReleaseFigures(
        name=name,
        method=document.method.name,
        rows=document.rows,
        groups=document.groups,
        suppressed=document.suppressed,
        loss=float(document.utility.loss.mean),
        bound=None if document.utility.bound is None else float(document.utility.bound),
        query_error=by[-1]["median"] if by else None,
        columns={column: float(loss) for column, loss in document.utility.loss.columns.items()},
        marginals={one.column: float(one.distance) for one in document.utility.marginals},
        principles={claim.label: dict(claim.exact) for claim in document.principles},
        attacks=() if attacks is None else tuple(attacks.to_dict()["attacks"]),
    )


def _content(
    release: Release | str | Path, original: Any, schema: Schema | None
) -> tuple[GroupedDocument, Audit, Mapping[str, str], Table]:
    """Return the document of a release, the audit of its published table, its recodings, and the original."""
    if isinstance(release, Release):
        return release.document, release.audit, release.recodings, release.private.original
    if original is None:
        raise ParameterError(
            "folders of releases cannot be compared without their original",
            remedy="Pass the table that they were made from as original=.",
            key="original",
        )
    manifest = Manifest.load(Path(release))
    check_digests(manifest)
    document, table = manifest.grouped, manifest.table
    declared, _ = table.schema(schema)
    published = published_table(table, published_schema(declared, document.group))
    recodings = {
        c.name: str(c.recoding) for c in document.columns if c.role == "quasi-identifier" and c.recoding is not None
    }
    source = original_table(table, original, declared)
    compared = published.with_original(OriginalPeople(source, recodings))
    return document, audit_table(compared, table.principles()), recodings, source


def _attacked(
    release: Release | str | Path, original: Any, schema: Schema | None, key: str | Path | None, attacks: Sequence[str]
) -> Attacks | None:
    if not attacks:
        return None
    return attack(release, None if isinstance(release, Release) else original, schema=schema, key=key, attacks=attacks)


def _about(row: Mapping[str, Any]) -> str:
    return str(row["attack"]) if row["about"] is None else f"{row['attack']} on {row['about']}"


def _percent(value: float | None) -> str:
    return "–" if value is None else percent(value)

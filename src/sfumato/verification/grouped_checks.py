"""Verify a table of rows in groups from its written file: nothing is taken from what found or recoded the groups."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato._audit import Finding, audit, finding_heading
from sfumato.data.schema import Kind, Role, Schema
from sfumato.data.table import Table
from sfumato.errors import SfumatoError
from sfumato.exact import as_fraction
from sfumato.plurals import count_of
from sfumato.principles import Principle, attributes_of
from sfumato.releases.manifest import Manifest
from sfumato.verification.checks import Check
from sfumato.verification.declaration_checks import usual_recoding
from sfumato.verification.level_checks import level_check
from sfumato.verification.original_checks import Matched, covered
from sfumato.verification.published_tables import original_table, published_table


def published_schema(schema: Schema, group: str) -> Schema:
    """The schema of the published table: quasi-identifiers as the texts that stand there, groups by their column.

    >>> published_schema(Schema(["age"], ["income"], kinds={"age": "numeric", "income": "numeric"}), "group").kinds
    {'income': <Kind.NUMERIC: 'numeric'>, 'age': <Kind.CATEGORICAL: 'categorical'>, 'group': <Kind.NUMERIC: 'numeric'>}
    """
    kept = {*schema.sensitive_columns(), *schema.vectors}

    def only(mapping: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in mapping.items() if name in kept}

    texts = dict.fromkeys(schema.quasi_identifiers, Kind.CATEGORICAL)
    return replace(
        schema,
        identifiers=(),
        other=(),
        kinds=only(schema.kinds) | texts | {group: Kind.NUMERIC},
        orders=only(schema.orders),
        hierarchies=only(schema.hierarchies),
        separators=only(schema.separators),
        recodings={},
        person_id=None,
        group=group,
    )


def grouped_checks(
    manifest: Manifest, declared: Schema, unknown: Sequence[str], asked: Sequence[Principle], original: Any = None
) -> list[Check]:
    """Check the table of a release of groups and, if the original is given, that table against it.

    `declared`, `unknown`: what `Manifest.schema` says. `asked`: the principles to be measured again.
    """
    checks = []
    try:
        name = str(manifest.content["group"])
        table = published_table(manifest, published_schema(declared, name))
        checks += [_columns(manifest, table, declared), _counts(manifest, table), _groups(table)]
        levels = level_check(manifest, table.data, declared) if checks[0].holds else None
        checks += [] if levels is None else [levels]
        checks += _principles(manifest, table, asked, unknown)
    except SfumatoError as error:
        checks.append(Check("data", False, f"the data file is not what release.json says: {error}"))
    else:
        if original is not None and checks[0].holds:
            checks += _original(manifest, table.data, original, declared)
    return checks


def _columns(manifest: Manifest, table: Table, declared: Schema) -> Check:
    """The columns are those that release.json lists, in the roles of its config; no identifier is among them."""
    found = table.data.column_names
    exposed = [name for name in found if name in declared.identifiers]
    if exposed:
        return Check("columns", False, f"the identifier {exposed[0]!r} is published")
    claimed = [column.get("name") if isinstance(column, dict) else None for column in manifest.content["columns"]]
    if claimed != found:
        return Check("columns", False, f"the data has {', '.join(found)}; release.json lists {', '.join(map(str, claimed))}")
    for column in manifest.content["columns"]:
        name = column["name"]
        role = "group" if name == manifest.content["group"] else str(declared.role(name))
        stated = {"role": role}
        if role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
            stated["kind"] = str(declared.kinds.get(name))
        if role == Role.QUASI_IDENTIFIER:
            stated["recoding"] = usual_recoding(declared, name)
        for key, value in stated.items():
            if column.get(key) != value:
                detail = f"the {key} of {name!r} is listed as {column.get(key)!r}, and the config says {value!r}"
                return Check("columns", False, detail)
    detail = f"{count_of(len(found), 'column')} as listed, no identifier among them"
    return Check("columns", True, detail)


def _counts(manifest: Manifest, table: Table) -> Check:
    claimed = {key: manifest.content[key] for key in ("rows", "groups")}
    groups = table.column(str(manifest.content["group"]))
    if groups.has_missing:
        return Check("counts", False, "a row has no group")
    problem = _out_of_range(manifest.content)
    if problem is not None:
        return Check("counts", False, problem)
    found = {"rows": table.rows, "groups": groups.size}
    shown = f"{count_of(found['rows'], 'row')} in {count_of(found['groups'], 'group')}"
    same = claimed == found
    return Check("counts", same, shown if same else f"{shown}; release.json says {claimed['rows']} and {claimed['groups']}")


def _out_of_range(content: Mapping[str, Any]) -> str | None:
    """What release.json says of numbers that no release can have."""
    rows, groups, suppressed = content["rows"], content["groups"], content["suppressed"]
    try:
        share = as_fraction(content["suppress"], "suppress")
    except SfumatoError as error:
        return f"release.json says that a share of {content['suppress']!r} may be suppressed: {error.problem}"
    if not 1 <= groups <= rows:
        return f"release.json says that there are {groups} groups of {rows} rows"
    if not 0 <= share < 1:
        return f"release.json says that a share of {content['suppress']} of the rows may be suppressed"
    if not 0 <= suppressed <= share * (rows + suppressed):
        return f"{suppressed} rows are said to be suppressed, and a share of {content['suppress']} may be"
    return None


def _groups(table: Table) -> Check:
    """All rows of a group publish the same quasi-identifiers."""
    group = table.column(str(table.schema.group))
    some_row = np.zeros(group.domain, np.int64)
    some_row[group.codes] = np.arange(table.rows)
    for name in table.schema.quasi_identifiers:
        codes = table.column(name).codes
        mixed = codes != codes[some_row][group.codes]
        if mixed.any():
            first = group.label(int(group.codes[np.argmax(mixed)]))
            return Check("groups", False, f"the rows of group {first} publish different quasi-identifiers")
    return Check("groups", True, "the rows of each group publish the same quasi-identifiers")


def _principles(manifest: Manifest, table: Table, principles: Sequence[Principle], unknown: Sequence[str]) -> list[Check]:
    """Measure every principle again, and compare verdict and levels with what is claimed."""
    claims = manifest.content["principles"]
    able = [p for p in principles if not (unknown and p.uses_distance)]
    found = audit(table, None, able) if able else ()
    by_principle: dict[int, list[tuple[Finding, dict[str, Any]]]] = {}
    entries = found.to_dict(0)["principles"] if able else []  # type: ignore[union-attr]
    for finding, entry in zip(found, entries, strict=True):
        by_principle.setdefault(id(finding.principle), []).append((finding, entry))
    checks, position = [], 0
    for principle in principles:
        if principle not in able:
            position += len(attributes_of(principle, table.schema))
            detail = "cannot be measured again without the publisher's own distance function; give the schema that holds it"
            checks.append(Check(principle.label, False, detail))
            continue
        for finding, entry in by_principle[id(principle)]:
            claim = claims[position] if position < len(claims) else {}
            checks.append(_compared(finding, entry, claim))
            position += 1
    if position != len(claims):
        checks.append(Check("principles", False, f"{len(claims)} are claimed, and the config asks for {position}"))
    if not principles:
        checks.append(Check("principles", False, "none is claimed, so nothing is promised"))
    holds = all(check.holds for check in checks)
    if manifest.content["holds"] is not True and holds:
        checks.append(Check("verdict", False, "release.json says that the principles do not hold, and they do"))
    return checks


def _get(claim: Any, key: str) -> Any:
    return claim.get(key) if isinstance(claim, dict) else None


def _compared(finding: Finding, entry: Mapping[str, Any], claim: Any) -> Check:
    heading = finding_heading(finding)
    levels = ", ".join(f"{name} {text}" for name, text in entry["exact"].items())
    if not finding.holds:
        return Check(heading, False, f"does not hold: {levels}; wanted {', '.join(entry['wanted'].values())}")
    rational = not any(isinstance(level, float) for level in finding.levels.values())
    for key, value in entry.items():
        claimed = _get(claim, key)
        if claimed == value or (not rational and key in ("measured", "exact") and _close(claimed, value)):
            continue
        return Check(heading, False, f"{key} is claimed to be {claimed!r}, and is {value!r}")
    return Check(heading, True, f"measured again: {levels}")


def _close(claimed: Any, found: Mapping[str, Any]) -> bool:
    """Levels that are no rational numbers may differ in their last digits from machine to machine."""
    try:
        return claimed.keys() == found.keys() and all(
            claimed[key] == value or math.isclose(float(claimed[key]), float(value), rel_tol=1e-9)
            for key, value in found.items()
        )
    except (AttributeError, TypeError, ValueError, OverflowError):
        return False


def _original(manifest: Manifest, published: pa.Table, original: Any, declared: Schema) -> list[Check]:
    """Check what the release must share with the table it was made from."""
    table = original_table(manifest, original, declared)
    unchanged = [
        name
        for name in published.column_names
        if name != manifest.content["group"] and declared.role(name) is not Role.QUASI_IDENTIFIER
    ]
    suppressed = manifest.content["suppressed"]
    matched = Matched.of(published, table, unchanged, declared)
    extra, absent = matched.surplus()
    lost = [n for n in table.data.column_names if n not in published.column_names and n not in declared.identifiers]
    checks = []
    if lost:
        checks.append(Check("original columns", False, f"{lost[0]!r} of the original is not published"))
    detail = f"sensitive and other columns are those of the original; {count_of(suppressed, 'row')} suppressed"
    if extra or absent != suppressed:
        detail = (
            f"{count_of(extra, 'published row')} have no original, {count_of(absent, 'original row')} are not published, "
            f"and {suppressed} are said to be suppressed"
        )
    checks.append(Check("rows", not extra and absent == suppressed, detail))
    recodings = {
        str(_get(column, "name")): str(_get(column, "recoding"))
        for column in manifest.content["columns"]
        if _get(column, "role") == Role.QUASI_IDENTIFIER
    }
    result = covered(published, table, matched, recodings, everyone=suppressed == 0)
    if result.uncovered:
        shown = f"; the first: {result.first}" if result.first else ""
        checks.append(Check("cover", False, f"{count_of(result.uncovered, 'row')} not covered by what is published{shown}"))
    else:
        blunt = f", {count_of(result.by_column, 'row')} column by column" if result.by_column else ""
        detail = f"the published cells cover the original values; {count_of(result.one_to_one, 'row')} one to one{blunt}"
        checks.append(Check("cover", True, detail))
    return checks

"""Verify a table of rows in groups from its written file.

Nothing is taken from the code that found or recoded the groups: the table is read from its file, the cells by the grammar of
`sfumato.releases.cells`, and the principles are measured again on what was read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato._audit import audit_table, table_of
from sfumato.audits.audit_result import Finding, finding_heading, worst_shown
from sfumato.data.schema import Role, Schema
from sfumato.data.table import Table
from sfumato.errors import ColumnError, FileError, SfumatoError
from sfumato.exact import as_fraction, written
from sfumato.plurals import count_of
from sfumato.principles import Principle, attributes_of
from sfumato.releases.expectations import Expectations
from sfumato.releases.models import AfterClaim, Document, GroupedTable, PrincipleClaim, PublishedColumn
from sfumato.releases.reader import Manifest, TableManifest
from sfumato.releases.table_files import original_table, published_schema, published_table
from sfumato.verification.candidate_checks import candidates_check
from sfumato.verification.checks import NO_ORIGINAL, Check, expected_principles
from sfumato.verification.declaration_checks import DECLARED, allowed_recodings, as_plain_data, first_difference
from sfumato.verification.exposure_checks import exposure_checks
from sfumato.verification.form_checks import OTHERS_FAIL, data_form_check
from sfumato.verification.level_checks import level_check
from sfumato.verification.limit_checks import limits_check
from sfumato.verification.order_checks import NO_ORDER, ORDERED_SINCE, order_check, order_seed
from sfumato.verification.original_checks import MatchedRows, cover_rows
from sfumato.verification.revelation_checks import revelation_check
from sfumato.verification.spelling_checks import spelling_check
from sfumato.verification.unit_checks import CountedUnits, RowKey, counted_units, counterfeits_of, key_of, mapping_problem
from sfumato.verification.utility_checks import sizes_check

_RELATIVE_TOLERANCE = 1e-9
"""Levels that are not rational numbers may differ in their last digits from machine to machine."""


def release_checks(manifest: Manifest, original: Any, expected: Expectations) -> list[Check]:
    """Check a grouped release; the entry of `KINDS`."""
    table = manifest.table
    declared, unavailable = table.schema(expected.schema)
    requested, difference = expected_principles(expected, table)
    key = key_of(table, expected)
    read = cache(lambda: published_table(table, published_schema(declared, table.document.group)))
    checks = grouped_checks(table, declared, unavailable, requested, original, key=key, read=read)
    checks += _sequence(table, read, checks, original, declared, requested, key, expected)
    checks.append(_order(table, read, checks))
    checks.append(_form(manifest, read, checks))
    difference = difference or _suppress_difference(table.document, expected)
    if expected.schema is not None or expected.principles is not None or expected.suppress is not None:
        published = [column.name for column in manifest.grouped.columns if column.name != manifest.grouped.group]
        checks.append(declared_check(expected.schema, declared, original, published, difference))
    return checks


def declared_check(
    schema: Schema | None, declared: Schema, original: Any, published: Sequence[str], difference: str | None
) -> Check:
    """Check that release.json declares what the caller expects.

    `schema`: the expected one, if any. `published`: the columns that are published under their own name. `difference`: one
    that was found in other expectations, reported if the schemas agree.
    """
    first = None
    if schema is not None:
        table = None if original is None else cache(lambda: table_of(original, schema))
        first = first_difference(schema, declared, table, published)
    first = first or difference
    return Check("declared", first is None, first or DECLARED)


def grouped_checks(
    manifest: TableManifest,
    declared: Schema,
    unavailable: Sequence[str],
    requested: Sequence[Principle],
    original: Any = None,
    no_original: str = NO_ORIGINAL,
    key: RowKey | None = None,
    read: Callable[[], Table] | None = None,
) -> list[Check]:
    """Check one table of rows in groups and, if the original is given, the table against the original.

    `declared`, `unavailable`: as returned by `TableManifest.schema`. `requested`: the principles to measure again.
    `no_original`: why the checks against the original are not made if it is None. `key`: whose row a row is. `read`: reads
    the published table, if the caller needs it too.
    """
    document = manifest.document
    checks: list[Check] = []
    try:
        table = published_table(manifest, published_schema(declared, document.group)) if read is None else read()
        checks += _table_checks(document, table, declared)
        levels = level_check(document, table.data, declared) if checks[0].holds else None
        checks += [] if levels is None else [levels]
    except SfumatoError as error:
        return [*checks, _unlike_stated(error)]
    source = _read_original(manifest, original, declared) if original is not None and checks[0].holds else None
    try:
        counted = counted_units(manifest, table, source, declared, key or RowKey())
        checks += [*counted.checks, *_principles(document, table, requested, unavailable, counted)]
        if all(check.holds is not False for check in checks):  # the size that is required is that of the principles
            sizes = sizes_check(document, table, requested)
            checks += [] if sizes.holds else [sizes]
        if checks[0].holds and checks[1].holds:
            checks += exposure_checks(document, table, declared, requested, manifest.format)
    except SfumatoError as error:
        checks.append(_unlike_stated(error))
    else:
        if source is not None:
            checks += _against_original(manifest, table.data, source, declared)
        else:
            reason = no_original if original is None else "not checked: the columns are not those of release.json"
            limits = limits_check(table.data, None, declared, {}, reason)
            checks += [] if limits is None else [limits]
            checks += [Check("rows", None, reason), Check("cover", None, reason)]
            checks.append(revelation_check(document, table.data, None, declared, reason))
    return checks


def refuse_inconsistent(manifest: TableManifest, table: Table, declared: Schema) -> None:
    """Raise an error if a published table does not have the columns, counts and groups that release.json states.

    For readers of a release, who need to rely on these; principles and cells are not checked.
    """
    for check in _table_checks(manifest.document, table, declared):
        if not check.holds:
            raise manifest.problem(check.name, f"the data file is not what release.json states: {check.detail}")


def _table_checks(document: GroupedTable, table: Table, declared: Schema) -> list[Check]:
    return [_columns(document, table, declared), _counts(document, table), _groups(table)]


def _unlike_stated(error: SfumatoError) -> Check:
    return Check("data", False, f"the data file is not what release.json states: {error}")


def _order(manifest: TableManifest, read: Callable[[], Table], checks: Sequence[Check]) -> Check:
    """Check the order of a table whose other checks hold; that of other contents says nothing."""
    if any(check.holds is False for check in checks):
        return Check("order", None, NO_ORDER)
    return order_check(read(), order_seed(manifest.document.seed, manifest.format), manifest.format)


def _sequence(
    manifest: TableManifest,
    read: Callable[[], Table],
    checks: Sequence[Check],
    original: Any,
    declared: Schema,
    requested: Sequence[Principle],
    key: RowKey,
    expected: Expectations,
) -> list[Check]:
    """Check a release that follows another, if its other checks hold."""
    claim = getattr(manifest.document, "after", None)
    if claim is None and expected.after is None:
        return []
    problem = None if claim is None else _claim_problem(manifest.document, claim)
    if problem is not None:
        return [Check("after", False, problem)]
    if any(check.holds is False for check in checks):
        return [Check("candidates", None, OTHERS_FAIL)]
    source = None if original is None else _read_original(manifest, original, declared)
    if source is not None and key.rows is not None:
        problem = mapping_problem(manifest, read().data, source, declared, key.rows)
        if problem is not None:
            return [Check("key", False, problem)]
    return candidates_check(manifest.document, read(), source, declared, requested, key.rows, expected.after)


def _claim_problem(document: GroupedTable, claim: AfterClaim) -> str | None:
    """Return what is wrong with what release.json states about the sequence; None if it is possible."""
    try:
        allowed = as_fraction(claim.allowed, "allowed")
    except SfumatoError as error:
        return f"release.json states that a share of {claim.allowed!r} may be counterfeits: {error.problem}"
    people = document.rows - claim.counterfeits + document.suppressed
    if not 0 <= allowed < 1 or not 0 <= claim.counterfeits <= allowed * people:
        return f"release.json states {claim.counterfeits} counterfeits, and that a share of {claim.allowed} may be"
    return None if claim.version >= 2 else f"release.json states that it follows a release, and is version {claim.version}"


def _form(manifest: Manifest, read: Callable[[], Table], checks: Sequence[Check]) -> Check:
    """Check that the data file is what this version writes for its content, if its other checks hold."""
    if any(check.holds is False for check in checks):
        return Check("form", None, OTHERS_FAIL)
    return table_form_check(manifest.table, manifest.document, read())


def table_form_check(manifest: TableManifest, document: Document, published: Table) -> Check:
    """Check that the file of a table is what this version writes for its content; `document`: of the whole release."""
    schema = published.schema
    separators = {name: schema.separators.get(name, ";") for name in schema.sensitive_columns()}
    recoded = {str(schema.group), *schema.quasi_identifiers}
    unchanged = [name for name in published.data.column_names if name not in recoded]
    return data_form_check(manifest.data, document, published.data, separators, unchanged)


def _suppress_difference(document: GroupedTable, expected: Expectations) -> str | None:
    """Return how the share of rows that may be suppressed differs from the expected one; None if it does not."""
    if expected.suppress is None or as_fraction(document.suppress, "suppress") == expected.suppress:
        return None
    return f"suppress is {document.suppress} in release.json, and {written(expected.suppress)} is given"


def _columns(document: GroupedTable, table: Table, declared: Schema) -> Check:
    """Check that the columns are those listed, in the roles of the config, and that no identifier is among them."""
    names = table.data.column_names
    exposed = [name for name in names if name in declared.identifiers]
    if exposed:
        return Check("columns", False, f"the identifier {exposed[0]!r} is published")
    undecided = [name for name in names if name != document.group and declared.role(name) is None]
    if undecided:
        return Check("columns", False, f"{undecided[0]!r} has no role and is published")
    listed = [column.name for column in document.columns]
    if listed != names:
        return Check("columns", False, f"the data has {', '.join(names)}; release.json lists {', '.join(listed)}")
    for column in document.columns:
        for key, value in _expected_column(column, document.group, declared).items():
            stated = getattr(column, key)
            if stated != value:
                detail = f"the {key} of {column.name!r} is listed as {stated!r}, and the config says {value!r}"
                return Check("columns", False, detail)
    return Check("columns", True, f"{count_of(len(names), 'column')} as listed, no identifier among them")


def _expected_column(column: PublishedColumn, group: str, declared: Schema) -> dict[str, str]:
    """Return what the config implies for a column: its role and, where it matters, its kind and its recoding."""
    if column.name == group:
        return {"role": "group"}
    role = declared.role(column.name)
    expected = {"role": str(role)}
    if role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        expected["kind"] = str(declared.kinds.get(column.name))
    if role is Role.QUASI_IDENTIFIER:
        allowed = allowed_recodings(declared, column.name)
        expected["recoding"] = str(column.recoding) if column.recoding in allowed else allowed[0]
    return expected


def _counts(document: GroupedTable, table: Table) -> Check:
    """Check the numbers of rows, groups and suppressed rows."""
    groups = table.column(document.group)
    if groups.has_missing:
        return Check("counts", False, "a row has no group")
    problem = _count_problem(document)
    if problem is not None:
        return Check("counts", False, problem)
    counted = f"{count_of(table.rows, 'row')} in {count_of(groups.size, 'group')}"
    same = (document.rows, document.groups) == (table.rows, groups.size)
    return Check(
        "counts", same, counted if same else f"{counted}; release.json states {document.rows} and {document.groups}"
    )


def _count_problem(document: GroupedTable) -> str | None:
    """Return what is wrong with numbers that no release can have; None if they are possible."""
    rows, groups, suppressed = document.rows, document.groups, document.suppressed
    try:
        share = as_fraction(document.suppress, "suppress")
    except SfumatoError as error:
        return f"release.json states that a share of {document.suppress!r} may be suppressed: {error.problem}"
    if not 1 <= groups <= rows:
        return f"release.json states {groups} groups of {rows} rows"
    if not 0 <= share < 1:
        return f"release.json states that a share of {document.suppress} of the rows may be suppressed"
    false = counterfeits_of(document)
    if not 0 <= suppressed <= share * (rows - false + suppressed):
        return f"release.json states that {suppressed} rows are suppressed, and that a share of {document.suppress} may be"
    return None


def _groups(table: Table) -> Check:
    """Check that all rows of a group publish the same quasi-identifiers."""
    group = table.column(str(table.schema.group))
    some_row = np.zeros(group.domain, np.int64)  # for each group one of its rows, to compare the others with
    some_row[group.codes] = np.arange(table.rows)
    for name in table.schema.quasi_identifiers:
        codes = table.column(name).codes
        mixed = codes != codes[some_row][group.codes]
        if mixed.any():
            first = group.label(int(group.codes[np.argmax(mixed)]))
            return Check("groups", False, f"the rows of group {first} publish different quasi-identifiers")
    return Check("groups", True, "the rows of each group publish the same quasi-identifiers")


def _principles(
    document: GroupedTable,
    table: Table,
    principles: Sequence[Principle],
    unavailable: Sequence[str],
    counted: CountedUnits,
) -> list[Check]:
    """Measure every principle again, and compare the verdict and the levels with those that are stated.

    A principle that needs a distance function which is not available fails: a release must not pass for want of a check.
    Where people are counted and nobody says whose row a row is, nothing is measured, and the checks are not made.
    """
    if counted.unknown is not None:
        return _unmeasured(document, table, principles, counted.unknown)
    measurable = [p for p in principles if not (unavailable and p.uses_distance)]
    findings = audit_table(table, measurable, counted.units) if measurable else None
    by_principle: dict[int, list[tuple[Finding, dict[str, Any]]]] = {}
    if findings is not None:
        for finding, entry in zip(findings, findings.to_dict(0)["principles"], strict=True):
            by_principle.setdefault(id(finding.principle), []).append((finding, entry))
    checks, claims = [], _Claims(document.principles)
    for principle in principles:
        if principle not in measurable:
            for names in attributes_of(principle, table.schema):
                claims.take(principle.name, principle.parameters(), " + ".join(names))
            detail = (
                "not measured again: the distance is a function of the publisher's own; pass schema=…, or a config, "
                "that contains it"
            )
            checks.append(Check(principle.label, False, detail))
            continue
        for finding, entry in by_principle[id(principle)]:
            claim = claims.take(entry["name"], entry["parameters"], entry["attribute"])
            checks.append(_compare(finding, entry, claim))
    problem = claims.problem()
    if problem is not None:
        checks.append(Check("principles", False, problem))
    if not principles:
        checks.append(Check("principles", False, "release.json states no principle, so the release guarantees nothing"))
    if not document.holds and all(check.holds for check in checks):
        checks.append(Check("verdict", False, "release.json states that the principles do not hold, and they do"))
    return checks


def _unmeasured(document: GroupedTable, table: Table, principles: Sequence[Principle], reason: str) -> list[Check]:
    """Return for each principle whether release.json states that it holds; the level itself is not checked."""
    checks, claims = [], _Claims(document.principles)
    for principle in principles:
        for names in attributes_of(principle, table.schema):
            attribute = " + ".join(names) or None
            claim = claims.take(principle.name, principle.parameters(), attribute)
            heading = principle.label + (f" on {attribute}" if attribute else "")
            if claim is None or not claim.holds:
                checks.append(Check(heading, False, "release.json does not state that it holds"))
            else:
                checks.append(Check(heading, None, f"not checked: {reason}"))
    problem = claims.problem() or (None if principles else "release.json states no principle")
    return [*checks, *([] if problem is None else [Check("principles", False, problem)])]


class _Claims:
    """What release.json states about each principle, taken one by one as the principles are measured again."""

    def __init__(self, claims: Sequence[PrincipleClaim]) -> None:
        self.left = dict(enumerate(claims))
        self.order: list[int] = []

    def take(self, name: str, parameters: Mapping[str, Any], attribute: str | None) -> PrincipleClaim | None:
        """Return the claim about a principle on an attribute, once; None if there is none, or none is left."""
        wanted = name, as_plain_data(parameters), attribute
        for position, claim in self.left.items():
            if (claim.name, claim.parameters, claim.attribute) == wanted:
                self.order.append(position)
                return self.left.pop(position)
        return None

    def problem(self) -> str | None:
        """Return what is wrong with the claims that were not taken, or with their order; None if nothing is."""
        if self.left:
            others = [claim.label + (f" on {claim.attribute}" if claim.attribute else "") for claim in self.left.values()]
            return f"release.json states {' and '.join(others)}, but that is not requested"
        if self.order != sorted(self.order):
            return "release.json states the principles in another order than it requests them"
        return None


def _compare(finding: Finding, entry: Mapping[str, Any], claim: PrincipleClaim | None) -> Check:
    """Compare a principle, measured again as `entry`, with what release.json states about it."""
    heading = finding_heading(finding)
    levels = ", ".join(worst_shown(part) for part in finding.measurement.parts)
    if not finding.holds:
        return Check(heading, False, f"does not hold: {levels}; wanted {', '.join(entry['wanted'].values())}")
    if claim is None:
        return Check(heading, False, f"release.json does not state it; measured: {levels}")
    rational = not any(isinstance(level, float) for level in finding.levels.values())
    stated = claim.to_dict()
    for key, value in entry.items():
        other = stated.get(key)
        if other == value or (not rational and key in ("measured", "exact") and _close(other, value)):
            continue
        return Check(heading, False, f"release.json states {key} = {other!r}, but it is {value!r}")
    return Check(heading, True, f"measured again: {levels}")


def _close(stated: Any, measured: Mapping[str, Any]) -> bool:
    """Return whether levels agree up to the tolerance for numbers that are not rational."""
    try:
        return stated.keys() == measured.keys() and all(
            stated[key] == value or math.isclose(float(stated[key]), float(value), rel_tol=_RELATIVE_TOLERANCE)
            for key, value in measured.items()
        )
    except (AttributeError, TypeError, ValueError, OverflowError):
        return False


def _read_original(manifest: TableManifest, original: Any, declared: Schema) -> Table:
    """Return the original; an error if it is a published table, which lacks identifiers and has the group column."""
    remedy = "Pass the table that the release was made from"
    try:
        table = original_table(manifest, original, declared)
    except ColumnError as error:
        remedy = f"{remedy}, not a published table. {error.remedy}"
        raise ColumnError(error.problem, remedy=remedy, file=error.file, column=error.column) from error
    group = manifest.document.group  # chosen so that the original has no such column
    if group in table.data.column_names:
        problem = f"this is not the original but a published table: it has the column {group!r}"
        raise FileError(problem, remedy=f"{remedy}.", file=table.source)
    return table


def _against_original(manifest: TableManifest, published: pa.Table, table: Table, declared: Schema) -> list[Check]:
    """Check what the release must share with the table from which it was made."""
    document = manifest.document
    unchanged = [
        name
        for name in published.column_names
        if name != document.group and declared.role(name) is not Role.QUASI_IDENTIFIER
    ]
    suppressed, false = document.suppressed, counterfeits_of(document)
    matched = MatchedRows.of(published, table, unchanged, declared, manifest.format)
    extra, absent = matched.surplus()
    here = set(published.column_names)
    lost = [name for name in declared.published_columns(table.data.column_names) if name not in here]
    checks = []
    if lost:
        checks.append(Check("original columns", False, f"{lost[0]!r} of the original is not published"))
    detail = f"sensitive and other columns are those of the original; {count_of(suppressed, 'row')} suppressed"
    detail += f", {count_of(false, 'counterfeit')}" if false else ""
    # a counterfeit may have the values of somebody who was suppressed
    fine = extra <= false and extra - absent == false - suppressed
    if not fine:
        detail = (
            f"{count_of(extra, 'published row')} have no original, {count_of(absent, 'original row')} are not published, "
            f"and release.json states that {suppressed} are suppressed" + (f" and {false} counterfeits" if false else "")
        )
    checks.append(Check("rows", fine, detail))
    recodings = {c.name: str(c.recoding) for c in document.columns if c.role == "quasi-identifier"}
    limits = limits_check(published, table, declared, recodings, "")
    checks += [] if limits is None else [limits]
    result = cover_rows(published, table, matched, recodings, everyone=suppressed == 0, counterfeits=false)
    if result.uncovered:
        first = f"; the first: {result.first}" if result.first else ""
        checks.append(Check("cover", False, f"{count_of(result.uncovered, 'row')} not covered by what is published{first}"))
    else:
        by_column = f", {count_of(result.by_column, 'row')} compared column by column" if result.by_column else ""
        detail = (
            f"the published cells cover the original values; {count_of(result.unique_matches, 'row')} matched uniquely"
            f"{by_column}"
        )
        checks.append(Check("cover", True, detail))
    if document.warnings is not None:
        checks.append(revelation_check(document, published, table, declared))
    if all(check.holds for check in checks):
        spelling = spelling_check(published, table, recodings, unchanged)
        checks += [] if spelling.holds else [spelling]
    if manifest.format < ORDERED_SINCE and matched.classes > 1 and np.array_equal(matched.published, matched.original):
        checks.append(Check("original order", False, "the rows are in the order of the original"))
    return checks

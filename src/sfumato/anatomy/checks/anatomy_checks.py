"""Verify an anatomized release from its written files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sfumato.anatomy.checks.group_links import are_certain, are_linked, unlinked_secrets
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.errors import ParameterError, SfumatoError
from sfumato.plurals import count_of
from sfumato.principles import Principle
from sfumato.principles.scope import table_principles
from sfumato.releases.anatomy_tables import PEOPLE, contents_of, public_order
from sfumato.releases.expectations import Expectations
from sfumato.releases.kinds import table_name
from sfumato.releases.reader import Manifest
from sfumato.releases.table_files import original_table
from sfumato.verification.checks import NO_ORIGINAL, Check, expected_principles
from sfumato.verification.compared_tables import reader_of
from sfumato.verification.exposure_checks import warnings_check
from sfumato.verification.form_checks import OTHERS_FAIL, data_form_check
from sfumato.verification.grouped_checks import declared_check, suppress_difference
from sfumato.verification.order_checks import NO_ORDER, ORDER_HOLDS, OTHER_NUMBERS, OTHER_ROWS
from sfumato.verification.original_checks import MatchedRows
from sfumato.verification.principle_checks import principle_checks
from sfumato.verification.row_facts import LocalFacts
from sfumato.verification.separated_files import SeparatedFiles, UnlikeStatedError
from sfumato.verification.unit_checks import CountedUnits, RowKey, key_of

NO_KEY = "not checked: people with equal quasi-identifiers are in several groups, or rows were suppressed; pass the key"


def release_checks(manifest: Manifest, original: Any, expected: Expectations) -> list[Check]:
    """Check an anatomized release; the entry of `KINDS`."""
    document = manifest.anatomized
    declared, unavailable = manifest.schema(expected.schema)
    requested, difference = expected_principles(expected, manifest)
    try:
        files = SeparatedFiles.read(manifest, declared)
        checks = [_counts(files)]
        checks += _secret_checks(manifest, files, requested, unavailable, declared)
    except UnlikeStatedError as error:
        return [error.check]
    except SfumatoError as error:
        return [Check("data", False, f"the files are not what release.json states: {error}")]
    checks.append(_alone(manifest, files))
    key = key_of(manifest.data_file(PEOPLE), expected)
    table = None if original is None else original_table(manifest, original, declared)
    checks += _original_checks(manifest, files, table, declared, key)
    if any(check.holds is False for check in checks):
        checks += [Check("order", None, NO_ORDER), Check("form", None, OTHERS_FAIL)]
    else:
        checks += [_order(files, declared), *_forms(manifest, files, declared)]
    difference = difference or suppress_difference(document, expected)
    if expected.schema is not None or expected.principles is not None or expected.suppress is not None:
        names = [*files.names, *declared.sensitive_columns()]
        checks.append(declared_check(expected.schema, declared, reader_of(original), names, difference))
    return checks


def _counts(files: SeparatedFiles) -> Check:
    people, groups = count_of(files.people.rows, "person", "people"), count_of(files.groups.count, "group")
    tables = count_of(len(files.secrets), "table")
    return Check("counts", True, f"{people} in {groups}; {tables} of as many secrets, group by group")


def _secret_checks(
    manifest: Manifest,
    files: SeparatedFiles,
    requested: Sequence[Principle],
    unavailable: Sequence[str],
    declared: Schema,
) -> Iterator[Check]:
    """Measure the principles of each table of secrets again, and count what they do not cover."""
    document = manifest.anatomized
    plan = [table.attributes for table in document.tables]
    try:
        by_table = table_principles(requested, declared, plan)
    except ParameterError as error:
        yield Check("principles", False, error.problem)
        return
    if not requested:
        yield Check("principles", False, "release.json states no principle, so the release guarantees nothing")
    for number, (table, principles) in enumerate(zip(document.tables, by_table, strict=True)):
        facts = LocalFacts(files.by_person(number))
        found = [warnings_check(table, facts, files.schemas[number], principles)]
        if principles or table.principles:
            found += principle_checks(table.principles, facts, principles, unavailable, CountedUnits(None, ()))
        yield from (replace(check, name=f"{table_name(number + 1)}: {check.name}") for check in found)
    if not document.holds:
        yield Check("verdict", False, "release.json states that the principles do not hold")


def _alone(manifest: Manifest, files: SeparatedFiles) -> Check:
    """Count the people whose exact columns nobody else has."""
    alone, stated = LocalFacts(files.people).unique_texts(files.names, manifest.format), manifest.anatomized.alone
    counted = f"{count_of(alone, 'person', 'people')} with exact columns that nobody else has"
    return Check("alone", alone == stated, counted if alone == stated else f"{counted}; release.json states {stated}")


def _original_checks(
    manifest: Manifest, files: SeparatedFiles, original: Table | None, declared: Schema, key: RowKey
) -> Iterator[Check]:
    """Check the people and their secrets against the original; which group a person is in, as far as that is known."""
    checks = [] if key.problem is None else [Check("key", False, key.problem)]
    if original is None:
        yield from [*checks, Check("rows", None, NO_ORIGINAL), Check("links", None, NO_ORIGINAL)]
        return
    suppressed = manifest.anatomized.suppressed
    secret = set(declared.sensitive_columns())
    lost = [
        name
        for name in declared.published_columns(original.data.column_names)
        if name not in secret and name not in files.names
    ]
    if lost:
        yield Check("original columns", False, f"{lost[0]!r} of the original is not published")
    people = MatchedRows.of(files.people.data, original, files.names, declared, manifest.format)
    by_person = [files.by_person(number) for number in range(len(files.secrets))]
    secrets = [
        MatchedRows.of(table.data, original, table.schema.sensitive_columns(), declared, manifest.format)
        for table in by_person
    ]
    for number, matched in enumerate([people, *secrets]):
        extra, absent = matched.surplus()
        name = table_name(number) if number else PEOPLE
        fine = (extra, absent) == (0, suppressed)
        detail = f"{name}: {extra} rows are not those of the original, {absent} of which are not published"
        checks.append(Check("rows", fine, "every row is one of the original" if fine else detail))
        if not fine:
            yield from checks[:-1]
            yield checks[-1]
            yield Check("links", None, OTHERS_FAIL)
            return
    yield from [check for check in checks if check.name != "rows"]
    yield Check("rows", True, f"people and secrets are those of the original; {count_of(suppressed, 'row')} suppressed")
    group_of_secret = [np.repeat(table.group, table.counts) for table in files.secrets]
    if key.rows is not None:
        yield _linked_by_key(files, original, key, people, secrets, group_of_secret)
        return
    for number, (matched, groups) in enumerate(zip(secrets, group_of_secret, strict=True), 1):
        yield _linked(files, table_name(number), people, matched, groups, suppressed)


def _linked(
    files: SeparatedFiles, name: str, people: MatchedRows, secrets: MatchedRows, group_of_secret: Any, suppressed: int
) -> Check:
    """Check that the secrets of each group can be those of its people; exactly, if it is certain who is in which group."""
    unlinked = unlinked_secrets(people, files.groups, secrets, group_of_secret)
    if unlinked:
        return Check("links", False, f"{name}: at least {count_of(unlinked, 'secret')} can be nobody's of the group")
    if unlinked is None or suppressed or not are_certain(people, files.groups):
        return Check("links", None, NO_KEY)
    return Check("links", True, f"{name}: the secrets of each group are those of its people")


def _linked_by_key(
    files: SeparatedFiles,
    original: Table,
    key: RowKey,
    people: MatchedRows,
    secrets: Sequence[MatchedRows],
    group_of_secret: Sequence[Any],
) -> Check:
    """Check that the secrets of each group are those of its people, who are who the key says."""
    rows = key.rows
    assert rows is not None
    if len(rows) != files.people.rows or rows.min(initial=0) < 0 or rows.max(initial=-1) >= original.rows:
        return Check("key", False, "the key does not name a row of the original for each person")
    if len(np.unique(rows)) != len(rows):
        return Check("key", False, "the key names a row of the original twice")
    if not np.array_equal(people.published, people.original[rows]):
        return Check("key", False, "a published person differs from the row of the original that the key names")
    for number, (matched, groups) in enumerate(zip(secrets, group_of_secret, strict=True), 1):
        if not are_linked(rows, files.groups, matched, groups):
            return Check("links", False, f"{table_name(number)}: the secrets of a group are not those of its people")
    return Check("links", True, "the secrets of each group are those of its people, who are those of the key")


def _separators(declared: Schema) -> dict[str, str]:
    names = (*declared.quasi_identifiers, *declared.sensitive_columns())
    return {name: declared.separators.get(name, ";") for name in names}


def _order(files: SeparatedFiles, declared: Schema) -> Check:
    """Check that groups, people and secrets are in the public order; any other may reveal that of the original."""
    separators, groups = _separators(declared), files.groups
    people = files.people.data.select(list(files.names))
    # Ordering tables that are in their order must not change them: what is equal in everything may be exchanged.
    rows, number = public_order(people, groups, files.secrets, separators)
    if not np.array_equal(number[groups.of_row[rows]], groups.of_row + 1):
        return Check("order", False, OTHER_NUMBERS)
    finest = contents_of(people, separators).finest
    if not np.array_equal(finest[rows], finest):
        return Check("order", False, OTHER_ROWS)
    for place, table in enumerate(files.secrets, 1):
        if not table.in_order(separators):
            return Check("order", False, f"the secrets of {table_name(place)} are not in order, or one occurs twice")
    return Check("order", True, ORDER_HOLDS)


def _forms(manifest: Manifest, files: SeparatedFiles, declared: Schema) -> Iterator[Check]:
    """Check that each data file is what this version writes for its content."""
    document, separators = manifest.anatomized, _separators(declared)
    tables = [files.people.data, *(table.as_table(document.group, document.count) for table in files.secrets)]
    for stem, table in zip(manifest.release_kind.file_stems(len(files.secrets)), tables, strict=True):
        unchanged = [name for name in table.column_names if name not in (document.group, document.count)]
        yield data_form_check(manifest.data_file(stem).data, document, table, separators, unchanged)

"""Verify a table of rows in groups from its written file.

Nothing is taken from the code that found or recoded the groups: the table is read from its file, the cells by the grammar of
`sfumato.releases.cells`, and the principles are measured again on what was read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import cache, partial
from typing import Any

from sfumato.data.original_people import OriginalPeople
from sfumato.data.schema import Role, Schema
from sfumato.data.table import Table
from sfumato.errors import ClusterError, DatabaseError, SfumatoError
from sfumato.exact import as_fraction, written
from sfumato.plurals import count_of
from sfumato.principles import Principle
from sfumato.releases.expectations import Expectations
from sfumato.releases.models import AnatomizedDocument, GroupedTable, PublishedColumn
from sfumato.releases.reader import Manifest, TableManifest
from sfumato.releases.table_files import stated_recodings
from sfumato.verification.candidate_checks import sequence_checks
from sfumato.verification.checks import NO_ORIGINAL, Check, expected_principles
from sfumato.verification.compared_tables import ComparedTables
from sfumato.verification.coverage_checks import coverage_check
from sfumato.verification.declaration_checks import DECLARED, allowed_recodings, first_difference
from sfumato.verification.exposure_checks import exposure_checks
from sfumato.verification.figure_checks import figure_check
from sfumato.verification.form_checks import OTHERS_FAIL
from sfumato.verification.level_checks import level_check
from sfumato.verification.limit_checks import limits_check
from sfumato.verification.order_checks import NO_ORDER, ORDERED_SINCE
from sfumato.verification.principle_checks import NO_POPULATION, principle_checks
from sfumato.verification.resistance_checks import resistance_check, with_stated_grids
from sfumato.verification.revelation_checks import revelation_check
from sfumato.verification.row_facts import Comparison, LocalComparison, LocalFacts, RowFacts
from sfumato.verification.spelling_checks import spelling_check
from sfumato.verification.table_choice import opened_tables
from sfumato.verification.unit_checks import RowKey, counted_units, counterfeits_of, key_of
from sfumato.verification.utility_checks import sizes_check
from sfumato.workers import meanwhile

NO_COLUMNS = "not checked: the columns are not those of release.json"


def release_checks(manifest: Manifest, original: Any, expected: Expectations) -> list[Check]:
    """Check a grouped release; the entry of `KINDS`."""
    table = manifest.table
    declared, unavailable = table.schema(expected.schema)
    requested, difference = expected_principles(expected, table)
    if declared.population is not None and any(principle.uses_population for principle in requested):
        declared.population.check_readable(declared)  # a population that cannot be read says nothing about the release
    with (
        opened_tables(table, declared, requested, original, expected) as tables,
        tables.checked_ahead(manifest.document),
    ):
        key = key_of(table, expected)
        checks = grouped_checks(table, tables, declared, unavailable, requested, key=key)
        checks += sequence_checks(table, tables, checks, declared, requested, key, expected.after)
        checks.append(_order(tables, checks))
        checks.append(_form(manifest, tables, checks))
        if expected.figures:
            checks.append(_figures(manifest, tables, declared, unavailable, requested, key, checks))
        difference = difference or suppress_difference(table.document, expected)
        if expected.schema is not None or expected.principles is not None or expected.suppress is not None:
            published = [column.name for column in manifest.grouped.columns if column.name != manifest.grouped.group]
            under = tables.original_under if tables.has_original else None
            schema = expected.schema
            if schema is not None:
                schema = with_stated_grids(schema, declared, table.document.resist, under)
            checks.append(declared_check(schema, declared, under, published, difference))
    return checks


def declared_check(
    schema: Schema | None,
    declared: Schema,
    original: Callable[[Schema], Table] | None,
    published: Sequence[str],
    difference: str | None,
) -> Check:
    """Check that release.json declares what the caller expects.

    `schema`: the expected one, if any. `original`: returns the original under a schema. `published`: the columns that are
    published under their own name. `difference`: one that was found in other expectations, reported if the schemas agree.
    """
    first = None
    if schema is not None:
        table = None if original is None else cache(partial(original, schema))
        first = first_difference(schema, declared, table, published)
    first = first or difference
    return Check("declared", first is None, first or DECLARED)


def grouped_checks(
    manifest: TableManifest,
    tables: ComparedTables,
    declared: Schema,
    unavailable: Sequence[str],
    requested: Sequence[Principle],
    no_original: str = NO_ORIGINAL,
    key: RowKey | None = None,
) -> list[Check]:
    """Check one table of rows in groups and, if the original is given, the table against the original.

    `declared`, `unavailable`: as returned by `TableManifest.schema`. `requested`: the principles to measure again.
    `no_original`: why the checks against the original are not made if there is none. `key`: whose row a row is.
    """
    document = manifest.document
    checks: list[Check] = []
    try:
        facts = tables.facts
        checks += _table_checks(document, facts, declared)
        levels = level_check(document, facts, declared) if checks[0].holds else None
        checks += [] if levels is None else [levels]
    except (ClusterError, DatabaseError):  # a cluster that fails says nothing about the release
        raise
    except SfumatoError as error:
        return [*checks, _unlike_stated(error)]
    source = tables.original if tables.has_original and checks[0].holds else None
    try:
        counted = counted_units(manifest, facts.table, source, declared, key or RowKey())
        compared = beside_original(facts.table, source, manifest, requested)
        measured = facts if compared is facts.table else LocalFacts(compared)
        principles = principle_checks(document.principles, measured, requested, unavailable, counted)
        checks += [*counted.checks, *principles]
        if counted.unknown is None and not document.holds and all(check.holds for check in principles):
            checks.append(Check("verdict", False, "release.json states that the principles do not hold, and they do"))
        if all(check.holds is not False for check in checks):  # the size that is required is that of the principles
            sizes = sizes_check(document, facts, requested)
            checks += [] if sizes.holds else [sizes]
        resists = resistance_check(document, requested)
        checks += [] if resists is None else [resists]
        if checks[0].holds and checks[1].holds:
            checks += exposure_checks(document, facts, declared, requested, manifest.format)
    except (ClusterError, DatabaseError):
        raise
    except SfumatoError as error:
        checks.append(_unlike_stated(error))
    else:
        names = facts.table.data.column_names
        if source is not None:
            unchanged = [n for n in names if n != document.group and declared.role(n) is not Role.QUASI_IDENTIFIER]
            checks += _against_original(manifest, facts, tables.compared(unchanged), unchanged, declared)
        else:
            reason = NO_COLUMNS if tables.has_original else no_original
            limits = limits_check(facts, None, declared, {}, reason)
            checks += [] if limits is None else [limits]
            checks += [Check("rows", None, reason), Check("cover", None, reason)]
            checks.append(revelation_check(document, names, None, declared, reason))
    return checks


def refuse_inconsistent(manifest: TableManifest, table: Table, declared: Schema) -> None:
    """Raise an error if a published table does not have the columns, counts and groups that release.json states.

    For readers of a release, who need to rely on these; principles and cells are not checked.
    """
    for check in _table_checks(manifest.document, LocalFacts(table), declared):
        if not check.holds:
            raise manifest.problem(check.name, f"the data file is not what release.json states: {check.detail}")


def _table_checks(document: GroupedTable, facts: RowFacts, declared: Schema) -> list[Check]:
    return [_columns(document, facts.table, declared), _counts(document, facts.table), _groups(facts)]


def _unlike_stated(error: SfumatoError) -> Check:
    return Check("data", False, f"the data file is not what release.json states: {error}")


def _order(tables: ComparedTables, checks: Sequence[Check]) -> Check:
    """Check the order of a table whose other checks hold; that of other contents says nothing."""
    if any(check.holds is False for check in checks):
        return Check("order", None, NO_ORDER)
    return tables.order_check()


def _form(manifest: Manifest, tables: ComparedTables, checks: Sequence[Check]) -> Check:
    """Check that the data file is what this version writes for its content, if its other checks hold."""
    if any(check.holds is False for check in checks):
        return Check("form", None, OTHERS_FAIL)
    return tables.form_check(manifest.document)


def _figures(
    manifest: Manifest,
    tables: ComparedTables,
    declared: Schema,
    unavailable: Sequence[str],
    requested: Sequence[Principle],
    key: RowKey,
    checks: Sequence[Check],
) -> Check:
    """Check the figures of a table whose other checks hold."""
    if any(check.holds is False for check in checks):
        return Check("figures", None, OTHERS_FAIL)
    if unavailable:
        return Check("figures", None, "not checked: a distance is a function of the publisher's own")
    if declared.population is None and any(principle.uses_population for principle in requested):
        return Check("figures", None, f"not checked: {NO_POPULATION}")
    if any(check.name == "order" and check.holds is None for check in checks):
        return Check("figures", None, "not checked: they name groups by their numbers, which depend on the order")
    published, original, reason = tables.facts.table, None, NO_ORIGINAL
    if tables.has_original and tables.has_rows:
        original = tables.original
    elif tables.has_original:
        reason = "not checked: they are computed where all rows are, and these are on a cluster"
    counted = counted_units(manifest.table, published, original, declared, key)
    published = beside_original(published, original, manifest.table, requested)
    return figure_check(manifest, published, original, declared, requested, counted, reason)


def suppress_difference(document: GroupedTable | AnatomizedDocument, expected: Expectations) -> str | None:
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
    problem = count_problem(document)
    if problem is not None:
        return Check("counts", False, problem)
    counted = f"{count_of(table.rows, 'row')} in {count_of(groups.size, 'group')}"
    same = (document.rows, document.groups) == (table.rows, groups.size)
    return Check(
        "counts", same, counted if same else f"{counted}; release.json states {document.rows} and {document.groups}"
    )


def count_problem(document: GroupedTable | AnatomizedDocument) -> str | None:
    """Return what is wrong with numbers that no release can have; None if they are possible."""
    rows, groups, suppressed = document.rows, document.groups, document.suppressed
    for key, text in (("suppress", document.suppress), ("unchanged_limit", document.config.unchanged_limit)):
        problem = None if text is None else _share_problem(key, text)
        if problem is not None:
            return problem
    if not 1 <= groups <= rows:
        return f"release.json states {groups} groups of {rows} rows"
    if not 0 <= suppressed <= as_fraction(document.suppress) * (rows - counterfeits_of(document) + suppressed):
        return f"release.json states that {suppressed} rows are suppressed, and that a share of {document.suppress} may be"
    return None


def _share_problem(key: str, text: str) -> str | None:
    """Return what is wrong with a share of rows as release.json writes it; None if nothing is."""
    try:
        share = as_fraction(text, key)
    except SfumatoError as error:
        return f"release.json states {key} = {text!r}: {error.problem}"
    if not 0 <= share <= 1 or (key == "suppress" and share == 1):
        return f"release.json states {key} = {text!r}, which is no share of the rows that is allowed"
    return None if text == written(share) else f"release.json states {key} = {text!r}, and not {written(share)!r}"


def _groups(facts: RowFacts) -> Check:
    """Check that all rows of a group publish the same quasi-identifiers."""
    mixed = facts.mixed_group()
    if mixed is not None:
        label = facts.table.column(str(facts.table.schema.group)).label(mixed)
        return Check("groups", False, f"the rows of group {label} publish different quasi-identifiers")
    return Check("groups", True, "the rows of each group publish the same quasi-identifiers")


def beside_original(
    published: Table, original: Table | None, manifest: TableManifest, principles: Sequence[Principle]
) -> Table:
    """Return a published table that knows its original, if a principle compares its cells with the people of that."""
    if original is None or not any(principle.uses_original for principle in principles):
        return published
    return published.with_original(OriginalPeople(original, stated_recodings(manifest)))


def _revealing(document: GroupedTable, names: Sequence[str], compared: Comparison, declared: Schema) -> list[Check]:
    """Check the warnings of revealing columns, if the release states any kind of warnings."""
    return [] if document.warnings is None else [revelation_check(document, names, compared, declared)]


def _against_original(
    manifest: TableManifest, facts: RowFacts, compared: Comparison, unchanged: Sequence[str], declared: Schema
) -> list[Check]:
    """Check what the release must share with the table from which it was made."""
    document, table = manifest.document, compared.original
    suppressed, false = document.suppressed, counterfeits_of(document)
    extra, absent = compared.surplus()
    names = facts.table.data.column_names
    lost = [name for name in declared.published_columns(table.data.column_names) if name not in set(names)]
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
    limits = limits_check(facts, table, declared, recodings, "")
    checks += [] if limits is None else [limits]
    revealing = partial(_revealing, document, names, compared, declared)
    # the executors of a cluster have enough to do with one check at a time
    with meanwhile(revealing) if isinstance(compared, LocalComparison) else nullcontext([revealing]) as (found,):
        coverage, readers = compared.coverage(recodings, everyone=suppressed == 0)
        checks += [coverage_check(coverage, readers, list(recodings), false), *found()]
    if all(check.holds for check in checks):
        spelling = spelling_check(facts, compared, recodings, unchanged)
        checks += [] if spelling.holds else [spelling]
    if manifest.format < ORDERED_SINCE and compared.is_in_order():
        checks.append(Check("original order", False, "the rows are in the order of the original"))
    return checks

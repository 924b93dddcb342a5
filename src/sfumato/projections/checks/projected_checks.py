"""Verify a projected release: each table like a grouped release, and that together they are the stated plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.data.column import Column
from sfumato.data.schema import Role, Schema
from sfumato.data.table import Table
from sfumato.principles import Principle
from sfumato.projections.checks.dependence_measurement import DependenceMeasurement
from sfumato.projections.checks.plan_checks import plan_check, quality_checks, threshold_checks
from sfumato.projections.checks.projected_table_checks import (
    dependence_check,
    table_order_check,
    table_principles,
    terms_check,
)
from sfumato.projections.checks.request_checks import ExpectedProjection
from sfumato.releases.expectations import Expectations
from sfumato.releases.kinds import table_name
from sfumato.releases.models import ProjectedTable
from sfumato.releases.reader import Manifest, TableManifest
from sfumato.releases.table_files import original_table
from sfumato.verification.checks import NO_ORIGINAL, Check, expected_principles
from sfumato.verification.compared_tables import LocalTables, reader_of
from sfumato.verification.declaration_checks import in_declared_order
from sfumato.verification.grouped_checks import declared_check, grouped_checks
from sfumato.verification.utility_checks import utility_checks


def release_checks(manifest: Manifest, original: Any, expected: Expectations) -> list[Check]:
    """Check a projected release; the entry of `KINDS`."""
    request = None if expected.project is None else ExpectedProjection.of(expected.project)
    declared, _ = manifest.schema(expected.schema)
    principles, difference = expected_principles(expected, manifest)
    checks = projected_checks(manifest, declared, principles, original, expected.schema)
    if request is not None and all(check.holds is not False for check in checks):
        difference = difference or request.first_difference(manifest, expected.schema)
    if expected.schema is not None or expected.principles is not None or request is not None:
        checks.append(declared_check(expected.schema, declared, reader_of(original), [], difference))
    return checks


def projected_checks(
    manifest: Manifest,
    declared: Schema,
    principles: Sequence[Principle],
    original: Any = None,
    known: Schema | None = None,
) -> list[Check]:
    """Check the plan, every table, and the ratios of the plan; with the original, tables and ratios against that.

    `declared`, `principles`: the schema of the original and the requested principles. `known`: a schema with distance
    functions, which release.json cannot contain.
    """
    document = manifest.projected
    plan = plan_check(document, declared)
    if not plan.holds:
        return [plan]  # the other checks rely on the plan
    suppressed = any(table.suppressed for table in document.tables)
    checks = [plan]
    source, whole = None, None
    if original is not None:
        source = original_table(manifest, original, declared)
        whole = encode_original(source, document.sets, suppressed)
        if isinstance(whole, str):
            return [*checks, Check("sets", False, whole)]
        others = [name for name in source.data.column_names if declared.role(name) in (None, Role.OTHER)]
        missing = [name for name in others if name not in document.left_out]
        if missing:
            problem = f"{missing[0]!r} of the original is in no table, and not stated as left out"
            checks.append(Check("original columns", False, problem))
    parts: list[Table] = []
    for number, (table, block) in enumerate(zip(manifest.tables(), document.plan, strict=True), 1):
        part = _Part(manifest, table, block, declared, known)
        results = part.checks(principles, source, whole, parts)
        checks += [replace(check, name=f"{table_name(number)}: {check.name}") for check in results]
        parts += [] if part.original is None else [part.original]
    # The ratios are those of the whole plan, so they need the original part of every table.
    measured = None
    if len(parts) == len(document.tables):
        measured = DependenceMeasurement.of(parts, document.harmless).ratios(document.plan)
    return [*checks, *threshold_checks(document, measured, suppressed), *quality_checks(document)]


class _Part:
    """One table of the release, with its part of the original once that is known."""

    def __init__(
        self, manifest: Manifest, table: TableManifest, block: Sequence[str], declared: Schema, known: Schema | None
    ) -> None:
        self.document = manifest.projected
        self.table = table
        self.block = block
        self.declared = declared
        self.schema, self.unavailable = table.schema(known)
        self.original: Table | None = None

    def checks(
        self, principles: Sequence[Principle], source: Table | None, whole: pa.Table | None, others: Sequence[Table]
    ) -> list[Check]:
        """Check the table. `source`: the original. `whole`: its data with sets as bits. `others`: parts checked before."""
        document, table = self.document, self.table.document
        assert isinstance(table, ProjectedTable)
        applicable, difference = table_principles(document, self.block, principles)
        if difference is None:
            requested, difference = in_declared_order(applicable, self.table.requested)
        else:
            requested = tuple(applicable)
        checks = [terms_check(document, table, self.block, self.declared, self.schema, difference)]
        if whole is not None and source is not None and checks[0].holds:
            names = [*self.schema.quasi_identifiers, *self.schema.sensitive_columns()]
            self.original = Table(whole.select(names), self.schema, source.source, untyped=source.untyped)
            self.original.share_columns(source, [name for name in names if name in source.data.column_names])
            for other in others:  # quasi-identifiers are in every table: encode them once
                self.original.share_columns(other, self.schema.quasi_identifiers)
        # The terms say which columns the original's part has: without them the table is checked alone.
        reason = NO_ORIGINAL if source is None else "not checked: the terms do not hold"
        tables = LocalTables(self.table, self.schema, self.original)
        checks += grouped_checks(self.table, tables, self.schema, self.unavailable, requested, reason)
        if any(check.holds is False for check in checks):
            # the figures of a table that is not as stated say nothing
            return [
                *checks,
                *(
                    Check(name, None, "not checked: another check of the table fails")
                    for name in ("order", "form", "dependence", "utility")
                ),
            ]
        published = tables.facts.table
        position = document.attributes.index(self.block[0])
        return [
            *checks,
            table_order_check(published, position, self.table.format, document.seed, table.seed),
            tables.form_check(document),
            dependence_check(document, table, published, self.block),
            *utility_checks(table, tables.facts, requested),
        ]


def encode_original(table: Table, sets: Mapping[str, Sequence[str]], suppressed: bool = False) -> pa.Table | str:
    """Return the original with a column of 0 and 1 for each item in place of each set, or the problem with the bits.

    If rows were suppressed, items that only those rows have are not among the bits.

    >>> people = Table(pa.table({"dx": ["a;b", "a"]}), Schema(sensitive=["dx"], kinds={"dx": "set"}))
    >>> encode_original(people, {"dx": ["dx=a", "dx=b"]}).to_pylist()
    [{'dx=a': '1', 'dx=b': '1'}, {'dx=a': '1', 'dx=b': '0'}]
    """
    data = table.data
    for name, bits in sets.items():
        column = table.column(name)
        items = sorted({item for members in column.sets for item in members})  # of the original, not of the release
        if suppressed:
            items = [item for item in items if f"{name}={item}" in bits]
        if sorted(f"{name}={item}" for item in items) != sorted(bits):
            return f"the items of {name!r} are not those that release.json lists"
        data = data.drop_columns([name])
        for item in items:
            data = data.append_column(f"{name}={item}", _encode_item(column, item))
    return data


def _encode_item(column: Column, item: str) -> pa.ChunkedArray:
    # One cell for each distinct set; the last, null, is the cell of missing sets.
    cells = pa.array([*("1" if item in members else "0" for members in column.sets), None], pa.string())
    return pa.chunked_array([cells.take(pa.array(np.minimum(column.codes, column.size)))])

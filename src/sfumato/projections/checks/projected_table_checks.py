"""Checks of one table of a projected release that a grouped release does not need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sfumato.data.schema import Role, Schema
from sfumato.data.table import Table
from sfumato.io.shuffle import table_seed
from sfumato.plurals import count_of
from sfumato.principles import Principle, in_projection
from sfumato.projections.checks.dependence_measurement import DependenceMeasurement
from sfumato.releases.models import FORMAT, SECRET_SINCE, ProjectedDocument, ProjectedTable
from sfumato.seeds import PUBLIC_SEED
from sfumato.verification.checks import Check
from sfumato.verification.declaration_checks import first_difference
from sfumato.verification.order_checks import order_check

_TOLERANCE = 1e-9
"""Irrational figures may differ in their last digits between machines."""


def table_principles(
    document: ProjectedDocument, block: Sequence[str], principles: Sequence[Principle]
) -> tuple[list[Principle], str | None]:
    """Return the principles that the table of a block must satisfy, or why they cannot hold in it."""
    applicable: list[Principle] = []
    for principle in principles:
        here = in_projection(principle, block, document.sets)
        if here is None:
            return list(principles), f"{principle.label} is on several attributes together that are in different tables"
        applicable += here
    return applicable, None


def terms_check(
    document: ProjectedDocument,
    table: ProjectedTable,
    block: Sequence[str],
    declared: Schema,
    schema: Schema,
    difference: str | None,
) -> Check:
    """Check that a table is declared like the whole: the same quasi-identifiers, its attributes, and no other column.

    `declared`: the schema of the whole. `schema`: that of the table. `difference`: between the principles of the two.
    """
    problem = next(_terms_problems(document, table, block, declared, schema, difference), None)
    size = count_of(len(block), "sensitive attribute")
    return Check("terms", problem is None, problem or f"declared like the whole; {size}, no column that links tables")


def _terms_problems(
    document: ProjectedDocument,
    table: ProjectedTable,
    block: Sequence[str],
    declared: Schema,
    schema: Schema,
    difference: str | None,
) -> Iterator[str]:
    if list(schema.sensitive) != list(block) or table.attributes != list(block):
        yield f"the plan states {', '.join(block)}, but the table has {', '.join(schema.sensitive)}"
    if list(schema.quasi_identifiers) != list(declared.quasi_identifiers):
        yield "its quasi-identifiers are not those of the whole"
    for column in table.columns:
        if column.role in (Role.OTHER, Role.IDENTIFIER):
            yield f"{column.name!r} would link the tables row by row"
    columns = [name for name in block if name in declared.sensitive]  # without bits, which the whole does not declare
    difference = difference or first_difference(declared.projected(columns), schema.projected(columns), None, ())
    if difference is not None:
        yield f"it is not declared like the whole: {difference}"
    for name, bits in document.sets.items():
        if any(schema.accepted.get(bit) != declared.accepted.get(name) for bit in bits if bit in block):
            yield f"it is not declared like the whole: what is accepted of {name!r} differs"
    first = document.tables[0]
    for key in ("rows", "suppressed", "suppress"):
        if getattr(table, key) != getattr(first, key):
            yield f"{key} differs from the first table, but all tables must be about the same people"
    rows = table.rows + table.suppressed
    if rows != document.rows:
        yield f"{rows:,} rows are published or suppressed here, but the whole has {document.rows:,}"


def table_order_check(
    published: Table, position: int, version: int = FORMAT, seed: int | None = None, table_stated_seed: int | None = None
) -> Check:
    """Check that rows and groups are in the public order of the table.

    Tables in the same order could be joined. `position`: the index of the table's first attribute among all attributes.
    `version`: of the format. `seed`, `table_stated_seed`: what release.json states before format 5; the seed of the table
    must follow from that of the release.
    """
    if version >= SECRET_SINCE or seed is None or table_stated_seed is None:
        return order_check(published, table_seed(PUBLIC_SEED, position), version)
    if table_stated_seed < 0 or seed < 0:
        return Check("order", False, f"invalid seeds in release.json: {seed} and {table_stated_seed}")
    if table_stated_seed != table_seed(seed, position):
        return Check("order", False, f"its seed {table_stated_seed} does not follow from that of the release, {seed}")
    return order_check(published, table_stated_seed, version)


def dependence_check(document: ProjectedDocument, table: ProjectedTable, published: Table, block: Sequence[str]) -> Check:
    """Measure again how the attributes of a table depend on one another."""
    for name in block:
        attribute = published.attribute(published.schema.components(name), name)
        labels = {attribute.label_or_none(value) for value in range(len(attribute))}
        if not labels >= set(document.harmless.get(name, ())):
            return Check("dependence", False, f"a value of {name!r} is stated as harmless but is not published")
    claim = table.dependence
    if claim.names != list(block):
        return Check("dependence", False, "release.json does not state it for the attributes of this table")
    measured = DependenceMeasurement.of([published], document.harmless)
    for key in ("entropy", "information", "exposure"):
        if not _close(getattr(claim, key), getattr(measured, key)):
            return Check("dependence", False, f"{key} differs from the stated figures")
    pairs = count_of(len(block) * (len(block) - 1) // 2, "pair")
    return Check("dependence", True, f"measured again: {pairs} of attributes")


def _close(stated: Any, measured: Any) -> bool:
    try:
        array = np.array(stated, float)
    except (TypeError, ValueError, OverflowError):  # a ragged list, or a number beyond all floats
        return False
    return array.shape == measured.shape and bool(np.allclose(array, measured, rtol=_TOLERANCE, atol=_TOLERANCE))

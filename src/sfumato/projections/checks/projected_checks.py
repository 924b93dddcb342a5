"""Verify a release of several tables: each as a release of groups is, and that together they are the plan that is told."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.data.schema import Role, Schema
from sfumato.data.table import Table
from sfumato.errors import SfumatoError
from sfumato.exact import as_fraction
from sfumato.plurals import count_of
from sfumato.principles import Principle, in_projection
from sfumato.projections.checks.content_checks import known_checks
from sfumato.projections.checks.order_checks import order_check
from sfumato.projections.checks.ratio_checks import Shared
from sfumato.projections.checks.request_checks import Wished
from sfumato.projections.checks.set_checks import with_bits
from sfumato.releases.expectations import Expectations
from sfumato.releases.kinds import table_name
from sfumato.releases.reader import Manifest, TableManifest
from sfumato.releases.table_files import original_table, published_schema, published_table
from sfumato.verification.checks import Check, requested_principles
from sfumato.verification.declaration_checks import first_difference, in_declared_order
from sfumato.verification.grouped_checks import declared_check, grouped_checks
from sfumato.verification.utility_checks import utility_check

THRESHOLDS = {"alpha": "association loss", "beta": "information exposure"}
"""The thresholds on a plan, and what they are on."""

ORIGINS = ("given", "knee", "near", "least", "open")
"""Where a threshold may come from."""

_HALF = Fraction(1, 200)
"""What is told in hundredths may be off by this much."""

_SAME = 1e-9
"""Figures that are no rational numbers may differ in their last digits from machine to machine."""


def release_checks(manifest: Manifest, original: Any, expected: Expectations) -> list[Check]:
    """Check a projected release; the entry of `KINDS`."""
    wished = None if expected.project is None else Wished.of(expected.project)
    declared, _ = manifest.schema(expected.schema)
    asked, difference = requested_principles(expected, manifest)
    checks = projected_checks(manifest, declared, asked, original, expected.schema)
    if wished is not None and all(check.holds is not False for check in checks):
        difference = difference or wished.first_difference(manifest, expected.schema)
    if expected.schema is not None or expected.principles is not None or wished is not None:
        checks.append(declared_check(expected.schema, declared, original, [], difference))
    return checks


def projected_checks(
    manifest: Manifest, declared: Schema, asked: Sequence[Principle], original: Any = None, known: Schema | None = None
) -> list[Check]:
    """Check the plan, every table, and what is claimed of the plan; with the original, the tables and ratios against that.

    `declared`, `asked`: the schema of the original and the principles. `known`: a schema that holds functions of distances.
    """
    problem = _plan_problem(manifest, declared)
    if problem is not None:
        return [Check("plan", False, problem)]
    plan, tables = manifest.content["plan"], manifest.tables()
    suppressed = any(table.content["suppressed"] for table in tables)
    checks = known_checks(manifest)
    shown = f"{count_of(len(declared_attributes(manifest, declared)), 'attribute')} in {count_of(len(plan), 'table')}"
    checks += [Check("plan", True, f"{shown}, each in one; the tables share the quasi-identifiers and nothing else")]
    whole: pa.Table | None = None
    source: Table | None = None
    if original is not None:
        source = original_table(manifest, original, declared)
        spread = with_bits(source, manifest.content["sets"], suppressed)
        if isinstance(spread, str):
            return [*checks, Check("sets", False, spread)]
        lost = [name for name in source.data.column_names if declared.role(name) is Role.OTHER]
        lost = [name for name in lost if name not in _left_out(manifest)]
        if lost:
            checks.append(Check("original columns", False, f"{lost[0]!r} of the original is in no table, and not left out"))
        whole = spread
    parts: list[Table] = []
    for number, (table, block) in enumerate(zip(tables, plan, strict=True), 1):
        schema, unknown = table.schema(known)
        wanted, differing = _principles(manifest, table, block, asked)
        found = [_terms(manifest, table, declared, schema, block, differing)]
        part = None
        if whole is not None and source is not None and found[0].holds:
            names = [*schema.quasi_identifiers, *schema.sensitive_columns()]
            part = Table(whole.select(names), schema, source.source, untyped=source.untyped)
            for name in schema.quasi_identifiers:
                source.column(name)  # encoded once for all tables
            part.share_columns(source, names)
            parts.append(part)
        found += grouped_checks(table, schema, unknown, wanted, part)
        if all(check.holds is not False for check in found):
            published = published_table(table, published_schema(schema, str(table.content["group"])))
            place = manifest.content["attributes"].index(block[0])
            found.append(order_check(published, table.content.get("seed"), manifest.content["seed"], place))
            found += [_dependence(manifest, table, published, block), utility_check(table.document, published, wanted)]
        checks += [replace(check, name=f"{table_name(number)}: {check.name}") for check in found]
    measured = None
    if len(parts) == len(tables):
        measured = Shared.of(parts, manifest.content["harmless"]).ratios(plan)
    return [*checks, *_thresholds(manifest, measured, suppressed)]


def _left_out(manifest: Manifest) -> list[Any]:
    """The columns that release.json says to be in no table."""
    told = manifest.content.get("left_out")
    return told if isinstance(told, list) else []


def declared_attributes(manifest: Manifest, declared: Schema) -> list[str]:
    """The sensitive attributes that the tables must hold: those of the schema, each set that was spread as its bits."""
    sets = manifest.content["sets"]
    return [part for name in declared.sensitive for part in sets.get(name, [name])]


def _plan_problem(manifest: Manifest, declared: Schema) -> str | None:
    """What is wrong with the plan: it must hold every attribute exactly once."""
    plan, sets, told = manifest.content["plan"], manifest.content["sets"], manifest.content["tables"]
    harmless = manifest.content["harmless"]
    if not all(_are_texts(names) for names in (manifest.content["attributes"], *plan, *sets.values())):
        return "the plan, the attributes or the sets in release.json are torn"
    if not all(_are_texts(values, or_missing=True) for values in harmless.values()):
        return "the harmless values in release.json are torn"
    attributes = declared_attributes(manifest, declared)
    placed = [name for block in plan for name in block]
    twice = [name for name in attributes if placed.count(name) > 1]
    lost = [name for name in attributes if name not in placed]
    problems = {
        "release.json tells the bits of a set that is not sensitive": not sets.keys() <= set(declared.sensitive),
        "the attributes that release.json lists are not those of its config": manifest.content["attributes"] != attributes,
        f"{', '.join(map(repr, twice))} stands in two tables, which then can be joined by it": twice,
        f"{', '.join(map(repr, lost))} is in no table": lost,
        "a table holds what is no sensitive attribute": len(placed) != len(attributes),
        "harmless values are told of what is no sensitive attribute": not harmless.keys() <= set(attributes),
        "the tables do not stand in the order of their attributes": not _in_order(plan, attributes),
        f"the plan has {count_of(len(plan), 'table')}, and {len(told)} are told of": len(plan) != len(told),
        "release.json says that the plan does not hold what was asked": manifest.content["holds"] is not True,
    }
    return next((problem for problem, found in problems.items() if found), None)


def _in_order(plan: Sequence[Sequence[str]], attributes: Sequence[str]) -> bool:
    """Whether a plan stands as `Plan` has it: attributes as declared, tables by their first; any other order could tell."""
    position = {name: index for index, name in enumerate(attributes)}
    blocks = [[position.get(name, -1) for name in block] for block in plan]
    return blocks == sorted(sorted(block) for block in blocks)


def _are_texts(told: Any, *, or_missing: bool = False) -> bool:
    """Whether release.json tells a list of texts; of values, null among them stands for a missing one."""
    return isinstance(told, list) and bool(told) and all(isinstance(e, str) or (e is None and or_missing) for e in told)


def _principles(
    manifest: Manifest, table: TableManifest, block: Sequence[str], asked: Sequence[Principle]
) -> tuple[tuple[Principle, ...], str | None]:
    """The principles that one of the tables must hold, in its order; and what it declares otherwise."""
    found: list[Principle] = []
    for principle in asked:
        here = in_projection(principle, block, manifest.content["sets"])
        if here is None:
            return tuple(asked), f"{principle.label} takes attributes together that stand in different tables"
        found += here
    return in_declared_order(found, table.requested)


def _terms(
    manifest: Manifest, table: TableManifest, whole: Schema, schema: Schema, block: Sequence[str], differing: str | None
) -> Check:
    """Check that a table is declared as the whole is: the same quasi-identifiers, its attributes, and no column beside."""
    problem = next(_wrong_terms(manifest, table, whole, schema, block, differing), None)
    right = f"declared as the whole is; {count_of(len(block), 'sensitive attribute')}, nothing that links"
    return Check("terms", problem is None, problem or right)


def _wrong_terms(
    manifest: Manifest, table: TableManifest, whole: Schema, schema: Schema, block: Sequence[str], differing: str | None
) -> Iterator[str]:
    if list(schema.sensitive) != list(block) or table.content.get("attributes") != list(block):
        yield f"the plan says {', '.join(block)}, and the table has {', '.join(schema.sensitive)}"
    if list(schema.quasi_identifiers) != list(whole.quasi_identifiers):
        yield "its quasi-identifiers are not those of the whole"
    for column in table.content["columns"]:
        if isinstance(column, Mapping) and column.get("role") in (Role.OTHER, Role.IDENTIFIER):
            yield f"{str(column.get('name'))!r} would link the tables row by row"
    plain = [name for name in block if name in whole.sensitive]
    differing = differing or first_difference(whole.projected(plain), schema.projected(plain), None, ())
    if differing is not None:
        yield f"it is not declared as the whole is: {differing}"
    first = manifest.content["tables"][0]
    for key in ("rows", "suppressed", "suppress"):
        if table.content[key] != first[key]:
            yield f"{key} is not as in the first table, and all must be about the same people"
    rows = table.content["rows"] + table.content["suppressed"]
    if rows != manifest.content["rows"]:
        yield f"{rows:,} rows are published or suppressed here, and the whole has {manifest.content['rows']:,}"


def _dependence(manifest: Manifest, table: TableManifest, published: Table, block: Sequence[str]) -> Check:
    """Measure again what the attributes of a table share."""
    claimed = table.content.get("dependence")
    found = Shared.of([published], manifest.content["harmless"])
    told: dict[str, Any] = {"entropy": found.entropy, "information": found.information, "exposure": found.exposure}
    for name in block:
        attribute = published.attribute(published.schema.components(name), name)
        values = {attribute.label_or_none(value) for value in range(len(attribute))}
        if not values >= set(manifest.content["harmless"].get(name, ())):
            return Check("dependence", False, f"a value of {name!r} is said to be harmless that is not published")
    if not isinstance(claimed, Mapping) or claimed.get("names") != list(block):
        return Check("dependence", False, "release.json does not tell it of the attributes of this table")
    for key, value in told.items():
        if not _close(claimed.get(key), value):
            return Check("dependence", False, f"{key} is not what is claimed")
    return Check("dependence", True, f"measured again: {count_of(len(block) * (len(block) - 1) // 2, 'pair')} of attributes")


def _close(claimed: Any, found: Any) -> bool:
    try:
        array = np.array(claimed, float)
    except (TypeError, ValueError, OverflowError):
        return False
    return array.shape == found.shape and bool(np.allclose(array, found, rtol=_SAME, atol=_SAME))


def _thresholds(manifest: Manifest, measured: Mapping[str, float] | None, suppressed: bool) -> list[Check]:
    """Compare what is claimed of the plan with the thresholds; with the original, measure it again."""
    claims = [claim if isinstance(claim, Mapping) else {} for claim in manifest.content["thresholds"]]
    if [(claim.get("key"), claim.get("name")) for claim in claims] != list(THRESHOLDS.items()):
        return [Check("thresholds", False, f"release.json must tell of {' and '.join(THRESHOLDS)}, each once")]
    checks = []
    for claim in claims:
        key, name, told = claim["key"], claim["name"], claim.get("measured")
        try:
            wanted = as_fraction(str(claim.get("wanted")), key)
        except SfumatoError as error:
            checks.append(Check(name, False, f"no threshold is told that can be read: {error.problem}"))
            continue
        if (
            isinstance(told, bool)
            or not isinstance(told, int | float)
            or not 0 <= told <= 1
            or claim.get("holds") is not True
            or claim.get("origin") not in ORIGINS
        ):
            checks.append(Check(name, False, f"release.json tells no ratio that is within its threshold: {told!r}"))
        elif not 0 <= wanted <= 1 or Fraction(str(told)) > wanted + _HALF:
            checks.append(Check(name, False, f"it is {told}, and at most {claim.get('wanted')} was wanted"))
        elif measured is None:
            checks.append(
                Check(name, None, f"{told}, at most {claim['wanted']} wanted; not measured again without the original")
            )
        elif suppressed:
            detail = "not measured again: it is that of the rows that are published, and which those are is not told"
            checks.append(Check(name, None, f"{told}, at most {claim['wanted']} wanted; {detail}"))
        else:
            checks.append(_ratio(name, float(told), wanted, measured[key]))
    return checks


def _ratio(name: str, told: float, wanted: Fraction, found: float) -> Check:
    if not math.isclose(told, found, abs_tol=float(_HALF) + _SAME):
        return Check(name, False, f"it is claimed to be {told}, and is {found:.4f}")
    if found > float(wanted) + _SAME:
        return Check(name, False, f"it is {found:.4f}, and at most {float(wanted):g} was wanted")
    return Check(name, True, f"measured again: {told}, wanted at most {float(wanted):g}")

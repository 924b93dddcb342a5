"""Count people or households in the groups of a release again, from the original and the private key.

The release does not say whose row a row is. The key maps each published row to its original row. It is believed only as
far as it is checked: no original row twice, everything that is published unchanged equal, every cell covering the value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.data.units import PLURALS, Units
from sfumato.errors import SfumatoError
from sfumato.plurals import count_of
from sfumato.releases.cell_coverage import CellReader
from sfumato.releases.digests import digest
from sfumato.releases.expectations import Expectations
from sfumato.releases.models import AnatomizedDocument, GroupedTable
from sfumato.releases.reader import TableFile, TableManifest
from sfumato.releases.row_key import read_key
from sfumato.verification.checks import Check
from sfumato.verification.original_checks import Cells, MatchedRows

NO_KEY = "pass the original and the key file"
"""What is missing to count people."""


@dataclass(frozen=True, eq=False)
class CountedUnits:
    """The result of matching published rows with original rows: the units of the published rows, if they are known."""

    units: Units | None
    """The unit of each published row; None if rows are counted, or if the key is missing or wrong."""
    checks: tuple[Check, ...]
    unknown: str | None = None
    """Why units must be counted and cannot be; None if rows are counted, or the units are known."""


@dataclass(frozen=True, eq=False)
class RowKey:
    """For each published row its row in the original, if somebody says so."""

    rows: NDArray[np.int64] | None = None
    problem: str | None = None
    """Why the file that says so is not believed."""


def counted_units(
    manifest: TableManifest, published: Table, original: Table | None, declared: Schema, key: RowKey
) -> CountedUnits:
    """Return whose row each published row is, with the checks of the key and of the number of people in each group."""
    document = manifest.document
    noun = "household" if declared.household_id else "person" if declared.person_id else None
    if noun is None:
        stated = document.units is not None
        checks = (
            [Check("units", False, "release.json states units, and declares neither people nor households")]
            if stated
            else []
        )
        if key.problem is not None:
            checks.append(Check("key", False, key.problem))
        return CountedUnits(None, tuple(checks))
    problem = _claim_problem(document, published, noun)
    if problem is not None:
        return CountedUnits(None, (Check("units", False, problem),), problem)
    try:
        everyone = None if original is None else original.units
    except SfumatoError as error:
        return CountedUnits(None, (Check("units", False, str(error)),), "the original is invalid")
    rows, problem = key.rows, key.problem
    if original is None or everyone is None or (rows is None and problem is None):
        unknown = f"{PLURALS[noun]} can be counted only with the original and the private key; {NO_KEY}"
        return CountedUnits(None, (_total(document, everyone, unknown),), unknown)
    if rows is not None:
        problem = mapping_problem(manifest, published.data, original, declared, rows)
    if rows is None or problem is not None:
        return CountedUnits(None, (Check("key", False, str(problem)),), "the key is wrong")
    matched = Check("key", True, f"each of the {count_of(len(rows), 'row')} is an original row that its cells cover")
    return CountedUnits(everyone.take(rows), (matched, _units_check(document, published, everyone, rows)))


def _claim_problem(document: GroupedTable, published: Table, noun: str) -> str | None:
    """Return what is wrong with the stated numbers of units, as far as the files alone show; None if they are possible.

    A group contains at most as many people as rows, and all groups together at most as many as the table has rows.
    """
    claim = document.units
    if claim is None:
        return f"release.json declares {noun}_id, and does not state how many {PLURALS[noun]} there are"
    if claim.counted != PLURALS[noun]:
        return f"release.json states that {claim.counted} are counted, and declares {noun}_id"
    sizes = np.bincount(published.column(document.group).codes)
    if not 1 <= claim.smallest <= int(sizes.min()):
        return f"release.json states at least {claim.smallest} {claim.counted} in each group, and one has {sizes.min()} rows"
    if not claim.smallest * len(sizes) <= claim.total <= published.rows:
        return (
            f"release.json states {claim.total} {claim.counted} in {len(sizes)} groups of {published.rows} rows, at least "
            f"{claim.smallest} in each"
        )
    return None


def _total(document: GroupedTable, everyone: Units | None, unknown: str) -> Check:
    """Check the total number of units against the original, which needs no key; the groups are not checked without it."""
    claim = document.units
    if everyone is None or claim is None:
        return Check("units", None, f"not checked: {unknown}")
    possible = claim.total == everyone.count if document.suppressed == 0 else claim.total < everyone.count
    if not possible:
        return Check(
            "units", False, f"the original has {everyone.text(everyone.count)}, release.json states {claim.total:,}"
        )
    return Check("units", None, f"{claim.total:,} of {everyone.text(everyone.count)} in all; groups not checked: {unknown}")


def key_of(manifest: TableManifest | TableFile, expected: Expectations) -> RowKey:
    """Return the original row of each published row, as the maker or a key file states."""
    if expected.rows is not None or expected.key is None:
        return RowKey(expected.rows)
    key = read_key(expected.key)
    if key.rows is None or key.data.get(manifest.data.name) != digest(manifest.data).sha256:
        return RowKey(None, "the key file belongs to another release")
    return RowKey(key.rows)


def mapping_problem(
    manifest: TableManifest, published: pa.Table, original: Table, declared: Schema, rows: NDArray[np.int64]
) -> str | None:
    """Return why a mapping of published rows to original rows cannot be true; None if nothing speaks against it."""
    if len(rows) != published.num_rows:
        return f"the key maps {count_of(len(rows), 'row')}, and {published.num_rows:,} are published"
    if rows.max(initial=-1) >= original.rows:
        return f"the key names row {int(rows.max()) + 1:,} of an original with {count_of(original.rows, 'row')}"
    real = np.flatnonzero(rows >= 0)
    false, stated = len(rows) - len(real), counterfeits_of(manifest.document)
    if false != stated:
        return f"the key names {count_of(false, 'counterfeit')}, and release.json states {stated:,}"
    times = np.bincount(rows[real], minlength=original.rows)
    if times.max() > 1:
        return f"the key names row {int(np.argmax(times > 1)) + 1:,} of the original twice"
    recodings = {c.name: str(c.recoding) for c in manifest.document.columns if c.role == "quasi-identifier"}
    unchanged = [name for name in published.column_names if name != manifest.document.group and name not in recodings]
    matched = MatchedRows.of(published, original, unchanged, declared, manifest.format)
    differs = matched.published[real] != matched.original[rows[real]]
    if differs.any():
        row = int(real[np.argmax(differs)])
        return f"published row {row + 1:,} differs from the original row that the key names for it"
    return _uncovered(published, original, recodings, rows, real)


def counterfeits_of(document: GroupedTable | AnatomizedDocument) -> int:
    """Return how many published rows stand for nobody, as release.json states."""
    claim = getattr(document, "after", None)
    return 0 if claim is None else int(claim.counterfeits)


def _uncovered(
    published: pa.Table,
    original: Table,
    recodings: Mapping[str, str],
    rows: NDArray[np.int64],
    real: NDArray[np.int64],
) -> str | None:
    """Return which published cell does not cover the value of its original row; None if all do; `real`: without others."""
    for name, recoding in recodings.items():
        column = original.column(name)
        distinct = Cells.of(published.column(name))
        texts = distinct.texts(name).dictionary_encode(null_encoding="encode")
        reader = CellReader(texts.dictionary.to_pylist(), column, recoding)
        cells = np.asarray(texts.indices).astype(np.int64)[distinct.of_row]
        covered = reader.covers(cells[real], column.codes.astype(np.int64)[rows[real]])
        if not covered.all():
            row = int(real[np.argmin(covered)])
            return f"{name} of published row {row + 1:,} does not cover the original row that the key names for it"
    return None


def _units_check(document: GroupedTable, published: Table, everyone: Units, rows: NDArray[np.int64]) -> Check:
    """Count the units of each group, one by one, and check that none is split or only partly published."""
    claim = document.units
    assert claim is not None
    groups: dict[int, int] = {}  # the group of each unit
    members: dict[int, set[int]] = {}  # the units of each group
    unit_of_row = everyone.of_row[rows].tolist()
    for unit, group in zip(unit_of_row, published.column(document.group).codes.tolist(), strict=True):
        if groups.setdefault(unit, group) != group:
            return Check("units", False, f"the rows of a {everyone.noun} are in two groups")
        members.setdefault(group, set()).add(unit)
    there = np.bincount(everyone.of_row, minlength=everyone.count)
    here = np.bincount(unit_of_row, minlength=everyone.count)
    if ((here > 0) & (here < there)).any():
        return Check("units", False, f"only some of the rows of a {everyone.noun} are published")
    total, smallest = len(groups), min(map(len, members.values()))
    counted = f"{everyone.text(total)}, each in one group; at least {smallest:,} in a group"
    if (claim.total, claim.smallest) != (total, smallest):
        return Check("units", False, f"{counted}; release.json states {claim.total:,} and {claim.smallest:,}")
    return Check("units", True, counted)

"""Earlier releases about some of the same people, matched with a release by the rows of the original."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.release import Release
from sfumato.attacks.attacked_release import AttackedRelease
from sfumato.attacks.attacked_sources import attacked_release
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.errors import ReleaseError, SfumatoError

_REMEDY = "Name earlier releases that were made from rows of this original."


def earlier_releases(
    earlier: Sequence[Any], release: AttackedRelease, original: Any, schema: Schema | None
) -> tuple[AttackedRelease, ...]:
    """Return earlier releases as their attackers see them; one with other columns or people than the original is an error.

    Each of `earlier` is a `Release`, the folder of one or a table of another tool; or a pair of that and its key.
    `original`: that of the last release. The quasi-identifiers and sensitive attributes may be others, but the original must
    contain them. The people may be some of the original's.
    """
    return tuple(_matched(one, number, release, original, schema) for number, one in enumerate(earlier, 1))


def _matched(one: Any, number: int, release: AttackedRelease, original: Any, schema: Schema | None) -> AttackedRelease:
    source, key = one if isinstance(one, tuple) and len(one) == 2 else (one, None)
    name = str(source) if isinstance(source, str | Path) else f"number {number}"
    try:
        found = attacked_release(source, original, schema=schema, key=key, sample=release.sample)
    except SfumatoError as error:
        raise ReleaseError(
            f"the earlier release {name} cannot be combined with this one: {error.problem}",
            remedy=f"{_REMEDY} {error.remedy}",
            file=error.file,
            column=error.column,
            value=error.value,
        ) from error
    if found.original is not None and release.original is not None:
        _check_secrets(found, name)
        if isinstance(source, Release):  # it has an original of its own
            _check_same_rows(found, release, name)
    return found


def _check_secrets(found: AttackedRelease, name: str) -> None:
    """Raise an error if the people of a group do not have the values that are published for it."""
    for attribute in found.secrets:
        secret = found.secret(attribute)
        assert secret.truth is not None
        width = len(secret.attribute) + 1  # value -1 becomes the last
        span = found.groups.count * width
        true = np.bincount(
            found.group_of_person * width + np.where(secret.truth < 0, width - 1, secret.truth), minlength=span
        )
        published = np.bincount(found.groups.of_row * width + secret.attribute.codes, minlength=span)
        if (true > published).any():  # a group may publish more than its people have: counterfeits
            groups = np.flatnonzero(true > published) // width
            raise ReleaseError(
                f"the earlier release {name} is about other people: in at least {max(1, len(np.unique(groups))):,} of its "
                f"{found.groups.count:,} groups the published values are not those of the original",
                remedy=_REMEDY,
                file=found.published.source,
                column=attribute,
            )


def _check_same_rows(found: AttackedRelease, release: AttackedRelease, name: str) -> None:
    """Raise an error if the original of an earlier release has other values in the same rows."""
    assert found.original is not None
    assert release.original is not None
    _, own, other = np.intersect1d(found.rows, release.rows, assume_unique=True, return_indices=True)
    columns = {*release.original.schema.quasi_identifiers, *release.original.schema.sensitive_columns()}
    for column in (*found.original.schema.quasi_identifiers, *found.original.schema.sensitive_columns()):
        if column not in columns:
            continue
        differs = _labels(found.original, column)[own] != _labels(release.original, column)[other]
        if differs.any():
            raise ReleaseError(
                f"the earlier release {name} is about other people: its original has other values in {int(differs.sum()):,} "
                f"of {len(own):,} rows",
                remedy=_REMEDY,
                column=column,
            )


def _labels(table: Table, name: str) -> NDArray[Any]:
    column = table.column(name)
    return np.array([column.label(code) for code in range(column.domain)], object)[column.codes]

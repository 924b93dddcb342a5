"""Check the utility and the figures that a release states, and with them its report, by computing them again.

They are computed by the code that made them, from the published file and the original: a figure that somebody changed is
found, a mistake in the code is not. The verdicts on privacy do not depend on them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from sfumato._audit import audit_table
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.errors import SfumatoError
from sfumato.principles import Principle, attributes_of
from sfumato.registry import load
from sfumato.releases.figure_models import Figures
from sfumato.releases.model_base import as_json
from sfumato.releases.models import GroupedTable
from sfumato.releases.reader import Manifest
from sfumato.verification.checks import NO_ORIGINAL, Check
from sfumato.verification.unit_checks import CountedUnits, counterfeits_of
from sfumato.version import __version__

UTILITY = "sfumato.anonymization.figures.recounted_utility:recounted_utility"
"""(original, audit of the published table, recodings, schema) → loss and marginals as release.json states them."""

BOUND = "sfumato.anonymization.loss_bounds.published_bound:published_bound"
"""(original, principles, share that may be suppressed, recodings, loss) → the bound on the loss that release.json states."""

FIGURES = "sfumato.anonymization.figures.figure_tables:public_figures"
"""(original, audit of the published table, recodings, loss, units) → figures as release.json states them."""

WORDS = "sfumato.anonymization.figures.figure_tables:words"
"""(class of a principle, whether units are counted) → its meaning in words."""

_FIGURES_SINCE = 6
"""The first format with all figures of this version."""

_TOLERANCE = 1e-9
"""Sums of numbers that are not rational may differ in their last digits from machine to machine."""


def figure_check(
    manifest: Manifest,
    published: Table,
    original: Table | None,
    declared: Schema,
    requested: Sequence[Principle],
    counted: CountedUnits,
    no_original: str = NO_ORIGINAL,
) -> Check:
    """Check the utility and the figures of a release whose other checks hold; `no_original`: why there is no original."""
    version = manifest.document.sfumato
    if manifest.format < _FIGURES_SINCE:
        return Check("figures", None, "not checked: a release of an older format has other figures")
    if version != __version__:
        return Check("figures", None, f"not checked: they were computed by version {version} of sfumato")
    if original is None or counted.unknown is not None:
        return _words_check(manifest.grouped, published, requested, no_original)
    try:
        place = _first_difference(manifest.grouped, published, original, declared, requested, counted)
    except SfumatoError as error:
        return Check("figures", False, f"they cannot be computed again: {error}")
    if place is not None:
        return Check("figures", False, f"{place} is not what the table and its original give")
    return Check("figures", True, "utility and figures are what the table and its original give")


def _first_difference(
    document: GroupedTable,
    published: Table,
    original: Table,
    declared: Schema,
    requested: Sequence[Principle],
    counted: CountedUnits,
) -> str | None:
    """Return the first place at which release.json states something else than is computed again; None if there is none."""
    stated = document.to_dict()
    audit = audit_table(published, requested, counted.units)
    audit = audit if counted.units is None else audit.without_single_groups()
    published_as = {column.name: str(column.recoding) for column in document.columns}
    recodings = {name: published_as[name] for name in declared.quasi_identifiers}
    # which rows the marginals are about is not known otherwise
    if document.suppressed == 0 and counterfeits_of(document) == 0:
        for key, value in load(UTILITY)(original, audit, recodings, declared).items():
            place = difference(stated["utility"][key], value, f"utility.{key}")
            if place is not None:
                return place
    bound = None
    if counterfeits_of(document) == 0:
        bound = load(BOUND)(original, requested, document.suppress, recodings, stated["utility"]["loss"]["mean"])
    if difference(stated["utility"].get("bound"), bound, "") is not None:
        return "utility.bound"
    again = load(FIGURES)(original, audit, recodings, stated["utility"]["loss"]["columns"], counted.units)
    return difference(stated["figures"], Figures.model_validate(json.loads(as_json(again))).to_dict(), "figures")


def _words_check(document: GroupedTable, published: Table, requested: Sequence[Principle], no_original: str) -> Check:
    """Check how the principles are explained, which needs no original."""
    words, units = load(WORDS), document.units is not None
    again = [words(principle, units) for principle in requested for _ in attributes_of(principle, published.schema)]
    place = difference([one.to_dict() for one in document.figures.words], again, "figures.words")
    if place is not None:
        return Check("figures", False, f"{place} is not how this version of sfumato explains the principle")
    return Check("figures", None, no_original)


def difference(stated: Any, again: Any, place: str) -> str | None:
    """Return where two plain values differ first; None if they do not, up to the last digits of numbers.

    >>> difference({"mean": 0.1, "sizes": [1, 2]}, {"mean": 0.1 + 1e-17, "sizes": [1, 3]}, "utility")
    'utility.sizes.1'
    """
    if isinstance(stated, dict) and isinstance(again, dict):
        if list(stated) != list(again):
            return place
        found = (difference(stated[key], again[key], f"{place}.{key}") for key in stated)
        return next((one for one in found if one is not None), None)
    if isinstance(stated, list) and isinstance(again, list | tuple):
        if len(stated) != len(again):
            return place
        found = (difference(one, two, f"{place}.{n}") for n, (one, two) in enumerate(zip(stated, again, strict=True)))
        return next((one for one in found if one is not None), None)
    return None if stated == again or _close(stated, again) else place


def _close(stated: Any, again: Any) -> bool:
    """Return whether two values are numbers, at least one of them not a whole one, that agree up to their last digits."""
    if not (isinstance(stated, float) or isinstance(again, float)) or isinstance(stated, bool) or isinstance(again, bool):
        return False
    try:
        return math.isclose(stated, again, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    except (TypeError, OverflowError):  # not a number, or a whole number that no float holds
        return False

"""Check the risk that a withheld release claims, by measuring it again from the published cells."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.disclosure.withheld.published_levels import PublishedLevels
from sfumato.disclosure.withheld.risk_measurement import (
    ConsistentIndividuals,
    RecordWeights,
    chances_of_identification,
    differs_by_record,
    expected_harms,
    expected_losses,
    mean_of,
    owners_of,
    sensitivities,
)
from sfumato.disclosure.withheld.value_consistency import TooManyPairsError, compare_attribute
from sfumato.errors import SfumatoError
from sfumato.releases.models import DictionaryClaim, WithheldDocument
from sfumato.releases.reader import Manifest
from sfumato.verification.checks import Check

if TYPE_CHECKING:
    from sfumato.disclosure.dictionaries.dictionary import Dictionary
    from sfumato.disclosure.risk_assumptions import RiskAssumptions
    from sfumato.disclosure.withheld.withheld_checks import PublishedCells

_TOLERANCE = 1e-9
"""Relative difference of sums of floats that were added in another order."""

NOT_CHECKED = "not checked: pass the dictionaries or the config of the release (on the command line: --config)"


def risk_checks(
    manifest: Manifest,
    cells: PublishedCells,
    assumptions: RiskAssumptions | None,
    original: Table | None = None,
    rows: NDArray[np.int64] | None = None,
) -> Iterator[Check]:
    """Compare what release.json claims of each dictionary with what is measured from the published cells.

    `rows`: for each published row its row in the original; known only while a release is made. Without it, what depends
    on which record a row is cannot be measured: dictionaries with weights, and weights of single records. Such a figure is
    reported as not checked.
    """
    if assumptions is None:
        yield Check("risk", None, NOT_CHECKED)
        return
    difference = _difference(manifest.withheld, assumptions)
    if difference is not None:
        yield Check("risk", False, difference)
        return
    unstated = _unstated(manifest.withheld, assumptions)
    if unstated:
        detail = f"not checked: {', '.join(unstated)} as release.json states; pass risk=…, or the config of the release"
        yield Check("risk assumptions", None, detail)
    claims = {claim.name: claim for claim in manifest.withheld.dictionaries}
    levels = PublishedLevels.of(manifest, cells.names, cells.texts)
    for dictionary in assumptions.dictionaries:
        try:
            yield from _dictionary_checks(
                manifest, cells, levels, dictionary, claims[dictionary.name], assumptions, original, rows
            )
        except TooManyPairsError:
            yield Check(f"risk against {dictionary.name}", None, "not checked: too many distinct values to compare")
        except SfumatoError as error:
            yield Check(f"risk against {dictionary.name}", False, f"the published cells cannot be matched: {error}")


def _difference(document: WithheldDocument, assumptions: RiskAssumptions) -> str | None:
    """The first thing that release.json states differently; None if it states what is assumed."""
    claims = document.dictionaries
    if sorted(claim.name for claim in claims) != sorted(assumptions.names):
        stated = ", ".join(claim.name for claim in claims)
        return f"the release was made against {stated}, not against {', '.join(assumptions.names)}"
    weighted = any(len(dictionary.weights) for dictionary in assumptions.dictionaries)
    if document.weighted != weighted:
        return f"release.json states weighted = {document.weighted!r}, but {weighted!r} is requested"
    requested: dict[str, Any] = {}
    if assumptions.sensitivity is not None:
        requested["sensitivity"] = _without_records(assumptions.sensitivity)
    if assumptions.consistency is not None:
        requested["consistency"] = {name: dict(how) for name, how in assumptions.consistency.items()}
    if assumptions.misfits is not None:
        requested["misfits"] = assumptions.misfits
    for key, value in json.loads(json.dumps(requested)).items():
        if getattr(document, key) != value:
            return f"release.json states {key} = {getattr(document, key)!r}, but {value!r} is requested"
    shares = {name: list(declared) for name, declared in (assumptions.shares or {}).items()}
    if assumptions.shares is not None and (document.rule.shares or {}) != shares:
        return f"release.json states rule.shares = {document.rule.shares or {}!r}, but {shares!r} is requested"
    if assumptions.prior is not None:
        prior = dict(zip(assumptions.names, map(str, assumptions.prior), strict=True))
        for claim in claims:
            if claim.prior != prior[claim.name]:
                wanted = prior[claim.name]
                return f"release.json states the prior {claim.prior!r} of {claim.name!r}, but {wanted!r} is requested"
    return None


def _unstated(document: WithheldDocument, assumptions: RiskAssumptions) -> list[str]:
    """What the risk depends on that is taken from release.json, because nothing was given to compare it with."""
    keys = [key for key in ("sensitivity", "consistency", "misfits") if getattr(assumptions, key) is None]
    if assumptions.shares is None and document.rule.shares:
        keys.append("rule.shares")
    if assumptions.prior is None and any(claim.prior is not None for claim in document.dictionaries):
        keys.append("prior")
    return keys


def _without_records(sensitivity: Mapping[str, Any]) -> dict[str, Any]:
    """A sensitivity as it may be published: without the weights of single records."""
    public = dict(sensitivity)
    if "records" in public:
        public["records"] = "by record"
    if "cells" in public:
        public["cells"] = dict.fromkeys(public["cells"], "by record")
    return public


def _dictionary_checks(
    manifest: Manifest,
    cells: PublishedCells,
    levels: PublishedLevels,
    dictionary: Dictionary,
    claim: DictionaryClaim,
    assumptions: RiskAssumptions,
    original: Table | None,
    rows: NDArray[np.int64] | None,
) -> Iterator[Check]:
    """Measure the chances of identification, and the risk, against one dictionary."""
    name, document = dictionary.name, manifest.withheld
    if claim.individuals != dictionary.individuals:
        detail = f"release.json states {claim.individuals:,} individuals; the dictionary has {dictionary.individuals:,}"
        yield Check(f"identification by {name}", False, detail)
        return
    schema = manifest.schema()[0]
    consistent = _consistent_individuals(manifest, cells, dictionary, schema)
    owners, records = None, None
    if original is not None and rows is not None:
        owners = owners_of(original, assumptions.identity, dictionary)[rows]
        records = RecordWeights(original, rows)
    chances = chances_of_identification(consistent, dictionary.weights, owners)
    if chances is None:
        reason = "not checked: the dictionary has weights, and the release does not reveal whose record a row is"
        yield Check(f"identification by {name}", None, reason)
        yield Check(f"risk against {name}", None, reason)
        return
    highest, mean = float(chances.max(initial=0.0)), mean_of(chances)
    detail, same = f"measured again: at most {highest:.6g}, on average {mean:.6g}", True
    for key, stated, value in (("highest", claim.highest, highest), ("mean", claim.mean, mean)):
        if same and not _same(stated, value):
            same, detail = False, f"release.json states {key} = {stated!r}, but it is {value!r}"
    yield Check(f"identification by {name}", same, detail)
    sensitivity = assumptions.sensitivity or document.sensitivity
    phi = sensitivities(sensitivity, cells.names, levels.revealed(cells.disclosed), records)
    if phi is None:
        yield Check(f"risk against {name}", None, f"not checked: {_why_no_sensitivity(sensitivity)}")
        return
    harms = expected_harms(consistent, dictionary.weights, chances, sensitivity)
    risk = mean_of(expected_losses(phi, harms))
    same = _same(claim.risk, risk)
    detail = f"measured again: {risk:.6g}" if same else f"release.json states the risk {claim.risk!r}, but it is {risk!r}"
    if assumptions.sensitivity is None:
        detail += ", under the sensitivity that release.json states"
    yield Check(f"risk against {name}", same, detail)


def _why_no_sensitivity(sensitivity: Mapping[str, Any]) -> str:
    if differs_by_record(sensitivity):
        return "weights differ between records, and the release does not reveal which record a row is"
    return "the sensitivity is the publisher's own function, which release.json cannot contain"


def _consistent_individuals(
    manifest: Manifest, cells: PublishedCells, dictionary: Dictionary, schema: Schema
) -> ConsistentIndividuals:
    document = manifest.withheld
    untyped = True  # the published cells are texts, whatever the type of the file's columns
    compared = [
        compare_attribute(texts, name, dictionary, document.consistency.get(name, {}), schema, untyped)
        for name, texts in zip(cells.names, cells.texts, strict=True)
    ]
    return ConsistentIndividuals(compared, cells.disclosed, document.misfits)


def _same(claimed: float | str, value: float) -> bool:
    """Whether a claimed number, or "inf", is the measured one but for the order of summation."""
    return math.isclose(float(claimed), value, rel_tol=_TOLERANCE)

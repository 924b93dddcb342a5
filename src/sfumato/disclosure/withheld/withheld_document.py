"""Write records with cells withheld: aside first, verified from the written files, and only then renamed into place."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.anonymization.published_table import resolved_schema
from sfumato.anonymization.release_document import declared_config, reading_of, versions
from sfumato.anonymization.save_release import (
    as_json,
    check_format,
    free_target,
    refuse_unless,
    take_place,
    write_new,
    write_told,
    written_aside,
)
from sfumato.data.schema import Missing, Schema
from sfumato.data.table import Table
from sfumato.disclosure.matching.attribute_matching import match_attributes
from sfumato.disclosure.matching.matching import Matching
from sfumato.disclosure.sensitivity.sensitivity_weights import losses
from sfumato.disclosure.setting import Setting
from sfumato.disclosure.withheld.withheld_checks import PublishedCells, rows_check
from sfumato.disclosure.withheld.withheld_page import withheld_page
from sfumato.errors import SfumatoError
from sfumato.io.atomic_replace import open_to_readers
from sfumato.io.write_files import write_csv, write_parquet
from sfumato.progress import Progress, silent
from sfumato.releases.manifest import DATA_FILES, FORMAT, WITHHELD, Manifest
from sfumato.verification._verify import verify
from sfumato.verification.checks import Check, Verification

if TYPE_CHECKING:
    from sfumato.disclosure._withhold import WithheldRelease

_SAME = 1e-9
"""Sums of floats may differ by this share where they were added in another order."""


def describe_withheld(disclosure: WithheldRelease) -> dict[str, Any]:
    """A release as plain data: the rule, what it was made against, and the risk, which follow from what is published.

    Nothing tells of what the cells that are withheld hold: no risk of other rules, no bound on the least one, no record.
    """
    setting, rule = disclosure.setting, disclosure.rule.disclosed
    there = setting.everything
    attributes = [
        {
            "name": name,
            "disclosed": int(rule[:, j].sum()),
            "withheld": int((there & ~rule)[:, j].sum()),
            "missing": int((~there)[:, j].sum()),
        }
        for j, name in enumerate(setting.attributes)
    ]
    return {
        "format": FORMAT,
        "kind": WITHHELD,
        **versions(),
        "seed": disclosure.seed,
        "rows": setting.records,
        "rule": {"cells": disclosure.cells, "per": disclosure.per, "against": disclosure.against},
        "attributes": attributes,
        "sensitivity": _told(setting.sensitivity.to_dict()),
        "consistency": _consistency(setting),
        "misfits": setting.misfits,
        "weighted": any(len(matching.weights) for matching in setting.matchings),
        "dictionaries": _dictionaries(setting, disclosure),
        "config": declared_config(_published_schema(setting), set(setting.attributes)),
        "reading": reading_of(setting.table),
    }


def _published_schema(setting: Setting) -> Schema:
    """The schema of the records, the kind of each attribute stated."""
    return resolved_schema(setting.table, setting.attributes)


def _as_written(setting: Setting) -> Schema:
    """The schema under which what was written is read: the attributes alone, and nothing missing but empty cells."""
    schema = _published_schema(setting)

    def only(mapping: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in mapping.items() if name in setting.attributes}

    return Schema(
        kinds=only(schema.kinds),
        orders=only(schema.orders),
        hierarchies=only(schema.hierarchies),
        separators=only(schema.separators),
        missing=Missing(()),
    )


def _consistency(setting: Setting) -> dict[str, Any]:
    return {name: how.parameters() for name, how in setting.consistency.items()}


def _told(sensitivity: Mapping[str, Any]) -> dict[str, Any]:
    """A sensitivity as far as it may be told: the weights of single records are no reader's affair."""
    return {
        key: "by record" if key == "records" else dict.fromkeys(value, "by record") if key == "cells" else value
        for key, value in sensitivity.items()
    }


def _dictionaries(setting: Setting, disclosure: WithheldRelease) -> list[dict[str, Any]]:
    prior = setting.prior or (None,) * len(setting.dictionaries)
    found = []
    for dictionary, matching, share in zip(setting.dictionaries, setting.matchings, prior, strict=True):
        measured = _measured(matching.probabilities(disclosure.rule.disclosed), setting.phi.of(disclosure.rule.disclosed))
        found.append(
            {
                "name": dictionary.name,
                "individuals": matching.individuals,
                "prior": None if share is None else str(share),
                **{key: _number(value) for key, value in measured.items()},
            }
        )
    return found


def _measured(probabilities: NDArray[np.float64], phi: NDArray[np.float64]) -> dict[str, float]:
    """The highest and the mean chance of identification, and the risk."""
    return {
        "highest": float(probabilities.max()),
        "mean": math.fsum(probabilities) / len(probabilities),
        "risk": math.fsum(losses(phi, probabilities)) / len(probabilities),
    }


def _number(value: float) -> float | str:
    return "inf" if math.isinf(value) else value


def save_withheld(
    disclosure: WithheldRelease,
    folder: str | Path,
    *,
    force: bool = False,
    format: str = "csv",  # noqa: A002
    progress: Progress = silent,
) -> Path:
    """Write records with cells withheld to a new folder; if anything goes wrong nothing is left behind."""
    check_format(format)
    target = free_target(folder, force)
    with written_aside(folder, target) as aside:
        progress("writing")
        data = aside / DATA_FILES[format]
        write_new(data, lambda file: (write_csv if format == "csv" else write_parquet)(disclosure.table, file))
        write_told(aside, describe_withheld(disclosure), [data], withheld_page)
        progress("verifying what was written")
        _verify(disclosure, aside)
        open_to_readers(aside)
        take_place(aside, target, force)
    return target


def _verify(disclosure: WithheldRelease, aside: Path) -> None:
    """Promise 2: verified from the files, or not published."""
    found = verify(aside)
    if found:
        manifest = Manifest.load(aside)
        checks = [
            rows_check(manifest, PublishedCells.read(manifest), disclosure.setting.table, disclosure.rows),
            *risk_checks(manifest, disclosure.setting, disclosure.rows),
        ]
        found = Verification(found.folder, (*found.checks, *checks))
    refuse_unless(found)


def risk_checks(manifest: Manifest, setting: Setting, rows: NDArray[np.int64] | None = None) -> list[Check]:
    """Match what was written with the dictionaries, and compare what comes out with what release.json claims.

    `rows`: for each published row its record. Without them, records that are matched by whose they are, or weighed one by
    one, cannot be measured again, and the check says so.
    """
    shown = PublishedCells.read(manifest)
    claims = {claim.get("name"): claim for claim in manifest.content["dictionaries"] if isinstance(claim, Mapping)}
    if shown.names != setting.attributes or claims.keys() != set(setting.names):
        return [Check("risk", False, "the release was made with other attributes, or against other dictionaries")]
    stated = json.loads(
        as_json(
            {
                "sensitivity": _told(setting.sensitivity.to_dict()),
                "consistency": _consistency(setting),
                "misfits": setting.misfits,
            }
        )
    )
    for key, value in stated.items():
        if manifest.content.get(key) != value:
            return [Check("risk", False, f"{key} is stated to be {manifest.content.get(key)!r}, and is {value!r}")]
    texts = pa.table(dict(zip(shown.names, shown.texts, strict=True)))
    records = Table(texts, _as_written(setting), untyped=setting.table.untyped)
    checks: list[Check] = []
    for dictionary, matching in zip(setting.dictionaries, setting.matchings, strict=True):
        try:
            found = match_attributes(records, setting.attributes, dictionary, setting.consistency, None, setting.misfits)
        except SfumatoError as error:
            return [*checks, Check(f"risk by {dictionary.name}", False, f"what is published cannot be matched: {error}")]
        if rows is not None:
            found = replace(found, own=matching.own[rows])
        checks.append(_risk_check(dictionary.name, found, setting, shown, rows, claims[dictionary.name]))
    return checks


def _risk_check(
    name: str,
    found: Matching,
    setting: Setting,
    shown: PublishedCells,
    rows: NDArray[np.int64] | None,
    claim: Mapping[str, Any],
) -> Check:
    """Compare the chances of identification, and the risk, with what is claimed of one dictionary."""
    check = f"risk by {name}"
    if claim.get("individuals") != found.individuals:
        return Check(
            check, False, f"{claim.get('individuals')!r} individuals are claimed, and there are {found.individuals:,}"
        )
    if rows is None and len(found.weights):
        return Check(
            check, True, "not measured again: the attacker leans to some individuals, and whose a row is is not told"
        )
    known = rows is not None or _by_attribute(setting)
    order = np.arange(found.records) if rows is None else rows
    rule = np.empty(shown.disclosed.shape, bool)
    rule[order] = shown.disclosed
    phi = setting.phi.of(rule)[order] if known else np.zeros(found.records)
    measured = _measured(found.probabilities(shown.disclosed), phi)
    for key, value in measured.items():
        claimed = claim.get(key)
        if key == "risk" and not known:
            continue
        if not isinstance(claimed, int | float | str) or not math.isclose(float(claimed), value, rel_tol=_SAME):
            return Check(check, False, f"{key} is claimed to be {claimed!r}, and is {_number(value)!r}")
    told = f"risk {measured['risk']:.6g}" if known else "the risk itself not: records weigh differently"
    return Check(check, True, f"measured again: identified with a chance of {measured['mean']:.6g} in the mean, {told}")


def _by_attribute(setting: Setting) -> bool:
    """Whether what is disclosed weighs the same in every record."""
    phi = setting.phi
    return phi.function is None and not np.ptp(phi.scale) and not (phi.cells != phi.cells[0]).any()

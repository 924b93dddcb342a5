"""Write records with cells withheld: aside first, verified from the written files, and only then renamed into place."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.published_table import resolved_schema
from sfumato.anonymization.release_document import declared_config, reading_of, versions
from sfumato.anonymization.save_release import (
    check_format,
    free_target,
    refuse_unless,
    take_place,
    write_new,
    write_told,
    written_aside,
)
from sfumato.data.schema import Schema
from sfumato.disclosure.sensitivity.sensitivity_weights import losses
from sfumato.disclosure.setting import Setting
from sfumato.disclosure.withheld.withheld_page import withheld_page
from sfumato.io.atomic_replace import open_to_readers
from sfumato.io.write_files import write_csv, write_parquet
from sfumato.progress import Progress, silent
from sfumato.releases.kinds import DATA_FILES
from sfumato.releases.models import FORMAT, WITHHELD
from sfumato.releases.reader import Manifest
from sfumato.verification.checks import Verification, files_check

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
    """The schema of the records with the kind of each attribute stated.

    An attribute that is compared by containment keeps its kind undeclared: whether `[20, 30]` is an interval of numbers is
    then decided from the cells of both sides, when the release is made and when it is verified.
    """
    declared = setting.table.schema.kinds
    by_containment = {name for name, how in setting.consistency.items() if how.kind == "containment"}
    names = [name for name in setting.attributes if name in declared or name not in by_containment]
    return resolved_schema(setting.table, names)


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


def _verify(release: WithheldRelease, folder: Path) -> None:
    """Verify the written files before they are published, with code that shares nothing with the maker."""
    from sfumato.disclosure.withheld.withheld_checks import withheld_checks

    setting = release.setting
    manifest = Manifest.load(folder)
    checks = withheld_checks(manifest, setting.table, setting.table.schema, setting.assumptions, release.rows)
    refuse_unless(Verification(str(folder), (files_check(manifest), *checks)))

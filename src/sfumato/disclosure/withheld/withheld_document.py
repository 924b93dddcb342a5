"""The document of a withheld release, and saving it: written to a temporary folder, verified there, then renamed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from sfumato.disclosure.setting import Setting
from sfumato.disclosure.withheld.withheld_page import public_page
from sfumato.io.atomic_replace import open_to_readers
from sfumato.io.write_files import write_csv, write_parquet
from sfumato.progress import Progress, silent
from sfumato.releases.kinds import DATA_FILES
from sfumato.releases.models import FORMAT, WITHHELD, WithheldDocument
from sfumato.releases.reader import Manifest
from sfumato.verification.checks import Verification, files_check

if TYPE_CHECKING:
    from sfumato.disclosure._risk import Risk
    from sfumato.disclosure._withhold import WithheldRelease


def describe_withheld(release: WithheldRelease) -> dict[str, Any]:
    """Return release.json without the files: the rule, what it was made against, and the risk.

    Everything in it follows from what is published. It contains nothing about the values of withheld cells: no risk of
    other rules, no bound on the least risk, no record.
    """
    setting, rule = release.setting, release.rule.disclosed
    present = setting.everything
    attributes = [
        {
            "name": name,
            "disclosed": int(rule[:, j].sum()),
            "withheld": int((present & ~rule)[:, j].sum()),
            "missing": int((~present)[:, j].sum()),
        }
        for j, name in enumerate(setting.attributes)
    ]
    return {
        "format": FORMAT,
        "kind": WITHHELD,
        **versions(),
        "seed": release.seed,
        "rows": setting.records,
        "rule": {"cells": release.cells, "per": release.per, "against": release.against},
        "attributes": attributes,
        "sensitivity": _public_sensitivity(setting.sensitivity.to_dict()),
        "consistency": {name: how.parameters() for name, how in setting.consistency.items()},
        "misfits": setting.misfits,
        "weighted": any(len(matching.weights) for matching in setting.matchings),
        "dictionaries": _dictionaries(setting, release.risk),
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


def _public_sensitivity(sensitivity: Mapping[str, Any]) -> dict[str, Any]:
    """A sensitivity without the weights of single records, which must not be published."""
    return {
        key: "by record" if key == "records" else dict.fromkeys(value, "by record") if key == "cells" else value
        for key, value in sensitivity.items()
    }


def _dictionaries(setting: Setting, risk: Risk) -> list[dict[str, Any]]:
    """For each dictionary the highest and the mean chance of identification, and the risk."""
    prior = setting.prior or (None,) * len(setting.dictionaries)
    return [
        {
            "name": each.name,
            "individuals": each.individuals,
            "prior": None if share is None else str(share),
            "highest": float(each.probabilities.max()),
            "mean": math.fsum(each.probabilities) / len(each.probabilities),
            "risk": "inf" if math.isinf(each.risk) else each.risk,
        }
        for each, share in zip(risk.dictionaries, prior, strict=True)
    ]


def save_withheld(
    release: WithheldRelease,
    folder: str | Path,
    *,
    force: bool = False,
    format: str = "csv",  # noqa: A002
    progress: Progress = silent,
) -> Path:
    """Write a withheld release to a new folder; after an error nothing is left behind."""
    check_format(format)
    target = free_target(folder, force)
    with written_aside(folder, target) as aside:
        progress("writing")
        data = aside / DATA_FILES[format]
        write_new(data, lambda file: (write_csv if format == "csv" else write_parquet)(release.table, file))
        write_told(
            aside, describe_withheld(release), [data], lambda content: public_page(WithheldDocument.model_validate(content))
        )
        progress("verifying what was written")
        _verify(release, aside)
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

"""Describe a withheld release as release.json states it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sfumato.data.schema import Schema
from sfumato.disclosure.generalized.attribute_levels import written_shares
from sfumato.disclosure.setting import Setting
from sfumato.releases.declarations import describe_reading, describe_schema, resolved_schema, versions
from sfumato.releases.models import FORMAT, WITHHELD

if TYPE_CHECKING:
    from sfumato.disclosure._risk import Risk
    from sfumato.disclosure._withhold import WithheldRelease


def describe_withheld(release: WithheldRelease) -> dict[str, Any]:
    """Return a release as plain data: the rule, the attackers' dictionaries, and the risk.

    Everything follows from what is published. Nothing depends on the values of withheld cells: there is no risk of other
    rules, no bound on the least risk, and no record.
    """
    setting, rule = release.setting, release.rule.disclosed
    present = setting.everything
    levels = release.rule.levels
    attributes = [
        {
            "name": name,
            "disclosed": int(rule[:, j].sum()),
            "withheld": int((present & ~rule)[:, j].sum()),
            "missing": int((~present)[:, j].sum()),
        }
        | (
            {"generalized": int((rule[:, j] & (levels[:, j] > 0)).sum())}
            if levels is not None and name in setting.levels
            else {}
        )
        for j, name in enumerate(setting.attributes)
    ]
    shares = {"shares": written_shares(setting.levels)} if setting.levels else {}
    return {
        "format": FORMAT,
        "kind": WITHHELD,
        **versions(),
        "rows": setting.records,
        "rule": {"cells": release.cells, "per": release.per, "against": release.against, **shares},
        "attributes": attributes,
        "sensitivity": _without_records(setting.sensitivity.to_dict()),
        "consistency": _consistency(setting),
        "misfits": setting.misfits,
        "weighted": any(len(matching.weights) for matching in setting.matchings),
        "dictionaries": _dictionaries(setting, release.risk),
        "config": describe_schema(_published_schema(setting), set(setting.attributes)),
        "reading": describe_reading(setting.table),
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


def _without_records(sensitivity: Mapping[str, Any]) -> dict[str, Any]:
    """Return a sensitivity as far as it may be published: without the weights of single records."""
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

"""What exact quasi-identifiers cost and gain: errors of counts from anatomies and from cells, and attacks, by method."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.datasets import data_file, survey
from benchmarks.datasets.survey import Setting
from benchmarks.measurement import Notify, cpu_seconds, silent
from sfumato.anatomy._anatomize import anatomize
from sfumato.attacks._attack import attack
from sfumato.census import synthetic_census
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.errors import SfumatoError
from sfumato.principles import FrequencyLDiversity

_ATTACKS = ("homogeneity", "learning", "swap-optimality")
"""Attacks on the secrets of groups. They achieve the same on an anatomy and on cells of the same groups."""


def run(rows: int, diversity: int, methods: Sequence[str], seed: int, notify: Notify = silent) -> dict[str, Any]:
    """Publish an anatomy of each table by each method; compare its counts with those from cells of the same groups."""
    runs = []
    for setting in settings(rows, diversity):
        for method in methods:
            notify(f"{setting.name}, {method}")
            runs.append(_measure(setting, method, seed))
    return {"runs": runs}


def settings(rows: int, diversity: int) -> Iterator[Setting]:
    """Yield Adult and the survey with their occupations as secrets; the synthetic census if they are absent."""
    required = FrequencyLDiversity(diversity)
    if data_file("adult", "adult_30162.csv") is None:
        schema = Schema(["age", "sex", "race", "marital"], ["education"])
        table = Table(synthetic_census(rows, 1).select([*schema.quasi_identifiers, "education"]), schema)
        yield Setting("census", "synthetic census", table, (required,))
        return
    yield survey.adult()[0].with_principles(FrequencyLDiversity(diversity, on="occupation"), name="adult")
    yield survey.occupation(rows).with_principles(required, name="survey")


def _measure(setting: Setting, method: str, seed: int) -> dict[str, Any]:
    figures: dict[str, Any] = {"table": setting.name, "rows": setting.table.rows, "method": method}
    try:
        seconds, anatomy = cpu_seconds(
            lambda: anatomize(setting.table, None, setting.principles, method=method, seed=seed, suppress="0.05")
        )
    except SfumatoError as error:
        return figures | {"not possible": str(error)[:120]}
    figures |= {
        "groups": anatomy.audits[0].groups.count,
        "suppressed": anatomy.suppressed,
        "CPU s": round(seconds, 1),
        "loss of the cells": round(anatomy.private.release.loss, 4),
        "alone, %": round(100 * anatomy.alone / anatomy.people.num_rows, 1),
    }
    errors = anatomy.count_errors()
    for name, found in (("anatomy", errors.anatomy), ("cells", errors.generalized)):
        if found.median is not None and found.mean is not None:
            figures |= {f"median error, {name}, %": round(100 * found.median, 1)}
            figures |= {f"mean error, {name}, %": round(100 * found.mean, 1)}
    for one in attack(anatomy, attacks=_ATTACKS):
        figures[f"{one.attack}, {one.about}, %"] = round(100 * one.success.share, 1)
        figures |= {f"  {key}, %": round(100 * rate.share, 1) for key, rate in one.baselines.items()}
    return figures

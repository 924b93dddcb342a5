"""What it costs to withstand attackers who know the method: loss, time and the success of attacks, by method."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.datasets import data_file, survey
from benchmarks.datasets.survey import Setting
from benchmarks.measurement import Notify, cpu_seconds, silent
from sfumato.anonymization._anonymize import anonymize
from sfumato.anonymization.methods.block_deals import BlockDeals
from sfumato.anonymization.methods.block_forest import make_forest
from sfumato.anonymization.methods.block_size import choose_block_rows
from sfumato.anonymization.methods.method import Task
from sfumato.anonymization.methods.search_problem import SearchProblem
from sfumato.attacks._attack import attack
from sfumato.data.population import Population
from sfumato.errors import SfumatoError
from sfumato.principles import Credibility, DistinctLDiversity, FrequencyLDiversity, KAnonymity

_ATTACKS = ("swap-optimality", "learning")
"""Attacks that use how groups are found, or how quasi-identifiers and secrets go together."""

_SUPPRESSED = ("0", "0.05", "0.25")
"""The shares of the rows that may be suppressed where a method leaves groups that fail; the first that suffices is used."""

_CONFIDENCES = ("0.95", "0.9", "0.8")
"""The confidences with which a secret may be believed by attackers who learn."""


def run(rows: int, names: Sequence[str], methods: Sequence[str], seed: int, notify: Notify = silent) -> dict[str, Any]:
    """Publish each setting by each method, and attack it."""
    runs = []
    for setting in settings(rows):
        if names and setting.name not in names:
            continue
        for method in methods:
            notify(f"{setting.name}, {method}")
            runs.append(_measure(setting, method, seed))
    return {"runs": runs}


def settings(rows: int) -> Iterator[Setting]:
    """Yield the settings: the survey three times, and Adult with l-diversity, then with credibility too.

    The synthetic census takes their place if they are absent.
    """
    yield survey.composite(rows)
    if data_file("adult", "adult_30162.csv") is None:
        return
    yield survey.occupation(rows)
    yield survey.income(rows)
    adult = survey.adult()[0]
    yield adult.with_principles(KAnonymity(5), DistinctLDiversity(3, on="occupation"), name="adult l=3")
    yield adult.with_principles(KAnonymity(5), FrequencyLDiversity(5, on="occupation"), name="adult f=5")
    modelled = replace(adult.table.schema, population=Population(adult.table))
    for confidence in _CONFIDENCES:
        required = KAnonymity(5), DistinctLDiversity(3, on="occupation"), Credibility(confidence)
        setting = replace(adult, table=adult.table.with_schema(modelled))
        yield setting.with_principles(*required, name=f"adult c={confidence}")


def _measure(setting: Setting, method: str, seed: int) -> dict[str, Any]:
    figures: dict[str, Any] = {"setting": setting.name, "rows": setting.table.rows, "method": method}
    for share in _SUPPRESSED:
        try:
            seconds, release = cpu_seconds(
                lambda share=share: anonymize(  # type: ignore[misc]
                    setting.table, None, setting.principles, method=method, seed=seed, suppress=share
                )
            )
            break
        except SfumatoError as error:
            figures["not possible"] = str(error)[:120]
    else:
        return figures
    figures.pop("not possible", None)  # with a smaller share suppressed
    figures |= {
        "loss": round(release.loss, 4),
        "groups": release.audit.groups.count,
        "suppressed": release.suppressed,
        "release, CPU s": round(seconds, 1),
    }
    for name in _ATTACKS:
        for one in attack(release, attacks=[name]):
            figures[f"{name}, {one.about}, %"] = round(100 * one.success.share, 1)
            figures |= {f"  {key}, %": round(100 * rate.share, 1) for key, rate in one.baselines.items()}
            figures |= {f"  {key}": one.figures[key] for key in ("above 90 %", "above 99 %") if key in one.figures}
    return figures | (_blocks(setting) if method == "deal" else {})


def _blocks(setting: Setting) -> dict[str, Any]:
    """Return how large blocks are, and how many of them, real and random, can be dealt alone."""
    task = Task(setting.table, setting.principles)
    problem = SearchProblem.of(task)
    size = choose_block_rows(problem.constraints, problem.rows)
    blocks = make_forest(problem, size, 0).pools.reshape(-1, size)
    random = np.random.default_rng(0).permutation(blocks.ravel()).reshape(blocks.shape)
    shares = [
        float(BlockDeals(rows, problem.constraints).deal(np.arange(len(rows))[:, None]).mean()) for rows in (blocks, random)
    ]
    return {
        "rows of a block": size,
        "blocks that can be dealt alone": round(shares[0], 3),
        "random blocks that can be dealt alone": round(shares[1], 3),
    }

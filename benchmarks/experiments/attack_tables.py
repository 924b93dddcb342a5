"""What attacks achieve against releases by several methods, on real tables: success, strongest baseline, and cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyarrow import compute

from benchmarks.datasets import data_file, survey
from benchmarks.datasets.rare_values import census_table
from benchmarks.datasets.survey import Setting
from benchmarks.measurement import Notify, cpu_seconds, silent
from sfumato.anonymization._anonymize import anonymize
from sfumato.attacks._attack import attack
from sfumato.attacks.base_attack import AttackResult
from sfumato.census import synthetic_census
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.errors import SfumatoError
from sfumato.principles import FrequencyLDiversity, KAnonymity
from sfumato.registry import ATTACKS

_SLOW = ("replay",)
"""Attacks that run a method again and again; they are run on request only."""


def run(
    rows: int, diversity: int, methods: Sequence[str], names: Sequence[str], seed: int, notify: Notify = silent
) -> dict[str, Any]:
    """Attack a release of each table by each method; k = 5 and frequency l-diversity."""
    chosen = list(names) or [name for name in ATTACKS if name not in _SLOW]
    runs: list[dict[str, Any]] = []
    for setting in settings(rows, diversity):
        for method in methods:
            notify(f"{setting.name}, {method}")
            made = {"table": setting.name, "rows": setting.table.rows, "method": method}
            try:
                seconds, release = cpu_seconds(
                    lambda setting=setting, method=method: anonymize(  # type: ignore[misc]
                        setting.table, None, setting.principles, method=method, seed=seed
                    )
                )
            except SfumatoError as error:
                runs.append({**made, "not possible": str(error)[:120]})
                continue
            made |= {"loss": round(release.loss, 4), "method, CPU s": round(seconds, 1)}
            for name in chosen:
                notify(f"{setting.name}, {method}, {name}")
                cost, found = cpu_seconds(lambda release=release, name=name: attack(release, attacks=[name]))  # type: ignore[misc]
                runs += [{**made, **_figures(one), "attack, CPU s": round(cost, 2)} for one in found]
                runs += [{**made, "attack": one.attack, "not measured": one.reason} for one in found.skipped]
    return {"runs": runs, "requirements": f"k = 5, frequency l-diversity with l = {diversity}"}


def _figures(result: AttackResult) -> dict[str, Any]:
    best = max(result.baselines, key=lambda name: result.baselines[name].share, default=None)
    return {
        "attack": result.attack,
        "about": result.about,
        "success, %": round(100 * result.success.share, 1),
        "baseline, %": None if best is None else round(100 * result.baselines[best].share, 1),
        "baseline": best,
        "exceeds": result.exceeds,
        "certain": result.certain,
        "right": result.right,
    }


def settings(rows: int, diversity: int) -> Iterator[Setting]:
    """Yield the tables: Adult, the survey and the income census; the synthetic census if there is no real data."""
    required = (KAnonymity(5), FrequencyLDiversity(diversity))
    if data_file("adult", "adult_30162.csv") is None:
        data = synthetic_census(rows, 0).select(["age", "sex", "race", "marital", "income"])
        schema = Schema(["age", "sex", "race", "marital"], ["income"])
        yield Setting("synthetic census", "synthetic", Table(data, schema), required)
        return
    yield survey.adult(rows)[0].with_principles(*required, name="Adult, occupation")
    yield survey.occupation(rows).with_principles(*required, name="survey, occupation")
    yield _census(rows).with_principles(*required, name="income census, major occupation")


def _census(rows: int) -> Setting:
    data: pa.Table = census_table()
    quasi = ["age", "sex", "race", "education", "marital_status", "citizenship", "hh_summary"]
    schema = Schema(quasi, ["major_occupation"])
    employed = data.filter(compute.not_equal(data.column("major_occupation"), "Not in universe"))
    table = Table(employed.select([*quasi, "major_occupation"]).slice(0, rows), schema, untyped=True)
    return Setting("census", "census", table, ())

"""What attacks achieve against releases by several methods, on real tables: success, strongest baseline, and cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
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
from sfumato.principles import Dissimilarity, FrequencyLDiversity, KAnonymity
from sfumato.projections._project import project
from sfumato.registry import ATTACKS

PROJECTIONS = "projections"
"""The name of two projected tables among the methods."""

XCOLOR, LATTICE = "xcolor", "lattice"
"""Methods that need other requirements, or another schema."""

SECOND = "education"
"""The quasi-identifier that is a second secret in projected tables."""

_SLOW = ("replay",)
"""Attacks that run a method again and again; they are run on request only."""


def run(
    rows: int, diversity: int, methods: Sequence[str], names: Sequence[str], seed: int, notify: Notify = silent
) -> dict[str, Any]:
    """Attack a release of each table by each method; k = 5 and frequency l-diversity.

    The method "projections" stands for two tables, one with the secret and one with the education, by the default method.
    The method xcolor supports one (ε,δ)^k-dissimilarity only: in place of l-diversity, among the other rows of a group at
    most one in l may have the value of a row.
    """
    chosen = list(names) or [name for name in ATTACKS if name not in _SLOW]
    runs: list[dict[str, Any]] = []
    for setting in settings(rows, diversity):
        for method in methods:
            notify(f"{setting.name}, {method}")
            if method == PROJECTIONS:
                runs += _projected(setting, diversity, seed)
                continue
            made = {"table": setting.name, "rows": setting.table.rows, "method": method}
            required = _same_values(diversity) if method == XCOLOR else setting.principles
            # a lattice publishes nodes of hierarchies, also where other methods publish intervals
            table = (
                setting.table.with_schema(replace(setting.table.schema, recodings={}))
                if method == LATTICE
                else setting.table
            )
            try:
                seconds, release = cpu_seconds(
                    lambda table=table, method=method, required=required: anonymize(  # type: ignore[misc]
                        table, None, required, method=method, seed=seed
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


def _same_values(diversity: int) -> tuple[Dissimilarity]:
    return (Dissimilarity(0, Fraction(diversity - 1, diversity), 5),)


def _projected(setting: Setting, diversity: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield what attackers achieve who join two projected tables: how probable they think each true value to be.

    An attacker who uses the table of one secret alone is the baseline.
    """
    table, (secret,) = setting.table, setting.table.schema.sensitive
    quasi = [name for name in table.schema.quasi_identifiers if name != SECOND]
    kept = {name: how for name, how in table.schema.recodings.items() if name != SECOND}
    schema = replace(table.schema, quasi_identifiers=quasi, sensitive=[secret, SECOND], recodings=kept, distance=None)
    # half of all people may have the most frequent education
    required = [KAnonymity(5), FrequencyLDiversity(diversity, on=secret), FrequencyLDiversity(2, on=SECOND)]
    made = {"table": setting.name, "rows": table.rows, "method": PROJECTIONS}
    try:
        seconds, release = cpu_seconds(
            lambda: project(table.with_schema(schema), None, required, plan=[[secret], [SECOND]], seed=seed)
        )
    except SfumatoError as error:
        yield {**made, "not possible": str(error)[:120]}
        return
    made |= {"loss": round(max(one.loss for one in release.releases), 4), "method, CPU s": round(seconds, 1)}
    cost, found = cpu_seconds(release.attacks)
    for one in found.intersection.inferences:
        yield {
            **made,
            "attack": "intersection",
            "about": f"{one.target}, by {one.helper}",
            "success, %": round(100 * one.truth, 1),
            "baseline, %": round(100 * float(one.truth_before), 1),
            "baseline": "one table alone",
            "exceeds": one.truth > one.truth_before,
            "certain": one.after.certain,
            "attack, CPU s": round(cost, 2),
        }


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
        data = synthetic_census(rows, 0).select(["age", "sex", "race", "marital", SECOND, "income"])
        schema = Schema(["age", "sex", "race", "marital", SECOND], ["income"])
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

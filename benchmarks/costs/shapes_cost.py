"""Loss of each shape of a breach that glaze enforces, and the time of auditing all shapes.

The baselines are the loss of the star, and a numpy lexsort of the same quasi-identifier codes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.costs.anonymize_cost import group_and_publish, method_by_name, warm_up
from benchmarks.datasets import survey
from benchmarks.datasets.survey import Setting
from benchmarks.measurement import Notify, cpu_seconds, lexsort_seconds, silent
from sfumato._audit import audit
from sfumato.anonymization.utility import mean_loss
from sfumato.census import census_schema, synthetic_census
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.distances import Absolute
from sfumato.principles import Dissimilarity, View
from sfumato.principles.shapes import SHAPES

_TIMES = 3
"""How often an audit is measured; the least time counts."""


def run(rows: int, audited_rows: int, shapes: Sequence[str], notify: Notify = silent) -> dict[str, Any]:
    """Enforce shapes on each setting, and audit all shapes; `notify` receives the progress."""
    makers: list[Callable[[int], Setting]] = [survey.composite]
    if survey.survey_folder() is not None:
        makers += [survey.occupation, survey.income]
    runs = []
    for make in makers:
        setting = make(rows)
        for shape in shapes:
            notify(f"{setting.name}, {rows:,} rows, {shape}")
            runs.append(_enforce(setting, shape))
    notify(f"audit of {audited_rows:,} rows")
    return {"runs": runs, "audit": _audits(audited_rows)}


def _with_shape(setting: Setting, shape: str) -> Setting:
    principle = setting.principles[0]
    assert isinstance(principle, Dissimilarity)
    return setting.with_principles(replace(principle, shape=shape))


def _enforce(setting: Setting, shape: str) -> dict[str, Any]:
    """Let glaze enforce one shape; audit the published table for all shapes."""
    method, wanted = method_by_name("glaze"), _with_shape(setting, shape)
    view = View(setting.table).as_one_group()
    figures: dict[str, Any] = {
        "setting": setting.name,
        "source": setting.source,
        "rows": setting.table.rows,
        "shape": shape,
        "level of the table as one group": round(float(wanted.principles[0].measure(view).level), 4),
    }
    certificate = wanted.principles[0].certificate(view)
    if certificate is not None:
        return figures | {"impossible": certificate.sentence}
    warm_up(wanted, method)
    seconds, _, published, _ = group_and_publish(wanted, method)
    found = audit(published.table, None, [_with_shape(setting, each).principles[0] for each in SHAPES])
    levels = {each: finding.measurement for each, finding in zip(SHAPES, found, strict=True)}
    return figures | {
        "loss": round(mean_loss(published.recoding), 4),
        "violating groups": int((~levels[shape].group_holds).sum()),
        "groups": found.groups.count,
        "CPU s": round(seconds, 2),
        "groups that violate each shape": {each: int((~level.group_holds).sum()) for each, level in levels.items()},
        "worst level of each shape": {each: round(float(level.level), 4) for each, level in levels.items()},
    }


def _audits(rows: int) -> dict[str, Any]:
    """Audit all shapes on numbers, each by itself; return times and ratios to a lexsort."""
    if survey.survey_folder() is None:
        schema = replace(census_schema(), sensitive=["income"], distance=Absolute())
        setting = Setting("synthetic census", "synthetic census", Table(synthetic_census(rows), schema), ())
    else:
        income = survey.income(rows)
        few = Schema(
            ["age", "gender", "marital", "race"], ["income"], kinds=dict(income.table.schema.kinds), distance=Absolute()
        )
        setting = replace(
            income, table=Table(income.table.data.select([*few.quasi_identifiers, "income"]), few, untyped=True)
        )
    table = setting.table
    for name in (*table.schema.quasi_identifiers, "income"):
        table.column(name)
    principles = {shape: Dissimilarity(5000, "0.8", 10, shape=shape) for shape in SHAPES}
    small = Table(table.data.slice(0, 1000), table.schema, untyped=True)
    audit(small, None, list(principles.values()))  # compiles the kernels or loads them from the cache
    lexsort = lexsort_seconds(table)
    times: dict[str, float] = {}
    for shape, principle in principles.items():
        times[shape] = min(cpu_seconds(lambda p=principle: audit(table, None, [p]))[0] for _ in range(_TIMES))  # type: ignore[misc]
    everything = min(cpu_seconds(lambda: audit(table, None, list(principles.values())))[0] for _ in range(_TIMES))
    return {
        "source": setting.source,
        "rows": rows,
        "groups": audit(table, None, list(principles.values())).groups.count,
        "lexsort, CPU s": round(lexsort, 4),
        **{f"{shape} / lexsort": round(seconds / lexsort, 2) for shape, seconds in times.items()},
        "all shapes together / lexsort": round(everything / lexsort, 2),
    }

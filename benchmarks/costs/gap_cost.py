"""How near the groups of glaze are to the proven bound on the loss of all groupings, and the CPU time of the bound."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.costs.anonymize_cost import warm_up
from benchmarks.datasets import survey
from benchmarks.datasets.survey import Setting
from benchmarks.measurement import Notify, cpu_seconds, silent
from sfumato.anonymization.loss_bounds import loss_bound
from sfumato.anonymization.methods import Glaze, Task
from sfumato.anonymization.methods.method import grouping_of
from sfumato.anonymization.published_table import publish
from sfumato.anonymization.utility import mean_loss
from sfumato.principles import KAnonymity


def run(rows: int, notify: Notify = silent) -> dict[str, Any]:
    """Measure the bound of each setting: with its requirements, and with its k alone."""
    runs = []
    for setting in _settings(rows):
        notify(f"{setting.name}, {setting.table.rows:,} rows")
        runs.append(_measure(setting))
    return {"runs": runs}


def _settings(rows: int) -> Iterator[Setting]:
    """Yield the settings of the survey, each also with its k alone, and of the Adult table; or that of the census."""
    makers: list[Callable[[int], Setting]] = [survey.composite]
    if survey.survey_folder() is not None:
        makers += [survey.occupation, survey.income]
    for make in makers:
        setting = make(rows)
        k = max(principle.implied_k or 1 for principle in setting.principles)
        yield setting.with_principles(KAnonymity(k), name=f"{setting.name}, k alone")
        yield setting
    if survey.survey_folder() is not None:
        yield survey.hard(rows)
        yield from survey.adult()


def _measure(setting: Setting) -> dict[str, Any]:
    table, principles = setting.table, setting.principles
    warm_up(setting, Glaze())
    loss_bound(table.take(np.arange(50)), principles)  # compiles the kernel
    seconds, grouping = cpu_seconds(lambda: grouping_of(Glaze(), Task(table, principles), 0))
    loss = mean_loss(publish(table, grouping.of_row, 0).recoding)
    stated_seconds, stated = cpu_seconds(lambda: loss_bound(table, principles, secrets=False))
    own_seconds, own = cpu_seconds(lambda: loss_bound(table, principles))
    return {
        "setting": setting.name,
        "rows": table.rows,
        "requirements": setting.requirements,
        "loss": round(loss, 5),
        "bound": round(stated, 5),
        "bound / loss": round(stated / loss, 3) if loss else 1.0,
        "bound with secrets": round(own, 5),
        "with secrets / loss": round(own / loss, 3) if loss else 1.0,
        "CPU s: glaze": round(seconds, 2),
        "CPU s: bound": round(stated_seconds, 2),
        "CPU s: with secrets": round(own_seconds, 2),
    }

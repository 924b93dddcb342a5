"""What the method exact proves about samples of 60 rows, how much glaze loses beside it, and its CPU time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.costs.anonymize_cost import warm_up
from benchmarks.datasets import survey
from benchmarks.datasets.survey import Setting
from benchmarks.measurement import Notify, cpu_seconds, silent
from sfumato.anonymization.exact_search.cheapest_partition import cheapest_partition
from sfumato.anonymization.exact_search.possible_groups import group_costs
from sfumato.anonymization.loss_bounds import loss_bound
from sfumato.anonymization.methods import Glaze, Task
from sfumato.anonymization.methods.method import grouping_of
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.principles import DistinctLDiversity, KAnonymity

_WIDTHS = (3, 4, 5, 6, 8)
"""How many quasi-identifiers of the Adult table a sample has: age, and others drawn at random."""

_POOL = 2_000
"""Samples of the survey are drawn from so many rows."""


def run(rows: int, kinds: list[str], notify: Notify = silent) -> dict[str, Any]:
    """Measure each sample with k = 5, k = 10, distinct l = 4, or the dissimilarity of its setting."""
    runs = []
    for kind in kinds:
        for setting in _settings(rows, kind):
            notify(f"{setting.name}, {setting.requirements}")
            runs.append(_measure(setting))
    return {"runs": runs}


def _settings(rows: int, kind: str) -> Iterator[Setting]:
    """Yield samples of the Adult table, of the census or of the survey, with one kind of requirement."""
    if survey.survey_folder() is None:
        samples = [_sample(survey.composite(_POOL), rows, seed) for seed in range(5)]
    else:
        makers = (survey.composite, survey.income, survey.occupation)
        samples = [_sample(make(_POOL), rows, seed) for seed in (0, 1) for make in makers]
        if kind != "dissimilarity":
            # the quasi-identifiers of S3i and S3o are the same
            adult = [_adult(rows, width, seed) for seed, width in enumerate(_WIDTHS)]
            samples = [*adult, samples[0], samples[1], samples[3]]
    for sample in samples:
        if kind == "dissimilarity":
            yield sample
        elif kind.startswith("k"):
            yield sample.with_principles(KAnonymity(int(kind[1:])))
        else:
            yield sample.with_principles(DistinctLDiversity(int(kind[1:])))


def _sample(setting: Setting, rows: int, seed: int) -> Setting:
    chosen = np.random.default_rng(seed).permutation(setting.table.rows)[:rows]
    return replace(setting, name=f"{setting.name}, sample {seed}", table=setting.table.take(chosen))


def _adult(rows: int, width: int, seed: int) -> Setting:
    """Return a sample of the Adult table with some of its quasi-identifiers."""
    full = survey.adult()[0]
    draw, schema = np.random.default_rng(seed), full.table.schema
    others = draw.permutation([name for name in schema.quasi_identifiers if name != "age"])[: width - 1].tolist()
    names = [name for name in schema.quasi_identifiers if name == "age" or name in others]
    kept = Schema(
        names,
        schema.sensitive,
        kinds={"age": "numeric"},
        recodings={name: how for name, how in schema.recodings.items() if name in names},
        hierarchies={name: tree for name, tree in schema.hierarchies.items() if name in (*names, *schema.sensitive)},
    )
    chosen = draw.permutation(full.table.rows)[:rows]
    data = full.table.data.select([*names, *schema.sensitive]).take(pa.array(chosen))
    return replace(full, name=f"adult, {width} columns", table=Table(data, kept, untyped=True))


def _measure(setting: Setting) -> dict[str, Any]:
    task = Task(setting.table, setting.principles)
    warm_up(setting, Glaze())
    cheapest_partition(Task(setting.table.take(np.arange(13)), (KAnonymity(2),)), None)  # compiles the kernels
    start = grouping_of(Glaze(), task, 0).of_row
    known = start if task.satisfied(start).all() else None
    seconds, found = cpu_seconds(lambda: cheapest_partition(task, known))
    glaze = sum(group_costs(task, [np.flatnonzero(start == group) for group in range(int(start.max()) + 1)]))
    cells = setting.table.rows * len(setting.table.schema.quasi_identifiers)
    loss = found.cost / cells
    stated, own = (loss_bound(setting.table, setting.principles, secrets=secrets) for secrets in (False, True))
    return {
        "setting": setting.name,
        "columns": len(setting.table.schema.quasi_identifiers),
        "requirements": setting.requirements,
        "proof": found.proof,
        "loss": round(loss, 5) if loss < np.inf else None,
        "bound": round(found.bound / cells, 5) if loss < np.inf else None,
        "bound / loss": round(found.bound / found.cost, 4) if 0 < loss < np.inf else 1.0,
        "glaze / loss": round(glaze / found.cost, 3) if known is not None and loss > 0 else None,
        "bound of releases / loss": round(stated / loss, 3) if 0 < loss < np.inf else None,
        "the same with secrets / loss": round(own / loss, 3) if 0 < loss < np.inf else None,
        "CPU s": round(seconds, 1),
    }

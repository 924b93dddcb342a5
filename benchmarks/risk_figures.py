"""The experiment of paper 002 again: Figure 1 as tables.

Records are drawn from a directory, and the directory is the dictionary (see `directories`). Two sensitivities with the same
random weights, uniform between 0 and 1 for every cell: their sum, and e to the power of it. Consistent is what is equal or,
as in the paper, what is similar by Jaro at 0.8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.directories import drawn, there
from benchmarks.figures import write_rows
from sfumato.disclosure.risk_report.risk_curves import QUARTERS, TENTHS, by_dictionary_size, cells_of, true_against_estimated
from sfumato.disclosure.rules.minrisk_algorithm import independence_costs
from sfumato.disclosure.sensitivity.sensitivity_weights import Form, SensitivityWeights
from sfumato.disclosure.setting import Setting

Tell = Callable[[str], None]
Row = dict[str, Any]
Case = tuple[Row, Setting]

FORMS: dict[str, Form] = {"additive": "sum", "multiplicative": "product"}
"""The sensitivities by the names that the tables have."""
MADE_FOR = "multiplicative"
"""The one that MinRisk is made for."""


@dataclass(frozen=True)
class Plan:
    """Which points are measured."""

    records: int
    """Records drawn from the directory when values must be equal."""
    similar: int
    """The same when they must be similar, which takes longer; 0 for none."""
    sizes: tuple[str, ...] = TENTHS
    """The dictionaries, as shares of the directory."""
    pairs: tuple[str, ...] = ("0.1", "0.2", "0.4", "0.7", "1")
    """Those that are set against one another, as the publisher's and the attacker's."""


FULL = Plan(records=2000, similar=2000)
QUICK = Plan(records=100, similar=30, sizes=("0.2", "0.6", "1"), pairs=("0.2", "1"))


def run(out: Path, quick: bool = False, seed: int = 0, tell: Tell = lambda _: None) -> list[Path]:
    """Measure, and write the tables; return the files."""
    out.mkdir(parents=True, exist_ok=True)
    plan = QUICK if quick else FULL
    cases = list(_cases(plan, seed, tell))
    for name, measure in TABLES.items():
        write_rows(out / name, measure(cases, plan, seed, tell))
    return [out / name for name in TABLES]


def size_table(cases: Sequence[Case], plan: Plan, seed: int, tell: Tell) -> Iterator[Row]:
    """Figure 1, left: the least risk against the size of the dictionary and the number of cells."""
    for start, form, setting in _each(cases, seed, tell):
        (curve,) = by_dictionary_size(setting, plan.sizes, QUARTERS, seed=seed)
        for cells, risks in zip(curve.cells, curve.risks, strict=True):
            for individuals, risk in zip(curve.individuals, risks, strict=True):
                yield {**start, "sensitivity": form, "cells": cells, "individuals": individuals, "risk": _digits(risk)}


def pair_table(cases: Sequence[Case], plan: Plan, seed: int, tell: Tell) -> Iterator[Row]:
    """Figure 1, right: the true risk beside the estimated one."""
    for start, form, setting in _each(cases, seed, tell):
        (found,) = true_against_estimated(setting, plan.pairs, QUARTERS, seed=seed)
        for point in found.points:
            yield {
                **start,
                "sensitivity": form,
                "cells": point.cells,
                "estimated_from": point.supposed,
                "true_among": point.truly,
                "estimated_risk": _digits(point.estimated),
                "true_risk": _digits(point.true),
                "below": int(point.below),
            }


def independence_table(cases: Sequence[Case], plan: Plan, seed: int, tell: Tell) -> Iterator[Row]:
    """Beside the figure: the risk of MinRisk, which takes attributes for independent, and the least risk."""
    del plan
    for start, form, setting in _each(cases, seed, tell):
        if form != MADE_FOR:
            continue
        (matching,) = setting.matchings
        for cost in independence_costs(matching, setting.phi, cells_of(QUARTERS, matching.attributes)):
            yield {
                **start,
                "sensitivity": form,
                "cells": cost.cells,
                "min_risk": _digits(cost.risk),
                "least_risk": _digits(cost.least),
                "worse_records": cost.worse,
            }


TABLES: dict[str, Callable[[Sequence[Case], Plan, int, Tell], Iterator[Row]]] = {
    "risk.csv": size_table,
    "bound.csv": pair_table,
    "independence.csv": independence_table,
}
"""The tables, and what measures each."""


def _cases(plan: Plan, seed: int, tell: Tell) -> Iterator[Case]:
    """Each directory with each consistency: what its lines start with, and the records beside it."""
    for source, load in there().items():
        for consistency, records in (("equality", plan.records), ("similarity", plan.similar)):
            many = min(records, load().num_rows // 10)
            if not many:
                continue
            tell(f"{source}: matching {many:,} records by {consistency}")
            setting = drawn(load(), many, seed, source, similar=consistency == "similarity")
            start = {"source": source, "consistency": consistency, "records": many, "attributes": len(setting.attributes)}
            yield start, setting


def _each(cases: Sequence[Case], seed: int, tell: Tell) -> Iterator[tuple[Row, str, Setting]]:
    """Each with both sensitivities, whose random weights are the same."""
    for start, setting in cases:
        for name, form in FORMS.items():
            tell(f"{start['source']}, {start['consistency']}, {name}")
            yield start, name, replace(setting, phi=random_weights(form, setting, seed))


def random_weights(form: Form, setting: Setting, seed: int) -> SensitivityWeights:
    """A weight for every cell, uniform between 0 and 1."""
    shape = setting.records, len(setting.attributes)
    cells = np.random.default_rng(seed).random(shape)
    return SensitivityWeights(form, cells, np.zeros((shape[1], shape[1])), np.ones(shape[0]))


def _digits(risk: float) -> str:
    """Enough of them to compare, and the same on every machine."""
    return f"{risk:.6g}"

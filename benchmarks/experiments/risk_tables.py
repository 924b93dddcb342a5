"""Figure 1 of Lebanon et al. (2006) as tables.

Records are drawn from a directory, and the directory is the dictionary (see `datasets/directories.py`). Two sensitivities
have the same random weights, uniform between 0 and 1 for every cell: the sum of the weights, and e to the power of the sum.
Values are consistent if they are equal or, as in the paper, if their Jaro similarity is at least 0.8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.datasets.directories import available_directories, sample_records
from benchmarks.measurement import Notify, Row, silent, write_rows
from sfumato.disclosure.risk_report.risk_curves import QUARTERS, TENTHS, by_dictionary_size, cells_of, true_against_estimated
from sfumato.disclosure.rules.minrisk_algorithm import independence_costs
from sfumato.disclosure.sensitivity.sensitivity_weights import Form, SensitivityWeights
from sfumato.disclosure.setting import Setting

Case = tuple[Row, Setting]
"""The common columns of a case, and its records with their dictionary."""

FORMS: dict[str, Form] = {"additive": "sum", "multiplicative": "product"}
"""The sensitivities by their names in the tables."""
MINRISK_SENSITIVITY = "multiplicative"
"""The sensitivity that MinRisk is designed for."""


@dataclass(frozen=True)
class Points:
    """The points that are measured."""

    records: int
    """Records drawn from the directory for equality."""
    similar: int
    """Records drawn for similarity, which takes longer; 0 for none."""
    sizes: tuple[str, ...] = TENTHS
    """The sizes of the dictionaries, as shares of the directory."""
    pairs: tuple[str, ...] = ("0.1", "0.2", "0.4", "0.7", "1")
    """The sizes of the publisher's and the attacker's dictionaries that are compared."""


FULL = Points(records=2000, similar=2000)
QUICK = Points(records=100, similar=30, sizes=("0.2", "0.6", "1"), pairs=("0.2", "1"))


def run(out: Path, quick: bool = False, seed: int = 0, notify: Notify = silent) -> list[Path]:
    """Measure and write the tables; return the files."""
    out.mkdir(parents=True, exist_ok=True)
    points = QUICK if quick else FULL
    cases = list(_cases(points, seed, notify))
    for name, measure in TABLES.items():
        write_rows(out / name, measure(cases, points, seed, notify))
    return [out / name for name in TABLES]


def size_table(cases: Sequence[Case], points: Points, seed: int, notify: Notify) -> Iterator[Row]:
    """Yield Figure 1, left: the least risk by the size of the dictionary and the number of cells."""
    for common, form, setting in _with_sensitivities(cases, seed, notify):
        (curve,) = by_dictionary_size(setting, points.sizes, QUARTERS, seed=seed)
        for cells, risks in zip(curve.cells, curve.risks, strict=True):
            for individuals, risk in zip(curve.individuals, risks, strict=True):
                yield {**common, "sensitivity": form, "cells": cells, "individuals": individuals, "risk": _digits(risk)}


def pair_table(cases: Sequence[Case], points: Points, seed: int, notify: Notify) -> Iterator[Row]:
    """Yield Figure 1, right: the true risk and the estimated risk."""
    for common, form, setting in _with_sensitivities(cases, seed, notify):
        (comparison,) = true_against_estimated(setting, points.pairs, QUARTERS, seed=seed)
        for point in comparison.points:
            yield {
                **common,
                "sensitivity": form,
                "cells": point.cells,
                "estimated_from": point.supposed,
                "true_among": point.truly,
                "estimated_risk": _digits(point.estimated),
                "true_risk": _digits(point.true),
                "below": int(point.below),
            }


def independence_table(cases: Sequence[Case], points: Points, seed: int, notify: Notify) -> Iterator[Row]:
    """Yield the risk of MinRisk, which assumes independent attributes, and the least risk."""
    del points
    for common, form, setting in _with_sensitivities(cases, seed, notify):
        if form != MINRISK_SENSITIVITY:
            continue
        (matching,) = setting.matchings
        for cost in independence_costs(matching, setting.phi, cells_of(QUARTERS, matching.attributes)):
            yield {
                **common,
                "sensitivity": form,
                "cells": cost.cells,
                "min_risk": _digits(cost.risk),
                "least_risk": _digits(cost.least),
                "worse_records": cost.worse,
            }


TABLES: dict[str, Callable[[Sequence[Case], Points, int, Notify], Iterator[Row]]] = {
    "risk.csv": size_table,
    "bound.csv": pair_table,
    "independence.csv": independence_table,
}
"""The function that measures each table."""


def _cases(points: Points, seed: int, notify: Notify) -> Iterator[Case]:
    """Yield each directory with each consistency."""
    for source, load in available_directories().items():
        for consistency, records in (("equality", points.records), ("similarity", points.similar)):
            count = min(records, load().num_rows // 10)
            if not count:
                continue
            notify(f"{source}: matching {count:,} records by {consistency}")
            setting = sample_records(load(), count, seed, source, similar=consistency == "similarity")
            common = {"source": source, "consistency": consistency, "records": count, "attributes": len(setting.attributes)}
            yield common, setting


def _with_sensitivities(cases: Sequence[Case], seed: int, notify: Notify) -> Iterator[tuple[Row, str, Setting]]:
    """Yield each case with both sensitivities, which have the same random weights."""
    for common, setting in cases:
        for name, form in FORMS.items():
            notify(f"{common['source']}, {common['consistency']}, {name}")
            yield common, name, replace(setting, phi=random_weights(form, setting, seed))


def random_weights(form: Form, setting: Setting, seed: int) -> SensitivityWeights:
    """Return a weight for every cell, uniform between 0 and 1."""
    shape = setting.records, len(setting.attributes)
    cells = np.random.default_rng(seed).random(shape)
    return SensitivityWeights(form, cells, np.zeros((shape[1], shape[1])), np.ones(shape[0]))


def _digits(risk: float) -> str:
    """Format a risk with six digits, which are the same on every machine."""
    return f"{risk:.6g}"

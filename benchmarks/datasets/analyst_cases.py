"""Tables on which the estimates of `sf.read_release` are measured, with schema, k and the questions of an analyst."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from benchmarks.datasets import data_file
from benchmarks.datasets.hospital import hospital, hospital_schema
from sfumato.data.schema import Schema


@dataclass(frozen=True)
class AnalystQuestion:
    """One question: "rate", "odds ratio" (of an outcome), "mean" (of a number) or "count", by a column."""

    what: str
    by: str
    of: str = ""
    value: str = ""
    bands: Sequence[Any] = ()

    @property
    def title(self) -> str:
        """The question in words."""
        return f"{self.what}{' of ' + self.of if self.of else ''} by {self.by}{' band' if self.bands else ''}"


@dataclass(frozen=True)
class AnalystCase:
    """A kind of table: how it is made, published and asked."""

    name: str
    schema: Schema
    k: int
    questions: Sequence[AnalystQuestion]
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the generator of the hospital; none for a sample of a real table."""

    def table(self, rows: int, seed: int) -> pa.Table | None:
        """Return a table of about so many rows; None if the real data is absent."""
        if self.options:
            return hospital(rows, seed, **self.options)
        frame = _adult() if self.name.startswith("adult") else _acs()
        if frame is None:
            return None
        return pa.Table.from_pandas(frame.sample(min(rows, len(frame)), random_state=seed), preserve_index=False)


_HOSPITAL = [
    AnalystQuestion("rate", "disposition", "readmitted", "<30"),
    AnalystQuestion("odds ratio", "disposition", "readmitted", "<30"),
    AnalystQuestion("rate", "diagnosis", "readmitted", "<30"),
    AnalystQuestion("count", "disposition"),
    AnalystQuestion("mean", "disposition", "stay"),
    AnalystQuestion("rate", "age", "readmitted", "<30", [40, 60, 80]),
    AnalystQuestion("mean", "readmitted", "age"),
    AnalystQuestion("mean", "disposition", "age"),
    AnalystQuestion("count", "admitted", bands=["2015-07-01", "2016-01-01", "2016-07-01", "2017-01-01"]),
    AnalystQuestion("rate", "admitted", "readmitted", "<30", ["2016-01-01", "2017-01-01"]),
]


def _census(outcome: str, value: str, number: str, other: str) -> list[AnalystQuestion]:
    return [
        AnalystQuestion("rate", "education", outcome, value),
        AnalystQuestion("rate", "marital", outcome, value),
        AnalystQuestion("odds ratio", "marital", outcome, value),
        AnalystQuestion("rate", other, outcome, value),
        AnalystQuestion("count", "education"),
        AnalystQuestion("count", "marital"),
        AnalystQuestion("mean", "education", number),
        AnalystQuestion("rate", "age", outcome, value, [30, 45, 60]),
        AnalystQuestion("mean", outcome, "age"),
        AnalystQuestion("mean", "marital", "age"),
    ]


_ADULT = Schema(["age", "workclass", "education", "marital", "race", "sex"], ["class", "hours"])
_ACS = Schema(["age", "gender", "education", "marital", "race", "workclass"], ["high", "income"])

CASES = (
    AnalystCase("hospital", hospital_schema(), 5, _HOSPITAL, {"strength": 1.0, "patients": 0.7}),
    AnalystCase("hospital, strong associations", hospital_schema(), 5, _HOSPITAL, {"strength": 2.0, "patients": 0.4}),
    AnalystCase("hospital, no associations", hospital_schema(), 10, _HOSPITAL, {"strength": 0.0, "patients": 0.7}),
    AnalystCase("adult, k = 5", _ADULT, 5, _census("class", ">50K", "hours", "race")),
    AnalystCase("adult, k = 20", _ADULT, 20, _census("class", ">50K", "hours", "race")),
    AnalystCase("acs, k = 10", _ACS, 10, _census("high", "yes", "income", "workclass")),
)


def _adult() -> pd.DataFrame | None:
    path = data_file("adult", "adult_raw_32561.csv")
    if path is None:
        return None
    names = {"marital-status": "marital", "hours-per-week": "hours", "income": "class"}
    frame = pd.read_csv(path, skipinitialspace=True).rename(columns=names)
    return frame[["age", "workclass", "education", "marital", "race", "sex", "hours", "class"]]


def _acs() -> pd.DataFrame | None:
    path = data_file("acs2018", "sal_occ.csv.gz")
    if path is None:
        return None
    frame = pd.read_csv(path)
    frame["high"] = np.where(frame["income"] > frame["income"].median(), "yes", "no")
    return frame[["age", "gender", "education", "marital", "race", "workclass", "high", "income"]]

"""Risk and CPU time of disclosure rules that generalize, beside those that withhold.

Records are a sample of a table, and the whole table is the dictionary: an attacker who knows everybody. Every attribute
weighs 1. A rule that generalizes discloses information of as many values per record as one that withholds discloses values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.datasets.survey import adult_folder, survey_folder
from benchmarks.measurement import Notify, cpu_seconds, silent
from sfumato.census import census_schema, synthetic_census
from sfumato.data.schema import Schema
from sfumato.disclosure import Dictionary, WithheldRelease, withhold
from sfumato.io.read_csv import read_csv

_CENSUS_ROWS = 30_000
_ID = "person"


def run(records: int, seed: int = 0, notify: Notify = silent) -> dict[str, Any]:
    """Find both rules for each number of values and each table; `notify` receives the progress."""
    runs = []
    for source, (data, schema) in _sources().items():
        names = list(schema.quasi_identifiers)
        everybody = data.append_column(_ID, pa.array(np.arange(data.num_rows)))
        dictionary = Dictionary(everybody, identity=_ID, name="everybody")
        chosen = np.sort(np.random.default_rng(seed).permutation(data.num_rows)[:records])
        some = everybody.take(pa.array(chosen))
        _found(some.slice(0, 20), schema, dictionary, 1, names)  # compiles the kernels
        for cells in range(1, len(names)):
            notify(f"{source}, {cells} of {len(names)} values")
            runs.append({"source": source, "records": some.num_rows, "individuals": data.num_rows, "values": cells})
            runs[-1] |= _compare(some, schema, dictionary, cells)
    return {"runs": runs}


def _compare(some: pa.Table, schema: Schema, dictionary: Dictionary, cells: int) -> dict[str, Any]:
    names = list(schema.quasi_identifiers)
    withhold_seconds, withheld = cpu_seconds(lambda: _found(some, schema, dictionary, cells, []))
    seconds, generalized = cpu_seconds(lambda: _found(some, schema, dictionary, cells, names))
    return {
        "risk, withholding": withheld.risk.risk,
        "risk, generalizing": generalized.risk.risk,
        "one match, withholding": withheld.risk.attackers[0].unique,
        "one match, generalizing": generalized.risk.attackers[0].unique,
        "withheld cells": generalized.withheld_cells,
        "generalized cells": generalized.generalized_cells,
        "exact": withheld.rule.exact and generalized.rule.exact,
        "CPU s, withholding": round(withhold_seconds, 2),
        "CPU s, generalizing": round(seconds, 2),
    }


def _found(some: pa.Table, schema: Schema, dictionary: Dictionary, cells: int, generalize: list[str]) -> WithheldRelease:
    return withhold(
        some, schema, dictionary, cells, attributes=schema.quasi_identifiers, identity=_ID, generalize=generalize, seed=0
    )


def _sources() -> dict[str, tuple[pa.Table, Schema]]:
    """Return Adult and the survey with their hierarchies, or the synthetic census where both are absent."""
    sources = {}
    adult, survey = adult_folder(), survey_folder()
    if adult is not None:
        data = read_csv(adult / "adult_30162.csv", ";").data
        files = {name: adult / "hierarchies" / f"{name}.csv" for name in data.column_names}
        sources["Adult"] = data, Schema(data.column_names, identifiers=[_ID], hierarchies=files)
    if survey is not None:
        data = read_csv(survey / "sal_occ.csv.gz", ",").data
        names = ["age", "gender", "education", "marital", "race", "workclass", "birthplace", "occupation"]
        files = {name: survey / "hierarchies" / f"{name}.csv" for name in names}
        sources["survey"] = data.select(names), Schema(names, identifiers=[_ID], hierarchies=files)
    if not sources:
        names = ["age", "sex", "marital", "race", "workclass"]
        trees = {name: census_schema().hierarchies[name] for name in names}
        sources["synthetic census"] = (
            synthetic_census(_CENSUS_ROWS).select(names),
            Schema(names, identifiers=[_ID], hierarchies=trees),
        )
    return sources

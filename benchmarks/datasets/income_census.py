"""The table with several sensitive attributes that projections are measured on, as in Fang, Ashrafi & Ng (2011), Section 7.

It is `census_income_kdd/census_income_train.csv.gz` below SFUMATO_DATA. The paper discards "tuples with missing or unknown
values" and keeps 98,839 of 199,523. That is exactly the number of rows whose `major_industry` is not "Not in universe or
children": people who work or have worked recently. Cells with "?" occur in other columns, so the paper does not mean those.

The four derived attributes of household status are read from the labels of `hh_family_detail`, as a set:

- `married`: the label contains "ever marr" or "spouse". The label of a householder does not say, so householders do not
  have it;
- `18-`: the label contains "<18" or "under 18";
- `descendent`: the label begins with "Child" or "Grandchild";
- `subfamily`: the label contains "subfamily" and does not contain "not in (a) subfamily".

The paper does not give its hierarchies. Ours are: age in intervals of 5, 10, 20 and 40 years; race unchanged, then white,
black or other, then white or other; citizenship unchanged, then native, naturalised or no citizen, then native or foreign;
sex unchanged. The top of each hierarchy is "*". That makes 192 transformations. If the file is absent, the synthetic census
replaces it, with six sensitive attributes made from its columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.datasets import data_file
from sfumato.census import RACE, synthetic_census
from sfumato.data.hierarchy import Flat, Hierarchy, Intervals
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.io.read_csv import read_csv

NOT_WORKING = "Not in universe or children"
"""The industry of people who do not work, whose rows the paper must have discarded."""

_PLAIN = (
    "class_of_worker",
    "education",
    "major_industry",
    "employment_stat",
    "own_business",
    "income_class",
    "major_occupation",
)
_AMOUNTS = ("wage_per_hour", "dividends", "capital_gains", "capital_losses")
_SET = "household"

_RACES = {
    "White": ("white", "white"),
    "Black": ("black", "other than white"),
    "Amer Indian Aleut or Eskimo": ("other", "other than white"),
    "Asian or Pacific Islander": ("other", "other than white"),
    "Other": ("other", "other than white"),
}
_CITIZENSHIPS = {
    "Native- Born in the United States": ("native", "born a citizen"),
    "Native- Born abroad of American Parent(s)": ("native", "born a citizen"),
    "Native- Born in Puerto Rico or U S Outlying": ("native", "born a citizen"),
    "Foreign born- U S citizen by naturalization": ("naturalised", "foreign"),
    "Foreign born- Not a citizen of U S": ("no citizen", "foreign"),
}


@dataclass(frozen=True, eq=False)
class IncomeCensus:
    """A table with several sensitive attributes, before its sets are encoded as bits."""

    source: str
    table: Table
    sets: tuple[str, ...]
    """The set-valued attributes."""


def income_census(rows: int | None = None) -> IncomeCensus:
    """Return the table, or its synthetic replacement; `rows` limits it to its first rows."""
    path = data_file("census_income_kdd", "census_income_train.csv.gz")
    if path is None:
        return IncomeCensus("synthetic census", _synthetic(5000 if rows is None else rows), ("household",))
    data = _read(path)
    working = data.filter(pc.not_equal(data["major_industry"], NOT_WORKING)).slice(0, rows)
    columns = {name: working[name] for name in ("age", "race", "sex", "citizenship", *_PLAIN)}
    for name in _AMOUNTS:
        positive = pc.greater(pc.cast(working[name], pa.float64()), 0)
        columns[name] = pc.if_else(positive, ">0", "0")
    columns[_SET] = pa.array([sorted(household(label)) for label in working["hh_family_detail"].to_pylist()])
    schema = Schema(
        ["age", "race", "sex", "citizenship"],
        [*_PLAIN, *_AMOUNTS, _SET],
        kinds={"age": "numeric", **dict.fromkeys([*_PLAIN, *_AMOUNTS], "categorical"), _SET: "set"},
        hierarchies={
            "age": Intervals((5, 10, 20, 40)),
            "race": Hierarchy.from_rows([leaf, *nodes, "*"] for leaf, nodes in _RACES.items()),
            "sex": Flat(),
            "citizenship": Hierarchy.from_rows([leaf, *nodes, "*"] for leaf, nodes in _CITIZENSHIPS.items()),
        },
    )
    return IncomeCensus("census_income_kdd", Table(pa.table(columns), schema, untyped=True), (_SET,))


def household(label: str) -> frozenset[str]:
    """Return the household attributes that a label of `hh_family_detail` states.

    >>> sorted(household("Grandchild <18 never marr child of subfamily RP"))
    ['18-', 'descendent', 'subfamily']
    >>> sorted(household("Child 18+ ever marr Not in a subfamily")), sorted(household("Spouse of householder"))
    (['descendent', 'married'], ['married'])
    """
    text = label.lower()
    attributes = {
        "married": "spouse" in text or re.search(r"\bever marr", text) is not None,
        "18-": "<18" in text or "under 18" in text,
        "descendent": text.startswith(("child", "grandchild")),
        "subfamily": "subfamily" in text and re.search(r"not in (a )?subfamily", text) is None,
    }
    return frozenset(name for name, applies in attributes.items() if applies)


@cache
def _read(path: Path) -> pa.Table:
    return read_csv(path).data.combine_chunks()


def _synthetic(rows: int) -> Table:
    """Return the synthetic census with three quasi-identifiers and six sensitive attributes, two of them in one set."""
    data = synthetic_census(rows)
    income = data["income"].to_numpy()
    education = data["education"].to_pylist()
    columns = {
        **{name: data[name] for name in ("age", "sex", "race", "education", "workclass")},
        "income": pa.array([f"tenth {int(each)}" for each in _deciles(income)]),
        "graduate": pa.array(
            ["yes" if each in ("bachelor", "master", "professional", "doctorate") else "no" for each in education]
        ),
        "household": pa.array(
            [_household_of(*each) for each in zip(data["marital"].to_pylist(), data["age"].to_pylist(), strict=True)]
        ),
    }
    sensitive = ["education", "workclass", "income", "graduate", "household"]
    schema = Schema(
        ["age", "sex", "race"],
        sensitive,
        kinds={"age": "numeric", **dict.fromkeys(sensitive, "categorical"), "household": "set"},
        hierarchies={
            "age": Intervals((5, 10, 20, 40)),
            "sex": Flat(),
            "race": Hierarchy.from_rows([leaf, node, "*"] for leaf, node in RACE.items()),
        },
    )
    return Table(pa.table(columns), schema)


def _deciles(numbers: Sequence[int]) -> Sequence[int]:
    """Return the decile of each number, from 1 to 10."""
    order = np.argsort(np.argsort(numbers, kind="stable"), kind="stable")
    return list(1 + 10 * order // len(order))


def _household_of(marital: str, age: int) -> list[str]:
    return [name for name, applies in (("married", marital.startswith("married")), ("18-", int(age) < 18)) if applies]

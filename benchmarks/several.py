"""The table with several sensitive attributes that projections are measured on: the schema of paper 004, Section 7.

It is `census_income_kdd/census_income_train.csv.gz` below SFUMATO_DATA. The paper discards "tuples with missing or unknown
values", and 98,839 of 199,523 are left. That is exactly the number of rows whose `major_industry` is not "Not in universe or
children": people who work or have worked lately. Cells with "?" stand in other columns, and are not what is meant.

The four derived attributes of household status are read from the labels of `hh_family_detail`, as a set:

- `married`: the label says "ever marr" or "spouse"; householders, of whom it does not tell, are not;
- `18-`: it says "<18" or "under 18";
- `descendent`: it begins with "Child" or "Grandchild";
- `subfamily`: it says "subfamily", and not "not in (a) subfamily".

The paper does not give its hierarchies. Ours: age in intervals of 5, 10, 20 and 40 years; race as it stands, white, black or
other, white or other; citizenship as it stands, native, naturalised or no citizen, native or foreign; sex; and each at last
as anything. That makes 192 transformations. Where the file is absent the synthetic census stands in, with six secrets made
from its columns.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.census import RACE, synthetic_census
from sfumato.data.hierarchy import Flat, Hierarchy, Intervals
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.io.read_csv import read_csv

NOT_WORKING = "Not in universe or children"
"""The industry of people who do not work: rows that the paper must have discarded."""

_PLAIN = ("class_of_worker", "education", "major_industry", "employment_stat", "own_business", "income_class")
_LAST = ("major_occupation",)
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
class Several:
    """A table with several sensitive attributes, its sets not yet taken apart."""

    source: str
    table: Table
    sets: tuple[str, ...]
    """The set-valued ones."""


def several(rows: int | None = None) -> Several:
    """The table of paper 004, or what stands in for it; `rows`: only the first so many."""
    path = kdd_file()
    if path is None:
        return Several("synthetic census", _stand_in(5000 if rows is None else rows), ("household",))
    data = _read(path)
    working = data.filter(pc.not_equal(data["major_industry"], NOT_WORKING)).slice(0, rows)
    columns = {name: working[name] for name in ("age", "race", "sex", "citizenship", *_PLAIN, *_LAST)}
    for name in _AMOUNTS:
        some = pc.greater(pc.cast(working[name], pa.float64()), 0)
        columns[name] = pc.if_else(some, ">0", "0")
    columns[_SET] = pa.array([sorted(household(label)) for label in working["hh_family_detail"].to_pylist()])
    schema = Schema(
        ["age", "race", "sex", "citizenship"],
        [*_PLAIN, *_LAST, *_AMOUNTS, _SET],
        kinds={"age": "numeric", **dict.fromkeys([*_PLAIN, *_LAST, *_AMOUNTS], "categorical"), _SET: "set"},
        hierarchies={
            "age": Intervals((5, 10, 20, 40)),
            "race": Hierarchy.from_rows([leaf, *nodes, "*"] for leaf, nodes in _RACES.items()),
            "sex": Flat(),
            "citizenship": Hierarchy.from_rows([leaf, *nodes, "*"] for leaf, nodes in _CITIZENSHIPS.items()),
        },
    )
    return Several("census_income_kdd", Table(pa.table(columns), schema, untyped=True), (_SET,))


def household(label: str) -> frozenset[str]:
    """What a label of `hh_family_detail` says of a person's place in the household.

    >>> sorted(household("Grandchild <18 never marr child of subfamily RP"))
    ['18-', 'descendent', 'subfamily']
    >>> sorted(household("Child 18+ ever marr Not in a subfamily")), sorted(household("Spouse of householder"))
    (['descendent', 'married'], ['married'])
    """
    text = label.lower()
    says = {
        "married": "spouse" in text or re.search(r"\bever marr", text) is not None,
        "18-": "<18" in text or "under 18" in text,
        "descendent": text.startswith(("child", "grandchild")),
        "subfamily": "subfamily" in text and re.search(r"not in (a )?subfamily", text) is None,
    }
    return frozenset(name for name, said in says.items() if said)


def kdd_file() -> Path | None:
    """Where the file is; None if it is not there."""
    home = os.environ.get("SFUMATO_DATA")
    path = Path(home, "census_income_kdd", "census_income_train.csv.gz") if home else None
    return path if path is not None and path.exists() else None


@cache
def _read(path: Path) -> pa.Table:
    return read_csv(path).data.combine_chunks()


def _stand_in(rows: int) -> Table:
    """The synthetic census with age, sex and race as quasi-identifiers and six secrets, two of them in a set."""
    data = synthetic_census(rows)
    income = data["income"].to_numpy()
    education = data["education"].to_pylist()
    columns = {
        **{name: data[name] for name in ("age", "sex", "race", "education", "workclass")},
        "income": pa.array([f"tenth {int(each)}" for each in _tenths(income)]),
        "graduate": pa.array(
            ["yes" if each in ("bachelor", "master", "professional", "doctorate") else "no" for each in education]
        ),
        "household": pa.array(
            [_family(*each) for each in zip(data["marital"].to_pylist(), data["age"].to_pylist(), strict=True)]
        ),
    }
    secrets = ["education", "workclass", "income", "graduate", "household"]
    schema = Schema(
        ["age", "sex", "race"],
        secrets,
        kinds={"age": "numeric", **dict.fromkeys(secrets, "categorical"), "household": "set"},
        hierarchies={
            "age": Intervals((5, 10, 20, 40)),
            "sex": Flat(),
            "race": Hierarchy.from_rows([leaf, node, "*"] for leaf, node in RACE.items()),
        },
    )
    return Table(pa.table(columns), schema)


def _tenths(numbers: Sequence[int]) -> Sequence[int]:
    """Each number's tenth of all, from 1."""
    order = np.argsort(np.argsort(numbers, kind="stable"), kind="stable")
    return list(1 + 10 * order // len(order))


def _family(marital: str, age: int) -> list[str]:
    return [name for name, so in (("married", marital.startswith("married")), ("18-", int(age) < 18)) if so]

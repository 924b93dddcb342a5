"""The settings that methods are compared on: a table, the principles that are wished for, and the project's own goals.

The survey is `acs2018/sal_occ.csv.gz` below SFUMATO_DATA: its first rows in the order of one fixed permutation, so that a
smaller table is a sample of a larger one. Where it is absent the synthetic census stands in for the first setting.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa

from sfumato.census import census_schema, synthetic_census
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.distances import Absolute, Lp, Taxonomy
from sfumato.errors import FileError
from sfumato.exact import Number
from sfumato.io.read_csv import read_csv
from sfumato.principles import Dissimilarity, DistinctLDiversity, KAnonymity, Principle, TCloseness

SURVEY_ROWS = 295_243
"""The rows of the survey."""

_PERMUTATION = 0
_WEIGHTS = ("0.4", "0.2", "0.4")
"""Of education, work class and income."""


@dataclass(frozen=True, eq=False)
class Setting:
    """A table and the principles that every group of it is to satisfy."""

    name: str
    source: str
    """Where the table comes from."""
    table: Table
    principles: tuple[Principle, ...]
    normalised: bool = False
    """Whether the loss to look at is `normalised_loss`, which other tools report, and not `mean_loss`."""

    @property
    def wish(self) -> str:
        """The principles in words."""
        return " + ".join(principle.label for principle in self.principles)

    def wishing(self, *principles: Principle, name: str | None = None) -> Setting:
        """The same table, its columns encoded but once, with other principles."""
        return replace(self, principles=principles, name=name or self.name)


def survey_folder() -> Path | None:
    """Where the survey is; None if it is not there."""
    return _below("acs2018", "sal_occ.csv.gz")


def adult_folder() -> Path | None:
    """Where the Adult table is; None if it is not there."""
    return _below("adult", "adult_30162.csv")


def composite(rows: int, p: int = 1) -> Setting:
    """S1: education, work class and income as one composite secret under L^p; ε = 0.1, δ = 0.8, k = 10.

    Quasi-identifiers: age as intervals; sex, marital status and race by their hierarchies. As paper 001, Section VI.
    """
    wish = Dissimilarity("0.1", "0.8", 10)
    folder = survey_folder()
    if folder is None:
        declared = census_schema()
        plain = {name: tree for name, tree in declared.hierarchies.items() if name not in ("age", "workclass")}
        columns = ("education", "workclass", "income")
        schema = replace(declared, hierarchies=plain, distance=_lp(p, columns))
        return Setting("S1", "synthetic census", Table(synthetic_census(rows), schema), (wish,))
    quasi, secret = ["age", "gender", "marital", "race"], ("education", "workclass", "income50")
    schema = Schema(
        quasi,
        secret,
        kinds={"age": "numeric", "workclass": "categorical", "income50": "numeric"},
        orders={"education": _codebook(folder, "education")},
        hierarchies=_trees(folder, quasi[1:]),
        distance=_lp(p, secret),
    )
    return Setting("S1", "sal_occ", _survey(folder, schema, rows), (wish,))


def hard(rows: int) -> Setting:
    """S1 with ε = 0.15, δ = 0.9 and k = 21, where the bounds promise nothing."""
    return composite(rows).wishing(Dissimilarity("0.15", "0.9", 21), name="hard")


def occupation(rows: int) -> Setting:
    """S3o: occupation under the distance of its taxonomy, seven quasi-identifiers; ε = 0.25, δ = 0.8, k = 10."""
    folder = _needed(survey_folder(), "acs2018/sal_occ.csv.gz")
    schema = Schema(
        _SEVEN,
        ["occupation"],
        kinds={"age": "numeric"},
        hierarchies=_trees(folder, [*_SEVEN[1:], "occupation"]),
        distance=Taxonomy(),
    )
    return Setting("S3o", "sal_occ", _survey(folder, schema, rows), (Dissimilarity("0.25", "0.8", 10),))


def income(rows: int) -> Setting:
    """S3i: income in dollars, the same seven quasi-identifiers; ε = 5,000, δ = 0.8, k = 10."""
    folder = _needed(survey_folder(), "acs2018/sal_occ.csv.gz")
    schema = Schema(
        _SEVEN,
        ["income"],
        kinds={"age": "numeric", "income": "numeric"},
        hierarchies=_trees(folder, _SEVEN[1:]),
        distance=Absolute(),
    )
    return Setting("S3i", "sal_occ", _survey(folder, schema, rows), (Dissimilarity(5000, "0.8", 10),))


def adult(rows: int | None = None) -> list[Setting]:
    """The Adult table with the hierarchies that other tools use, and three wishes that those can be asked too.

    All columns but occupation are quasi-identifiers. Age is published as intervals, over the 99 years that its hierarchy
    spans. `rows`: only the first so many.
    """
    folder = _needed(adult_folder(), "adult/adult_30162.csv")
    data = read_csv(folder / "adult_30162.csv", ";").data
    quasi = [name for name in data.column_names if name != "occupation"]
    schema = Schema(
        quasi,
        ["occupation"],
        kinds={"age": "numeric"},
        recodings={"age": "interval"},
        hierarchies=_trees(folder, data.column_names),
    )
    table = Table(data.slice(0, rows), schema, untyped=True)
    base = Setting("adult k", "adult_30162", table, (KAnonymity(5),), normalised=True)
    return [
        base,
        base.wishing(KAnonymity(5), DistinctLDiversity(3, on="occupation"), name="adult k, l"),
        base.wishing(KAnonymity(5), TCloseness("0.2", "hierarchical", on="occupation"), name="adult k, t"),
    ]


_SEVEN = ["age", "gender", "education", "marital", "race", "workclass", "birthplace"]


def _lp(p: int, columns: Sequence[str]) -> Lp:
    education, _, earned = columns
    weights: dict[str, Number] = dict(zip(columns, _WEIGHTS, strict=True))
    return Lp(p=p, weights=weights, by={education: "rank", earned: "rank"})


def _survey(folder: Path, schema: Schema, rows: int) -> Table:
    data = _read(folder / "sal_occ.csv.gz")
    names = [name for name in data.column_names if name in schema.named_columns()]
    chosen = np.random.default_rng(_PERMUTATION).permutation(data.num_rows)[:rows]
    return Table(data.select(names).take(pa.array(chosen)), schema, untyped=True)


@cache
def _read(path: Path) -> pa.Table:
    return read_csv(path).data.combine_chunks()


def _codebook(folder: Path, column: str) -> list[str]:
    """A column's labels in the order of their codes."""
    with (folder / "codebook.csv").open(encoding="utf-8", newline="") as file:
        lines = [line for line in csv.DictReader(file) if line["column"] == column]
    return [line["label"] for line in sorted(lines, key=lambda line: int(line["code"]))]


def _trees(folder: Path, columns: Sequence[str]) -> dict[str, Path]:
    return {name: folder / "hierarchies" / f"{name}.csv" for name in columns}


def _below(name: str, file: str) -> Path | None:
    home = os.environ.get("SFUMATO_DATA")
    folder = Path(home) / name if home else None
    return folder if folder is not None and (folder / file).exists() else None


def _needed(folder: Path | None, file: str) -> Path:
    if folder is None:
        raise FileError(
            "this setting needs real microdata, which is not there",
            remedy="Point SFUMATO_DATA at the folder that holds it.",
            file=file,
        )
    return folder

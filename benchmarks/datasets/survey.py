"""Settings that methods are compared on: a table and the requirements for it.

The survey is `acs2018/sal_occ.csv.gz` below SFUMATO_DATA: its first rows in the order of one fixed permutation, so that a
smaller table is a sample of a larger one; a table of more rows is drawn from it with replacement. If it is absent, the
synthetic census replaces it in the first setting. The Adult table is `adult/adult_30162.csv`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks.datasets import data_file, required_data_file
from sfumato.census import census_schema, synthetic_census
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.distances import Absolute, Lp, Taxonomy
from sfumato.exact import Number
from sfumato.io.read_csv import read_csv
from sfumato.principles import Dissimilarity, DistinctLDiversity, KAnonymity, Principle, TCloseness

SURVEY_ROWS = 295_243
"""The number of rows of the survey."""

_SURVEY = ("acs2018", "sal_occ.csv.gz")
_ADULT = ("adult", "adult_30162.csv")
_PERMUTATION_SEED = 0
_WEIGHTS = ("0.4", "0.2", "0.4")
"""The weights of education, work class and income in the distance."""
_SEVEN = ["age", "gender", "education", "marital", "race", "workclass", "birthplace"]
"""The quasi-identifiers of S3o and S3i."""


@dataclass(frozen=True, eq=False)
class Setting:
    """A table and the principles that every group must satisfy."""

    name: str
    source: str
    """The origin of the table."""
    table: Table
    principles: tuple[Principle, ...]
    normalised: bool = False
    """Whether to report `normalised_loss`, as other tools do, instead of `mean_loss`."""

    @property
    def requirements(self) -> str:
        """The labels of the principles."""
        return " + ".join(principle.label for principle in self.principles)

    def with_principles(self, *principles: Principle, name: str | None = None) -> Setting:
        """Return the same table with other principles; its encoded columns are shared."""
        return replace(self, principles=principles, name=name or self.name)


def survey_folder() -> Path | None:
    """Return the folder of the survey, or None if it is absent."""
    file = data_file(*_SURVEY)
    return None if file is None else file.parent


def adult_folder() -> Path | None:
    """Return the folder of the Adult table, or None if it is absent."""
    file = data_file(*_ADULT)
    return None if file is None else file.parent


def composite(rows: int, p: int = 1) -> Setting:
    """S1: education, work class and income as one composite sensitive value under L^p; ε = 0.1, δ = 0.8, k = 10.

    The quasi-identifiers are age as intervals, and sex, marital status and race with their hierarchies, as in Wang & Liu
    (2010), Section VI.
    """
    requirement = Dissimilarity("0.1", "0.8", 10)
    folder = survey_folder()
    if folder is None:
        full = census_schema()
        hierarchies = {name: tree for name, tree in full.hierarchies.items() if name not in ("age", "workclass")}
        columns = ("education", "workclass", "income")
        schema = replace(full, hierarchies=hierarchies, recodings=_ancestors(hierarchies), distance=_lp(p, columns))
        return Setting("S1", "synthetic census", Table(synthetic_census(rows), schema), (requirement,))
    quasi_identifiers, sensitive = ["age", "gender", "marital", "race"], ("education", "workclass", "income50")
    schema = Schema(
        quasi_identifiers,
        sensitive,
        kinds={"age": "numeric", "workclass": "categorical", "income50": "numeric"},
        orders={"education": _codebook(folder, "education")},
        hierarchies=_hierarchy_files(folder, quasi_identifiers[1:]),
        recodings=_ancestors(quasi_identifiers[1:]),
        distance=_lp(p, sensitive),
    )
    return Setting("S1", "sal_occ", _survey(folder, schema, rows), (requirement,))


def hard(rows: int) -> Setting:
    """S1 with ε = 0.15, δ = 0.9 and k = 21, where no bound guarantees a solution."""
    return composite(rows).with_principles(Dissimilarity("0.15", "0.9", 21), name="hard")


def occupation(rows: int) -> Setting:
    """S3o: occupation under its taxonomy distance, seven quasi-identifiers; ε = 0.25, δ = 0.8, k = 10."""
    folder = required_data_file(*_SURVEY).parent
    schema = Schema(
        _SEVEN,
        ["occupation"],
        kinds={"age": "numeric"},
        hierarchies=_hierarchy_files(folder, [*_SEVEN[1:], "occupation"]),
        recodings=_ancestors(_SEVEN[1:]),
        distance=Taxonomy(),
    )
    return Setting("S3o", "sal_occ", _survey(folder, schema, rows), (Dissimilarity("0.25", "0.8", 10),))


def income(rows: int) -> Setting:
    """S3i: income in dollars, the same seven quasi-identifiers; ε = 5,000, δ = 0.8, k = 10."""
    folder = required_data_file(*_SURVEY).parent
    schema = Schema(
        _SEVEN,
        ["income"],
        kinds={"age": "numeric", "income": "numeric"},
        hierarchies=_hierarchy_files(folder, _SEVEN[1:]),
        recodings=_ancestors(_SEVEN[1:]),
        distance=Absolute(),
    )
    return Setting("S3i", "sal_occ", _survey(folder, schema, rows), (Dissimilarity(5000, "0.8", 10),))


def adult(rows: int | None = None) -> list[Setting]:
    """Return the Adult table with the hierarchies that other tools use, and three requirements that they support too.

    All columns except occupation are quasi-identifiers. Age is published as intervals, normalised by the 99 years that its
    hierarchy spans. `rows` limits the table to its first rows.
    """
    file = required_data_file(*_ADULT)
    data = read_csv(file, ";").data
    schema = Schema(
        [name for name in data.column_names if name != "occupation"],
        ["occupation"],
        kinds={"age": "numeric"},
        recodings=_ancestors(set(data.column_names) - {"occupation"}) | {"age": "interval"},
        hierarchies=_hierarchy_files(file.parent, data.column_names),
    )
    table = Table(data.slice(0, rows), schema, untyped=True)
    base = Setting("adult k", "adult_30162", table, (KAnonymity(5),), normalised=True)
    return [
        base,
        base.with_principles(KAnonymity(5), DistinctLDiversity(3, on="occupation"), name="adult k, l"),
        base.with_principles(KAnonymity(5), TCloseness("0.2", "hierarchical", on="occupation"), name="adult k, t"),
    ]


def _lp(p: int, columns: Sequence[str]) -> Lp:
    education, _, earnings = columns
    weights: dict[str, Number] = dict(zip(columns, _WEIGHTS, strict=True))
    return Lp(p=p, weights=weights, by={education: "rank", earnings: "rank"})


def _survey(folder: Path, schema: Schema, rows: int) -> Table:
    data = _read(folder / "sal_occ.csv.gz")
    names = [name for name in data.column_names if name in schema.named_columns()]
    draw = np.random.default_rng(_PERMUTATION_SEED)
    # more rows than the survey has are drawn with replacement
    enough = rows <= data.num_rows
    sample = draw.permutation(data.num_rows)[:rows] if enough else draw.integers(0, data.num_rows, rows)
    return Table(data.select(names).take(pa.array(sample)), schema, untyped=True)


@cache
def _read(path: Path) -> pa.Table:
    return read_csv(path).data.combine_chunks()


def _codebook(folder: Path, column: str) -> list[str]:
    """Return the labels of a column in the order of their codes."""
    with (folder / "codebook.csv").open(encoding="utf-8", newline="") as file:
        lines = [line for line in csv.DictReader(file) if line["column"] == column]
    return [line["label"] for line in sorted(lines, key=lambda line: int(line["code"]))]


def _ancestors(columns: Iterable[str]) -> dict[str, str]:
    """Publish columns as nodes of their hierarchies, as the papers and the other tools do; sets would lose less."""
    return dict.fromkeys(sorted(columns), "ancestor")


def _hierarchy_files(folder: Path, columns: Sequence[str]) -> dict[str, Path]:
    return {name: folder / "hierarchies" / f"{name}.csv" for name in columns}

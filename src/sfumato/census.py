"""A synthetic census for examples: no real people, but realistic correlations.

The columns are those of Wang & Liu (2010), Table III: age, sex, marital status and race as quasi-identifiers; education,
work class and income (in 50 bins) as a composite sensitive attribute.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.hierarchy import Hierarchy, Intervals
from sfumato.data.schema import Schema
from sfumato.distances import Lp

EDUCATION = (
    "no schooling", "nursery", "grade 1-4", "grade 5-6", "grade 7-8", "grade 9", "grade 10", "grade 11",
    "grade 12", "high school", "some college", "associate, vocational", "associate, academic", "bachelor", "master",
    "professional", "doctorate",
)  # fmt: skip
"""17 levels, from lowest to highest."""

MARITAL = {
    "married": "has spouse",
    "married, absent": "has spouse",
    "separated": "no spouse",
    "divorced": "no spouse",
    "widowed": "no spouse",
    "never married": "no spouse",
}

RACE = {
    "white": "white",
    "black": "black",
    "american indian": "indigenous",
    "alaska native": "indigenous",
    "chinese": "asian",
    "japanese": "asian",
    "other asian": "asian",
    "other": "other or mixed",
    "two or more": "other or mixed",
}

WORKCLASS = {
    "private for-profit": ("private", "employee", "working"),
    "private non-profit": ("private", "employee", "working"),
    "local government": ("government", "employee", "working"),
    "state government": ("government", "employee", "working"),
    "federal government": ("government", "employee", "working"),
    "self-employed, own": ("self-employed", "independent", "working"),
    "self-employed, incorporated": ("self-employed", "independent", "working"),
    "family worker": ("unpaid", "independent", "working"),
    "unemployed": ("seeking", "without work", "not working"),
    "never worked": ("not seeking", "without work", "not working"),
}

OLDEST, YOUNGEST, BINS = 99, 15, 50


def census_schema() -> Schema:
    """Return the schema of the synthetic census, with its hierarchies and the distance of Wang & Liu (2010).

    >>> census_schema().sensitive
    ('education', 'workclass', 'income')
    """
    return Schema(
        quasi_identifiers=["age", "sex", "marital", "race"],
        sensitive=["education", "workclass", "income"],
        kinds={"age": "numeric", "income": "numeric"},
        orders={"education": EDUCATION},
        hierarchies={
            "age": Intervals((5, 10, 20, 40)),
            "sex": Hierarchy.from_rows([["female", "*"], ["male", "*"]]),
            "marital": Hierarchy.from_rows([[leaf, node, "*"] for leaf, node in MARITAL.items()]),
            "race": Hierarchy.from_rows([[leaf, node, "*"] for leaf, node in RACE.items()]),
            "workclass": Hierarchy.from_rows([[leaf, *nodes, "*"] for leaf, nodes in WORKCLASS.items()]),
        },
        distance=Lp(p=1, weights={"education": "0.4", "workclass": "0.2", "income": "0.4"}, by={"income": "rank"}),
    )


def synthetic_census(rows: int = 50_000, seed: int = 0) -> pa.Table:
    """Make a census of `rows` people; the same seed gives the same people.

    Marital status depends on age, education on age and generation, work on education and age, and income on all of these
    and on chance.

    >>> synthetic_census(3, seed=1).column_names
    ['age', 'sex', 'marital', 'race', 'education', 'workclass', 'income']
    """
    random = np.random.default_rng(seed)
    age = _ages(random, rows)
    male = random.random(rows) < 0.5 - 0.003 * np.clip(age - 60, 0, 40)
    race = random.choice(len(RACE), rows, p=[0.68, 0.12, 0.008, 0.002, 0.015, 0.005, 0.06, 0.06, 0.05])
    marital = _marital(random, age, male)
    education = _education(random, age, race)
    workclass = _workclass(random, age, education)
    income = _income(random, age, male, marital, education, workclass)
    return pa.table(
        {
            "age": age,
            "sex": _labels(male.astype(np.int64), ("female", "male")),
            "marital": _labels(marital, tuple(MARITAL)),
            "race": _labels(race, tuple(RACE)),
            "education": _labels(education, EDUCATION),
            "workclass": _labels(workclass, tuple(WORKCLASS)),
            "income": income,
        }
    )


def _labels(codes: NDArray[np.int64], labels: tuple[str, ...]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), list(labels)).cast(pa.string())


def _ages(random: np.random.Generator, rows: int) -> NDArray[np.int64]:
    years = np.arange(YOUNGEST, OLDEST + 1)
    weight = 1 / (1 + np.exp((years - 72) / 8.0))
    return np.asarray(random.choice(years, rows, p=weight / weight.sum()))


def _marital(random: np.random.Generator, age: NDArray[np.int64], male: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Draw the marital status: the probability of ever having married grows with age."""
    ever = random.random(len(age)) < 0.9 / (1 + np.exp(-(age - 27 - 2 * male) / 4.5)) - 0.04
    widowed = random.random(len(age)) < np.clip(age - 50, 0, 50) / 50 * np.where(male, 0.25, 0.6)
    ended = random.random(len(age)) < np.clip(age - 22, 0, 40) / 40 * 0.28
    state = random.choice([0, 1, 2], len(age), p=[0.95, 0.03, 0.02])
    return np.where(~ever, 5, np.where(widowed, 4, np.where(ended, 3, state)))


def _education(random: np.random.Generator, age: NDArray[np.int64], race: NDArray[np.int64]) -> NDArray[np.int64]:
    """Draw a latent inclination to school, lower in older generations, limited by the years possible at that age."""
    group = np.array([0.0, -0.35, -0.5, -0.5, 0.6, 0.6, 0.4, -0.7, 0.0])[race]
    bent = random.normal(size=len(age)) + group - 0.018 * np.clip(age - 40, 0, 60)
    cuts = [-3.0, -2.8, -2.6, -2.4, -2.1, -1.9, -1.7, -1.5, -1.35, -0.15, 0.35, 0.48, 0.65, 1.35, 2.0, 2.3]
    reached = np.searchsorted(cuts, bent)
    return np.asarray(
        np.minimum(reached, np.select([age < 16, age < 18, age < 20, age < 22, age < 25], [6, 8, 10, 12, 13], 16))
    )


def _workclass(random: np.random.Generator, age: NDArray[np.int64], education: NDArray[np.int64]) -> NDArray[np.int64]:
    """Draw by scores plus Gumbel noise, that is, from the softmax of scores by age and schooling."""
    school, grown = education / 16, np.clip(age - 20, 0, 45) / 45
    score = np.stack(
        [
            2.6 - 0.6 * school, -0.2 + 1.3 * school, -0.4 + 1.5 * school, -0.9 + 1.6 * school, -1.2 + 0.9 * school,
            -0.6 + 1.2 * grown, -2.0 + 1.0 * school + 1.4 * grown, -4.0 + 0.0 * school, 0.2 - 1.2 * school,
            np.where(age < 19, 1.6, -2.2 - 2.0 * school),
        ],
        axis=1,
    )  # fmt: skip
    return np.asarray(np.argmax(score + random.gumbel(size=score.shape), axis=1))


def _income(
    random: np.random.Generator,
    age: NDArray[np.int64],
    male: NDArray[np.bool_],
    marital: NDArray[np.int64],
    education: NDArray[np.int64],
    workclass: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Draw a latent earning power, cut into 50 bins of equal size."""
    career = -((np.clip(age, 15, 75) - 48) ** 2) / 700
    place = np.array([0.1, -0.05, 0.0, 0.05, 0.35, -0.25, 0.45, -1.2, -1.6, -2.4])[workclass]
    power = 0.13 * education + career + 0.28 * male + 0.18 * (marital == 0) + place
    power = power + random.normal(scale=0.75, size=len(age))
    rank = np.empty(len(age), np.int64)
    rank[np.argsort(power, kind="stable")] = np.arange(len(age))
    return np.asarray(rank * BINS // len(age))

"""The synthetic census: the schema of Wang & Liu (2010), Table III, correlations, and the same rows for the same seed."""

from __future__ import annotations

import numpy as np

import sfumato as sf
from sfumato.census import EDUCATION, census_schema
from sfumato.demo import PRINCIPLES, K, coarsened

DOMAINS = {"age": 85, "sex": 2, "marital": 6, "race": 9, "education": 17, "workclass": 10, "income": 50}


def test_domains():
    census = sf.synthetic_census()
    assert census.num_rows == 50_000
    assert {name: len(census[name].unique()) for name in census.column_names} == DOMAINS


def test_seeded():
    assert sf.synthetic_census(500, seed=3).equals(sf.synthetic_census(500, seed=3))
    assert not sf.synthetic_census(500, seed=3).equals(sf.synthetic_census(500, seed=4))


def test_correlated_as_people_are():
    census = sf.synthetic_census(20_000, seed=5).to_pandas()
    schooling = census.education.map(EDUCATION.index)
    assert np.corrcoef(schooling, census.income)[0, 1] > 0.3
    assert census.age[census.marital == "widowed"].mean() > census.age[census.marital == "never married"].mean() + 20
    assert census.income[census.workclass == "never worked"].mean() < census.income.mean() / 2
    assert (schooling[census.age < 16] < EDUCATION.index("high school")).all()


def test_every_value_has_its_place_in_the_schema():
    table = sf.Table(sf.synthetic_census(5000), census_schema())
    for name in DOMAINS:
        table.column(name)


def test_the_demo_shows_what_it_says():
    """Coarsened, k-anonymity and l-diversity hold, and proximity does not."""
    audit = sf.audit(*coarsened(sf.synthetic_census()), PRINCIPLES)
    assert [finding.holds for finding in audit] == [True, True, True, False]
    assert audit.groups.sizes.min() >= K

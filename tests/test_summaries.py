"""What a notebook shows of each object stays short, also for a table of 200 columns."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.profiling import profile

NAMES = [f"column_{number}" for number in range(200)]


@pytest.fixture(scope="module")
def wide():
    random = np.random.default_rng(0)
    return pa.table({name: random.integers(0, 5, 100) for name in NAMES})


@pytest.fixture(scope="module")
def schema():
    return sf.Schema(NAMES[:2], NAMES[2:], undeclared="drop")


def config():
    columns = "".join(f'[columns.{name}]\nrole = "quasi-identifier"\n' for name in NAMES)
    return sf.Config.parse(f'[data]\npath = "postgresql://me:hunter2@host/x"\ntable = "t"\n{columns}')


def test_wide_objects(wide, schema):
    table = sf.Table(wide, schema)
    book = sf.disclosure.Dictionary(wide, name="book")
    risk = sf.risk(wide, schema, book)
    on_all = sf.DistinctLDiversity(2, on=tuple(NAMES[2:]))
    release = sf.anonymize(wide, schema, sf.KAnonymity(2), method="mondrian")
    shown = [schema, table, book, risk, risk.setting, risk.setting.matchings[0], on_all, release, config(), profile(wide)]
    shown += [sf.audit(table, None, sf.DistinctLDiversity(1)), sf.feasibility(table, None, sf.DistinctLDiversity(2))]
    for each in shown:
        assert len(repr(each)) < 5000, type(each)
        assert len(repr(each).splitlines()) < 45, type(each)
    assert "and 192 more" in repr(table)
    assert "hunter2" not in repr(config())


def test_an_audit_never_hides_what_fails(wide):
    """Of 40 columns one fails, and it is the last."""
    constant = wide.set_column(41, NAMES[41], pa.array([1] * wide.num_rows))
    found = repr(sf.audit(constant.select(NAMES[:42]), sf.Schema([], NAMES[2:42]), sf.DistinctLDiversity(2)))
    assert f"on {NAMES[41]}" in found
    assert "FAILS" in found
    assert "and 10 more that hold" in found


def test_parameters_are_shown_as_they_are_written():
    assert repr(sf.Dissimilarity(epsilon="0.1", delta=Fraction(1, 3), k=2)) == (
        "Dissimilarity(epsilon='0.1', delta='1/3', k=2, on=None, shape='star')"
    )
    assert repr(sf.KAnonymity(5)) == "KAnonymity(k=5)"

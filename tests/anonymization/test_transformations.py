"""Full-domain generalizations as candidates: each against its definition, and published at requested levels."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_lattice
import sfumato as sf
from sfumato.anonymization import transformations
from sfumato.errors import ParameterError, RequirementError

AGES = {str(age): (str(age), str(age // 10), "*") for age in range(10, 40)}
TOWNS = {"a": ("a", "x", "*"), "b": ("b", "x", "*"), "c": ("c", "y", "*")}
HIERARCHIES = [AGES, TOWNS]

people = st.lists(
    st.tuples(st.tuples(st.sampled_from(["10", "11", "19", "25", "38"]), st.sampled_from("abc")), st.integers(0, 2)),
    min_size=2, max_size=12,
)  # fmt: skip


def tables(rows):
    trees = {
        "age": sf.Hierarchy.from_rows(AGES.values()),
        "town": sf.Hierarchy.from_rows(TOWNS.values()),
    }
    data = pa.table({"age": [v[0] for v, _ in rows], "town": [v[1] for v, _ in rows], "ill": [f"i{s}" for _, s in rows]})
    return data, sf.Schema(["age", "town"], ["ill"], kinds={"age": "categorical"}, hierarchies=trees)


def violates(keys, secrets):
    groups = naive_lattice.groups_of(keys, secrets)
    return {key for key, group in groups.items() if len(group) < 2 or len(set(group)) < 2}


@given(people, st.sampled_from(["0", "0.25"]))
def test_every_transformation_is_measured_by_its_definition(rows, suppress):
    data, schema = tables(rows)
    try:
        found = transformations(data, schema, [sf.KAnonymity(2), sf.DistinctLDiversity(2)], suppress=suppress)
    except ParameterError:
        return
    assert found.total == len(found.examined) == 9
    most = int(Fraction(suppress) * len(rows))
    for one, levels in zip(found.examined, product(range(3), range(3)), strict=True):
        assert tuple(one.levels.values()) == levels
        keys = naive_lattice.keys_at(rows, HIERARCHIES, levels)
        dropped = naive_lattice.dropped_at(rows, keys, violates)
        kept = Counter(key for key, gone in zip(keys, dropped, strict=True) if not gone)
        assert (one.suppressed, one.classes, one.admissible) == (sum(dropped), len(kept), sum(dropped) <= most)
        if kept:
            assert one.risk == pytest.approx(len(kept) / sum(kept.values()))
            loss = naive_lattice.score("mean", rows, HIERARCHIES, levels, keys, dropped, 2)
            assert one.loss == pytest.approx(float(loss))
    best = [one for one in found.examined if one.admissible]
    for one in best:  # the front is what no other one beats
        beaten = any(o.loss <= one.loss and o.risk <= one.risk and (o.loss, o.risk) != (one.loss, one.risk) for o in best)
        assert beaten or any((o.loss, o.risk) == (one.loss, one.risk) for o in found.front)


def test_a_transformation_is_published_at_its_levels(tmp_path):
    rows = [((age, town), number % 2) for number, (age, town) in enumerate(product(["10", "11", "25", "38"], "ab"))]
    data, schema = tables([*rows, *rows])
    (one,) = (one for one in transformations(data, schema, sf.KAnonymity(2)).examined if one.levels == {"age": 1, "town": 1})
    release = sf.anonymize(data, schema, sf.KAnonymity(2), method=sf.Lattice(levels=(1, 1)), seed=0)
    assert release.levels == one.levels
    assert (release.audit.groups.count, release.loss) == (one.classes, pytest.approx(one.loss))
    folder = release.save(tmp_path / "release", key=tmp_path / "key.json")
    assert sf.verify(folder, data)
    again = sf.replay(folder, data, key=tmp_path / "key.json").save(tmp_path / "again")
    assert (again / "data.csv").read_bytes() == (folder / "data.csv").read_bytes()


def test_levels_that_do_not_fit_are_refused():
    data, schema = tables([(("10", "a"), 0), (("38", "c"), 1)])
    for levels in ((1,), (1, 3), (1, 1, 1)):
        with pytest.raises(ParameterError, match="do not fit the quasi-identifiers"):
            sf.anonymize(data, schema, sf.KAnonymity(2), method=sf.Lattice(levels=levels))
    for levels in ("11", (1, -1), (1, "1"), (True, 1)):
        with pytest.raises(ParameterError, match="invalid levels"):
            sf.Lattice(levels=levels)
    with pytest.raises(RequirementError):
        sf.anonymize(data, schema, sf.KAnonymity(2), method=sf.Lattice(levels=(0, 0)))


def test_a_large_lattice_is_sampled_from_end_to_end():
    data, schema = tables([(("10", "a"), 0), (("11", "b"), 1), (("10", "a"), 1)])
    found = transformations(data, schema, sf.KAnonymity(1), most=3)
    assert [tuple(one.levels.values()) for one in found.examined] == [(0, 0), (1, 1), (2, 2)]
    assert found.total == 9
    with pytest.raises(ParameterError, match="invalid most"):
        transformations(data, schema, sf.KAnonymity(1), most=1)

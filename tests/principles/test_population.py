"""Principles that compare the published cells of groups with a population, against naive counts of its people."""

from __future__ import annotations

import copy
import json
import pickle
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv

import naive
import sfumato as sf
from commandline import sfumato
from sfumato.anonymization import Task
from sfumato.anonymization.methods.full_domain.transformation_search import TransformationSearch
from sfumato.anonymization.published_table import publish
from sfumato.errors import CellError, ColumnError, FileError, ParameterError, ReleaseError
from small_tables import TREE

KINDS = ("interval", "set", "ancestor")
HIERARCHY = sf.Hierarchy.from_rows([list(path) for path in TREE.values()], "town")
SCHEMA = sf.Schema(["age", "job", "town"], kinds={"age": "numeric"}, hierarchies={"town": HIERARCHY}, group="g")

people = st.lists(
    st.tuples(
        st.sampled_from([30, 31, 33, 40, None]), st.sampled_from(["x", "y", "z", None]), st.sampled_from([*TREE, None])
    ),
    min_size=1,
    max_size=12,
)


@st.composite
def samples(draw):
    """A population, and some of its people in groups."""
    everyone = draw(people)
    chosen = sorted(draw(st.sets(st.integers(0, len(everyone) - 1), min_size=1)))
    groups = draw(st.lists(st.integers(0, 2), min_size=len(chosen), max_size=len(chosen)))
    return everyone, [everyone[i] for i in chosen], groups


def frame(rows, **more):
    ages, jobs, towns = zip(*rows, strict=True)
    return pa.table(
        {"age": pa.array(ages, pa.int64()), "job": pa.array(jobs, pa.string()), "town": pa.array(towns, pa.string()), **more}
    )


def split(rows, groups):
    return [[row for row, own in zip(rows, groups, strict=True) if own == group] for group in sorted(set(groups))]


@given(samples(), st.integers(1, 6))
def test_people_of_the_population_who_match_are_counted(sample, k):
    """In unpublished rows, and again in the texts of published cells, which are all that verification has."""
    everyone, rows, groups = sample
    schema = replace(SCHEMA, population=sf.Population(frame(everyone)))
    table = sf.Table(frame(rows, g=groups), schema)
    expected = [len(naive.people_matching(group, everyone, KINDS, TREE)) for group in split(rows, groups)]
    if len(everyone) < k:
        with pytest.raises(ParameterError, match="larger than the population"):
            sf.audit(table, None, sf.KMap(k))
        return
    (part,) = sf.audit(table, None, sf.KMap(k))[0].measurement.parts
    assert [part.at(group) for group in range(len(expected))] == expected
    assert part.holds.tolist() == [level >= k for level in expected]
    of_row = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    published = publish(table.with_schema(replace(schema, group=None)), of_row)
    (part,) = sf.audit(published.table, None, sf.KMap(k))[0].measurement.parts
    assert [part.at(number - 1) for number in published.of_group] == expected


@given(samples(), st.sampled_from(["0.3", "0.5", "2/3", "1"]), st.sampled_from(["0", "0.1", "0.3"]))
def test_shares_of_people_who_are_present(sample, high, low):
    everyone, rows, groups = sample
    schema = replace(SCHEMA, population=sf.Population(frame(everyone)))
    table = sf.Table(frame(rows, g=groups), schema)
    parted = split(rows, groups)
    expected = naive.presence(parted, everyone, KINDS, TREE)
    unmatched = len(everyone) - len(
        {i for group in parted for i, p in enumerate(everyone) if p in naive.people_matching(group, everyone, KINDS, TREE)}
    )
    principle = sf.DeltaPresence(high, low)
    of_row = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    published = publish(table.with_schema(replace(schema, group=None)), of_row)
    for found, order in ((table, range(len(parted))), (published.table, published.of_group - 1)):
        measurement = sf.audit(found, None, principle)[0].measurement
        share, *others = measurement.parts
        assert [share.at(number) for number in order] == [most for _, most in expected]
        assert [bool(share.holds[number]) for number in order] == [most <= Fraction(high) for _, most in expected]
        assert len(others) == (2 if Fraction(low) else 0)
        if others:
            assert [others[0].at(number) for number in order] == [least for least, _ in expected]
            assert others[1].worst == unmatched
            fine = [least >= Fraction(low) and most <= Fraction(high) and not unmatched for least, most in expected]
            assert [bool(measurement.group_holds[number]) for number in order] == fine


@given(samples())
def test_the_true_share_is_in_the_range(sample):
    """Whoever is in the table: everybody whose values the cells cover counts, in whatever group they are published."""
    everyone, rows, groups = sample
    parted = split(rows, groups)
    for group, (least, most) in zip(parted, naive.presence(parted, everyone, KINDS, TREE), strict=True):
        here = naive.people_matching(group, everyone, KINDS, TREE)
        present = naive.people_matching(group, rows, KINDS, TREE)
        cells = [naive.cell_of([row[place] for row in group], kind, TREE) for place, kind in enumerate(KINDS)]
        assert all(all(cell(value) for cell, value in zip(cells, person, strict=True)) for person in present)
        assert least <= Fraction(len(present), len(here)) <= most


def register(rows=400, seed=0):
    draw = np.random.default_rng(seed)
    return pa.table(
        {"age": draw.integers(18, 80, rows), "sex": draw.choice(["f", "m"], rows), "town": draw.choice(list("abcd"), rows)}
    )


def drawn(population, rows=80):
    draw = np.random.default_rng(1)
    chosen = np.sort(draw.choice(population.num_rows, rows, replace=False))
    return population.take(chosen).append_column("ill", pa.array(draw.choice(["flu", "gout", "cold"], rows)))


def schema_of(population, **more):
    trees = {"age": sf.Intervals((10, 20))}
    return sf.Schema(["age", "sex", "town"], ["ill"], hierarchies=trees, population=sf.Population(population), **more)


@pytest.mark.parametrize("method", ["auto", "mondrian", "lattice", "exact"])
def test_methods_and_verification(method, tmp_path):
    everyone = register()
    rows = drawn(everyone, 10 if method == "exact" else 80)
    schema = schema_of(everyone)
    release = sf.anonymize(rows, schema, sf.KMap(12), method=method, seed=0)
    assert release.audit.groups.count > 1
    folder = release.save(tmp_path / "out")
    assert "population" not in json.loads((folder / "release.json").read_text(encoding="utf-8"))["config"]
    result = sf.verify(folder, rows, schema=schema)
    assert result.holds and not result.not_checked
    known = {check.name: check.holds for check in sf.verify(folder, rows).checks}
    assert known["k-map (k = 12)"] is None and known["figures"] is None and False not in known.values()
    other = schema_of(pa.concat_tables([everyone, everyone]))
    assert not sf.verify(folder, schema=other).holds


@pytest.mark.parametrize(
    ("method", "low"), [("mondrian", "0"), ("lattice", "0"), ("lattice", "0.05")], ids=["mondrian", "lattice", "both-ends"]
)
def test_presence_is_limited_and_verified(method, low, tmp_path):
    everyone = register(300, seed=3)
    rows = drawn(everyone, 100)
    schema = schema_of(everyone)
    principle = sf.DeltaPresence("0.55", low)
    release = sf.anonymize(rows, schema, principle, method=method, seed=0)
    assert release.audit.groups.count > 1
    folder = release.save(tmp_path / "out")
    result = sf.verify(folder, rows, schema=schema)
    assert result.holds and not result.not_checked
    # nobody is left who would change the share of the worst group
    few = schema_of(rows.drop_columns(["ill"]))
    assert not sf.verify(folder, schema=few).holds


def test_presence_at_both_ends_needs_everybody_to_match_a_group():
    everyone = pa.table({"age": [20, 20, 30, 30, 40]})
    schema = sf.Schema(["age"], population=sf.Population(everyone))
    finding = sf.audit(pa.table({"age": [20, 30]}), schema, sf.DeltaPresence("0.5", "0.5"))[0]
    assert finding.levels == {"share": Fraction(1, 2), "least share": Fraction(1, 2), "people who match no group": 1}
    assert not finding.holds and sf.audit(pa.table({"age": [20, 30]}), schema, sf.DeltaPresence("0.5"))[0].holds


def test_presence_is_not_monotone():
    """The example of the docstring."""
    everyone = sf.Population(pa.table({"age": [30] * 10 + [40] * 10 + [35] * 2}))
    schema = sf.Schema(["age"], population=everyone, group="g")
    ages = [30, 40, 35, 35]
    apart = sf.audit(pa.table({"age": ages, "g": [0, 1, 2, 2]}), schema, sf.DeltaPresence("0.1"))[0].measurement
    assert apart.group_holds.tolist() == [True, True, False]
    (part,) = sf.audit(pa.table({"age": ages, "g": [0, 0, 2, 2]}), schema, sf.DeltaPresence("0.1"))[0].measurement.parts
    assert part.at(0) == Fraction(4, 22) and not part.holds[0]


@pytest.mark.parametrize(("high", "low", "words"), [(0, 0, "can never hold"), ("0.2", "0.3", "larger than delta_max")])
def test_bad_shares(high, low, words):
    with pytest.raises(ParameterError, match=words):
        sf.DeltaPresence(high, low)


@pytest.mark.parametrize("principle", [sf.KMap(5), sf.DeltaPresence("0.5", "0.1")], ids=lambda one: one.name)
def test_every_transformation_is_judged_by_its_nodes(principle):
    """The nodes of people are looked up in the hierarchies, and counted by equality."""
    draw = np.random.default_rng(5)
    towns = draw.choice(list(TREE), 40).tolist()
    sexes = draw.choice(["f", "m"], 40).tolist()
    everyone = list(zip(towns, sexes, strict=True))
    rows = [everyone[i] for i in draw.permutation(40)[:12].tolist()]
    both = [pa.table({"town": [town for town, _ in some], "sex": [sex for _, sex in some]}) for some in (rows, everyone)]
    schema = sf.Schema(["town", "sex"], hierarchies={"town": HIERARCHY}, population=sf.Population(both[1]))
    search = TransformationSearch(Task(sf.Table(both[0], schema), (principle,)), "mean", settled=False)
    (judge,) = search.judges
    seen = set()
    for town_level, sex_level in product(*(range(n) for n in search.shape)):
        classes = search.cube.classes((town_level, sex_level))
        keys = [[(TREE[town][town_level], "*" if sex_level else sex) for town, sex in some] for some in (rows, everyone)]
        counts, people = Counter(keys[0]), Counter(keys[1])
        if principle.name == "k-map":
            fails = {key for key in counts if people[key] < 5}
        else:
            shares = {key: Fraction(count, people[key]) for key, count in counts.items()}
            fine = people.keys() == counts.keys()
            fails = {key for key, share in shares.items() if not (fine and Fraction(1, 10) <= share <= Fraction(1, 2))}
        violating = judge.judged(classes).violating
        of_row = search.cube.of_rows((town_level, sex_level))
        assert {key for key, number in zip(keys[0], of_row.tolist(), strict=True) if violating[number]} == fails
        seen.add(bool(fails))
    assert seen == {True, False}


@pytest.mark.parametrize("suppress", [0, "0.1"])
def test_the_lattice_publishes_the_nodes_that_it_counted(suppress):
    everyone = register(60)
    rows = drawn(everyone, 30)
    release = sf.anonymize(rows, schema_of(everyone), sf.KMap(6), method="lattice", suppress=suppress, seed=0)
    assert release.audit.holds
    best = sf.full_domain(rows, schema_of(everyone), sf.KMap(6), suppress=suppress)
    assert best.levels == release.levels


@pytest.mark.parametrize("method", ["glaze", "deal", "xcolor", "exact"])
def test_other_methods_are_refused(method):
    everyone = register()
    with pytest.raises(ParameterError, match=f"the method {method} (does not support|supports)"):
        sf.anonymize(drawn(everyone), schema_of(everyone), sf.DeltaPresence("0.5"), method=method)


def bad_populations():
    everyone = register()
    yield None, ParameterError, "compares groups with a population, and none is declared"
    yield sf.Population(everyone.drop_columns(["sex"])), ColumnError, "column 'sex': the population: there is no such column"
    yield sf.Population("nowhere.csv"), FileError, "nowhere.csv: the file does not exist"
    yield sf.Population(drawn(everyone).slice(1)), CellError, r"row 1: the table has \d rows? with .* and the population \d:"
    yield sf.Population(42), ColumnError, "a int is not a table"
    words = everyone.set_column(0, "age", pa.array(["old"] * everyone.num_rows))
    yield sf.Population(words), CellError, "column 'age', row 1: the population: 'old' is not a number"


@pytest.mark.parametrize(("population", "error", "words"), list(bad_populations()))
def test_bad_populations(population, error, words):
    rows = drawn(register())
    with pytest.raises(error, match=words):
        sf.audit(rows, sf.Schema(["age", "sex", "town"], ["ill"], population=population), sf.KMap(2))


def test_the_population_is_not_in_a_pickle_or_a_text():
    everyone = register()
    secret = everyone.append_column("name", pa.array(["Ann Other"] * everyone.num_rows))
    release = sf.anonymize(drawn(everyone), schema_of(secret), sf.KMap(5), seed=0)
    content = pickle.dumps(release)
    assert b"Ann Other" not in content and "Ann Other" not in repr(release.schema)
    with pytest.raises(ParameterError, match="a pickle holds only what may be published"):
        sf.audit(drawn(everyone), pickle.loads(content).schema, sf.KMap(5))
    assert "secret-folder" not in repr(sf.Population("secret-folder/register.csv"))
    assert copy.deepcopy(release.schema).population is release.schema.population


def test_a_release_is_repeated_with_its_population(tmp_path):
    everyone = register()
    rows = drawn(everyone)
    folder = sf.anonymize(rows, schema_of(everyone), sf.KMap(5), seed=3).save(tmp_path / "out")
    with pytest.raises(ReleaseError, match="compared with a population, which it does not contain"):
        sf.replay(folder, rows, seed=3)
    again = sf.replay(folder, rows, seed=3, schema=schema_of(everyone)).save(tmp_path / "again")
    assert (again / "data.csv").read_bytes() == (folder / "data.csv").read_bytes()


def test_projected_tables_are_compared_and_verified(tmp_path):
    everyone = register()
    schema = sf.Schema(["age"], ["sex", "ill"], population=sf.Population(everyone))
    rows = drawn(everyone)
    folder = sf.project(rows, schema, sf.KMap(5), alpha=1, beta=0, seed=0).save(tmp_path / "out")
    checks = sf.verify(folder, rows, schema=schema).checks
    assert [check.holds for check in checks if "k-map" in check.name] == [True, True]


def test_people_with_several_rows_are_refused():
    everyone = register()
    rows = drawn(everyone).append_column("who", pa.array(list(range(80))))
    with pytest.raises(ParameterError, match="takes each row for a person, and the schema declares person_id"):
        sf.anonymize(rows, schema_of(everyone, person_id="who"), sf.KMap(2))


def test_a_release_that_follows_another_is_refused(tmp_path):
    everyone = register()
    rows = drawn(everyone).append_column("who", pa.array(list(range(80))))
    schema = schema_of(everyone, identifiers=["who"])
    first = sf.anonymize(rows, schema, sf.KAnonymity(4)).save(tmp_path / "first", key=tmp_path / "key.json")
    with pytest.raises(ParameterError, match="that follows another one cannot satisfy k-map"):
        sf.anonymize(rows, schema, sf.KMap(4), after=(first, tmp_path / "key.json"))


CONFIG = """\
[data]
path = "people.csv"
[population]
path = "register.csv"
delimiter = ";"
[columns.age]
role = "quasi-identifier"
[columns.sex]
role = "quasi-identifier"
[columns.ill]
role = "sensitive"
[[principles]]
name = "k-map"
k = 9
[output]
path = "out"
"""


def test_a_config_names_the_population(tmp_path):
    everyone = register()
    csv.write_csv(drawn(everyone), tmp_path / "people.csv")
    csv.write_csv(everyone, tmp_path / "register.csv", csv.WriteOptions(delimiter=";"))
    (tmp_path / "sfumato.toml").write_text(CONFIG, encoding="utf-8")
    assert sf.Config.parse(sf.Config.load(tmp_path / "sfumato.toml").to_toml()).population.path == "register.csv"
    assert sfumato("audit", "sfumato.toml", cwd=tmp_path).returncode == 1
    done = sfumato("anonymize", "sfumato.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    arguments = ("verify", "out", "--original", "people.csv", "--config", "sfumato.toml")
    done = sfumato(*arguments, cwd=tmp_path)
    assert done.returncode == 0 and "not checked" not in done.stdout
    (tmp_path / "register.csv").unlink()
    done = sfumato(*arguments, cwd=tmp_path)
    assert done.returncode == 2 and "register.csv" in done.stderr

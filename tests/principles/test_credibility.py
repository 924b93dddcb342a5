"""Credibility: the theorem against all ways to deal secrets out, and the measured level against the definition."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pyarrow import csv

import naive
import sfumato as sf
from commandline import sfumato
from sfumato.anonymization.published_table import publish
from sfumato.census import census_schema
from sfumato.errors import ColumnError, ParameterError
from small_tables import TREE

KINDS = ("interval", "set", "ancestor")
HIERARCHY = sf.Hierarchy.from_rows([list(path) for path in TREE.values()], "town")
SCHEMA = sf.Schema(["age", "job", "town"], ["ill"], kinds={"age": "numeric"}, hierarchies={"town": HIERARCHY}, group="g")

quasi_identifiers = st.tuples(
    st.sampled_from([30, 31, 40, None]), st.sampled_from(["x", "y", None]), st.sampled_from([*"abcd", None])
)
people_with_secrets = st.lists(st.tuples(quasi_identifiers, st.sampled_from(["p", "q", "r", None])), min_size=1, max_size=14)


@st.composite
def samples(draw):
    """A population with secrets, and some of its people in groups."""
    everyone = draw(people_with_secrets)
    chosen = sorted(draw(st.sets(st.integers(0, len(everyone) - 1), min_size=1)))
    groups = draw(st.lists(st.integers(0, 2), min_size=len(chosen), max_size=len(chosen)))
    return everyone, [everyone[i] for i in chosen], groups


def frame(people, **more):
    (ages, jobs, towns), ills = zip(*(row for row, _ in people), strict=True), [secret for _, secret in people]
    texts = {"job": jobs, "town": towns, "ill": ills}
    columns = {"age": pa.array(ages, pa.int64())} | {name: pa.array(cells, pa.string()) for name, cells in texts.items()}
    return pa.table(columns | more)


def expected_levels(rows, groups, everyone, smoothing):
    found = []
    for group in sorted(set(groups)):
        own = [row for row, label in zip(rows, groups, strict=True) if label == group]
        known, secrets = zip(*own, strict=True)
        found.append(naive.credibility(known, secrets, everyone, KINDS, smoothing, TREE))
    return found


smoothings = st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(7, 3), Fraction(1, 10**400)])
"""With the last one smoothed counts of 0 are too small for floats."""


# ------------------------------------------------------------------------------ the measured level is that of the definition


@given(samples(), smoothings, st.fractions(Fraction(1, 10), 1, max_denominator=20))
def test_levels_and_verdicts_are_those_of_the_definition(sample, smoothing, confidence):
    """In unpublished rows, and again in the texts of published cells, which are all that verification has."""
    everyone, rows, groups = sample
    schema = replace(SCHEMA, population=sf.Population(frame(everyone)))
    table = sf.Table(frame(rows, g=groups), schema)
    expected = expected_levels(rows, groups, everyone, smoothing)
    of_row = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    published = publish(table.with_schema(replace(schema, group=None)), of_row)
    principle, holds = sf.Credibility(confidence, smoothing), [level <= confidence for level in expected]
    part = sf.audit(table, None, principle)[0].measurement.parts[0]
    assert part.levels.tolist() == pytest.approx([float(level) for level in expected])
    assert part.holds.tolist() == holds
    part = sf.audit(published.table, None, principle)[0].measurement.parts[0]
    order = published.of_group - 1
    assert part.holds[order].tolist() == holds
    assert [part.at(number) for number in order] == [confidence if fine else 1 for fine in holds]


@given(samples(), smoothings)
def test_a_level_that_equals_the_confidence_suffices_and_any_higher_one_does_not(sample, smoothing):
    """Floats cannot tell the level from a confidence that is lower by less than they resolve."""
    everyone, rows, groups = sample
    table = sf.Table(frame(rows, g=groups), replace(SCHEMA, population=sf.Population(frame(everyone))))
    worst = max(expected_levels(rows, groups, everyone, smoothing))
    assert sf.audit(table, None, sf.Credibility(worst, smoothing)).holds
    assert not sf.audit(table, None, sf.Credibility(worst - Fraction(1, 10**30), smoothing)).holds


# ------------------------------------------------------------------------------ the theorem


def spreads_of(weights, secrets):
    """For each pair of secrets the largest ratio of likelihood ratios of two people."""
    known = sorted(set(secrets))
    ratios = {(s, t): [row[s] / row[t] for row in weights] for s in known for t in known}
    return {pair: max(own) / min(own) for pair, own in ratios.items()}


def bound(secrets, spread_of):
    return max(
        Fraction(secrets.count(s)) / sum(secrets.count(t) / spread_of[s, t] for t in set(secrets)) for s in set(secrets)
    )


weights_of_secrets = st.fractions(Fraction(1, 9), 9, max_denominator=9)
groups_of_weights = st.lists(
    st.tuples(st.sampled_from("pqr"), st.fixed_dictionaries(dict.fromkeys("pqr", weights_of_secrets))),
    min_size=1,
    max_size=6,
)


@given(groups_of_weights)
def test_nobody_believes_more_than_the_spreads_allow(group):
    """For any weights at all, by trying all ways to deal the secrets out."""
    secrets, weights = [secret for secret, _ in group], [row for _, row in group]
    believed = naive.largest_belief(secrets, lambda person, secret: weights[person][secret])
    assert believed <= bound(secrets, spreads_of(weights, secrets))


@given(groups_of_weights)
def test_some_attacker_within_the_spreads_believes_as_much(group):
    """Everybody is alike but one person, whose evidence against every other secret is the strongest allowed."""
    secrets = [secret for secret, _ in group]
    spread_of = spreads_of([row for _, row in group], secrets)
    most = 0
    for s in set(secrets):
        weights = [{t: 1 / spread_of[s, t] for t in set(secrets)}] + [dict.fromkeys(secrets, Fraction(1))] * (len(group) - 1)
        if len(group) > 1:
            assert all(spreads_of(weights, secrets)[pair] <= spread_of[pair] for pair in spread_of)
        most = max(most, naive.largest_belief(secrets, lambda person, secret, weights=weights: weights[person][secret]))
    assert most == bound(secrets, spread_of)


@given(samples(), smoothings)
@settings(max_examples=max(1, settings.default.max_examples // 4))
def test_an_attacker_with_the_model_believes_at_most_the_level(sample, smoothing):
    """The product of the smoothed frequencies of a person's values, for the people who are in a group."""
    everyone, rows, groups = sample
    table = sf.Table(frame(rows, g=groups), replace(SCHEMA, population=sf.Population(frame(everyone))))
    part = sf.audit(table, None, sf.Credibility(1, smoothing))[0].measurement.parts[0]
    for number, label in enumerate(sorted(set(groups))):
        own = [row for row, group in zip(rows, groups, strict=True) if group == label]
        assume(len(own) <= 6)

        def weight(person, secret, own=own):
            product = Fraction(1)
            for place, value in enumerate(own[person][0]):
                product *= naive.smoothed_frequency(everyone, place, value, secret, smoothing)
            return product

        believed = naive.largest_belief([secret for _, secret in own], weight)
        assert float(believed) <= part.at(number) * (1 + 1e-9)


# ------------------------------------------------------------------------------ laws, by hand


def census():
    """Eight people: the young mostly have flu, the old gout."""
    return pa.table({"age": ["young"] * 4 + ["old"] * 4, "ill": ["flu"] * 3 + ["gout"] + ["flu"] + ["gout"] * 3})


def level_of(ages, ills, **more):
    schema = sf.Schema(["age"], ["ill"], group="g", population=sf.Population(census()))
    table = pa.table({"age": ages, "ill": ills, "g": [0] * len(ages)})
    return sf.audit(table, schema, sf.Credibility(1, **more))[0].measurement.parts[0].at(0)


def test_people_who_are_alike_are_believed_to_have_a_secret_as_often_as_it_occurs():
    assert level_of(["young"] * 3, ["flu", "flu", "gout"]) == pytest.approx(2 / 3)


def test_the_evidence_of_the_population_counts():
    """Smoothed: 4 young with flu, 2 with gout, 2 old with flu, 4 with gout: the spread is (4/2)/(2/4) = 4."""
    assert level_of(["young", "old"], ["flu", "gout"]) == pytest.approx(1 / (1 + 1 / 4))
    # 1/2 added to each count: (3.5/1.5)² = 49/9
    assert level_of(["young", "old"], ["flu", "gout"], smoothing="0.5") == pytest.approx(1 / (1 + 9 / 49))


def test_what_the_learning_attack_exploits_is_measured():
    """The town decides the illness, and groups mix towns: the attack is always right, and the level is nearly 1."""
    towns = ["Ulm"] * 8 + ["Rome"] * 2 + ["Ulm"] * 5 + ["Rome"] * 5 + ["Ulm"] * 2 + ["Rome"] * 8
    groups = [decade for decade in (20, 30, 40) for _ in range(10)]

    def attacked(ills):
        people = pa.table({"age": range(20, 50), "town": towns, "ill": ills})
        published = pa.table({"age": [f"[{g}, {g + 9}]" for g in groups], "town": ["*"] * 30, "ill": ills})
        schema = sf.Schema(["age", "town"], ["ill"], population=sf.Population(people))
        grouped = sf.Table(people.append_column("g", pa.array(groups)), replace(schema, group="g"))
        found = sf.audit(grouped, None, sf.Credibility(1, parts=2))[0].measurement.parts[0]
        return sf.attack(published, people, schema=schema, attacks=["learning"])[0].success.share, found.worst

    success, level = attacked(["flu" if town == "Ulm" else "gout" for town in towns])
    assert success == 1 and level > 0.99
    # half of the people of each town and decade have flu: there is nothing to learn but the ages
    _, level = attacked(["flu", "gout"] * 15)
    assert level < 0.8


def test_credibility_is_not_monotone():
    ages, ills = ["young", "young", "old", "old"], ["flu", "gout"] * 2
    schema = sf.Schema(["age"], ["ill"], population=sf.Population(census()))
    people = pa.table({"age": ages, "ill": ills})
    assert sf.audit(people, schema, sf.Credibility("0.5")).holds
    assert level_of(ages, ills) == pytest.approx(2 / (2 + 2 / 4))
    assert not sf.Credibility.monotone


def test_ordered_values_are_taken_together_in_parts():
    """Four ages in two parts of as many people: within a part nothing is known, across them it is."""
    everyone = pa.table({"age": [20, 21, 60, 61] * 2, "ill": ["flu", "flu", "gout", "gout", "flu", "gout", "flu", "gout"]})
    schema = sf.Schema(["age"], ["ill"], group="g", population=sf.Population(everyone))

    def level(ages, parts):
        table = pa.table({"age": ages, "ill": ["flu", "gout"], "g": [0, 0]})
        return sf.audit(table, schema, sf.Credibility(1, parts=parts))[0].measurement.parts[0].at(0)

    assert level([20, 21], 2) == pytest.approx(1 / 2)
    # of the young three have flu and one gout, of the old the reverse; 2 added to each secret, one to each part
    assert level([20, 61], 2) == pytest.approx(1 / (1 + 1 / 4))
    assert level([20, 21], 4) > 1 / 2


# ------------------------------------------------------------------------------ what cannot hold, and bad input


def test_a_secret_more_frequent_than_the_confidence_is_refused_with_a_certificate():
    people = pa.table({"age": [30] * 4, "ill": ["flu", "flu", "flu", "gout"]})
    schema = sf.Schema(["age"], ["ill"], population=sf.Population(people))
    assert sf.feasibility(people, schema, sf.Credibility("3/4")).verdict == "guaranteed"
    found = sf.feasibility(people, schema, sf.Credibility("0.74"))
    assert found.verdict == "impossible"
    assert "the value flu makes up 3 of the 4 rows" in str(found.certificate)


def test_no_group_is_smaller_than_the_confidence_allows():
    assert [sf.Credibility(c).implied_k for c in ("1", "0.5", "0.4", "1/3")] == [1, 2, 3, 3]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sf.Credibility(0), "confidence = 0 can never hold"),
        (lambda: sf.Credibility("1.1"), "confidence = 1.1 is out of range"),
        (lambda: sf.Credibility("sure"), "'sure' is not a number"),
        (lambda: sf.Credibility("0.8", 0), "smoothing = 0 can never hold"),
        (lambda: sf.Credibility("0.8", "1e400"), "is out of range"),
        (lambda: sf.Credibility("0.8", parts=1), "parts = 1 is not a whole number from 2"),
    ],
)
def test_parameters_out_of_range(make, words):
    with pytest.raises(ParameterError) as caught:
        make()
    assert words in str(caught.value)


def test_a_population_without_the_secrets_is_an_error():
    people = pa.table({"age": ["young", "old"], "ill": ["flu", "gout"]})
    with pytest.raises(ParameterError, match="none is declared"):
        sf.audit(people, sf.Schema(["age"], ["ill"]), sf.Credibility("0.8"))
    bare = sf.Schema(["age"], ["ill"], population=sf.Population(people.select(["age"])))
    with pytest.raises(ColumnError, match="the population has no column 'ill'"):
        sf.audit(people, bare, sf.Credibility("0.8"))
    healthy = sf.Population(pa.table({"age": ["young", "old"], "ill": ["flu", "flu"]}))
    with pytest.raises(ColumnError, match="nobody of the population has the value gout"):
        sf.audit(people, sf.Schema(["age"], ["ill"], population=healthy), sf.Credibility("0.8"))


def test_very_many_secrets_are_refused():
    people = pa.table({"age": [30] * 5000, "income": list(range(5000))})
    schema = sf.Schema(["age"], ["income"], population=sf.Population(people))
    with pytest.raises(ParameterError, match="25,000,000 pairs of distinct values of 'income'"):
        sf.audit(people, schema, sf.Credibility("0.8"))


def test_several_sensitive_attributes_each_and_together():
    people = pa.table({"age": ["young", "old"] * 2, "ill": ["flu", "gout"] * 2, "pay": [1, 1, 2, 2]})
    schema = sf.Schema(["age"], ["ill", "pay"], group="age", population=sf.Population(people))
    schema = replace(schema, quasi_identifiers=("age",), group=None)
    assert [found.attribute for found in sf.audit(people, schema, sf.Credibility(1))] == ["ill", "pay"]
    assert sf.audit(people, schema, sf.Credibility(1, on="whole"))[0].levels == {"confidence": 0.5}


# ------------------------------------------------------------------------------ releases


def survey(rows=400, seed=1):
    return sf.synthetic_census(rows=rows, seed=seed).select(["age", "sex", "education", "workclass"])


def survey_schema(people, **more):
    return sf.Schema(["age", "sex", "education"], ["workclass"], population=sf.Population(people), **more)


def test_mondrian_cuts_where_the_table_as_one_group_violates_it():
    people = survey()
    schema = survey_schema(people)
    required = [sf.KAnonymity(3), sf.Credibility("0.95")]
    whole = sf.audit(people, replace(schema, quasi_identifiers=("age",)), sf.Credibility("0.95"))
    assert not whole.holds
    release = sf.anonymize(people, schema, required, suppress="0.5", seed=0)
    assert release.method.name == "mondrian"
    assert release.audit.holds and release.audit.groups.count > 20


def test_a_release_is_verified_with_its_population_and_not_checked_without(tmp_path):
    people = survey()
    schema = survey_schema(people)
    required = [sf.KAnonymity(3), sf.Credibility("0.95")]
    folder = sf.anonymize(people, schema, required, suppress="0.5", seed=0).save(tmp_path / "out")
    checks = {check.name: check.holds for check in sf.verify(folder, people, schema=schema).checks}
    name = next(name for name in checks if name.startswith("credibility"))
    assert checks[name] is True and all(holds is not False for holds in checks.values())
    checks = {check.name: check.holds for check in sf.verify(folder, people).checks}
    assert checks[name] is None


CONFIG = """\
[data]
path = "people.csv"
[population]
path = "people.csv"
[columns.age]
role = "quasi-identifier"
[columns.sex]
role = "quasi-identifier"
[columns.education]
role = "quasi-identifier"
[columns.workclass]
role = "sensitive"
[[principles]]
name = "k-anonymity"
k = 3
[[principles]]
name = "credibility"
confidence = 0.95
[method]
suppress = 0.5
[output]
path = "out"
"""


def test_a_config_names_the_table_itself_as_the_population(tmp_path):
    csv.write_csv(survey(), tmp_path / "people.csv")
    (tmp_path / "sfumato.toml").write_text(CONFIG, encoding="utf-8")
    done = sfumato("anonymize", "sfumato.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = sfumato("verify", "out", "--original", "people.csv", "--config", "sfumato.toml", cwd=tmp_path)
    assert done.returncode == 0 and "not checked" not in done.stdout


def test_lattice_measures_the_cells_of_each_transformation():
    """The transformation that it chooses satisfies it, in the cells that are published."""
    people = survey().select(["age", "sex", "workclass"])
    trees = {name: census_schema().hierarchies[name] for name in ("age", "sex")}
    schema = sf.Schema(["age", "sex"], ["workclass"], hierarchies=trees, population=sf.Population(people))
    required = [sf.KAnonymity(3), sf.Credibility("0.9")]
    release = sf.anonymize(people, schema, required, method="lattice", suppress="0.3", seed=0)
    assert release.audit.holds and release.levels


@dataclass(frozen=True)
class Rows(sf.Method):
    """Groups of four rows, in the order of their ages."""

    def group(self, task, seed=0):
        order = np.argsort(task.table.column("age").codes, kind="stable")
        of_row = np.empty(task.table.rows, np.int64)
        of_row[order] = np.arange(task.table.rows) // 4
        return sf.anonymization.Grouping(of_row)


def test_nothing_published_depends_on_who_in_a_group_has_which_secret(tmp_path):
    """Two people of a group exchange their secrets; the model is learned from the table, so the true levels differ."""
    ages, ills = [20, 20, 30, 30, 60, 60, 70, 70], ["flu", "flu", "gout", "cold", "gout", "gout", "flu", "cold"]
    files, levels = [], []
    for number, secrets in enumerate((ills, [ills[2], *ills[1:2], ills[0], *ills[3:]])):
        people = pa.table({"age": ages, "ill": secrets})
        schema = sf.Schema(["age"], ["ill"], population=sf.Population(people))
        grouped = people.append_column("g", pa.array([0] * 4 + [1] * 4))
        measured = sf.audit(grouped, replace(schema, group="g"), sf.Credibility("0.97"))[0].measurement
        levels.append(measured.parts[0].levels.tolist())
        release = sf.anonymize(people, schema, sf.Credibility("0.97"), method=Rows(), seed=0)
        folder = release.save(tmp_path / str(number))
        files.append({file.name: file.read_bytes() for file in sorted(folder.iterdir())})
    assert levels[0] != levels[1]
    assert files[0] == files[1]


def test_other_methods_refuse_it():
    people = survey()
    for method in ("glaze", "xcolor", "deal"):
        with pytest.raises(sf.SfumatoError):
            sf.anonymize(people, survey_schema(people), [sf.KAnonymity(3), sf.Credibility("0.95")], method=method)

"""What every principle must do, the laws that it declares, and the edges of its range."""

from __future__ import annotations

import dataclasses
import itertools
import re
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import sfumato as sf
from sfumato.principles import describe, principle_of
from sfumato.registry import PRINCIPLES
from small_tables import NUMBERS, measured, tables

EXAMPLES = {
    "k-anonymity": sf.KAnonymity(2),
    "k-map": sf.KMap(16),
    "delta-presence": sf.DeltaPresence("0.2", "0.05"),
    "k-m-anonymity": sf.KMAnonymity(2, 2),
    "dissimilarity": sf.Dissimilarity("0.3", "0.5", 2),
    "alpha-k-anonymity": sf.AlphaKAnonymity("0.5", 2),
    "distinct-l-diversity": sf.DistinctLDiversity(2),
    "frequency-l-diversity": sf.FrequencyLDiversity("1.5"),
    "entropy-l-diversity": sf.EntropyLDiversity("1.5"),
    "recursive-l-diversity": sf.RecursiveLDiversity("1.5", 2),
    "ck-safety": sf.CKSafety("0.8", 1),
    "p-sensitivity": sf.PSensitivity(2, 2),
    "epsilon-m-anonymity": sf.EpsilonMAnonymity("0.3", "1.5"),
    "delta-l-diversity": sf.DeltaLDiversity("0.15", "1.5"),
    "k-e-anonymity": sf.KEAnonymity(2, "0.2"),
    "variance-control": sf.VarianceControl("0.1"),
    "guarded-values": sf.GuardedValues(["0.1", "> 5"], "1.5", 2, "0.3", "0.5"),
    "guarded-people": sf.GuardedPeople("q", "< 2", "1.5", 2, "0.3", "0.5"),
    "t-closeness": sf.TCloseness("0.4", "ordered"),
    "n-t-closeness": sf.NTCloseness(3, "0.3", "ordered"),
    "beta-likeness": sf.BetaLikeness("1", "enhanced"),
    "delta-disclosure": sf.DeltaDisclosure("0.7"),
    "credibility": sf.Credibility("0.6"),
}
"""One of each, at thresholds that small tables both meet and miss."""


def test_every_principle_has_an_example_here():
    assert EXAMPLES.keys() == PRINCIPLES.keys()


@pytest.mark.parametrize("name", PRINCIPLES)
def test_contract(name):
    principle = EXAMPLES[name]
    assert principle.name == name
    assert sf.Principle in type(principle).__mro__
    with pytest.raises(AttributeError):
        principle.anything = 1
    assert principle_of(name, principle.parameters()) == principle


@pytest.mark.parametrize("kind", PRINCIPLES.values(), ids=lambda kind: kind.name)
def test_every_principle_says_what_it_is(kind):
    """Definition, parameters, whether it is monotone, what it does not protect against, and where it comes from."""
    words = describe(kind)
    assert re.fullmatch(r"[A-Z].*\.", words.definition)
    assert re.fullmatch(r"[A-Z].*\.", words.plain)
    assert words.parameters.keys() == {field.name for field in dataclasses.fields(kind)}
    assert all(re.fullmatch(r"\S.*\.", meaning) for meaning in words.parameters.values())
    assert words.monotone is kind.monotone
    assert words.merging == "Monotone." if kind.monotone else re.fullmatch(r"Not monotone.*: .+\.", words.merging)
    assert re.fullmatch(r"Does not protect against .+\.", words.not_protected)
    assert re.fullmatch(r"\S.*\(\d{4}[a-z]?\).*\.", words.source)
    everything = " ".join([words.definition, words.body, words.merging, words.not_protected, words.source])
    assert ">>>" not in everything
    assert "Source:" not in everything


few_values = st.sampled_from([NUMBERS[:2], NUMBERS[:3], NUMBERS])
"""Pools of values; the small ones let even strict principles hold now and then, so that there is something to merge."""


@pytest.mark.parametrize("name", [name for name, kind in PRINCIPLES.items() if kind.monotone])
@given(rows=few_values.flatmap(lambda pool: tables(st.sampled_from(pool), most_rows=14, most_groups=3)))
def test_declared_monotone_is_monotone(name, rows):
    """If two groups satisfy the principle, their union does, the table as a whole unchanged."""
    principle = EXAMPLES[name]
    if len(rows) < 2:
        return
    fine = measured(rows, principle, numeric=True).group_holds
    labels = sorted({g for g, _ in rows})
    good = [label for label, holds in zip(labels, fine, strict=True) if holds]
    for one, other in itertools.pairwise(good):
        merged = [(one if g == other else g, v) for g, v in rows]
        after = measured(merged, principle, numeric=True).group_holds
        assert after[sorted({g for g, _ in merged}).index(one)]


@pytest.mark.parametrize("name", [name for name, kind in PRINCIPLES.items() if kind.absorbing])
@settings(max_examples=settings.default.max_examples // 5)
@given(rows=few_values.flatmap(lambda pool: tables(st.sampled_from(pool), most_rows=12, most_groups=3)))
def test_declared_absorbing_is_absorbing(name, rows):
    """If one group satisfies the principle, its union with any other does, the table as a whole unchanged."""
    principle = EXAMPLES[name]
    if len(rows) < 2:
        return
    fine = measured(rows, principle, numeric=True).group_holds
    labels = sorted({g for g, _ in rows})
    for one, holds in zip(labels, fine, strict=True):
        for other in set(labels) - {one} if holds else ():
            merged = [(one if g == other else g, v) for g, v in rows]
            after = measured(merged, principle, numeric=True).group_holds
            assert after[sorted({g for g, _ in merged}).index(one)]
    assert PRINCIPLES[name].monotone


NOT_ABSORBING = {
    "dissimilarity": (sf.Dissimilarity(0, "0.5"), [1, 2], [1, 1, 1]),
    "alpha-k-anonymity": (sf.AlphaKAnonymity("0.5"), [1, 2], [1]),
    "frequency-l-diversity": (sf.FrequencyLDiversity(2), [1, 2], [1]),
    "entropy-l-diversity": (sf.EntropyLDiversity(2), [1, 2], [1]),
    "recursive-l-diversity": (sf.RecursiveLDiversity(2, 2), [1, 2], [1]),
    "epsilon-m-anonymity": (sf.EpsilonMAnonymity(0, 2), [1, 2], [1]),
    "delta-l-diversity": (sf.DeltaLDiversity(0, 2), [1, 2], [1]),
    "variance-control": (sf.VarianceControl(1), [1, 3], [2]),
    "guarded-values": (sf.GuardedValues(1, 2), [1, 2], [1]),
    "guarded-people": (sf.GuardedPeople("q", 0, 2), [1, 2], [1]),
    "ck-safety": (sf.CKSafety("0.65", 1), [1, 2, 3], [1, 1, 2]),
    "delta-presence": (sf.DeltaPresence("0.1"), [1], [1] * 4),
    "k-m-anonymity": (sf.KMAnonymity(2, 1), [1, 1], [2]),
    "t-closeness": (sf.TCloseness(0), [1, 2], [1, 1], [2, 2]),
    "n-t-closeness": (sf.NTCloseness(5, 0), [1, 2], [1, 1], [2, 2]),
    "beta-likeness": (sf.BetaLikeness(0), [1, 2], [1, 1], [2, 2]),
    "delta-disclosure": (sf.DeltaDisclosure("0.1"), [1, 2], [1, 1], [2, 2]),
    "credibility": (sf.Credibility("0.5"), [1, 2], [1]),
}
"""A group that satisfies the principle, one that spoils it, and what else is in the table."""


@pytest.mark.parametrize("name", [name for name, kind in PRINCIPLES.items() if not kind.absorbing])
def test_declared_not_absorbing_is_not(name):
    principle, *groups = NOT_ABSORBING[name]
    apart = [(g, v) for g, group in enumerate(groups) for v in group]
    assert measured(apart, principle).group_holds[0]
    assert not measured([(0 if g == 1 else g, v) for g, v in apart], principle).group_holds[0]


@pytest.mark.parametrize("name", [name for name, kind in PRINCIPLES.items() if not kind.relative])
@settings(max_examples=settings.default.max_examples // 5)
@given(rows=few_values.flatmap(lambda pool: tables(st.sampled_from(pool), most_rows=12, most_groups=3)))
def test_declared_not_relative_is_not(name, rows):
    """What becomes of other groups does not change the verdict on a group."""
    principle = EXAMPLES[name]
    labels = sorted({g for g, _ in rows})
    fine = measured(rows, principle, numeric=True).group_holds if len(rows) > 1 else []
    for label, holds in zip(labels, fine, strict=False):
        alone = [(g, v) for g, v in rows if g == label]
        if len(alone) > 1:
            assert measured(alone, principle, numeric=True).group_holds[0] == holds


RELATIVE = {
    "t-closeness": sf.TCloseness("0.1"),
    "n-t-closeness": sf.NTCloseness(4, "0.1"),
    "beta-likeness": sf.BetaLikeness("0.1"),
    "delta-disclosure": sf.DeltaDisclosure("0.1"),
}


@pytest.mark.parametrize("name", RELATIVE)
def test_declared_relative_is(name):
    """A group is like the table, and unlike what is left of it without another group."""
    groups = [[1, 2], [1, 1], [2, 2]]
    for some, holds in ((groups, True), (groups[:2], False)):
        rows = [(g, v) for g, group in enumerate(some) for v in group]
        assert measured(rows, RELATIVE[name]).group_holds[0] == holds


def test_facts_about_one_group_tell_of_another():
    """Of three equally frequent values one fact excludes one; but if another group has one value only, a fact says all."""
    principle, safe = sf.CKSafety("0.65", 1), [(0, v) for v in (1, 2, 3)]
    assert measured(safe, principle).group_holds.tolist() == [True]
    assert measured([*safe, (1, 1), (1, 1)], principle).group_holds.tolist() == [False, False]


def test_all_relative_principles_have_a_counter_example():
    # these declare nothing, and the default is safe
    others = {"dissimilarity", "guarded-values", "guarded-people", "delta-presence"}
    assert {name for name, kind in PRINCIPLES.items() if kind.relative} == {*RELATIVE, "ck-safety", *others}


def test_principles_of_sizes_and_histograms():
    """Rows are read where published cells are compared with people, or groups with their supersets or one another."""
    by_cells = {name for name, kind in PRINCIPLES.items() if kind.uses_population or kind.uses_original}
    by_rows = by_cells | {"n-t-closeness", "ck-safety"}
    assert {name for name, kind in PRINCIPLES.items() if not kind.histogram_only} == by_rows
    assert {name for name, kind in PRINCIPLES.items() if kind.size_only} == {"k-anonymity"}


COUNTER_EXAMPLES = {
    "dissimilarity": (sf.Dissimilarity(15, "0.5"), [40, 60], [50, 80], []),
    "epsilon-m-anonymity": (sf.EpsilonMAnonymity(15, 2), [40, 60], [50, 80], []),
    "delta-l-diversity": (sf.DeltaLDiversity("7.5", 2), [40, 60], [50, 80], []),
    "guarded-values": (sf.GuardedValues("> 0", epsilon=15, delta="0.5"), [40, 60], [50, 80], []),
    "guarded-people": (sf.GuardedPeople("q", 0, 2), [1, 2], [1, 1, 1], []),
}


@pytest.mark.parametrize("name", COUNTER_EXAMPLES)
def test_declared_not_monotone_is_not(name):
    principle, one, other, _ = COUNTER_EXAMPLES[name]
    apart = [(0, v) for v in one] + [(1, v) for v in other]
    assert measured(apart, principle).holds
    assert not measured([(0, v) for _, v in apart], principle).holds
    assert not PRINCIPLES[name].monotone


def test_n_t_closeness_is_not_monotone():
    """Each group is like its own superset of 3 rows; their union is like no superset."""
    frame = {"q": ["x"] * 3 + ["y"] * 3 + ["z"] * 6, "s": ["a"] * 3 + ["b"] * 3 + ["c"] * 6}
    schema = sf.Schema(quasi_identifiers=["q"], sensitive=["s"])
    principle = sf.NTCloseness(3, "0.1")
    assert sf.audit(pa.table(frame), schema, principle).holds
    merged = {**frame, "g": [0] * 6 + [1] * 6}
    grouped = sf.Schema(quasi_identifiers=["q"], sensitive=["s"], group="g")
    assert not sf.audit(pa.table(merged), grouped, principle).holds
    assert not sf.NTCloseness.monotone


ELSEWHERE = {"delta-presence", "credibility"}
"""Those whose counter-examples are in test_population.py and test_credibility.py, because they need a population."""


def test_all_not_monotone_principles_have_a_counter_example():
    declared = {name for name, kind in PRINCIPLES.items() if not kind.monotone}
    assert declared == {*COUNTER_EXAMPLES, "n-t-closeness", *ELSEWHERE}


def test_several_sensitive_attributes_each_or_as_a_whole():
    frame = pa.table({"q": [0, 0, 0, 0], "s": ["a", "a", "b", "b"], "u": ["x", "y", "x", "y"]})
    schema = sf.Schema(quasi_identifiers=["q"], sensitive=["s", "u"])
    each = sf.audit(frame, schema, sf.DistinctLDiversity(3))
    assert [(f.attribute, f.measurement.level) for f in each] == [("s", 2), ("u", 2)]
    whole = sf.audit(frame, schema, sf.DistinctLDiversity(3, on="whole"))
    assert [(f.attribute, f.measurement.level) for f in whole] == [("s + u", 4)]
    assert sf.audit(frame, schema, sf.DistinctLDiversity(3, on=("u", "s")))[0].measurement.level == 4
    with pytest.raises(sf.errors.ColumnError, match="not a sensitive attribute"):
        sf.audit(frame, schema, sf.DistinctLDiversity(3, on="q"))
    with pytest.raises(sf.errors.ConfigError, match="no distance"):
        sf.audit(frame, schema, sf.Dissimilarity(0, 0))


def test_large_counts_do_not_overflow():
    """n_g·N·m beyond 64 bits: ordered closeness of a million different numbers in two halves."""
    n = 3_000_000
    frame = pa.table({"q": np.arange(n) % 2, "s": np.arange(n)})
    schema = sf.Schema(quasi_identifiers=["q"], sensitive=["s"])
    found = sf.audit(frame, schema, [sf.TCloseness("0.5", "ordered")])[0].measurement.parts[0]
    # evens lead by one half of a tuple's share at every other place
    assert found.at(0) == Fraction(1, n) * Fraction(n, 2) / (n - 1)
    assert n * n * n // 2 > 2**63


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sf.Dissimilarity("-0.1", "0.5"), "epsilon = -0.1 is out of range"),
        (lambda: sf.Dissimilarity("0.1", "1.5"), "delta = 1.5 is out of range"),
        (lambda: sf.Dissimilarity("0.1", "half"), "'half' is not a number"),
        (lambda: sf.Dissimilarity(float("nan"), "0.5"), "not a number"),
        (lambda: sf.KAnonymity(0), "whole number"),
        (lambda: sf.KAnonymity(2.5), "whole number"),
        (lambda: sf.AlphaKAnonymity(2, 3), "alpha = 2 is out of range. Give a number of at least 0 and at most 1."),
        (lambda: sf.TCloseness("0.2", "sideways"), "'sideways' is unknown"),
        (lambda: sf.RecursiveLDiversity(0, 2), "can never hold"),
        (lambda: sf.EpsilonMAnonymity(2, 2, "relative"), "epsilon = 2 is out of range"),
        (lambda: sf.DeltaDisclosure(0), "can never hold"),
        (lambda: sf.DeltaDisclosure("-0.1"), "delta = -0.1 is out of range. Give a number above 0."),
        (lambda: sf.Credibility("1.5"), "confidence = 1.5 is out of range. Give a number above 0 and at most 1."),
        (lambda: sf.NTCloseness(0, "0.1"), "whole number"),
        (lambda: sf.NTCloseness("3", "0.1"), "whole number"),
        (lambda: sf.NTCloseness(3, "1.1"), "t = 1.1 is out of range"),
        (lambda: sf.NTCloseness(3, "0.1", "sideways"), "'sideways' is unknown"),
        (lambda: sf.NTCloseness(3, "0.1", supersets=("town",)), "not a list of lists"),
        (lambda: sf.TCloseness("1.1"), "t = 1.1 is out of range"),
        (lambda: sf.TCloseness("-0.1"), "t = -0.1 is out of range"),
    ],
)
def test_parameters_out_of_range(make, words):
    with pytest.raises(sf.errors.ParameterError) as caught:
        make()
    assert words in str(caught.value)


def test_a_superset_has_at_most_all_rows():
    frame, schema = pa.table({"q": [0, 0, 1, 1], "s": list("aabb")}), sf.Schema(["q"], ["s"])
    found = sf.audit(frame, schema, sf.NTCloseness(4, "0.5"))[0].measurement.parts[0]
    assert [found.at(0), found.at(1)] == [Fraction(1, 2)] * 2
    with pytest.raises(sf.errors.ParameterError, match="n = 5 is larger than the table"):
        sf.audit(frame, schema, sf.NTCloseness(5, "0.5"))
    with pytest.raises(sf.errors.ParameterError, match="'s' in supersets is not a quasi-identifier"):
        sf.audit(frame, schema, sf.NTCloseness(2, "0.5", supersets=(("q", "s"),)))


def test_only_the_supersets_that_are_listed_are_tried():
    """Each group is like its town; of both quasi-identifiers together it is a superset of its own."""
    frame = pa.table({"town": list("aaaabbbb"), "age": [1, 1, 2, 2] * 2, "s": list("xyxyzuzu")})
    schema = sf.Schema(["town", "age"], ["s"])
    levels = {
        supersets: sf.audit(frame, schema, sf.NTCloseness(2, "0.5", supersets=supersets))[0].measurement.parts[0].at(0)
        for supersets in (None, (), (("age",),), (("town",),))
    }
    assert levels == {None: 0, (): Fraction(1, 2), (("age",),): Fraction(1, 2), (("town",),): 0}


def test_more_quasi_identifiers_than_all_subsets_are_tried_of():
    names = [f"q{i:02}" for i in range(13)]
    frame = pa.table({**{name: [0, 0] for name in names}, "s": ["a", "b"]})
    schema = sf.Schema(names, ["s"])
    with pytest.raises(sf.errors.ParameterError, match="13 quasi-identifiers have too many subsets"):
        sf.audit(frame, schema, sf.NTCloseness(2, 0))
    assert sf.audit(frame, schema, sf.NTCloseness(2, 0, supersets=(tuple(names),))).holds


def test_a_superset_holds_the_whole_group():
    """Groups that cut across the quasi-identifier have only the table as a natural superset."""
    table = sf.Table(pa.table({"zip": ["1", "1", "2", "2"], "s": ["a", "b", "b", "b"]}), sf.Schema(["zip"], ["s"]))
    across = sf.data.Groups(np.array([0, 1, 0, 1]), 2, 4)
    found = sf.NTCloseness(2, 0).measure(sf.principles.View(table, ["s"], across)).parts[0]
    assert [found.at(0), found.at(1)] == [Fraction(1, 4), Fraction(1, 4)]


def test_ordinary_floats_with_many_digits():
    random = np.random.default_rng(0)
    frame = pa.table({"q": np.arange(500) % 5, "s": random.random(500) * 1e-5})
    schema = sf.Schema(["q"], ["s"])
    audit = sf.audit(
        frame, schema, [sf.KEAnonymity(5, "1e-6"), sf.VarianceControl("1e-12"), sf.EpsilonMAnonymity("1e-6", 2)]
    )
    assert [f.holds for f in audit] == [True, True, True]


def test_huge_numbers_and_thresholds():
    frame = pa.table({"q": [0, 0], "s": ["1e400", "3"]})
    schema = sf.Schema(["q"], ["s"], kinds={"s": "numeric"})
    requested = [
        sf.KEAnonymity(2, "1e399"),
        sf.VarianceControl("1e500"),
        sf.EntropyLDiversity("1e400"),
        sf.DeltaDisclosure("1e400"),
    ]
    assert [f.holds for f in sf.audit(frame, schema, requested)] == [True, True, False, True]
    for text in ("1e99999", "1" * 5000, "1/" + "3" * 5000):
        with pytest.raises(sf.errors.ParameterError, match="not a number"):
            sf.Dissimilarity(text, 0)


def test_near_ties_with_a_long_threshold_are_decided_quickly():
    """The threshold agrees with exp(entropy) of counts (3, 1) to 18 digits, and has no small factors."""
    rows = [(0, "a"), (0, "a"), (0, "a"), (0, "b")]
    level = "1.754765350603323293"
    assert measured(rows, sf.EntropyLDiversity(level)).holds == naive.entropy_reaches(["a", "a", "a", "b"], level)

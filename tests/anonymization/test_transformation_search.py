"""The full-domain search returns what trying every transformation returns, for every principle and loss."""

from __future__ import annotations

import os
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import naive
import naive_knowledge
import naive_lattice
import sfumato as sf
from sfumato.anonymization.methods.full_domain.transformation_search import TransformationSearch
from sfumato.registry import LOSSES, PRINCIPLES

CASES = 10_000 if os.environ.get("SFUMATO_PROFILE") == "thorough" else 100

TREE = {
    "0": ("0", "low", "*"),
    "1": ("1", "low", "*"),
    "2": ("2", "mid", "*"),
    "3": ("3", "top", "*"),
    "9": ("9", "top", "*"),
}
"""The sensitive values: numbers, with a hierarchy."""


def each(fine):
    """Return the violating keys of a principle that depends on one group and on the whole table."""

    def violates(keys, secrets):
        groups = naive_lattice.groups_of(keys, secrets)
        return {key for key, group in groups.items() if not fine(group, secrets)}

    return violates


def n_t(n, t):
    def violates(keys, secrets):
        if n > len(secrets):
            return set(keys)
        levels = naive.n_t_level(keys, secrets, n, naive.emd_equal)
        return {key for key, level in levels.items() if level > Fraction(t)}

    return violates


def after_one_fact(c):
    def violates(keys, secrets):
        groups = {}
        for key, secret in zip(keys, secrets, strict=True):
            groups.setdefault(key, []).append(secret)
        others = {key: [group for other, group in groups.items() if other != key] for key in groups}
        return {
            key
            for key, group in groups.items()
            if naive_knowledge.disclosure_after_one_fact(group, others[key]) >= Fraction(c)
        }

    return violates


def near(x, y):
    return abs(x - y) <= 1


def hierarchical(group, whole):
    return naive.emd_hierarchical([str(v) for v in group], [str(v) for v in whole], TREE)


REQUIREMENTS = [
    (sf.KAnonymity(2), each(lambda g, w: len(g) >= 2)),
    (sf.KAnonymity(3), each(lambda g, w: len(g) >= 3)),
    (sf.Dissimilarity(1, "0.5", 2), each(lambda g, w: len(g) >= 2 and naive.risk(g, near) <= Fraction(1, 2))),
    (sf.AlphaKAnonymity("0.5", 2), each(lambda g, w: len(g) >= 2 and naive.alpha(g) <= Fraction(1, 2))),
    (sf.DistinctLDiversity(2), each(lambda g, w: naive.distinct(g) >= 2)),
    (sf.FrequencyLDiversity("1.5"), each(lambda g, w: naive.frequency_l(g) >= Fraction(3, 2))),
    (sf.EntropyLDiversity("1.5"), each(lambda g, w: naive.entropy_reaches(g, "1.5"))),
    (sf.RecursiveLDiversity(2, 2), each(lambda g, w: naive.recursive_level(g, 2) < 2)),
    (sf.PSensitivity(2, 3), each(lambda g, w: len(g) >= 3 and naive.distinct(g) >= 2)),
    (sf.EpsilonMAnonymity(1, "1.5"), each(lambda g, w: naive.epsilon_m(g, 1) >= Fraction(3, 2))),
    (sf.DeltaLDiversity("0.5", "1.5"), each(lambda g, w: naive.delta_l(g, Fraction(1, 2)) >= Fraction(3, 2))),
    (sf.KEAnonymity(2, 2), each(lambda g, w: naive.distinct(g) >= 2 and naive.value_range(g) >= 2)),
    (sf.VarianceControl("0.5"), each(lambda g, w: naive.variance(g) >= Fraction(1, 2))),
    (sf.TCloseness("0.4"), each(lambda g, w: naive.emd_equal(g, w) <= Fraction(2, 5))),
    (sf.TCloseness("0.25", "ordered"), each(lambda g, w: naive.emd_ordered(g, w, sorted(set(w))) <= Fraction(1, 4))),
    (sf.TCloseness("0.3", "hierarchical"), each(lambda g, w: hierarchical(g, w) <= Fraction(3, 10))),
    (sf.NTCloseness(4, "0.4"), n_t(4, "0.4")),
    (sf.BetaLikeness("1"), each(lambda g, w: all(gain <= 1 for _, gain in naive.gains(g, w)))),
    (sf.BetaLikeness("1", "enhanced"), each(lambda g, w: naive.beta_enhanced_holds(g, w, 1))),
    (sf.GuardedValues("9", l=2, k=3), each(lambda g, w: 9 not in g or len(g) >= max(3, 2 * g.count(9)))),
    (sf.CKSafety("0.8", 1), after_one_fact("0.8")),
    (sf.KMAnonymity(2, 1), each(lambda g, w: all(g.count(v) >= 2 for v in g))),
    (sf.DeltaDisclosure("1.2"), each(lambda g, w: naive.disclosure_holds(g, w, Fraction(6, 5)))),
]  # fmt: skip
"""Each principle with the groups that violate it, by its definition."""


def test_every_principle_is_covered():
    # what compares cells with people is covered by tests/principles/test_population.py and test_guarded_people.py
    alone = {name for name, kind in PRINCIPLES.items() if not (kind.uses_population or kind.uses_original)}
    assert {type(principle).name for principle, _ in REQUIREMENTS} == alone


TOWNS = {"a": ("a", "A", "AB", "*"), "b": ("b", "A", "AB", "*"), "c": ("c", "B", "AB", "*"), "d": ("d", "C", "C", "*")}
AGES = {str(age): (str(age), f"[{age // 10 * 10}, {age // 10 * 10 + 10})", "*") for age in (21, 24, 33, 38, 47)}
LONE = {"x": ("x", "X", "*")}


class Case:
    """A small table with its hierarchies, some principles with the groups that violate any, and a suppression limit."""

    def __init__(self, seed):
        draw = random.Random(seed)
        size = draw.randint(4, 14)
        shape = draw.choice([(TOWNS, AGES), (TOWNS, None), (AGES, None, LONE), (TOWNS, AGES, None), (None,)])
        missing = draw.choice([0, 0, 0.15])
        columns = []
        for hierarchy in shape:
            values = list(hierarchy) if hierarchy else ["f", "m"]
            column = [None if draw.random() < missing else draw.choice(values) for _ in range(size)]
            columns.append([draw.choice(values)] * size if all(v is None for v in column) else column)
        secrets = [int(draw.choice(list(TREE))) for _ in range(size)]
        self.rows = [(values, secret) for values, secret in zip(zip(*columns, strict=True), secrets, strict=True)]
        self.hierarchies = [
            hierarchy or {value: (value, "*") for value in sorted({*column} - {None})}
            for hierarchy, column in zip(shape, columns, strict=True)
        ]
        names = [f"q{j}" for j in range(len(shape))]
        trees = {name: sf.Hierarchy.from_rows(one.values()) for name, one in zip(names, shape, strict=True) if one}
        trees["s"] = sf.Hierarchy.from_rows(TREE.values())
        kinds = {**dict.fromkeys(names, "categorical"), "s": "numeric"}
        schema = sf.Schema(names, ["s"], kinds=kinds, hierarchies=trees, distance=sf.distances.Absolute())
        frame = {name: pa.array(column, pa.string()) for name, column in zip(names, columns, strict=True)}
        self.table = sf.Table(pa.table({**frame, "s": secrets}), schema)
        chosen = [REQUIREMENTS[seed % len(REQUIREMENTS)], *([draw.choice(REQUIREMENTS[:2])] if draw.random() < 0.4 else [])]
        self.principles = tuple(principle for principle, _ in chosen)
        self.violates = lambda keys, secrets: set().union(*(fails(keys, secrets) for _, fails in chosen))
        self.limit = Fraction(draw.choice(["0", "0", "0.1", "0.2", "0.35", "0.5"]))
        self.most = int(self.limit * size)
        self.known = {}
        every_group = [p for p in self.principles if not isinstance(p, sf.GuardedValues | sf.KMAnonymity)]
        self.k = max((getattr(principle, "k", 1) for principle in every_group), default=1)

    @property
    def measurable(self):
        return all(getattr(p, "k", 1) <= len(self.rows) and getattr(p, "n", 1) <= len(self.rows) for p in self.principles)

    def found(self, *, settle):
        """Return every admissible transformation with its groups and the dropped rows; computed once."""
        if settle not in self.known:
            everything = naive_lattice.everything
            self.known[settle] = everything(self.rows, self.hierarchies, self.violates, self.most, settle=settle)
        return self.known[settle]

    def best(self, loss, *, settle):
        """Return the least loss, the first levels that have it, and the number of admissible transformations."""
        found = self.found(settle=settle)
        scores = {
            levels: naive_lattice.score(loss, self.rows, self.hierarchies, levels, keys, dropped, self.k)
            for levels, (keys, dropped) in found.items()
        }
        if not scores:
            return None, None, 0
        least = min(scores.values())
        ties = [levels for levels, score in scores.items() if abs(score - least) <= (1e-9 if loss == "entropy" else 0)]
        return least, min(ties), len(scores)


@pytest.mark.parametrize("part", range(4))
def test_the_search_is_as_good_as_trying_everything(part):
    for seed in range(part, CASES, 4):
        case = Case(seed)
        if not case.measurable:
            continue
        for loss in LOSSES:
            least, levels, admissible = case.best(loss, settle=False)
            search = TransformationSearch(
                sf.anonymization.Task(case.table, case.principles, suppress=case.limit), loss, settled=False
            )
            found = search.best(count=True)
            context = seed, loss, case.principles, case.limit
            assert found.proven, context
            assert found.admissible == admissible, context
            assert found.transformations == search.state.size
            if least is None:
                assert found.score is None, context
                continue
            assert (float(found.score), found.levels) == (pytest.approx(float(least), abs=1e-6), levels), context
            if loss != "entropy":
                assert found.score == least, context


@pytest.mark.parametrize("part", range(2))
def test_the_release_is_the_best_that_holds_without_the_suppressed_rows(part):
    losses = list(LOSSES)
    for seed in range(part, CASES, 2):
        case = Case(seed)
        loss = losses[seed % len(losses)]
        if not case.measurable:
            continue
        least, levels, _ = case.best(loss, settle=True)
        context = seed, loss, case.principles, case.limit
        if least is None:
            with pytest.raises(sf.errors.RequirementError):
                sf.anonymize(case.table, None, case.principles, method=sf.Lattice(loss), suppress=case.limit)
            continue
        release = sf.anonymize(case.table, None, case.principles, method=sf.Lattice(loss), suppress=case.limit)
        assert tuple(release.levels.values()) == levels, context
        _, dropped = case.found(settle=True)[levels]
        assert release.suppressed == sum(dropped), context
        utility = release.utility
        reported = {
            "mean": utility.loss.mean,
            "group-mean": utility.loss.group_mean,
            "normalised": utility.loss.normalised,
            "discernibility": utility.classes.discernibility,
            "class-size": utility.classes.average if utility.k is not None else utility.classes.mean,
        }
        if loss in reported:
            assert reported[loss] == pytest.approx(float(least), rel=1e-12), context


def small(a, b, d, s):
    """A table of 20 transformations."""
    schema = sf.Schema(["a", "b", "d"], ["s"], hierarchies={"a": sf.Intervals((2, 4, 8))}, kinds={"a": "numeric"})
    return sf.Table(pa.table({"a": a, "b": list(b), "d": list(d), "s": list(s)}), schema)


def test_a_loss_that_falls_when_more_rows_are_dropped():
    """Dropping a large class lowers the average class size: the score must be that after suppression."""
    ages = [12, 1, 6, 10, 11, 3, 3, 15, 2, 14, 5, 11, 14, 4, 14, 5, 11, 8, 14, 0, 8]
    table = small(ages, "yyzzxzyxxxyxzxzzyxyyy", "mnnnmmnmmnmmmmmnnmmmn", "qpsqsppppppqspppsqsps")
    release = sf.anonymize(table, None, sf.TCloseness("0.5"), method=sf.Lattice("class-size"), suppress="0.9")
    assert release.utility.classes.mean == 1
    assert tuple(release.levels.values()) == (0, 1, 0)


def test_fewer_rows_left_than_a_principle_requires():
    """(n,t)-closeness requires supersets of n rows: if fewer rows are left, the parameter is not invalid."""
    draw = random.Random(3)
    for _ in range(8):
        rows = 20
        table = small(
            [draw.randint(0, 15) for _ in range(rows)],
            draw.choices("xyz", k=rows),
            draw.choices("mn", k=rows),
            draw.choices("pqrs", [5, 3, 1, 1], k=rows),
        )
        for method in (sf.Lattice(), sf.Mondrian()):
            try:
                release = sf.anonymize(table, None, sf.NTCloseness(n=8, t="0.1"), method=method, suppress="0.8")
            except sf.errors.RequirementError:
                continue
            assert release.audit.holds


def test_a_stopped_search_still_examines_the_coarsest_transformation():
    table = small([1, 2, 9, 10, 11, 12], "xyxyxy", "mnmnmn", "ppqqpp")
    found = sf.full_domain(table, None, sf.KAnonymity(6), checks=1)
    assert found.suppressed == 0
    assert found.levels == {"a": 4, "b": 1, "d": 1}


@pytest.mark.parametrize(
    "parameters",
    [{"loss": ["mean"]}, {"seconds": float("inf")}, {"seconds": "1"}, {"seconds": True}, {"checks": 0}, {"checks": 1.0}],
)
def test_invalid_limits(parameters):
    with pytest.raises(sf.errors.ParameterError):
        sf.Lattice(**parameters)


def test_limits_as_a_config_states_them():
    assert sf.Lattice(seconds=Decimal("0.5")).parameters()["seconds"] == 0.5
    assert sf.Lattice(checks=np.int64(7)).checks == 7

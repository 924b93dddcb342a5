"""Guarded people against a naive reading of the definition: whom cells cover, and what their groups must satisfy."""

from __future__ import annotations

import math
import pickle
from collections import defaultdict
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
from sfumato.data.original_people import OriginalPeople
from sfumato.errors import ColumnError, ParameterError, ReleaseError, RequirementError
from sfumato.registry import DISTANCES
from small_tables import TREE

KINDS = ("interval", "set", "ancestor")
HIERARCHY = sf.Hierarchy.from_rows([list(path) for path in TREE.values()], "town")
SCHEMA = sf.Schema(
    ["age", "job", "town"], ["pay"], kinds={"age": "numeric", "pay": "numeric", "vip": "categorical"},
    hierarchies={"town": HIERARCHY}, distance=DISTANCES["absolute"](), group="g", undeclared="drop",
)  # fmt: skip
"""The column `vip` is not published."""

RULES = {
    ("age", "< 33"): lambda age, job, town, pay, vip: age is not None and age < 33,
    ("age", "(missing)"): lambda age, job, town, pay, vip: age is None,
    ("job", ("x", "y")): lambda age, job, town, pay, vip: job in ("x", "y"),
    ("town", "X"): lambda age, job, town, pay, vip: town in ("a", "b"),
    ("pay", ">= 20"): lambda age, job, town, pay, vip: pay >= 20,
    ("vip", "yes"): lambda age, job, town, pay, vip: vip == "yes",
}

rows_in_groups = st.lists(
    st.tuples(
        st.tuples(
            st.sampled_from([30, 31, 33, 40, None]),
            st.sampled_from(["x", "y", "z", None]),
            st.sampled_from([*TREE, None]),
            st.sampled_from([10, 20, 25]),
            st.sampled_from(["yes", "no", "no"]),
        ),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=12,
)


def frame(rows, **more):
    names = {"age": pa.int64(), "job": pa.string(), "town": pa.string(), "pay": pa.int64(), "vip": pa.string()}
    columns = zip(*rows, strict=True)
    return pa.table(
        {name: pa.array(column, kind) for (name, kind), column in zip(names.items(), columns, strict=True)} | more
    )


def expected(group, guarded, epsilon):
    """The levels of a group of rows, by the definition; `guarded`: the quasi-identifiers of the guarded people."""
    secrets = [row[3] for row in group]
    if not naive.people_matching([row[:3] for row in group], guarded, KINDS, TREE):
        return math.inf, math.inf, 0
    near = naive.risk(secrets, lambda x, y: abs(x - y) <= epsilon)
    return naive.frequency_l(secrets), len(group), near


@given(
    rows_in_groups, st.sampled_from(list(RULES)), st.sampled_from(["1", "1.5", "2"]), st.integers(1, 4),
    st.sampled_from(["0", "5", "10"]), st.sampled_from(["0", "0.5", "2/3"]),
)  # fmt: skip
def test_levels_are_those_of_the_definition(sample, rule, l, k, epsilon, delta):
    """In unpublished rows, and again in the texts of published cells, whose rows do not say who is guarded."""
    rows, groups = [row for row, _ in sample], [group for _, group in sample]
    principle = sf.GuardedPeople(*rule, l=l, k=k, epsilon=epsilon, delta=delta)
    table = sf.Table(frame(rows, g=groups), SCHEMA)
    guarded = [row[:3] for row in rows if RULES[rule](*row)]
    parted = [[row for row, own in zip(rows, groups, strict=True) if own == group] for group in sorted(set(groups))]
    levels = [expected(group, guarded, principle.epsilon) for group in parted]
    limits = 0 if principle.l > 1 else 1  # what is not limited is not measured
    holds = [a >= principle.l and b >= k and c <= 1 - principle.delta for a, b, c in levels]
    found = principle.measure(sf.principles.View(table))
    assert [tuple(part.at(g) for part in found.parts) for g in range(len(parted))] == [level[limits:] for level in levels]
    assert found.group_holds.tolist() == holds
    of_row = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    plain = table.with_schema(replace(SCHEMA, group=None))
    published = publish(plain.with_original(OriginalPeople(plain)), of_row)
    found = principle.measure(sf.principles.View(published.table))
    assert "vip" not in published.table.data.column_names
    shown = [tuple(part.at(number - 1) for part in found.parts) for number in published.of_group]
    assert shown == [level[limits:] for level in levels]
    assert [bool(found.group_holds[number - 1]) for number in published.of_group] == holds


def partitions(items):
    if not items:
        yield []
        return
    first, *rest = items
    for partition in partitions(rest):
        yield [[first], *partition]
        for at in range(len(partition)):
            yield [*partition[:at], [first, *partition[at]], *partition[at + 1 :]]


@given(rows_in_groups.map(lambda sample: [row for row, _ in sample][:5]), st.sampled_from(["1.5", "2", "3"]))
def test_a_certificate_rules_out_every_grouping(rows, l):
    principle = sf.GuardedPeople("vip", "yes", l=l)
    table = sf.Table(frame(rows), replace(SCHEMA, group=None))
    guarded = [row[:3] for row in rows if row[4] == "yes"]
    possible = any(
        all(expected(group, guarded, 0)[0] >= principle.l for group in partition) for partition in partitions(rows)
    )
    if principle.certificate(sf.principles.View(table)) is not None:
        assert not possible
    verdict = sf.feasibility(table, None, principle).verdict if guarded else "open"
    assert verdict == "open" or (verdict == "impossible") == (not possible)


def test_a_certificate_counts_the_guarded_people_with_a_value():
    rows = pa.table({"age": [3, 4, 30, 31, 32], "ill": ["flu", "flu", "gout", "cold", "ulcer"]})
    schema = sf.Schema(["age"], ["ill"])
    for l, ruled_out in (("2.5", False), (3, True)):
        found = sf.GuardedPeople("age", "< 18", l=l).certificate(sf.principles.View(sf.Table(rows, schema)))
        assert (found is not None) == ruled_out
    assert (found.count, found.most, found.values) == (2, 1, ("flu",))
    with pytest.raises(RequirementError, match="2 guarded people of the 5 rows have the value flu"):
        sf.anonymize(rows, schema, sf.GuardedPeople("age", "< 18", l=3))


def patients(rows=300, seed=0):
    draw = np.random.default_rng(seed)
    return pa.table(
        {
            "age": draw.integers(5, 80, rows),
            "sex": draw.choice(["f", "m"], rows),
            "vip": draw.choice(["yes", "no"], rows, p=[0.04, 0.96]),
            "ill": draw.choice(["flu", "gout", "cold", "ulcer"], rows),
            "pay": draw.integers(0, 1000, rows),
        }
    )


ROLES = sf.Schema(["age", "sex"], ["ill"], hierarchies={"age": sf.Intervals((10, 40))}, undeclared="drop")


def covering(release, guarded):
    """The sizes and secrets of the groups that cover a guarded person, and of the others, from the published texts."""
    groups = defaultdict(list)
    for row in release.frame.to_pylist():
        groups[row["group"]].append(row)
    for rows in groups.values():
        cells = rows[0]
        # with a hierarchy, an interval [10, 20) excludes its end; without, [10, 20] includes it
        low, high = (
            (int(part.strip("[)] ")) for part in (cells["age"].split(",") * 2)[:2]) if cells["age"] != "*" else (0, 99)
        )
        last = high - 1 if cells["age"].endswith(")") else high
        sexes = {"f", "m"} if cells["sex"] == "*" else set(cells["sex"].strip("{}").split("; "))
        covers = any(low <= age <= last and sex in sexes for age, sex in guarded)
        yield covers, [row["ill"] for row in rows]


@pytest.mark.parametrize("rule", [("age", "< 18"), ("vip", "yes")], ids=["published", "hidden"])
@pytest.mark.parametrize("method", ["auto", "mondrian", "lattice"])
def test_methods_and_verification(method, rule, tmp_path):
    rows = patients()
    schema = ROLES if method == "lattice" else replace(ROLES, hierarchies={})
    requested = [sf.KAnonymity(2), sf.GuardedPeople(*rule, l=2, k=12)]
    release = sf.anonymize(rows, schema, requested, method=method, seed=0)
    guarded = [
        (row["age"], row["sex"])
        for row in rows.to_pylist()
        if (row["age"] < 18 if rule[0] == "age" else row["vip"] == "yes")
    ]
    found = list(covering(release, guarded))
    assert any(covers for covers, _ in found)
    assert all(len(ill) >= 12 and naive.frequency_l(ill) >= 2 for covers, ill in found if covers)
    if method != "lattice":
        assert min(len(ill) for covers, ill in found if not covers) < 12, "nobody else needs the larger groups"
    folder = release.save(tmp_path / "out", key=tmp_path / "key.json")
    result = sf.verify(folder, rows)
    assert result.holds and not result.not_checked
    known = {check.name: check.holds for check in sf.verify(folder).checks}
    assert known[f"{requested[1].label} on ill"] is None and False not in known.values()
    both = sf.comparison.compare_releases({"memory": release, "folder": folder}, original=rows, attacks=[]).releases
    assert replace(both[0], name="") == replace(both[1], name=""), "the same figures from the files beside the original"
    again = sf.replay(folder, rows, key=tmp_path / "key.json").save(tmp_path / "again")
    assert (again / "data.csv").read_bytes() == (folder / "data.csv").read_bytes()


def test_verification_notices_a_guarded_person_whom_a_small_group_covers(tmp_path):
    """The hidden column of the original says otherwise than when the release was made."""
    rows = patients()
    schema = replace(ROLES, hierarchies={})
    release = sf.anonymize(rows, schema, [sf.KAnonymity(2), sf.GuardedPeople("vip", "yes", k=12)], seed=0)
    folder = release.save(tmp_path / "out")
    assert sf.verify(folder, rows).holds
    everybody = rows.set_column(2, "vip", pa.array(["yes"] * rows.num_rows))
    failing = [check for check in sf.verify(folder, everybody).checks if check.holds is False]
    assert [check.name.startswith("guarded people") for check in failing] == [True]
    assert "does not hold" in failing[0].detail


def test_people_whose_own_row_is_elsewhere_count():
    """Nobody who knows the guarded person can tell in which of two groups that cover her she is."""
    rows = pa.table({"age": [30, 50, 40, 40, 41, 42], "vip": ["no", "no", "yes", "no", "no", "no"], "ill": list("ababcd")})
    schema = sf.Schema(["age"], ["ill"], group="g", undeclared="drop")
    grouped = rows.append_column("g", pa.array([0, 0, 1, 1, 1, 1]))
    found = sf.audit(grouped, schema, sf.GuardedPeople("vip", "yes", k=3))[0].measurement
    assert found.group_holds.tolist() == [False, True], "[30, 50] covers 40 too"


def test_k_alone_needs_no_sensitive_attribute(tmp_path):
    rows, schema = patients(), sf.Schema(["age", "sex"])
    requested = [sf.KAnonymity(3), sf.GuardedPeople("vip", "yes", k=12)]
    release = sf.anonymize(rows, schema, requested, seed=0)
    assert release.audit[1].attribute is None and release.audit[1].levels["k"] >= 12
    result = sf.verify(release.save(tmp_path / "out"), rows)
    assert result.holds and not result.not_checked
    assert sf.audit(rows, ROLES, replace(requested[1], on="ill"))[0].attribute == "ill"


@pytest.mark.parametrize("suppress", [0, "0.1"])
def test_the_lattice_publishes_the_nodes_that_it_measured(suppress):
    rows = patients(60)
    requested = [sf.GuardedPeople("vip", "yes", k=8, l="1.5")]
    release = sf.anonymize(rows, ROLES, requested, method="lattice", suppress=suppress, seed=0)
    best = sf.full_domain(rows, ROLES, requested, suppress=suppress)
    assert release.audit.holds and best.levels == release.levels


def test_every_transformation_is_judged_by_its_nodes():
    """The nodes of guarded people are looked up in the hierarchies, and compared by equality."""
    draw = np.random.default_rng(5)
    towns, sexes = draw.choice(list(TREE), 14).tolist(), draw.choice(["f", "m"], 14).tolist()
    vips, ills = draw.choice(["yes", "no", "no"], 14).tolist(), draw.choice(["a", "b"], 14).tolist()
    table = pa.table({"town": towns, "sex": sexes, "vip": vips, "ill": ills})
    schema = sf.Schema(["town", "sex"], ["ill"], hierarchies={"town": HIERARCHY}, undeclared="drop")
    principle = sf.GuardedPeople("vip", "yes", k=3, l="1.5")
    search = TransformationSearch(Task(sf.Table(table, schema), (principle,)), "mean", settled=False)
    (judge,) = search.judges
    seen = set()
    for town_level, sex_level in product(*(range(n) for n in search.shape)):
        keys = [(TREE[town][town_level], "*" if sex_level else sex) for town, sex in zip(towns, sexes, strict=True)]
        groups = defaultdict(list)
        for key, ill in zip(keys, ills, strict=True):
            groups[key].append(ill)
        covering_keys = {key for key, vip in zip(keys, vips, strict=True) if vip == "yes"}
        fails = {
            key
            for key, group in groups.items()
            if key in covering_keys and (len(group) < 3 or naive.frequency_l(group) < Fraction(3, 2))
        }
        violating = judge.judged(search.cube.classes((town_level, sex_level))).violating
        of_row = search.cube.of_rows((town_level, sex_level))
        assert {key for key, number in zip(keys, of_row.tolist(), strict=True) if violating[number]} == fails
        seen.add(bool(fails))
    assert seen == {True, False}


def test_the_exact_method_finds_groups_of_a_small_table():
    rows = patients(9, seed=2).set_column(2, "vip", pa.array(["yes", *["no"] * 8]))
    release = sf.anonymize(rows, replace(ROLES, hierarchies={}), sf.GuardedPeople("vip", "yes", k=3), method="exact", seed=0)
    sizes = release.audit.groups.sizes.tolist()
    assert release.audit.holds and min(sizes) == 1 and max(sizes) >= 3


@pytest.mark.parametrize("method", ["glaze", "deal", "xcolor"])
def test_other_methods_are_refused(method):
    with pytest.raises(ParameterError, match=f"the method {method} (does not support|supports)"):
        sf.anonymize(patients(), ROLES, sf.GuardedPeople("vip", "yes", k=5), method=method)


def test_limits_on_cells_and_suppression_keep_the_original_in_mind(tmp_path):
    """Parts of the table are searched alone, and rows are dropped: the people stay those of the whole table."""
    rows, plain = patients(), replace(ROLES, hierarchies={})
    requested = [sf.KAnonymity(2), sf.GuardedPeople("vip", "yes", k=10, l=2)]
    for schema, share in ((plain, "0.05"), (replace(plain, never_mix={"sex": ["f"]}), 0)):
        release = sf.anonymize(rows, schema, requested, method="mondrian", suppress=share, seed=0)
        result = sf.verify(release.save(tmp_path / f"suppress-{share}"), rows)
        assert result.holds
        assert next(check.holds for check in result.checks if check.name.startswith("guarded people")) is True


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"column": "", "values": "a", "k": 2}, "is not the name of a column"),
        ({"column": 3, "values": "a", "k": 2}, "is not the name of a column"),
        ({"column": "q", "values": [], "k": 2}, "names no value"),
        ({"column": "q", "values": "a"}, "nothing is required of groups with these people"),
        ({"column": "q", "values": "a", "delta": 1}, "epsilon is missing"),
        ({"column": "q", "values": "a", "l": 0}, "l = 0 is out of range"),
        ({"column": "q", "values": "a", "k": 0}, "k = 0 is not a whole number"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises(ParameterError, match=words):
        sf.GuardedPeople(**parameters)


def bad_requests():
    named = patients(20).append_column("name", pa.array([f"Ann {i}" for i in range(20)]))
    secret = replace(ROLES, identifiers=["name"])
    yield named, secret, sf.GuardedPeople("nam", "Ann 3", k=3), ColumnError, r"column 'nam': .*Did you mean 'name'"
    yield named, secret, sf.GuardedPeople("sex", "x", k=3), ParameterError, "no row of 'sex' has the value 'x'"
    yield named, secret, sf.GuardedPeople("name", "Ann 3", k=3), ParameterError, "means 1 row: it would name a person"
    yield named, secret, sf.GuardedPeople("age", "< x", k=3), ColumnError, "'x' in the rule '< x' is not a value"
    yield named, secret, sf.GuardedPeople("age", "> 0", k=21), ParameterError, "k = 21 is larger than the table"
    people = replace(secret, person_id="name", identifiers=[])
    yield named, people, sf.GuardedPeople("age", "> 0", k=2), ParameterError, "takes each row for a person"


@pytest.mark.parametrize(("rows", "schema", "principle", "error", "words"), list(bad_requests()))
def test_bad_requests(rows, schema, principle, error, words):
    for call in (sf.audit, sf.anonymize):
        with pytest.raises(error, match=words):
            call(rows, schema, principle)


@pytest.mark.parametrize(
    ("column", "rule", "named"),
    [
        ("aabbbc", "c", False),  # 3 distinct values in 6 rows tell only some people apart
        ("aabbcd", "d", True),  # more than half as many values as rows do
        ("aabbcd", "a", False),  # but two people are not named
    ],
)
def test_a_column_that_tells_people_apart_must_not_name_one(column, rule, named):
    """A column that no role is declared for, with a k that only the whole table reaches."""
    rows = pa.table({"age": [30] * 6, "ill": ["flu"] * 6, "note": list(column)})
    schema, principle = sf.Schema(["age"], ["ill"], undeclared="drop"), sf.GuardedPeople("note", rule, k=6)
    if named:
        with pytest.raises(ParameterError, match="means 1 row: it would name a person"):
            sf.audit(rows, schema, principle)
    else:
        assert sf.audit(rows, schema, principle).holds


def test_a_published_table_without_its_original_is_not_measured():
    """Unless a principle needs it, a published table does not hold on to the original."""
    plain = sf.Table(patients(8), replace(ROLES, hierarchies={}))
    published = publish(plain, np.zeros(8, np.int64)).table
    with pytest.raises(ParameterError, match="people of the original, which is not known here"):
        sf.GuardedPeople("vip", "yes", k=2).measure(sf.principles.View(published))


def test_what_a_release_alone_cannot_do(tmp_path):
    """Its cells must not be taken for the people, and nobody of the original is in a pickle."""
    rows = patients(80).append_column("name", pa.array(["Ann Other"] * 80))
    requested = [sf.KAnonymity(2), sf.GuardedPeople("vip", "yes", k=6)]
    schema = replace(ROLES, hierarchies={}, identifiers=["name"])
    release = sf.anonymize(rows, schema, requested, seed=0)
    content = pickle.dumps(release.audit)
    assert b"Ann Other" not in content and "Ann Other" not in repr(release.audit.table.original)
    with pytest.raises(ParameterError, match="people of the original, which is not known here"):
        requested[1].measure(sf.principles.View(pickle.loads(content).table))
    folder = release.save(tmp_path / "out", key=tmp_path / "key.json")
    with pytest.raises(ReleaseError, match="compares the cells of the release with the people of its original"):
        sf.apply(folder, rows)
    with pytest.raises(ParameterError, match="a plan cannot satisfy guarded people"):
        sf.project(rows, replace(ROLES, sensitive=["ill", "pay"]), requested, alpha=1, beta=0)


def test_a_release_that_follows_another_is_refused(tmp_path):
    rows = patients(80).append_column("name", pa.array([f"Ann {i}" for i in range(80)]))
    schema = replace(ROLES, hierarchies={}, identifiers=["name"])
    first = sf.anonymize(rows, schema, sf.KAnonymity(4), method="mondrian", seed=0).save(
        tmp_path / "first", key=tmp_path / "key.json"
    )
    with pytest.raises(ParameterError, match="that follows another one cannot satisfy guarded people"):
        sf.anonymize(rows, schema, sf.GuardedPeople("vip", "yes", k=4), after=(first, tmp_path / "key.json"))


CONFIG = """\
[data]
path = "people.csv"
[columns.age]
role = "quasi-identifier"
[columns.sex]
role = "quasi-identifier"
[columns.ill]
role = "sensitive"
[[principles]]
name = "guarded-people"
column = "vip"
values = "yes"
k = 9
[output]
path = "out"
"""


def test_a_config_states_it(tmp_path):
    csv.write_csv(patients(), tmp_path / "people.csv")
    (tmp_path / "sfumato.toml").write_text(CONFIG, encoding="utf-8")
    assert sfumato("audit", "sfumato.toml", cwd=tmp_path).returncode == 1
    done = sfumato("anonymize", "sfumato.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = sfumato("verify", "out", "--original", "people.csv", "--config", "sfumato.toml", cwd=tmp_path)
    assert done.returncode == 0 and "not checked" not in done.stdout
    done = sfumato("verify", "out", cwd=tmp_path)
    assert done.returncode == 0 and "known only beside the original" in " ".join(done.stdout.split())

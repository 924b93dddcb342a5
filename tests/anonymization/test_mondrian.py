"""Mondrian: cuts respect hierarchies and stop where a principle would fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.anonymization.methods.cell_share_arrays import share_arrays
from sfumato.anonymization.methods.method import Task
from sfumato.anonymization.methods.mondrian import Mondrian
from sfumato.anonymization.recoding import RecodingKind
from sfumato.kernels.cell_shares import share
from small_tables import ORDER, TREE

MONOTONE = [
    sf.KAnonymity(2),
    sf.KAnonymity(4),
    sf.DistinctLDiversity(2),
    sf.EntropyLDiversity("1.5"),
    sf.AlphaKAnonymity("0.7", 2),
    sf.TCloseness("0.4"),
    sf.BetaLikeness("1", "enhanced"),
]

rows = st.lists(
    st.tuples(
        st.sampled_from([20, 21, 22, 30, 35, 60, None]),
        st.sampled_from([*TREE, None]),
        st.sampled_from(["x", "y", "z", None]),
        st.sampled_from(ORDER),
        st.sampled_from(["flu", "gut", "lung"]),
    ),
    min_size=4,
    max_size=40,
)


def table(cells):
    names = ["age", "job", "town", "rank", "ill"]
    columns = {name: [row[i] for row in cells] for i, name in enumerate(names)}
    kinds = {"age": "numeric", "job": "categorical", "town": "categorical", "rank": "ordinal"}
    tree = sf.Hierarchy.from_rows(list(TREE.values()))
    schema = sf.Schema(names[:4], ["ill"], kinds=kinds, orders={"rank": ORDER}, hierarchies={"job": tree})
    return sf.Table(pa.table(columns), schema)


def check_partition(of_row, rows):
    assert len(of_row) == rows
    assert sorted(set(of_row.tolist())) == list(range(of_row.max() + 1))


@given(rows, st.sampled_from([*MONOTONE[:5], MONOTONE[6]]), st.sampled_from(["0.6", "0.8", "0.95"]), st.booleans())
def test_cuts_through_sets_that_violate_a_principle_keep_what_holds(cells, other, confidence, relaxed):
    """The other principles hold in every group; credibility in every group if it holds for the table as one."""
    people = table(cells)
    modelled = people.with_schema(replace(people.schema, population=sf.Population(people.data)))
    task = Task(modelled, (other, sf.Credibility(confidence)))
    whole = [task.satisfied_at(np.zeros(len(cells), np.int64), None, [one]).all() for one in task.requirements]
    found = Mondrian(relaxed).group(task)
    check_partition(found.of_row, len(cells))
    for one, holds in zip(task.requirements, whole, strict=True):
        if holds:
            assert task.satisfied_at(found.of_row, None, [one]).all()


def test_sets_that_violate_credibility_are_cut_where_people_are_told_apart():
    """In the population most people of Ulm have flu and most of Rome gout, at every age; in the table half of each do."""
    ages, ills = [20, 30, 40, 50], ["flu", "gout"] * 2
    sick = {"Ulm": ["flu", "flu", "flu", "gout"], "Rome": ["flu", "gout", "gout", "gout"]}
    everyone = [(age, town, ill) for town in sick for age in ages for ill in sick[town]]
    population = pa.table({name: [row[place] for row in everyone] for place, name in enumerate(["age", "town", "ill"])})
    frame = pa.table({"age": ages * 2, "town": ["Ulm"] * 4 + ["Rome"] * 4, "ill": ills * 2})
    schema = sf.Schema(["age", "town"], ["ill"], population=sf.Population(population))
    task = Task(sf.Table(frame, schema), (sf.KAnonymity(4), sf.Credibility("0.6")))
    assert not task.satisfied(np.zeros(8, np.int64)).any()
    found = Mondrian().group(task)
    assert found.of_row.tolist() == [0] * 4 + [1] * 4 and task.satisfied(found.of_row).all()
    # by their spread alone, ages are cut first
    plain = Mondrian().group(Task(task.table, (sf.KAnonymity(4),)))
    assert plain.of_row.tolist() == [0, 0, 1, 1] * 2


@given(rows, st.sampled_from(MONOTONE), st.sampled_from(MONOTONE), st.booleans())
def test_every_group_satisfies_what_the_table_satisfies(cells, one, other, relaxed):
    task = Task(table(cells), (one, other))
    found = Mondrian(relaxed).group(task)
    check_partition(found.of_row, len(cells))
    whole = bool(task.satisfied(np.zeros(len(cells), np.int64))[0])
    assert task.satisfied(found.of_row).all() == whole
    assert bool(found.notes) != whole
    assert whole or found.count == 1
    assert (Mondrian(relaxed).group(task, seed=7).of_row == found.of_row).all()
    # the groups are numbered in the order of their first rows
    firsts = [int(np.flatnonzero(found.of_row == g)[0]) for g in range(found.count)]
    assert firsts == sorted(firsts)


@given(rows, st.integers(1, 4))
def test_strict_cuts_never_separate_equal_rows(cells, k):
    found = Mondrian().group(Task(table(cells), (sf.KAnonymity(k),)))
    seen = {}
    for row, group in zip(cells, found.of_row.tolist(), strict=True):
        assert seen.setdefault(row[:4], group) == group
    if k == 1:
        assert found.count == len(seen)


@given(rows)
def test_nodes_of_a_hierarchy_are_whole_or_cut_into_children(cells):
    """By one attribute with a hierarchy alone, two groups overlap only where a run of siblings was kept together."""
    of_row = Mondrian().group(hierarchy_task([row[1] for row in cells], 3)).of_row
    under = [("?", "?") if row[1] is None else TREE[row[1]][:2] for row in cells]
    for node in {middle for _, middle in under if middle != "?"}:
        inside = {g for g, (_, middle) in zip(of_row.tolist(), under, strict=True) if middle == node}
        if len(inside) > 1:  # the node was cut, so none of its groups reaches beyond it (but for missing values)
            for g in inside:
                assert {under[i][1] for i in np.flatnonzero(of_row == g)} <= {node, "?"}


@given(rows)
def test_shares_are_those_of_the_domains(cells):
    task = Task(table(cells), ())
    shares = share_arrays(task.domains)
    for j, domain in enumerate(task.domains):
        for low in range(domain.size + 1):
            for high in range(low, domain.size + 1):
                distinct = high - low + 1
                assert share(shares, j, low, high, distinct) == pytest.approx(domain.share(low, high, distinct))


def of_ages(ages, *principles, **options):
    data = sf.Table(pa.table({"age": ages, "pay": list(range(len(ages)))}), sf.Schema(["age"], ["pay"]))
    return Mondrian(**options).group(Task(data, principles))


def test_the_median_value_is_on_one_side_unless_relaxed():
    ages = [1, 2, 2, 2, 2, 3]
    assert of_ages(ages, sf.KAnonymity(2)).count == 1  # 1 | 5 and 5 | 1 are the only strict cuts
    assert of_ages(ages, sf.KAnonymity(1)).count == 3
    relaxed = of_ages(ages, sf.KAnonymity(3), relaxed=True)
    assert relaxed.of_row.tolist() == [0, 0, 0, 1, 1, 1]


def test_the_widest_attribute_is_cut_first_and_the_next_if_that_is_not_allowed():
    data = pa.table({"age": [20, 20, 60, 60], "zip": [1, 2, 1, 100]})
    task = Task(sf.Table(data, sf.Schema(["age", "zip"])), (sf.KAnonymity(2),))
    assert Mondrian().group(task).of_row.tolist() == [0, 0, 1, 1]
    data = pa.table({"age": [20, 20, 20, 60], "zip": [1, 1, 40, 40]})  # age would leave 60 alone
    task = Task(sf.Table(data, sf.Schema(["age", "zip"])), (sf.KAnonymity(2),))
    assert Mondrian().group(task).of_row.tolist() == [0, 0, 1, 1]


def hierarchy_task(values, k):
    tree = sf.Hierarchy.from_rows(list(TREE.values()))
    return Task(
        sf.Table(pa.table({"job": list(values)}), sf.Schema(["job"], hierarchies={"job": tree})), (sf.KAnonymity(k),)
    )


def test_a_hierarchy_is_cut_into_all_children_or_into_two_runs_of_them():
    task = hierarchy_task("aabbccdde", 1)
    assert task.domains[0].recoding is RecodingKind.ANCESTOR
    assert Mondrian().group(task).count == 5
    assert Mondrian().group(hierarchy_task("aabbccddee", 2)).count == 5
    # Z has only one row: Y and Z stay together, under the root
    assert Mondrian().group(hierarchy_task("aaaabbccdde", 2)).of_row.tolist() == [0] * 4 + [1] * 2 + [2] * 5


def test_missing_values_are_cut_off_last():
    task = Task(sf.Table(pa.table({"age": [1, 1, 2, 2, None, None]}), sf.Schema(["age"], kinds={"age": "numeric"})),
                (sf.KAnonymity(2),))  # fmt: skip
    assert Mondrian().group(task).of_row.tolist() == [0, 0, 1, 1, 2, 2]
    tree = sf.Hierarchy.from_rows(list(TREE.values()))
    jobs = sf.Table(pa.table({"job": ["a", "a", "c", "c", None, None]}), sf.Schema(["job"], hierarchies={"job": tree}))
    assert Mondrian().group(Task(jobs, (sf.KAnonymity(2),))).of_row.tolist() == [0, 0, 1, 1, 2, 2]
    assert Mondrian().group(Task(jobs, (sf.KAnonymity(3),))).of_row.tolist() == [0] * 6


def test_people_are_counted_if_the_schema_has_a_person_id():
    data = pa.table({"age": [1, 1, 2, 2], "who": ["p", "p", "q", "r"]})
    task = Task(sf.Table(data, sf.Schema(["age"], person_id="who")), (sf.KAnonymity(2),))
    assert Mondrian().group(task).count == 1
    assert task.satisfied(np.array([0, 0, 1, 1])).tolist() == [False, True]


def test_notes_name_principles_that_are_not_monotone():
    """{40,60} and {50,80} at ε = 15 are free of neighbours, their union is not: the cut of the whole table succeeds."""
    data = sf.Table(pa.table({"age": [1, 1, 2, 2], "pay": [40, 60, 50, 80]}), sf.Schema(["age"], ["pay"]))
    found = Mondrian().group(Task(data, (sf.Dissimilarity(15, 1, 2),)))
    assert found.of_row.tolist() == [0, 0, 1, 1]
    (note,) = found.notes
    assert "not monotone" in note
    assert "as one group does not satisfy it" in note


def test_nothing_to_cut_along():
    data = sf.Table(pa.table({"pay": [1, 2, 3]}), sf.Schema([], ["pay"]))
    assert Mondrian().group(Task(data, (sf.KAnonymity(2),))).of_row.tolist() == [0, 0, 0]


def test_parameters_as_a_config_states_them():
    assert Mondrian().parameters() == {"relaxed": False}


@pytest.mark.data
def test_real_data_in_small_groups(real_data):
    folder = real_data / "acs2018"
    quasi = ["age", "gender", "education", "marital", "race", "workclass", "birthplace"]
    schema = sf.Schema(quasi, ["occupation"], hierarchies={n: folder / f"hierarchies/{n}.csv" for n in quasi[1:]})
    task = Task(sf.read_table(folder / "sal_occ.csv.gz", schema), (sf.KAnonymity(10),))
    found = Mondrian().group(task)
    sizes = np.bincount(found.of_row)
    assert sizes.min() >= 10
    assert found.count > 10_000

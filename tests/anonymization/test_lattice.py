"""The method lattice and sf.full_domain: what they publish, when they stop, what they refuse."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from fixed_groups import as_seen
from sfumato.anonymization.methods.full_domain.equivalence_classes import TransformationCube
from sfumato.anonymization.methods.full_domain.transformation_search import TransformationSearch
from sfumato.registry import LOSSES
from test_transformation_search import REQUIREMENTS, Case

TOWNS = sf.Hierarchy.from_rows(
    [["Bonn", "Rhine", "*"], ["Mainz", "Rhine", "*"], ["Ulm", "Ulm", "*"], ["Rome", "Italy", "*"], ["Pisa", "Italy", "*"]]
)


def people(rows=60, seed=0):
    draw = np.random.default_rng(seed)
    town = [None if draw.random() < 0.05 else TOWNS.leaves[i] for i in draw.integers(0, 5, rows)]
    frame = {"age": draw.integers(20, 60, rows), "town": town, "sex": draw.choice(["f", "m"], rows)}
    return pa.table({**frame, "ill": draw.choice(["flu", "gout", "cold"], rows)})


SCHEMA = sf.Schema(
    ["age", "town", "sex"],
    ["ill"],
    hierarchies={"age": sf.Intervals((10, 20)), "town": TOWNS},
    kinds={"town": "categorical"},
)


def test_a_release_is_verified_reported_and_repeated(tmp_path):
    table = people()
    principles = [sf.KAnonymity(3), sf.DistinctLDiversity(2), sf.TCloseness("0.4")]
    release = sf.anonymize(table, SCHEMA, principles, method=sf.Lattice("precision"), suppress="0.3")
    first = release.save(tmp_path / "first", internal=tmp_path / "internal.html")
    assert sf.verify(first, original=table).holds
    again = sf.replay(first, table, seed=release.private.seed).save(tmp_path / "again")
    for name in ("data.csv", "release.json", "report.html"):
        assert (first / name).read_bytes() == (again / name).read_bytes()
    levels = {column["name"]: column.get("level") for column in release.to_dict()["columns"]}
    assert levels == {"group": None, "ill": None, **release.levels}
    assert any("transformations checked" in note for note in release.private.notes)
    assert not any("checked" in note for note in release.notes)


@pytest.mark.parametrize("levels", list(product(range(4), range(3), range(2))))
def test_every_cell_is_the_node_of_its_level(levels):
    table = sf.Table(people(), SCHEMA)
    cube = TransformationCube(sf.anonymization.Task(table, ()))
    of_row = cube.of_rows(levels).astype(np.int64)
    recoded = sf.anonymization.recode(table, sf.data.Groups(of_row, int(of_row.max()) + 1, table.rows), levels)
    shown = {column.domain.name: recoded.texts(column).to_pylist() for column in recoded.columns}
    for row, (age, town) in enumerate(zip(*(table.data[name].to_pylist() for name in ("age", "town")), strict=True)):
        width = {1: 10, 2: 20}.get(levels[0], 0)
        low = age // width * width if width else age
        assert shown["age"][row] == ([str(age), f"[{low}, {low + width})", f"[{low}, {low + width})", "*"])[levels[0]]
        node = None if town is None else TOWNS.generalize(town, levels[1])
        assert shown["town"][row] == ("*" if levels[1] == 2 else node)
        assert shown["sex"][row] == (table.data["sex"][row].as_py() if levels[2] == 0 else "*")
    assert len({tuple(shown[name][row] for name in shown) for row in range(table.rows)}) == recoded.groups.count
    for column, height in zip(recoded.columns, (3, 2, 1), strict=True):
        level = levels[[c.domain.name for c in recoded.columns].index(column.domain.name)]
        assert (column.shares == 1).all() if level == height else column.shares.max() < 1


def test_levels_that_groups_do_not_have_are_refused():
    table = sf.Table(people(), SCHEMA)
    with pytest.raises(sf.errors.ParameterError, match="different nodes of 'age'"):
        sf.anonymization.recode(table, sf.data.Groups(np.zeros(table.rows, np.int64), 1, table.rows), (0, 2, 1))
    with pytest.raises(sf.errors.ParameterError, match="invalid levels"):
        sf.anonymization.recode(table, sf.data.Groups(np.zeros(table.rows, np.int64), 1, table.rows), (3, 3, 1))


def test_classes_with_more_combinations_than_64_bits():
    draw = np.random.default_rng(5)
    names = [f"q{j}" for j in range(12)]
    base = draw.integers(0, 90, (150, 12))
    rows = base[draw.integers(0, 150, 600)]
    rows[:150] = base
    table = sf.Table(pa.table({name: rows[:, j] for j, name in enumerate(names)}), sf.Schema(names))
    cube = TransformationCube(sf.anonymization.Task(table, ()))
    assert not cube._exact
    for seed in range(20):
        levels = tuple(np.random.default_rng(seed).integers(0, 2, 12).tolist())
        plain = np.where(np.array(levels) == 0, rows, 0)
        sizes = np.unique(plain, axis=0, return_counts=True)[1]
        assert sorted(cube.classes(levels).sizes.tolist()) == sorted(sizes.tolist())


@pytest.mark.parametrize("loss", LOSSES)
def test_a_stopped_search_states_a_gap_that_holds(loss):
    for seed in (0, 6, 13, 33, 54, 77):
        case = Case(seed)
        task = sf.anonymization.Task(case.table, case.principles, suppress=case.limit)
        whole = TransformationSearch(task, loss, settled=False).best()
        if whole.score is None:
            continue
        for checks in range(1, whole.checked + 2):
            found = TransformationSearch(task, loss, settled=False).best(checks=checks)
            assert found.checked <= checks
            assert found.lowest <= float(whole.score) * (1 + 1e-12)
            if found.score is not None:
                assert found.score >= whole.score
            if found.proven:
                assert (found.score, found.levels) == (whole.score, whole.levels)


def test_rows_that_stay_in_violating_classes_however_a_class_is_split():
    """The bound of t-closeness for finer transformations, against all of those."""
    grounds = [place for place, (principle, _) in enumerate(REQUIREMENTS) if isinstance(principle, sf.TCloseness)]
    assert len(grounds) == 3
    for turn, place in product(range(20), grounds):
        case = Case(turn * len(REQUIREMENTS) + place)
        search = TransformationSearch(
            sf.anonymization.Task(case.table, case.principles[:1], suppress=Fraction(1, 2)), "mean", settled=False
        )
        (judge,) = search.judges
        rows = {}
        for levels in product(*(range(n) for n in search.shape)):
            classes = search.cube.classes(levels)
            found = judge.judged(classes)
            rows[levels] = float(found.kept_down @ classes.sizes), int(classes.sizes[found.violating].sum())
        for coarse, (bound, _) in rows.items():
            for fine, (_, violating) in rows.items():
                assert violating >= bound or not all(a <= b for a, b in zip(fine, coarse, strict=True))


def test_limits_and_losses_are_noted_and_checked():
    assert sf.Lattice().parameters() == {"loss": "mean"}
    limited = sf.Lattice("entropy", checks=1, seconds=5)
    assert limited.parameters() == {"loss": "entropy", "checks": 1, "seconds": 5}
    release = sf.anonymize(people(), SCHEMA, sf.KAnonymity(3), method=limited)
    assert release.levels == {"age": 3, "town": 2, "sex": 1}
    assert sum("there may be a better" in note for note in release.notes) == 2
    for make, words in [
        (lambda: sf.Lattice("entropie"), "Did you mean 'entropy'"),
        (lambda: sf.Lattice("nothing like it"), "discernibility"),
        (lambda: sf.Lattice(checks=0), "checks"),
        (lambda: sf.Lattice(checks=True), "checks"),
        (lambda: sf.Lattice(seconds=-1), "seconds"),
        (lambda: sf.Lattice(seconds=math.nan), "seconds"),
        (lambda: sf.full_domain(people(), SCHEMA, sf.KAnonymity(2), loss="x"), "losses are"),
        (lambda: sf.full_domain(people(), SCHEMA, sf.KAnonymity(2), suppress="1"), "out of range"),
        (lambda: sf.full_domain(people(), SCHEMA, sf.KAnonymity(61)), "larger than the table"),
        (lambda: sf.full_domain(people(), sf.Schema(sensitive=["ill"]), sf.KAnonymity(2)), "no quasi-identifier"),
    ]:
        with pytest.raises(sf.errors.ParameterError, match=words):
            make()


def test_columns_that_cannot_be_published_level_by_level_are_refused():
    declared = sf.Schema(["age", "sex"], recodings={"age": "interval"})
    with pytest.raises(sf.errors.ColumnError, match="'age': full-domain generalization publishes nodes"):
        sf.full_domain(people(), declared, sf.KAnonymity(2))
    with pytest.raises(sf.errors.HierarchyError, match="line 2 has 2 fields, line 1 has 3"):
        sf.Hierarchy.from_rows([["a", "A", "*"], ["b", "*"]])


def test_an_error_says_how_far_the_search_got():
    table = pa.table({"sex": ["f", "f", "m", "m"], "ill": ["flu", "flu", "flu", "gout"]})
    with pytest.raises(sf.errors.RequirementError, match="2 of 4 rows"):
        sf.full_domain(table, sf.Schema(["sex"], ["ill"]), sf.FrequencyLDiversity(2), suppress="0.4")
    with pytest.raises(sf.errors.RequirementError):
        sf.anonymize(table, sf.Schema(["sex"], ["ill"]), sf.FrequencyLDiversity(2), method="lattice", suppress="0.4")


def test_a_result_is_plain_data_and_readable():
    found = sf.full_domain(people(), SCHEMA, sf.KAnonymity(5), suppress="0.1", count=True)
    assert found.to_dict()["levels"] == found.levels
    assert found.transformations == 4 * 3 * 2
    assert 0 < found.admissible < 24
    assert str(found.admissible) in repr(found)
    assert repr(found).splitlines()[0].startswith("Full-domain generalization: age ")
    stopped = sf.full_domain(people(), SCHEMA, sf.KAnonymity(5), checks=1)
    assert not stopped.proven
    assert stopped.gap > 0
    assert "not proven optimal, gap 1" in repr(stopped)


def test_a_principle_of_your_own_is_supported():
    from dataclasses import dataclass

    from sfumato.principles.principle import Measurement, Principle, size_part

    @dataclass(frozen=True)
    class Even(Principle):
        """Every group has at least two rows, counted row by row."""

        name = "even"
        title = "even"
        monotone = True
        scope = "groups"

        def measure(self, view):
            assert len(view.groups.of_row) == view.table.rows
            assert sf.data.Groups.of(view.table).count >= view.groups.count
            return Measurement((size_part(view, 2),))

    own = sf.full_domain(people(), SCHEMA, Even())
    assert own.levels == sf.full_domain(people(), SCHEMA, sf.KAnonymity(2)).levels


def test_a_transformation_that_leaves_too_few_rows_to_measure_is_not_released():
    """After suppression fewer rows are left than (n,t)-closeness requires."""
    table = pa.table({"sex": ["f", "f", "m", "m", "m"], "ill": ["flu", "gout", "flu", "gout", "gout"]})
    schema = sf.Schema(["sex"], ["ill"])
    principles = [sf.NTCloseness(4, "0.4"), sf.KAnonymity(3)]
    assert sf.full_domain(table, schema, principles, suppress="0.5").levels == {"sex": 0}
    assert sf.anonymize(table, schema, principles, method="lattice", suppress="0.5").levels == {"sex": 1}


def test_the_published_files_do_not_reveal_who_has_which_secret(tmp_path):
    """Secrets are permuted within the published groups: if the levels are the same, every byte is."""
    table = people(80, seed=3)
    principles = [sf.KAnonymity(3), sf.TCloseness("0.5")]
    method = sf.Lattice(checks=9)
    first = sf.anonymize(table, SCHEMA, principles, method=method, suppress="0.2")
    first.save(tmp_path / "first")
    of_row = TransformationCube(sf.anonymization.Task(sf.Table(table, SCHEMA), ())).of_rows(tuple(first.levels.values()))
    same = 0
    for seed in range(6):
        draw = np.random.default_rng(seed)
        order = np.arange(80)
        for group in np.unique(of_row):
            rows = np.flatnonzero(of_row == group)
            order[rows] = draw.permutation(rows)
        permuted = table.set_column(3, "ill", table["ill"].take(pa.array(order)))
        release = sf.anonymize(permuted, SCHEMA, principles, method=method, suppress="0.2")
        if release.levels == first.levels:
            same += 1
            release.save(tmp_path / str(seed))
            for name in ("data.csv", "release.json", "report.html"):
                assert (tmp_path / str(seed) / name).read_bytes() == (tmp_path / "first" / name).read_bytes()
    assert same


def test_a_single_value_under_a_node_is_not_revealed(tmp_path):
    """83 is the only age in its interval, and 7 the only value of its column: neither is published in any form."""
    ages = [31, 34, 38] * 200 + [47, 48, 46] * 200 + [83] * 600
    table = pa.table({"age": ages, "zone": [7] * 1800, "ill": ["flu", "gout", "cold"] * 600})
    schema = sf.Schema(["age", "zone"], ["ill"], hierarchies={"age": sf.Intervals((10,))})

    class Tens(sf.Method):
        def group(self, task, seed=0):
            return sf.anonymization.Grouping(as_seen(np.arange(1800) // 600, task, seed), levels=(1, 1))

    release = sf.anonymize(table, schema, sf.KAnonymity(3), method=Tens())
    age, zone = release.to_dict()["figures"]["columns"][:2]
    assert zone["labels"] == ["others"]
    assert age["labels"][-1].endswith(" 89")  # the interval as it is published, to its end
    folder = release.save(tmp_path / "out")
    assert sf.verify(folder, original=table).holds
    published = (folder / "data.csv").read_text(encoding="utf-8")
    assert "[80, 90)" in published
    assert "83" not in published

"""Limits on cells: `never_mix` and `coarsest` hold in every release of every method, and impossible ones are refused."""

from __future__ import annotations

import copy
import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from naive_limits import class_of, covered, smallest_cell
from sfumato.anonymization.attempt import attempt_with
from sfumato.anonymization.methods import Grouping, Method, Task
from small_tables import TREE
from standin import Chunks

HIERARCHY = sf.Hierarchy.from_rows(TREE.values())
METHODS = [sf.Glaze(), sf.Mondrian(), sf.Mondrian(relaxed=True), sf.Lattice(), Chunks(2)]
PLACES = {"home": "alive", "rehab": "alive", "died": "dead", "hospice": "dead"}


@st.composite
def limited_tables(draw):
    """Rows (letter, number, secret) and limits on both quasi-identifiers."""
    rows = draw(st.lists(st.tuples(st.sampled_from([*"abcde", None]), st.integers(0, 5)), min_size=1, max_size=16))
    letters = sorted({letter for letter, _ in rows if letter is not None})
    numbers = sorted({number for _, number in rows})
    recoding = draw(st.sampled_from(["ancestor", "set"]))
    limits, schema = {}, {"recodings": {"q": recoding}, "hierarchies": {"q": HIERARCHY}}
    if letters:
        nodes = {TREE[letter][1] for letter in letters}
        names = draw(st.lists(st.sampled_from(sorted(nodes) if draw(st.booleans()) else letters), unique=True, max_size=3))
        if names:
            limits["q"] = [names[:1], *([names[1:]] if names[1:] else [])]
    if draw(st.booleans()):
        limits["n"] = [[value] for value in draw(st.lists(st.sampled_from(numbers), min_size=1, max_size=2, unique=True))]
    level = draw(st.none() | st.integers(0, 2)) if letters else None
    schema |= {"never_mix": limits, "coarsest": {} if level is None else {"q": level}}
    return rows, schema, level


def shares_cell(one, other, rows, schema, level):
    """Whether two rows may share a group: in each column the smallest cell over both has values of one class."""
    for j, (name, tree) in enumerate((("q", TREE), ("n", None))):
        recoding = schema["recodings"]["q"] if tree else "interval"
        values = {row[j] for row in rows}
        limited = schema["never_mix"].get(name, [])
        if not limited and not (tree and level not in (None, 2)):
            continue
        cell = smallest_cell(one[j], other[j], values, recoding, tree)
        if len({class_of(value, limited, level, tree) for value in cell}) > 1:
            return False
    return True


@given(limited_tables(), st.sampled_from(METHODS), st.sampled_from([0, "0.5"]))
def test_no_release_of_any_method_breaks_a_limit(case, method, suppress):
    rows, kwargs, level = case
    table = pa.table(
        {"q": pa.array([q for q, _ in rows], pa.string()), "n": [n for _, n in rows], "s": list(range(len(rows)))}
    )
    schema = sf.Schema(["q", "n"], ["s"], **kwargs)
    if isinstance(method, sf.Lattice) and kwargs["recodings"]["q"] == "set":
        schema = sf.Schema(["q", "n"], ["s"], **{**kwargs, "recodings": {}})
        kwargs = {**kwargs, "recodings": {"q": "ancestor"}}
    together = [sum(shares_cell(row, other, rows, kwargs, level) for other in rows) for row in rows]
    if len(rows) < 2:
        return
    try:
        release = sf.anonymize(table, schema, sf.KAnonymity(2), method=method, suppress=suppress)
    except sf.errors.RequirementError:
        if not isinstance(method, sf.Lattice):  # the others can always publish each stratum as one group
            alone = sum(count < 2 for count in together)
            assert alone > (len(rows) // 2 if suppress else 0)
        return
    assert suppress or min(together) >= 2
    for j, (name, tree) in enumerate((("q", TREE), ("n", None))):
        values = {row[j] for row in rows}
        limited = kwargs["never_mix"].get(name, [])
        for cell in set(release.frame[name].to_pylist()):
            if limited or (tree and level not in (None, 2)):
                inside = covered(cell, values, tree)
                assert len({class_of(value, limited, level, tree) for value in inside}) <= 1, (name, cell)
            if tree and level not in (None, 2) and cell is not None and not cell.startswith("{"):
                assert any(cell in TREE[leaf][: level + 1] for leaf in TREE), cell


@pytest.fixture(scope="module")
def patients():
    draw = np.random.default_rng(3)
    end = draw.choice(list(PLACES), 120, p=[0.5, 0.2, 0.2, 0.1])
    columns = {"end": end, "age": draw.integers(20, 90, 120), "ill": draw.choice(list("abcd"), 120)}
    return pa.table({**columns, "pay": draw.integers(0, 1000, 120)})


def ends(**more):
    tree = sf.Hierarchy.from_rows([leaf, node, "*"] for leaf, node in PLACES.items())
    return sf.Schema(["end", "age"], ["ill", "pay"], hierarchies={"end": tree}, **more)


@pytest.mark.parametrize("method", ["glaze", "mondrian", "lattice", "xcolor"])
@pytest.mark.parametrize("limits", [{"never_mix": {"end": ["dead", "alive"]}}, {"coarsest": {"end": 1}}])
def test_every_method_honours_limits_and_verification_confirms_it(patients, method, limits, tmp_path):
    if method == "xcolor":
        required = sf.Dissimilarity(epsilon=20, delta="0.5", k=4, on="pay")
    else:
        required = sf.TCloseness("0.5", on="ill")
    release = sf.anonymize(patients, ends(**limits), [required, sf.KAnonymity(4)], method=method)
    assert "*" not in release.frame["end"].to_pylist()
    checks = {check.name: check for check in sf.verify(release.save(tmp_path / "out"), original=patients).checks}
    assert checks["limits"].holds
    assert {check.name: check for check in sf.verify(tmp_path / "out").checks}["limits"].holds is None


def test_closeness_refers_to_the_whole_table():
    # among the dead all have a; in the table half have, so the distance of that group is exactly 1/2
    table = pa.table({"end": ["dead"] * 4 + ["alive"] * 4, "ill": list("aaaabbbb")})
    schema = sf.Schema(["end"], ["ill"], never_mix={"end": ["dead"]})
    for method in ("glaze", "mondrian", "lattice"):
        assert sf.anonymize(table, schema, [sf.TCloseness("0.5")], method=method).audit.holds
        with pytest.raises(sf.errors.RequirementError, match=r"'end' = 'alive' \(4 rows\) cannot satisfy t-closeness"):
            sf.anonymize(table, schema, [sf.TCloseness("0.4")], method=method)


def test_a_tampered_cell_fails_verification(patients, tmp_path):
    free = sf.anonymize(patients, ends(recodings={"end": "ancestor"}), sf.KAnonymity(40), method=Chunks(40))
    assert "*" in free.frame["end"].to_pylist()
    folder = free.save(tmp_path / "free")
    stated = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    for limit, problem in (({"never_mix": ["died"]}, "'*' mixes values"), ({"coarsest": 1}, "'*' mixes values")):
        document = copy.deepcopy(stated)
        document["config"]["columns"]["end"] |= limit
        (folder / "release.json").write_text(json.dumps(document), encoding="utf-8")
        failing = [check for check in sf.verify(folder, original=patients).checks if check.holds is False]
        assert [check.name for check in failing] == ["limits"]
        assert problem in failing[0].detail


def test_a_small_stratum_is_named_and_can_be_suppressed(patients):
    schema = ends(never_mix={"end": ["died"]})
    died = patients["end"].to_pylist().count("died")
    with pytest.raises(
        sf.errors.RequirementError, match=rf"'end' = 'died' \({died} rows\) .* k-anonymity \(k = 30\)"
    ) as caught:
        sf.anonymize(patients, schema, sf.KAnonymity(30))
    assert caught.value.column == "end"
    release = sf.anonymize(patients, schema, sf.KAnonymity(30), suppress="0.4")
    assert "died" not in str(release.frame["end"].to_pylist())
    with pytest.raises(sf.errors.RequirementError, match="of which 1 may be suppressed"):
        sf.anonymize(patients, schema, sf.KAnonymity(30), suppress="0.01")


def test_a_method_that_claims_to_honour_limits_is_checked(patients):
    class Liar(Method):
        honours_limits = True

        def group(self, task: Task, seed: int = 0) -> Grouping:
            return Grouping(np.zeros(task.table.rows, np.int64))

    with pytest.raises(sf.errors.ParameterError, match=r"Liar puts rows with 'end' = .* into one group"):
        sf.anonymize(patients, ends(never_mix={"end": ["died"]}), sf.KAnonymity(2), method=Liar())


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"never_mix": {"end": ["dyed"]}}, "never_mix names 'dyed', which is no value of the column, nor a node"),
        ({"never_mix": {"end": ["dead", "died"]}}, "never_mix names 'died', and a value under it again"),
        ({"never_mix": {"age": [17]}}, "never_mix names '17', which is no value"),
        ({"coarsest": {"end": 3}}, "coarsest = 3, but the hierarchy of the column has the levels 0 to 2"),
    ],
)
def test_limits_that_do_not_fit_the_data(patients, limits, message):
    with pytest.raises(sf.errors.ColumnError, match=message) as caught:
        sf.anonymize(patients, ends(**limits), sf.KAnonymity(2))
    assert caught.value.column == next(iter(next(iter(limits.values()))))


@pytest.mark.parametrize("weight", [-1, float("nan"), "much", None, True])
def test_invalid_weights(weight):
    with pytest.raises(sf.errors.ColumnError, match="not a number of at least 0"):
        sf.Schema(["age"], weights={"age": weight})


def test_weights_of_zero_only():
    with pytest.raises(sf.errors.ColumnError, match="every quasi-identifier has the weight 0"):
        sf.Schema(["age"], weights={"age": 0})


@pytest.mark.parametrize("method", ["glaze", "mondrian", "lattice", Chunks(2)])
def test_a_heavy_column_stays_exact(method):
    # 2 × 2 combinations with 2 rows each along either column: one column can stay exact, the other cannot
    table = pa.table({"a": list("xxxxyyyy"), "b": list("pqrspqrs")})
    for heavy, other in (("a", "b"), ("b", "a")):
        schema = sf.Schema(["a", "b"], weights={heavy: 100})
        if isinstance(method, Chunks):
            task = Task(sf.Table(table, schema), ())
            assert task.weights[schema.quasi_identifiers.index(heavy)] == pytest.approx(200 / 101)
            continue
        release = sf.anonymize(table, schema, sf.KAnonymity(2), method=method)
        losses = release.utility.loss.columns
        assert losses[heavy] == 0 < losses[other]
        assert release.loss == pytest.approx(losses[other] / 2)
        assert release.weighted_loss == pytest.approx(losses[other] / 101)
        assert release.document.utility.loss.ncp == pytest.approx(release.weighted_loss)


def test_equal_weights_change_nothing(patients):
    plain, equal = ends(), ends(weights={"end": 3, "age": 3})
    both = [sf.anonymize(patients, schema, sf.KAnonymity(5), seed=0).frame for schema in (plain, equal)]
    assert both[0].equals(both[1])


@pytest.mark.parametrize("method", ["glaze", "mondrian", "lattice", Chunks(2)])
def test_limits_on_people_with_several_rows(method, tmp_path):
    """Each person's rows are of one class; rehab is never the first value of a person, yet it is listed."""
    rows = [(0, "died"), (1, "died"), (2, "home"), (2, "rehab"), (3, "home"), (4, "home"), (4, "rehab"), (5, "home")]
    table = pa.table(
        {"who": [who for who, _ in rows], "end": [end for _, end in rows], "age": [30 + who for who, _ in rows]}
    )
    tree = sf.Hierarchy.from_rows([leaf, node, "*"] for leaf, node in PLACES.items())
    limits = {"never_mix": {"end": ["died", ["home", "rehab"]]}, "hierarchies": {"end": tree}}
    release = sf.anonymize(table, sf.Schema(["end", "age"], person_id="who", **limits), sf.KAnonymity(2), method=method)
    cells = set(release.frame["end"].to_pylist())
    assert "died" in cells or "dead" in cells
    assert "*" not in cells
    folder = release.save(tmp_path / "out")
    assert {check.name: check.holds for check in sf.verify(folder, original=table).checks}["limits"]


def test_a_frontier_of_a_sample_keeps_the_limits_that_occur_in_it(patients):
    rare = pa.concat_tables([patients, pa.table({"end": ["lost"], "age": [50], "ill": ["a"], "pay": [1]})])
    schema = sf.Schema(["end", "age"], ["pay"], never_mix={"end": ["lost", "died"]})
    attempt = attempt_with(sf.Table(rare, schema), sf.Mondrian(), sample=60)
    free = attempt_with(sf.Table(rare, sf.Schema(["end", "age"], ["pay"])), sf.Mondrian(), sample=60)
    principle = sf.Dissimilarity(epsilon=1, delta="0.5", k=10)
    assert attempt(principle) not in (None, free(principle))
    with pytest.raises(sf.errors.RequirementError, match="'end' = 'lost'"):
        sf.anonymize(rare, schema, sf.KAnonymity(2))


def test_an_open_recoding_honours_limits(tmp_path):
    """The node above home and rehab covers the dead as well, so it must not be published in place of the set."""
    rows = [["home", "any", "*"], ["rehab", "any", "*"], ["died", "any", "*"], *([f"leaf{i}", "no", "*"] for i in range(50))]
    table = pa.table({"end": ["home", "rehab", "died", "died"] * 3})
    trees = {"end": sf.Hierarchy.from_rows(rows)}
    schema = sf.Schema(["end"], hierarchies=trees, never_mix={"end": ["died"]})
    release = sf.anonymize(table, schema, sf.KAnonymity(6))
    assert set(release.frame["end"].to_pylist()) == {"died", "{home; rehab}"}
    release.save(tmp_path / "out")

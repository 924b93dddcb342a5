"""Withheld releases: the written cells are those that were chosen, and are read back unchanged."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.schema import Schema
from sfumato.disclosure import Dictionary
from sfumato.disclosure._withhold import withhold
from sfumato.disclosure.withheld.withheld_rows import withheld_rows
from sfumato.errors import FileError, ParameterError, ReleaseError
from sfumato.releases.model_base import as_json
from sfumato.releases.row_key import read_key

AWKWARD = ["*", "", '"', '"*"', "=1+1", "a;b", " x", "{a}", "[1, 2]", "ü", "plain"]
PEOPLE = pa.table(
    {
        "name": ["Ann", "Bob", "Cy", "Di", "Eve"],
        "age": [30, 30, 41, 41, 57],
        "town": ["Ulm", "Ulm", "Bonn", None, "Ulm"],
        "job": ["baker", "smith", "smith", "baker", "judge"],
    }
)
KEEP = Schema(undeclared="keep")
SCHEMA = Schema(identifiers=["name"], undeclared="keep")


def made(people=PEOPLE, cells=2, **more):
    register = Dictionary(people, identity="name", name="register")
    return withhold(people, SCHEMA, register, cells, identity="name", **more)


@pytest.mark.parametrize("per, cells", [("record", 2), ("attribute", 3), ("table", 7)])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_what_is_written_is_what_was_chosen(tmp_path, per, cells, form):
    found = made(cells=cells, per=per)
    folder = found.save(tmp_path / "out", format=form)
    assert sf.verify(folder, PEOPLE).holds
    rule, rows = found.rule.disclosed, found.rows
    cells = found.frame.to_pylist()
    for at, record in enumerate(rows.tolist()):
        for j, name in enumerate(("age", "town", "job")):
            value = PEOPLE.column(name)[record].as_py()
            wanted = None if value is None else str(value) if rule[record, j] else "*"
            assert cells[at][name] == wanted


def test_the_order_of_the_records_is_not_told(tmp_path):
    turned = PEOPLE.take(pa.array([3, 0, 4, 2, 1]))
    first, second = made().save(tmp_path / "a"), made(turned).save(tmp_path / "b")
    for name in ("data.csv", "release.json"):
        assert (first / name).read_bytes() == (second / name).read_bytes()


@pytest.mark.parametrize("per, cells", [("record", 2), ("attribute", 3), ("table", 7)])
def test_the_seed_changes_no_risk_and_is_kept_in_the_key(tmp_path, per, cells):
    releases = [made(cells=cells, per=per, seed=seed) for seed in (7, 8)]
    assert releases[0].risk.risk == pytest.approx(releases[1].risk.risk)
    assert made(cells=cells, per=per, seed=7).frame.equals(releases[0].frame)
    releases[0].save(tmp_path / "out", key=tmp_path / "key.json")
    assert read_key(tmp_path / "key.json").seed == 7
    assert "seed" not in (tmp_path / "out" / "release.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_come_back_in_their_library(library):
    frame = PEOPLE.to_pandas() if library == "pandas" else pytest.importorskip("polars").from_arrow(PEOPLE)
    assert type(made(frame).frame) is type(frame)


def test_release_json_tells_nothing_of_single_records(tmp_path):
    folder = made(sensitivity=sf_additive(records=[1, 2, 3, 4, 5])).save(tmp_path / "out")
    content = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    assert content["sensitivity"]["records"] == "by record"
    assert "bound" not in json.dumps(content)


def sf_additive(**more):
    from sfumato.disclosure import Additive

    return Additive(**more)


TAMPERED = {
    "a withheld cell is told": lambda text: text.replace("*", "30", 1),
    "a value is changed": lambda text: text.replace("Bonn", "Ulm", 1),
    "a row is gone": lambda text: "\n".join(text.splitlines()[:-1]) + "\n",
    "a row stands twice": lambda text: "\n".join([*text.splitlines()[:-1], text.splitlines()[1]]) + "\n",
}


@pytest.mark.parametrize("how", TAMPERED)
def test_tampering_is_found(tmp_path, how):
    folder = made().save(tmp_path / "out")
    data, manifest = folder / "data.csv", folder / "release.json"
    before = data.read_text(encoding="utf-8")
    after = TAMPERED[how](before)
    assert after != before
    data.write_text(after, encoding="utf-8")
    assert not sf.verify(folder, PEOPLE)
    # whoever changes the data can change the digest too: then the counts, the rule or the original tell
    from sfumato.releases.digests import digest

    content = json.loads(manifest.read_text(encoding="utf-8"))
    content["files"]["data.csv"] = digest(data).to_dict()
    manifest.write_text(as_json(content), encoding="utf-8")
    assert not sf.verify(folder, PEOPLE)


def test_a_shuffled_column_of_a_large_table_is_found(tmp_path):
    """Four unlike rows, each thousands of times: nothing is withheld, so only which values stand together can tell."""
    from sfumato.releases.digests import digest

    n = 8000
    table = pa.table({"s": ["fm"[i % 2] for i in range(n)], "t": ["uv"[i // 2 % 2] for i in range(n)]})
    table = table.append_column("x", table.column("t"))
    folder = withhold(table, KEEP, Dictionary(table, name="itself"), 3).save(tmp_path / "out")
    assert sf.verify(folder, table).holds
    data, manifest = folder / "data.csv", folder / "release.json"
    head, *rows = [line.split(",") for line in data.read_text(encoding="utf-8").split()]
    turned = [[s, rows[i - 1][1], x] for i, (s, _, x) in enumerate(rows)]
    data.write_text("".join(",".join(row) + "\n" for row in [head, *turned]), encoding="utf-8")
    content = json.loads(manifest.read_text(encoding="utf-8"))
    content["files"]["data.csv"] = digest(data).to_dict()
    manifest.write_text(as_json(content), encoding="utf-8")
    assert [check.name for check in sf.verify(folder, table).checks if check.holds is False] == ["rows"]


def test_a_star_that_tells_nothing_stays_one(tmp_path):
    """Of a release that holds `*` already more can be withheld: there it is a value that is missing."""
    table = pa.table({"a": ["*", "1", "2"], "b": ["x", "y", "z"]})
    register = Dictionary(pa.table({"a": [1, 2], "b": ["x", "y"]}))
    found = withhold(table, KEEP, register, 1, consistency={"a": sf.disclosure.ContainmentConsistency()})
    folder = found.save(tmp_path / "out")
    assert found.frame.column("a").null_count == 1
    assert sf.verify(folder, table).holds


def test_what_may_name_people_is_told():
    people = pa.table({"who": [f"p{i}" for i in range(30)], "age": [30 + i % 3 for i in range(30)]})
    found = withhold(people, KEEP, Dictionary(people, name="itself"), 1)
    assert len(found.notes) == 1 and "'who'" in found.notes[0]
    assert withhold(people, Schema(["age"], other=["who"]), Dictionary(people, name="itself"), 1).notes == ()


def test_shares_are_of_what_there_is():
    sparse = pa.table({"a": ["x", None, None, None], "b": ["y", "z", None, None]})
    found = withhold(sparse, KEEP, Dictionary(sparse, name="itself"), "50%", per="table")
    assert (found.cells, found.risk.disclosed_cells) == (1, 1)


def test_other_verbs_refuse_a_release_without_groups(tmp_path):
    folder = made().save(tmp_path / "out")
    with pytest.raises(ReleaseError, match="no groups"):
        sf.replay(folder, PEOPLE)


def test_nothing_is_replaced_unasked(tmp_path):
    folder = made().save(tmp_path / "out")
    with pytest.raises(FileError, match="already"):
        made().save(folder)
    made(seed=5).save(folder, force=True)
    (folder / "mine.txt").write_text("x", encoding="utf-8")
    with pytest.raises(FileError, match=r"mine\.txt"):
        made().save(folder, force=True)


@pytest.mark.parametrize("cells", [-1, 4, "101%", "x", 1.5, True, float("nan")])
def test_too_many_cells(cells):
    with pytest.raises(ParameterError, match="cells per record cannot be disclosed"):
        made(cells=cells)


def test_against_a_prior_that_is_not_there():
    with pytest.raises(ParameterError, match="no prior"):
        made(against="prior")
    with pytest.raises(ParameterError, match="unknown"):
        made(against="best")
    with pytest.raises(ParameterError, match="unknown per = 'row'"):
        made(per="row")


def test_minrisk_of_more_attributes_than_a_search_takes(tmp_path):
    draw = np.random.default_rng(3)
    names = [f"a{j}" for j in range(70)]
    wide = pa.table({"name": [f"p{i}" for i in range(60)], **{name: draw.integers(0, 3, 60) for name in names}})
    phi = sf.disclosure.Multiplicative(default="0.1")
    with pytest.raises(ParameterError, match=r"70 attributes are too many.*min-risk"):
        made(wide, 4, sensitivity=phi)
    found = made(wide, 4, sensitivity=phi, search="min-risk")
    assert (found.rule.disclosed.sum(axis=1) == 4).all()
    assert found.rule.bound <= found.rule.risk < found.full_risk.risk
    assert found.risk.risk == pytest.approx(found.rule.risk)
    folder = found.save(tmp_path / "out")
    assert sf.verify(folder, wide, dictionaries=[Dictionary(wide, identity="name", name="register")]).holds


def test_minrisk_where_the_best_rule_is_known():
    """On a small table the bound is below the least risk, which the complete search finds, and MinRisk is not."""
    phi = sf.disclosure.Multiplicative({"age": "0.5"}, default=0)
    best, fast = made(sensitivity=phi), made(sensitivity=phi, search="min-risk")
    assert fast.rule.bound <= best.rule.risk * (1 + 1e-9)
    assert best.rule.risk <= fast.rule.risk * (1 + 1e-9)


def test_minrisk_that_cannot_be():
    phi = sf.disclosure.Multiplicative()
    for more, words in (
        ({"search": "fast"}, "unknown search = 'fast'"),
        ({"search": "min-risk"}, "requires a multiplicative sensitivity"),
        ({"search": "min-risk", "sensitivity": phi, "per": "table"}, "per record, not per table"),
        ({"search": "min-risk", "sensitivity": phi, "misfits": 1}, "requires a multiplicative"),
    ):
        with pytest.raises(ParameterError, match=words):
            made(**more)
    registers = [Dictionary(PEOPLE, identity="name", name=name) for name in ("one", "two")]
    with pytest.raises(ParameterError, match="one dictionary, and there are 2"):
        withhold(PEOPLE, SCHEMA, registers, 2, identity="name", search="min-risk", sensitivity=phi)


@given(st.data())
def test_any_value_can_be_read_back(data):
    """Values that look like what stands for withheld or missing cells are told apart from it, in files too."""
    rows, columns = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 3))
    cells = (
        st.none() | st.sampled_from(AWKWARD) | st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=3)
    )
    names = [f"c{j}" for j in range(columns)]
    table = pa.table(
        {name: pa.array(data.draw(st.lists(cells, min_size=rows, max_size=rows)), pa.string()) for name in names}
    )
    rule = np.array(
        data.draw(st.lists(st.lists(st.booleans(), min_size=columns, max_size=columns), min_size=rows, max_size=rows))
    )
    schema = Schema(kinds=dict.fromkeys(names, "categorical"), missing=sf.data.Missing(()))
    present = np.array([[cell is not None for cell in row.values()] for row in table.to_pylist()])
    published, order = withheld_rows(sf.Table(table, schema), names, rule, present)
    for at, record in enumerate(order.tolist()):
        for j, name in enumerate(names):
            value, shown = table.column(name)[record].as_py(), published.column(name)[at].as_py()
            if value is None:
                assert shown is None
            elif not rule[record, j]:
                assert shown == "*"
            else:
                assert shown != "*" and (shown == value or shown == '"' + value.replace('"', '""') + '"')
                assert (shown[0] == '"') == (value in ("", "*") or value[:1] == '"')


def test_awkward_values_survive_the_files(tmp_path):
    table = pa.table({"id": list(map(str, range(len(AWKWARD)))), "a": AWKWARD, "b": AWKWARD[::-1]})
    kinds = {"a": "categorical", "b": "categorical"}
    schema = Schema(["a", "b"], identifiers=["id"], kinds=kinds, missing=sf.data.Missing(()))
    register = Dictionary(table, identity="id", name="register", missing=())
    for form in ("csv", "parquet"):
        folder = withhold(table, schema, register, 1, identity="id").save(tmp_path / form, format=form)
        assert sf.verify(folder, table, schema=schema).holds


def test_bad_folder_leaves_nothing(tmp_path):
    with pytest.raises(FileError):
        made().save(tmp_path / "no" / "where")
    with pytest.raises(ParameterError, match="format"):
        made().save(tmp_path / "out", format="xml")
    assert list(Path(tmp_path).iterdir()) == []


def test_a_pickle_holds_nothing_private(tmp_path):
    """Neither names nor withheld values nor the order of the records; what may be published stays available."""
    people = pa.table(
        {"name": ["Ann-7f3", "Bob-7f3"], "age": [30, 41], "town": ["Ulm-7f3", "Ulm-7f3"], "pay": ["x-7f3", "y-7f3"]}
    )
    register = Dictionary(people, identity="name", name="register")
    release = withhold(people, SCHEMA, register, 1, identity="name", sensitivity=sf_additive(weights={"pay": "inf"}))
    content = pickle.dumps(release)
    for private in (b"Ann-7f3", b"x-7f3", b"y-7f3"):
        assert private not in content
    loaded = pickle.loads(content)
    assert loaded.frame.equals(release.frame) and loaded.to_dict() == release.to_dict()
    assert repr(loaded) == repr(release)
    for name in ("setting", "rule", "risk", "full_risk", "notes", "rows"):
        with pytest.raises(ReleaseError, match="not available"):
            getattr(loaded, name)
    with pytest.raises(ReleaseError, match="not available"):
        loaded.save(tmp_path / "out")
    assert "7f3" not in repr(release.private)

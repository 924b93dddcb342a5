"""Verification against what the caller expects, and of statements that no release can make."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import ClassVar

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.anonymization import release as release_module
from sfumato.anonymization._anonymize import anonymize
from sfumato.releases.model_base import as_json
from sfumato.verification._verify import verify
from sfumato.verification.checks import Check, Verification
from standin import Chunks

TREE = [["Rome", "Italy", "*"], ["Milan", "Italy", "*"], ["Bonn", "Germany", "*"]]
TABLE = pa.table(
    {
        "age": [20 + i for i in range(12)],
        "town": [TREE[i % 3][0] for i in range(12)],
        "size": [["s", "m", "l"][i % 3] for i in range(12)],
        "income": [10 * i for i in range(12)],
        "ill": [["flu", "cold"][i % 2] for i in range(12)],
        "note": ["x"] * 12,
    }
)
SCHEMA = sf.Schema(
    quasi_identifiers=["age", "town", "size"],
    sensitive=["income", "ill"],
    other=["note"],
    orders={"size": ["s", "m", "l"]},
    hierarchies={"town": sf.Hierarchy.from_rows(TREE)},
    distance=sf.distances.Lp(2, weights={"income": 3}),
    distances={"income": sf.distances.Absolute()},
)
PRINCIPLES = [sf.KAnonymity(2), sf.DistinctLDiversity(2, on="ill"), sf.Dissimilarity(1, "0.5", 2, on="income")]


@pytest.fixture
def folder(tmp_path):
    return anonymize(TABLE, SCHEMA, PRINCIPLES, method=Chunks(4)).save(tmp_path / "out")


def claim(folder, change):
    path = folder / "release.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(as_json(content), encoding="utf-8")


def failing(found):
    return [check.name for check in found.checks if check.holds is False]


def test_equal_declarations_do_not_differ(folder, tmp_path):
    (tmp_path / "towns.csv").write_text("".join(";".join(row) + "\n" for row in reversed(TREE)), encoding="utf-8")
    by_file = replace(SCHEMA, hierarchies={"town": tmp_path / "towns.csv"})
    for schema in (None, SCHEMA, by_file, replace(SCHEMA, kinds={"age": "numeric"})):
        for principles in (None, PRINCIPLES, PRINCIPLES[::-1]):
            for original in (None, TABLE):
                found = verify(folder, original, schema=schema, principles=principles)
                assert found, found
                assert ("declared" in [c.name for c in found.checks]) == (schema is not None or principles is not None)


@pytest.mark.parametrize(
    ("words", "other"),
    [
        ("the role of 'note'", {"identifiers": ["note"], "other": []}),
        ("the role of 'note'", {"sensitive": ["income", "ill", "note"], "other": []}),
        ("the role of 'age'", {"quasi_identifiers": ["town", "size"]}),
        ("the role of 'ill'", {"sensitive": ["income"]}),
        ("the kind of 'age' is 'numeric' in release.json, and 'categorical' is given", {"kinds": {"age": "categorical"}}),
        ("the order of 'size'", {"orders": {"size": ["m", "s", "l"]}}),
        ("the hierarchy of 'town'", {"hierarchies": {"town": sf.data.Flat()}}),
        ("the hierarchy of 'town'", {"hierarchies": {}}),
        ("the recoding of 'age'", {"recodings": {"age": "set"}}),
        ("the distance in", {"distance": None}),
        ("the distance in", {"distance": sf.distances.Lp(2, weights={"income": 4})}),
        ("the distance in", {"distance": sf.distances.Custom(max)}),
        ("the distance of 'income'", {"distances": {}}),
        ("missing is", {"missing": sf.data.Missing(("", "?"))}),
    ],
)
def test_another_schema(folder, words, other):
    found = verify(folder, schema=replace(SCHEMA, **{"kinds": {}, **other}))
    assert failing(found) == ["declared"]
    assert words in found.checks[-1].detail


def test_an_undeclared_kind_is_taken_from_the_original(folder):
    texts = TABLE.set_column(0, "age", TABLE.column("age").cast(pa.string()))
    assert verify(folder, TABLE, schema=SCHEMA)
    found = verify(folder, texts, schema=SCHEMA)
    assert "the kind of 'age'" in found.checks[-1].detail
    assert "declared" in failing(found)


@pytest.mark.parametrize(
    "principles",
    [
        [],
        PRINCIPLES[:2],
        [*PRINCIPLES, sf.KAnonymity(3)],
        [sf.KAnonymity(3), *PRINCIPLES[1:]],
        [*PRINCIPLES[:2], sf.Dissimilarity(2, "0.5", 2, on="income")],
        [PRINCIPLES[0], sf.DistinctLDiversity(2, on="income"), PRINCIPLES[2]],
    ],
)
def test_other_principles(folder, principles):
    assert "declared" in failing(verify(folder, principles=principles))


def weakened(content):
    """A release.json that promises less, and is true of the data."""
    content["config"]["principles"] = content["config"]["principles"][:1]
    content["principles"] = content["principles"][:1]


def test_a_weaker_promise_is_found(folder):
    claim(folder, weakened)
    # the attributes of the requirements that were removed must be warned of
    assert failing(verify(folder, TABLE)) == ["warnings"]
    assert "declared" in failing(verify(folder, principles=PRINCIPLES))


def test_saving_compares_declarations(tmp_path, monkeypatch):
    """A fault in describing a release is found before anything is published."""
    describe = release_module.describe_release

    def careless(release):
        content = describe(release)
        content["config"]["columns"]["note"] = {"role": "identifier"}
        content["columns"] = [c for c in content["columns"] if c["name"] != "note"]
        return content

    def rounded(release):
        content = describe(release)
        content["config"]["columns"]["age"].update(kind="categorical", recoding="interval")
        return content

    for spoilt in (careless, rounded):
        monkeypatch.setattr(release_module, "describe_release", spoilt)
        with pytest.raises(sf.errors.ReleaseError, match="declared: the"):
            anonymize(TABLE, SCHEMA, PRINCIPLES, method=Chunks(4)).save(tmp_path / "out")
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "change",
    [
        lambda c: (c.update(principles=[]), c["config"].update(principles=[])),
        lambda c: c.update(suppressed=-1),
        lambda c: c.update(suppressed=1),
        lambda c: c.update(suppressed=1, suppress="0.05"),
        lambda c: c.update(suppress="-0.1"),
        lambda c: c.update(suppress="1"),
        lambda c: c.update(suppress="much"),
        lambda c: c.update(rows=0),
        lambda c: c.update(groups=0),
        lambda c: c.update(groups=13),
        lambda c: c["columns"][1].update(recoding="ancestor"),
    ],
)
def test_impossible_numbers(folder, change):
    claim(folder, change)
    assert not verify(folder)


@pytest.mark.parametrize(
    "change", [lambda c: c.update(format=0), lambda c: c.update(format=-1), lambda c: c.pop("suppress")]
)
def test_what_is_not_a_release(folder, change):
    claim(folder, change)
    with pytest.raises(sf.errors.ReleaseError):
        verify(folder)


def test_the_share_of_suppressed_rows(tmp_path):
    schema = sf.Schema(["age"], ["ill"])
    table = pa.table({"age": [1, 2, 3, 4, 5, 6], "ill": ["a", "b", "c", "c", "a", "b"]})
    folder = anonymize(table, schema, sf.DistinctLDiversity(2), method=Chunks(2), suppress="1/3").save(tmp_path / "out")
    assert verify(folder, table, schema=schema)
    claim(folder, lambda c: c.update(suppress="0.3"))
    assert failing(verify(folder, table)) == ["counts"]


@dataclass(frozen=True)
class AtLeast(sf.KAnonymity):
    """A principle of the publisher's own, which is not registered."""

    name: ClassVar[str] = "at-least"


def test_a_principle_of_ones_own_must_be_passed(tmp_path):
    folder = anonymize(TABLE, SCHEMA, [AtLeast(2)], method=Chunks(4), seed=2).save(tmp_path / "out")
    with pytest.raises(sf.errors.ReleaseError, match=r"'at-least' is not registered here.*principles=\["):
        verify(folder)
    assert verify(folder, TABLE, schema=SCHEMA, principles=[AtLeast(2)])
    assert verify(folder, TABLE, principles=AtLeast(2))
    assert failing(verify(folder, principles=[AtLeast(3)]))
    with pytest.raises(sf.errors.ReleaseError, match=r"principles=\["):
        sf.replay(folder, TABLE)
    with pytest.raises(sf.errors.ReleaseError, match="pass it as method="):
        sf.replay(folder, TABLE, principles=AtLeast(2))
    repeated = sf.replay(folder, TABLE, principles=AtLeast(2), method=Chunks(4), seed=2)
    again = repeated.save(tmp_path / "again", expected=folder)
    assert (again / "data.csv").read_bytes() == (folder / "data.csv").read_bytes()


def test_arguments_for_another_kind_are_not_ignored(folder):
    with pytest.raises(sf.errors.ParameterError, match="project is compared for releases of the kind 'projected' only"):
        verify(folder, project={"alpha": 1})
    with pytest.raises(sf.errors.ParameterError, match="dictionaries is compared for releases of the kind 'withheld' only"):
        verify(folder, dictionaries=[])


def test_what_was_not_checked_is_shown_as_such():
    found = Verification("out", (Check("counts", True, "6 rows"), Check("risk", None, "no dictionaries were given")))
    assert repr(found).splitlines() == [
        "Verification of out: 1 of 2 checks hold, 1 not checked",
        "  holds        counts: 6 rows",
        "  not checked  risk: no dictionaries were given",
    ]
    assert [check.name for check in found.not_checked] == ["risk"]


def test_other_principles_are_named(tmp_path):
    """Principles are matched by what they are, not by their position."""
    k, l, t = sf.KAnonymity(2), sf.DistinctLDiversity(2, on="ill"), sf.TCloseness(1, on="ill")
    out = sf.anonymize(TABLE, SCHEMA, [k, l], method="mondrian").save(tmp_path / "named")
    details = {check.name: check.detail for check in verify(out, principles=[l]).checks if check.holds is False}
    assert details == {
        "principles": "release.json states k-anonymity (k = 2), but that is not requested",
        "declared": "release.json states k-anonymity (k = 2), but that is not requested",
    }
    details = {check.name: check.detail for check in verify(out, principles=[l, k, t]).checks if check.holds is False}
    assert details.pop("declared") == "t-closeness (t = 1, ground = equal) is requested, but release.json does not state it"
    assert [detail.split(";")[0] for detail in details.values()] == ["release.json does not state it"]
    details = {check.name: check.detail for check in verify(out, principles=[k, t]).checks if check.holds is False}
    assert details["declared"] == (
        "release.json states distinct l-diversity (l = 2), but t-closeness (t = 1, ground = equal) is requested"
    )


def test_claims_in_another_order(tmp_path):
    out = sf.anonymize(TABLE, SCHEMA, [sf.KAnonymity(2), sf.DistinctLDiversity(2)], method="mondrian").save(
        tmp_path / "order"
    )
    claim(out, lambda content: content["principles"].reverse())
    assert failing(verify(out)) == ["principles"]


@pytest.mark.parametrize(("zone", "stated"), [(None, "Europe/Rome"), ("Europe/Berlin", None)])
def test_the_zone_of_the_times_of_the_original_is_expected(zone, stated, tmp_path):
    """The schema that is given does not name it, so that of the original counts, whatever release.json states."""
    times = pa.array([datetime(2024, 1, 1 + i) for i in range(12)], pa.timestamp("us", zone))
    table, schema = pa.table({"age": range(12), "seen": times}), sf.Schema(["age"], ["seen"])
    folder = anonymize(table, schema, sf.KAnonymity(2), method=Chunks(4)).save(tmp_path / "out")
    assert verify(folder, table, schema=schema).holds

    def change(content):
        seen = content["config"]["columns"]["seen"]
        seen.pop("timezone", None)
        seen.update({} if stated is None else {"timezone": stated})

    claim(folder, change)
    found = verify(folder, table, schema=schema)
    assert f"the timezone of 'seen' is {stated!r} in release.json, and {zone!r} is given" in found.failures

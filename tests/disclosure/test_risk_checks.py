"""The risk of a withheld release is measured again by code of its own: against the maker, an oracle, and tampering."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_consistency as naive
import sfumato as sf
from sfumato.disclosure import (
    Additive,
    ConstantSensitivity,
    ContainmentConsistency,
    CustomSensitivity,
    Dictionary,
    Multiplicative,
    RiskAssumptions,
    SimilarityConsistency,
)
from sfumato.disclosure.withheld.risk_measurement import ConsistentIndividuals, sensitivities
from sfumato.disclosure.withheld.value_consistency import compare_attribute
from sfumato.releases.model_base import as_json
from sfumato.verification.checks import digest

PEOPLE = pa.table(
    {
        "name": ["Ann", "Bob", "Cy", "Di", "Eve"],
        "age": [30, 30, 41, 41, 57],
        "town": ["Ulm", "Ulm", "Bonn", None, "Ulm"],
        "job": ["baker", "smith", "smith", "baker", "judge"],
    }
)
SCHEMA = sf.Schema(identifiers=["name"], undeclared="keep")
REGISTER = Dictionary(PEOPLE, identity="name", name="register")


def saved(folder, dictionary=REGISTER, name="out", **more):
    return sf.withhold(PEOPLE, SCHEMA, dictionary, 2, identity="name", **more).save(folder / name)


def verdicts(verification):
    return {check.name: check.holds for check in verification.checks}


def rewrite(folder, change):
    manifest = folder / "release.json"
    content = json.loads(manifest.read_text(encoding="utf-8"))
    change(content)
    manifest.write_text(as_json(content), encoding="utf-8")


def test_the_risk_is_checked_only_against_dictionaries(tmp_path):
    folder = saved(tmp_path)
    found = sf.verify(folder, PEOPLE)
    assert found.holds and verdicts(found)["risk"] is None
    assert "not checked" in found.checks[-1].detail
    found = sf.verify(folder, PEOPLE, dictionaries=REGISTER)
    assert verdicts(found)["identification by register"] is verdicts(found)["risk against register"] is True


@pytest.mark.parametrize("key", ["risk", "mean", "highest"])
def test_a_false_figure_is_found(tmp_path, key):
    check = "risk against" if key == "risk" else "identification by"
    folder = saved(tmp_path)
    rewrite(folder, lambda content: content["dictionaries"][0].update({key: content["dictionaries"][0][key] * 0.99}))
    assert verdicts(sf.verify(folder, PEOPLE, dictionaries=REGISTER))[f"{check} register"] is False


@pytest.mark.parametrize("key", ["risk", "mean", "highest"])
@pytest.mark.parametrize("value", ["nan", True, None])
def test_a_figure_that_is_no_number_is_refused(tmp_path, key, value):
    folder = saved(tmp_path)
    rewrite(folder, lambda content: content["dictionaries"][0].update({key: value}))
    with pytest.raises(sf.errors.ReleaseError, match=rf"dictionaries\[0\].{key}: invalid value"):
        sf.verify(folder, PEOPLE, dictionaries=REGISTER)


@pytest.mark.parametrize(
    "path, value",
    [
        (["sensitivity", "weights", "age"], "1"),
        (["consistency"], {"age": {"kind": "jaro", "threshold": "0.8"}}),
        (["misfits"], 1),
        (["weighted"], True),
        (["dictionaries", 0, "individuals"], 900),
        (["dictionaries", 0, "name"], "phone book"),
        (["dictionaries", 0, "prior"], "1/2"),
    ],
)
def test_a_false_statement_is_found(tmp_path, path, value):
    made = sf.withhold(PEOPLE, SCHEMA, REGISTER, 2, identity="name", sensitivity=Additive({"age": 3}), prior={"register": 1})
    folder = made.save(tmp_path / "out")
    assumptions = made.setting.assumptions
    assert sf.verify(folder, PEOPLE, risk=assumptions).holds

    def change(content):
        for key in path[:-1]:
            content = content[key]
        content[path[-1]] = value

    rewrite(folder, change)
    assert not sf.verify(folder, risk=assumptions).holds


def test_a_changed_cell_changes_the_risk(tmp_path):
    """With a digest and counts to match, the order, the original or the risk reveals it."""
    folder = saved(tmp_path)
    data = folder / "data.csv"
    text = data.read_text(encoding="utf-8")
    changed = text.replace("judge", "smith") if "judge" in text else text.replace("57", "30")
    assert changed != text
    data.write_text(changed, encoding="utf-8")
    rewrite(folder, lambda content: content["files"].update({"data.csv": digest(data).to_dict()}))
    assert [check.name for check in sf.verify(folder).checks if check.holds is False] == ["order"]
    assert verdicts(sf.verify(folder, dictionaries=REGISTER))["identification by register"] is False


def test_another_dictionary_is_found(tmp_path):
    folder = saved(tmp_path)
    other = Dictionary(PEOPLE.set_column(1, "age", pa.array([1, 2, 3, 4, 5])), identity="name", name="register")
    assert not sf.verify(folder, dictionaries=other).holds
    assert not sf.verify(folder, dictionaries=[REGISTER, Dictionary(PEOPLE, name="second")]).holds


LEANING = Dictionary(
    PEOPLE.append_column("lean", pa.array([1, 2, 3, 4, 5])), identity="name", name="register", weight="lean"
)
NOT_MEASURED = {
    "weights of the dictionary": (
        {"dictionary": LEANING},
        {"identification by register": None, "risk against register": None},
    ),
    "weights of records": (
        {"sensitivity": Additive(records=[1, 2, 3, 4, 5])},
        {"identification by register": True, "risk against register": None},
    ),
    "weights of cells": (
        {"sensitivity": Multiplicative(cells={"age": [1, 2, 3, 4, 5]})},
        {"identification by register": True, "risk against register": None},
    ),
    "a function": (
        {"sensitivity": CustomSensitivity(lambda shown, who: len(shown))},
        {"identification by register": True, "risk against register": None},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", NOT_MEASURED)
def test_what_cannot_be_measured_is_not_checked(tmp_path, case):
    """It is never reported as true."""
    more, wanted = NOT_MEASURED[case]
    folder = saved(tmp_path, **more)
    found = sf.verify(folder, dictionaries=more.get("dictionary", REGISTER))
    assert {name: holds for name, holds in verdicts(found).items() if name in wanted} == wanted
    assert all("not checked" in check.detail for check in found.checks if check.holds is None)


@pytest.mark.parametrize("case", ["weights of the dictionary", "weights of records", "weights of cells"])
def test_the_maker_measures_by_record(tmp_path, case, monkeypatch):
    """A wrong claim is refused when a release is made, also where only the maker can know."""
    from sfumato.disclosure import _withhold

    more = NOT_MEASURED[case][0]
    saved(tmp_path, **more)
    described = _withhold.describe_withheld

    def false(release):
        content = described(release)
        content["dictionaries"][0]["risk"] *= 1.01
        return content

    monkeypatch.setattr(_withhold, "describe_withheld", false)
    with pytest.raises(sf.errors.ReleaseError, match="risk against register"):
        saved(tmp_path, name="again", **more)


def test_verification_shares_no_code_with_the_maker():
    """Measured by what is loaded: neither matching, rules, sensitivity and consistency of the maker, nor its kernels."""
    probe = "import sys, sfumato.disclosure.withheld.risk_checks; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout.split()
    for part in ("matching", "rules", "sensitivity", "consistency", "_risk", "setting", "_withhold", "risk_verdict"):
        assert not [name for name in loaded if f"{name}.".startswith(f"sfumato.disclosure.{part}.")], part
    for kernel in ("disclosure_choices", "jaro_bounds", "choice_columns", "dictionary_matching", "knapsack"):
        assert f"sfumato.kernels.{kernel}" not in loaded


VALUES = {
    "age": st.none() | st.sampled_from(["1", "2", "2.0", "03", "7"]),
    "name": st.none() | st.sampled_from(["anna", "ana", "hanna", "bob", "bobby", ""]),
    "range": st.none() | st.sampled_from(["1", "2", "3", "[1, 2]", "[2, 3]", "(1, 3)", "[1, 3)", "*", "{1; 3}"]),
}
COMPARISONS = {
    "age": lambda one, other: float(one) == float(other),
    "name": lambda one, other: naive.jaro(one, other) >= Fraction(4, 5),
    "range": lambda one, other: naive.can_meet(spans(one), spans(other), [Fraction(n, 2) for n in range(9)]),
}
STATED = {"name": {"kind": "jaro", "threshold": "4/5"}, "range": {"kind": "containment"}}


def spans(cell):
    """A cell as a test of a number."""
    if cell == "*":
        return lambda value: True
    if cell.startswith("{"):
        return {Fraction(part) for part in cell[1:-1].split("; ")}
    if cell[0] not in "[(":
        return {Fraction(cell)}
    low, high = map(Fraction, cell[1:-1].split(", "))
    return lambda value: (
        (low < value if cell[0] == "(" else low <= value) and (value < high if cell[-1] == ")" else value <= high)
    )


ROWS = st.lists(st.fixed_dictionaries(VALUES), min_size=1, max_size=5)


def frame(rows):
    return {name: pa.array([row[name] for row in rows], pa.string()) for name in VALUES}


@given(ROWS, ROWS, st.integers(0, 2), st.data())
def test_the_consistent_individuals_are_those_of_the_definition(records, people, misfits, data):
    flags = st.lists(st.booleans(), min_size=3 * len(records), max_size=3 * len(records))
    shown = np.array(data.draw(flags)).reshape(-1, 3)
    schema = sf.Schema(kinds={"age": "numeric", "range": "numeric"}, missing=sf.data.Missing(()))
    book = Dictionary(pa.table(frame(people)), name="book", missing=())
    present = np.array([[row[name] is not None for name in VALUES] for row in records])
    compared = [
        compare_attribute(texts, name, book, STATED.get(name, {}), schema, True) for name, texts in frame(records).items()
    ]
    found = ConsistentIndividuals(compared, shown & present, misfits)
    wanted = []
    for record, row in zip(records, shown, strict=True):
        names = [name for name, show in zip(VALUES, row, strict=True) if show]
        fits = [sum(not naive.rho(record, [name], [person], COMPARISONS) for name in names) <= misfits for person in people]
        wanted.append(sum(fits))
    assert found.counts().tolist() == wanted


SENSITIVITIES = [
    Additive({"age": 3}, pairs={("age", "name"): "0.5"}, triples={("age", "range", "name"): 2}),
    Additive({"range": "inf", "age": 0}),
    Multiplicative({"age": "0.3"}, default="0.1"),
    ConstantSensitivity("2.5"),
    Additive({"range": "inf"}, default="0.5", false_identification="0.4"),
    Multiplicative(default="0.2", false_identification=3),
]


@given(ROWS, ROWS, st.sampled_from(SENSITIVITIES), st.integers(0, 1), st.integers(1, 3))
def test_the_checks_agree_with_the_maker(records, people, sensitivity, misfits, cells):
    """Every release that the maker describes is confirmed, whatever is compared and weighted how."""
    from sfumato.disclosure.withheld.risk_checks import risk_checks
    from sfumato.disclosure.withheld.withheld_checks import PublishedCells
    from sfumato.releases.models import WithheldDocument
    from sfumato.releases.reader import Manifest

    schema = sf.Schema(undeclared="keep", kinds={"age": "numeric", "name": "text"}, missing=sf.data.Missing(()))
    book = Dictionary(pa.table(frame(people)), name="book", missing=())
    consistency = {"name": SimilarityConsistency("jaro", "0.8"), "range": ContainmentConsistency()}
    made = sf.withhold(
        pa.table(frame(records)), schema, book, cells, sensitivity=sensitivity, consistency=consistency, misfits=misfits
    )
    manifest = Manifest(None, WithheldDocument.of(made.to_dict()))
    texts = [made.table.column(name) for name in VALUES]
    withheld = np.array([[cell == "*" for cell in column.to_pylist()] for column in texts]).T
    missing = np.array([[cell is None for cell in column.to_pylist()] for column in texts]).T
    stripped = [
        pa.array([None if c in ("*", None) else c[1:-1] if c.startswith('"') else c for c in t.to_pylist()], pa.string())
        for t in texts
    ]
    published = PublishedCells(tuple(VALUES), tuple(stripped), withheld, missing, made.table)
    found = list(risk_checks(manifest, published, made.setting.assumptions))
    assert [check.holds for check in found] == [True, True], found


def test_sensitivities_by_record_are_read_from_the_original(tmp_path):
    table = PEOPLE.append_column("pay", pa.array(["1", "2", "inf", "4", "5"]))
    made = sf.withhold(
        table, SCHEMA, REGISTER, 2, identity="name", attributes=["age", "town", "job"], sensitivity=Additive(records="pay")
    )
    made.save(tmp_path / "out")
    assert sensitivities({"kind": "additive", "records": "by record"}, ["age"], np.ones((1, 1), bool), None) is None


def test_the_harm_of_a_false_identification_is_stated_and_checked(tmp_path):
    folder = saved(tmp_path, sensitivity=Additive(false_identification="0.5"))
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "names another individual, 0.5 of the sensitivity" in page and "plus 0.5 of it" in page
    assert sf.verify(folder, PEOPLE, dictionaries=REGISTER).holds
    rewrite(folder, lambda content: content["sensitivity"].update(false_identification="0.4"))
    assert verdicts(sf.verify(folder, PEOPLE, dictionaries=REGISTER))["risk against register"] is False


def test_assumptions_wrap_one_dictionary_or_several():
    assert RiskAssumptions.of([REGISTER, REGISTER]).names == ("register", "register")


def test_a_schema_is_compared_with_release_json(tmp_path):
    folder = saved(tmp_path)
    assert verdicts(sf.verify(folder, schema=SCHEMA))["declared"] is True
    assert verdicts(sf.verify(folder, PEOPLE, schema=SCHEMA))["declared"] is True
    assert "declared" not in verdicts(sf.verify(folder, PEOPLE))
    for schema, words in (
        (replace(SCHEMA, identifiers=["name", "town"]), "the role of 'town' is 'other' in release.json"),
        (replace(SCHEMA, undeclared="drop"), "the role of 'age' is 'other' in release.json, and None is given"),
        (replace(SCHEMA, kinds={"age": "categorical"}), "the kind of 'age' is 'numeric' in release.json"),
        (replace(SCHEMA, missing=sf.data.Missing(("-",))), "missing is"),
    ):
        for original in (None, PEOPLE):
            check = sf.verify(folder, original, schema=schema).checks[-1]
            assert (check.name, check.holds) == ("declared", False)
            assert words in check.detail


def test_an_open_kind_is_that_of_the_original(tmp_path):
    folder = saved(tmp_path)
    texts = PEOPLE.set_column(1, "age", pa.array(["x30", "x30", "x41", "x41", "x57"]))
    assert "the kind of 'age'" in sf.verify(folder, texts, schema=SCHEMA).checks[-1].detail


def test_a_published_identifier_is_found(tmp_path):
    folder = saved(tmp_path)
    rewrite(folder, lambda content: content["config"]["columns"]["town"].update(role="identifier"))
    assert "columns: the identifier 'town' is published" in sf.verify(folder).failures
    with pytest.raises(sf.errors.ColumnError, match="an identifier is listed as an attribute"):
        sf.withhold(PEOPLE, SCHEMA, REGISTER, 2, attributes=["name", "age"])


def test_principles_are_refused(tmp_path):
    folder = saved(tmp_path)
    of_kinds = "of the kinds 'groups', 'projected' and 'anatomized' only"
    with pytest.raises(sf.errors.ParameterError, match=f"principles are compared for releases {of_kinds}"):
        sf.verify(folder, PEOPLE, principles=[sf.KAnonymity(50)])


def test_other_files_keys_and_orders_are_found(tmp_path):
    folder = saved(tmp_path)
    (folder / "names.csv").write_text("Ann", encoding="utf-8")
    rewrite(folder, lambda content: content["rule"].update(names=["Ann"]))
    assert verdicts(sf.verify(folder, PEOPLE))["folder"] is verdicts(sf.verify(folder, PEOPLE))["keys"] is False
    folder = saved(tmp_path, name="other")
    data = folder / "data.csv"
    head, *rows = data.read_text(encoding="utf-8").splitlines()
    assert rows != sorted(rows)
    data.write_text("\n".join([head, *sorted(rows)]) + "\n", encoding="utf-8")
    rewrite(folder, lambda content: content["files"].update({"data.csv": digest(data).to_dict()}))
    assert [check.name for check in sf.verify(folder, PEOPLE).checks if check.holds is False] == ["order"]
    rewrite(folder, lambda content: content.update(seed=-1))
    assert verdicts(sf.verify(folder, PEOPLE))["order"] is False
    rewrite(folder, lambda content: content.update(format=1))
    assert verdicts(sf.verify(folder, PEOPLE))["order"] is None


def test_what_is_taken_from_release_json_is_not_called_checked(tmp_path):
    folder = saved(tmp_path)
    found = sf.verify(folder, PEOPLE, dictionaries=REGISTER)
    unchecked = {check.name: check.detail for check in found.not_checked}
    assert unchecked.keys() == {"risk assumptions"}
    assert "sensitivity, consistency, misfits as release.json states" in unchecked["risk assumptions"]
    assert found.checks[-1].detail.endswith("under the sensitivity that release.json states")
    made = sf.withhold(PEOPLE, SCHEMA, REGISTER, 2, identity="name")
    found = sf.verify(folder, PEOPLE, risk=made.setting.assumptions)
    assert found.not_checked == ()
    assert "under the sensitivity" not in found.checks[-1].detail


def test_a_prior_that_is_not_compared_is_not_called_checked(tmp_path):
    book = Dictionary(PEOPLE, identity="name", name="book")
    folder = saved(tmp_path, [REGISTER, book], prior=["0.5", "0.5"])
    unchecked = {check.name: check.detail for check in sf.verify(folder, dictionaries=[REGISTER, book]).not_checked}
    assert "misfits, prior as release.json states" in unchecked["risk assumptions"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"risk": 3}, "risk: 3 is not what a risk is measured against"),
        ({"dictionaries": "register"}, "dictionaries: 'register' is not a dictionary"),
        ({"dictionaries": [REGISTER, None]}, "dictionaries: None is not a dictionary"),
        ({"dictionaries": REGISTER, "risk": RiskAssumptions.of(REGISTER)}, "dictionaries and risk are both given"),
    ],
)
def test_arguments_that_cannot_be_used_are_refused(tmp_path, arguments, words):
    folder = saved(tmp_path)
    with pytest.raises(sf.errors.ParameterError, match=words):
        sf.verify(folder, PEOPLE, **arguments)

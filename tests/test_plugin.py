"""A plug-in of another distribution serves everywhere: config, command line, audit, release, verification, report."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from commandline import sfumato
from plugin_installation import plugin_path, write_dist_info
from sfumato import testing
from sfumato.registry import DISTANCES, LOSSES, METHODS, PRINCIPLES, PROJECTED_ATTACKS

CONFIG = """
[data]
path = "people.csv"

[columns.age]
role = "quasi-identifier"

[columns.hour]
role = "sensitive"
distance = { kind = "circular", period = 24 }

[[principles]]
name = "top-two-share"
share = 0.6

[[principles]]
name = "dissimilarity"
epsilon = 1
delta = "0.5"
k = 4

[method]
name = "blocks"
start = 4

[output]
path = "release"
"""

PEOPLE = pa.table({"age": list(range(20, 44)), "hour": [0, 6, 12, 18, 3, 9, 15, 21] * 3})


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """The example plug-in, visible to this process; its modules are forgotten afterwards."""
    for path in plugin_path(tmp_path / "site"):
        monkeypatch.syspath_prepend(path)
    yield
    for name in [name for name in sys.modules if name.startswith("sfumato_example")]:
        del sys.modules[name]


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    rows = zip(PEOPLE["age"].to_pylist(), PEOPLE["hour"].to_pylist(), strict=True)
    (folder / "people.csv").write_text("age,hour\n" + "".join(f"{age},{hour}\n" for age, hour in rows), encoding="utf-8")
    (folder / "sfumato.toml").write_text(CONFIG, encoding="utf-8")
    return folder


def test_the_command_line_from_audit_to_report(tmp_path, project, plugin):
    """The plug-in is found by its metadata alone, in a process of its own up to the release, and in this one after it."""
    site = plugin_path(tmp_path / "site of processes")
    env = {"PYTHONPATH": os.pathsep.join([*site, os.environ.get("PYTHONPATH", "")])}

    def run(*arguments, status=0, env=None):
        done = sfumato(*arguments, cwd=project, env=env)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout

    audited = json.loads(run("audit", "sfumato.toml", "--json", status=1, env=env))
    assert [entry["name"] for entry in audited["principles"]] == ["top-two-share", "dissimilarity"]
    assert audited["principles"][1]["distance"] == "circular"
    run("anonymize", "sfumato.toml", env=env)
    manifest = json.loads((project / "release" / "release.json").read_text(encoding="utf-8"))
    assert manifest["holds"] is True
    assert "top-two share (share = 0.6)" in run("verify", "release", "--original", "people.csv", env=env)
    run("verify", "release", "--config", "sfumato.toml", "--original", "people.csv")
    run("report", "release", "--output", "report.html")
    page = (project / "report.html").read_text(encoding="utf-8")
    assert "The two most frequent sensitive values of a group make up at most a share of it." in page
    assert "top-two-share" in run("explain")
    explained = run("explain", "top-two-share")
    assert "Monotone." in explained
    assert "sfumato_example.principle.TopTwoShare" in explained


def test_a_release_cannot_be_verified_without_the_plugin(plugin, project, monkeypatch):
    config = sf.Config.load(project / "sfumato.toml")
    table, principles = config.table(), config.requested_principles
    schema = table.schema
    folder = sf.anonymize(table, None, principles, method=config.grouping_method).save(project / "out")
    assert sf.verify(folder, table).holds
    plain = sf.anonymize(PEOPLE, sf.Schema(["age"], ["hour"]), principles[0]).save(project / "plain")
    monkeypatch.undo()
    with pytest.raises(sf.errors.ReleaseError, match="the distance 'circular' is not registered here") as caught:
        sf.verify(folder)
    assert caught.value.key == "config.columns.hour.distance.kind"
    assert "schema=" in caught.value.remedy
    assert "Install the package" in caught.value.remedy
    # the schema and the principles that the caller passes replace the plug-in
    assert sf.verify(folder, table, schema=schema, principles=principles).holds
    other = replace(schema, distances={"hour": replace(schema.distances["hour"], period=12)})
    with pytest.raises(sf.errors.ReleaseError, match="the distance 'circular' is not registered here"):
        sf.verify(folder, schema=other, principles=principles)
    with pytest.raises(sf.errors.ReleaseError, match="there is no method 'blocks'") as caught:
        sf.replay(folder, table, schema=schema, principles=principles)
    assert "method=" in caught.value.remedy
    assert "Install the package" in caught.value.remedy
    with pytest.raises(sf.errors.ReleaseError, match="'top-two-share' is not registered here"):
        sf.verify(plain)


def test_every_method_serves_a_principle_without_capabilities(plugin):
    schema = sf.Schema(["age"], ["hour"], hierarchies={"age": sf.Intervals((5, 10))})
    requirement = {"name": "top-two-share", "share": "0.6"}
    for method in ("auto", "mondrian", "lattice", "blocks"):
        assert sf.anonymize(PEOPLE, schema, requirement, method=method).audit.holds
    with pytest.raises(sf.errors.ParameterError, match="the method glaze does not support top-two share"):
        sf.anonymize(PEOPLE, schema, requirement, method="glaze")
    impossible = sf.feasibility(PEOPLE, schema, {"name": "top-two-share", "share": "0.1"})
    assert impossible.verdict == "impossible"


def test_a_loss(plugin):
    schema = sf.Schema(["age"], ["hour"], hierarchies={"age": sf.Intervals((5, 10))})
    found = sf.full_domain(PEOPLE, schema, sf.KAnonymity(4), loss="star-share")
    assert (found.levels, found.score) == ({"age": 1}, 0)
    assert sf.Lattice(loss="star-share").loss == "star-share"


def test_an_attack(plugin):
    people = PEOPLE.append_column("ill", pa.array(["flu", "gout", "flu"] * 8))
    table = sf.Table(people, sf.Schema(["age"], ["hour", "ill"]))
    views = [sf.attacks.AttackerView((name,), np.arange(24) // 8) for name in ("hour", "ill")]
    result = sf.attacks.attack_projected(table, views, ["most-frequent"])
    assert result.to_dict()["attacks"]["most-frequent"]["success"] == {"hour": 1 / 8, "ill": 16 / 24}


def test_contracts(plugin):
    testing.check_principle(PRINCIPLES["top-two-share"]("0.6"))
    testing.check_method(METHODS["blocks"]())
    testing.check_distance(DISTANCES["circular"](), {"s": [0, 1, 5, 12, 23]})


def test_only_the_plugin_that_is_named_is_imported(plugin):
    for registry in (PRINCIPLES, METHODS, DISTANCES, LOSSES, PROJECTED_ATTACKS):
        assert len(list(registry)) == len(registry) == len(registry.entries) + 1
    sf.audit(PEOPLE, sf.Schema(["age"], ["hour"]), sf.KAnonymity(1))
    assert not [name for name in sys.modules if name.startswith("sfumato_example")]
    assert "top-two-share" in PRINCIPLES
    assert PRINCIPLES["top-two-share"].__name__ == "TopTwoShare"
    assert [name for name in sys.modules if name.startswith("sfumato_example.")] == ["sfumato_example.principle"]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("no_such_module:Thing", "cannot be loaded: ModuleNotFoundError"),
        ("json:NoSuchThing", "cannot be loaded: AttributeError"),
        ("json:JSONDecoder", "is not a subclass of Principle"),
        ("sfumato.principles.k_anonymity:KAnonymity", "has the name 'k-anonymity', not 'broken'"),
    ],
)
def test_a_broken_plugin_is_named(tmp_path, monkeypatch, value, problem):
    monkeypatch.syspath_prepend(str(write_dist_info(tmp_path, "bad-plugin", "2.0", {PRINCIPLES.group: {"broken": value}})))
    with pytest.raises(sf.errors.PluginError, match=problem) as caught:
        sf.audit(PEOPLE, sf.Schema(["age"]), "broken")
    assert f"bad-plugin 2.0 (entry point sfumato.principles: broken = {value})" in str(caught.value)
    assert sf.audit(PEOPLE, sf.Schema(["age"]), sf.KAnonymity(1)).holds, "nothing else is affected"
    done = sfumato("explain")
    assert (done.returncode, "broken" in done.stdout, "Cannot be loaded" in done.stdout) == (0, True, True)


def test_a_name_that_two_distributions_provide(tmp_path, monkeypatch):
    for number in (1, 2):
        points = {METHODS.group: {"twice": f"module{number}:Method"}}
        monkeypatch.syspath_prepend(str(write_dist_info(tmp_path / str(number), f"plugin-{number}", "1", points)))
    with pytest.raises(sf.errors.PluginError, match="the method 'twice' is provided twice"):
        sf.anonymize(PEOPLE, sf.Schema(["age"]), sf.KAnonymity(2), method="twice")


def test_a_builtin_name_means_the_builtin_class(tmp_path, monkeypatch):
    points = {PRINCIPLES.group: {"k-anonymity": "no_such_module:Thing"}}
    monkeypatch.syspath_prepend(str(write_dist_info(tmp_path, "impostor", "1", points)))
    assert PRINCIPLES["k-anonymity"] is sf.KAnonymity
    assert list(PRINCIPLES).count("k-anonymity") == 1

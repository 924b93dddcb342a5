"""`sfumato project` as a steward runs it: the curve, the tables, and the errors for invalid input."""

from __future__ import annotations

import json
import stat

import pytest
from pyarrow import csv

import sfumato as sf
from commandline import sfumato
from test_project import people

CONFIG = """
[data]
path = "people.csv"
[columns.name]
role = "identifier"
[columns.age]
role = "quasi-identifier"
[columns.town]
role = "quasi-identifier"
[columns.sex]
role = "sensitive"
[columns.title]
role = "sensitive"
[columns.job]
role = "sensitive"
[columns.pay]
role = "sensitive"
[[principles]]
name = "k-anonymity"
k = 4
[method]
name = "mondrian"
[project]
alpha = "0.1"
beta = "0.3"
[output]
path = "release"
"""


ONLY_PAY = CONFIG[CONFIG.index("[columns.sex]") : CONFIG.index("[columns.pay]")]
"""What to remove so that one sensitive attribute is left."""


@pytest.fixture
def desk(tmp_path):
    csv.write_csv(people(), tmp_path / "people.csv")
    (tmp_path / "p.toml").write_text(CONFIG, encoding="utf-8")
    return tmp_path


def configured(desk, old, new):
    assert old in CONFIG
    (desk / "p.toml").write_text(CONFIG.replace(old, new), encoding="utf-8")


def run(desk, *options):
    return sfumato("project", str(desk / "p.toml"), *options)


def test_published(desk):
    done = run(desk, "--internal", str(desk / "internal.html"))
    assert done.returncode == 0, done.stderr
    assert "4 sensitive attributes in 2 tables" in done.stdout
    assert "table_1: sex + title" in done.stdout
    assert "at most 0.3" in done.stdout
    assert "warning" not in done.stdout, "the dependence of sex and job is chance"
    assert stat.S_IMODE((desk / "internal.html").stat().st_mode) == 0o600
    checked = sfumato(
        "verify", str(desk / "release"), "--original", str(desk / "people.csv"), "--config", str(desk / "p.toml")
    )
    assert checked.returncode == 0, checked.stdout
    assert "information exposure: measured again" in checked.stdout
    drawn = sfumato("report", str(desk / "release"), "--output", str(desk / "again.html"))
    assert drawn.returncode == 0, drawn.stderr
    assert (desk / "again.html").read_bytes() == (desk / "release" / "report.html").read_bytes()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (('alpha = "0.1"', 'alpha = "0.05"'), "alpha is 0.1 in release.json, and 0.05 is given"),
        (("[output]", 'harmless = { pay = ["low"] }\n[output]'), "'low' of 'pay' is given as harmless"),
        (("[project]", "suppress = 0.1\n[project]"), "suppress is 0 in release.json"),
        (("[output]", 'plan = [["sex", "title", "job", "pay"]]\n[output]'), "sex + title + job + pay is given"),
    ],
)
def test_verification_against_the_config(desk, changed, message):
    assert run(desk).returncode == 0
    config = desk / "p.toml"
    config.write_text(config.read_text(encoding="utf-8").replace(*changed), encoding="utf-8")
    checked = sfumato("verify", str(desk / "release"), "--config", str(config))
    assert checked.returncode == 1, checked.stderr
    assert message in " ".join(checked.stdout.split())


def test_json_and_seed(desk):
    done = run(desk, "--json", "--seed", "5", "--output", str(desk / "out"))
    content = json.loads(done.stdout)
    assert "seed" not in content
    assert content["plan"] == [["sex", "title"], ["job", "pay"]]
    assert content["folder"] == str(desk / "out")
    assert sf.verify(desk / "out")


def test_options_over_the_config(desk):
    done = run(desk, "--plan", "sex, title, job|pay", "--alpha", "1", "--beta", "1", "--json")
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert content["plan"] == [["sex", "title", "job"], ["pay"]]
    assert content["chosen"] == "given"
    assert [threshold["wanted"] for threshold in content["thresholds"]] == ["1", "1"]


def test_warning_of_dependent_attributes_in_different_tables(desk):
    done = run(desk, "--plan", "sex,job|title,pay", "--alpha", "1", "--beta", "1")
    assert done.returncode == 0, done.stderr
    assert "warning" in done.stdout
    assert "sex (table_1) and title (table_2): 100 %" in done.stdout


def test_curve(desk):
    done = run(desk, "--curve")
    assert done.returncode == 0, done.stderr
    assert "knee" in done.stdout
    assert not (desk / "release").exists()
    content = json.loads(run(desk, "--curve", "--json").stdout)
    assert content["points"][0]["plan"] == [["sex", "title", "job", "pay"]]
    assert content["exhaustive"] is True


def test_all_keys_of_the_config(desk):
    keys = """
alpha = 0.9
beta = 1
search = "exhaustive"
sets = "whole"
plan = [["sex"], ["title", "job", "pay"]]
harmless = { pay = ["low"] }
"""
    configured(desk, 'alpha = "0.1"\nbeta = "0.3"\n', keys)
    done = run(desk, "--json")
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert content["harmless"] == {"pay": ["low"]}
    assert content["thresholds"][0]["wanted"] == "0.9"
    again = sf.Config.parse(sf.Config.load(desk / "p.toml").to_toml())
    assert again.project == sf.Config.load(desk / "p.toml").project


def test_no_plan(desk):
    done = run(desk, "--alpha", "0", "--beta", "0")
    assert done.returncode == 1
    assert "the nearest plan is" in done.stderr
    assert not (desk / "release").exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('alpha = "0.1"', "alpha = 7", "project.alpha"),
        ('alpha = "0.1"', 'gamma = "0.1"', "project.gamma"),
        ('alpha = "0.1"', 'search = "lucky"', "project.search"),
        ('alpha = "0.1"', 'plan = ["sex"]', "project.plan"),
        ('alpha = "0.1"', 'attacks = ["guess"]', "project.attacks: there is no attack 'guess'"),
        ('alpha = "0.1"', 'plan = [["sex"]]', "p.toml, project.plan, column 'title': the plan leaves out"),
        ('alpha = "0.1"', 'plan = [["sex", "title", "job", "pay", "age"]]', "p.toml, project.plan, column 'age'"),
        ('alpha = "0.1"', 'harmless = { pay = ["nil"] }', "p.toml, project.harmless, column 'pay': 'nil'"),
        ('alpha = "0.1"', 'harmless = { age = ["30"] }', "p.toml, project.harmless, column 'age'"),
        ('alpha = "0.1"', "alpha = true", "p.toml, project.alpha: alpha = True is not a number"),
        ('alpha = "0.1"', "alpha = nan", "p.toml, project.alpha: alpha = NaN is not a number"),
        ('alpha = "0.1"', "alpha = [1]", "p.toml, project.alpha: alpha = [1] is not a number"),
        ('path = "release"', 'path = "release"\ndatabase = "sqlite:///x.db"\ntable = "t"', "output.database: a projection"),
        (ONLY_PAY, "", "anonymize"),
        ("[output]\npath = \"release\"", "", "--output"),
        ('[[principles]]\nname = "k-anonymity"\nk = 4', "", "no principle"),
    ],
)  # fmt: skip
def test_invalid_input(desk, old, new, message):
    configured(desk, old, new)
    done = run(desk)
    assert done.returncode == 2, done.stdout
    assert message in done.stderr
    assert not (desk / "release").exists()


@pytest.mark.parametrize(("plan", "message"), [("", "plan: the plan is empty"), ("sex|x", "plan, column 'x'")])
def test_an_invalid_plan_argument(desk, plan, message):
    done = run(desk, "--plan", plan)
    assert done.returncode == 2
    assert message in done.stderr
    assert "p.toml" not in done.stderr


def test_an_output_encoding_without_greek(desk):
    done = sfumato(
        "project", str(desk / "p.toml"), "--curve", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "loss ?_?" in done.stdout
    assert "exposure ?_?" in done.stdout


def test_an_existing_target(desk):
    (desk / "release").mkdir()
    done = run(desk)
    assert done.returncode == 2
    assert "something exists here already" in done.stderr
    assert run(desk, "--force").returncode == 2, "a folder that is no release is never replaced"


def test_anonymize_does_not_repeat_it(desk):
    assert run(desk).returncode == 0
    done = sfumato("anonymize", str(desk / "release" / "release.json"), "--data", str(desk / "people.csv"), "--output", "x")
    assert done.returncode == 2
    assert "sfumato project" in done.stderr

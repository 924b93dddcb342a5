"""`sfumato risk` as a data steward runs it: assess, withhold, and the errors for invalid input."""

from __future__ import annotations

import json
import stat

import pytest

from commandline import sfumato

PATIENTS = """id,name,age,town,job,illness
1,Ann,30,Ulm,baker,flu
2,Bob,30,Ulm,smith,gout
3,Cy,41,Bonn,smith,flu
4,Di,41,Bonn,baker,asthma
5,Eve,57,Ulm,judge,flu
6,Flo,57,Bonn,,gout
"""
REGISTER = """who,age,residence,job
1,30,Ulm,baker
2,30,Ulm,smith
3,41,Bonn,smith
4,41,Bonn,
5,57,Ulm,judge
6,57,Bonn,cook
7,57,Ulm,
8,30,Ulm,baker
"""
CONFIG = """
[data]
path = "patients.csv"
undeclared = "keep"
[columns.name]
role = "identifier"
[risk]
identity = "id"
[risk.sensitivity]
weights = { illness = 5, town = 0.5 }
[[risk.dictionaries]]
name = "register"
path = "register.csv"
identity = "who"
columns = { town = "residence" }
"""


@pytest.fixture
def desk(tmp_path):
    (tmp_path / "patients.csv").write_text(PATIENTS, encoding="utf-8")
    (tmp_path / "register.csv").write_text(REGISTER, encoding="utf-8")
    (tmp_path / "risk.toml").write_text(CONFIG, encoding="utf-8")
    return tmp_path


def configured(desk, old, new):
    text = CONFIG.replace(old, new)
    assert text != CONFIG
    (desk / "risk.toml").write_text(text, encoding="utf-8")


def test_assess(desk):
    """By hand: the register has 2, 1, 2, 1, 2, 1 people who fit the rows; Φ is 7.5, of the last, without a job, 6.5."""
    done = sfumato("risk", "risk.toml", "--json", cwd=desk)
    found = json.loads(done.stdout)
    assert done.returncode == 0
    assert found["risk"] == pytest.approx((3 * 7.5 / 2 + 2 * 7.5 + 6.5) / 6)
    assert found["dictionaries"][0]["attackers"]["journalist"] == 1
    assert found["dictionaries"][0]["attackers"]["marketer"] == pytest.approx((3 / 2 + 3) / 6)
    assert [record["row"] for record in found["worst_records"][:3]] == [2, 4, 6]
    saved = {entry["name"]: entry["saves"] for entry in found["by_attribute"]}
    assert saved["illness"] == pytest.approx(5 * (3 / 2 + 3) / 6)


def test_assess_on_a_terminal(desk):
    done = sfumato("risk", "risk.toml", cwd=desk)
    assert done.returncode == 0
    for word in ("register", "journalist", "marketer", "illness", "reduction", "row 2"):
        assert word in done.stdout


def test_without_a_section_the_table_itself_is_the_dictionary(desk):
    configured(desk, CONFIG[CONFIG.index("[risk]") :], "")
    found = json.loads(sfumato("risk", "risk.toml", "--json", cwd=desk).stdout)
    assert [each["name"] for each in found["dictionaries"]] == ["the table itself"]
    assert found["dictionaries"][0]["attackers"]["prosecutor"] == 1


@pytest.mark.parametrize(
    "per, amount, cells", [("record", "2", 12), ("record", "50%", 12), ("table", "7", 7), ("attribute", "3", 12)]
)
def test_disclose(desk, per, amount, cells):
    done = sfumato("risk", "risk.toml", "--disclose", amount, "--per", per, "--output", "out", "--json", cwd=desk)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["disclosure"]["risk"]["disclosed"] == cells
    assert found["disclosure"]["risk"]["risk"] < found["risk"]
    checked = sfumato("verify", "out", "--original", "patients.csv", "--config", "risk.toml", cwd=desk)
    assert checked.returncode == 0, checked.stdout
    assert "measured again" in checked.stdout


def test_a_limit_that_is_exceeded_writes_nothing(desk):
    done = sfumato("risk", "risk.toml", "--disclose", "2", "--limit", "0.0001", "--output", "out", cwd=desk)
    assert done.returncode == 1
    assert not (desk / "out").exists()
    assert "above the limit" in done.stdout


@pytest.mark.parametrize("limit, status", [("131/24", 0), ("5.4583", 1)])
def test_a_limit_is_what_was_written(desk, limit, status):
    """The risk is 131/24 = 5.458333…: a limit of exactly this value holds."""
    assert sfumato("risk", "risk.toml", "--limit", limit, cwd=desk).returncode == status


def test_a_limit_follows_what_the_rule_is_against(desk):
    """Under the prior the risk is small, in the worst case it is not: the limit applies to the requested measure."""
    likely = 'identity = "who"\nprior = 0.01\n[[risk.dictionaries]]\nname = "crowd"\npath = "crowd.csv"\nprior = 0.99\n'
    (desk / "crowd.csv").write_text("age\n" + "\n".join(["30", "41", "57"] * 500) + "\n", encoding="utf-8")
    configured(desk, 'identity = "who"\ncolumns = { town = "residence" }\n', 'columns = { town = "residence" }\n' + likely)
    arguments = ["risk", "risk.toml", "--disclose", "3", "--limit", "1", "--output"]
    assert sfumato(*arguments, "mean", "--against", "prior", cwd=desk).returncode == 0
    assert sfumato(*arguments, "most", "--against", "worst", cwd=desk).returncode == 1
    assert not (desk / "most").exists()


def test_false_identifications_and_triples(desk):
    """By hand, with 2, 1, 2, 1, 2, 1 people who fit: half of Φ is lost for a wrong name, and Φ is 1 more for the triple."""
    old = "weights = { illness = 5, town = 0.5 }"
    configured(desk, old, f'{old}\nfalse_identification = "0.5"\ntriples = [["age", "town", "illness", 1]]')
    shown = sfumato("risk", "risk.toml", cwd=desk)
    assert shown.returncode == 0, shown.stderr
    assert "0.5 of the sensitivity counts as loss" in " ".join(shown.stdout.split())
    found = json.loads(sfumato("risk", "risk.toml", "--json", "--report", "risk.html", cwd=desk).stdout)
    assert found["sensitivity"]["false_identification"] == "0.5"
    assert found["risk"] == pytest.approx((3 * 8.5 * 0.75 + 2 * 8.5 + 7.5) / 6)
    assert "If the attacker names another individual" in (desk / "risk.html").read_text(encoding="utf-8")


GENERALIZED = CONFIG.replace(
    "[risk]\n",
    """[columns.age]
role = "quasi-identifier"
hierarchy = { intervals = [10, 20] }
[columns.job]
role = "quasi-identifier"
hierarchy = "jobs.csv"
[risk]
attributes = ["age", "town", "job"]
generalize = { age = [1, 0.5, "1/4", 0], job = [1, 0.1, 0] }
""",
)
JOBS = "baker;craft;*\nsmith;craft;*\njudge;office;*\ncook;kitchen;*\n"


def generalized(desk, old="", new="", jobs=JOBS):
    assert old in GENERALIZED
    (desk / "risk.toml").write_text(
        GENERALIZED.replace("weights = { illness = 5, town = 0.5 }", "").replace(old, new), encoding="utf-8"
    )
    (desk / "jobs.csv").write_text(jobs, encoding="utf-8")


def test_generalize(desk):
    """The craft is half of the information of a job, and a tenth of its sensitivity."""
    generalized(desk)
    done = sfumato(
        "risk", "risk.toml", "--disclose", "2", "--output", "out", "--report", "internal.html", "--json", cwd=desk
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["disclosure"]
    assert found["generalized"] > 0 and found["exact"]
    assert "craft" in (desk / "out" / "data.csv").read_text(encoding="utf-8")
    report = (desk / "out" / "report.html").read_text(encoding="utf-8")
    assert "The information of at least 2 values of each record is disclosed" in report
    assert "Of the sensitivity of age, a cell reveals by level of the hierarchy: 1, 0.5, 0.25, 0." in report
    assert (desk / "internal.html").exists()
    verify = ("verify", "out", "--original", "patients.csv", "--config", "risk.toml")
    done = sfumato(*verify, cwd=desk)
    assert done.returncode == 0, done.stdout
    assert "not checked" not in done.stdout
    generalized(desk, "[1, 0.1, 0]", "[1, 0.2, 0]")
    done = sfumato(*verify, cwd=desk)
    assert done.returncode == 1
    assert "release.json states rule.shares = " in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    "old, new, jobs, message",
    [
        ("job = [1, 0.1, 0]", "town = [1, 0]", JOBS, "the column is to be generalized, and has no hierarchy"),
        ("job = [1, 0.1, 0]", "name = [1, 0]", JOBS, "'name' is to be generalized, and is not an attribute"),
        ("[1, 0.1, 0]", "[1, 0.1]", JOBS, "risk.generalize.job: 2 shares are declared for levels 0 to 2 of 'job'"),
        ("[1, 0.1, 0]", "true", JOBS, "risk.generalize"),
        (
            'identity = "id"',
            'identity = "id"\nmisfits = 1',
            JOBS,
            "with misfits, values can be withheld but not generalized",
        ),
        ("", "", "baker;craft;*\njudge;office;*\n", "the hierarchy lacks 1 of the column's values: 'smith'"),
    ],
)
def test_what_cannot_be_generalized(desk, old, new, jobs, message):
    generalized(desk, old, new, jobs)
    done = sfumato("risk", "risk.toml", "--disclose", "2", "--output", "out", cwd=desk)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert not (desk / "out").exists()


def test_values_are_generalized_per_record(desk):
    generalized(desk)
    done = sfumato("risk", "risk.toml", "--disclose", "2", "--per", "attribute", "--output", "out", cwd=desk)
    assert done.returncode == 2
    assert "values are generalized per record, not per attribute" in " ".join(done.stderr.split())


def test_report(desk):
    done = sfumato("risk", "risk.toml", "--report", "risk.html", "--disclose", "2", "--output", "out", cwd=desk)
    assert done.returncode == 0, done.stderr
    page = desk / "risk.html"
    text = page.read_text(encoding="utf-8")
    assert "not for publication" in text
    assert "register" in text
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    again = sfumato("risk", "risk.toml", "--report", "risk.html", cwd=desk)
    assert again.returncode == 2
    assert "already" in again.stderr
    inside = sfumato("risk", "risk.toml", "--report", "out/risk.html", cwd=desk)
    assert inside.returncode == 2
    assert "published" in inside.stderr


BAD = {
    "no column in common": (
        'columns = { town = "residence" }', 'columns = {}\n[[risk.dictionaries]]\npath = "other.csv"', "other.csv",
    ),
    "the same person twice": ('path = "register.csv"', 'path = "twice.csv"', "'8'"),
    "nobody in it": ('path = "register.csv"', 'path = "empty.csv"', "no rows"),
    "a negative weight": ("town = 0.5", "town = -1", "risk.sensitivity.weights.town"),
    "a weight that is no number": ("town = 0.5", "town = nan", "risk.sensitivity.weights.town"),
    "a weight for nobody": ("town = 0.5", "twon = 1", "twon"),
    "a prior of too little": ('identity = "who"', 'identity = "who"\nprior = 0.7', "sums to 0.7"),
    "an unknown sensitivity": ("[risk.sensitivity]", '[risk.sensitivity]\nkind = "odd"', "additive, multiplicative"),
    "an unknown key": ("[risk]", "[risk]\nattribute = []", "attributes"),
    "an unknown key of a dictionary": ('name = "register"', 'nmae = "register"', "name"),
    "an unknown column": ('columns = { town = "residence" }', 'columns = { town = "residense" }', "residence"),
    "an unknown identity": ('identity = "id"', 'identity = "ids"', "'id'"),
    "a consistency of no kind": (
        "[risk.sensitivity]", "[risk.consistency]\njob = {}\n[risk.sensitivity]", "risk.consistency.job.kind",
    ),
    "a threshold out of range": (
        "[risk.sensitivity]", '[risk.consistency]\njob = { kind = "jaro", threshold = 2 }\n[risk.sensitivity]', "threshold",
    ),
    "a table in which a person stands twice": (
        "[[risk.dictionaries]]", '[[risk.dictionaries]]\nname = "itself"\nidentity = "age"\n[[risk.dictionaries]]', "'30'",
    ),
    "no such file": ('path = "register.csv"', 'path = "gone.csv"', "gone.csv"),
    "a negative limit": ("[risk]", '[risk]\nlimit = "-1"', "limit"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_bad_input(desk, what):
    (desk / "other.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    (desk / "twice.csv").write_text(REGISTER + "8,30,Ulm,cook\n", encoding="utf-8")
    (desk / "empty.csv").write_text(REGISTER.splitlines()[0] + "\n", encoding="utf-8")
    old, new, message = BAD[what]
    configured(desk, old, new)
    done = sfumato("risk", "risk.toml", cwd=desk)
    assert done.returncode == 2, done.stdout
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--disclose", "5", "--output", "out"], "from 0 to 4"),
        (["--disclose", "25", "--per", "table", "--output", "out"], "from 0 to 24"),
        (["--disclose", "2"], "--output"),
        (["--disclose", "2", "--output", "patients.csv"], "already"),
        (["--disclose", "2", "--output", "out", "--against", "prior"], "prior"),
        (["--limit", "x"], "limit"),
        (["--output", "out"], "--disclose"),
        (["--per", "table"], "--disclose"),
        (["--search", "min-risk"], "--disclose"),
        (["--disclose", "2", "--output", "out", "--search", "min-risk"], "MinRisk"),
    ],
)
def test_bad_usage(desk, arguments, message):
    done = sfumato("risk", "risk.toml", *arguments, cwd=desk)
    assert done.returncode == 2, done.stdout
    assert message in done.stderr
    assert not (desk / "out").exists()

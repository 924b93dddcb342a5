"""Input that nobody expects is an error of the input, exit status 2, and never a fault of the program."""

from __future__ import annotations

import json
from functools import partial

import pytest

import commandline

CONFIG = """
[data]
path = "people.csv"
[columns.age]
role = "quasi-identifier"
[columns.pay]
role = "sensitive"
[[principles]]
name = "k-anonymity"
k = 2
[output]
path = "release"
"""


@pytest.fixture
def sfumato(tmp_path):
    rows = "".join(f"{20 + row % 5},{row if row % 7 else ''}\n" for row in range(60))
    (tmp_path / "people.csv").write_text(f"age,pay\n{rows}", encoding="utf-8")
    (tmp_path / "sfumato.toml").write_text(CONFIG, encoding="utf-8")
    return partial(commandline.sfumato, cwd=tmp_path)


def assert_refused(done, text):
    assert done.returncode == 2, done.stderr
    assert text in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a = " + "[" * 100_000 + "]" * 100_000, "it is nested too deeply"),
        ("a = " + "{b=" * 20_000 + "1" + "}" * 20_000, "it is nested too deeply"),
        ("a." * 5_000 + "b = 1", "it is nested too deeply"),
        (CONFIG.replace("k = 2", "k = " + "9" * 5000), "an integer has too many digits"),
        (CONFIG.replace("k = 2", "k = 1e999999999"), "k"),
        ("# " + "x" * (1 << 24), "so it is not a config"),
    ],
    ids=["arrays", "tables", "keys", "integer", "exponent", "size"],
)
def test_deep_and_huge_configs(sfumato, tmp_path, text, problem):
    (tmp_path / "odd.toml").write_text(text, encoding="utf-8")
    assert_refused(sfumato("audit", "odd.toml"), problem)
    assert_refused(sfumato("anonymize", "odd.toml"), problem)
    done = sfumato("init", "people.csv", "--output", "odd.toml", "--force")
    assert done.returncode in (0, 2), done.stderr


NUL = [
    ["anonymize", "sfumato.toml", "--output", "a\0b"],
    ["anonymize", "sfumato.toml", "--internal", "a\0b"],
    ["init", "people.csv", "--output", "a\0b"],
    ["hierarchy", "people.csv", "age", "-o", "a\0b"],
    ["verify", "a\0b"],
    ["demo", "--save", "a\0b"],
]


@pytest.mark.parametrize("arguments", NUL, ids=lambda arguments: arguments[0])
def test_a_nul_in_an_argument(sfumato, arguments):
    assert_refused(sfumato(*arguments), "an argument contains a NUL character")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('path = "release"', 'path = "a\\u0000b"'),
        ('path = "release"', 'path = "release"\ninternal = "a\\u0000b"'),
        ('path = "release"', 'path = "release"\nkey = "a\\u0000b"'),
        ('path = "people.csv"', 'path = "a\\u0000b.csv"'),
        ('path = "people.csv"', 'path = "sqlite:///a\\u0000b"'),
        ("[columns.age]\n", '[columns.age]\nhierarchy = "a\\u0000b"\n'),
    ],
    ids=["output", "internal", "key", "data", "database", "hierarchy"],
)
def test_a_nul_in_a_config(sfumato, tmp_path, old, new):
    (tmp_path / "sfumato.toml").write_text(CONFIG.replace(old, new), encoding="utf-8")
    assert_refused(sfumato("anonymize", "sfumato.toml"), "a\\u0000b")


@pytest.mark.parametrize("number", ["9" * 310, "-" + "9" * 310, "1e400", "0." + "0" * 400 + "1"])
def test_numbers_beyond_the_range_of_floats(sfumato, tmp_path, number):
    with (tmp_path / "people.csv").open("a", encoding="utf-8") as file:
        file.write(f"20,{number}\n{number},3\n20,{number}0\n")
    assert sfumato("init", "people.csv", "--output", "draft.toml").returncode == 0
    assert sfumato("audit", "draft.toml").returncode in (0, 1)
    assert sfumato("anonymize", "sfumato.toml").returncode in (0, 1)


@pytest.mark.parametrize("hierarchy", ["", "hierarchy = { intervals = [5, 10] }\n", 'recoding = "interval"\n'])
def test_numbers_written_in_two_ways_beyond_64_bits(sfumato, tmp_path, hierarchy):
    cells = ["0.10", "0.1", "5", "-9223372036854775809"]
    rows = "".join(f"{cell},{pay}\n" for cell in cells for pay in (1, 2, 3))
    (tmp_path / "people.csv").write_text(f"age,pay\n{rows}", encoding="utf-8")
    config = CONFIG.replace("[columns.age]\n", f'[columns.age]\nkind = "numeric"\n{hierarchy}')
    (tmp_path / "sfumato.toml").write_text(config, encoding="utf-8")
    done = sfumato("anonymize", "sfumato.toml")
    assert done.returncode == 0, done.stderr
    assert sfumato("verify", "release", "--original", "people.csv").returncode == 0


def test_an_ordered_ground_distance_with_a_missing_secret(sfumato, tmp_path):
    """No row may be suppressed to hide that the distance has no number for it."""
    config = CONFIG.replace('"k-anonymity"\nk = 2', '"t-closeness"\nt = 1\nground = "ordered"\n[method]\nsuppress = "0.5"')
    (tmp_path / "sfumato.toml").write_text(config, encoding="utf-8")
    assert_refused(sfumato("anonymize", "sfumato.toml"), "requires a number in every row, and it is missing in 9")


@pytest.mark.parametrize("parameters", ["each", [1], None, 5, {"each": 1}])
def test_odd_parameters_in_a_release(sfumato, tmp_path, parameters):
    assert sfumato("anonymize", "sfumato.toml").returncode == 0
    manifest = tmp_path / "release" / "release.json"
    content = json.loads(manifest.read_text(encoding="utf-8"))
    content["method"]["parameters"] = parameters
    manifest.write_text(json.dumps(content), encoding="utf-8")
    done = sfumato("anonymize", "release/release.json", "--data", "people.csv", "--output", "again")
    assert_refused(done, "parameter")
    assert not (tmp_path / "again").exists()
    assert sfumato("verify", "release").returncode in (1, 2)


@pytest.mark.parametrize(
    ("declared", "problem"),
    [
        ("hierarchy = { icd = 10 }", "people.csv, column 'ill', row 4: 'XYZ9' is not a code of ICD-10"),
        ('never_mix = ["Z99"]', "odd.toml, columns.ill.never_mix, column 'ill': never_mix names 'Z99'"),
        ("hierarchy = { prefix = [1] }\ncoarsest = 9", "odd.toml, columns.ill.coarsest, column 'ill': coarsest = 9"),
        ("weight = -1", "odd.toml, columns.ill.weight, column 'ill': weight = -1 is not a number"),
        ("weight = nan", "odd.toml, columns.ill.weight, column 'ill': weight = NaN is not a number"),
    ],
)
def test_declarations_that_do_not_fit_the_data_name_the_file(sfumato, tmp_path, declared, problem):
    codes = ["I10", "J45", "K35", "XYZ9"] * 5
    (tmp_path / "people.csv").write_text("age,ill\n" + "".join(f"{20 + i},{ill}\n" for i, ill in enumerate(codes)))
    columns = f'[columns.ill]\nrole = "quasi-identifier"\n{declared}\n[[principles]]'
    text = CONFIG.replace('[columns.pay]\nrole = "sensitive"\n', "").replace("[[principles]]", columns)
    (tmp_path / "odd.toml").write_text(text)
    assert_refused(sfumato("anonymize", "odd.toml"), problem)


def test_a_table_without_roles_is_refused_for_that(sfumato, tmp_path):
    (tmp_path / "people.csv").write_text("age,ill\n" + "30,flu\n" * 9)
    text = '[data]\npath = "people.csv"\nundeclared = "refuse"\n[[principles]]\nname = "k-anonymity"\nk = 3\n'
    (tmp_path / "odd.toml").write_text(text)
    done = sfumato("anonymize", "odd.toml", "--output", "release")
    assert_refused(done, "people.csv, column 'age': 2 columns have no role: 'age', 'ill'")
    assert not (tmp_path / "release").exists()

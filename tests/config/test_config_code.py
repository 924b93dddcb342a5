"""A config runs no code that it does not name, none without permission, and loads little of sfumato."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import pytest

import sfumato as sf
from sfumato.user_code import CodeLocation, load_function

TEXT = """
[data]
path = "people.csv"
[columns.age]
role = "quasi-identifier"
[columns.pay]
role = "sensitive"
kind = "numeric"
[[principles]]
name = "dissimilarity"
epsilon = 0
delta = 1
k = 2
[method]
name = "mondrian"
relaxed = true
[output]
path = "release"
"""

ITS_DISTANCE = '[columns.pay.distance]\nkind = "function"\nfunction = "near:gap"\n'
CODE = """
import dataclasses
@dataclasses.dataclass
class Gap:
    size: int
def gap(x, y):
    return Gap(abs(x - y)).size
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sfumato.toml").write_text(TEXT + ITS_DISTANCE, encoding="utf-8")
    (tmp_path / "near.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "people.csv").write_text("age,pay\n1,10\n2,20\n3,30\n4,40\n", encoding="utf-8")
    return tmp_path


def test_code_is_refused_by_default(folder):
    (folder / "near.py").write_text("raise RuntimeError('this code ran')", encoding="utf-8")
    with pytest.raises(sf.errors.ConfigError, match=r"'near:gap'.*not allowed.*--allow-code.*allow_code=True") as caught:
        sf.Config.load(folder / "sfumato.toml")
    assert caught.value.key == "columns.pay.distance.function"
    assert caught.value.file == str(folder / "sfumato.toml")


@pytest.mark.parametrize(
    ("section", "key"),
    [
        ('[distance]\nkind = "function"\nfunction = "os:getcwd"', "distance.function"),
        ('[risk.sensitivity]\nkind = "function"\nfunction = "os:getcwd"', "risk.sensitivity.function"),
    ],
)
def test_every_place_that_names_code_is_refused(section, key):
    with pytest.raises(sf.errors.ConfigError, match="os:getcwd") as caught:
        sf.Config.parse(TEXT + section)
    assert caught.value.key == key
    sf.Config.parse(TEXT + section, allow_code=True)


@pytest.mark.parametrize("key", ["allow_code = true", 'source = "x"'])
def test_a_config_cannot_allow_its_own_code(key):
    with pytest.raises(sf.errors.ConfigError, match="the key is unknown"):
        sf.Config.parse(f"{key}\n{TEXT}")


@pytest.mark.parametrize("name", ["near:gap", "near.py:gap", "below.near:gap", "below/near.py:gap"])
def test_code_is_loaded_from_its_file(folder, name):
    (folder / "below").mkdir()
    (folder / "below" / "near.py").write_text(CODE, encoding="utf-8")
    config = folder / "sfumato.toml"
    config.write_text(config.read_text(encoding="utf-8").replace("near:gap", name), encoding="utf-8")
    before, modules = list(sys.path), set(sys.modules)
    declared = sf.Config.load(config, allow_code=True)
    assert not [module for module in set(sys.modules) - modules if "user_code_" in module], (
        "nothing runs before it is needed"
    )
    audit = sf.audit(declared.table(), None, declared.require_principles())
    assert audit.findings[0].distance == "function"
    assert sys.path == before
    assert "near" not in sys.modules
    assert str(declared.schema.distances["pay"].function) == name
    assert declared.schema.distances["pay"].parameters() == {"function": name}


def test_errors_about_code_name_the_config(folder):
    config = folder / "sfumato.toml"
    text = config.read_text(encoding="utf-8")
    config.write_text(text.replace("near:gap", "mine.py:gap"), encoding="utf-8")
    with pytest.raises(sf.errors.ConfigError, match=r"'mine.py' does not exist") as caught:
        sf.Config.load(config, allow_code=True)
    assert (caught.value.file, caught.value.key) == (str(config), "columns.pay.distance.function")
    config.write_text(text.replace("near:gap", "near:gip"), encoding="utf-8")
    declared = sf.Config.load(config, allow_code=True)
    with pytest.raises(sf.errors.ConfigError, match=r"not the name of a function") as caught:
        sf.audit(declared.table(), None, declared.require_principles())
    assert (caught.value.file, caught.value.key) == (str(config), "columns.pay.distance.function")


def test_a_changed_file_is_loaded_again(tmp_path):
    location = CodeLocation("own.py:number", tmp_path)
    (tmp_path / "own.py").write_text("def number():\n    return 1\n", encoding="utf-8")
    assert load_function(location)() == 1
    assert load_function(location) is load_function(location)
    (tmp_path / "own.py").write_text("def number():\n    return 234\n", encoding="utf-8")
    assert load_function(location)() == 234


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("absent.py:f", r"cannot be imported.*No such file"),
        ("absent:f", "cannot be imported"),
        ("own:absent", "not the name of a function"),
        ("own", "not the name of a function"),
        ("own:number", "is not a function"),
        ("bad:f", "cannot be imported: no module"),
        ("typo:f", "cannot be run: SyntaxError"),
        ("fails:f", "cannot be run: ZeroDivisionError"),
    ],
)
def test_code_that_cannot_be_loaded(tmp_path, name, words):
    (tmp_path / "own.py").write_text("number = 3\n", encoding="utf-8")
    (tmp_path / "bad.py").write_text("raise ImportError('no module')\n", encoding="utf-8")
    (tmp_path / "typo.py").write_text("def f(:\n", encoding="utf-8")
    (tmp_path / "fails.py").write_text("1 / 0\n", encoding="utf-8")
    with pytest.raises(sf.errors.ParameterError, match=words):
        load_function(CodeLocation(name, tmp_path))


def test_a_config_from_a_program_may_name_code(folder):
    schema = sf.Schema(["age"], ["pay"], distances={"pay": sf.distances.Custom("math:dist")})
    config = sf.Config.of(schema, "people.csv")
    assert str(config.schema.distances["pay"].function) == "math:dist"
    with pytest.raises(sf.errors.ConfigError, match="math:dist"):
        sf.Config.parse(config.to_toml())


def test_code_is_checked_where_the_function_is_built(folder):
    """`model_validate` skips what `parse` checks."""
    (folder / "near.py").write_text("raise RuntimeError('this code ran')", encoding="utf-8")
    risk = {"sensitivity": {"kind": "function", "function": "near.py:gap"}}
    raw = {"data": {"path": "people.csv"}, "risk": risk, "source": folder / "sfumato.toml"}
    config = sf.Config.model_validate(raw)
    for build in (config.setting, config.risk_assumptions):
        with pytest.raises(sf.errors.ConfigError, match=r"near.py:gap.*not allowed") as caught:
            build()
        assert caught.value.key == "risk.sensitivity.function"
    with pytest.raises(sf.errors.SfumatoError, match="this code ran"):
        sf.Config.model_validate({**raw, "allow_code": True}).setting()


def test_locations_differ_by_their_folder(tmp_path):
    one, other = CodeLocation("near.py:d", tmp_path / "A"), CodeLocation("near.py:d", tmp_path / "B")
    assert one == CodeLocation("near.py:d", tmp_path / "A")
    assert hash(one) == hash(CodeLocation("near.py:d", tmp_path / "A"))
    assert one != other
    assert one != "near.py:d"
    assert len({one, other, "near.py:d"}) == 3
    assert pickle.loads(pickle.dumps(one)) == one


def test_a_file_changed_at_the_same_time_and_size_is_loaded_again(tmp_path):
    path, location = tmp_path / "own.py", CodeLocation("own.py:number", tmp_path)
    for number in (1, 2):
        path.write_text(f"def number():\n    return {number}\n", encoding="utf-8")
        os.utime(path, ns=(10**18, 10**18))
        assert load_function(location)() == number
    assert not (tmp_path / "__pycache__").exists()


def test_a_graph_is_shared_only_by_the_same_function(tmp_path):
    """The same text may name functions of different folders, or of different versions of a file."""
    for name, factor in (("A", 1), ("B", 1000)):
        (tmp_path / name).mkdir()
        code = f"def gap(x, y):\n    return abs(x - y) * {factor}\n"
        (tmp_path / name / "near.py").write_text(code, encoding="utf-8")
        (tmp_path / name / "sfumato.toml").write_text(
            TEXT.replace("epsilon = 0", "epsilon = 10") + ITS_DISTANCE, encoding="utf-8"
        )
        (tmp_path / name / "people.csv").write_text("age,pay\n1,10\n1,20\n1,30\n1,40\n", encoding="utf-8")

    def config(name):
        return sf.Config.load(tmp_path / name / "sfumato.toml", allow_code=True)

    def degree(table, schema):
        return sf.audit(table, schema, config("A").requested_principles).findings[0].levels["risk"]

    alone = {name: degree(config(name).table(), None) for name in ("A", "B")}
    assert alone["A"] != alone["B"]
    for first, second in (("A", "B"), ("B", "A")):
        table = config(first).table()
        assert degree(table, None) == alone[first]
        assert degree(table, config(second).schema) == alone[second]
        assert degree(table, config(first).schema) == alone[first]
    table = config("A").table()
    assert degree(table, None) == alone["A"]
    (tmp_path / "A" / "near.py").write_text((tmp_path / "B" / "near.py").read_text(encoding="utf-8"), encoding="utf-8")
    assert degree(table, config("A").schema) == alone["B"]


def test_a_repr_shows_no_password():
    uri = "postgresql://me:hunter2@host/db"
    text = TEXT.replace('"people.csv"', f'"{uri}"').replace("[output]", f'[output]\ndatabase = "{uri}"\ntable = "t"')
    config = sf.Config.parse(f'{text}\n[[risk.dictionaries]]\npath = "{uri}"\n')
    for shown in (repr(config), str(config), repr(config.data)):
        assert "hunter2" not in shown
        assert "postgresql://me:***@host/db" in shown
    assert config.data.path == uri
    assert uri in config.to_toml()


def loaded(statement):
    """Return the modules of sfumato, numba and scipy that a statement imports."""
    names = "name for name in sys.modules if name.startswith(('sfumato.', 'numba', 'scipy'))"
    probe = f"import sys, sfumato as sf\n{statement}\nprint(*({names}))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize("statement", ["sf.Config", "sf.Config.load({path!r})"])
def test_a_config_is_light(folder, statement):
    """Loading a config imports what reads it, and nothing of what it configures."""
    path = folder / "light.toml"
    more = "[risk]\nlimit = 1\n[project]\nalpha = 1\n"
    path.write_text(TEXT + more, encoding="utf-8")
    modules = loaded(statement.format(path=str(path)))
    assert not [name for name in modules if name.startswith(("numba", "scipy"))], "these take long to import"
    packages = {name.split(".")[1] for name in modules}
    assert packages <= {
        "config", "data", "distances", "engines", "errors", "exact", "io", "masking", "parameters", "part_maps", "plurals",
        "principles", "progress", "registry", "resistance", "serialization", "storage", "summaries", "temporaries",
        "user_code", "visible_text",
    }  # fmt: skip
    assert len(modules) < 110


def test_parameters_of_a_method_are_checked_when_it_is_used():
    config = sf.Config.parse(TEXT.replace("relaxed = true", "relased = true"))
    with pytest.raises(sf.errors.ConfigError, match="no parameter 'relased'") as caught:
        _ = config.grouping_method
    assert caught.value.key == "method.relased"
    with pytest.raises(sf.errors.ConfigError, match=r"no method 'mondriaan'.*'mondrian'") as caught:
        sf.Config.parse(TEXT.replace("mondrian", "mondriaan"))
    assert caught.value.key == "method.name"

"""The config file: read, written, and every mistake named by its key."""

from __future__ import annotations

import os
import stat
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

import sfumato as sf
from standin import Chunks

FULL = """
preserve = [["education", "race"]]

[data]
path = "people.csv"
delimiter = ";"
encoding = "latin-1"
undeclared = "refuse"
person_id = "id"
household_id = "home"

[columns.id]
role = "identifier"
[columns.home]
role = "identifier"
[columns.age]
role = "quasi-identifier"
kind = "numeric"
hierarchy = { intervals = [5, 10], origin = 0 }
weight = 0.5
coarsest = 1
[columns.race]
role = "quasi-identifier"
hierarchy = "hierarchies/race.csv"
recoding = "ancestor"
[columns.sex]
role = "quasi-identifier"
hierarchy = { flat = true }
never_mix = ["f", ["m", "x"]]
[columns.education]
role = "sensitive"
kind = "ordinal"
order = ["low", "high"]
[columns.profile]
role = "sensitive"
kind = "vector"
columns = ["x", "y"]
distance = { kind = "total-variation" }
[columns.drugs]
role = "sensitive"
kind = "set"
separator = "|"
[columns.born]
role = "other"
format = "%d.%m.%Y"
age_at = "seen"
[columns.left]
role = "other"
age_at = 2024-02-29
[columns.seen]
role = "other"
timezone = "Europe/Rome"
[columns.note]
role = "other"
[columns.memo]
kind = "text"

[missing]
values = ["", "?"]
policy = "refuse"

[distance]
kind = "lp"
p = 1
weights = { education = 0.4, x = 0.3, y = 0.3 }
by = { education = "rank" }

[[principles]]
name = "dissimilarity"
epsilon = 0.1
delta = "0.8"
k = 10
[[principles]]
name = "k-anonymity"
k = 5
[[principles]]
name = "n-t-closeness"
n = 100
t = "0.2"
supersets = [["race"], ["race", "sex"]]
on = "education"

[method]
name = "auto"
seed = 7
suppress = 0.05
[output]
path = "release"
format = "parquet"
key = "key.json"
"""


def test_everything(tmp_path):
    path = tmp_path / "sfumato.toml"
    path.write_text(FULL, encoding="utf-8")
    config = sf.Config.load(path)
    schema = config.schema
    assert schema.quasi_identifiers == ("age", "race", "sex")
    assert schema.sensitive == ("education", "profile", "drugs")
    assert schema.identifiers == ("id", "home")
    assert schema.other == ("born", "left", "seen", "note")
    assert schema.formats == {"born": "%d.%m.%Y"}
    assert schema.timezones == {"seen": "Europe/Rome"}
    assert schema.ages == {"born": "seen", "left": "2024-02-29"}
    assert [schema.kinds[name] for name in ("born", "left", "seen")] == ["numeric", "numeric", "date"]
    assert schema.undeclared == "refuse"
    assert schema.role("memo") is None
    assert (schema.person_id, schema.household_id) == ("id", "home")
    assert config.key_file == tmp_path / "key.json"
    assert schema.hierarchies["race"] == tmp_path / "hierarchies" / "race.csv"
    assert schema.hierarchies["age"] == sf.Intervals((5, 10))
    assert schema.missing == sf.data.Missing(("", "?"), "refuse")
    assert schema.distance == sf.distances.Lp(weights={"education": "0.4", "x": "0.3", "y": "0.3"}, by={"education": "rank"})
    assert schema.distances["profile"] == sf.distances.TotalVariation()
    assert schema.recodings == {"race": "ancestor"}
    assert schema.weights == {"age": Fraction(1, 2)}
    assert schema.coarsest == {"age": 1}
    assert schema.never_mix == {"sex": (("f",), ("m", "x"))}
    assert schema.preserve == (("education", "race"),)
    assert (config.method.name, config.method.seed, config.method.suppress) == ("auto", 7, Decimal("0.05"))
    assert (config.output_folder, config.output.format) == (tmp_path / "release", "parquet")
    assert config.requested_principles == (
        sf.Dissimilarity("0.1", "0.8", 10),
        sf.KAnonymity(5),
        sf.NTCloseness(100, "0.2", supersets=(("race",), ("race", "sex")), on="education"),
    )


def test_written_and_read_again(tmp_path):
    config = sf.Config.parse(FULL)
    assert sf.Config.parse(config.to_toml()) == config
    config.save(tmp_path / "out.toml")
    assert sf.Config.load(tmp_path / "out.toml").to_toml() == config.to_toml()
    assert [p.name for p in tmp_path.iterdir()] == ["out.toml"]


def test_written_from_a_program():
    config = sf.Config.parse(FULL)
    again = sf.Config.of(config.schema, "people.csv", config.requested_principles, delimiter=";", encoding="latin-1")
    assert sf.Config.parse(again.to_toml()).schema == config.schema
    assert again.requested_principles == config.requested_principles
    assert again.data == config.data


def test_a_methods_own_parameters(tmp_path, monkeypatch):
    from sfumato.registry import METHODS

    monkeypatch.setitem(METHODS.entries, Chunks.name, Chunks)
    text = FULL.replace('name = "auto"', 'name = "chunks"\nsize = 4')
    config = sf.Config.parse(text)
    assert config.grouping_method == Chunks(4)
    assert config.method.parameters == {"size": 4}
    assert sf.Config.parse(config.to_toml()) == config
    assert sf.Config.of(config.schema, "people.csv", config.requested_principles, Chunks(4)).grouping_method == Chunks(4)
    path = tmp_path / "sfumato.toml"
    path.write_text(text.replace("size = 4", "sise = 4"), encoding="utf-8")
    with pytest.raises(
        sf.errors.ConfigError, match=r"no parameter 'sise'.*size; in addition to name, seed, suppress"
    ) as caught:
        _ = sf.Config.load(path).grouping_method
    assert (caught.value.key, caught.value.file) == ("method.sise", str(path))


def test_what_cannot_be_written():
    tree = sf.Hierarchy.from_rows([["a", "*"]])
    with pytest.raises(sf.errors.ConfigError, match="has no file"):
        sf.Config.of(sf.Schema(["a"], hierarchies={"a": tree}), "t.csv")
    with pytest.raises(sf.errors.ConfigError, match="cannot be written to a config"):
        sf.Config.of(sf.Schema(sensitive=["a"], distance=sf.distances.Custom(max)), "t.csv")
    with pytest.raises(sf.errors.ConfigError, match="cannot be written"):
        sf.Config.parse(FULL).save("/no/such/folder/x.toml")


@pytest.mark.parametrize(
    ("change", "key", "words"),
    [
        (('path = "people.csv"', 'pth = "people.csv"'), "data.pth", "Did you mean 'path'"),
        (('path = "people.csv"', ""), "data.path", "missing"),
        (('path = "people.csv"', "path = 5"), "data.path", "string"),
        (('delimiter = ";"', 'delimiter = ";;"'), "data.delimiter", "1 character"),
        (('kind = "numeric"', 'kind = "number"'), "columns.age.kind", "'numeric', 'categorical'"),
        (('role = "other"', 'role = "secret"'), "columns.born.role", "'sensitive'"),
        (('role = "other"', 'rule = "other"'), "columns.born.rule", "unknown"),
        (("intervals = [5, 10]", "intervals = [5, 7]"), "columns.age.hierarchy.intervals", "do not nest"),
        (("flat = true", "flat = false"), "columns.sex.hierarchy", "names no builder"),
        (('order = ["low", "high"]', ""), "columns.education", "has no order"),
        (('policy = "refuse"', 'policy = "drop"'), "missing.policy", "'drop' is unknown"),
        (('kind = "lp"', 'kind = "l2"'), "distance.kind", "'l2' is unknown"),
        (('kind = "lp"', ""), "distance.kind", "no kind"),
        (("p = 1", "q = 1"), "distance.q", "no parameter 'q'"),
        (("p = 1", "p = 0"), "distance.p", "p = 0"),
        (("weights = { education = 0.4,", "weights = { education = -1,"), "distance.weights.education", "negative"),
        (('{ kind = "total-variation" }', '{ kind = "tv" }'), "columns.profile.distance.kind", "'tv' is unknown"),
        (
            ('{ kind = "total-variation" }', '{ kind = "function" }'),
            "columns.profile.distance.function",
            "names no function",
        ),
        (('name = "k-anonymity"', 'name = "k-anonimity"'), "principles[1].name", "Did you mean 'k-anonymity'"),
        (('name = "k-anonymity"', ""), "principles[1].name", "no principle"),
        (("k = 5", "j = 5"), "principles[1].j", "no parameter 'j'"),
        (("k = 5", ""), "principles[1].k", "requires 'k'"),
        (("k = 5", "k = 0"), "principles[1].k", "whole number"),
        (("epsilon = 0.1", "epsilon = -0.1"), "principles[0].epsilon", "out of range"),
        (('delta = "0.8"', 'delta = "much"'), "principles[0].delta", "not a number"),
        (("[missing]", "[mising]"), "mising", "unknown"),
        (('recoding = "ancestor"', 'recoding = "mean"'), "columns.race.recoding", "'interval', 'ancestor' or 'set'"),
        (("[columns.note]", '[columns.note]\nrecoding = "set"'), "columns.note", "not a quasi-identifier"),
        (("[columns.note]", "[columns.note]\nweight = 2"), "columns.note", "not a quasi-identifier"),
        (("weight = 0.5", "weight = -1"), "columns.age.weight", "a number of at least 0"),
        (("weight = 0.5", "weight = nan"), "columns.age.weight", "a number of at least 0"),
        (("weight = 0.5", "weight = true"), "columns.age.weight", "a number of at least 0"),
        (("coarsest = 1", 'coarsest = "10"'), "columns.age.coarsest", "not a level"),
        (("coarsest = 1", "coarsest = -1"), "columns.age.coarsest", "not a level"),
        (('["m", "x"]', '["m", "f"]'), "columns.sex.never_mix", "names 'f' twice"),
        (('["f", ["m", "x"]]', "[]"), "columns.sex.never_mix", "names no value"),
        (('["education", "race"]', '["education"]'), "preserve", "not a pair"),
        (('["education", "race"]', '["education", "drugs"]'), "preserve", "no quasi-identifier"),
        (('["education", "race"]', '["id", "race"]'), "columns.id.preserve", "not published"),
        (("%d.%m.%Y", "%m.%Y"), "columns.born", "does not determine a day"),
        (("Europe/Rome", "Rome"), "columns.seen", "no time zone 'Rome'"),
        (('age_at = "seen"', 'age_at = "left"'), "columns.born", "cannot be used"),
        (('age_at = "seen"', "age_at = 30"), "columns.born.age_at", "string"),
        (("seed = 7", "seed = -7"), "method.seed", "greater than or equal to 0"),
        (("seed = 7", "seed = 7.5"), "method.seed", "integer"),
        (("seed = 7", 'seed = "7"'), "method.seed", "integer"),
        (("seed = 7", "seed = true"), "method.seed", "integer"),
        (("suppress = 0.05", "suppress = 1"), "method.suppress", "out of range"),
        (("suppress = 0.05", 'suppress = "few"'), "method.suppress", "not a number"),
        (('name = "auto"', 'name = "automatic"'), "method.name", "no method 'automatic'"),
        (('format = "parquet"', 'format = "xlsx"'), "output.format", "'csv' or 'parquet'"),
    ],
)
def test_mistakes(tmp_path, change, key, words):
    path = tmp_path / "sfumato.toml"
    assert change[0] in FULL
    path.write_text(FULL.replace(*change, 1), encoding="utf-8")
    with pytest.raises(sf.errors.ConfigError) as caught:
        sf.Config.load(path)
    assert caught.value.key == key
    assert caught.value.file == str(path)
    assert words in str(caught.value)


def test_unreadable(tmp_path):
    for name, content, words in (
        ("absent.toml", None, "the file does not exist"),
        ("bad.toml", b"[data\n", "not valid TOML"),
        ("latin.toml", "x = 'ü'".encode("latin-1"), "not UTF-8"),
    ):
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(sf.errors.ConfigError, match=words):
            sf.Config.load(path)


def test_saved_files_have_the_rights_of_new_files(tmp_path):
    before = os.umask(0o027)
    try:
        sf.Config.parse(FULL).save(tmp_path / "out.toml")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out.toml").stat().st_mode) == 0o640


def test_a_config_of_a_newer_version():
    with pytest.raises(sf.errors.ConfigError, match=r"format 2.*up to 1.*newer version") as caught:
        sf.Config.parse('format = 2\n[data]\nfile = "of another time"\n', Path("sfumato.toml"))
    assert (caught.value.key, caught.value.value, caught.value.file) == ("format", 2, "sfumato.toml")
    for odd in ("0", '"1"', "1.5", "true"):
        with pytest.raises(sf.errors.ConfigError, match="format"):
            sf.Config.parse(f'format = {odd}\n[data]\npath = "people.csv"\n')


def test_misspelt_roles_and_attributes_have_suggestions(tmp_path):
    path = tmp_path / "sfumato.toml"
    text = """
[data]
path = "people.csv"
[columns.education]
role = "sensitive"
[[principles]]
name = "distinct-l-diversity"
l = 2
on = "education"
"""
    path.write_text(text.replace("sensitive", "sensitve"), encoding="utf-8")
    with pytest.raises(sf.errors.ConfigError, match=r"Did you mean 'sensitive'\?$") as caught:
        sf.Config.load(path)
    assert caught.value.key == "columns.education.role"
    path.write_text(text.replace('on = "education"', 'on = "educaton"'), encoding="utf-8")
    with pytest.raises(sf.errors.ConfigError, match=r"Did you mean 'education'\?") as caught:
        sf.Config.load(path)
    assert (caught.value.file, caught.value.key) == (str(path), "principles[0].on")


def test_a_data_file_is_not_a_config(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age\n1\n", encoding="utf-8")
    with pytest.raises(sf.errors.ConfigError, match=r"data file, not a config\. .*sfumato init .*people\.csv"):
        sf.Config.load(path)

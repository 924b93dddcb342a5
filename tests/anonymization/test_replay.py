"""A release is repeated from its release.json and the original: the same bytes, or it is said what differs."""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow as pa
import pytest

import sfumato as sf
from commandline import sfumato
from sfumato.census import census_schema
from sfumato.releases.model_base import as_json

FILES = ["data.csv", "release.json", "report.html"]
PRINCIPLES = [sf.KAnonymity(4), sf.Dissimilarity(epsilon="0.1", delta="0.5", k=4), sf.DistinctLDiversity(2, on="each")]


@pytest.fixture(scope="module")
def people():
    return sf.synthetic_census(600, 2)


def same(one, other):
    return [(one / name).read_bytes() == (other / name).read_bytes() for name in FILES] == [True] * len(FILES)


@pytest.mark.parametrize("method", ["glaze", "mondrian", sf.Mondrian(relaxed=True)])
def test_the_same_bytes(people, tmp_path, method):
    principles = sf.KAnonymity(4) if method != "glaze" else PRINCIPLES
    first = sf.anonymize(people, census_schema(), principles, method=method, seed=7, suppress="0.05").save(
        tmp_path / "first"
    )
    assert same(first, sf.replay(first, people, seed=7).save(tmp_path / "again"))
    (tmp_path / "alone.json").write_bytes((first / "release.json").read_bytes())
    assert same(first, sf.replay(tmp_path / "alone.json", people, seed=7).save(tmp_path / "third"))
    if method == "glaze":
        assert not same(first, sf.replay(first, people, seed=8).save(tmp_path / "other"))


def test_the_seed_comes_from_the_key(people, tmp_path):
    release = sf.anonymize(people, census_schema(), PRINCIPLES)
    first = release.save(tmp_path / "first", key=tmp_path / "key.json")
    assert release.private.seed.bit_length() > 64, "128 bits are drawn"
    assert (tmp_path / "key.json").stat().st_mode & 0o777 == 0o600
    assert same(first, sf.replay(first, people, key=tmp_path / "key.json").save(tmp_path / "again", expected=first))
    with pytest.raises(sf.errors.ReleaseError, match=r"seed.*not published.*--key FILE") as caught:
        sf.replay(first, people)
    assert caught.value.key == "seed"
    with pytest.raises(sf.errors.ParameterError, match="both a key and a seed"):
        sf.replay(first, people, key=tmp_path / "key.json", seed=1)
    other = sf.anonymize(people, census_schema(), sf.KAnonymity(3)).save(tmp_path / "other", key=tmp_path / "other.json")
    with pytest.raises(sf.errors.FileError, match="another release"):
        sf.replay(first, people, key=tmp_path / "other.json")
    with pytest.raises(sf.errors.FileError, match="not the key of a release"):
        sf.replay(first, people, key=other / "release.json")
    content = json.loads((tmp_path / "key.json").read_text(encoding="utf-8"))
    (tmp_path / "old.json").write_text(
        json.dumps({"sfumato_key": 1, "data": content["data"], "original_rows": content["original_rows"]}), encoding="utf-8"
    )
    with pytest.raises(sf.errors.FileError, match="no seed"):
        sf.replay(first, people, key=tmp_path / "old.json")


def test_a_release_of_an_older_format_states_its_seed(people, tmp_path):
    """It is repeated by the methods of this version, so its bytes may differ, and then it says why."""
    first = sf.anonymize(people, census_schema(), PRINCIPLES, seed=7).save(tmp_path / "first")
    content = json.loads((first / "release.json").read_text(encoding="utf-8")) | {"format": 4, "seed": 7}
    (tmp_path / "old.json").write_text(as_json(content), encoding="utf-8")
    release = sf.replay(tmp_path / "old.json", people)
    assert release.private.seed == 7
    content["files"]["data.csv"]["bytes"] += 1
    (tmp_path / "old.json").write_text(as_json(content), encoding="utf-8")
    with pytest.raises(sf.errors.ReplayError, match="has format 4, and this version writes format 6"):
        release.save(tmp_path / "again", expected=tmp_path / "old.json")


@pytest.mark.parametrize("rows", [["0;a;flu", "1;ä;gout", "2;a;?", "3;b;NA"] * 3])
def test_a_file_is_read_as_it_was(tmp_path, rows):
    path = tmp_path / "people.csv"
    path.write_bytes("\n".join(["age;town;ill", *rows]).encode("latin-1"))
    schema = sf.Schema(["age", "town"], ["ill"], missing=sf.data.Missing(values=["?"]))
    table = sf.read_table(path, schema, delimiter=";", encoding="latin-1")
    first = sf.anonymize(table, None, sf.KAnonymity(3), seed=0).save(tmp_path / "first")
    content = json.loads((first / "release.json").read_text(encoding="utf-8"))
    assert content["reading"] == {"delimiter": ";", "encoding": "latin-1"}
    assert str(tmp_path) not in json.dumps(content), "release.json does not tell where the original is"
    assert same(first, sf.replay(first, path, seed=0).save(tmp_path / "again"))
    assert sf.verify(first, path), "verification reads the original as it was declared"


def test_what_cannot_be_repeated(people, tmp_path):
    def off_by(one, other):
        return abs(one - other)

    own = replace(
        census_schema(),
        sensitive=("income",),
        other=("workclass",),
        distance=None,
        distances={"income": sf.distances.Custom(off_by)},
    )
    folder = sf.anonymize(people, own, sf.Dissimilarity(epsilon=1, delta="0.4", k=3), seed=0).save(tmp_path / "own")
    with pytest.raises(sf.errors.ReleaseError, match="function of the publisher's own"):
        sf.replay(folder, people)
    assert same(folder, sf.replay(folder, people, schema=own, seed=0).save(tmp_path / "again"))
    content = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    for method in (
        None,
        {"name": "nonsense", "parameters": {}},
        {"name": "glaze"},
        {"name": "glaze", "parameters": {"x": 1}},
    ):
        (tmp_path / "corrupt.json").write_text(json.dumps({**content, "method": method}), encoding="utf-8")
        with pytest.raises(sf.errors.ReleaseError, match="method"):
            sf.replay(tmp_path / "corrupt.json", people, schema=own)
    with pytest.raises(sf.errors.ColumnError, match="no such column"):
        sf.replay(folder, people.drop_columns(["sex"]), schema=own, seed=0)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A table with a name in it, its release, and what release.json says."""
    people = pa.table({"name": [f"n{i}" for i in range(20)], "age": [i % 4 for i in range(20)], "ill": ["flu", "gout"] * 10})
    schema = sf.Schema(["age"], ["ill"], identifiers=["name"])
    folder = sf.anonymize(people, schema, sf.KAnonymity(3), seed=0).save(tmp_path_factory.mktemp("small") / "out")
    return people, folder, json.loads((folder / "release.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("column", "declared"),
    [
        ("name", {"role": "Identifier"}),
        ("name", {"role": None}),
        ("name", {"role": ["identifier"]}),
        ("name", {"Role": "identifier"}),
        ("age", {"role": "quasi_identifier"}),
        ("age", {"role": "quasi-identifier", "kind": "Numeric"}),
        ("ill", {"role": "sensitive", "kind": 1}),
    ],
)
def test_unknown_roles_and_kinds_are_refused(small, tmp_path, column, declared):
    """Taken for "other", a column would be published as it is."""
    people, folder, content = small
    content = {**content, "config": {**content["config"], "columns": {**content["config"]["columns"], column: declared}}}
    (tmp_path / "out").mkdir()
    for name in ("data.csv", "report.html"):
        (tmp_path / "out" / name).write_bytes((folder / name).read_bytes())
    (tmp_path / "out" / "release.json").write_text(as_json(content), encoding="utf-8")
    with pytest.raises(sf.errors.ReleaseError, match=rf"config\.columns\.{column}.*(unknown|invalid)"):
        sf.replay(tmp_path / "out", people)
    with pytest.raises(sf.errors.ReleaseError, match=rf"config\.columns\.{column}.*(unknown|invalid)"):
        sf.verify(tmp_path / "out")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("seed", ...),
        ("seed", "7"),
        ("seed", True),
        ("seed", -1),
        ("seed", None),
        ("suppress", ...),
        ("suppress", 0),
        ("suppress", "much"),
        ("suppress", "2"),
        ("files", {}),
        ("files", {"report.html": {"sha256": "", "bytes": 0}}),
        ("files", {"data.csv": None}),
        ("files", {"data.csv": {"sha256": "", "bytes": 0}, "../x": {"sha256": "", "bytes": 0}}),
    ],
)
def test_a_corrupt_release_json_is_refused(small, tmp_path, key, value):
    people, _, content = small
    older = {**content, "format": 4, "seed": 0}  # the last format that states a seed
    corrupt = {name: inner for name, inner in {**older, key: value}.items() if inner is not ...}
    (tmp_path / "corrupt.json").write_text(json.dumps(corrupt), encoding="utf-8")
    with pytest.raises(sf.errors.ReleaseError, match=key):
        sf.replay(tmp_path / "corrupt.json", people)


@pytest.mark.parametrize("files", [{}, {"report.html": {"sha256": "", "bytes": 0}}])
def test_a_release_json_without_data_files_is_not_expected(small, tmp_path, files):
    people, folder, content = small
    (tmp_path / "none.json").write_text(json.dumps({**content, "files": files}), encoding="utf-8")
    with pytest.raises(sf.errors.ReleaseError, match="invalid files"):
        sf.replay(folder, people, seed=0).save(tmp_path / "out", expected=tmp_path / "none.json")
    assert [path.name for path in tmp_path.iterdir()] == ["none.json"]


def test_what_comes_out_different_is_not_written(small, tmp_path):
    people, folder, content = small
    assert same(folder, sf.replay(folder, people, seed=0).save(tmp_path / "again", expected=folder))
    fewer = sf.replay(folder, people.slice(1), seed=0)
    with pytest.raises(
        sf.errors.ReplayError, match=r"data\.csv.*differ from the files listed here.*original table or the seed differs"
    ):
        fewer.save(tmp_path / "other", expected=folder, internal=tmp_path / "internal.html")
    (tmp_path / "older.json").write_text(json.dumps({**content, "numpy": "0.1"}), encoding="utf-8")
    with pytest.raises(sf.errors.ReplayError, match=r"numpy 0\.1"):
        fewer.save(tmp_path / "other", expected=tmp_path / "older.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "older.json"]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    done = sfumato("demo", "--rows", "2000", "--save", "demo", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "demo"


def test_on_the_command_line(demo, tmp_path):
    release, key = tmp_path / "first", str(tmp_path / "key.json")
    first = sfumato("anonymize", "sfumato.toml", "--output", str(release), "--key", key, cwd=demo)
    assert first.returncode == 0, first.stderr
    assert "it contains the seed" in first.stdout
    alone = sfumato("anonymize", str(release / "release.json"), "--data", "people.csv", "--output", "again", cwd=demo)
    assert (alone.returncode, "--key FILE" in alone.stderr) == (2, True)
    again = sfumato(
        "anonymize", str(release / "release.json"), "--data", "people.csv", "--key", key, "--output", "again", cwd=demo
    )
    assert (again.returncode, again.stderr) == (0, "")
    assert "the same, byte for byte" in again.stdout
    assert same(release, demo / "again")
    lines = (demo / "people.csv").read_text(encoding="utf-8").splitlines()
    (tmp_path / "fewer.csv").write_text("\n".join(lines[:-1]), encoding="utf-8")
    other = sfumato(
        "anonymize", str(release), "--data", str(tmp_path / "fewer.csv"), "--key", key, "--output", "other", cwd=demo
    )
    assert other.returncode == 1
    assert "differ from the files listed here" in other.stderr
    assert not (demo / "other").exists(), "what is not the release is not put in its place"
    for arguments, words in (
        ([], "--data"),
        (["--data", "nowhere.csv"], "nowhere.csv"),
        (["--data", str(release / "data.csv")], "no such column|is not"),
    ):
        bad = sfumato("anonymize", str(release), "--key", key, "--output", "bad", *arguments, cwd=demo)
        assert bad.returncode == 2
        assert any(word in bad.stderr for word in words.split("|")), bad.stderr
        assert not (demo / "bad").exists()
    unplaced = sfumato("anonymize", str(release), "--data", "people.csv", cwd=demo)
    assert (unplaced.returncode, "--output" in unplaced.stderr) == (2, True)

"""The release folder: written aside, put in place in one step, and nothing left over; whenever a process dies."""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.census import census_schema
from sfumato.io import atomic_replace as aside
from standin import Chunks

FILES = ["data.csv", "release.json", "report.html"]


def made(seed):
    people = sf.synthetic_census(400, 3)
    return sf.anonymize(people, census_schema(), sf.KAnonymity(10), method=Chunks(10), seed=seed)


@pytest.fixture(scope="module")
def release():
    return made(5)


def entries(folder):
    return sorted(path.name for path in folder.iterdir())


def test_files_and_who_may_read_them(release, tmp_path):
    before = os.umask(0o027)
    try:
        release.save(tmp_path / "out")
    finally:
        os.umask(before)
    assert entries(tmp_path) == ["out"]
    assert entries(tmp_path / "out") == FILES
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o750
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "out").iterdir()} == {0o640}


def test_only_the_owner_may_read_what_is_not_complete(release, tmp_path, monkeypatch):
    from sfumato.releases import writer

    seen = []

    def look(folder):
        seen.extend(stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir()))
        aside.open_to_readers(folder)

    monkeypatch.setattr(writer, "open_to_readers", look)
    release.save(tmp_path / "out")
    assert seen == [0o700, *[0o600] * len(FILES)]


def test_an_existing_folder_is_not_overwritten(release, tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    (target / "mine.txt").write_text("mine", encoding="utf-8")
    for force in (False, True):
        with pytest.raises(sf.errors.FileError, match=r"something exists here already|is not a release"):
            release.save(target, force=force)
    assert sorted(p.name for p in target.iterdir()) == ["mine.txt"]
    release.save(tmp_path / "new")
    with pytest.raises(sf.errors.FileError, match=r"something exists here already.*--force \(in Python force=True\)"):
        release.save(tmp_path / "new")
    release.save(tmp_path / "new", force=True, format="parquet")
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == ["data.parquet", "release.json", "report.html"]
    (tmp_path / "new" / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(sf.errors.FileError, match=r"notes\.txt"):
        release.save(tmp_path / "new", force=True)
    (tmp_path / "link").symlink_to(tmp_path / "new")
    with pytest.raises(sf.errors.FileError, match="is not a release"):
        release.save(tmp_path / "link", force=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link", "new", "out"]


@pytest.mark.parametrize("target", ["missing/out", "/proc/out", "/"])
def test_where_nothing_can_be_written(release, tmp_path, target, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(sf.errors.FileError):
        release.save(target)
    assert not list(tmp_path.iterdir())


def saved_again_and_again(folder, ready):
    """What a child process does until it is killed."""
    releases = [made(1), made(2)]
    releases[0].save(folder, force=True)
    ready.send("begun")
    while True:
        for release in releases:
            release.save(folder, force=True)


@pytest.mark.skipif(sys.platform != "linux", reason="folders are exchanged in one step on Linux")
@pytest.mark.long
def test_killed_at_any_moment(tmp_path):
    """A process that is killed (-9) while it writes leaves the old release or the new one; the next sweeps what it left."""
    kills = 200 if os.environ.get("SFUMATO_PROFILE") == "thorough" else 8
    for seed in (1, 2):
        made(seed).save(tmp_path / f"release{seed}")
    whole = {tuple((tmp_path / f"release{seed}" / name).read_bytes() for name in FILES) for seed in (1, 2)}
    assert len(whole) == 2
    place = tmp_path / "place"
    place.mkdir()
    target = place / "out"
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["sfumato.release", "sfumato.census", "sfumato.verification"])
    moments = random.Random(0)
    left = 0
    for _ in range(kills):
        mine, theirs = context.Pipe()
        child = context.Process(target=saved_again_and_again, args=(target, theirs))
        child.start()
        theirs.close()
        assert mine.recv() == "begun"
        assert entries(place)[-1] == "out"
        time.sleep(moments.uniform(0, 0.2))
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        left += len(entries(place)) - 1
        assert tuple((target / name).read_bytes() for name in FILES) in whole, "torn"
        assert entries(target) == FILES
    assert left, "no kill came while a release was written, so nothing was shown"
    assert sf.verify(target, sf.synthetic_census(400, 3))
    made(1).save(target, force=True)
    assert entries(place) == ["out"]


def test_what_a_living_process_writes_is_not_swept(release, tmp_path):
    target = tmp_path / "out"
    with aside.folder_aside(target) as folder:
        (folder / "half").write_text("half", encoding="utf-8")
        release.save(target)
        assert (folder / "half").exists()
    (tmp_path / f".out.sfumato-{'0' * 16}").mkdir()
    (tmp_path / f".out.sfumato-{'a' * 16}").write_text("left", encoding="utf-8")
    others = [f".other.sfumato-{'0' * 16}", ".out.sfumato-notes", f".out.sfumato-{'x' * 16}"]
    for name in others:
        (tmp_path / name).mkdir()
    release.save(target, force=True)
    assert entries(tmp_path) == sorted([*others, "out"]), "what is another's, or has no such name, is not ours"


@pytest.mark.parametrize("exchange", [True, False])
@pytest.mark.parametrize("force", [False, True])
def test_what_comes_to_be_there_meanwhile_is_not_lost(release, tmp_path, monkeypatch, force, exchange):
    from sfumato.releases import writer

    if not exchange:
        monkeypatch.setattr(aside, "_rename", lambda one, other, how: False)
    target = tmp_path / "out"
    if force:
        release.save(target)

    def verified(*arguments):
        target.mkdir(exist_ok=True)
        (target / "thesis.txt").write_text("years of work", encoding="utf-8")

    monkeypatch.setattr(writer, "_refuse_invalid", verified)
    with pytest.raises(sf.errors.FileError, match="meanwhile"):
        release.save(target, force=force)
    assert (target / "thesis.txt").read_text(encoding="utf-8") == "years of work"
    assert entries(tmp_path) == ["out"]
    assert len(entries(target)) == (4 if force else 1)


@pytest.mark.parametrize("length", [200, 201, 255, 256])
def test_long_names(release, tmp_path, length):
    target = tmp_path / ("x" * length)
    if length > 255:
        with pytest.raises(sf.errors.FileError, match="too long"):
            release.save(target)
        assert not entries(tmp_path)
        return
    release.save(target)
    release.save(target, force=True)
    assert entries(tmp_path) == [target.name]


def test_force_replaces_nothing_but_what_was_made_here(release, tmp_path):
    """The original, a config, a link: none is a report."""
    for name, content in (("people.csv", "age\n30\n"), ("sfumato.toml", "[data]\n"), ("other.html", "<!doctype html>")):
        (tmp_path / name).write_text(content, encoding="utf-8")
        with pytest.raises(sf.errors.FileError, match="not a report"):
            release.save(tmp_path / "out", internal=tmp_path / name, force=True)
        assert (tmp_path / name).read_text(encoding="utf-8") == content
    assert not (tmp_path / "out").exists()
    with pytest.raises(sf.errors.FileError, match="inside the release"):
        release.save(tmp_path / "out", internal=tmp_path / "out")
    internal = tmp_path / "internal.html"
    release.save(tmp_path / "out", internal=internal)
    assert stat.S_IMODE(internal.stat().st_mode) == 0o600, "it is not for everybody"
    (tmp_path / "link.html").symlink_to(internal)
    with pytest.raises(sf.errors.FileError, match="not a report"):
        release.save(tmp_path / "out", internal=tmp_path / "link.html", force=True)
    release.save(tmp_path / "out", internal=internal, force=True)


def test_a_file_keeps_its_rights(tmp_path):
    path = tmp_path / "sfumato.toml"
    path.write_text("old", encoding="utf-8")
    path.chmod(0o600)
    aside.write_file(path, lambda file: file.write(b"new"))
    assert (path.read_text(encoding="utf-8"), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o600)
    assert entries(tmp_path) == ["sfumato.toml"]


@pytest.mark.parametrize("fails", [False, True])
def test_where_folders_cannot_be_exchanged(release, tmp_path, monkeypatch, fails):
    """Two renames instead of one step; the old release is restored if the second fails or never happens."""
    monkeypatch.setattr(aside, "_rename", lambda one, other, how: False)
    target = tmp_path / "out"
    release.save(target)
    before = (target / "data.csv").read_bytes()
    if fails:
        # a name that is taken by a file cannot be taken by a folder
        rename = type(tmp_path).rename

        def blocked(self, new):
            if new == target and self.name != ".out.sfumato-was":
                Path(new).write_text("in the way", encoding="utf-8")
                try:
                    return rename(self, new)
                finally:
                    Path(new).unlink()
            return rename(self, new)

        monkeypatch.setattr(type(tmp_path), "rename", blocked)
        with pytest.raises(sf.errors.FileError, match="Not a directory"):
            made(6).save(target, force=True)
        assert (target / "data.csv").read_bytes() == before
    else:
        made(6).save(target, force=True)
        assert (target / "data.csv").read_bytes() != before
    assert entries(tmp_path) == ["out"]


def test_what_was_moved_out_of_its_place_comes_back(release, tmp_path):
    target = tmp_path / "out"
    release.save(target)
    target.rename(tmp_path / ".out.sfumato-was")
    with pytest.raises(sf.errors.FileError, match="something exists here already"):
        release.save(target)
    assert entries(tmp_path) == ["out"]
    assert sf.verify(target)


FULL = """
import resource, signal, sys
sys.path[:0] = {tests!r}
from test_release_folder import made
release = made(6)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for most, target in {limits!r}:
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))
    try:
        release.save(target, force=True)
        print("saved")
    except Exception as error:
        print(type(error).__name__, error)
"""


def test_a_quota_that_is_reached_while_writing(release, tmp_path):
    """The files may grow to so many bytes and no further, as under a quota: the old release stays."""
    limits = []
    for share in (0.0, 0.3, 0.6, 0.9):
        target = tmp_path / str(share) / "out"
        target.parent.mkdir()
        release.save(target)
        before = {path.name: path.read_bytes() for path in target.iterdir()}
        limits.append((max(0, int(share * max(map(len, before.values()))) - 1), str(target)))
    code = FULL.format(tests=[p for p in sys.path if p], limits=limits)
    done = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, check=True)
    said = done.stdout.splitlines()
    assert len(said) == len(limits), done.stdout + done.stderr
    for line, (_, target) in zip(said, limits, strict=True):
        assert line.startswith("FileError") and "File too large" in line, done.stdout + done.stderr
        assert {path.name: path.read_bytes() for path in Path(target).iterdir()} == before
        assert entries(Path(target).parent) == ["out"]


@pytest.fixture
def small_disk(tmp_path):
    """Mounts a disk of so many bytes."""
    disk = tmp_path / "disk"
    disk.mkdir()

    def mounted(size):
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)]
        if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("a small disk cannot be mounted here")
        return disk

    yield mounted
    subprocess.run(["umount", str(disk)], capture_output=True, check=False)


def test_a_disk_that_is_full(release, small_disk, tmp_path):
    """There is room for one release, not for a second beside it."""
    release.save(tmp_path / "out")
    disk = small_disk(int(1.5 * sum(path.stat().st_size for path in (tmp_path / "out").iterdir())))
    target = disk / "out"
    release.save(target)
    before = {path.name: path.read_bytes() for path in target.iterdir()}
    with pytest.raises(sf.errors.FileError, match="No space left on device"):
        made(6).save(target, force=True)
    assert {path.name: path.read_bytes() for path in target.iterdir()} == before
    assert entries(disk) == ["out"]


def test_a_release_json_of_another_program_is_not_a_release(release, tmp_path):
    """Build tools write files of that name too, and `data.csv` beside it may be the original."""
    target = tmp_path / "out"
    target.mkdir()
    (target / "data.csv").write_text("age\n30\n", encoding="utf-8")
    for content in ('{"version": "1.0"}', "[]", "no json", "[" * 100_000):
        (target / "release.json").write_text(content, encoding="utf-8")
        with pytest.raises(sf.errors.FileError, match="not a release, and is not replaced"):
            release.save(target, force=True)
    assert (target / "data.csv").read_text(encoding="utf-8") == "age\n30\n"


def test_the_folder_that_contains_the_original_is_not_replaced(tmp_path):
    """A published table may be the original of another release."""
    target = tmp_path / "out"
    people = pa.table({"age": [30, 31, 50, 51], "ill": ["flu", "cold", "flu", "cold"]})
    sf.anonymize(people, sf.Schema(["age"], ["ill"], kinds={"age": "categorical"}), sf.KAnonymity(2)).save(target)
    before = (target / "data.csv").read_bytes()
    (tmp_path / "link.csv").symlink_to(target / "data.csv")
    for source in (target / "data.csv", tmp_path / "link.csv"):
        schema = sf.Schema(["age"], ["ill"], kinds={"age": "categorical"}, undeclared="drop")
        again = sf.anonymize(source, schema, sf.KAnonymity(2))
        with pytest.raises(sf.errors.FileError, match=r"contains .*\.csv, which is being read, and is not replaced"):
            again.save(target, force=True)
        assert (target / "data.csv").read_bytes() == before
    again.save(tmp_path / "other")


def test_dictionaries_and_repeated_releases_are_being_read_too(tmp_path):
    from sfumato.disclosure import Dictionary, withhold

    release = made(5)
    release.save(tmp_path / "out")
    with pytest.raises(sf.errors.FileError, match=r"contains .*release\.json, which is being read"):
        release.save(tmp_path / "out", force=True, expected=tmp_path / "out" / "release.json")
    records, schema = pa.table({"age": ["30", "41"], "town": ["Ulm", "Ulm"]}), sf.Schema(["age", "town"])
    withhold(records, schema, Dictionary(records), 1).save(tmp_path / "book")
    known = Dictionary(tmp_path / "book" / "data.csv")
    with pytest.raises(sf.errors.FileError, match=r"contains .*data\.csv, which is being read"):
        withhold(records, schema, known, 1).save(tmp_path / "book", force=True)

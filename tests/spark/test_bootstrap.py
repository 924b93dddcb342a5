"""An executor without the package, or with another version of it, uses the driver's files; what it lacks is named."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import sfumato
from sfumato.spark import bootstrap

FOLDER = Path(sfumato.__file__).parent

PROBE = """
    import importlib.util, pickle, sys
    # as Spark sends it: without its package
    spec = importlib.util.spec_from_file_location("sent", {file!r})
    sent = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sent)
    assert importlib.util.find_spec("sfumato") is None or {other!r}

    class Broadcast:
        def __init__(self, path):
            self.path = path

        @property
        def value(self):
            with open(self.path, "rb") as file:
                return file.read()

    archive, work = Broadcast({archive!r}), Broadcast({work!r})
    found = sent.work_on_parts({digest!r}, {versions!r}, archive, ("one", work), [(7, pickle.dumps({{}}))])
    for number, result in found:
        print(number, pickle.loads(result))
    if "sfumato" in sys.modules:
        print(sys.modules["sfumato"].__file__)
"""


def executor(tmp_path, home, versions=None, path=""):
    """Run the code of an executor in a process that does not have this package; return the lines that it prints."""
    from sfumato.spark.executor import package_versions

    archive, work = tmp_path / "archive", tmp_path / "work"
    archive.write_bytes(bootstrap.package_archive(FOLDER))
    # functions that every executor has: one prints its arguments, the other evaluates the code that all parts share
    work.write_bytes(pickle.dumps((print, eval, "1 + 1", "1 + 1")))
    code = textwrap.dedent(PROBE).format(
        file=bootstrap.__file__,
        archive=str(archive),
        work=str(work),
        digest=bootstrap.package_digest(FOLDER),
        versions=versions or package_versions(),
        other=path,
    )
    packages = [place for place in sys.path if place.endswith("site-packages")]
    # without -S the folder of an editable installation would be found
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([path, *packages] if path else packages), **home}
    done = subprocess.run([sys.executable, "-S", "-c", code], check=False, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_an_executor_without_the_package_gets_the_drivers_files(tmp_path):
    home = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": ""}
    (tmp_path / "home").mkdir()
    lines = executor(tmp_path, home)
    assert lines[0].startswith("1 + 1 {")  # the work ran
    assert lines[1] == "7 ('result', None)"
    copy = Path(lines[2]).parent
    assert copy.parent.parent == tmp_path / "home" / ".cache" / "sfumato"
    assert bootstrap.package_digest(copy) == bootstrap.package_digest(FOLDER)
    assert executor(tmp_path, home)[1:] == lines[1:], "the copy is used again"


def test_an_executor_with_other_files_gets_the_drivers_files(tmp_path):
    other = tmp_path / "other" / "sfumato"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("raise RuntimeError('another version')")
    lines = executor(tmp_path, {"HOME": str(tmp_path), "XDG_CACHE_HOME": ""}, path=str(tmp_path / "other"))
    assert lines[1] == "7 ('result', None)"
    assert not lines[2].startswith(str(other))


def test_a_host_without_a_home_has_a_folder_that_only_its_user_can_write(tmp_path):
    home = {"HOME": "/nowhere/at/all", "XDG_CACHE_HOME": "/dev/null/cache", "TMPDIR": str(tmp_path)}
    lines = executor(tmp_path, home)
    shared = tmp_path / f"sfumato-{os.getuid()}"
    assert shared in Path(lines[2]).parents
    assert shared.stat().st_mode & 0o077 == 0
    assert list(shared.rglob("warm-*")), "kernels are kept there, too"
    shared.chmod(0o777)
    assert "others can write it" in executor(tmp_path, home)[0]


def test_other_versions_of_what_computes_are_refused(tmp_path):
    versions = {"numpy": "0.1", "numba": "0.1", "llvmlite": "0.1"}
    (line,) = executor(tmp_path, {"HOME": str(tmp_path), "XDG_CACHE_HOME": ""}, versions)[:1]
    assert "'missing'" in line and "numpy has version" in line and "0.1 where the release is made" in line


@pytest.mark.parametrize("name", ["sfumato/__init__.pyi", "sfumato/spark/executor.py"])
def test_the_archive_contains_all_that_is_imported(tmp_path, name):
    folder = unpacked(tmp_path)
    assert (folder / name).is_file()
    assert not list(folder.rglob("__pycache__"))
    assert bootstrap.package_digest(folder / "sfumato") == bootstrap.package_digest(FOLDER)


def unpacked(base):
    return bootstrap.unpacked(bootstrap.package_digest(FOLDER), lambda: bootstrap.package_archive(FOLDER), base)


def changed(folder):
    (folder / "sfumato" / "spark" / "executor.py").write_text("raise RuntimeError('planted')")


def added(folder):
    (folder / "sfumato" / "planted.py").write_text("")


def linked(folder):
    (folder / "sfumato" / "__pycache__").symlink_to(folder.parent)


def opened(folder):
    folder.chmod(0o777)


@pytest.mark.parametrize("change", [changed, added, linked, opened])
def test_a_copy_that_others_may_have_changed_is_replaced(tmp_path, change):
    digest = bootstrap.package_digest(FOLDER)
    assert unpacked(tmp_path).joinpath("sfumato").is_dir()
    change(tmp_path / f"package-{digest}")
    folder = unpacked(tmp_path)
    assert bootstrap.package_digest(folder / "sfumato") == digest
    assert folder.stat().st_mode & 0o077 == 0 and not list(folder.rglob("__pycache__"))
    assert list(tmp_path.iterdir()) == [folder], "nothing else is left"


def test_a_copy_is_used_again_whatever_files_python_adds(tmp_path):
    before = os.umask(0o002)  # as on many systems
    try:
        folder = unpacked(tmp_path)
        (folder / "sfumato" / "__pycache__").mkdir()
        (folder / "sfumato" / "__pycache__" / "more.pyc").touch()
    finally:
        os.umask(before)
    assert (unpacked(tmp_path) / "sfumato" / "__pycache__" / "more.pyc").exists()


def test_a_cache_that_others_can_write_is_not_used(tmp_path):
    planted = tmp_path / "cache" / "sfumato" / f"package-{bootstrap.package_digest(FOLDER)}" / "sfumato"
    planted.mkdir(parents=True)
    (planted / "__init__.py").write_text("raise RuntimeError('planted')")
    (tmp_path / "cache" / "sfumato").chmod(0o777)
    (tmp_path / "temporary").mkdir()
    lines = executor(tmp_path, {"XDG_CACHE_HOME": str(tmp_path / "cache"), "TMPDIR": str(tmp_path / "temporary")})
    assert lines[1] == "7 ('result', None)"
    assert tmp_path / "temporary" / f"sfumato-{os.getuid()}" in Path(lines[2]).parents

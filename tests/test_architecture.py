"""The rooms of the code: imports go one way, kernels know only arrays, and the docs speak of what is there."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.registry import DISTANCES, PRINCIPLES

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "sfumato"

ROOMS = [
    ["version", "masking", "plurals", "progress"],
    ["errors"],
    ["registry"],
    ["exact"],
    ["kernels"],
    ["data"],
    ["distances"],
    ["principles"],
    ["serialization"],
    ["io"],
    ["_audit"],
    ["_explain"],
    ["anonymization", "projections", "disclosure", "attacks", "reports", "verification", "releases"],
    ["_report"],
    ["config", "census"],
    ["profiling", "testing"],
    ["demo"],
    ["cli"],
    ["__main__"],
]
"""From the bottom up: a room imports itself and those above it in this list, never those below."""

LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}


def room_of(path):
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path):
    """What a module imports from the package when it runs; not what it names for type checkers."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    guarded = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and getattr(branch.test, "id", "") == "TYPE_CHECKING"
        for node in ast.walk(branch)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and id(node) not in guarded and (node.module or "").startswith("sfumato."):
            yield node.module.split(".")[1]


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_go_one_way(path):
    room = room_of(path)
    if room == "__init__":
        return
    for imported in imports(path):
        assert imported == room or LEVEL[imported] <= LEVEL[room], f"{room} imports {imported}"


def test_every_room_is_on_the_map():
    rooms = {room_of(path) for path in SOURCE.rglob("*.py")} - {"__init__"}
    assert rooms == LEVEL.keys()


def test_files_hold_one_idea():
    for path in [*SOURCE.rglob("*.py"), *(ROOT / "tests").glob("*.py")]:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 500, path


@pytest.mark.parametrize("name", [name for name in sf.__all__ if not name.startswith("__")])
def test_every_public_name_is_documented(name):
    """Each has a docstring; classes and functions that a user calls have an example in it."""
    thing = getattr(sf, name)
    assert thing.__doc__
    reference = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    assert f"`{name}`" in reference
    is_error = isinstance(thing, type) and issubclass(thing, sf.SfumatoError) and thing is not sf.SfumatoError
    if not is_error:
        assert ">>>" in thing.__doc__ or f"sf.{name}" in _all_examples(), name


def test_no_room_hides_a_public_name():
    """`import sfumato.room.anything` puts the room beside the public names; none may take the place of another."""
    assert not LEVEL.keys() & set(sf.__all__)
    probe = (
        "import importlib, pkgutil, types, sfumato as sf\n"
        "for module in pkgutil.walk_packages(sf.__path__, 'sfumato.'):\n"
        "    if not module.name.endswith('__main__'):\n"
        "        importlib.import_module(module.name)\n"
        "print([n for n in sf.__all__ if isinstance(getattr(sf, n), types.ModuleType)])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def _all_examples():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    return "\n".join(
        line for page in pages for line in page.read_text(encoding="utf-8").splitlines() if line.startswith((">>>", "..."))
    )


@pytest.mark.parametrize("name", PRINCIPLES)
def test_every_principle_is_in_the_docs(name):
    contents = (ROOT / "docs" / "principles.md").read_text(encoding="utf-8")
    assert f'"{name}"' in contents
    assert f"(principles/{name}.md)" in contents
    assert f'name = "{name}"' in (ROOT / "docs" / "principles" / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", DISTANCES)
def test_every_distance_is_in_the_docs(name):
    assert f'"{name}"' in (ROOT / "docs" / "distances.md").read_text(encoding="utf-8")


def _sections(base):
    return [base, *(inner for section in base.__subclasses__() for inner in _sections(section))]


def test_every_config_key_is_in_the_docs():
    from sfumato.config import Config
    from sfumato.config.sections import Section

    page = (ROOT / "docs" / "config.md").read_text(encoding="utf-8")
    assert Config in _sections(Section)
    keys = {key for section in _sections(Section) for key, field in section.model_fields.items() if not field.exclude}
    assert {key for key in keys if not re.search(rf"\b{key}\b", page)} == set()


def test_ci_runs_the_command_of_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = [line for line in readme.splitlines() if line.startswith("python3 -m venv")]
    assert len(commands) == 2
    assert commands[1] in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_constraints_are_bare_pins():
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][A-Za-z0-9.+]*", line), line


def test_import_is_light():
    probe = "import sys, sfumato; print([m for m in ('numba', 'pyarrow', 'pydantic', 'numpy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_unknown_names():
    with pytest.raises(AttributeError, match="nonsense"):
        sf.nonsense
    assert "audit" in dir(sf)


def test_compiled_code_is_kept_where_only_the_user_can_write(tmp_path):
    probe = (
        "import os\nfrom sfumato.kernels.compile import cache_folder\n"
        "print(cache_folder(), oct(os.stat(cache_folder()).st_mode & 0o077))"
    )

    def folder(home):
        env = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": ""}
        done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True, env=env)
        path, open_to_others = done.stdout.split()
        assert open_to_others == "0o0"
        return Path(path)

    private = folder(tmp_path)
    assert private.parent == tmp_path / ".cache" / "sfumato"
    assert private.name.startswith("kernels-")
    private.chmod(0o777)
    other = folder(tmp_path)
    assert tmp_path not in other.parents
    assert not other.exists(), "a temporary folder goes with the process"

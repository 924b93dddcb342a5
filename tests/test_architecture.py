"""The structure of the code: imports go one way, names are unique, and the docs cover what is public."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import sfumato as sf
from make_reference import NAMESPACES, public_names
from sfumato.registry import DISTANCES, PRINCIPLES
from sfumato.releases.kinds import KINDS

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "sfumato"
MODULES = sorted(path for path in SOURCE.rglob("*.py") if path.name != "__init__.py")

LAYERS = [
    ["version", "masking", "plurals", "progress", "temporaries", "visible_text"],
    ["errors"],
    ["storage", "part_maps"],
    ["workers"],
    ["registry", "user_code"],
    ["exact"],
    ["summaries"],
    ["parameters", "resistance"],
    ["seeds"],
    ["kernels"],
    ["data"],
    ["distances"],
    ["principles"],
    ["serialization"],
    ["io"],
    ["spark"],
    ["engines"],
    ["audits"],
    ["_audit"],
    ["_explain"],
    ["releases"],
    ["verification"],
    ["analysis"],
    ["transformation"],
    ["_apply"],
    ["reports"],
    ["anonymization"],
    ["disclosure"],
    ["projections"],
    ["anatomy"],
    ["attacks"],
    ["comparison"],
    ["_report"],
    ["config", "census"],
    ["config_edits"],
    ["profiling"],
    ["testing"],
    ["demo"],
    ["ui"],
    ["cli"],
    ["__main__"],
]
"""From the bottom up: a module imports its own layer's package and lower layers only."""

LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def package_of(path):
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_modules(path):
    """The modules of this package that a file imports when it runs; imports for type checkers do not count."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    guarded = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and getattr(branch.test, "id", "") == "TYPE_CHECKING"
        for node in ast.walk(branch)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and id(node) not in guarded and (node.module or "").startswith("sfumato."):
            yield node.module
        if isinstance(node, ast.Import) and id(node) not in guarded:
            yield from (name.name for name in node.names if name.name.startswith("sfumato."))


def imported_packages(path):
    return {module.split(".")[1] for module in imported_modules(path)}


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_go_one_way(path):
    package = package_of(path)
    if package == "__init__":
        return
    for imported in imported_packages(path):
        assert imported == package or LEVEL[imported] < LEVEL[package], f"{package} imports {imported}"


def test_every_package_has_a_layer():
    packages = {package_of(path) for path in SOURCE.rglob("*.py")} - {"__init__"}
    assert packages <= LEVEL.keys()


FOUNDATION = {
    "version",
    "masking",
    "visible_text",
    "plurals",
    "progress",
    "summaries",
    "errors",
    "storage",
    "part_maps",
    "workers",
    "spark",
    "engines",
    "registry",
    "exact",
    "parameters",
    "resistance",
    "seeds",
    "data",
    "io",
}
CHECKED_BY = FOUNDATION | {"distances", "principles", "serialization", "audits", "_audit", "releases", "verification"}


@pytest.mark.parametrize("path", sorted((SOURCE / "verification").glob("*.py")), ids=lambda p: p.name)
def test_verification_depends_on_data_principles_and_format_only(path):
    assert imported_packages(path) <= CHECKED_BY


def test_only_the_writer_calls_verification():
    """Nothing that makes a release imports verification; the writer reaches it through the dict of release kinds."""
    for package in ("releases", "anonymization", "reports"):
        for path in (SOURCE / package).rglob("*.py"):
            assert "verification" not in imported_packages(path), path


CHECK_FILES = {
    "groups": {
        "verification/candidate_checks.py",
        "verification/checks.py",
        "verification/cluster_facts.py",
        "verification/cluster_tables.py",
        "verification/compared_tables.py",
        "verification/coverage_checks.py",
        "verification/declaration_checks.py",
        "verification/executor_counts.py",
        "verification/executor_order.py",
        "verification/exposure_checks.py",
        "verification/figure_checks.py",
        "verification/form_checks.py",
        "verification/revelation_checks.py",
        "verification/grouped_checks.py",
        "verification/level_checks.py",
        "verification/limit_checks.py",
        "verification/order_checks.py",
        "verification/principle_checks.py",
        "verification/original_checks.py",
        "verification/published_file.py",
        "verification/resistance_checks.py",
        "verification/row_facts.py",
        "verification/spelling_checks.py",
        "verification/table_choice.py",
        "verification/unit_checks.py",
        "verification/utility_checks.py",
    },
    "projected": {
        "projections/checks/dependence_measurement.py",
        "projections/checks/plan_checks.py",
        "projections/checks/projected_checks.py",
        "projections/checks/projected_table_checks.py",
        "projections/checks/request_checks.py",
        "projections/checks/request_reading.py",
    },
    "withheld": {
        "disclosure/risk_assumptions.py",
        "disclosure/withheld/published_levels.py",
        "disclosure/withheld/risk_checks.py",
        "disclosure/withheld/risk_measurement.py",
        "disclosure/withheld/value_consistency.py",
        "disclosure/withheld/withheld_checks.py",
    },
    "anatomized": {
        "anatomy/checks/anatomy_checks.py",
        "anatomy/checks/group_links.py",
    },
}
"""For each kind of release the files of its package that its checks consist of; they import no other file of it."""

ARGUMENT_FILES = {"disclosure/dictionaries/dictionary.py"}
"""Files that checks import only to recognize an argument of the caller; what those import is not followed."""


def check_modules(kind):
    """The files of a product package that the checks of a kind of release import, directly or not."""
    entry = KINDS[kind].checks.partition(":")[0]
    package, found, waiting = entry.split(".")[1], set(), [entry]
    while waiting:
        path = SOURCE.joinpath(*waiting.pop().split(".")[1:]).with_suffix(".py")
        if path.is_file() and path not in found and path.relative_to(SOURCE).as_posix() not in ARGUMENT_FILES:
            found.add(path)
            waiting += [module for module in imported_modules(path) if module.split(".")[1] == package]
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_checks_of_a_kind_share_nothing_with_what_makes_it(kind):
    """They import the format, the generic checks and one another; no other file of their package imports verification."""
    checks = check_modules(kind)
    assert {path.relative_to(SOURCE).as_posix() for path in checks} == CHECK_FILES[kind]
    package = package_of(next(iter(checks)))
    for path in checks:
        assert imported_packages(path) <= CHECKED_BY | {package}, path
    for path in (SOURCE / package).rglob("*.py"):
        assert package == "verification" or path in checks or "verification" not in imported_packages(path), path


def test_only_functions_of_the_user_are_loaded_as_such():
    """Code of this package that is imported upwards is named in a registry."""
    importers = {path.relative_to(SOURCE).as_posix() for path in MODULES if "sfumato.user_code" in imported_modules(path)}
    assert importers == {
        "config/config.py",
        "disclosure/configured_risk.py",
        "disclosure/sensitivity/sensitivity.py",
        "distances/custom.py",
    }


@pytest.mark.parametrize("path", sorted((SOURCE / "reports").rglob("*.py")), ids=lambda p: p.name)
def test_reports_only_draw(path):
    assert imported_packages(path) <= FOUNDATION | {"releases", "reports"}


@pytest.mark.parametrize("path", sorted((SOURCE / "kernels").glob("*.py")), ids=lambda p: p.name)
def test_kernels_know_only_arrays(path):
    # the compiler keeps machine code in a folder, which is removed with the process if it is a temporary one
    assert imported_packages(path) <= ({"kernels", "temporaries"} if path.name == "compile.py" else {"kernels"})


def test_files_hold_one_idea():
    for path in [*SOURCE.rglob("*.py"), *(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 500, path


def test_module_names_are_unique():
    """A verb of the command line may carry the name of what it calls; every other name occurs once."""
    names = Counter(path.stem.lstrip("_") for path in MODULES if package_of(path) != "cli" and path.stem != "__main__")
    assert {name for name, count in names.items() if count > 1} == set()


LONGEST_FUNCTION = 60


def test_long_functions_are_justified():
    """A function of more than 60 lines starts with a comment that says why it is not split."""
    unjustified = []
    for path in SOURCE.rglob("*.py"):
        lines = path.read_text(encoding="utf-8").splitlines()
        for node in ast.walk(ast.parse("\n".join(lines))):
            if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno >= LONGEST_FUNCTION:
                body = "\n".join(lines[node.lineno - 1 : node.end_lineno])
                if not re.search(r"# (?:Long because|One function because|Not split)", body):
                    unjustified.append(f"{path.relative_to(SOURCE)}: {node.name}")
    assert unjustified == []


PUBLIC = [("sf", sf, name) for name in public_names()] + [
    (f"sf.{namespace}", getattr(sf, namespace), name) for namespace in NAMESPACES for name in public_names(namespace)
]


@pytest.mark.parametrize(("prefix", "module", "name"), PUBLIC, ids=lambda value: value if isinstance(value, str) else "")
def test_every_public_name_is_documented(prefix, module, name):
    thing = getattr(module, name)
    assert thing.__doc__
    assert f"`{prefix}.{name}`" in (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", public_names())
def test_every_name_of_the_top_level_has_an_example(name):
    assert ">>>" in getattr(sf, name).__doc__ or f"sf.{name}" in _all_examples(), name


def test_no_package_hides_a_public_name():
    """`import sfumato.x.y` sets the attribute x of the package; it must not replace a public function or class."""
    assert LEVEL.keys() & set(sf.__all__) <= set(NAMESPACES)
    probe = (
        "import importlib, pkgutil, types, sfumato as sf\n"
        "for module in pkgutil.walk_packages(sf.__path__, 'sfumato.'):\n"
        "    if not module.name.endswith('__main__'):\n"
        "        importlib.import_module(module.name)\n"
        "print(sorted(n for n in sf.__all__ if isinstance(getattr(sf, n), types.ModuleType)))\n"
        "for space in [sf.anatomy, sf.anonymization, sf.attacks, sf.disclosure, sf.distances, sf.principles, "
        "sf.projections]:\n"
        "    print(sorted(n for n in space.__all__ if isinstance(getattr(space, n), types.ModuleType)))\n"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [str(NAMESPACES), *["[]"] * 7]


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


def test_versions_agree():
    assert f"version: {sf.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## {sf.__version__} " in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def _loaded(statements):
    """The modules that statements load in a process of their own."""
    probe = f"import sys\n{statements}\nprint(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_import_is_light():
    assert not {"numba", "pyarrow", "pydantic", "numpy"} & _loaded("import sfumato")


def test_help_is_light():
    help_text = (
        "from contextlib import suppress\nfrom sfumato.cli import main\nwith suppress(SystemExit):\n    main(['--help'])"
    )
    assert not {"numba", "pyarrow", "pydantic", "numpy"} & _loaded(help_text)


def test_config_is_light():
    """Loading a config imports no code that makes, checks or draws a release."""
    heavy = ("anonymization", "disclosure", "projections", "attacks", "releases", "verification", "reports", "cli")
    loaded = _loaded("import sfumato as sf\nsf.Config")
    assert not [module for module in loaded if module.startswith(tuple(f"sfumato.{name}" for name in heavy))]


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
    assert not other.exists(), "a temporary folder is removed with its process"

"""The docs are run: every command, and every config. (Python examples run as doctests.)"""

from __future__ import annotations

import re
import runpy
import shlex
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

import sfumato as sf
from commandline import benchmark, sfumato
from sfumato.cli import main
from sfumato.registry import PRINCIPLES

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "benchmarks" / "README.md"]
MADE = runpy.run_path(str(ROOT / "docs" / "make_pages.py"))["PAGES"]
"""The pages that repeat docstrings and help texts, each with the function that makes it."""


def blocks(page, language):
    return [text for found, _, text in all_blocks(page) if found == language]


def all_blocks(page):
    """Every block of a page: its language, the file that it is to stand in (empty if in none), and its text."""
    pattern = r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$'
    return re.findall(pattern, page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "page",
    [pytest.param(p, marks=pytest.mark.long if p == PAGES[-1] else ()) for p in PAGES],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_commands_run(page, tmp_path, monkeypatch):
    """In the order of the page, in one folder; a block with a title is written to the file of that name first.

    Each line of a text block after them is one that a command printed, or that stands in a file that it wrote. Benchmarks
    run on the synthetic census, as they do for a reader without the real data; their own tests run them on that. They take
    long, and the last page is about them.
    """
    monkeypatch.setenv("SFUMATO_DATA", "")
    printed = []
    for language, title, text in all_blocks(page):
        if title:
            (tmp_path / title).write_text(text, encoding="utf-8")
        if language == "console":
            printed += [run(line[2:], tmp_path) for line in text.splitlines() if line.startswith("$ ")]
        if language == "text" and printed:
            files = [path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.csv")]
            seen = {" ".join(line.split()) for output in (*printed, *files) for line in output.splitlines()}
            assert [line for line in text.splitlines() if " ".join(line.split()) not in seen] == []


def run(command, folder):
    words = shlex.split(command)
    if words[:3] == ["python", "-m", "benchmarks"]:
        done = benchmark(*words[3:], cwd=folder)
    else:
        assert words[0] == "sfumato"
        done = sfumato(*words[1:], cwd=folder)
    assert done.returncode in (0, 1), f"{command}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_configs_are_read(page):
    for block in blocks(page, "toml"):
        if "[data]" in block:
            config = sf.Config.parse(block)
            assert config.requested_principles or config.risk
        else:
            assert tomllib.loads(block)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", MADE)
def test_pages_made_from_docstrings_are_up_to_date(page):
    assert (ROOT / "docs" / page).read_text(encoding="utf-8") == MADE[page](), "run docs/make_pages.py"


def test_no_page_is_left_of_a_principle_that_is_gone():
    assert {path.stem for path in (ROOT / "docs" / "principles").iterdir()} == PRINCIPLES.keys()


def test_every_page_is_in_the_contents():
    contents = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([^)#]+)\)", contents))
    assert {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md"} <= linked


def commands(group, path=("sfumato",)):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


@pytest.mark.parametrize(("path", "command"), list(commands(main)), ids=lambda v: v if isinstance(v, str) else "")
def test_every_verb_has_help_with_an_example(path, command):
    _, *words = path.split()
    done = CliRunner().invoke(main, [*words, "--help"], prog_name="sfumato")
    assert done.exit_code == 0
    _, _, example = done.output.partition("Example:\n")
    assert path in example
    assert command.help
    for parameter in command.params:
        if parameter.param_type_name == "option":
            assert parameter.help, parameter.name
        else:
            assert parameter.human_readable_name.upper() in command.help, "the text names every argument"

"""The docs are run: every command, and every config. (Python examples run as doctests.)"""

from __future__ import annotations

import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import sfumato as sf

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "benchmarks" / "README.md"]


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_commands_run(page, tmp_path):
    for block in blocks(page, "console"):
        for line in block.splitlines():
            if not line.startswith("$ "):
                continue
            program, *arguments = shlex.split(line[2:])
            assert program == "sfumato"
            done = subprocess.run(
                [sys.executable, "-m", "sfumato", *arguments], capture_output=True, text=True, cwd=tmp_path, check=False
            )
            assert done.returncode in (0, 1), f"{line}\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_configs_are_read(page):
    for block in blocks(page, "toml"):
        if "[data]" in block:
            assert sf.Config.parse(block).asked
        else:
            assert tomllib.loads(block)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", ["principles.md", "reference.md"])
def test_pages_made_from_docstrings_are_up_to_date(page):
    pages = runpy.run_path(str(ROOT / "docs" / "make_pages.py"))["PAGES"]
    assert (ROOT / "docs" / page).read_text(encoding="utf-8") == pages[page](), "run docs/make_pages.py"

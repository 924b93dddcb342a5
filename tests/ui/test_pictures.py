"""The pictures of the documentation are made from the screens as they are."""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def shown():
    """The pictures of screens that a page of the documentation shows."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    return {name for page in pages for name in re.findall(r"\bui-(\w+)\.png\)", page.read_text(encoding="utf-8"))}


@pytest.fixture(scope="module")
def pictures():
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if shutil.which("chromium") is None:
        pytest.skip("Chromium is not installed")
    spec = importlib.util.spec_from_file_location("make_ui_pictures", ROOT / "docs" / "make_ui_pictures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_picture_that_is_shown_is_made(pictures):
    assert shown() == set(pictures.SCREENS)
    assert {path.stem.removeprefix("ui-") for path in (ROOT / "docs").glob("ui-*.png")} == shown()


@pytest.mark.long
def test_pictures_show_the_screens(pictures):
    """Each is drawn, and is no blank page: letters, lines and fields have many colours."""
    made = pictures.draw()
    assert set(made) == shown()
    for name, picture in made.items():
        used = picture.convert("RGB").getcolors(1 << 24)
        assert len(used) > 20, name
        assert max(count for count, _ in used) < 0.97 * picture.width * picture.height, name

"""Configuration of the documentation site: `sphinx-build -W docs build/docs`."""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.application import Sphinx

import sfumato

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from make_reference import api_pages  # noqa: E402

project = "sfumato"
author = "the sfumato authors"
version = release = sfumato.__version__
html_title = f"sfumato {version}"

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["figures/*.csv"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

# Pygments has no lexer for CSV; such blocks are shown as plain text.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_show_sphinx = False
html_copy_source = html_show_sourcelink = False
# The pages open offline: no fonts or scripts from other hosts.
html_theme_options = {"source_repository": "", "navigation_with_keys": True}
html_static_path: list[str] = []


def write_api_pages(app: Sphinx) -> None:
    """Write the API pages. They repeat docstrings, so they are made for each build and are not kept."""
    folder = HERE / "api"
    folder.mkdir(exist_ok=True)
    for page, text in api_pages().items():
        target = folder / page
        if not target.exists() or target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Register what runs before a build."""
    app.connect("builder-inited", write_api_pages)

"""Configuration of the documentation site: `sphinx-build -W docs build/docs`."""

from __future__ import annotations

import sfumato

project = "sfumato"
author = "the sfumato authors"
version = release = sfumato.__version__
html_title = f"sfumato {version}"

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["figures/*.csv"]

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4

html_theme = "furo"
html_show_sphinx = False
# The pages open offline: no fonts or scripts from other hosts.
html_theme_options = {"source_repository": "", "navigation_with_keys": True}
html_static_path: list[str] = []

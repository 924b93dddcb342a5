"""Make the example plug-in visible to Python without installing it: a .dist-info beside its package."""

from __future__ import annotations

import tomllib
from pathlib import Path

PLUGIN = Path(__file__).parent.parent / "plugin"


def write_dist_info(folder: Path, name: str, version: str, groups: dict[str, dict[str, str]]) -> Path:
    """Write the metadata that `importlib.metadata` reads; the folder must be on the path of Python."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")
    lines = []
    for group, points in groups.items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def plugin_path(folder: Path) -> list[str]:
    """Write the metadata of the example plug-in as its pyproject.toml declares it; return what the path needs."""
    project = tomllib.loads((PLUGIN / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    write_dist_info(folder, project["name"], project["version"], project["entry-points"])
    return [str(folder), str(PLUGIN)]

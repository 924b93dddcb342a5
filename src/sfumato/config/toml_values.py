"""Values of a schema as TOML can express them: for a config that is written."""

from __future__ import annotations

from typing import Any

from sfumato.data.hierarchy import Hierarchy
from sfumato.data.schema import Kind, Role
from sfumato.distances import Distance
from sfumato.errors import ConfigError
from sfumato.serialization import hierarchy_section


def toml_hierarchy(column: str, declared: Any) -> str | dict[str, Any]:
    """Return a hierarchy of a column as a config declares it: the section of its builder, or its file."""
    built = hierarchy_section(declared)
    if built is not None:
        return built
    path = declared.source if isinstance(declared, Hierarchy) else str(declared)
    if path is None:
        raise ConfigError(
            "a hierarchy that was built in the program has no file",
            remedy="Write it to a file of lines leaf;level1;…;* and declare that file.",
            key=f"columns.{column}.hierarchy",
        )
    return str(path)


def toml_distance(distance: Distance | None) -> dict[str, Any] | None:
    """Return a distance as a config declares it; None if there is none."""
    if distance is None:
        return None
    if callable(getattr(distance, "function", None)):
        raise ConfigError(
            "a function that was written in the program cannot be written to a config",
            remedy='Put it into a file and name it "file.py:function".',
            key="distance.function",
        )
    return {"kind": distance.name, **distance.parameters()}


def toml_value(value: Any) -> Any:
    """Return values that TOML can express: enumerations as their text."""
    if isinstance(value, dict):
        return {key: toml_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [toml_value(inner) for inner in value]
    return str(value) if isinstance(value, Role | Kind) else value

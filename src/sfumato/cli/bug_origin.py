"""Name the origin of an unexpected error: sfumato itself, or an installed plug-in."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from traceback import walk_tb
from types import FrameType

from sfumato.registry import REGISTRIES, distribution_of

OWN_BUG = "this is a bug in sfumato, not an error in your input; please report it."


def explain_bug(error: BaseException) -> str:
    """Return one sentence about the origin of an error that no code raised on purpose.

    The frames of the traceback are read from the innermost one outwards. Frames of other libraries are skipped: whoever
    called them is responsible. If the first frame that is left belongs to the package of a plug-in, the bug is in the
    plug-in. If it belongs to sfumato and a plug-in called it, the bug may be in either.
    """
    plugins = _plugin_packages()
    inside_sfumato = False
    for frame, _ in reversed(list(walk_tb(error.__traceback__))):
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package in plugins:
            place = f"{_place(frame)} (distribution {distribution_of(plugins[package])})"
            if inside_sfumato:
                return f"the bug is probably in {place}, which called sfumato; report it to the author of that plug-in."
            return f"the bug is in {place}, not in sfumato; report it to the author of that plug-in."
        inside_sfumato |= package == "sfumato"
    return OWN_BUG


def _plugin_packages() -> dict[str, EntryPoint]:
    """Return the top-level packages that plug-ins are in, each with one of its entry points."""
    points = [point for registry in REGISTRIES for point in entry_points(group=registry.group)]
    packages = {point.module.partition(".")[0]: point for point in points}
    packages.pop("sfumato", None)  # an entry point may name a class of sfumato itself
    return packages


def _place(frame: FrameType) -> str:
    """Name the class, or else the function, that a frame belongs to."""
    module = frame.f_globals.get("__name__", "")
    owner = frame.f_locals.get("self", frame.f_locals.get("cls"))
    if owner is None:
        return f"{module}.{frame.f_code.co_qualname}"
    kind = owner if isinstance(owner, type) else type(owner)
    return f"{kind.__module__}.{kind.__qualname__}"

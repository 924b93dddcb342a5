"""Every class that a public signature names is public itself."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import types

import sfumato as sf

NAMESPACES = [sf, *(getattr(sf, name) for name in sf.__all__ if isinstance(getattr(sf, name), types.ModuleType))]

INTERNAL = {"sfumato.config", "sfumato._explain", "sfumato.anonymization.methods.search_", "sfumato.ui."}
"""The sections of a config, which are written in TOML, the lines of an explanation, which `repr` shows, the arrays that the
kernels of sfumato's own methods read, and the browser interface, which is a program."""


def public_things():
    for module in NAMESPACES:
        for name in getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]:
            if not isinstance(thing := getattr(module, name), types.ModuleType):
                yield f"{module.__name__}.{name}", thing


def annotations(thing):
    """Yield the annotations of the public fields and methods of a class, or of a function, as texts."""
    members = [thing]
    if isinstance(thing, type):
        members += [member for name, member in vars(thing).items() if not name.startswith("_")]
    for member in members:
        function = getattr(member, "__func__", getattr(member, "fget", getattr(member, "func", member)))
        if isinstance(function, type) or inspect.isfunction(function):
            yield from map(str, inspect.get_annotations(function).values())


def test_classes_in_public_signatures_are_public():
    things = dict(public_things())
    public = {thing.__name__ for thing in things.values() if isinstance(thing, type)}
    classes = {}
    for info in pkgutil.walk_packages(sf.__path__, "sfumato."):
        if info.name.rpartition(".")[2] == "__main__":
            continue
        for name, thing in vars(importlib.import_module(info.name)).items():
            if isinstance(thing, type) and thing.__module__ == info.name and not name.startswith("_"):
                classes.setdefault(name, info.name)
    missing = {
        f"{where}: {name} of {classes[name]}"
        for where, thing in things.items()
        for text in annotations(thing)
        for name in re.findall(r"\b[A-Z]\w+", text)
        if name in classes and name not in public and not any(classes[name].startswith(each) for each in INTERNAL)
    }
    assert not missing

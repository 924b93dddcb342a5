"""Functions of the user's own that a config names: loaded from their file, without a change of `sys.path`.

Loading a file runs it. A config is therefore refused if it names code, unless the user allows it (see `Config.load`).
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from sfumato.errors import ConfigError, ParameterError


class CodeLocation(str):
    """The text "file.py:function" or "module:function", with the folder that it is relative to.

    Two locations are equal if both the texts and the folders are; a location differs from a plain text.

    >>> CodeLocation("near.py:d", Path("configs")).folder
    PosixPath('configs')
    >>> CodeLocation("near.py:d", Path("configs")) == CodeLocation("near.py:d", Path("others"))
    False
    """

    folder: Path
    config: str | None
    """The config that names the function, for errors."""
    key: str | None
    """The key of the config that names it; None if no config does."""

    def __new__(cls, text: str, folder: Path, config: str | None = None, key: str | None = None) -> CodeLocation:
        """Remember the folder, and where the function was named, beside the text."""
        location = super().__new__(cls, text)
        location.folder, location.config, location.key = folder, config, key
        return location

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CodeLocation) and str(self) == str(other) and self.folder == other.folder

    def __ne__(self, other: object) -> bool:
        return not self == other  # str has a method of its own, which would ignore the folder

    def __hash__(self) -> int:
        return hash((str(self), self.folder))

    def __reduce__(self) -> tuple[Any, ...]:
        return CodeLocation, (str(self), self.folder, self.config, self.key)

    def check_file(self) -> None:
        """Raise an error if the text names a file that does not exist; nothing is loaded."""
        place = self.partition(":")[0]
        if place.endswith(".py") and not (self.folder / place).is_file():
            raise _error(f"the file {place!r} does not exist in the folder of the config", self)


def load_function(location: str) -> Callable[..., Any]:
    """Return the function at "file.py:function" or "module:function".

    A file is relative to the folder of a `CodeLocation`, else to the working directory. A module is a file of that name in
    the folder of a `CodeLocation`; if there is none, or for a plain text, a module that Python can import.

    >>> load_function("math:sqrt")(9)
    3.0
    """
    place, _, name = location.partition(":")
    folder = location.folder if isinstance(location, CodeLocation) else None
    path = _file_of(place, folder)
    try:
        module = importlib.import_module(place) if path is None else _load_file(path)
    except ImportError as error:
        raise _error(f"{place!r} cannot be imported: {error}", location) from error
    except ValueError as error:  # an empty name of a module
        raise _error(f"{str(location)!r} is not the name of a function of a module", location) from error
    except Exception as error:  # the user's file may fail in any way while it runs
        raise _error(f"{place!r} cannot be run: {type(error).__name__}: {error}", location) from error
    try:
        function = getattr(module, name)
    except AttributeError as error:
        raise _error(f"{str(location)!r} is not the name of a function of a module", location) from error
    if not callable(function):
        raise _error(f"{str(location)!r} is not a function", location)
    return function  # type: ignore[no-any-return]


def _file_of(place: str, folder: Path | None) -> Path | None:
    """Return the file that contains a module; None if Python must find it."""
    if place.endswith(".py"):
        return (folder or Path()) / place
    if folder is None or not place.replace(".", "_").isidentifier():
        return None
    path = folder.joinpath(*place.split(".")).with_suffix(".py")
    return path if path.is_file() else None


def _load_file(path: Path) -> ModuleType:
    """Run a file as a module of its own, once; again if the file has changed."""
    path = path.resolve()
    try:
        source = path.read_bytes()
    except OSError as error:
        raise ImportError(f"{path}: {error.strerror}") from error
    # The contents, not the time of the last change: that may be the same after a quick edit.
    digest = hashlib.sha256(str(path).encode() + b"\0" + source).hexdigest()[:16]
    # Dataclasses and pickle look a module up by its name, so it must be in sys.modules. No other module has this name.
    name = f"sfumato_user_code_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        # Not the loader's exec_module: it may run an outdated __pycache__, which is compared by whole seconds.
        exec(compile(source, str(path), "exec"), module.__dict__)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _error(problem: str, location: str) -> ConfigError | ParameterError:
    remedy = 'Write "file.py:function", relative to the config, or "module:function" of an installed module.'
    if isinstance(location, CodeLocation) and location.key is not None:
        return ConfigError(problem, remedy=remedy, file=location.config, key=location.key, value=str(location))
    return ParameterError(problem, remedy=remedy, key="function", value=str(location))

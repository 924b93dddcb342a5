"""Packages that only some sources need: imported where they are used, and missed with a hint."""

from __future__ import annotations

import importlib
from typing import Any

from sfumato.errors import FileError


def needed(module: str, extra: str, what: str, file: str) -> Any:
    """Import a package of an extra; where it is not installed, say how to get it.

    >>> needed("no_such_package", "excel", "Excel files", "p.xlsx")
    Traceback (most recent call last):
    ...
    sfumato.errors.FileError: p.xlsx: Excel files need more than is installed. Run: pip install "sfumato[excel]"
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise FileError(
            f"{what} need more than is installed",
            remedy=f'Run: pip install "sfumato[{extra}]"',
            file=file,
        ) from error

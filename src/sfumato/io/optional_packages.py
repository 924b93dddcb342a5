"""Packages of extras: imported where they are used; if one is not installed, the error says how to install it."""

from __future__ import annotations

import importlib
from typing import Any

from sfumato.errors import FileError


def import_extra(module: str, extra: str, what: str, file: str) -> Any:
    """Import a package of an extra; if it is not installed, the error says how to install it.

    >>> import_extra("no_such_package", "excel", "Excel files", "p.xlsx")
    Traceback (most recent call last):
    ...
    sfumato.errors.FileError: p.xlsx: Excel files need a package that is not installed. Run: pip install "sfumato[excel]"
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise FileError(
            f"{what} need a package that is not installed",
            remedy=f'Run: pip install "sfumato[{extra}]"',
            file=file,
        ) from error

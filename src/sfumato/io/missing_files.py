"""Files that do not exist: say so, and which file may be meant."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from sfumato.errors import FileError, SfumatoError


def refuse_missing(path: str | Path, error: type[SfumatoError] = FileError) -> None:
    """Raise an error if a file does not exist; it names a file of a similar name beside it.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "people.csv").touch()
    >>> try:
    ...     refuse_missing(folder / "poeple.csv")
    ... except FileError as error:
    ...     error.problem, error.remedy
    ('the file does not exist', "Did you mean 'people.csv'?")
    """
    place = Path(path)
    try:
        if place.exists():
            return
        beside = [other.name for other in place.parent.iterdir()] if place.parent.is_dir() else None
    except OSError:  # whoever reads the file says what is wrong
        return
    similar = get_close_matches(place.name, beside or [], 1)
    if beside is None:
        remedy = f"There is no folder {place.parent} either; check the path."
    elif similar:
        remedy = f"Did you mean {similar[0]!r}?"
    else:
        remedy = "Check its name and its folder."
    raise error("the file does not exist", remedy=remedy, file=str(path))

"""Open what a person names: a config, a file with a table, or a database."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote

from sfumato.errors import FileError
from sfumato.io.database_uri import expanded, is_uri, without_passwords
from sfumato.io.missing_files import refuse_missing
from sfumato.ui.session import Session

_HIDDEN = re.compile(r"^\.+")


def open_source(session: Session, source: str, **options: str | None) -> None:
    """Open a config (.toml), a file with a table, or a database URI with a `query` or a `table`.

    The password of a URI is kept in the environment of this process, and the config names the variable.
    """
    given = {key: value for key, value in options.items() if value}
    source = source.strip()
    if not source:
        raise FileError("no file is named", remedy="Enter the path of a file, or the URI of a database.")
    if is_uri(source):
        session.open_table(_without_password(expanded(source, os.environ)), Path.cwd(), given)
        return
    path = Path(source).expanduser()
    refuse_missing(path)
    if path.is_dir():
        raise FileError("this is a folder", remedy="Name a file in it.", file=str(path))
    if path.suffix.lower() == ".toml":
        session.open_config(path)
    else:
        session.open_table(str(path), path.absolute().parent, given)


def _without_password(uri: str) -> str:
    """Return a URI with variables of the environment in place of passwords, and set them."""
    public, names = without_passwords(uri)
    pattern = re.escape(public)
    for name in names:
        pattern = pattern.replace(re.escape(f"${{{name}}}"), "(.*?)", 1)
    match = re.fullmatch(pattern, uri)
    for name, value in zip(names, match.groups() if match else (), strict=False):
        os.environ[name] = unquote(value)
    return public


def upload_name(name: str) -> str:
    r"""Return the name under which an uploaded file is stored: the last part of its path, without what names could do.

    >>> upload_name("../../etc/people.csv"), upload_name("C:\\\\data\\\\my people.csv"), upload_name("..")
    ('people.csv', 'my people.csv', 'table')
    """
    last = re.split(r"[/\\]", name)[-1]
    safe = _HIDDEN.sub("", "".join(letter for letter in last if letter.isprintable())).strip()
    return safe[-120:] or "table"

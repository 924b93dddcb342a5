"""Database URIs: what is one, where the file in it lies, and how it is shown without its password."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, unquote

from sfumato.errors import ConfigError, DatabaseError
from sfumato.masking import SECRET, masked, secrets_in

_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_SQUEEZED = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/(?!/)")
"""What is left of a URI that was made a path."""

_FILE = re.compile(r"((?:sqlite|duckdb)(?:\+\w+)?:///)(.+)", re.DOTALL)
"""A database that is a file: three slashes and a relative path, or four and an absolute one."""

_VARIABLE = re.compile(r"\$\{(\w*)\}")
_PASSWORD = re.compile(r"(://[^/:@?]*:)(.+)(?=@)", re.DOTALL)
_PARAMETER = re.compile(rf"([?&][^=&]*(?:{SECRET})=)([^&]+)", re.IGNORECASE)
_MARK = re.compile(r"[/?#@\s]|%(?![0-9A-Fa-f]{2})")
"""What cannot stand in a user's name or password."""


def is_uri(path: str | Path) -> bool:
    """Whether this is a database URI rather than the path of a file.

    >>> is_uri("postgresql://me@localhost/people"), is_uri("people.csv"), is_uri("C:/people.csv")
    (True, False, False)
    """
    text = str(path)
    return bool(_URI.match(text) or _SQUEEZED.match(text))


def scheme(uri: str) -> str:
    """What stands before the `://`, in lower case."""
    return uri.partition("://")[0].lower()


def shown(uri: str | Path) -> str:
    """A URI as it may be shown: without its password, and without parameters, which may hold one too; see `masked`.

    >>> shown("postgresql://me:secret@localhost:5432/people?sslpassword=x")
    'postgresql://me:***@localhost:5432/people'
    """
    found = _URI.match(str(uri)) or _SQUEEZED.match(str(uri))
    if found is None or _FILE.match(str(uri)):
        return masked(str(uri))
    # the last @: a password in which one stands as it is must not show either
    user, at, rest = str(uri)[found.end() :].rpartition("@")
    name, colon, _ = user.partition(":")
    return masked(f"{found[1]}://{name}{':***' if colon else ''}{at}{rest.partition('?')[0]}")


def checked(uri: str | Path) -> str:
    """A URI as text, refused where a program that reads it might take a part of the password for something else."""
    text = str(uri)
    if not _URI.match(text):
        raise DatabaseError("a URI was made a path", remedy="Give it as text.", file=shown(text))
    user = text.partition("://")[2].rpartition("@")[0]
    if not _FILE.match(text) and _MARK.search(user):
        raise DatabaseError(
            "the URI cannot be read: a special character stands before its last @, or after it",
            remedy="Write it as % and two digits, such as %40 for @, %2F for / and %25 for %.",
            file=shown(text),
        )
    return text


def without_secrets(message: str, uri: str) -> str:
    """A driver's message, the passwords of the URI taken out should they be in there."""
    secrets = secrets_in(uri)
    for secret in sorted(secrets | set(map(unquote, secrets)), key=len, reverse=True):
        message = message.replace(secret, "***")
    return message


def expanded(uri: str, variables: Mapping[str, str]) -> str:
    """A URI with the variables of the environment in it put in place; any other text as it is.

    What stands before the @, a user's name or password, or after the ?, a parameter, is put in as text: its special
    characters are escaped.

    >>> expanded("postgresql://me:${PASSWORD}@localhost/people", {"PASSWORD": "s/cr@t"})
    'postgresql://me:s%2Fcr%40t@localhost/people'
    >>> expanded("${DATABASE}", {"DATABASE": "sqlite:///people.db"})
    'sqlite:///people.db'
    """
    if not _URI.match(uri) and not _VARIABLE.fullmatch(uri):
        return uri

    def value(found: re.Match[str]) -> str:
        if found[1] not in variables:
            raise ConfigError(
                f"the environment has no variable {found[1]!r}", remedy="Set it, and try again.", value=found[1]
            )
        return variables[found[1]]

    def escaped(part: str) -> str:
        return _VARIABLE.sub(lambda found: quote(value(found), safe=""), part)

    before, at, rest = uri.rpartition("@")
    place, question, parameters = rest.partition("?")
    return escaped(before) + at + _VARIABLE.sub(value, place) + question + escaped(parameters)


def without_passwords(uri: str) -> tuple[str, tuple[str, ...]]:
    """The same URI with a variable of the environment in place of each password; and the names of these variables.

    >>> without_passwords("postgresql://me:s%40cret@localhost/people")
    ('postgresql://me:${SFUMATO_PASSWORD}@localhost/people', ('SFUMATO_PASSWORD',))
    """
    names: dict[str, str] = {}

    def variable(found: re.Match[str]) -> str:
        if _VARIABLE.search(found[2]):
            return found[0]
        number = f"_{len(names) + 1}" if names else ""
        return f"{found[1]}${{{names.setdefault(unquote(found[2]), f'SFUMATO_PASSWORD{number}')}}}"

    for pattern in (_PASSWORD, _PARAMETER):
        uri = pattern.sub(variable, uri)
    return uri, tuple(names.values())


def beside(uri: str, folder: Path) -> str:
    """The same URI; if it names a file by a relative path, that starts at the folder.

    >>> beside("sqlite:///people.db", Path("/data")), beside("sqlite:////tmp/people.db", Path("/data"))
    ('sqlite:////data/people.db', 'sqlite:////tmp/people.db')
    """
    found = _FILE.match(uri)
    if found is None or found[2].startswith(":"):
        return uri
    path, question, parameters = found[2].partition("?")
    return f"{found[1]}{folder / path}{question}{parameters}"


def file_of(uri: str) -> Path | None:
    """The file that is the database, if it is one.

    >>> file_of("sqlite:///people.db"), file_of("sqlite://")
    (PosixPath('people.db'), None)
    """
    found = _FILE.match(uri)
    return None if found is None or found[2].startswith(":") else Path(found[2].partition("?")[0])

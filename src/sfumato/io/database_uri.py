"""Database URIs: how to recognise, check, expand and display them, without their passwords."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import quote, unquote

from sfumato.errors import ConfigError, DatabaseError
from sfumato.masking import SECRET, masked, secrets_in

_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_SQUEEZED = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/(?!/)")
"""A URI after a conversion to a path."""

_FILE = re.compile(r"((?:sqlite|duckdb)(?:\+\w+)?:///)(.+)", re.DOTALL)
"""A database that is a file: three slashes and a relative path, or four and an absolute one."""

_VARIABLE = re.compile(r"\$\{(\w*)\}")
_PASSWORD = re.compile(r"(://[^/:@?]*:)(.+)(?=@)", re.DOTALL)
_PARAMETER = re.compile(rf"([?&][^=&]*(?:{SECRET})=)([^&]+)", re.IGNORECASE)
_MARK = re.compile(r"[/?#@\s]|%(?![0-9A-Fa-f]{2})")
"""Characters that must be escaped in a user name or password."""


def is_uri(path: str | Path) -> bool:
    """Return whether this is a database URI, and not the path of a file.

    >>> is_uri("postgresql://me@localhost/people"), is_uri("people.csv"), is_uri("C:/people.csv")
    (True, False, False)
    """
    text = str(path)
    return bool(_URI.match(text) or _SQUEEZED.match(text))


def scheme(uri: str) -> str:
    """Return the text before the `://`, in lower case."""
    return uri.partition("://")[0].lower()


def shown(uri: str | Path) -> str:
    """Return a URI for display: without its password, and without parameters, which may contain one too; see `masked`.

    >>> shown("postgresql://me:secret@localhost:5432/people?sslpassword=x")
    'postgresql://me:***@localhost:5432/people'
    """
    match = _URI.match(str(uri)) or _SQUEEZED.match(str(uri))
    if match is None or _FILE.match(str(uri)):
        return masked(str(uri))
    # the last @, because a password may contain an unescaped @
    user, at, rest = str(uri)[match.end() :].rpartition("@")
    name, colon, _ = user.partition(":")
    return masked(f"{match[1]}://{name}{':***' if colon else ''}{at}{rest.partition('?')[0]}")


def checked(uri: str | Path) -> str:
    """Return a URI as text; raise an error if a driver could read part of the password as something else."""
    text = str(uri)
    if not _URI.match(text):
        raise DatabaseError("a URI was converted to a path", remedy="Pass it as text.", file=shown(text))
    user = text.partition("://")[2].rpartition("@")[0]
    if not _FILE.match(text) and _MARK.search(user):
        raise DatabaseError(
            "the URI cannot be parsed: it contains an unescaped special character before its last @",
            remedy="Write it as % and two digits, such as %40 for @, %2F for / and %25 for %.",
            file=shown(text),
        )
    return text


def without_secrets(message: str, uri: str) -> str:
    """Return the message of a driver without the passwords of the URI."""
    secrets = secrets_in(uri)
    for secret in sorted(secrets | set(map(unquote, secrets)), key=len, reverse=True):
        message = message.replace(secret, "***")
    return message


def expanded(uri: str, variables: Mapping[str, str]) -> str:
    """Return a URI with the environment variables in it replaced by their values; any other text unchanged.

    Special characters in the values are escaped before the @ (user name, password) and after the ? (parameters).

    >>> expanded("postgresql://me:${PASSWORD}@localhost/people", {"PASSWORD": "s/cr@t"})
    'postgresql://me:s%2Fcr%40t@localhost/people'
    >>> expanded("${DATABASE}", {"DATABASE": "sqlite:///people.db"})
    'sqlite:///people.db'
    """
    if not _URI.match(uri) and not _VARIABLE.fullmatch(uri):
        return uri

    def value(match: re.Match[str]) -> str:
        if match[1] not in variables:
            raise ConfigError(
                f"the environment variable {match[1]!r} is not set", remedy="Set it, and try again.", value=match[1]
            )
        return variables[match[1]]

    def escaped(part: str) -> str:
        return _VARIABLE.sub(lambda match: quote(value(match), safe=""), part)

    before, at, rest = uri.rpartition("@")
    place, question, parameters = rest.partition("?")
    return escaped(before) + at + _VARIABLE.sub(value, place) + question + escaped(parameters)


def without_passwords(uri: str) -> tuple[str, tuple[str, ...]]:
    """Replace each password of a URI by an environment variable. Return the URI and the names of the variables.

    >>> without_passwords("postgresql://me:s%40cret@localhost/people")
    ('postgresql://me:${SFUMATO_PASSWORD}@localhost/people', ('SFUMATO_PASSWORD',))
    """
    names: dict[str, str] = {}

    def variable(match: re.Match[str]) -> str:
        if _VARIABLE.search(match[2]):
            return match[0]
        number = f"_{len(names) + 1}" if names else ""
        return f"{match[1]}${{{names.setdefault(unquote(match[2]), f'SFUMATO_PASSWORD{number}')}}}"

    for pattern in (_PASSWORD, _PARAMETER):
        uri = pattern.sub(variable, uri)
    return uri, tuple(names.values())


def beside(uri: str, folder: Path) -> str:
    """Return a URI whose file, if it is a relative path, is relative to the folder.

    >>> beside("sqlite:///people.db", Path("/data")), beside("sqlite:////tmp/people.db", Path("/data"))
    ('sqlite:////data/people.db', 'sqlite:////tmp/people.db')
    """
    return with_file(uri, lambda path: str(folder / path))


def with_file(uri: str, change: Callable[[str], str]) -> str:
    """Return a URI with the path of its file changed; of a database that is no file, the URI as it is.

    >>> with_file("sqlite:///people.db?mode=ro", lambda path: f"../{path}"), with_file("sqlite://", str.upper)
    ('sqlite:///../people.db?mode=ro', 'sqlite://')
    """
    match = _FILE.match(uri)
    if match is None or match[2].startswith(":"):
        return uri
    path, question, parameters = match[2].partition("?")
    return f"{match[1]}{change(path)}{question}{parameters}"


def has_variable(text: str) -> bool:
    """Return whether `expanded` replaces something in a URI or in a path.

    >>> has_variable("${DATABASE}"), has_variable("sqlite:///${FOLDER}/people.db"), has_variable("costs in ${USD}.csv")
    (True, True, False)
    """
    return bool(_VARIABLE.search(text)) if _URI.match(text) else bool(_VARIABLE.fullmatch(text))


def file_of(uri: str) -> Path | None:
    """Return the file of a database that is a file; None for any other.

    >>> file_of("sqlite:///people.db"), file_of("sqlite://")
    (PosixPath('people.db'), None)
    """
    match = _FILE.match(uri)
    return None if match is None or match[2].startswith(":") else Path(match[2].partition("?")[0])

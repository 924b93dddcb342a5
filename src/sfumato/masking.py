"""Mask passwords in texts that are displayed, wherever a connection string may occur, well-formed or not."""

from __future__ import annotations

import re

SECRET = r"password|passwd|pwd|token|secret"
"""The endings of the names of parameters whose values are secret."""

_SCHEME = r"([A-Za-z][A-Za-z0-9+.-]+:/{1,2}[^/:@?\s]*:)"
"""`scheme://user:`, also with the single slash that is left after a conversion to a path."""

_SECRETS = (
    # up to the last @, because a password may contain an unescaped @
    re.compile(rf"{_SCHEME}(?!\*\*\*@)(.*)(?=@)", re.DOTALL),
    # no @ follows, and the text is not a port
    re.compile(rf"{_SCHEME}(?!\*\*\*)(?![0-9]{{1,5}}(?:[/?#,\s]|$))(\S+)"),
    re.compile(
        rf"""((?:{SECRET})\s*=\s*)(?!\*\*\*(?:[;\s&]|$))"""
        r"""('(?:[^'\\]|\\.)*(?:'|$)|"(?:[^"\\]|\\.)*(?:"|$)|\{[^}]*(?:\}|$)|[^\s&]+)""",
        re.IGNORECASE | re.DOTALL,
    ),
)
"""Each pattern has two groups: the text before a secret, and the secret."""


def masked(text: str) -> str:
    """Return a text without the passwords of the connection strings in it. Masking twice equals masking once.

    >>> masked("jdbc:postgresql://me:hunter2@localhost:5432/people")
    'jdbc:postgresql://me:***@localhost:5432/people'
    >>> masked("host=localhost PASSWORD='hunter 2' user=me"), masked("postgresql://me:hunter2")
    ('host=localhost PASSWORD=*** user=me', 'postgresql://me:***')
    >>> masked("postgresql://localhost:5432/people")
    'postgresql://localhost:5432/people'
    """
    for pattern in _SECRETS:
        text = pattern.sub(r"\1***", text)
    return text


def masked_uris(text: str) -> str:
    """Return a text without the passwords of the URIs in it; `password = 1` stays, which may be about a column of that name.

    >>> masked_uris("'postgresql://me:hunter2@localhost' is invalid"), masked_uris("secret = 5 is not a date")
    ("'postgresql://me:***@localhost' is invalid", 'secret = 5 is not a date')
    """
    return masked(text) if "://" in text else text


def secrets_in(text: str) -> set[str]:
    """Return what `masked` would hide: each secret as it is, without quotes, and up to where a database name may begin.

    >>> sorted(secrets_in("postgresql://me:hunter2/people"))
    ['hunter2', 'hunter2/people']
    """
    secrets = set()
    for pattern in _SECRETS:
        for match in pattern.finditer(text):
            secrets |= {match[2], match[2].strip("'\"{}"), re.split(r"[/?#]", match[2], maxsplit=1)[0]}
    return secrets - {""}

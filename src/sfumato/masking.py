"""Passwords in texts that are shown: masked wherever a connection string may stand, a proper URI or not."""

from __future__ import annotations

import re

SECRET = r"password|passwd|pwd|token|secret"
"""How the names of parameters end whose values are nobody's business."""

_SCHEME = r"([A-Za-z][A-Za-z0-9+.-]+:/{1,2}[^/:@?\s]*:)"
"""`scheme://user:`, also with the one slash that is left when it was made a path."""

_SECRETS = (
    # up to the last @: a password in which one stands as it is must not show either
    re.compile(rf"{_SCHEME}(?!\*\*\*@)(.*)(?=@)", re.DOTALL),
    # no @ follows, and what stands there is no port
    re.compile(rf"{_SCHEME}(?!\*\*\*)(?![0-9]{{1,5}}(?:[/?#,\s]|$))(\S+)"),
    re.compile(
        rf"""((?:{SECRET})\s*=\s*)(?!\*\*\*(?:[;\s&]|$))"""
        r"""('(?:[^'\\]|\\.)*(?:'|$)|"(?:[^"\\]|\\.)*(?:"|$)|\{[^}]*(?:\}|$)|[^\s&]+)""",
        re.IGNORECASE | re.DOTALL,
    ),
)
"""What stands before a secret, and the secret."""


def masked(text: str) -> str:
    """A text as it may be shown: without the passwords of connection strings in it. What is masked twice is as masked once.

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


def secrets_in(text: str) -> set[str]:
    """What `masked` would hide, each as it stands, without its quotes, and up to where the name of a database may begin.

    >>> sorted(secrets_in("postgresql://me:hunter2/people"))
    ['hunter2', 'hunter2/people']
    """
    found = set()
    for pattern in _SECRETS:
        for match in pattern.finditer(text):
            found |= {match[2], match[2].strip("'\"{}"), re.split(r"[/?#]", match[2], maxsplit=1)[0]}
    return found - {""}

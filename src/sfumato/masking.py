"""Passwords in texts that are shown: masked wherever a connection string may stand, a proper URI or not."""

from __future__ import annotations

import re

SECRET = r"password|passwd|pwd|token|secret"
"""How the names of parameters end whose values are nobody's business."""

_SCHEME = r"([A-Za-z][A-Za-z0-9+.-]+:/{1,2}[^/:@?\s]*):"
"""`scheme://user:`, also with the one slash that is left when it was made a path."""

_BEFORE_AT = re.compile(rf"{_SCHEME}(?!\*\*\*@).*@", re.DOTALL)
"""Up to the last @: a password in which one stands as it is must not show either."""

_WITHOUT_AT = re.compile(rf"{_SCHEME}(?!\*\*\*)(?![0-9]{{1,5}}(?:[/?#,\s]|$))\S+")
"""No @ follows, and what stands there is no port."""

_PARAMETER = re.compile(
    rf"""((?:{SECRET})\s*=\s*)(?!\*\*\*(?:[;\s&]|$))('(?:[^'\\]|\\.)*(?:'|$)|"(?:[^"\\]|\\.)*(?:"|$)|\{{[^}}]*(?:\}}|$)|[^\s&]+)""",
    re.IGNORECASE | re.DOTALL,
)


def masked(text: str) -> str:
    """A text as it may be shown: without the passwords of connection strings in it. What is masked twice is as masked once.

    >>> masked("jdbc:postgresql://me:hunter2@localhost:5432/people")
    'jdbc:postgresql://me:***@localhost:5432/people'
    >>> masked("host=localhost PASSWORD='hunter 2' user=me"), masked("postgresql://me:hunter2")
    ('host=localhost PASSWORD=*** user=me', 'postgresql://me:***')
    >>> masked("postgresql://localhost:5432/people")
    'postgresql://localhost:5432/people'
    """
    text = _BEFORE_AT.sub(r"\1:***@", text)
    text = _WITHOUT_AT.sub(r"\1:***", text)
    return _PARAMETER.sub(r"\1***", text)

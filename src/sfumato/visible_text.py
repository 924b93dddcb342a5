r"""Escape control characters in texts that are shown on a terminal.

A name or a value may come from anybody. With control characters it could clear the screen and show a verdict of its own;
with bidirectional controls or line breaks it could change how the text around it reads. Escapes are those of JSON, so an
escaped JSON text is the same JSON.
"""

from __future__ import annotations

import re

_CONTROLS = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 and C1, except tab and line feed
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional controls
    r"\u2028\u2029\ufeff\ufff9-\ufffb"  # other line breaks, and marks without a glyph
    r"\ud800-\udfff"  # halves of pairs, as in names of files that are not UTF-8
)
_UNSAFE = re.compile(f"[{_CONTROLS}]")
_UNSAFE_IN_A_LINE = re.compile(rf"[\t\n{_CONTROLS}]")


def visible(text: str) -> str:
    r"""Return a text with its control characters escaped; tabs and line feeds stay.

    >>> print(visible("\x1b[2Jall checks hold\n"), end="")
    \u001b[2Jall checks hold
    """
    return _UNSAFE.sub(_escape, text)


def one_line(text: str) -> str:
    r"""Return a text with its control characters and line breaks escaped, for the middle of a line.

    >>> print(one_line("age\nall checks hold"))
    age\u000aall checks hold
    """
    return _UNSAFE_IN_A_LINE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"

"""The names of columns: their words for comparison, and how a name is shown on one line."""

from __future__ import annotations

import re
import unicodedata


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a column's name, in lower case without accents.

    >>> words_of("dateOfBirth"), words_of("Straße_2"), words_of("marital-status")
    (('date', 'of', 'birth'), ('strasse',), ('marital', 'status'))
    """
    spaced = re.sub(r"(?<=[a-zà-ÿ])(?=[A-Z])", " ", name)
    return tuple(re.findall(r"[^\W\d_]+", folded(spaced)))


def folded(text: str) -> str:
    """Return a text in lower case without accents.

    >>> folded("Müller"), folded("PRÉNOM")
    ('muller', 'prenom')
    """
    decomposed = unicodedata.normalize("NFD", text.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def printable(name: str) -> str:
    r"""Return a name for one line: line breaks and other marks that cannot be printed become dots.

    >>> printable("a\nb")
    'a·b'
    """
    return "".join(letter if letter.isprintable() else "·" for letter in name)

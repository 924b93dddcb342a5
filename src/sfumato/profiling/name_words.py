"""The words of a text, so that they can be compared: in small letters, without accents."""

from __future__ import annotations

import re
import unicodedata


def words_of(name: str) -> tuple[str, ...]:
    """The words of a column's name, in small letters without accents.

    >>> words_of("dateOfBirth"), words_of("Straße_2"), words_of("marital-status")
    (('date', 'of', 'birth'), ('strasse',), ('marital', 'status'))
    """
    spaced = re.sub(r"(?<=[a-zà-ÿ])(?=[A-Z])", " ", name)
    return tuple(re.findall(r"[^\W\d_]+", folded(spaced)))


def folded(text: str) -> str:
    """Text in small letters without accents.

    >>> folded("Müller"), folded("PRÉNOM")
    ('muller', 'prenom')
    """
    decomposed = unicodedata.normalize("NFD", text.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))

"""Names of people that are common in several countries, to recognise columns of names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sfumato.profiling.name_words import folded

GIVEN_NAMES = """
aaron adam alexander alice amelia amy andrea andreas andrew angela anna anne anthony antonio barbara ben birgit brian
camille carlos caroline catherine charlotte chloe christian christine christopher claire claudia daniel david
elisabeth elizabeth ella emily emma eric eva fatima felix francois frank gabriele george georgia giovanni grace hannah
hans heike helen helga henry isabella isabelle jack jacob jacques james jan jane jean jennifer jessica joachim john
jonas jonathan jose joseph joshua juan julia julie karen karin karl kevin klaus lara laura lea leon linda lisa louis
louise luca lucas luigi lukas manfred manuel margaret maria marie mark markus martin mary matthew max mehmet mia
michael michel mohamed mohammed monika muhammad nathan nicholas nicole nina noah olivia patricia patrick paul peter
petra philippe pierre rachel rebecca renate richard robert ruth ryan sabine samuel sandra sara sarah sebastian silvia
simon sofia sophie stefan stephanie stephen steven susan susanne thomas timothy tom ursula uwe victoria walter werner
william wolfgang yasmin yusuf
"""

SURNAMES = """
adams ali allen anderson bailey baker bauer becker bell bernard braun brown campbell carter chen clark clarke cooper
davis dubois durand evans fischer garcia gonzalez green hall harris hernandez hoffmann huang hughes jackson johnson
jones khan king klein koch kruger kumar lee lewis li liu lopez martinez meier meyer miller mitchell moore moreau
morris mueller muller murphy nguyen nowak parker patel perez petit phillips richter roberts robinson rodriguez rossi
sanchez schafer schmidt schmitz schneider scholz schroder schroeder schulz schwarz silva singh smith taylor thompson
turner wagner walker wang ward watson weber white williams wilson wolf wong wood wright wu yang young zhang zhao
zimmermann
"""

_NAMES = frozenset((GIVEN_NAMES + SURNAMES).split())

NAMED_SHARE = 0.12
"""The share of cells that must contain one of these names: about one person in eight has one."""


def people_named(cells: Sequence[str]) -> float:
    """Return the share of cells that contain a common name of a person in at most a few words.

    >>> people_named(["SABINE", "Peter Weber", "red", "Rome"])
    0.5
    """
    if not cells:
        return 0.0
    found = 0
    for cell in cells:
        words = re.findall(r"[^\W\d_]+", folded(cell))
        found += 1 <= len(words) <= 3 and not any(map(str.isdigit, cell)) and not _NAMES.isdisjoint(words)
    return found / len(cells)

"""Prosecutor, journalist and marketer: three attackers that reviewers of releases know.

Source: El Emam and Dankar, Protecting privacy using k-anonymity, JAMIA 15(5), 2008, where the chance is computed from the
rows that are alike. Here it is computed from the individuals of a dictionary who are consistent with a record, which is
the same if no value is missing or withheld.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.disclosure.matching.matching import Matching
from sfumato.exact import written

THRESHOLDS = (Fraction(1, 20), Fraction(1, 10), Fraction(1, 5), Fraction(1, 3), Fraction(1, 2))
"""Chances of identification for which reviewers ask how many records exceed them; 1/3 is often written 0.33."""


@dataclass(frozen=True)
class AttackerChances:
    """The chance of identification against one dictionary for three attackers."""

    dictionary: str
    prosecutor: float | None
    """The highest chance of a record, for an attacker who knows that the target is in the table and has the table itself."""
    journalist: float | None
    """The highest chance of a record, for an attacker who has a register of more people and wants to identify anybody."""
    marketer: float
    """The mean chance of a record: the expected share of correct guesses of an attacker who tries all of them."""
    unique: int
    """The records with exactly one consistent individual."""
    above: tuple[tuple[Fraction, int], ...]
    """For each threshold the number of records with a higher chance."""
    records: int
    why: str
    """Why the dictionary is that of a prosecutor, or of a journalist."""

    @property
    def named(self) -> tuple[str, float]:
        """Prosecutor or journalist, whichever the dictionary is for, and the highest chance."""
        return ("journalist", self.journalist or 0.0) if self.prosecutor is None else ("prosecutor", self.prosecutor)

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain data."""
        return {
            "prosecutor": self.prosecutor,
            "journalist": self.journalist,
            "marketer": self.marketer,
            "unique": self.unique,
            "above": {written(threshold): count / self.records for threshold, count in self.above},
            "why": self.why,
        }


def attacker_chances(
    name: str, matching: Matching, sizes: NDArray[np.int64], probabilities: NDArray[np.float64]
) -> AttackerChances:
    """Compute the chances of the three attackers against one dictionary from |ρ| and the chance of every record.

    The dictionary is a prosecutor's if it contains the records' individuals and nobody else, otherwise a journalist's.

    >>> people = np.array([[30], [30], [41]])
    >>> itself = Matching.of_codes(people, people, own=np.arange(3))
    >>> sizes = itself.sizes(itself.everything)
    >>> chances = attacker_chances("the table itself", itself, sizes, itself.probabilities(itself.everything))
    >>> chances.prosecutor, chances.journalist, chances.unique, round(chances.marketer, 3)
    (1.0, None, 1, 0.667)
    """
    highest = float(probabilities.max())
    itself, why = _is_the_table(matching)
    if len(matching.weights):
        above = [int((probabilities > float(threshold)).sum()) for threshold in THRESHOLDS]
    else:
        fits = sizes[sizes > 0]
        above = [int((fits * threshold.numerator < threshold.denominator).sum()) for threshold in THRESHOLDS]
    return AttackerChances(
        dictionary=name,
        prosecutor=highest if itself else None,
        journalist=None if itself else highest,
        marketer=float(probabilities.mean()),
        unique=int((sizes == 1).sum()),
        above=tuple(zip(THRESHOLDS, above, strict=True)),
        records=matching.records,
        why=why,
    )


def _is_the_table(matching: Matching) -> tuple[bool, str]:
    """Whether the dictionary contains all individuals of the records and nobody else, and the reason in words."""
    has_owner = matching.own >= 0
    if not has_owner.any():
        return False, "the individuals of the records are not known, so the dictionary is taken as a register"
    if not has_owner.all():
        return False, f"the dictionary lacks the individuals of {int((~has_owner).sum()):,} records"
    others = matching.individuals - len(np.unique(matching.own))
    if others:
        return False, f"the dictionary contains {others:,} individuals in addition to those of the records"
    return True, "the dictionary contains the individuals of the records and nobody else"

"""The intersection attack (paper 004, Section 6.1): joining the projected tables on what they have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.attacks.attacker_view import AttackerView, checked
from sfumato.attacks.inference import Inference, LeftOut, inferences
from sfumato.attacks.linkability import Link, links
from sfumato.data.table import Table
from sfumato.plurals import count_of


@dataclass(frozen=True)
class Intersection:
    """What an attacker reaches by joining the projected tables of a release; see `intersection`.

    >>> import numpy as np, pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> table = Table(pa.table({"job": ["a", "b", "b"]}), Schema(sensitive=["job"]))
    >>> intersection(table, [AttackerView(("job",), np.array([0, 0, 0]))])
    Intersection of 1 table: groups of at least 3 rows and 2 values
      joined from 1: at most 0.6667, on average 0.6667 (stated bound 0.6667; for groups of any size 0.6667)
    """

    k: int
    """The rows of the smallest group of all tables."""
    l: int
    """The fewest distinct values of an attribute in a group of all tables."""
    links: tuple[Link, ...]
    """The confidence in a value joined from 1, 2, … tables, if dependence is not known or not there."""
    inferences: tuple[Inference, ...]
    """What an attribute of another table tells of one, by how the two depend; worst first."""
    left_out: tuple[LeftOut, ...] = ()
    """Attributes with too many values to combine."""

    @property
    def worst(self) -> Inference | None:
        """The inference that gives most away; None if there is one table alone."""
        return self.inferences[0] if self.inferences else None

    def to_dict(self) -> dict[str, Any]:
        """As plain data, ready for JSON: `k`, `l`, `links`, `inferences` (worst first) and `left_out`."""
        return {
            "k": self.k,
            "l": self.l,
            "links": [link.to_dict() for link in self.links],
            "inferences": [inference.to_dict() for inference in self.inferences],
            "left_out": [{"attributes": list(each.attributes), "why": each.why} for each in self.left_out],
        }

    def __repr__(self) -> str:
        tables = count_of(len(self.links), "table")
        lines = [f"Intersection of {tables}: groups of at least {self.k:,} rows and {count_of(self.l, 'value')}"]
        lines += [f"  {link!r}" for link in self.links]
        lines += [f"  {inference!r}" for inference in self.inferences[:5]]
        lines += [f"  not tried: {' and '.join(each.attributes)}: {each.why}" for each in self.left_out[:3]]
        return "\n".join(lines)


def intersection(table: Table, seen: Sequence[AttackerView]) -> Intersection:
    """How sure an attacker is who joins the projected tables on a person's groups (paper 004, Section 6.1).

    `links` is the attack of Theorem 2. Assumed: he knows the person's group in every table, and nothing of how attributes
    of different tables depend. The confidence in a joint value of p tables is then the product of its shares.

    `inferences` is what the theorem misses. Assumed: he also knows the joint distribution J of attribute A in one table and
    B in another over the whole original (a survey, a textbook, or another release tells it), and supposes that given A the
    groups tell no more of B. Then P(a, b) is in proportion to share(a)·share(b)·J(a,b)/(J(a)·J(b)), with the shares of the
    person's two groups. He may be wrong in the last, so `truth` tells what he comes to believe of the true value. Pairs of
    attributes are tried, no more at a time: who combines three tables may reach more. Cost: the pairs of groups that people
    are in, times the values of both attributes; pairs of attributes with too many are named in `left_out`.

    A job that a syndrome is bound to, each in its own 2-diverse table, and yet everybody is pinned:

    >>> import numpy as np, pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> people = {"job": ["a", "b", "c", "d"], "syndrome": ["A", "B", "C", "D"]}
    >>> table = Table(pa.table(people), Schema(sensitive=["job", "syndrome"]))
    >>> jobs, syndromes = AttackerView(("job",), np.array([0, 0, 1, 1])), AttackerView(("syndrome",), np.array([0, 1, 0, 1]))
    >>> found = intersection(table, [jobs, syndromes])
    >>> found.links[0].largest, found.links[1].largest
    (Fraction(1, 2), Fraction(1, 4))
    >>> found.worst
    syndrome of table 2 tells job of table 1: 0.5000 to 1.0000 on average, at most 0.5 to 1, certain of 0 to 4 of 4
    """
    tables = checked(table, seen)
    k, l, linked = links(table, tables)
    found = list(inferences(table, tables))
    tried = [each for each in found if isinstance(each, Inference)]
    tried.sort(key=lambda each: (-each.newly_certain, -each.mean_gain, each.table, each.helper_table))
    return Intersection(k, l, linked, tuple(tried), tuple(each for each in found if isinstance(each, LeftOut)))

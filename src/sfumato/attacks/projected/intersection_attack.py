"""The intersection attack: joining the projected tables on a person's groups.

Section 6.1 of Fang, Ashrafi & Ng (2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sfumato.attacks.projected.attacker_view import AttackerView, check_views
from sfumato.attacks.projected.inference import Inference, SkippedPair, infer_pairs
from sfumato.attacks.projected.linkability import Link, measure_links
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
      joined from 1: at most 0.6667, on average 0.6667 (stated bound 0.6667; corrected bound 0.6667)
    """

    assumptions: ClassVar[str] = (
        "The attacker knows a person's group in every table. For the links, nothing is known of how attributes of different "
        "tables depend. For the inferences, the joint distribution of two attributes in different tables is known, and "
        "given one attribute the groups are assumed to carry no more information about the other."
    )

    k: int
    """The size of the smallest group of all tables."""
    l: int
    """The smallest number of distinct values of an attribute in a group of any table."""
    links: tuple[Link, ...]
    """The confidence in values joined from 1, 2, … tables, if dependence is unknown or absent."""
    inferences: tuple[Inference, ...]
    """What an attribute of another table reveals about an attribute through their dependence; worst first."""
    skipped: tuple[SkippedPair, ...] = ()
    """Pairs of attributes with too many values to combine."""

    @property
    def worst(self) -> Inference | None:
        """The inference that reveals most; None if there is only one table."""
        return self.inferences[0] if self.inferences else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON: `k`, `l`, `links`, `inferences` (worst first) and `skipped`."""
        return {
            "k": self.k,
            "l": self.l,
            "links": [link.to_dict() for link in self.links],
            "inferences": [inference.to_dict() for inference in self.inferences],
            "skipped": [{"attributes": list(pair.attributes), "reason": pair.reason} for pair in self.skipped],
        }

    def __repr__(self) -> str:
        tables = count_of(len(self.links), "table")
        lines = [f"Intersection of {tables}: groups of at least {self.k:,} rows and {count_of(self.l, 'value')}"]
        lines += [f"  {link!r}" for link in self.links]
        lines += [f"  {inference!r}" for inference in self.inferences[:5]]
        lines += [f"  skipped {' and '.join(pair.attributes)}: {pair.reason}" for pair in self.skipped[:3]]
        return "\n".join(lines)


def intersection(table: Table, views: Sequence[AttackerView]) -> Intersection:
    """Measure the confidence of an attacker who joins the projected tables on a person's groups.

    `links` is the attack of Theorem 2 (Fang, Ashrafi & Ng 2011, section 6.1). Assumptions: the attacker knows the person's
    group in every table, and nothing of how attributes of different tables depend. The confidence in a combination of values
    from p tables is then the product of their shares.

    `inferences` is the case that the theorem omits. Assumptions: the attacker also knows the joint distribution J of
    attribute A in one table and B in another over the whole original (from a survey, a textbook, or another release), and
    assumes that given A the groups carry no more information about B. Then P(a, b) is proportional to
    share(a)·share(b)·J(a,b)/(J(a)·J(b)), with the shares of the person's two groups. The last assumption may be wrong, so
    `truth` reports the probability that the attacker assigns to the true value. Only pairs of attributes are combined; an
    attacker who combines three tables may reach more. Cost: the pairs of groups that contain people, times the values of
    both attributes. Pairs of attributes that are too expensive are listed in `skipped`.

    A job that determines a syndrome, each in its own 2-diverse table, and yet every person's values are certain:

    >>> import numpy as np, pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> people = {"job": ["a", "b", "c", "d"], "syndrome": ["A", "B", "C", "D"]}
    >>> table = Table(pa.table(people), Schema(sensitive=["job", "syndrome"]))
    >>> jobs, syndromes = AttackerView(("job",), np.array([0, 0, 1, 1])), AttackerView(("syndrome",), np.array([0, 1, 0, 1]))
    >>> result = intersection(table, [jobs, syndromes])
    >>> result.links[0].largest, result.links[1].largest
    (Fraction(1, 2), Fraction(1, 4))
    >>> result.worst
    syndrome of table 2 reveals job of table 1: 0.5000 to 1.0000 on average, at most 0.5 to 1, certain of 0 to 4 of 4
    """
    tables = check_views(table, views)
    k, l, links = measure_links(table, tables)
    results = list(infer_pairs(table, tables))
    inferences = [each for each in results if isinstance(each, Inference)]
    inferences.sort(key=lambda each: (-each.newly_certain, -each.mean_gain, each.table, each.helper_table))
    return Intersection(k, l, links, tuple(inferences), tuple(each for each in results if isinstance(each, SkippedPair)))

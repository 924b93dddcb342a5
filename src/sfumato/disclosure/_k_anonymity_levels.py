"""k-anonymity as a special case of the risk, and what it leaves out (paper 002, Section 4).

k-anonymity takes the attacker's dictionary to be the table itself, θ = T, and every disclosure to be equally sensitive,
Φ ≡ c. Its constraints are |ρ(δ(xᵢ), T)| ≥ k for every record (4), and record by record a loss of at most c/k is the
same as (4) (Theorem 3). Two things that one might read into that are not so:

- that a k-anonymous rule has the least risk: the risk is a mean, and one record that breaks (4) may cost less than the rest
  gains;
- that (4) makes the release k-anonymous. Records may be withheld in different places and still fit k individuals each;
  matched jointly, they may be identified for certain. The release is k-anonymous if every row of it is there k times.

So three levels are told, each at most the next: of the release, of a joint matching, of the records one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Table
from sfumato.disclosure.dictionaries.dictionary import Dictionary
from sfumato.disclosure.matching.attribute_matching import match_attributes
from sfumato.disclosure.matching.joint_matching import joint_sizes
from sfumato.disclosure.matching.matching import Matching, Rule
from sfumato.exact import Number, as_fraction


@dataclass(frozen=True, eq=False)
class KAnonymityLevels:
    """Up to which k three readings of k-anonymity hold under a rule.

    >>> levels = KAnonymityLevels(np.array([2, 3]), release=1, joint=1, why="")
    >>> levels.consistent, levels.losses()
    (2, [Fraction(1, 2), Fraction(1, 3)])
    """

    sizes: NDArray[np.int64]
    """|ρ| of every record against the table itself."""
    release: int
    """How often the rarest row is in the release: this is k-anonymity."""
    joint: int | None
    """The fewest individuals that a joint matching of all records leaves to a record; None if there is none to be had."""
    why: str
    """Why there is no joint matching."""

    @property
    def consistent(self) -> int:
        """The least |ρ| over the records: constraints (4) of paper 002 hold up to this k."""
        return int(self.sizes.min())

    def losses(self, value: Number = 1) -> list[Fraction]:
        """What each record is expected to lose if every disclosure costs the same: c/|ρ| (Theorem 3)."""
        cost = as_fraction(value, "value")
        return [cost / size for size in self.sizes.tolist()]


def k_anonymity_levels(table: Table, attributes: Sequence[str], rule: Rule | None = None) -> KAnonymityLevels:
    """Measure the levels of k-anonymity of a rule, every row taken as a person of its own.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> people = Table(pa.table({"town": ["Rome", "Rome", "Bari"], "age": [30, 41, 41]}), Schema())
    >>> rule = np.array([[True, False], [True, False], [False, True]])
    >>> found = k_anonymity_levels(people, ["town", "age"], rule)
    >>> found.consistent, found.joint, found.release
    (2, 1, 1)
    """
    itself = match_attributes(table, attributes, Dictionary.of(table))
    return levels_of_matching(itself, itself.everything if rule is None else rule & itself.everything)


def levels_of_matching(itself: Matching, rule: Rule) -> KAnonymityLevels:
    """The same for records that are matched with themselves."""
    joint = joint_sizes(itself, rule)
    # what a record lacks is told apart from what is withheld of it, and each from every value
    rows = np.where(rule, itself.values, np.where(itself.values >= 0, -2, -1))
    alike = np.unique(rows, axis=0, return_counts=True)[1]
    return KAnonymityLevels(itself.sizes(rule), int(alike.min()), joint.least, joint.why)

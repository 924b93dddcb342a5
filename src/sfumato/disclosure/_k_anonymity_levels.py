"""k-anonymity as a special case of the risk, and what it leaves out (Lebanon et al. 2006, Section 4).

k-anonymity takes the table itself as the attacker's dictionary, θ = T, and every disclosure as equally sensitive, Φ ≡ c.
Its constraints are |ρ(δ(xᵢ), T)| ≥ k for every record (4), and a loss of at most c/k per record is equivalent to (4)
(Theorem 3). Two other readings are wrong:

- A k-anonymous rule need not have the least risk. The risk is a mean, and one record that violates (4) may cost less than
  the other records gain.
- (4) does not make the release k-anonymous. Records may withhold different cells and still fit k individuals each;
  matched jointly, they may be identified for certain. The release is k-anonymous if every row occurs k times.

So three levels are measured, each at most the next: of the release, of a joint matching, and of the records one by one.
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
    """The largest k for which three readings of k-anonymity hold under a rule.

    >>> levels = KAnonymityLevels(np.array([2, 3]), release=1, joint=1, why="")
    >>> levels.consistent, levels.losses()
    (2, [Fraction(1, 2), Fraction(1, 3)])
    """

    sizes: NDArray[np.int64]
    """|ρ| of every record against the table itself."""
    release: int
    """How often the rarest row occurs in the release: this is k-anonymity."""
    joint: int | None
    """The smallest number of individuals that a joint matching of all records leaves to a record; None if there is none."""
    why: str
    """Why there is no joint matching."""

    @property
    def consistent(self) -> int:
        """The least |ρ| over the records: constraints (4) of Lebanon et al. (2006) hold up to this k."""
        return int(self.sizes.min())

    def losses(self, value: Number = 1) -> list[Fraction]:
        """The expected loss of each record if every disclosure costs the same: c/|ρ| (Theorem 3)."""
        cost = as_fraction(value, "value")
        return [cost / size for size in self.sizes.tolist()]


def k_anonymity_levels(table: Table, attributes: Sequence[str], rule: Rule | None = None) -> KAnonymityLevels:
    """Measure the levels of k-anonymity of a rule, with every row as a person of its own.

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
    # -1 for a missing and -2 for a withheld value: they differ from each other and from every value
    rows = np.where(rule, itself.values, np.where(itself.values >= 0, -2, -1))
    alike = np.unique(rows, axis=0, return_counts=True)[1]
    return KAnonymityLevels(itself.sizes(rule), int(alike.min()), joint.least, joint.why)

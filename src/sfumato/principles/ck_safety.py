"""(c,k)-safety: how surely a secret is known to somebody who knows k further facts of the worst kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import ClassVar, Literal

import numpy as np

from sfumato.exact import Number, Ratios
from sfumato.parameters import ParameterRange
from sfumato.principles.principle import Measurement, On, Part, Principle, exactly
from sfumato.principles.search_conditions import NeighbourLimit, equal_counts_limit
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, two_age_groups
from sfumato.principles.worst_case_disclosure import disclosures


@dataclass(frozen=True)
class CKSafety(Principle):
    """To somebody who knows the groups and any k facts of the form "if …, then …", every secret has a probability below c.

    In plain words: an attacker knows who is in each group, and k more facts of the worst kind, such as "Ann does not have
    the flu" or "if Bob has the flu, so does Ann". Still, no secret has a probability of c or more.

    A fact is an implication: if some people have some values, then one of some people has some value. The people may be in
    any group, so the release counts as a whole. All ways to give the secrets of each group to its people are equally
    probable, as far as the facts allow. The level is the largest probability of a value for a person of a group after k
    facts, whichever they are. That somebody does not have a value is such a fact, so k facts may exclude k values. A
    group with one value makes every level 1: if Bob certainly has the flu, "if Bob has the flu, so does Ann" says that Ann
    has it.

    - `c`: the probability that must not be reached, above 0 and at most 1.
    - `k`: the number of facts that the attacker knows.

    Monotone.

    Does not protect against values that differ but are close, nor against who knows more facts, or which secrets are usual
    for such people: before the facts, all people of a group are alike.

    Source: Martin, Kifer, Machanavajjhala, Gehrke & Halpern (2007), Worst-case background knowledge for privacy-preserving
    data publishing, ICDE.

    >>> CKSafety("0.7", 2).label
    '(c,k)-safety (c = 0.7, k = 2)'
    """

    c: Number
    k: int
    on: On = None

    name: ClassVar[str] = "ck-safety"
    title: ClassVar[str] = "(c,k)-safety"
    family: ClassVar[str] = "diversity"
    scope: ClassVar[Literal["each"]] = "each"
    # The secrets of a union fall to its two parts in several ways; each is a case of the two groups, so its level, a mean
    # of theirs, is at most the larger one. The facts about the union tell less about others, for the same reason.
    monotone: ClassVar[bool] = True
    compares_groups: ClassVar[bool] = True
    ranges: ClassVar[Mapping[str, ParameterRange]] = {
        "c": ParameterRange("number", "share", "lower", usual=("0.3", "0.9"), most=1, above=True),
        "k": ParameterRange("whole", "factor", "higher", usual=(1, 6), least=1),
    }

    def __post_init__(self) -> None:
        self.check_ranges()

    def measure(self, view: View) -> Measurement:
        """Return the largest probability of a secret in each group; see `disclosures` for the cost."""
        histogram, most = view.histogram, self.k + 1
        largest_first = np.lexsort((-histogram.counts, histogram.group))
        rank = np.arange(len(largest_first)) - np.repeat(histogram.starts, histogram.distinct)
        shown = rank < most
        counts = np.zeros((view.groups.count, most), np.int64)
        counts[histogram.group[shown], rank[shown]] = histogram.counts[largest_first][shown]
        profiles, of_group = np.unique(np.column_stack([histogram.sizes, counts]), axis=0, return_inverse=True)
        levels = disclosures(profiles.tolist(), self.k)
        ends = [np.array([getattr(one, end) for one in levels], object) for end in ("numerator", "denominator")]
        return Measurement((Part.below("disclosure", Ratios(*(end[of_group.ravel()] for end in ends)), exactly(self.c)),))

    def search_conditions(self, view: View) -> Sequence[NeighbourLimit]:
        """Return a limit on equal values that suffices, whatever the other groups are.

        If every value has a share of at most p of its group, k + 1 statements about values are all false with a
        probability of at least 1 − (k+1)·p, so a level is at most p / (1 − k·p): below c if p is below c / (1 + k·c).
        """
        c = exactly(self.c)
        share = c / (1 + self.k * c)
        return (equal_counts_limit(view, lambda size: ceil(size * share) - 1),)

    @classmethod
    def example(cls) -> Example:
        """Return a group of five illnesses, and one of two, of which a fact excludes one."""
        return two_age_groups(
            cls("0.6", 1),
            "illness",
            (
                ("flu", "gout", "ulcer", "cold", "HIV"),
                "the worst fact is that Ann has the flu if a person of 30-39 has it. Either she does, or both do not",
                "(1/5)/(1/5 + 4/5 · 1/2)",
            ),
            (("flu", "gout"), "a person does not have the flu, so it is gout", "1/1"),
        )

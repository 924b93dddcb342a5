"""A worked example of every principle: a table small enough to count by hand, in which one group is fine and one is not.

The levels and verdicts that are shown with it are measured; what stands here is how a person would work them out.
"""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.principles.alpha_k_anonymity import AlphaKAnonymity
from sfumato.principles.base import Principle
from sfumato.principles.beta_likeness import BetaLikeness
from sfumato.principles.delta_disclosure import DeltaDisclosure
from sfumato.principles.delta_l_diversity import DeltaLDiversity
from sfumato.principles.dissimilarity import Dissimilarity
from sfumato.principles.distinct_l_diversity import DistinctLDiversity
from sfumato.principles.entropy_l_diversity import EntropyLDiversity
from sfumato.principles.epsilon_m_anonymity import EpsilonMAnonymity
from sfumato.principles.frequency_l_diversity import FrequencyLDiversity
from sfumato.principles.k_anonymity import KAnonymity
from sfumato.principles.k_e_anonymity import KEAnonymity
from sfumato.principles.n_t_closeness import NTCloseness
from sfumato.principles.p_sensitivity import PSensitivity
from sfumato.principles.recursive_l_diversity import RecursiveLDiversity
from sfumato.principles.t_closeness import TCloseness
from sfumato.principles.variance_control import VarianceControl


@dataclass(frozen=True)
class Group:
    """One group of an example: what its rows share, their secrets, and how its level comes about."""

    key: tuple[str, ...]
    """The values of the quasi-identifiers."""
    secrets: tuple[str | int, ...]
    why: str
    """What there is to count, in words."""
    sum: str
    """The level as arithmetic: numbers, + − · / ^, |…|, ( ), ln and exp."""


@dataclass(frozen=True)
class Example:
    """A principle with parameters, and a table of a few people to measure it on."""

    principle: Principle
    quasi_identifiers: tuple[str, ...]
    sensitive: str
    groups: tuple[Group, ...]

    def columns(self) -> dict[str, list[str | int]]:
        """The table, column by column, one row per person.

        >>> EXAMPLES["k-anonymity"].columns()["age"]
        ['20-29', '20-29', '20-29', '30-39', '30-39']
        """
        found: dict[str, list[str | int]] = {
            name: [group.key[place] for group in self.groups for _ in group.secrets]
            for place, name in enumerate(self.quasi_identifiers)
        }
        found[self.sensitive] = [secret for group in self.groups for secret in group.secrets]
        return found


def _by_age(
    principle: Principle,
    sensitive: str,
    young: tuple[tuple[str | int, ...], str, str],
    old: tuple[tuple[str | int, ...], str, str],
) -> Example:
    """Two groups, told apart by age alone."""
    return Example(principle, ("age",), sensitive, (Group(("20-29",), *young), Group(("30-39",), *old)))


EXAMPLES: dict[str, Example] = {
    example.principle.name: example
    for example in (
        _by_age(
            KAnonymity(k=3),
            "illness",
            (("flu", "gout", "ulcer"), "three people", "3"),
            (("flu", "ulcer"), "two people: whoever knows one of them has found the other", "2"),
        ),
        _by_age(  # the salaries of paper 003, Fig. 1
            Dissimilarity(epsilon=10, delta="0.5", k=3),
            "salary",
            ((490, 500, 510, 1000), "500 has 490 and 510 within 10 of it: 2 of the 3 others", "2/3"),
            ((500, 600, 700), "no salary has another within 10 of it: 0 of the 2 others", "0/2"),
        ),
        _by_age(
            AlphaKAnonymity(alpha="0.5", k=3),
            "illness",
            (("flu", "flu", "flu", "gout"), "flu is the illness of 3 of the 4", "3/4"),
            (("flu", "gout", "ulcer"), "every illness is that of 1 of the 3", "1/3"),
        ),
        _by_age(
            DistinctLDiversity(l=3),
            "illness",
            (("flu", "gout", "ulcer"), "flu, gout and ulcer are three", "3"),
            (("flu", "flu", "gout"), "flu and gout are two", "2"),
        ),
        _by_age(
            FrequencyLDiversity(l=2),
            "illness",
            (("flu", "flu", "gout", "ulcer"), "flu is the illness of 2 of the 4", "4/2"),
            (("flu", "flu", "flu", "gout"), "flu is the illness of 3 of the 4", "4/3"),
        ),
        _by_age(
            EntropyLDiversity(l=2),
            "illness",
            (
                ("flu", "flu", "gout", "gout"),
                "two illnesses, each that of 2 of the 4; exp of the entropy",
                "exp(−2·(2/4)·ln(2/4))",
            ),
            (
                ("flu", "flu", "flu", "gout"),
                "two illnesses, but one is that of 3 of the 4; exp of the entropy",
                "exp(−(3/4)·ln(3/4) − (1/4)·ln(1/4))",
            ),
        ),
        _by_age(
            RecursiveLDiversity(c=2, l=2),
            "illness",
            (("flu", "flu", "gout", "ulcer"), "the counts are 2, 1 and 1: the first over the sum of the rest", "2/(1 + 1)"),
            (("flu", "flu", "flu", "gout"), "the counts are 3 and 1: the first over the rest", "3/1"),
        ),
        _by_age(
            PSensitivity(p=2, k=3),
            "illness",
            (("flu", "flu", "gout"), "flu and gout are two", "2"),
            (("gout", "gout", "gout"), "three people, and all of them have gout", "1"),
        ),
        _by_age(  # paper 003, Examples 1 and 2
            EpsilonMAnonymity(epsilon=15, m=2),
            "salary",
            ((50, 80), "within 15 of 50 lies 1 of the 2, itself", "2/1"),
            ((40, 50, 60), "within 15 of 50 lie all 3 of the 3", "3/3"),
        ),
        _by_age(  # paper 003: the groups that refute its claim to be monotone
            DeltaLDiversity(delta="7.5", l=2),
            "salary",
            ((40, 60), "40 ± 7.5 ends at 47.5, before 60 ± 7.5 begins: similar to 40 is 1 of the 2, itself", "2/1"),
            (
                (40, 50, 60, 80),
                "50 ± 7.5 overlaps 40 ± 7.5 and 60 ± 7.5: similar to 50 are 3 of the 4",
                "4/3",
            ),
        ),
        _by_age(
            KEAnonymity(k=3, e=100),
            "salary",
            ((500, 600, 700), "three salaries, from 500 to 700", "700 − 500"),
            ((490, 500, 510), "three salaries, but only from 490 to 510", "510 − 490"),
        ),
        _by_age(
            VarianceControl(variance=1000),
            "salary",
            ((500, 600, 700), "the mean is 600", "((500 − 600)^2 + (600 − 600)^2 + (700 − 600)^2)/3"),
            ((490, 500, 510), "the mean is 500", "((490 − 500)^2 + (500 − 500)^2 + (510 − 500)^2)/3"),
        ),
        _by_age(
            TCloseness(t="0.2"),
            "illness",
            (
                ("flu", "flu", "flu", "flu", "gout", "gout"),
                "flu and gout are 4/6 and 2/6 of the group, 4/8 and 4/8 of the table; half the differences' sum must move",
                "(|4/6 − 4/8| + |2/6 − 4/8|)/2",
            ),
            (
                ("gout", "gout"),
                "flu and gout are 0/2 and 2/2 of the group, 4/8 and 4/8 of the table",
                "(|0/2 − 4/8| + |2/2 − 4/8|)/2",
            ),
        ),
        Example(
            NTCloseness(n=4, t="0.2"),
            ("town", "age"),
            "illness",
            (
                Group(
                    ("Lyon", "20-29"),
                    ("flu", "gout"),
                    "flu and gout are 1/2 each of the group, and 2/4 each of Lyon, which holds 4",
                    "(|1/2 − 2/4| + |1/2 − 2/4|)/2",
                ),
                Group(
                    ("Lyon", "30-39"),
                    ("flu", "gout"),
                    "the same",
                    "(|1/2 − 2/4| + |1/2 − 2/4|)/2",
                ),
                Group(
                    ("Nice", "30-39"),
                    ("ulcer", "ulcer"),
                    "Nice holds 2, too few; of the 4 who are 30-39 ulcer is 2/4, flu and gout 1/4 each",
                    "(|2/2 − 2/4| + |0/2 − 1/4| + |0/2 − 1/4|)/2",
                ),
            ),
        ),
        _by_age(
            BetaLikeness(beta="0.5"),
            "illness",
            (
                ("flu", "flu", "flu", "flu", "gout", "gout"),
                "flu gains most: 4/8 of the table, 4/6 of the group",
                "(4/6 − 4/8)/(4/8)",
            ),
            (("gout", "gout"), "gout gains most: 4/8 of the table, 2/2 of the group", "(2/2 − 4/8)/(4/8)"),
        ),
        _by_age(
            DeltaDisclosure(delta="0.2"),
            "illness",
            (
                ("flu", "flu", "flu", "flu", "gout", "gout"),
                "gout is farthest from its share: 3/8 of the table, 2/6 of the group",
                "|ln((2/6)/(3/8))|",
            ),
            (
                ("flu", "gout"),
                "gout is farthest from its share: 3/8 of the table, 1/2 of the group",
                "|ln((1/2)/(3/8))|",
            ),
        ),
    )
}
"""One example per principle, under its name in a config."""

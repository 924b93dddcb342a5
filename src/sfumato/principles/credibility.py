"""Credibility: a bound on what attackers believe who know how secrets go together with quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Table
from sfumato.errors import ColumnError, ParameterError
from sfumato.exact import Number, Ratios
from sfumato.exact.logarithms import NEAR
from sfumato.exact.thresholds import nearest_float
from sfumato.parameters import ParameterRange
from sfumato.principles.cell_evidence import CellEvidence
from sfumato.principles.certificate import Certificate, share_certificate
from sfumato.principles.cliques import Clique
from sfumato.principles.population_matches import check_population
from sfumato.principles.principle import Measurement, On, Part, Principle, exactly
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, ExampleGroup

Integers = NDArray[np.int64]

_MOST_PAIRS = 1 << 24
"""The most pairs of secrets that are compared, over all groups; they take some hundred megabytes."""


@dataclass(frozen=True)
class Credibility(Principle):
    """No secret of a group is believed of anybody with more than a limited confidence, given what a model of secrets says.

    In plain words: who knows which secrets are usual for people of some age, sex or occupation, and combines this with the
    counts of a group, is sure of nobody's secret beyond the confidence.

    The model is naive Bayes, learned from a population that the schema declares with its sensitive columns; it may be the
    table itself. The evidence of a value for secret s rather than t is the ratio of its smoothed frequencies among the
    people with s and with t. The spread Λ(s,t) of a group is the product, over its published cells, of the largest evidence
    of a value that the cell covers over the smallest. The level is the largest c(s)/Σ c(t)/Λ(s,t) over the secrets s of the
    group, where c(t) people of the group have t, and Λ(s,s) = 1. It is exactly the largest probability that an attacker
    gives to a person's secret whose likelihood ratios between people of the group are at most Λ, and to whom all ways to
    deal the secrets of the group out to its people count by the product of their likelihoods. So it is never below the
    share of the most frequent secret. Levels depend on who has which secret. Therefore a release states the confidence in
    place of them.

    - `confidence`: the largest probability with which a secret may be believed, above 0 and at most 1.
    - `smoothing`: what the model adds to each count, on average over the values of a quasi-identifier.
    - `parts`: numbers, dates and ordinal values with more distinct values are divided into so many parts of about as many
      people each.

    Not monotone: a cell that covers more people covers more that speaks for and against a secret. If the young mostly have
    flu and the old gout, a group of the young with one of each has the level 1/2, and so has one of the old, but in their
    union the old are believed to have gout.

    Does not protect against attackers whose evidence is stronger than that of the model, such as who knows how
    quasi-identifiers go together in their effect on a secret, who knows individual secrets, or who reasons from how the
    groups were found. It says nothing about secrets that differ but are close.

    Source: A principle of sfumato; the attack is that of Kifer (2009), Attacks on privacy and deFinetti's theorem, SIGMOD.

    >>> Credibility("0.8").label
    'credibility (confidence = 0.8, smoothing = 1, parts = 20)'
    """

    confidence: Number
    smoothing: Number = 1
    parts: int = 20
    on: On = None

    name: ClassVar[str] = "credibility"
    title: ClassVar[str] = "credibility"
    family: ClassVar[str] = "distribution"
    scope: ClassVar[Literal["each"]] = "each"
    # a verdict depends on the group and the population
    relative: ClassVar[bool] = False
    uses_population: ClassVar[bool] = True
    units: ClassVar[Literal["rows"]] = "rows"
    ranges: ClassVar[Mapping[str, ParameterRange]] = {
        "confidence": ParameterRange("number", "share", "lower", usual=("0.5", "0.95"), most=1, above=True),
        "smoothing": ParameterRange("number", "factor", usual=("0.5", 10), most=1_000_000, above=True),
        "parts": ParameterRange("whole", "values", usual=(5, 100), least=2),
    }

    def __post_init__(self) -> None:
        self.check_ranges()

    @property
    def implied_k(self) -> int:
        """The level of a group of n people is at least 1/n."""
        return ceil(1 / exactly(self.confidence))

    def check_table(self, table: Table, attributes: Sequence[tuple[str, ...]]) -> None:
        """Raise an error if the table has no population with its secrets, or is not part of it."""
        people = check_population(table, self.title)
        for names in attributes:
            view = View(table, names)
            columns = people.data.column_names
            lacking = [name for name in view.components if name not in columns]
            if lacking:
                raise ColumnError(
                    f"the population has no column {lacking[0]!r}, and {self.title} learns from it which secrets are usual",
                    remedy="Give a population with the sensitive columns; the table itself will do.",
                    file=people.source,
                    column=lacking[0],
                )
            known = np.zeros(len(view.attribute), bool)
            secrets = view.secrets_of_people
            known[secrets[secrets >= 0]] = True
            if not known.all():
                label = view.attribute.label(int(np.argmin(known)))
                raise ColumnError(
                    f"nobody of the population has the value {label} of {view.attribute.name!r}, so the people of the table "
                    "are not all among those of the population",
                    remedy="Give a population that contains everybody of the table, with values written in the same way.",
                    file=people.source,
                    column=view.attribute.name,
                    value=label,
                )

    def measure(self, view: View) -> Measurement:
        """Return for each group the largest probability with which a secret is believed.

        Cost: the pairs of secrets of each group times the values that its cells cover.
        """
        pairs = _Pairs.of(view, self.title)
        evidence = CellEvidence.of(view, exactly(self.smoothing), self.parts)
        h, limit = view.histogram, exactly(self.confidence)
        spreads = evidence.spreads(pairs.group, h.values[pairs.one], h.values[pairs.other])
        believed = h.counts / np.add.reduceat(h.counts[pairs.other] / spreads, pairs.first)
        level = np.maximum.reduceat(believed, h.starts)
        level[~evidence.covered] = np.inf  # a cell that covers nobody is not that of any person
        holds = level <= float(limit)
        # floats decide what is clear; with very little smoothing they may be no numbers
        for group in np.flatnonzero(~(np.abs(level - float(limit)) >= NEAR)).tolist():
            entries = range(int(h.offsets[group]), int(h.offsets[group + 1]))
            secrets = [(int(h.values[entry]), int(h.counts[entry])) for entry in entries]
            exact = _exact_level(evidence, group, secrets)
            level[group], holds[group] = nearest_float(exact), exact <= limit
        population = view.table.schema.population
        if population is not None and population.recodings is not None:
            return Measurement((_published_part(holds, limit),))
        return Measurement((Part("confidence", level, holds, "at most", limit),))

    def cut_order(self, view: View) -> NDArray[np.float64]:
        """Return the mean spread of each cell, in logarithms, over all pairs of people of the group."""
        pairs = _Pairs.of(view, self.title)
        evidence = CellEvidence.of(view, exactly(self.smoothing), self.parts)
        h = view.histogram
        weights = h.counts[pairs.one] * h.counts[pairs.other] / h.sizes[pairs.group] ** 2
        with np.errstate(all="ignore"):
            each = [column.spreads(pairs.group, h.values[pairs.one], h.values[pairs.other]) for column in evidence.columns]
        finite = [np.nan_to_num(spreads, nan=np.finfo(float).max) for spreads in each]
        return np.column_stack([np.bincount(pairs.group, weights * np.log(spreads)) for spreads in finite])

    def certificate(self, view: View) -> Certificate | None:
        """Rule out a confidence below the share of the most frequent secret: some group has at least that share."""
        counts = view.table_counts
        most = int(np.argmax(counts))
        return share_certificate(view, Clique(np.array([most]), int(counts[most]), True), 1 / exactly(self.confidence))

    @classmethod
    def example(cls) -> Example:
        """Return a group of people who are alike, and one of two people whom the model tells apart."""
        return Example(
            cls(confidence="0.6"),
            ("age",),
            "illness",
            (
                ExampleGroup(
                    ("1", "20-29"),
                    ("flu", "gout"),
                    "both are 20-29, so the model tells nobody apart, and Λ is 1",
                    "1/(1 + 1/1)",
                    people=(("20-29",), ("20-29",)),
                ),
                ExampleGroup(
                    ("2", "{20-29; 60-69}"),
                    ("flu", "gout"),
                    "with 1 added to each count, the evidence for flu is 4/2 at 20-29 and 2/4 at 60-69, so Λ is 4",
                    "1/(1 + 1/4)",
                    people=(("20-29",), ("60-69",)),
                ),
            ),
            population=((("20-29", "flu"), 3), (("20-29", "gout"), 1), (("60-69", "flu"), 1), (("60-69", "gout"), 3)),
        )


def _published_part(holds: NDArray[np.bool_], limit: Fraction) -> Part:
    """Return the verdicts for a published table, without the levels: the confidence where it suffices, and 1 elsewhere.

    Levels depend on who has which secret, which the counts of groups do not, so a reader could test guesses with them.
    """
    levels = Ratios(np.where(holds, limit.numerator, 1).astype(object), np.where(holds, limit.denominator, 1).astype(object))
    return Part("confidence", levels, holds, "at most", limit)


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Every entry of the histogram with every entry of its group, itself included."""

    one: Integers
    other: Integers
    group: Integers
    first: Integers
    """For each entry of the histogram where its pairs begin."""

    @classmethod
    def of(cls, view: View, title: str) -> _Pairs:
        """Return the pairs of a view; too many are an error."""
        h = view.histogram
        total = int((h.distinct**2).sum())
        if total > _MOST_PAIRS:
            raise ParameterError(
                f"{title}: the groups have {total:,} pairs of distinct values of {view.attribute.name!r}, too many",
                remedy="Publish fewer and coarser values, such as ranges; for numbers that are near one another require "
                "(ε,δ)^k-dissimilarity.",
                key="on",
                value=view.attribute.name,
            )
        pairs = h.distinct[h.group]
        first = np.cumsum(pairs) - pairs
        one = np.repeat(np.arange(len(h.values)), pairs)
        other = np.arange(len(one)) - first[one] + h.starts[h.group[one]]
        return cls(one, other, h.group[one], first)


def _exact_level(evidence: CellEvidence, group: int, secrets: Sequence[tuple[int, int]]) -> Fraction:
    """Return the level of a group of some secrets, each with the number of people who have it."""
    return max(
        count / sum((number / evidence.exact_spread(group, one, other) for other, number in secrets), start=Fraction(0))
        for one, count in secrets
    )

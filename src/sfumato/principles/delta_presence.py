"""δ-presence: a limited share of the people who match a group are in the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Table
from sfumato.errors import ParameterError
from sfumato.exact import Number, Ratios, written
from sfumato.parameters import ParameterRange
from sfumato.principles.certificate import Certificate
from sfumato.principles.population_matches import Matches, check_population, population_matches
from sfumato.principles.principle import Measurement, Part, Principle, exactly
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, ExampleGroup

Integers = NDArray[np.int64]

_AT_ONCE = 512
"""The number of combinations of cells whose people are compared with those of all others at a time; bounds memory."""


@dataclass(frozen=True)
class DeltaPresence(Principle):
    """Of the people of the population who match a group, the share who are in the table is from δmin to δmax.

    In plain words: who knows that somebody is in the population, such as a register, can say neither with more than a
    probability of δmax that the person is in the table, nor, if δmin is above 0, that the person is not.

    A person matches a group if the published cells cover all quasi-identifiers. Groups with the same cells count together.
    If the cells of different groups cover no person in common, the share is the number of rows over the number of people
    who match. If they overlap, as they may under local recoding, nobody can tell from the release which people a row of
    another group is about. Then the share is a range that contains the true one: each other group has at most as many people
    here as it has rows, and as there are people who match both; and at least as many as its rows exceed the people who match
    it elsewhere. The upper end must be at most δmax, the lower end at least δmin. With δmin above 0, everybody of the
    population must match some group: the source counts those who match none as known to be absent.

    - `delta_max`: the largest share of the people who match a group that may be in the table.
    - `delta_min`: the smallest share; 0 does not limit it.

    Not monotone: of 10 people aged 30 and of 10 aged 40 one each is in the table, and of 2 aged 35 both are. The groups 30
    and 40 have the share 1/10, their union [30, 40] has up to 4/22.

    Does not protect against learning the secret of somebody who is known to be in the table, or of everybody in a group:
    sensitive values are not considered. The attacker is assumed to find all people who match a group equally likely to be in
    the table.

    Source: Nergiz, Atzori & Clifton (2007), Hiding the presence of individuals from shared databases, SIGMOD.

    >>> DeltaPresence("0.5").label
    'δ-presence (delta_max = 0.5, delta_min = 0)'
    """

    delta_max: Number
    delta_min: Number = 0

    name: ClassVar[str] = "delta-presence"
    title: ClassVar[str] = "δ-presence"
    family: ClassVar[str] = "membership"
    scope: ClassVar[Literal["groups"]] = "groups"
    uses_population: ClassVar[bool] = True
    compares_groups: ClassVar[bool] = True
    units: ClassVar[Literal["rows"]] = "rows"
    ranges: ClassVar[Mapping[str, ParameterRange]] = {
        "delta_max": ParameterRange("number", "share", "lower", usual=("0.1", "0.9"), most=1, above=True),
        "delta_min": ParameterRange("number", "share", "higher", usual=(0, "0.5"), most=1),
    }

    def __post_init__(self) -> None:
        self.check_ranges()
        low, high = exactly(self.delta_min), exactly(self.delta_max)
        if low > high:
            raise ParameterError(
                f"{self.name}: delta_min = {written(low)} is larger than delta_max = {written(high)}",
                remedy="No share is between them: give delta_min at most delta_max.",
                key="delta_min",
                value=low,
            )

    def check_table(self, table: Table, attributes: Sequence[tuple[str, ...]]) -> None:
        """Raise an error if the table has no population, or is not part of it."""
        del attributes
        check_population(table, self.title)

    def measure(self, view: View) -> Measurement:
        """Return the largest share of the people of each group who may be in the table and, if required, the smallest.

        Cost: that of `population_matches`, and the pairs of combinations of cells that some person matches.
        """
        matches = population_matches(view)
        rows = np.bincount(matches.of_group, view.groups.sizes, len(matches.kinds)).astype(np.int64)
        people = matches.people
        least, most = _people_present(matches, rows, people)
        here = matches.of_group
        parts = [Part.at_most("share", Ratios(most[here], people[here]), exactly(self.delta_max))]
        if self.delta_min:
            parts.append(Part.at_least("least share", Ratios(least[here], people[here]), exactly(self.delta_min)))
            absent = np.full(len(here), matches.unmatched)
            parts.append(Part.at_most("people who match no group", Ratios.whole(absent), 0))
        return Measurement(tuple(parts))

    def certificate(self, view: View) -> Certificate | None:
        """Return none: a method may publish other cells than the smallest ones, and the share depends on the cells."""
        del view
        return None

    @classmethod
    def example(cls) -> Example:
        """Return a group in which one of four people is in the table, and one in which both people are."""
        return Example(
            cls(delta_max="0.5"),
            ("age",),
            "illness",
            (
                ExampleGroup(("20-29",), ("flu",), "four people are 20-29, and one of them is in the table", "1/4"),
                ExampleGroup(("30-39",), ("gout", "flu"), "two people are 30-39: it is certain that they are here", "2/2"),
            ),
            population=((("20-29",), 4), (("30-39",), 2)),
        )


def _people_present(matches: Matches, rows: Integers, people: Integers) -> tuple[Integers, Integers]:
    """Return for each combination of cells the least and the largest number of the people who match it in the table.

    `rows`: the rows that have the combination. `people`: how many people match it.
    """
    from scipy import sparse

    counts = [len(kinds) for kinds in matches.kinds]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    flat = np.concatenate([np.empty(0, np.int64), *matches.kinds])
    shape = len(counts), len(matches.weights)
    matched = sparse.csr_matrix((np.ones(len(flat), np.int64), flat, offsets), shape)
    weighted = sparse.csr_matrix((matches.weights[flat], flat, offsets), shape).T.tocsc()
    least, most = np.zeros(len(counts), np.int64), np.zeros(len(counts), np.int64)
    for start in range(0, len(counts), _AT_ONCE):
        # for each pair of combinations the number of people who match both
        both = (matched[start : start + _AT_ONCE] @ weighted).tocoo()
        here, other, shared = both.row + start, both.col, both.data
        np.add.at(most, here, np.minimum(rows[other], shared))
        # rows that do not fit among the people who match the other combination alone
        np.add.at(least, here, np.maximum(0, rows[other] - (people[other] - shared)))
    return least, np.minimum(most, people)

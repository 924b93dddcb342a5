"""A setting in steps: a column for each level of each attribute, so that a rule of levels is a rule of disclosed steps.

Who is consistent with a node of a hierarchy is consistent with the coarser ones, and the shares of the sensitivity that the
steps add sum to that of the finest. So a cell that is disclosed on a level fits the same individuals, and weighs the same,
as if its node on that level and all coarser ones were disclosed one by one. Withholding is the case of one step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import lcm
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.disclosure.consistency.consistency import AttributePairing, EqualityConsistency
from sfumato.disclosure.generalized.attribute_levels import AttributeLevels, CellLabels
from sfumato.disclosure.matching.attribute_matching import join_pairings
from sfumato.disclosure.matching.matching import Matching, Rule
from sfumato.disclosure.rules.choice_space import Steps
from sfumato.disclosure.sensitivity.sensitivity_weights import SensitivityWeights
from sfumato.errors import ParameterError

if TYPE_CHECKING:
    from sfumato.disclosure.setting import Setting

Levels = NDArray[np.int64]
"""The level on which attribute j of record i is disclosed: 0 as it is; the height of its hierarchy, or 1 without one, if it
is withheld or missing."""


@dataclass(frozen=True, eq=False)
class LevelSteps:
    """The steps of a setting with attributes that may be generalized."""

    setting: Setting

    @cached_property
    def of_attribute(self) -> list[AttributeLevels | None]:
        """The levels of each attribute; None if its values are disclosed or withheld."""
        return [self.setting.levels.get(name) for name in self.setting.attributes]

    @cached_property
    def heights(self) -> NDArray[np.int64]:
        """For each attribute the level on which it is withheld."""
        return np.array([1 if levels is None else levels.height for levels in self.of_attribute])

    @cached_property
    def attribute(self) -> NDArray[np.int64]:
        """The attribute of each step."""
        return np.repeat(np.arange(len(self.heights)), self.heights)

    @cached_property
    def level(self) -> NDArray[np.int64]:
        """The level of each step; the coarsest of an attribute comes first."""
        return np.concatenate([np.arange(height - 1, -1, -1) for height in self.heights.tolist()])

    @cached_property
    def steps(self) -> Steps:
        """The steps with their information."""
        unit = lcm(*self.heights.tolist())
        units = np.empty((self.setting.records, len(self.attribute)), np.int64)
        for s, (j, level) in enumerate(zip(self.attribute.tolist(), self.level.tolist(), strict=True)):
            levels = self.of_attribute[j]
            up = 1 if levels is None else np.append(levels.coarser[:, level], levels.height)[levels.column.codes]
            units[:, s] = unit // self.heights[j] * (up - level)
        return Steps(self.attribute, units, unit)

    def check(self, per: str) -> None:
        """Raise an error if attributes may be generalized, and a number of values per table or attribute is requested."""
        if self.setting.levels and per != "record":
            raise ParameterError(
                f"values are generalized per record, not per {per}",
                remedy='Pass per = "record", or generalize nothing.',
                key="generalize",
                value=per,
            )

    def labels_at(self, levels: Levels) -> list[CellLabels]:
        """For each attribute the labels of its coarser levels, and which of them each record gets."""
        none = CellLabels((), np.full(len(levels), -1))
        return [none if each is None else each.labels_at(levels[:, j]) for j, each in enumerate(self.of_attribute)]

    @cached_property
    def pairings(self) -> list[list[AttributePairing]]:
        """For each dictionary and attribute the pairing of its labels, or of its values if it has no levels."""
        setting, schema = self.setting, self.setting.table.schema
        return [
            [
                (setting.consistency.get(name) or EqualityConsistency()).pair(setting.table, name, dictionary)
                if levels is None or not levels.column.size  # without any value there is no label to pair
                else levels.pair(dictionary, schema)
                for name, levels in zip(setting.attributes, self.of_attribute, strict=True)
            ]
            for dictionary in setting.dictionaries
        ]

    @cached_property
    def matchings(self) -> tuple[Matching, ...]:
        """The records matched with each dictionary, step by step. A step is missing where it has no label of its own."""
        return tuple(
            self._joined([self._at(pairings[j], j, level) for j, level in zip(self.attribute, self.level, strict=True)], d)
            for d, pairings in enumerate(self.pairings)
        )

    def generalized(self, levels: Levels, dictionary: int) -> Matching:
        """The records as a rule discloses them matched with a dictionary, attribute by attribute.

        What is withheld has its value: a rule of booleans withholds it.
        """
        pairings = self.pairings[dictionary]
        return self._joined([self._at(pairings[j], j, levels[:, j]) for j in range(len(self.heights))], dictionary)

    def _joined(self, pairings: list[AttributePairing], dictionary: int) -> Matching:
        setting = self.setting
        base = setting.matchings[dictionary]
        return join_pairings(pairings, setting.dictionaries[dictionary].weights, base.own, base.misfits)

    def _at(self, pairing: AttributePairing, j: int, level: int | Levels) -> AttributePairing:
        """The pairing of an attribute with each record on a level, which may differ by record."""
        levels = self.of_attribute[j]
        if levels is None:
            return pairing
        size, codes = levels.column.size, levels.column.codes
        level = np.broadcast_to(level, codes.shape)
        shown = np.where(level < levels.height, level, 0)
        numbers = np.append(pairing.record_values, np.int32(-1))
        # a value that counts as missing has no levels either
        value = numbers[np.where(codes < size, codes, -1)]
        there = (value >= 0) & np.append(levels.distinct, np.zeros((1, levels.height), bool), axis=0)[codes, shown]
        values = np.where(there, numbers[np.where(there, shown * size + codes, -1)], np.int32(-1))
        return pairing._replace(record_values=values)

    @cached_property
    def phi(self) -> SensitivityWeights:
        """Φ of disclosed steps: each reveals its part of the sensitivity of the value."""
        base, at = self.setting.phi, self.attribute
        shares = np.ones((self.setting.records, len(at)))
        for s, (j, level) in enumerate(zip(at.tolist(), self.level.tolist(), strict=True)):
            levels = self.of_attribute[j]
            if levels is not None:
                shares[:, s] = np.append(levels.step_shares()[:, level], 0.0)[levels.column.codes]
        cells = np.multiply(base.cells[:, at], shares, out=np.zeros(shares.shape), where=shares > 0)  # 0·∞ is 0
        triples = {
            (one, two, three): weight
            for places, weight in base.triples.items()
            for one in np.flatnonzero(at == places[0]).tolist()
            for two in np.flatnonzero(at == places[1]).tolist()
            for three in np.flatnonzero(at == places[2]).tolist()
        }
        return replace(base, cells=cells, pairs=base.pairs[np.ix_(at, at)], triples=triples, shares=shares)

    def levels_of(self, rule: Rule) -> Levels:
        """The level of each cell under a closed rule of steps: that of the finest step that it discloses."""
        levels = np.tile(self.heights, (len(rule), 1))
        for s, (j, level) in enumerate(zip(self.attribute.tolist(), self.level.tolist(), strict=True)):
            levels[rule[:, s], j] = level
        return levels

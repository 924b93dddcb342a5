"""The loss of every choice of a record's cells: one table per record, over all masks of its candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.disclosure.matching.matching import Matching, Rule
from sfumato.disclosure.rules.choice_space import ChoiceSpace, Steps
from sfumato.disclosure.sensitivity.sensitivity_weights import SensitivityWeights
from sfumato.errors import ParameterError
from sfumato.kernels.disclosure_choices import (
    CONSTANT,
    PRODUCT,
    SUM,
    add_agreements,
    add_harm,
    agreements,
    multiply,
    sensitivities,
    weigh_choices,
    widen_choices,
)

MOST_ATTRIBUTES = 62
"""A choice is a mask in 64 bits: one bit is the sign, and one stays free for the sum of two."""
TABLE = 20
"""A record with more choices than two to the power of this is searched by branch and bound: a table has all of them."""
OWN_FUNCTION = 12
"""A user's own sensitivity is called for every choice, so this many candidates are the most."""
KEPT = 64
"""The number of groups of records with the same common values whose patterns are cached."""
SPACES = 1 << 23
"""The number of choices, over all kinds of records, that are kept."""

LARGEST = 650.0
"""e to the power of this can still be summed over all records of any table."""

FORMS = {"sum": SUM, "product": PRODUCT, "constant": CONSTANT}


@dataclass(frozen=True, eq=False)
class Agreement:
    """The candidates on which the individuals of a dictionary agree with one record: distinct masks and their weights."""

    masks: NDArray[np.int64]
    sizes: NDArray[np.float64]
    own: int
    """The agreement of the record's own individual; -1 if the attacker picks any of ρ alike."""
    own_weight: float


class DictionarySide:
    """One dictionary next to the records, with scratch space and caches for agreements.

    Many records share their values in a few attributes, and most individuals agree with the most common values. The
    agreement in these `common` attributes is computed once per group of records that share them.
    """

    def __init__(self, matching: Matching, common: NDArray[np.int64]) -> None:
        self.matching = matching
        self.common = common
        self.common_mask = int((1 << common).sum()) if len(common) else 0
        self.extra = np.zeros(matching.individuals, np.int64)
        self.touched = np.empty(matching.individuals, np.int64)
        self.patterns: dict[bytes, tuple[NDArray[Any], ...]] = {}

    @cached_property
    def absent(self) -> NDArray[np.int64]:
        """For every individual the attributes without a value, as a mask."""
        masks = np.zeros(self.matching.individuals, np.int64)
        for j in range(self.matching.attributes):
            masks |= (self.matching.dictionary_values[:, j] < 0).astype(np.int64) << j
        return masks

    def _patterns(self, row: NDArray[np.int32]) -> tuple[NDArray[Any], ...]:
        # records are visited in the order of their common values, so the oldest entry is not needed again
        key = row[self.common].tobytes()
        if key not in self.patterns:
            if len(self.patterns) >= KEPT:
                del self.patterns[next(iter(self.patterns))]
            masks = self.absent.copy()
            add_agreements(self.matching.index, row, self.common, masks)
            patterns, pattern_of, sizes = np.unique(masks, return_inverse=True, return_counts=True)
            self.patterns[key] = patterns, pattern_of.astype(np.int32), sizes.astype(np.float64), np.empty_like(patterns)
        return self.patterns[key]

    def _meet(self, record: int, candidates: NDArray[np.int64], places: NDArray[np.int64]) -> tuple[int, int, float]:
        """Fill `extra` and `touched`; return their number, the own individual's agreement and its weight."""
        row = self.matching.values[record]
        patterns, pattern_of, _, packed = self._patterns(row)
        count = agreements(
            self.matching.index, row, candidates, places, self.common_mask, patterns, packed, self.extra, self.touched
        )
        if not len(self.matching.weights):  # the attacker picks anybody: -1 has every bit, so nothing is ruled out
            return count, -1, 1.0
        own = int(self.matching.own[record])
        if own < 0:
            return count, 0, 0.0
        return count, int(packed[pattern_of[own]] + self.extra[own]), float(self.matching.weights[own])

    def add_harm(
        self,
        record: int,
        candidates: NDArray[np.int64],
        space: ChoiceSpace,
        false_harm: float,
        share: float,
        work: NDArray[np.float64],
        out: NDArray[np.float64],
    ) -> None:
        """Add to each choice's harm, as a share of Φ, that in this dictionary, times the dictionary's share."""
        count, own, own_weight = self._meet(record, candidates, space.places)
        own = own if own < 0 else int(space.masks[own])
        _, pattern_of, sizes, packed = self._patterns(self.matching.values[record])
        misfits = self.matching.misfits
        layers = np.empty((misfits, len(work)))
        weigh_choices(
            pattern_of, sizes, self.matching.weights, packed, self.extra, self.touched, count, space.radices, layers, work
        )
        add_harm(work, space.masks, own, own_weight, misfits, false_harm, share, out)

    def agreement(self, record: int, candidates: NDArray[np.int64]) -> Agreement:
        """The distinct agreements with a record, if it has too many candidates for a table."""
        count, own, own_weight = self._meet(record, candidates, 1 << np.arange(len(candidates), dtype=np.int64))
        _, pattern_of, _, packed = self._patterns(self.matching.values[record])
        masks = packed[pattern_of] + self.extra
        self.extra[self.touched[:count]] = 0
        distinct, which = np.unique(masks, return_inverse=True)
        sizes = np.bincount(which, self.matching.weights if len(self.matching.weights) else None, len(distinct))
        return Agreement(distinct, sizes.astype(np.float64), own, own_weight)


class Choices:
    """Records next to one or several dictionaries: the losses of all choices, record by record.

    Records with equal values and weights are computed once. `distinct` contains the first record of each class, ordered
    so that records with the same common values are consecutive; record i is in class `of_record[i]`. Class g has
    `counts[g]` values and `copies[g]` records. The columns of the matchings and of Φ are `steps`: by default one per
    attribute, so that a value is disclosed or withheld.
    """

    def __init__(
        self,
        matchings: Sequence[Matching],
        phi: SensitivityWeights,
        shares: Sequence[float] | None,
        steps: Steps | None = None,
    ) -> None:
        self.matchings, self.phi = matchings, phi
        self.shares = None if shares is None else np.array(shares, np.float64)
        first = matchings[0]
        self.steps = Steps.single(first.records, first.attributes) if steps is None else steps
        self.records, self.columns, self.attributes = first.records, first.attributes, self.steps.attributes
        self.present = first.everything
        common = _common(matchings)
        self.sides = [DictionarySide(matching, common) for matching in matchings]
        self.distinct, self.of_record = self._distinct(common)
        starts = np.searchsorted(self.steps.attribute, np.arange(self.attributes))
        values = np.logical_or.reduceat(self.present[self.distinct], starts, axis=1)
        self.counts = values.sum(axis=1).astype(np.int64)
        self.copies = np.bincount(self.of_record, minlength=len(self.distinct)).astype(np.int64)
        self.paired = bool((phi.pairs > 0).any())
        self._tables: dict[int, tuple[NDArray[np.float64], ...]] = {}
        self._spaces: dict[tuple[bytes, bytes], ChoiceSpace] = {}
        nothing = np.zeros(0, np.int64)
        self._last = -1, ChoiceSpace.of(nothing, nothing, 1)

    def _distinct(self, common: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        if self.phi.function is not None:
            return np.arange(self.records), np.arange(self.records)
        columns: list[NDArray[Any]] = [matching.values[:, common] for matching in self.matchings]
        columns += [matching.values for matching in self.matchings]
        columns += [matching.own[:, None] for matching in self.matchings if len(matching.weights)]
        same = np.column_stack([column.astype(np.int64) for column in columns])
        numbers = np.column_stack([np.where(self.present, self.phi.cells, 0.0), self.phi.scale])
        # weights are compared by their bits; + 0.0 turns -0.0 into 0.0
        same = np.ascontiguousarray(np.column_stack([same, (numbers + 0.0).view(np.int64)]))
        _, first, of_record = np.unique(same, axis=0, return_index=True, return_inverse=True)
        return first.astype(np.int64), of_record.reshape(-1).astype(np.int64)

    @property
    def dictionaries(self) -> int:
        """The number of losses per choice: one if the shares of the dictionaries are given, otherwise one per dictionary."""
        return 1 if self.shares is not None else len(self.matchings)

    @cached_property
    def high(self) -> float:
        """More than twice the sum of all finite losses: replaces an infinite loss where records are optimized together."""
        phi = self.phi
        most_harm = max(1.0, phi.false_identification)
        if phi.function is not None:
            tables = (self.sensitivity(record, self.candidates(record)) for record in range(self.records))
            return 1.0 + 2.0 * most_harm * sum(float(table[np.isfinite(table)].max(initial=0.0)) for table in tables)
        scale = np.where(np.isfinite(phi.scale), phi.scale, 0.0)
        between = float(phi.pairs[np.isfinite(phi.pairs)].sum())
        between += sum(weight for weight in phi.triples.values() if np.isfinite(weight))
        most = np.where(self.present & np.isfinite(phi.cells), phi.cells, 0.0).sum(axis=1) + between * scale
        if phi.form == "constant":
            most = scale
        return 1.0 + 2.0 * most_harm * float((np.exp(np.minimum(most, LARGEST)) if phi.form == "product" else most).sum())

    def candidates(self, record: int) -> NDArray[np.int64]:
        """The steps that a record has: the columns in which it has a value."""
        return np.flatnonzero(self.present[record])

    def space(self, record: int) -> ChoiceSpace:
        """All choices of a record; records with the same steps share them."""
        if self._last[0] == record:  # it is needed several times for each record
            return self._last[1]
        candidates = self.candidates(record)
        attribute, units = self.steps.attribute[candidates], self.steps.units[record, candidates]
        # which attributes they are does not matter, only which steps are of the same one
        key = np.diff(attribute).astype(bool).tobytes(), units.tobytes()
        if key not in self._spaces:
            if sum(len(space.masks) for space in self._spaces.values()) > SPACES:
                self._spaces.clear()
            self._spaces[key] = ChoiceSpace.of(attribute, units, self.steps.unit)
        self._last = record, self._spaces[key]
        return self._last[1]

    def tabled(self, record: int) -> bool:
        """Whether a table of all choices of a record is possible; otherwise they are searched."""
        return self.phi.function is not None or self.steps.number_of_choices(self.present[record]) <= 1 << TABLE

    def sensitivity(self, record: int, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """Φ of every choice."""
        if self.phi.function is not None:
            if len(candidates) > OWN_FUNCTION:
                raise ParameterError(
                    f"row {record + 1} has {len(candidates)} values; a custom sensitivity is called for every choice, "
                    f"which is possible for up to {OWN_FUNCTION} values",
                    remedy="Name fewer attributes, or use weights instead of a function.",
                    key="sensitivity",
                    value=len(candidates),
                )
            space = self.space(record)
            out = self._table(len(space.masks))[2]
            every = self.rule(widen(space.masks, candidates))
            out[:] = [self.phi.function(record, shown) for shown in every]
            return out
        space = self.space(record)
        out = self._table(len(space.masks))[2]
        between = self.phi.pairs_of(record, candidates)
        cells, scale = self.phi.cells[record, candidates], self.phi.scale[record]
        triples = self.phi.triples_of(record, candidates)
        form, first, radices = FORMS[self.phi.form], space.first, space.radices
        sensitivities(form, cells, between, triples, scale, self.paired, first, radices, out)
        return out

    def losses(self, record: int) -> NDArray[np.float64]:
        """The loss of every choice of a record, by dictionary and choice. The array is reused for the next record."""
        candidates, space = self.candidates(record), self.space(record)
        work, harm, _, out = self._table(len(space.masks))
        phi = self.sensitivity(record, candidates)
        false_harm = self.phi.false_identification
        if self.shares is not None:
            harm[:] = 0.0
            for side, share in zip(self.sides, self.shares, strict=True):
                if share > 0:
                    side.add_harm(record, candidates, space, false_harm, float(share), work, harm)
            multiply(phi, harm, out[0])
            return out
        for d, side in enumerate(self.sides):
            harm[:] = 0.0
            side.add_harm(record, candidates, space, false_harm, 1.0, work, harm)
            multiply(phi, harm, out[d])
        return out

    def agreements(self, record: int) -> tuple[NDArray[Any], ...]:
        """The agreements with a record that has too many candidates for a table, as the branch and bound takes them."""
        candidates = self.candidates(record)
        if any(matching.misfits for matching in self.matchings):
            raise ParameterError(
                f"row {record + 1} has {len(candidates)} values; with misfits, a best rule can be found for up to {TABLE}",
                remedy="Name fewer attributes, or allow no misfits.",
                key="misfits",
                value=len(candidates),
            )
        if len(candidates) > int(self.counts[self.of_record[record]]):
            number = self.steps.number_of_choices(self.present[record])
            raise ParameterError(
                f"a record has {number:,} choices of levels; a best one can be found among up to {1 << TABLE:,}",
                remedy="Generalize fewer attributes, or declare hierarchies with fewer levels.",
                key="generalize",
                value=number,
            )
        agreements_found = [side.agreement(record, candidates) for side in self.sides]
        return (
            np.concatenate([one.masks for one in agreements_found]),
            np.concatenate([one.sizes for one in agreements_found]),
            np.cumsum([0, *(len(one.masks) for one in agreements_found)]).astype(np.int64),
            np.array([one.own for one in agreements_found], np.int64),
            np.array([one.own_weight for one in agreements_found]),
        )

    def _table(self, size: int) -> tuple[NDArray[np.float64], ...]:
        if size not in self._tables:
            self._tables[size] = np.empty(size), np.empty(size), np.empty(size), np.empty((self.dictionaries, size))
        return self._tables[size]

    def rule(self, choices: NDArray[np.int64]) -> Rule:
        """The rule that makes the given choice, a mask over all columns, for each record."""
        return ((choices[:, None] >> np.arange(self.columns)) & 1).astype(bool)


def widen(choices: NDArray[np.int64], candidates: NDArray[np.int64]) -> NDArray[np.int64]:
    """Turn masks over a record's candidates into masks over all attributes.

    >>> widen(np.array([0b01, 0b11]), np.array([1, 3])).tolist()
    [2, 10]
    """
    out = np.zeros(len(choices), np.int64)
    widen_choices(choices, candidates, out)
    return out


def narrow(mask: int, candidates: NDArray[np.int64]) -> int:
    """Turn a mask over all attributes into a mask over a record's candidates.

    >>> narrow(0b1010, np.array([1, 2, 3]))
    5
    """
    return sum(((mask >> j) & 1) << b for b, j in enumerate(candidates.tolist()))


def _common(matchings: Sequence[Matching]) -> NDArray[np.int64]:
    """The attributes whose values are so common that it pays to compute the agreements on them once per group of records.

    Computing them costs about thirty looks at each individual per group; not computing them, one look per record at each
    individual who agrees. Attributes are taken in the order of how many agree, as long as the total cost falls.
    """
    agreeing = np.zeros(matchings[0].attributes, np.int64)
    for matching in matchings:
        _, near_starts, near, who_starts, *_ = matching.index
        sums = np.concatenate([[0], np.cumsum(np.diff(who_starts)[near])])
        of_value = sums[near_starts[1:]] - sums[near_starts[:-1]]
        for j in range(matching.attributes):
            mine = matching.values[:, j]
            agreeing[j] += of_value[mine[mine >= 0]].sum()
    order = np.argsort(-agreeing, kind="stable")
    individuals = sum(matching.individuals for matching in matchings)
    best, cost = 0, int(agreeing.sum())
    for count in range(1, len(order) + 1):
        taken = order[:count]
        groups = len(np.unique(np.column_stack([matching.values[:, taken] for matching in matchings]), axis=0))
        now = groups * 30 * individuals + int(agreeing[order[count:]].sum())
        if now >= cost:
            break
        best, cost = count, now
    return np.sort(order[:best]).astype(np.int64)

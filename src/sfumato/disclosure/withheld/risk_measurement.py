"""The risk of a withheld release, measured again from its published cells by the definitions.

This module belongs to verification and shares no code with what makes a release. Definitions: *Lebanon et al. (2006)*. An
individual is consistent with a record if every disclosed value is consistent with what the dictionary holds (Definition 6);
up to `misfits` values may not be. The attacker picks one consistent individual. The loss of a record is Φ, the sensitivity
of what is disclosed, times the chance of identification, plus a declared share of Φ times the chance of naming another
individual; the risk is the mean loss (Definition 4).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.schema import Kind, Schema
from sfumato.data.table import Table
from sfumato.disclosure.withheld.value_consistency import AttributeComparison
from sfumato.errors import ReleaseError
from sfumato.exact import as_fraction, nearest_float

Floats = NDArray[np.float64]

_CACHE = 1 << 26
"""Bytes of bit sets that are kept, so that a value which many rows disclose is compared once."""


class ConsistentIndividuals:
    """Which individuals are consistent with each published row.

    Rows that disclose the same values are matched once. For every disclosed value the consistent individuals are a bit
    set; the bit sets of a row are intersected or, with misfits, added up.

    >>> ages = AttributeComparison(np.array([0, 1]), np.array([0, 0, 1]), lambda value: np.arange(2) == value)
    >>> ConsistentIndividuals([ages], np.array([[True], [False]]), 0).counts().tolist()
    [2, 3]
    """

    def __init__(self, attributes: Sequence[AttributeComparison], disclosed: NDArray[np.bool_], misfits: int) -> None:
        self.attributes, self.misfits = attributes, misfits
        self.individuals = len(attributes[0].known)
        values = np.column_stack([attribute.published for attribute in attributes])
        rows, of_row = np.unique(np.where(disclosed, values, -1), axis=0, return_inverse=True)
        self.rows: NDArray[np.int64] = rows
        self.of_row: NDArray[np.int64] = of_row.reshape(-1)
        self._bits: dict[tuple[int, int], NDArray[Any]] = {}

    def counts(self) -> NDArray[np.int64]:
        """|ρ|: the number of consistent individuals for every published row."""
        return np.array([int(self.flags(row).sum()) for row in range(len(self.rows))], np.int64)[self.of_row]

    def weights(self, weights: Floats) -> Floats:
        """The total weight of the consistent individuals for every published row."""
        totals = [math.fsum(weights[self.flags(row)]) for row in range(len(self.rows))]
        return np.array(totals)[self.of_row]

    def contains(self, owners: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the individual `owners[i]` is consistent with published row i; -1 never is."""
        found = np.zeros(len(owners), bool)
        order = np.argsort(self.of_row, kind="stable")  # published rows, those that disclose the same together
        ends = np.searchsorted(self.of_row[order], np.arange(1, len(self.rows)))
        for row, mine in enumerate(np.split(order, ends)):
            found[mine] = (owners[mine] >= 0) & self.flags(row)[owners[mine]]
        return found

    def flags(self, row: int) -> NDArray[np.bool_]:
        """Whether each individual is consistent with a distinct row."""
        shown = [(j, value) for j, value in enumerate(self.rows[row].tolist()) if value >= 0]
        if self.misfits:
            misses = np.zeros(self.individuals, np.int64)
            for j, value in shown:
                misses += ~self._unpacked(self._individuals(j, value))
            return misses <= self.misfits
        bits = np.full((self.individuals + 7) // 8, 255, np.uint8)
        for j, value in shown:
            bits &= self._individuals(j, value)
        return self._unpacked(bits)

    def _individuals(self, j: int, value: int) -> NDArray[np.uint8]:
        """The individuals consistent with one value of one attribute, eight to a byte."""
        if (j, value) not in self._bits:
            if len(self._bits) * self.individuals // 8 > _CACHE:
                self._bits.clear()
            self._bits[j, value] = np.packbits(self.attributes[j].individuals(value))
        return self._bits[j, value]

    def _unpacked(self, bits: NDArray[np.uint8]) -> NDArray[np.bool_]:
        return np.unpackbits(bits, count=self.individuals).astype(bool)


def mean_of(values: Floats) -> float:
    """The mean, summed without rounding errors."""
    return math.fsum(values) / len(values)


def expected_losses(phi: Floats, chances: Floats) -> Floats:
    """Φ times the chance of identification, where 0·∞ is 0."""
    return np.array([0.0 if p == 0 or c == 0 else p * c for p, c in zip(phi.tolist(), chances.tolist(), strict=True)])


@dataclass(frozen=True, eq=False)
class RecordWeights:
    """The original records in the order of the published rows: needed where weights differ between records."""

    table: Table
    rows: NDArray[np.int64]
    """For each published row its original row."""

    def read(self, source: str | Sequence[Any]) -> Floats:
        """The weight of every published row: from a column of the original, or from a list in its order."""
        if not isinstance(source, str):
            return np.array([weight(value) for value in source])[self.rows]
        text = Table(
            self.table.data.select([source]),
            Schema(kinds={source: Kind.TEXT}, missing=self.table.schema.missing),
            untyped=self.table.untyped,
        ).column(source)
        lookup = np.array([weight(value) for value in text.texts] or [0.0])
        return lookup[np.minimum(text.codes, len(lookup) - 1)][self.rows]


def weight(value: Any) -> float:
    """A weight as it is written: a number that is at least 0, or "inf"."""
    return math.inf if str(value).strip() == "inf" else nearest_float(as_fraction(value, "weight"))


def differs_by_record(sensitivity: Mapping[str, Any]) -> bool:
    """Whether weights differ between records, so that Φ depends on which record a row is."""
    return sensitivity.get("records") is not None or bool(sensitivity.get("cells"))


def sensitivities(
    sensitivity: Mapping[str, Any], names: Sequence[str], revealed: Floats, records: RecordWeights | None
) -> Floats | None:
    """Φ of every published row (Lebanon et al. 2006, Appendix, Φ₁ to Φ₅); None if it cannot be computed.

    `revealed`: the share of its sensitivity that each cell reveals: 1 if it is disclosed as it is, 0 if it is withheld, and
    anything between if it is generalized. Φ cannot be computed for a function of the publisher's own, nor for weights that
    differ between records if the order of the published rows is not known.

    >>> revealed = np.array([[1.0, 0.0], [1.0, 1.0], [0.5, 1.0]])
    >>> declared = {"kind": "additive", "weights": {"age": "3"}, "default": "1", "pairs": [["age", "town", "0.5"]]}
    >>> sensitivities(declared, ["age", "town"], revealed, None).tolist()
    [3.0, 4.5, 2.75]
    """
    kind = sensitivity.get("kind")
    if kind == "function" or (differs_by_record(sensitivity) and records is None):
        return None
    if kind == "constant":
        return np.full(len(revealed), weight(sensitivity.get("value", 1)))
    if kind not in ("additive", "multiplicative"):
        raise ReleaseError(f"the sensitivity {kind!r} is unknown", remedy="Update sfumato.", key="sensitivity")
    scale, cells, rows = np.ones(len(revealed)), dict(sensitivity.get("cells") or {}), len(revealed)
    if records is not None and sensitivity.get("records") is not None:
        scale = records.read(sensitivity["records"])
    total = np.zeros(rows)
    for j, name in enumerate(names):
        if name in cells:
            assert records is not None
            each = records.read(cells[name])
        else:
            declared = sensitivity.get("weights", {}).get(name, sensitivity.get("default", 1))
            each = expected_losses(scale, np.full(rows, weight(declared)))
        total += expected_losses(each, revealed[:, j])
    for *together, declared in (*sensitivity.get("pairs", ()), *sensitivity.get("triples", ())):
        every = revealed[:, [names.index(name) for name in together]].prod(axis=1)
        total += expected_losses(expected_losses(scale, np.full(rows, weight(declared))), every)
    return np.exp(total) if kind == "multiplicative" else total


def owners_of(table: Table, identity: str | None, dictionary: Any) -> NDArray[np.int64]:
    """For every record of the original the number of its individual in a dictionary; -1 if it has none."""
    if dictionary.table is table:
        return np.arange(table.rows)
    if identity is None or dictionary.identity is None:
        return np.full(table.rows, -1, np.int64)
    place = {name: number for number, name in enumerate(dictionary.identities)}
    column = table.column(identity)
    of_value = [place.get(column.label(code), -1) for code in range(column.size)]
    return np.array([*of_value, -1], np.int64)[column.codes]


def chances_of_identification(
    consistent: ConsistentIndividuals, leanings: Floats, owners: NDArray[np.int64] | None
) -> Floats | None:
    """The chance that the attacker identifies each published row; None if it cannot be computed.

    Without leanings it is one over the number of consistent individuals, 0 if there are none. With leanings it is the
    share of the record's own individual in the weight of the consistent ones, which takes to know whose record it is.
    """
    if not len(leanings):
        counts = consistent.counts()
        return np.array([1 / count if count else 0.0 for count in counts.tolist()])
    if owners is None:
        return None
    totals = consistent.weights(leanings)
    own = np.where(consistent.contains(owners), np.append(leanings, 0.0)[owners], 0.0)
    return np.divide(own, totals, out=np.zeros(len(totals)), where=totals > 0)


def expected_harms(
    consistent: ConsistentIndividuals, leanings: Floats, chances: Floats, sensitivity: Mapping[str, Any]
) -> Floats:
    """The expected harm of each published row as a share of Φ, from its chance of identification.

    An attacker who names somebody is wrong with the rest of the chance, and that harms as the sensitivity declares.
    """
    share = weight(sensitivity.get("false_identification", 0))
    if not share:
        return chances
    named = consistent.weights(leanings) > 0 if len(leanings) else consistent.counts() > 0
    return chances + share * np.where(named, 1 - chances, 0.0)

"""How the risk depends on the number of disclosed cells and on the dictionary; true and estimated risks.

Source: Lebanon et al. (2006), Figure 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.disclosure.matching.matching import Matching, Rule
from sfumato.disclosure.rules import best_by_cells
from sfumato.disclosure.rules.choice_losses import Choices
from sfumato.disclosure.rules.disclosure_rule import ROUNDING, DisclosureRule, mean, nearest
from sfumato.disclosure.rules.record_rules import best_of_records, least_losses
from sfumato.disclosure.sensitivity.sensitivity_weights import SensitivityWeights
from sfumato.errors import ParameterError
from sfumato.exact import Number, as_fraction
from sfumato.progress import Progress, silent

if TYPE_CHECKING:
    from sfumato.disclosure.setting import Setting

TENTHS = tuple(f"{tenth / 10:g}" for tenth in range(1, 11))
"""The sizes of dictionaries in Lebanon et al. (2006), Figure 1, as shares of the whole."""
QUARTERS = ("0.25", "0.5", "0.75", "1")
"""The numbers of cells there, as shares of the attributes."""
FIFTHS = ("0.1", "0.25", "0.5", "0.75", "1")
MOST_RECORDS = 2000
"""Curves over parts of a dictionary are measured on at most this many records, drawn at random."""
_FEWEST = 200
"""At least this many are drawn, even if the smallest part then has to be larger to contain their individuals."""


@dataclass(frozen=True)
class Line:
    """One line of a curve."""

    against: str
    """The dictionary, or the combination of several: their prior, or the worst of them."""
    risks: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain data; an infinite risk is "inf"."""
        return {"against": self.against, "risks": [_plain(risk) for risk in self.risks]}


@dataclass(frozen=True)
class RiskByCells:
    """The least risk of disclosing k cells of each record, for every k from none to all."""

    attributes: int
    lines: tuple[Line, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"attributes": self.attributes, "lines": [line.to_dict() for line in self.lines]}


@dataclass(frozen=True)
class RiskBySize:
    """The least risk of disclosing k cells of each record, against increasing parts of a dictionary."""

    dictionary: str
    attributes: int
    individuals: tuple[int, ...]
    """The sizes of the parts; each contains the one before."""
    kept: int
    """The number of individuals in every part, because records are theirs, or fit them."""
    sampled: int | None
    """The number of records that were measured; None for all."""
    cells: tuple[int, ...]
    risks: tuple[tuple[float, ...], ...]
    """For each number of cells, the risks against the parts."""

    def to_dict(self) -> dict[str, Any]:
        """As plain data; an infinite risk is "inf"."""
        return {
            "dictionary": self.dictionary,
            "attributes": self.attributes,
            "individuals": list(self.individuals),
            "kept": self.kept,
            "sampled": self.sampled,
            "lines": [
                {"cells": cells, "risks": [_plain(risk) for risk in risks]}
                for cells, risks in zip(self.cells, self.risks, strict=True)
            ],
        }


@dataclass(frozen=True)
class Point:
    """One rule, with its risk by the publisher's dictionary θ̂ and by the attacker's, which contains it."""

    cells: int
    supposed: int
    """The individuals of θ̂, from which the rule was computed."""
    truly: int
    estimated: float
    true: float
    emptied: int
    """Records that fit nobody in θ̂ and somebody in the attacker's dictionary."""

    @property
    def below(self) -> bool:
        """Whether the estimate is not an upper bound."""
        return self.estimated < self.true * (1 - ROUNDING)


@dataclass(frozen=True)
class TrueAgainstEstimated:
    """Pairs of risks (Lebanon et al. 2006, Figure 1 right): where Theorem 1 applies, the estimate is an upper bound."""

    dictionary: str
    attributes: int
    records: int
    sampled: int | None
    unmet: int
    """Records with which nobody in the dictionary is consistent as a whole: Theorem 1 does not cover them."""
    points: tuple[Point, ...]
    inverted: bool = False
    """Whether a false identification harms more than a correct one, so that Theorem 1 does not hold."""

    @property
    def below(self) -> int:
        """The number of estimates that are not upper bounds."""
        return sum(point.below for point in self.points)

    @property
    def why(self) -> str | None:
        """Why some are not; None if all are."""
        if not self.below:
            return None
        if self.inverted:
            return "a false identification harms more than a correct one, so that more consistent individuals mean more harm"
        most = max(point.emptied for point in self.points)
        return (
            f"{self.unmet:,} of {self.records:,} records match nobody in the whole dictionary; up to {most:,} disclosed "
            "ones match somebody there and nobody in the smaller part, where they count as no loss"
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain data; an infinite risk is "inf"."""
        return {
            "dictionary": self.dictionary,
            "attributes": self.attributes,
            "records": self.records,
            "sampled": self.sampled,
            "unmet": self.unmet,
            "below": self.below,
            "why": self.why,
            "points": [
                {
                    "cells": point.cells,
                    "supposed": point.supposed,
                    "truly": point.truly,
                    "estimated": _plain(point.estimated),
                    "true": _plain(point.true),
                }
                for point in self.points
            ],
        }


def _plain(risk: float) -> float | str:
    """A risk for JSON, which has no infinity."""
    return "inf" if math.isinf(risk) else risk


def by_cells(setting: Setting, progress: Progress = silent) -> RiskByCells:
    """Find the least risk for every number of cells per record, against each dictionary and under the prior.

    >>> import pyarrow as pa
    >>> from sfumato import Schema
    >>> from sfumato.disclosure.dictionaries.dictionary import Dictionary
    >>> from sfumato.disclosure.setting import setting_of
    >>> book = Dictionary(pa.table({"age": [30, 30, 41], "town": ["Rome", "Bonn", "Rome"]}), name="book")
    >>> people = pa.table({"age": [30, 41], "town": ["Rome", "Rome"]})
    >>> [round(risk, 3) for risk in by_cells(setting_of(people, Schema(), book)).lines[0].risks]
    [0.0, 0.5, 2.0]
    """
    lines = []
    if setting.prior is not None and len(setting.matchings) > 1:
        results = best_by_cells(setting.matchings, setting.phi, [float(share) for share in setting.prior], progress)
        lines.append(Line("under the prior", tuple(results.tolist())))
    for name, matching in zip(setting.names, setting.matchings, strict=True):
        lines.append(Line(f"against {name}", tuple(best_by_cells([matching], setting.phi, None, progress).tolist())))
    return RiskByCells(len(setting.attributes), tuple(lines))


def by_dictionary_size(
    setting: Setting,
    shares: Sequence[Number] = TENTHS,
    ks: Sequence[Number] = QUARTERS,
    *,
    seed: int = 0,
    most: int = MOST_RECORDS,
    progress: Progress = silent,
) -> tuple[RiskBySize, ...]:
    """Find the least risk against parts of each dictionary, for several numbers of cells per record.

    Source: Lebanon et al. (2006), Figure 1 left. `shares`: the sizes of the parts, as shares of the dictionary. `ks`: the
    numbers of cells, as shares of the attributes. The parts are drawn at random, each within the next, and always contain
    the individuals of the records, if they are known, and otherwise somebody who is consistent with each record. `most`:
    the number of records beyond which a random part is measured; fewer if the smallest part of the dictionary could not
    contain their individuals.
    """
    sizes, cells = _shares(shares, "shares"), cells_of(ks, len(setting.attributes))
    curves = []
    for name, whole in zip(setting.names, setting.matchings, strict=True):
        chosen = _chosen(whole, sizes, most, seed)
        matching, phi = whole.only(chosen), setting.phi.only(chosen)
        risks = []
        parts, kept = _parts(matching, sizes, seed)
        for number, part in enumerate(parts):
            progress(f"risk against parts of {name}", number / len(parts))
            results = best_by_cells([matching.among(part)], phi)
            risks.append([float(results[k]) for k in cells])
        sampled = None if len(chosen) == whole.records else len(chosen)
        columns = tuple(tuple(column) for column in zip(*risks, strict=True))
        curves.append(RiskBySize(name, whole.attributes, tuple(map(len, parts)), kept, sampled, cells, columns))
    return tuple(curves)


def true_against_estimated(
    setting: Setting,
    shares: Sequence[Number] = FIFTHS,
    ks: Sequence[Number] = QUARTERS,
    *,
    seed: int = 0,
    most: int = MOST_RECORDS,
    progress: Progress = silent,
) -> tuple[TrueAgainstEstimated, ...]:
    """Compare a publisher's estimate of the risk, from a part of each dictionary, with the risk by a larger part.

    The rule is the best one for the publisher's part, at each number of cells. By Theorem 1 of Lebanon et al. (2006) the
    estimate is an upper bound if somebody in the publisher's part is consistent with every record as a whole. Parameters:
    as for `by_dictionary_size`.
    """
    sizes, cells = _shares(shares, "shares"), cells_of(ks, len(setting.attributes))
    results = []
    for name, whole in zip(setting.names, setting.matchings, strict=True):
        chosen = _chosen(whole, sizes, most, seed)
        matching, phi = whole.only(chosen), setting.phi.only(chosen)
        parts, _ = _parts(matching, sizes, seed)
        sides = [matching.among(part) for part in parts]
        points = []
        for number, side in enumerate(sides[:-1]):
            progress(f"true and estimated risk in {name}", number / len(sides))
            for k, best in zip(cells, best_rules(side, phi, cells), strict=True):
                points += [_point(k, best.disclosed, phi, side, larger) for larger in sides[number + 1 :]]
        unmet = int((matching.sizes(matching.everything) == 0).sum())
        sampled = None if len(chosen) == whole.records else len(chosen)
        inverted = phi.false_identification > 1
        results.append(TrueAgainstEstimated(name, whole.attributes, len(chosen), sampled, unmet, tuple(points), inverted))
    return tuple(results)


def best_rules(matching: Matching, phi: SensitivityWeights, cells: Sequence[int]) -> list[DisclosureRule]:
    """The best rule for each of several numbers of cells per record, at the cost of one."""
    choices = Choices([matching], phi, [1.0])
    options = least_losses(choices)
    return [best_of_records(choices, options, k) for k in cells]


def rule_risk(rule: Rule, phi: SensitivityWeights, matching: Matching) -> float:
    """R(δ, θ): the mean loss of the records under a rule (Lebanon et al. 2006, Definition 4)."""
    return mean(phi.losses(matching, rule))


def _point(cells: int, rule: Rule, phi: SensitivityWeights, smaller: Matching, larger: Matching) -> Point:
    emptied = int(((smaller.sizes(rule) == 0) & (larger.sizes(rule) > 0)).sum())
    return Point(
        cells,
        smaller.individuals,
        larger.individuals,
        rule_risk(rule, phi, smaller),
        rule_risk(rule, phi, larger),
        emptied,
    )


def _chosen(whole: Matching, shares: Sequence[Fraction], most: int, seed: int) -> NDArray[np.int64]:
    """The records to measure: at random, and few enough for the smallest part to contain their individuals."""
    count = min(most, max(_FEWEST, math.floor(min(shares) * whole.individuals)))
    if whole.records <= count:
        return np.arange(whole.records)
    return np.sort(np.random.default_rng(seed).choice(whole.records, count, replace=False))


def _parts(matching: Matching, shares: Sequence[Fraction], seed: int) -> tuple[list[NDArray[np.int64]], int]:
    """Increasing parts of a dictionary, each within the next, and the number of individuals that all of them contain.

    These are, for every record, its own individual if it is known, and otherwise one who is consistent with the whole
    record, so that what fits somebody in one part fits somebody in every other.
    """
    everything = matching.everything
    sizes, _, among = matching.match(everything)
    others = [matching.individuals_of(i, everything)[:1] for i in np.flatnonzero(~among & (sizes > 0)).tolist()]
    kept = np.unique(np.concatenate([matching.own[matching.own >= 0], *others]).astype(np.int64))
    rest = np.random.default_rng(seed + 1).permutation(np.setdiff1d(np.arange(matching.individuals), kept))
    # the kept individuals come first in the order, so that every part contains them
    order = np.concatenate([kept, rest]).astype(np.int64)
    counts = {max(len(kept), math.ceil(share * matching.individuals)) for share in shares}
    return [np.sort(order[:count]) for count in sorted(counts)], len(kept)


def _shares(numbers: Sequence[Number], key: str) -> list[Fraction]:
    fractions = [as_fraction(share, key) for share in numbers]
    for share, written in zip(fractions, numbers, strict=True):
        if not 0 < share <= 1:
            raise ParameterError(
                f"{written!r} is not a share", remedy="Pass decimals above 0 and up to 1.", key=key, value=written
            )
    if not fractions:
        raise ParameterError("there are no shares", remedy="Pass decimals above 0 and up to 1.", key=key)
    return fractions


def cells_of(ks: Sequence[Number], attributes: int) -> tuple[int, ...]:
    """Turn shares of the attributes into numbers of cells, at least one.

    >>> cells_of(QUARTERS, 22)
    (6, 11, 17, 22)
    """
    return tuple(sorted({max(1, nearest(share * attributes)) for share in _shares(ks, "ks")}))

"""The risk of a disclosure: the expected loss of each record against an attacker with a dictionary.

Source: Lebanon et al. (2006), Section 2.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data.schema import Schema
from sfumato.disclosure.attackers import AttackerChances, attacker_chances
from sfumato.disclosure.consistency.consistency import Consistency
from sfumato.disclosure.dictionaries.dictionary import Dictionary
from sfumato.disclosure.matching.matching import Matching, Rule
from sfumato.disclosure.risk_verdict import decide_by_float, exact_harms, risk_at_most
from sfumato.disclosure.rules.disclosure_rule import mean
from sfumato.disclosure.sensitivity.sensitivity import Sensitivity
from sfumato.disclosure.sensitivity.sensitivity_weights import losses
from sfumato.disclosure.setting import Setting, setting_of
from sfumato.errors import ParameterError
from sfumato.exact import Number, as_fraction, written
from sfumato.exact.shown_levels import level_shown
from sfumato.plurals import count_of
from sfumato.progress import Progress, silent

if TYPE_CHECKING:
    from sfumato.disclosure.risk_bound import RiskBound


@dataclass(frozen=True, eq=False)
class DictionaryRisk:
    """The risk against one dictionary, and the figures of every record that it is the mean of."""

    name: str
    individuals: int
    sizes: NDArray[np.int64]
    """|ρ|: the number of individuals who are consistent with each record as it is disclosed."""
    probabilities: NDArray[np.float64]
    """The chance that the attacker identifies each record."""
    mistakes: NDArray[np.float64]
    """The chance that the attacker names another individual; 0, like that of identification, if nobody is consistent."""
    losses: NDArray[np.float64]
    """The expected loss of each record."""
    attackers: AttackerChances

    @cached_property
    def risk(self) -> float:
        """R: the mean loss (Lebanon et al. 2006, Definition 4)."""
        return mean(self.losses)


@dataclass(frozen=True)
class AttributeRisk:
    """The contribution of one attribute to the risk."""

    name: str
    disclosed: int
    """The number of records that disclose it."""
    weight: float | None
    """Its mean weight in them; None if the sensitivity has no weights of attributes."""
    without: float
    """The risk if it were withheld in all records."""
    saves: float | None
    """The difference to the present risk; None if the risk stays infinite. It is negative if the attribute gives a record a
    value that nobody in the dictionary has, so that nobody is identified."""
    alone: float
    """The mean chance of identification of those records if nothing else were disclosed."""


@dataclass(frozen=True)
class RecordRisk:
    """The expected loss of one record."""

    row: int
    """The row of the record, from 1."""
    identity: Any
    consistent: int
    probability: float
    sensitivity: float
    loss: float


@dataclass(frozen=True, eq=False)
class Risk:
    """The risk of disclosing records under a rule, against every dictionary.

    `risk` is the Bayes risk if the dictionaries have a prior, and the worst case over them otherwise or on request;
    `holds` says whether it is at most the limit, exactly.

    A risk is private: it contains the records, the dictionaries and the figures of every record, also in a pickle and in
    `to_dict`. `repr` gives the row of the worst record; `worst_records` also names its individual.

    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 41], "zip": ["a", "a"]})
    >>> book = Dictionary(pa.table({"age": [30, 30, 41]}), name="book")
    >>> result = risk(people, Schema(), book, limit="1.5")
    >>> result.risk, result.holds, result.worst.name, result.worst.sizes.tolist(), result.attackers[0].journalist
    (1.5, True, 'book', [2, 1], 1.0)
    >>> [(each.name, each.saves) for each in result.by_attribute]
    [('age', 1.1666666666666667), ('zip', 0.75)]
    """

    setting: Setting
    rule: Rule
    sensitivities: NDArray[np.float64]
    """Φ of every record as it is disclosed."""
    dictionaries: tuple[DictionaryRisk, ...]
    limit: Fraction | None = None
    over: Literal["prior", "worst"] = "worst"
    """Whether `risk` is the mean over the prior, or the worst case over the dictionaries."""

    @property
    def bayes(self) -> float | None:
        """The mean of the risks over the prior; None without a prior (Lebanon et al. 2006, Definition 5)."""
        return None if self.setting.prior is None else self._mean([result.risk for result in self.dictionaries])

    @property
    def worst(self) -> DictionaryRisk:
        """The dictionary with the highest risk; the first of several."""
        return max(self.dictionaries, key=lambda result: result.risk)

    @property
    def risk(self) -> float:
        """The Bayes risk or the worst case over the dictionaries, according to `over`."""
        return self._over([result.risk for result in self.dictionaries])

    @property
    def attackers(self) -> tuple[AttackerChances, ...]:
        """The chances of the prosecutor, journalist and marketer, dictionary by dictionary."""
        return tuple(result.attackers for result in self.dictionaries)

    @property
    def disclosed_cells(self) -> int:
        """The number of disclosed cells."""
        return int(self.rule.sum())

    @cached_property
    def holds(self) -> bool | None:
        """Whether the risk is at most the limit; None without a limit."""
        if self.limit is None:
            return None
        verdict = decide_by_float(self.risk, self.limit)
        if verdict is not None:
            return verdict
        # too close to the limit for floats: compute Φ and the harms as exact fractions
        setting = self.setting
        phi = setting.sensitivity.exactly(setting.table, setting.attributes, setting.identity, self.rule)
        exact = [
            exact_harms(matching, self.rule, result.sizes, setting.sensitivity.false_identification)
            for matching, result in zip(setting.matchings, self.dictionaries, strict=True)
        ]
        if self.over == "worst" or setting.prior is None:
            return all(risk_at_most(phi, each, self.limit) for each in exact)
        mixed = [
            sum((p * chance for p, chance in zip(setting.prior, each, strict=True)), Fraction(0))
            for each in zip(*exact, strict=True)
        ]
        return risk_at_most(phi, mixed, self.limit)

    @cached_property
    def by_attribute(self) -> tuple[AttributeRisk, ...]:
        """The contribution of each attribute, in the order of the attributes."""
        return tuple(self._attribute(j) for j in range(len(self.setting.attributes)))

    @cached_property
    def _without(self) -> list[NDArray[np.float64]]:
        """For each dictionary the harm of each record, as a share of Φ, if one attribute were withheld."""
        return [self.setting.phi.harm(*matching.outcomes_without(self.rule)) for matching in self.setting.matchings]

    def worst_records(self, most: int = 10, dictionary: str | None = None) -> list[RecordRisk]:
        """The records with the highest loss, highest first, against a dictionary: by default the one of highest risk."""
        result = self.worst if dictionary is None else self.against(dictionary)
        order = np.lexsort([np.arange(len(result.losses)), -result.losses])[:most]
        return [
            RecordRisk(
                row=i + 1,
                identity=self.setting.identity_of(i),
                consistent=int(result.sizes[i]),
                probability=float(result.probabilities[i]),
                sensitivity=float(self.sensitivities[i]),
                loss=float(result.losses[i]),
            )
            for i in order.tolist()
        ]

    def against(self, dictionary: str) -> DictionaryRisk:
        """The risk against the dictionary of this name."""
        for result in self.dictionaries:
            if result.name == dictionary:
                return result
        raise ParameterError(
            f"unknown dictionary {dictionary!r}",
            remedy=f"Expected one of: {', '.join(map(repr, self.setting.names))}.",
            key="dictionary",
            value=dictionary,
        )

    def bound(self, estimate: str, attacker: str) -> RiskBound:
        """Check whether the risk against `estimate` bounds the risk against `attacker` under every rule."""
        from sfumato.disclosure.risk_bound import upper_bound  # it imports this module

        return upper_bound(self.setting, estimate, attacker, self.rule)

    def to_dict(self, worst: int = 10) -> dict[str, Any]:
        """Return everything but the arrays as plain data, ready for JSON; infinity as "inf"."""
        setting = self.setting
        return {
            "source": setting.table.source,
            "records": setting.records,
            "attributes": list(setting.attributes),
            "identity": setting.identity,
            "sensitivity": setting.sensitivity.to_dict(),
            "misfits": setting.misfits,
            "cells": int(setting.everything.sum()),
            "disclosed": self.disclosed_cells,
            "risk": _plain(self.risk),
            "over": self.over,
            "bayes": _plain(self.bayes),
            "worst": {"dictionary": self.worst.name, "risk": _plain(self.worst.risk)},
            "limit": None if self.limit is None else written(self.limit),
            "holds": self.holds,
            "dictionaries": [self._dictionary_to_dict(place) for place in range(len(self.dictionaries))],
            "by_attribute": [{key: _plain(value) for key, value in vars(each).items()} for each in self.by_attribute],
            "worst_records": [
                {key: _plain(value) for key, value in vars(each).items()} for each in self.worst_records(worst)
            ],
            "notes": self.notes,
        }

    def to_json(self, worst: int = 10) -> str:
        """Return the risk as JSON."""
        return json.dumps(self.to_dict(worst), indent=2, allow_nan=False)

    @cached_property
    def notes(self) -> list[str]:
        """What a reader should know about the figures."""
        notes = list(self.setting.table.notes)
        share = as_fraction(self.setting.sensitivity.false_identification)
        if share:
            notes.append(
                f"if the attacker names another individual, {written(share)} of the sensitivity counts as loss, in addition "
                "to the sensitivity times the chance of identification"
            )
        for result in self.dictionaries:
            nobody = int((result.sizes == 0).sum())
            if nobody:
                notes.append(
                    f"nobody in {result.name!r} is consistent with {count_of(nobody, 'record')}: their loss counts as 0, "
                    "which is right only if the attacker has the same values"
                )
        for result, matching in zip(self.dictionaries, self.setting.matchings, strict=True):
            if not len(matching.weights):
                continue
            wrong = int(((result.sizes > 0) & ~matching.match(self.rule)[2]).sum())
            if wrong:
                notes.append(
                    f"{result.name!r} has weights, and the individual of {count_of(wrong, 'record')} is unknown, not in it "
                    "or not consistent: the chance counts as 0; without weights it is one over the number of consistent ones"
                )
        return notes

    def __repr__(self) -> str:
        setting = self.setting
        kind = "over the prior" if self.over == "prior" else "in the worst case"
        many = f" {kind}" if len(self.dictionaries) > 1 else ""
        lines = [
            f"Risk of {count_of(setting.records, 'record')} with {count_of(len(setting.attributes), 'attribute')}: "
            f"{level_shown(self.risk, self.limit)}{many}{self._verdict()}"
        ]
        lines += [f"  note   {note}" for note in self.notes]
        for result in self.dictionaries:
            who = result.attackers
            lines.append(
                f"  {result.name} ({count_of(result.individuals, 'individual')}): risk {level_shown(result.risk)}; "
                f"{who.named[0]} {who.named[1]:.4g}, marketer {who.marketer:.4g}; "
                f"{count_of(who.unique, 'record')} with one consistent individual"
            )
        record = self.worst_records(1)[0]
        lines.append(
            f"  worst record: row {record.row}: {record.consistent:,} consistent, "
            f"sensitivity {level_shown(record.sensitivity)}, loss {level_shown(record.loss)}"
        )
        return "\n".join(lines)

    def _verdict(self) -> str:
        if self.limit is None:
            return ""
        return f", {'at most' if self.holds else 'MORE THAN'} {written(self.limit)}"

    def _over(self, values: Sequence[float]) -> float:
        """A figure over all dictionaries: its mean over the prior, or the highest."""
        return max(values) if self.over == "worst" else self._mean(values)

    def _mean(self, values: Sequence[float]) -> float:
        """The mean of a figure over the prior."""
        assert self.setting.prior is not None
        return math.fsum(float(p) * value for p, value in zip(self.setting.prior, values, strict=True) if p)

    def _attribute(self, j: int) -> AttributeRisk:
        setting = self.setting
        disclosed = self.rule[:, j]
        rule = self.rule.copy()
        rule[:, j] = False
        phi = setting.phi.of(rule)
        without = self._over(
            [
                mean(losses(phi, np.where(disclosed, harm[:, j], setting.phi.harm(result.probabilities, result.mistakes))))
                for result, harm in zip(self.dictionaries, self._without, strict=True)
            ]
        )
        weighted = setting.phi.form in ("sum", "product")
        return AttributeRisk(
            name=setting.attributes[j],
            disclosed=int(disclosed.sum()),
            weight=mean(setting.phi.cells[disclosed, j]) if weighted and disclosed.any() else None,
            without=without,
            saves=None if math.isinf(without) else self.risk - without,
            alone=self._over([mean(alone(matching, self.rule, j)) for matching in setting.matchings])
            if disclosed.any()
            else 0.0,
        )

    def _dictionary_to_dict(self, place: int) -> dict[str, Any]:
        result, prior = self.dictionaries[place], self.setting.prior
        return {
            "name": result.name,
            "individuals": result.individuals,
            "weighted": bool(len(self.setting.matchings[place].weights)),
            "prior": None if prior is None else written(prior[place]),
            "risk": _plain(result.risk),
            "consistent": {
                "least": int(result.sizes.min()),
                "median": float(np.median(result.sizes)),
                "most": int(result.sizes.max()),
                "nobody": int((result.sizes == 0).sum()),
            },
            "attackers": result.attackers.to_dict(),
        }


def risk(
    data: Any,
    schema: Schema | None,
    dictionaries: Sequence[Dictionary] | Dictionary,
    *,
    attributes: Sequence[str] | None = None,
    identity: str | None = None,
    sensitivity: Sensitivity | None = None,
    consistency: Mapping[str, Consistency] | None = None,
    prior: Mapping[str, Number] | Sequence[Number] | None = None,
    misfits: int = 0,
    rule: Rule | None = None,
    limit: Number | None = None,
    progress: Progress = silent,
) -> Risk:
    """Measure what an attacker with a dictionary gains from records (Lebanon et al. 2006).

    The loss of a record is the sensitivity of what is disclosed of it times the chance that the attacker picks the right
    one of the individuals who are consistent with it, plus that of picking another one times the sensitivity's
    `false_identification`; the risk is the mean loss. `misfits`: the number of disclosed
    values in which an individual may be inconsistent, for an attacker who reckons with errors. `rule`: which cells are
    disclosed, as an array of booleans; by default all are. `prior`: how likely the attacker has each dictionary, as
    numbers that sum to 1. `limit`: the largest acceptable risk. `progress` is called while the records are matched.

    >>> import pyarrow as pa
    >>> people = pa.table({"id": [1, 2], "age": [30, 41], "income": [10, 20]})
    >>> book = Dictionary(pa.table({"id": [1, 2, 3], "age": [30, 41, 41]}), identity="id", name="book")
    >>> from sfumato.disclosure.sensitivity.sensitivity import Additive
    >>> risk(people, Schema(), book, identity="id", sensitivity=Additive({"income": 5}), limit="4.5")
    Risk of 2 records with 2 attributes: 4.5, at most 4.5
      book (3 individuals): risk 4.5; journalist 1, marketer 0.75; 1 record with one consistent individual
      worst record: row 1: 1 consistent, sensitivity 6, loss 6
    """
    setting = setting_of(
        data,
        schema,
        dictionaries,
        attributes=attributes,
        identity=identity,
        sensitivity=sensitivity,
        consistency=consistency,
        prior=prior,
        misfits=misfits,
    )
    return risk_of(setting, rule, limit, progress=progress)


def risk_of(
    setting: Setting,
    rule: Rule | None = None,
    limit: Number | None = None,
    over: Literal["prior", "worst"] | None = None,
    progress: Progress = silent,
) -> Risk:
    """Measure the risk of a rule in a setting; without a rule everything is disclosed.

    `over`: what counts over several dictionaries; by default the prior if there is one. `progress` is called with each
    dictionary and the share of the records that are matched with it.

    >>> import pyarrow as pa
    >>> book = Dictionary(pa.table({"age": [30, 30, 41]}), name="book")
    >>> setting = setting_of(pa.table({"age": [30, 41]}), Schema(), book)
    >>> risk_of(setting).risk, risk_of(setting, np.array([[True], [False]])).risk
    (0.75, 0.25)
    """
    most = None if limit is None else as_fraction(limit, "limit")
    if most is not None and most < 0:
        raise ParameterError(
            f"limit = {limit!r} is negative",
            remedy="Pass the largest acceptable risk, such as 0.05.",
            key="limit",
            value=limit,
        )
    chosen = setting.check_rule(rule)
    phi = setting.phi.of(chosen)
    result = []
    for name, matching in zip(setting.names, setting.matchings, strict=True):
        step = f"matching {name}"
        progress(step)
        sizes, probabilities, mistakes = matching.outcomes(chosen, partial(progress, step))
        result.append(
            DictionaryRisk(
                name,
                matching.individuals,
                sizes,
                probabilities,
                mistakes,
                losses(phi, setting.phi.harm(probabilities, mistakes)),
                attacker_chances(name, matching, sizes, probabilities),
            )
        )
    return Risk(setting, chosen, phi, tuple(result), most, over or ("worst" if setting.prior is None else "prior"))


def alone(matching: Matching, rule: Rule, attribute: int) -> NDArray[np.float64]:
    """The chance of identification of the records that disclose an attribute if they disclosed nothing else.

    >>> matching = Matching.of_codes(np.array([[1, 5], [2, 5]]), np.array([[1, 5], [1, 5], [2, 5]]))
    >>> alone(matching, matching.everything, 0).tolist()
    [0.5, 1.0]
    """
    disclosed = rule[:, attribute] & (matching.values[:, attribute] >= 0)
    if len(matching.weights) or matching.misfits:
        only = np.zeros_like(rule)
        only[disclosed, attribute] = True
        return matching.probabilities(only)[disclosed]
    reached = matching.reach[matching.values[disclosed, attribute]]
    return np.where(reached > 0, 1 / np.maximum(reached, 1), 0.0)


def _plain(value: Any) -> Any:
    """A figure for JSON: infinity as text, exact numbers and others as they are written."""
    if isinstance(value, float):
        return "inf" if math.isinf(value) else value
    return value if value is None or isinstance(value, str | int) else str(value)

"""The setting of a risk: records, dictionaries, and how sensitive the records are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sfumato._audit import table_of
from sfumato.anonymization.undeclared_columns import refuse_undeclared
from sfumato.data.schema import Schema
from sfumato.data.table import Table, unknown_column
from sfumato.disclosure.consistency.consistency import Consistency
from sfumato.disclosure.consistency.containment import ContainmentConsistency
from sfumato.disclosure.dictionaries.dictionary import Dictionary
from sfumato.disclosure.generalized.attribute_levels import AttributeLevels, Generalize, read_levels, written_shares
from sfumato.disclosure.generalized.generalized_sensitivity import GeneralizedSensitivity, check_sensitivity
from sfumato.disclosure.generalized.level_steps import Levels, LevelSteps
from sfumato.disclosure.matching.attribute_matching import match_attributes
from sfumato.disclosure.matching.matching import Matching, Rule
from sfumato.disclosure.risk_assumptions import RiskAssumptions
from sfumato.disclosure.sensitivity.sensitivity import Additive, Sensitivity
from sfumato.disclosure.sensitivity.sensitivity_weights import SensitivityWeights
from sfumato.errors import ColumnError, ParameterError
from sfumato.exact import Number, as_fraction, written
from sfumato.summaries import short_repr


@dataclass(frozen=True, eq=False)
class Setting:
    """Records next to dictionaries, with a sensitivity: all that a risk depends on but the rule."""

    table: Table
    attributes: tuple[str, ...]
    """The columns that may be disclosed, in the order of a rule's columns."""
    identity: str | None
    """The column that identifies the individual of a record. Several records may be of one person."""
    dictionaries: tuple[Dictionary, ...]
    matchings: tuple[Matching, ...]
    """The records matched with each dictionary."""
    prior: tuple[Fraction, ...] | None
    """How likely the attacker has each dictionary; None if that is not known."""
    sensitivity: Sensitivity
    phi: SensitivityWeights
    consistency: Mapping[str, Consistency] = field(default_factory=dict)
    """How attributes are compared, if not by equality."""
    misfits: int = 0
    """The number of disclosed values in which an individual may be inconsistent and still count as consistent."""
    levels: Mapping[str, AttributeLevels] = field(default_factory=dict)
    """The levels of the attributes whose cells may be generalized."""
    disclosed_on: Levels | None = None
    """The level of each cell, if the records are those that a rule generalized; None if they are as they are."""

    __repr__ = short_repr

    @property
    def assumptions(self) -> RiskAssumptions:
        """What the risk is measured against, as plain data."""
        return RiskAssumptions(
            self.dictionaries,
            self.sensitivity.to_dict(),
            {name: how.parameters() for name, how in self.consistency.items()},
            self.misfits,
            self.prior,
            self.identity,
            written_shares(self.levels),
        )

    @cached_property
    def in_steps(self) -> LevelSteps:
        """The setting with a column for each level of each attribute."""
        return LevelSteps(self)

    def generalized(self, levels: Levels) -> Setting:
        """Return the setting of the records as they are disclosed on these levels; what is withheld is left to a rule."""
        sensitivity = GeneralizedSensitivity(self, levels)
        phi = sensitivity.weights_of(self.table, self.attributes, self.identity)
        matchings = tuple(self.in_steps.generalized(levels, dictionary) for dictionary in range(len(self.dictionaries)))
        return replace(self, matchings=matchings, sensitivity=sensitivity, phi=phi, disclosed_on=levels)

    def over_steps(self) -> Setting:
        """Return the setting with the steps in place of the attributes, which are named once for each of their levels."""
        attributes = tuple(self.attributes[j] for j in self.in_steps.attribute.tolist())
        return replace(self, attributes=attributes, matchings=self.in_steps.matchings, disclosed_on=None)

    @property
    def itself(self) -> Matching:
        """The records as they are disclosed matched with all records as they are, by equality but for generalized cells."""
        everybody = Dictionary.of(self.table)
        if self.disclosed_on is None:
            return match_attributes(self.table, self.attributes, everybody)
        base = replace(self, dictionaries=(everybody,), consistency={}, disclosed_on=None)
        return replace(LevelSteps(base).generalized(self.disclosed_on, 0), own=np.arange(self.records), weights=np.zeros(0))

    @property
    def records(self) -> int:
        """The number of records."""
        return self.matchings[0].records

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the dictionaries."""
        return tuple(dictionary.name for dictionary in self.dictionaries)

    @property
    def everything(self) -> Rule:
        """The rule that withholds nothing."""
        return self.matchings[0].everything

    def check_rule(self, rule: Rule | None) -> Rule:
        """Check a rule for these records: everything if None; a missing value is never disclosed."""
        if rule is None:
            return self.everything
        argument = np.asarray(rule)
        shape = self.everything.shape
        if argument.dtype != np.bool_ or argument.shape != shape:
            raise ParameterError(
                f"invalid rule of shape {argument.shape} and type {argument.dtype}",
                remedy=f"Pass an array of booleans for {shape[0]} records and {shape[1]} attributes: {self.attributes}.",
                key="rule",
            )
        return argument & self.everything

    def identity_of(self, record: int) -> Any:
        """The identity of a record; None if no identity is declared."""
        if self.identity is None:
            return None
        column = self.table.column(self.identity)
        return column.value(int(column.codes[record]))


def setting_of(
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
    generalize: Generalize = (),
    publish: bool = False,
) -> Setting:
    """Read the records, and match them with every dictionary.

    By default the attributes are all columns but identifiers, the identity, the schema's person and group columns, and
    columns of weights. By default every attribute weighs 1. `publish`: the attributes are to be published, so that columns
    without a role are treated as the schema states in `undeclared`; one that is listed in `attributes` needs no role.
    `generalize`: the attributes whose cells a rule may generalize; they are compared by containment.

    >>> import pyarrow as pa
    >>> people = pa.table({"id": [1, 2], "age": [30, 41]})
    >>> book = Dictionary(pa.table({"id": [1, 2, 3], "age": [30, 41, 41]}), identity="id", name="book")
    >>> setting = setting_of(people, Schema(), [book], identity="id")
    >>> setting.attributes, setting.matchings[0].sizes(setting.everything).tolist()
    (('age',), [1, 2])
    """
    table = table_of(data, schema)
    _refuse_recurring(table, identity)
    phi = Additive() if sensitivity is None else sensitivity
    if not isinstance(phi, Sensitivity):
        remedy = "Pass one such as Additive({...}) or ConstantSensitivity()."
        raise ParameterError(f"{phi!r} is not a sensitivity", remedy=remedy, key="sensitivity", value=phi)
    sources = _dictionaries(dictionaries)
    names_of_attributes = _attributes(table, attributes, identity, phi, publish)
    probabilities = _prior(prior, sources)
    weights = phi.weights_of(table, names_of_attributes, identity)
    levels = read_levels(table, names_of_attributes, generalize)
    consistencies = with_containment(consistency or {}, levels)
    if levels:
        _refuse_misfits(misfits)
        check_sensitivity(phi)
    if isinstance(misfits, bool) or not isinstance(misfits, int) or not 0 <= misfits < len(names_of_attributes):
        raise ParameterError(
            f"misfits = {misfits!r} is not an integer from 0 to below the number of attributes, {len(names_of_attributes)}",
            remedy="Pass the number of values in which an individual may be inconsistent, such as 1.",
            key="misfits",
            value=misfits,
        )
    matchings = [
        match_attributes(table, names_of_attributes, dictionary, consistencies, identity, misfits) for dictionary in sources
    ]
    for dictionary, matching in zip(sources, matchings, strict=True):
        _refuse_unknown_owners(dictionary, matching)
    return Setting(
        table, names_of_attributes, identity, sources, tuple(matchings), probabilities, phi, weights, consistencies, misfits,
        levels,
    )  # fmt: skip


def with_containment(declared: Mapping[str, Consistency], levels: Mapping[str, AttributeLevels]) -> dict[str, Consistency]:
    """Return the consistency of each attribute, with containment for what may be generalized.

    Another comparison of such an attribute is an error.

    >>> with_containment({}, {})
    {}
    """
    consistencies = dict(declared)
    for name in levels:
        how = consistencies.get(name, ContainmentConsistency())
        if not isinstance(how, ContainmentConsistency):
            raise ParameterError(
                f"{name!r} is to be generalized, and is compared by {getattr(how, 'kind', how)!r}",
                remedy="Declare no consistency for it: a generalized value fits every value that it contains.",
                key="generalize",
                value=name,
            )
        consistencies[name] = how
    return consistencies


def _refuse_misfits(misfits: int) -> None:
    if misfits:
        raise ParameterError(
            "with misfits, values can be withheld but not generalized",
            remedy="Allow no misfits, or generalize nothing.",
            key="generalize",
            value=misfits,
        )


def _refuse_unknown_owners(dictionary: Dictionary, matching: Matching) -> None:
    """Raise an error if a dictionary has weights and no owner is known: every record would look safe."""
    if len(matching.weights) and (matching.own < 0).all():
        raise ParameterError(
            f"{dictionary.title} has weights, and the individual of no record is known",
            remedy="Declare the identity of the records and of the dictionary, or omit the weight.",
            file=dictionary.table.source,
            key="identity",
        )


def _dictionaries(argument: Sequence[Dictionary] | Dictionary) -> tuple[Dictionary, ...]:
    sources = (argument,) if isinstance(argument, Dictionary) else tuple(argument)
    for dictionary in sources:
        if not isinstance(dictionary, Dictionary):
            remedy = 'Pass one such as Dictionary("phonebook.csv", identity="id").'
            raise ParameterError(f"{dictionary!r} is not a dictionary", remedy=remedy, key="dictionaries", value=dictionary)
    if not sources:
        remedy = "Pass at least one, such as Dictionary.of(table) for the table itself."
        raise ParameterError("there are no dictionaries", remedy=remedy, key="dictionaries")
    names = [dictionary.name for dictionary in sources]
    for name in names:
        if names.count(name) > 1:
            remedy = "Give every dictionary a different name."
            raise ParameterError(f"two dictionaries are named {name!r}", remedy=remedy, key="dictionaries", value=name)
    return sources


def _refuse_recurring(table: Table, identity: str | None) -> None:
    """Raise an error if a person or household has several records, and the identity does not say which belong together."""
    units = table.units
    column = table.schema.household_id or table.schema.person_id
    if units is not None and units.count < table.rows and identity != column:
        raise ParameterError(
            f"a {units.noun} has several records, and each would count as another individual",
            remedy=f"Pass identity = {column!r}, or reduce the table to one record per {units.noun}.",
            key="identity",
            file=table.source,
            value=identity,
        )


def _attributes(
    table: Table, argument: Sequence[str] | None, identity: str | None, phi: Sensitivity, publish: bool
) -> tuple[str, ...]:
    columns = list(table.data.column_names)
    if identity is not None and identity not in columns:
        raise unknown_column(identity, columns, table.source)
    if argument is None:
        schema = table.schema
        apart = {*schema.identifiers, *phi.columns(), identity, schema.group}
        names_of_attributes = tuple(name for name in columns if name not in apart)
        if publish:
            refuse_undeclared(table, apart)
            names_of_attributes = tuple(schema.published_columns(names_of_attributes))
    else:
        names_of_attributes = (argument,) if isinstance(argument, str) else tuple(map(str, argument))
    for name in names_of_attributes:
        if name not in columns:
            raise unknown_column(name, columns, table.source)
        if names_of_attributes.count(name) > 1:
            raise ColumnError(
                "the attribute is listed twice", remedy="List it once.", column=name, file=table.source, key="attributes"
            )
        if name == identity:
            raise ColumnError(
                "the identity is also listed as an attribute",
                remedy="Remove it from the attributes: it is never disclosed.",
                column=name,
                file=table.source,
                key="attributes",
            )
    if not names_of_attributes:
        remedy = "Give the columns that may be disclosed a role, or list them as attributes."
        raise ParameterError("there are no columns to disclose", remedy=remedy, file=table.source, key="attributes")
    return names_of_attributes


def _prior(argument: Any, dictionaries: Sequence[Dictionary]) -> tuple[Fraction, ...] | None:
    """The probability of each dictionary: numbers that are at least 0 and sum to 1, exactly."""
    if argument is None:
        return None
    names = [dictionary.name for dictionary in dictionaries]
    remedy = f"Pass one number for each of: {', '.join(map(repr, names))}; they must sum to 1."
    if isinstance(argument, Mapping):
        for name in argument:
            if name not in names:
                raise ParameterError(
                    f"the prior names {name!r}, which is not a dictionary", remedy=remedy, key="prior", value=name
                )
        for name in names:
            if name not in argument:
                raise ParameterError(f"the prior lacks {name!r}", remedy=remedy, key="prior", value=name)
        listed = [argument[name] for name in names]
    else:
        try:
            listed = list(argument)
        except TypeError:
            listed = []
        if isinstance(argument, str) or len(listed) != len(names):
            problem = f"the prior {argument!r} is not one number for each of {len(names)} dictionaries"
            raise ParameterError(problem, remedy=remedy, key="prior", value=argument)
    prior = tuple(as_fraction(value, f"prior.{name}") for name, value in zip(names, listed, strict=True))
    for name, value in zip(names, prior, strict=True):
        if value < 0:
            problem = f"the prior of {name!r} is negative: {written(value)}"
            raise ParameterError(problem, remedy=remedy, key=f"prior.{name}", value=value)
    if sum(prior) != 1:
        raise ParameterError(
            f"the prior sums to {written(Fraction(sum(prior)))}, not to 1",
            remedy='Fix the sum; thirds can be written "1/3".',
            key="prior",
            value=argument,
        )
    return prior

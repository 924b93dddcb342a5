"""The distance of a sensitive attribute: the declared one, else the natural one of its kind."""

from __future__ import annotations

from sfumato.data.attribute import Attribute
from sfumato.data.schema import Kind, Schema
from sfumato.distances.absolute import Absolute
from sfumato.distances.discrete import Discrete
from sfumato.distances.distance import Distance
from sfumato.distances.jaccard import Jaccard
from sfumato.distances.jaro_winkler import JaroWinkler
from sfumato.distances.lp import Lp
from sfumato.distances.taxonomy import Taxonomy
from sfumato.errors import ConfigError

_BY_KIND: dict[Kind, Distance] = {
    Kind.NUMERIC: Absolute(),
    Kind.DATE: Absolute(),
    Kind.ORDINAL: Lp(),
    Kind.CATEGORICAL: Discrete(),
    Kind.SET: Jaccard(),
    Kind.TEXT: JaroWinkler(),
}
"""The natural distance of a single column without a hierarchy."""


def distance_of(schema: Schema, attribute: Attribute) -> Distance:
    """Return the declared distance of an attribute, else the natural one of a single column's kind.

    The schema's `distance` is that of all sensitive columns together; `distances` are those of single attributes. Several
    columns have no natural distance: one must be declared.
    """
    names = tuple(column.name for column in attribute.columns)
    if schema.distance is not None and names == schema.sensitive_columns():
        return schema.distance
    for name, distance in schema.distances.items():
        if schema.components(name) == names:
            return distance
    if len(names) > 1:
        raise ConfigError(
            f"no distance is declared for {attribute.name!r}, and several columns have no natural one",
            remedy='Declare one, such as kind = "lp" with weights.',
            key="distance",
        )
    column = attribute.columns[0]
    return Taxonomy() if column.hierarchy is not None else _BY_KIND[column.kind]


def is_equality_by_default(schema: Schema, attribute: Attribute) -> bool:
    """Whether the distance of an attribute is discrete because nothing else was declared: no distance, and no kind.

    Two categories are equal or not, so an ε above 0 has no meaning for them. A column of numbers with one odd cell is read
    as categorical too, and then a proximity requirement would hold without protecting anybody.
    """
    names = tuple(column.name for column in attribute.columns)
    whole = schema.distance is not None and names == schema.sensitive_columns()
    single = any(schema.components(name) == names for name in schema.distances)
    undeclared = len(names) == 1 and names[0] not in schema.kinds and not whole and not single
    return undeclared and distance_of(schema, attribute) == Discrete()

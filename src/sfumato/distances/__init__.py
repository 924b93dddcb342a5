"""Distances between sensitive values: one per file, and the dict that names them all."""

from sfumato.data.attribute import Attribute
from sfumato.data.schema import Kind, Schema
from sfumato.distances.absolute import Absolute
from sfumato.distances.base import BoundDistance, Distance
from sfumato.distances.custom import Custom
from sfumato.distances.discrete import Discrete
from sfumato.distances.jaccard import Jaccard
from sfumato.distances.jaro import Jaro
from sfumato.distances.jaro_winkler import JaroWinkler
from sfumato.distances.lp import Lp
from sfumato.distances.min_coordinate import MinCoordinate
from sfumato.distances.neighbour_graph import NeighbourGraph
from sfumato.distances.taxonomy import Taxonomy
from sfumato.distances.total_variation import TotalVariation
from sfumato.errors import ConfigError

DISTANCES: dict[str, type[Distance]] = {
    distance.name: distance
    for distance in (
        Discrete,
        Absolute,
        Lp,
        TotalVariation,
        MinCoordinate,
        Taxonomy,
        Jaccard,
        Jaro,
        JaroWinkler,
        Custom,
    )
}
"""Every distance under its name in a config."""

_BY_KIND: dict[Kind, Distance] = {
    Kind.NUMERIC: Absolute(),
    Kind.ORDINAL: Lp(),
    Kind.CATEGORICAL: Discrete(),
    Kind.SET: Jaccard(),
    Kind.TEXT: JaroWinkler(),
}
"""What a single column's values are compared by if nothing is declared."""


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


__all__ = [
    "DISTANCES",
    "Absolute",
    "BoundDistance",
    "Custom",
    "Discrete",
    "Distance",
    "Jaccard",
    "Jaro",
    "JaroWinkler",
    "Lp",
    "MinCoordinate",
    "NeighbourGraph",
    "Taxonomy",
    "TotalVariation",
    "distance_of",
]

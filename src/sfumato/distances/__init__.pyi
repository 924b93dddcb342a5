from .absolute import Absolute
from .custom import Custom
from .default_distance import distance_of
from .discrete import Discrete
from .distance import Balls, BoundDistance, Distance, Plane, Windows
from .jaccard import Jaccard
from .jaro import Jaro
from .jaro_winkler import JaroWinkler
from .lp import Lp
from .min_coordinate import MinCoordinate
from .neighbour_counters import Counter
from .neighbour_graph import GuardedNeighbours, NeighbourGraph, NeighbourSets, NeighbourWindows, OneSidedNeighbours
from .taxonomy import Taxonomy
from .total_variation import TotalVariation

__all__ = [
    "Absolute",
    "Balls",
    "BoundDistance",
    "Counter",
    "Custom",
    "Discrete",
    "Distance",
    "GuardedNeighbours",
    "Jaccard",
    "Jaro",
    "JaroWinkler",
    "Lp",
    "MinCoordinate",
    "NeighbourGraph",
    "NeighbourSets",
    "NeighbourWindows",
    "OneSidedNeighbours",
    "Plane",
    "Taxonomy",
    "TotalVariation",
    "Windows",
    "distance_of",
]

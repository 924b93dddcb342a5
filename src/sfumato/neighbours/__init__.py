"""The ε-neighbour graph over distinct values with multiplicities."""

from sfumato.neighbours.graph import NeighbourGraph

__all__ = ["NeighbourGraph"]

"""Tables whose rows are the vertices of a graph, and exchanges of their rows between groups."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.anonymization.methods.cell_share_arrays import share_arrays
from sfumato.anonymization.methods.method import Task
from sfumato.anonymization.methods.neighbour_arrays import NeighbourArrays
from sfumato.anonymization.methods.xcolor import exchange


def graph_task(edges, ages, *principles):
    """A table whose rows are the vertices of a graph: neighbours are at distance 1, all others at 2."""
    near = {frozenset(edge) for edge in edges}

    def distance(x, y):
        return 0 if x == y else 1 if {x, y} in near else 2

    data = pa.table({"age": list(ages), "vertex": list(range(len(ages)))})
    schema = sf.Schema(["age"], ["vertex"], distance=sf.distances.Custom(distance))
    return Task(sf.Table(data, schema), principles or (sf.Dissimilarity(1, 1, 2),))


def exchanged(task, start, allowed, **options):
    principle, names = task.requirements[0]
    view = task.views[names]
    return exchange(
        np.array(start), view.attribute.codes, NeighbourArrays.of(view.graph(principle.epsilon)), allowed, task.places,
        share_arrays(task.domains), **options,
    )  # fmt: skip


def degrees(edges, count):
    return np.bincount(np.array(list(edges), int).ravel(), minlength=count)


def potential(edges, of_row):
    """The number of edges within groups."""
    return sum(of_row[u] == of_row[v] for u, v in edges)

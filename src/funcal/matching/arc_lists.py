"""The edges in play as arcs, listed by head: what dual ascent and the cut relaxation walk along.

Slot ``a`` in the list of vertex v (``first[v] <= a < first[v + 1]``) is the arc ``tail[a]`` → v. Its cost holds the
edge's weight and the cost of v: in an arborescence every chosen vertex but the root has exactly one entering arc, so
vertex costs are charged once. ``reverse[a]`` is the slot of the opposite arc.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..compiled import kernel
from .clustered_graph import ClusteredGraph

__all__ = ["ArcLists", "list_arcs"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class ArcLists(NamedTuple):
    """Arcs by head (see the module docstring)."""

    first: Integers
    tail: Integers
    head: Integers
    cost: Floats
    reverse: Integers


@kernel
def _list_arcs(
    weight: Floats, alive: NDArray[np.bool_], cost: Floats
) -> tuple[Integers, Integers, Integers, Floats, Integers]:
    n = len(cost)
    first = np.zeros(n + 1, dtype=np.int64)
    for v in range(n):
        count = 0
        for u in range(n):
            if alive[v, u]:
                count += 1
        first[v + 1] = first[v] + count
    size = first[n]
    tail = np.empty(size, dtype=np.int64)
    head = np.empty(size, dtype=np.int64)
    arc_cost = np.empty(size)
    reverse = np.empty(size, dtype=np.int64)
    filled = first[:-1].copy()
    slot = 0
    for v in range(n):
        for u in range(n):
            if alive[v, u]:
                tail[slot] = u
                head[slot] = v
                arc_cost[slot] = weight[v, u] + cost[v]
                # Rows are filled in order of the head, so the opposite arc sits at the next free place of row u.
                reverse[slot] = filled[u]
                filled[u] += 1
                slot += 1
    return first, tail, head, arc_cost, reverse


def list_arcs(graph: ClusteredGraph) -> ArcLists:
    """Both arcs of every edge in play."""
    return ArcLists(*_list_arcs(graph.weight, graph.alive, graph.cost))

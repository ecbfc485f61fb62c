"""Good generalized spanning trees fast: two exact sub-problems solved in turn.

Given one vertex per cluster, the best tree is a minimum spanning tree of m vertices (Prim 1957). Given a tree over
the clusters, the best vertices follow by dynamic programming from the leaves to the root in O(|E|). Alternating
between the two never raises the cost and ends after a few rounds.

A tree over clusters is a pair (``parent``, ``order``): ``order`` lists the clusters root first and ``parent[k]``
is the cluster that k hangs from (-1 for the root).

References
----------
P. C. Pop (2004). New models of the generalized minimum spanning tree problem. J. Math. Modelling and Algorithms 3.
B. Hu, M. Leitner, G. R. Raidl (2008). Combining variable neighborhood search with integer linear programming for
the generalized minimum spanning tree problem. Journal of Heuristics 14, 473-499.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..compiled import kernel

__all__ = ["alternate", "best_vertices", "construct", "minimum_spanning_tree", "selection_cost"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@kernel
def minimum_spanning_tree(weight: Floats, chosen: Integers) -> tuple[Integers, Integers]:
    """Prim's algorithm on the chosen vertices, one per cluster, in O(m²)."""
    m = len(chosen)
    parent = np.full(m, -1, dtype=np.int64)
    order = np.empty(m, dtype=np.int64)
    nearest = np.full(m, np.inf)
    done = np.zeros(m, dtype=np.bool_)
    last = 0
    done[0] = True
    order[0] = 0
    for step in range(1, m):
        follow, least = -1, np.inf
        for k in range(m):
            if done[k]:
                continue
            w = weight[chosen[last], chosen[k]]
            if w < nearest[k] or parent[k] < 0:
                nearest[k] = w
                parent[k] = last
            if nearest[k] < least or follow < 0:
                least = nearest[k]
                follow = k
        last = follow
        done[last] = True
        order[step] = last
    return parent, order


@kernel
def selection_cost(weight: Floats, cost: Floats, chosen: Integers, parent: Integers) -> float:
    """Cost of the tree ``parent`` on the chosen vertices."""
    total = 0.0
    for k in range(len(chosen)):
        total += cost[chosen[k]]
        if parent[k] >= 0:
            total += weight[chosen[k], chosen[parent[k]]]
    return total


@kernel
def best_vertices(
    weight: Floats, cost: Floats, start: Integers, parent: Integers, order: Integers, chosen: Integers
) -> float:
    """Best vertex of each cluster for a given tree over clusters, written to ``chosen``; returns the cost."""
    m = len(order)
    below = cost.copy()
    for step in range(m - 1, 0, -1):
        k = order[step]
        p = parent[k]
        for v in range(start[p], start[p + 1]):
            least = np.inf
            for u in range(start[k], start[k + 1]):
                value = below[u] + weight[v, u]
                if value < least:
                    least = value
            below[v] += least
    root = order[0]
    chosen[root] = start[root] + np.argmin(below[start[root] : start[root + 1]])
    for step in range(1, m):
        k = order[step]
        v = chosen[parent[k]]
        pick, least = start[k], np.inf
        for u in range(start[k], start[k + 1]):
            value = below[u] + weight[v, u]
            if value < least:
                least = value
                pick = u
        chosen[k] = pick
    return float(below[chosen[root]])


@kernel
def alternate(
    weight: Floats, cost: Floats, start: Integers, chosen: Integers
) -> tuple[float, Integers, Integers]:
    """Improve ``chosen`` in place until neither the tree nor the vertices can be bettered alone."""
    parent, order = minimum_spanning_tree(weight, chosen)
    value = selection_cost(weight, cost, chosen, parent)
    while True:
        better = best_vertices(weight, cost, start, parent, order, chosen)
        parent, order = minimum_spanning_tree(weight, chosen)
        better = selection_cost(weight, cost, chosen, parent)
        # The relative margin keeps rounding from looping for ever; the comparison also ends it at inf.
        if not better < value - 1e-12 * abs(value):
            return better, parent, order
        value = better


@kernel
def construct(weight: Floats, cost: Floats, start: Integers) -> Integers:
    """First choice: the spanning tree over clusters by their lightest edges, then its best vertices."""
    m = len(start) - 1
    lightest = np.full((m, m), np.inf)
    for k in range(m):
        for j in range(k + 1, m):
            least = np.inf
            for u in range(start[k], start[k + 1]):
                for v in range(start[j], start[j + 1]):
                    value = weight[u, v] + cost[u] + cost[v]
                    if value < least:
                        least = value
            lightest[k, j] = least
            lightest[j, k] = least
    parent, order = minimum_spanning_tree(lightest, np.arange(m))
    chosen = np.empty(m, dtype=np.int64)
    best_vertices(weight, cost, start, parent, order, chosen)
    return chosen

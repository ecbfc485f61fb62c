"""Vertices and edges that some optimal tree does without, found without any linear programme.

Three tests, each in O(n² m) or less:

- *Spanning-tree bound.* The minimum spanning tree of the clusters' lightest edges is a lower bound; forcing an edge
  into it exchanges the heaviest edge of the cycle it closes. What then reaches the best known tree goes.
- *Bottleneck.* An edge {u, v} is useless if u and v are joined, whichever vertices the other clusters choose, by a
  chain of edges each lighter than it: one of them reconnects the two parts of any tree without {u, v}.
- *Dominance.* A vertex is useless if another of its cluster is no dearer for every set of neighbours in other
  clusters; the gain on one neighbour may pay for the loss on another.

The bottleneck test removes only edges that are in *no* optimal tree, dominance keeps at least one optimal tree; so
alternatives may be judged by edges that are already gone.

References
----------
C. W. Duin, A. Volgenant, S. Voß (2004). Solving group Steiner problems as Steiner problems. EJOR 154, 323-329.
C. Feremans, M. Labbé, G. Laporte (2004). The generalized minimum spanning tree problem: polyhedral analysis and
branch-and-cut algorithm. Networks 43, 71-86.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..compiled import kernel
from .clustered_graph import ClusteredGraph, keep_vertices
from .tree_heuristic import minimum_spanning_tree

__all__ = ["cluster_bound", "lightest_tree", "reduce_graph"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


@kernel
def _bottlenecks(distance: Floats) -> tuple[float, Floats]:
    """Minimum spanning tree length and heaviest tree edge between each pair of clusters."""
    m = len(distance)
    parent, order = minimum_spanning_tree(distance, np.arange(m))
    heaviest = np.zeros((m, m))
    length = 0.0
    for step in range(1, m):
        k = order[step]
        p = parent[k]
        length += distance[k, p]
        for i in range(step):
            j = order[i]
            heaviest[k, j] = max(heaviest[p, j], distance[k, p])
            heaviest[j, k] = heaviest[k, j]
    return length, heaviest


@kernel
def _lightest_edges(weight: Floats, alive: Flags, start: Integers) -> Floats:
    m = len(start) - 1
    lightest = np.full((m, m), np.inf)
    for k in range(m):
        for j in range(k + 1, m):
            least = np.inf
            for u in range(start[k], start[k + 1]):
                for v in range(start[j], start[j + 1]):
                    if alive[u, v] and weight[u, v] < least:
                        least = weight[u, v]
            lightest[k, j] = least
            lightest[j, k] = least
    return lightest


@kernel
def spanning_tree_bound(
    weight: Floats, alive: Flags, cost: Floats, start: Integers, cutoff: float, keep: Flags
) -> float:
    """Clear edges and mark vertices that no tree cheaper than ``cutoff`` can hold; return the bound itself."""
    m = len(start) - 1
    length, heaviest = _bottlenecks(_lightest_edges(weight, alive, start))
    floor = np.empty(m)
    for k in range(m):
        floor[k] = np.min(cost[start[k] : start[k + 1]])
        length += floor[k]
    if length >= cutoff:
        return length
    spare = cutoff - length
    for k in range(m):
        for u in range(start[k], start[k + 1]):
            extra = cost[u] - floor[k]
            possible = False
            for j in range(m):
                if j == k:
                    continue
                for v in range(start[j], start[j + 1]):
                    if not alive[u, v]:
                        continue
                    if weight[u, v] - heaviest[k, j] + extra + (cost[v] - floor[j]) >= spare:
                        alive[u, v] = False
                        alive[v, u] = False
                    else:
                        possible = True
            if not possible:
                keep[u] = False
    return length


@kernel
def _heaviest_links(weight: Floats, start: Integers) -> tuple[Floats, Floats]:
    """Heaviest edge from each vertex to each cluster, and between each pair of clusters."""
    n, m = len(weight), len(start) - 1
    link = np.full((n, m), np.inf)
    between = np.zeros((m, m))
    for k in range(m):
        for u in range(start[k], start[k + 1]):
            for j in range(m):
                if j != k:
                    heaviest = 0.0
                    for z in range(start[j], start[j + 1]):
                        heaviest = max(heaviest, weight[u, z])
                    link[u, j] = heaviest
                    between[k, j] = max(between[k, j], heaviest)
    return link, between


@kernel
def useless_edges(weight: Floats, alive: Flags, start: Integers) -> None:
    """Bottleneck test: clear the edges that a chain of lighter ones replaces in every tree."""
    m = len(start) - 1
    link, between = _heaviest_links(weight, start)
    _, heaviest = _bottlenecks(between)
    reach = np.empty(m)
    for k in range(m):
        for u in range(start[k], start[k + 1]):
            # reach[l]: least heaviest edge on a chain of clusters from u to whatever vertex cluster l chooses
            for one in range(m):
                least = link[u, one]
                for other in range(m):
                    if other != k:
                        least = min(least, max(link[u, other], heaviest[other, one]))
                reach[one] = least
            for j in range(k + 1, m):
                for v in range(start[j], start[j + 1]):
                    if not alive[u, v]:
                        continue
                    w = weight[u, v]
                    for one in range(m):
                        if one != k and one != j and reach[one] < w and link[v, one] < w:
                            alive[u, v] = False
                            alive[v, u] = False
                            break


@kernel
def _is_dominated(
    weight: Floats, alive: Flags, cost: Floats, start: Integers, k: int, v: int, other: int
) -> bool:
    """Whether ``other`` can replace v, of the same cluster k, in every tree at no loss."""
    m = len(start) - 1
    loss = cost[other] - cost[v]
    most, any_loss = -np.inf, False
    for j in range(m):
        if j == k:
            continue
        worst = -np.inf
        for u in range(start[j], start[j + 1]):
            if alive[v, u]:
                worst = max(worst, weight[other, u] - weight[v, u])
        if worst > 0.0:
            any_loss = True
            loss += worst
            if loss > 0.0:
                return False
        most = max(most, worst)
    if not any_loss:
        loss += most
    return bool(loss <= 0.0)


@kernel
def dominated_vertices(weight: Floats, alive: Flags, cost: Floats, start: Integers, keep: Flags) -> int:
    """Dominance test, one vertex after the other; returns how many vertices went."""
    m = len(start) - 1
    gone = 0
    for k in range(m):
        for v in range(start[k], start[k + 1]):
            if not keep[v]:
                continue
            for other in range(start[k], start[k + 1]):
                if other != v and keep[other] and _is_dominated(weight, alive, cost, start, k, v, other):
                    keep[v] = False
                    gone += 1
                    for u in range(len(cost)):
                        alive[u, v] = False
                        alive[v, u] = False
                    break
    return gone


def lightest_tree(graph: ClusteredGraph) -> Floats:
    """Weights of the minimum spanning tree of the clusters' lightest edges in play."""
    lightest = _lightest_edges(graph.weight, graph.alive, graph.start)
    parent, _ = minimum_spanning_tree(lightest, np.arange(graph.num_clusters))
    child = np.flatnonzero(parent >= 0)
    return np.asarray(lightest[child, parent[child]], dtype=np.float64)


def cluster_bound(graph: ClusteredGraph) -> float:
    """The minimum spanning tree of the clusters' lightest edges, plus the least vertex costs."""
    length, _ = _bottlenecks(_lightest_edges(graph.weight, graph.alive, graph.start))
    return float(length + np.sum(np.minimum.reduceat(graph.cost, graph.start[:-1])))


def reduce_graph(graph: ClusteredGraph, cutoff: float) -> tuple[ClusteredGraph, float]:
    """Apply all tests until the vertices stay the same.

    Parameters
    ----------
    graph
        The graph; its ``alive`` marks are cleared in place.
    cutoff
        Only trees cheaper than this are of interest (``inf``: all).

    Returns
    -------
    tuple of ClusteredGraph and float
        The graph without useless vertices, and the spanning-tree bound; if that reaches the cutoff, no better tree
        exists and the graph is as it was.
    """
    while True:
        keep = np.ones(graph.num_vertices, dtype=np.bool_)
        bound = spanning_tree_bound(graph.weight, graph.alive, graph.cost, graph.start, cutoff, keep)
        if bound >= cutoff or not np.all(np.logical_or.reduceat(keep, graph.start[:-1])):
            return graph, max(bound, cutoff)
        graph = keep_vertices(graph, keep)
        useless_edges(graph.weight, graph.alive, graph.start)
        keep = np.ones(graph.num_vertices, dtype=np.bool_)
        if not dominated_vertices(graph.weight, graph.alive, graph.cost, graph.start, keep):
            return graph, bound
        graph = keep_vertices(graph, keep)

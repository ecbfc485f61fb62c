"""Shrink a graph by dual ascent from one root cluster after the other, until nothing more goes.

One round takes every vertex of a cluster as root. A root whose bound reaches the best known tree is deleted, and so
is every vertex and edge whose bound over all roots does. Small clusters come first: they need few ascents and their
deletions make the others cheaper. Each ascent also proposes a tree to the heuristic.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .arc_lists import list_arcs
from .clustered_graph import ClusteredGraph, keep_vertices
from .dual_ascent import root_cluster_bounds
from .incumbent import Deadline, Incumbent
from .reductions import reduce_graph

__all__ = ["Tightened", "fix_by_roots"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

WORTHWHILE_SHRINKAGE = 0.02
"""Another round over all clusters follows if the last one removed at least this share of the edges."""


@dataclass(frozen=True)
class Tightened:
    """A graph after fixing, a bound on all its trees, and the bounds of the vertices of one cluster to branch on."""

    graph: ClusteredGraph
    bound: float
    branch_cluster: int
    branch_bounds: Floats


@njit(cache=True, nogil=True)
def _clear_arcs(
    alive: NDArray[np.bool_], head: Integers, tail: Integers, reverse: Integers, arc_bound: Floats, cutoff: float
) -> int:
    """Clear the edges both of whose arcs have a bound at or above the cutoff; returns how many."""
    cleared = 0
    for a in range(len(head)):
        if head[a] < tail[a] and arc_bound[a] >= cutoff and arc_bound[reverse[a]] >= cutoff:
            alive[head[a], tail[a]] = False
            alive[tail[a], head[a]] = False
            cleared += 1
    return cleared


def _one_root_cluster(
    graph: ClusteredGraph, root_cluster: int, incumbent: Incumbent
) -> tuple[ClusteredGraph, float, Floats]:
    """Bounds with one cluster as root; returns the smaller graph, the bound and the bounds of the root vertices."""
    arcs = list_arcs(graph)
    n = graph.num_vertices
    vertex_bound, arc_bound = np.empty(n), np.empty(len(arcs.tail))
    nearest = np.full(graph.num_clusters, -1, dtype=np.int64)
    root_cluster_bounds(
        *arcs,
        graph.cost,
        graph.cluster,
        graph.start,
        root_cluster,
        incumbent.cutoff,
        vertex_bound,
        arc_bound,
        nearest,
    )
    roots = vertex_bound[graph.start[root_cluster] : graph.start[root_cluster + 1]]
    bound = float(np.min(roots))
    if bound >= incumbent.cutoff:
        return graph, bound, roots
    incumbent.improve(graph, nearest)
    keep = vertex_bound < incumbent.cutoff
    if bound >= incumbent.cutoff or not np.all(np.logical_or.reduceat(keep, graph.start[:-1])):
        return graph, max(bound, incumbent.cutoff), roots
    _clear_arcs(graph.alive, arcs.head, arcs.tail, arcs.reverse, arc_bound, incumbent.cutoff)
    return keep_vertices(graph, keep), bound, roots[roots < incumbent.cutoff]


def fix_by_roots(
    graph: ClusteredGraph, incumbent: Incumbent, deadline: Deadline, *, bound: float = 0.0
) -> Tightened:
    """Reduce, ascend and fix until a round over all clusters removes little.

    The graph's ``alive`` marks are changed in place. If the returned bound reaches ``incumbent.cutoff``, no tree of
    the graph is better than the incumbent.
    """
    branch_cluster, branch_bounds = -1, np.empty(0)
    while True:
        graph, reached = reduce_graph(graph, incumbent.cutoff)
        bound = max(bound, reached)
        edges_before, vertices_before = graph.num_edges, graph.num_vertices
        best_score = -np.inf
        for k in np.argsort(graph.sizes, kind="stable"):
            if bound >= incumbent.cutoff or deadline.passed:
                return Tightened(graph, bound, branch_cluster, branch_bounds)
            graph, reached, roots = _one_root_cluster(graph, int(k), incumbent)
            bound = max(bound, reached)
            if len(roots) > 1:
                score = -float(len(roots)) + float(np.mean(roots)) / max(incumbent.value, 1e-300)
                if score > best_score:
                    best_score, branch_cluster, branch_bounds = score, int(k), roots
        edges, vertices = graph.num_edges, graph.num_vertices
        if edges > (1.0 - WORTHWHILE_SHRINKAGE) * edges_before and vertices == vertices_before:
            return Tightened(graph, bound, branch_cluster, branch_bounds)

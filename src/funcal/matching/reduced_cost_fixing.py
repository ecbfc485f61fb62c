"""Shrink a graph by dual ascent from one root cluster after the other, until nothing more goes.

One round takes every vertex of a cluster as root. A root whose bound reaches the best known tree is deleted, and so
is every vertex and edge whose bound over all roots does. Small clusters come first: they need few ascents and their
deletions make the others cheaper. Each ascent also proposes a tree to the heuristic.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..compiled import kernel
from .arc_lists import list_arcs
from .clustered_graph import ClusteredGraph, keep_vertices
from .dual_ascent import root_bounds
from .incumbent import Deadline, Incumbent
from .reductions import reduce_graph

__all__ = ["Tightened", "clear_arcs", "fix_by_roots"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

WORTHWHILE_SHRINKAGE = 0.02
"""Another round over all clusters follows if the last one removed at least this share of the edges."""


@dataclass(frozen=True)
class Tightened:
    """A graph after fixing, a bound on all its trees, and a bound on the trees through each of its vertices."""

    graph: ClusteredGraph
    bound: float
    vertex_bound: Floats


@kernel
def clear_arcs(
    alive: NDArray[np.bool_],
    head: Integers,
    tail: Integers,
    reverse: Integers,
    arc_bound: Floats,
    cutoff: float,
) -> int:
    """Clear the edges both of whose arcs have a bound at or above the cutoff; returns how many."""
    cleared = 0
    for a in range(len(head)):
        if head[a] < tail[a] and arc_bound[a] >= cutoff and arc_bound[reverse[a]] >= cutoff:
            alive[head[a], tail[a]] = False
            alive[tail[a], head[a]] = False
            cleared += 1
    return cleared


def _fix_by_root_cluster(
    known: Tightened, root_cluster: int, incumbent: Incumbent, deadline: Deadline
) -> Tightened:
    """Ascend from every vertex of one cluster and delete what cannot be in a better tree."""
    graph = known.graph
    arcs = list_arcs(graph)
    cluster = graph.cluster
    vertex_bound = np.full(graph.num_vertices, np.inf)
    arc_bound = np.full(len(arcs.tail), np.inf)
    nearest = np.empty(graph.num_clusters, dtype=np.int64)
    lowest = np.inf
    for root in range(int(graph.start[root_cluster]), int(graph.start[root_cluster + 1])):
        if known.vertex_bound[root] >= incumbent.cutoff:
            continue
        if deadline.passed:
            return known
        bound = root_bounds(
            *arcs,
            graph.cost,
            cluster,
            graph.start,
            root,
            incumbent.cutoff,
            vertex_bound,
            arc_bound,
            nearest,
        )
        lowest = min(lowest, bound)
        if bound < incumbent.cutoff:
            incumbent.improve(graph, nearest)
    if lowest >= incumbent.cutoff:
        return Tightened(graph, lowest, known.vertex_bound)
    np.maximum(vertex_bound, known.vertex_bound, out=vertex_bound)
    keep = vertex_bound < incumbent.cutoff
    if not np.all(np.logical_or.reduceat(keep, graph.start[:-1])):
        return Tightened(graph, incumbent.cutoff, known.vertex_bound)
    clear_arcs(graph.alive, arcs.head, arcs.tail, arcs.reverse, arc_bound, incumbent.cutoff)
    return Tightened(keep_vertices(graph, keep), max(known.bound, lowest), vertex_bound[keep])


def _reduce(known: Tightened, incumbent: Incumbent) -> Tightened:
    """Apply the cheap reductions, carrying the vertices' bounds along."""
    graph, reached = reduce_graph(known.graph, incumbent.cutoff)
    vertex_bound = known.vertex_bound[np.isin(known.graph.vertex, graph.vertex, assume_unique=True)]
    return Tightened(graph, max(known.bound, reached), vertex_bound)


def fix_by_roots(
    graph: ClusteredGraph,
    incumbent: Incumbent,
    deadline: Deadline,
    *,
    bound: float = 0.0,
    patience: int | None = None,
) -> Tightened:
    """Reduce, ascend and fix until a round over all clusters removes little.

    The graph's ``alive`` marks are changed in place. If the returned bound reaches ``incumbent.cutoff``, no tree of
    the graph is better than the incumbent. With ``patience``, the work also ends after so many root clusters in a row
    that removed little: a better incumbent may then be had more cheaply than another bound.
    """
    known = Tightened(graph, bound, np.full(graph.num_vertices, bound))
    idle = 0
    while True:
        known = _reduce(known, incumbent)
        at_first = known.graph.num_edges + known.graph.num_vertices
        for k in np.argsort(known.graph.sizes, kind="stable"):
            if (
                known.bound >= incumbent.cutoff
                or deadline.passed
                or (patience is not None and idle >= patience)
            ):
                return known
            before = known.graph.num_edges + known.graph.num_vertices
            known = _fix_by_root_cluster(known, int(k), incumbent, deadline)
            little = known.graph.num_edges + known.graph.num_vertices > (1.0 - WORTHWHILE_SHRINKAGE) * before
            idle = idle + 1 if little else 0
        if known.graph.num_edges + known.graph.num_vertices > (1.0 - WORTHWHILE_SHRINKAGE) * at_first:
            return known

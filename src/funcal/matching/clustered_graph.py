"""The clustered graph on which a generalized spanning tree is sought (Section 4).

Vertices are stored cluster after cluster, so that cluster ``k`` owns the rows ``start[k]:start[k + 1]``. Two
matrices describe the edges: ``weight`` keeps every weight of the caller (``inf`` = no edge), ``alive`` marks the
edges that may still be in a tree better than the best one known. Reductions only ever clear marks or drop vertices.

References
----------
Y.-S. Myung, C.-H. Lee, D.-W. Tcha (1995). On the generalized minimum spanning tree problem. Networks 26, 231-241.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..compiled import kernel
from ..errors import MatchingError

__all__ = ["ClusteredGraph", "keep_vertices", "read_clustered_graph", "unjoined_clusters"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

SYMMETRY_TOLERANCE = 1e-9
"""Relative difference between ``weights[u, v]`` and ``weights[v, u]`` that is taken for rounding."""


@dataclass(frozen=True)
class ClusteredGraph:
    """Vertices in clusters, edges between clusters, costs on both.

    Attributes
    ----------
    weight
        (n, n) symmetric edge weights, ``inf`` inside clusters and where there is no edge.
    alive
        (n, n) symmetric marks of the edges still in play.
    cost
        (n,) cost of choosing a vertex.
    start
        (m + 1,) first row of each cluster, then n.
    vertex
        (n,) the caller's index of each row.
    """

    weight: Floats
    alive: Flags
    cost: Floats
    start: Integers
    vertex: Integers

    @property
    def num_vertices(self) -> int:
        """Number of vertices in play."""
        return len(self.cost)

    @property
    def num_clusters(self) -> int:
        """Number of clusters."""
        return len(self.start) - 1

    @property
    def num_edges(self) -> int:
        """Number of edges in play."""
        return int(np.count_nonzero(self.alive)) // 2

    @property
    def sizes(self) -> Integers:
        """(m,) number of vertices of each cluster."""
        return np.diff(self.start)

    @property
    def cluster(self) -> Integers:
        """(n,) cluster of each row."""
        return np.repeat(np.arange(self.num_clusters), self.sizes)


@kernel
def _gather(
    weights: Floats, order: Integers, cluster: Integers, tolerance: float
) -> tuple[Floats, Flags, int, int, int]:
    """Sort by cluster, drop edges inside clusters; report the first entry that is no weight."""
    n = len(order)
    weight = np.full((n, n), np.inf)
    alive = np.zeros((n, n), dtype=np.bool_)
    for i in range(n):
        for j in range(i + 1, n):
            u, v = order[i], order[j]
            forth, back = weights[u, v], weights[v, u]
            if np.isnan(forth) or np.isnan(back):
                return weight, alive, 1, u, v
            if forth == -np.inf or back == -np.inf:
                return weight, alive, 2, u, v
            if forth != back:
                if np.isinf(forth) or np.isinf(back):
                    return weight, alive, 3, u, v
                if abs(forth - back) > tolerance * max(abs(forth), abs(back)):
                    return weight, alive, 3, u, v
            if cluster[i] == cluster[j]:
                continue
            value = forth if u < v else back
            weight[i, j] = value
            weight[j, i] = value
            if value < np.inf:
                alive[i, j] = True
                alive[j, i] = True
    return weight, alive, 0, 0, 0


def read_clustered_graph(
    weights: ArrayLike, clusters: ArrayLike, vertex_costs: ArrayLike | None = None
) -> tuple[ClusteredGraph, Integers]:
    """Check the caller's arrays once and sort them by cluster.

    Parameters
    ----------
    weights
        (n, n) symmetric weights, ``inf`` = no edge; the diagonal and edges inside a cluster are not used.
    clusters
        (n,) integer labels, any values.
    vertex_costs
        (n,) cost of choosing each vertex, zero if not given.

    Returns
    -------
    tuple of ClusteredGraph and ndarray
        The graph, and the (m,) labels in increasing order.

    Raises
    ------
    MatchingError
        If the arrays are no clustered graph.
    """
    matrix = np.asarray(weights, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] == 0:
        raise MatchingError(
            f"weights must be a square matrix with one row per vertex, but its shape is {matrix.shape}; "
            "pass an (n, n) array with inf where there is no edge."
        )
    n = len(matrix)
    labels = np.asarray(clusters)
    if labels.shape != (n,) or not (
        np.issubdtype(labels.dtype, np.integer) or np.array_equal(labels, np.round(labels))
    ):
        raise MatchingError(
            f"clusters must hold one integer label for each of the {n} vertices, but it has shape {labels.shape} "
            f"and type {labels.dtype}; pass an integer array of length {n}."
        )
    if vertex_costs is None:
        costs = np.zeros(n)
    else:
        costs = np.asarray(vertex_costs, dtype=np.float64)
        if costs.shape != (n,) or not np.all(np.isfinite(costs)):
            raise MatchingError(
                f"vertex_costs must hold one finite number for each of the {n} vertices, but it has shape "
                f"{costs.shape} with {np.count_nonzero(~np.isfinite(costs))} values that are not finite; "
                "give every vertex a finite cost or leave the argument out."
            )
    names, cluster = np.unique(labels.astype(np.int64), return_inverse=True)
    order = np.argsort(cluster, kind="stable").astype(np.int64)
    cluster = cluster[order].astype(np.int64)
    weight, alive, fault, u, v = _gather(np.ascontiguousarray(matrix), order, cluster, SYMMETRY_TOLERANCE)
    if fault:
        found = {1: "is not a number", 2: "is minus infinity", 3: "differs from"}[fault]
        other = f" weights[{v}, {u}] = {matrix[v, u]}" if fault == 3 else ""
        raise MatchingError(
            f"weights must be a symmetric matrix of numbers with inf for a missing edge, but weights[{u}, {v}] = "
            f"{matrix[u, v]} {found}{other}; correct that entry."
        )
    start = np.concatenate([[0], np.cumsum(np.bincount(cluster))]).astype(np.int64)
    return ClusteredGraph(weight, alive, costs[order], start, order), names


def keep_vertices(graph: ClusteredGraph, keep: Flags) -> ClusteredGraph:
    """The graph without the vertices that are not marked in ``keep``."""
    rows = np.flatnonzero(keep)
    if len(rows) == graph.num_vertices:
        return graph
    block = np.ix_(rows, rows)
    start = np.concatenate([[0], np.cumsum(np.add.reduceat(keep.astype(np.int64), graph.start[:-1]))])
    return ClusteredGraph(
        graph.weight[block], graph.alive[block], graph.cost[rows], start.astype(np.int64), graph.vertex[rows]
    )


def unjoined_clusters(graph: ClusteredGraph) -> list[list[int]]:
    """Groups of clusters with no edge between one group and another; one group means all can be joined."""
    m = graph.num_clusters
    starts = graph.start[:-1]
    joined = np.logical_or.reduceat(np.logical_or.reduceat(graph.alive, starts, axis=0), starts, axis=1)
    group = np.full(m, -1)
    groups: list[list[int]] = []
    for first in range(m):
        if group[first] >= 0:
            continue
        members, reached = [first], 0
        group[first] = len(groups)
        while reached < len(members):
            for other in np.flatnonzero(joined[members[reached]] & (group < 0)):
                group[other] = len(groups)
                members.append(int(other))
            reached += 1
        groups.append(sorted(members))
    return groups

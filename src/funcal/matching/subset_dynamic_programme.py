"""A dynamic programme over subsets of clusters: exact, and independent of every other method here.

``tree[S, v]`` is the least cost of a tree that spans exactly the clusters in S with v chosen in its own; ``hang[S, v]``
that of such a tree joined by one edge to a vertex v outside S. A tree at v is the tree without one of the branches at
v, and that branch (the one that holds the lowest remaining cluster, so that each split is seen once). The work grows
like 3^m n, the memory like 2^m n.

References
----------
S. E. Dreyfus, R. A. Wagner (1971). The Steiner problem in graphs. Networks 1, 195-207.
P. C. Pop (2004). New models of the generalized minimum spanning tree problem. J. Math. Modelling and Algorithms 3.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..compiled import kernel
from ..errors import MatchingError
from .reductions import cluster_bound
from .solver_task import SearchOutcome, SolverTask

__all__ = ["subset_dynamic_programme"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_BYTES = 2**30
"""Memory that the two tables may take."""

MOST_CLUSTERS = 18
"""3^18 n steps take minutes."""

WORK_PER_CALL = 20_000_000
"""Elementary steps between two looks at the clock."""


@kernel
def _best_split(tree: Floats, hang: Floats, subset: int, own: int, v: int) -> tuple[float, int]:
    """Least cost of a tree at v over ``subset``, and the branch (a subset) split off to get it."""
    rest = subset & ~own
    lowest = rest & -rest
    free = rest & ~lowest
    least, branch = np.inf, 0
    part = free
    while True:
        piece = part | lowest
        value = tree[subset & ~piece, v] + hang[piece, v]
        if value < least:
            least, branch = value, piece
        if part == 0:
            return least, branch
        part = (part - 1) & free


@kernel
def _fill_tables(
    weight: Floats, cost: Floats, cluster: Integers, tree: Floats, hang: Floats, first: int, most_work: int
) -> int:
    """Fill the tables from subset ``first`` on; returns the first subset not done."""
    n = len(cost)
    work = 0
    for subset in range(first, len(tree)):
        if work > most_work:
            return subset
        splits = 1
        remaining = subset
        while remaining:
            remaining &= remaining - 1
            splits *= 2
        for v in range(n):
            own = 1 << cluster[v]
            if subset & own:
                tree[subset, v] = cost[v] if subset == own else _best_split(tree, hang, subset, own, v)[0]
                work += splits // 4 + 1
        for v in range(n):
            if subset & (1 << cluster[v]):
                continue
            least = np.inf
            for u in range(n):
                if subset & (1 << cluster[u]):
                    value = tree[subset, u] + weight[v, u]
                    if value < least:
                        least = value
            hang[subset, v] = least
        work += n * n // 4
    return len(tree)


def _trace(weight: Floats, cluster: Integers, tree: Floats, hang: Floats) -> Integers:
    """The chosen vertices, read backwards from the tables."""
    m = int(cluster[-1]) + 1
    chosen = np.empty(m, dtype=np.int64)
    everything = len(tree) - 1
    first = np.flatnonzero(cluster == 0)
    pending = [(everything, int(first[np.argmin(tree[everything, first])]))]
    while pending:
        subset, v = pending.pop()
        own = 1 << int(cluster[v])
        chosen[cluster[v]] = v
        if subset == own:
            continue
        _, branch = _best_split(tree, hang, subset, own, v)
        inside = np.flatnonzero((branch >> cluster) & 1)
        u = int(inside[np.argmin(tree[branch, inside] + weight[v, inside])])
        pending += [(subset & ~branch, v), (branch, u)]
    return chosen


def subset_dynamic_programme(task: SolverTask) -> SearchOutcome:
    """Solve by dynamic programming over subsets of clusters.

    Raises
    ------
    MatchingError
        If the tables would be too large.
    """
    graph = task.graph
    n, m = graph.num_vertices, graph.num_clusters
    if m > MOST_CLUSTERS or 2**m * n * 16 > MOST_BYTES:
        raise MatchingError(
            f"method 'subset_dp' is for at most {MOST_CLUSTERS} clusters and {MOST_BYTES >> 30} GiB of tables, "
            f"but this graph has {m} clusters and {n} vertices; use method 'auto'."
        )
    cluster = graph.cluster
    tree, hang = np.empty((2**m, n)), np.empty((2**m, n))  # entries without a meaning are never read
    first = 1
    while first < 2**m:
        if task.deadline.passed:
            return SearchOutcome(cluster_bound(graph), first)
        first = _fill_tables(graph.weight, graph.cost, cluster, tree, hang, first, WORK_PER_CALL)
        task.progress(first, 2**m, "subsets of clusters")
    rows = _trace(graph.weight, cluster, tree, hang)
    task.incumbent.offer(float(np.min(tree[-1, : graph.start[1]])), graph.vertex[rows])
    return SearchOutcome(task.incumbent.value, 2**m)

"""Lower bounds without a linear programme: Wong's dual ascent on directed cluster cuts.

Fix a root vertex r. Every arborescence from r that reaches all clusters crosses each set of vertices that contains a
whole cluster but not r. The dual of that covering problem is raised greedily: while some cluster cannot be reached
from r over arcs of reduced cost zero, take the set of vertices that reach it over such arcs and raise its dual value
by the least reduced cost entering the set. The sum of dual values bounds all trees through r from below; with the
shortest path lengths d in reduced costs, ``bound + d(u) + reduced(u, v)`` bounds all trees through r and the arc
u → v, and ``bound + d(v)`` those through r and v. The least of these over all roots of one cluster is valid without
knowing the root, and what reaches the best known tree is deleted.

All arithmetic is on the grid of `working_weights`, hence exact.

References
----------
R. T. Wong (1984). A dual ascent approach for Steiner tree problems on a directed graph. Math. Programming 28, 271-287.
T. Polzin, S. Vahdati Daneshmand (2001). Improved algorithms for the Steiner problem in networks. DAM 112, 263-300.
T. Pajor, E. Uchoa, R. F. Werneck (2018). A robust and scalable algorithm for the Steiner problem in graphs. MPC 10.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..compiled import kernel

__all__ = ["ascend", "bounds_from_reduced_costs", "root_bounds"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


@kernel
def ascend(
    first: Integers,
    tail: Integers,
    cluster: Integers,
    start: Integers,
    root: int,
    limit: float,
    reduced: Floats,
    record: Flags,
) -> float:
    """Raise duals until every cluster is reached from ``root`` or the bound is ``limit``; updates ``reduced``.

    Arcs that may not be used (into the root's cluster, or out of its other vertices) must have infinite cost. The
    first sets whose duals were raised are written to the rows of ``record`` (which may have none).
    """
    n, m = len(cluster), len(start) - 1
    stamp = np.full(n, -1, dtype=np.int64)  # turn in which a vertex last joined a set
    members = np.empty(n, dtype=np.int64)
    cut = np.empty(len(tail), dtype=np.int64)  # arcs into the set
    size = np.zeros(m, dtype=np.int64)  # how many they were when last seen
    active = np.ones(m, dtype=np.bool_)
    active[cluster[root]] = False
    num_active, now, bound, raised = m - 1, 0, 0.0, 0
    while num_active > 0:
        # The cluster whose cut was smallest when last seen, and the size at which another one should take over.
        k, least, second = -1, n * n, n * n
        for j in range(m):
            if active[j]:
                if size[j] < least:
                    second = least
                    k, least = j, size[j]
                elif size[j] < second:
                    second = size[j]
        now += 1
        count, head, crossing = 0, 0, 0
        for v in range(start[k], start[k + 1]):
            stamp[v] = now
            members[count] = v
            count += 1
        while True:
            while head < count and stamp[root] != now:  # tails over arcs of reduced cost zero join
                v = members[head]
                head += 1
                for a in range(first[v], first[v + 1]):
                    if stamp[tail[a]] != now:
                        if reduced[a] == 0.0:
                            stamp[tail[a]] = now
                            members[count] = tail[a]
                            count += 1
                        elif reduced[a] < np.inf:
                            cut[crossing] = a
                            crossing += 1
            if stamp[root] == now:
                active[k] = False
                num_active -= 1
                break
            raise_by, kept = np.inf, 0
            for i in range(crossing):
                a = cut[i]
                if stamp[tail[a]] != now:
                    cut[kept] = a
                    kept += 1
                    if reduced[a] < raise_by:
                        raise_by = reduced[a]
            crossing = kept
            size[k] = crossing
            if crossing == 0:
                return np.inf
            if crossing > second:
                break
            if raised < len(record):
                for i in range(count):
                    record[raised, members[i]] = True
                raised += 1
            bound += raise_by
            for i in range(crossing):
                a = cut[i]
                reduced[a] -= raise_by
                if reduced[a] == 0.0 and stamp[tail[a]] != now:
                    stamp[tail[a]] = now
                    members[count] = tail[a]
                    count += 1
            if bound >= limit:
                return bound
    return bound


@kernel
def reduced_distances(
    first: Integers,
    tail: Integers,
    reverse: Integers,
    reduced: Floats,
    root: int,
    spare: float,
    distance: Floats,
) -> None:
    """Dijkstra's shortest path lengths from ``root`` in reduced costs, infinite where they reach ``spare``."""
    n = len(distance)
    distance[:] = np.inf
    distance[root] = 0.0
    done = np.zeros(n, dtype=np.bool_)
    queue = np.empty(n, dtype=np.int64)
    queue[0] = root
    count = 1
    while count > 0:
        at = 0
        for i in range(1, count):
            if distance[queue[i]] < distance[queue[at]]:
                at = i
        u = queue[at]
        count -= 1
        queue[at] = queue[count]
        done[u] = True
        for b in range(first[u], first[u + 1]):
            v = tail[b]
            if done[v]:
                continue
            length = distance[u] + reduced[reverse[b]]
            if length < distance[v] and length < spare:
                if distance[v] == np.inf:
                    queue[count] = v
                    count += 1
                distance[v] = length


@kernel
def bounds_from_reduced_costs(
    first: Integers,
    tail: Integers,
    reverse: Integers,
    cluster: Integers,
    start: Integers,
    root: int,
    base: float,
    cutoff: float,
    reduced: Floats,
    vertex_bound: Floats,
    arc_bound: Floats,
    nearest: Integers,
) -> float:
    """Ascend from the given reduced costs, whose duals sum to ``base``; lower the bounds of vertices and arcs.

    Returns the bound of all trees through ``root``. ``nearest`` (m,) receives the vertex of each cluster that the root
    reaches first in reduced costs, a good start for the heuristic.
    """
    n, m, root_cluster = len(vertex_bound), len(start) - 1, cluster[root]
    nothing = np.empty((0, n), dtype=np.bool_)
    bound = base + ascend(first, tail, cluster, start, root, cutoff - base, reduced, nothing)
    vertex_bound[root] = bound
    if bound >= cutoff:
        return bound
    distance = np.empty(n)
    reduced_distances(first, tail, reverse, reduced, root, cutoff - bound, distance)
    for v in range(n):
        if cluster[v] != root_cluster and bound + distance[v] < vertex_bound[v]:
            vertex_bound[v] = bound + distance[v]
    for a in range(len(tail)):
        if reduced[a] < np.inf:
            through = bound + distance[tail[a]] + reduced[a]
            if through < arc_bound[a]:
                arc_bound[a] = through
    for k in range(m):
        pick = start[k]
        for v in range(start[k], start[k + 1]):
            if distance[v] < distance[pick]:
                pick = v
        nearest[k] = pick
    nearest[root_cluster] = root
    return bound


@kernel
def root_bounds(
    first: Integers,
    tail: Integers,
    head: Integers,
    arc_cost: Floats,
    reverse: Integers,
    cost: Floats,
    cluster: Integers,
    start: Integers,
    root: int,
    cutoff: float,
    vertex_bound: Floats,
    arc_bound: Floats,
    nearest: Integers,
) -> float:
    """Bound of all trees through ``root``; lowers the bounds of vertices and arcs to those of trees through both.

    Called for every vertex of one cluster, with ``vertex_bound`` (n,) and ``arc_bound`` infinite at first, it leaves
    there the bounds of all trees by the vertices and arcs they use.
    """
    root_cluster = cluster[root]
    reduced = np.empty(len(tail))
    for a in range(len(tail)):
        barred = cluster[head[a]] == root_cluster or (cluster[tail[a]] == root_cluster and tail[a] != root)
        reduced[a] = np.inf if barred else arc_cost[a]
    return bounds_from_reduced_costs(
        first,
        tail,
        reverse,
        cluster,
        start,
        root,
        cost[root],
        cutoff,
        reduced,
        vertex_bound,
        arc_bound,
        nearest,
    )

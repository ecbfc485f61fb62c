"""Directed cluster cuts that a point of the relaxation violates, by maximum flows.

For a set Q of vertices that contains a whole cluster, an arborescence rooted in cluster R needs
``Σ_{arcs into Q} q + Σ_{v in Q ∩ R} b_v >= 1``. With (DCSUB5) this is the cluster subpacking constraint (DCSUB4) for
Q: since ``b_v = Σ_{arcs into v} q`` outside R, ``Σ_{v in Q} b_v - Σ_{arcs within Q} q`` is the left-hand side. The
most violated Q for a cluster is a minimum cut between a source joined to R with capacities b and that cluster. For an
integral point the same sets are found by walking backwards from the clusters that the root does not reach: they
include the cycles *and* the arcs that leave vertices nobody chose, without which the formulation is wrong.

References
----------
C. Feremans, M. Labbé, G. Laporte (2002). A comparative analysis of several formulations for the generalized minimum
spanning tree problem. Networks 39, 29-34.
J. Edmonds, R. M. Karp (1972). Theoretical improvements in algorithmic efficiency for network flow problems. JACM 19.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..compiled import kernel
from .arc_lists import ArcLists
from .clustered_graph import ClusteredGraph

__all__ = ["violated_sets"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

LEAST_VIOLATION = 1e-4
"""Cuts violated by less are left alone: they move the bound by less than they cost."""

FLOW_TOLERANCE = 1e-9
"""Residual capacities below this count as used up."""


@kernel
def _reaching(
    first: Integers,
    tail: Integers,
    reverse: Integers,
    start: Integers,
    target: int,
    capacity: Floats,
    flow: Floats,
    source: Floats,
    onward: Integers,
    tolerance: float,
    reached: Flags,
) -> int:
    """Walk backwards from a cluster over residual capacity; stop at a vertex the source can still feed (or -1)."""
    n = len(source)
    queue = np.empty(n, dtype=np.int64)
    reached[:] = False
    count, head = 0, 0
    for v in range(start[target], start[target + 1]):
        queue[count] = v
        count += 1
        reached[v] = True
        onward[v] = -1
    while head < count:
        v = queue[head]
        head += 1
        if source[v] > tolerance:
            return int(v)
        for a in range(first[v], first[v + 1]):
            u = tail[a]
            if not reached[u] and capacity[a] - flow[a] + flow[reverse[a]] > tolerance:
                reached[u] = True
                onward[u] = a
                queue[count] = u
                count += 1
    return -1


@kernel
def _push(
    head_of: Integers,
    reverse: Integers,
    capacity: Floats,
    flow: Floats,
    source: Floats,
    onward: Integers,
    entry: int,
) -> float:
    """Send as much as possible along the path found by `_reaching`."""
    amount = source[entry]
    v = entry
    while onward[v] >= 0:
        a = onward[v]
        amount = min(amount, capacity[a] - flow[a] + flow[reverse[a]])
        v = head_of[a]
    source[entry] -= amount
    v = entry
    while onward[v] >= 0:
        a = onward[v]
        back = min(flow[reverse[a]], amount)
        flow[reverse[a]] -= back
        flow[a] += amount - back
        v = head_of[a]
    return float(amount)


@kernel
def _fed(
    first: Integers,
    tail: Integers,
    reverse: Integers,
    capacity: Floats,
    flow: Floats,
    source: Floats,
    tolerance: float,
) -> Flags:
    """Vertices that the source still feeds over residual capacity."""
    n = len(source)
    fed = np.zeros(n, dtype=np.bool_)
    queue = np.empty(n, dtype=np.int64)
    count, head = 0, 0
    for v in range(n):
        if source[v] > tolerance:
            fed[v] = True
            queue[count] = v
            count += 1
    while head < count:
        u = queue[head]
        head += 1
        for b in range(first[u], first[u + 1]):
            v, a = tail[b], reverse[b]
            if not fed[v] and capacity[a] - flow[a] + flow[b] > tolerance:
                fed[v] = True
                queue[count] = v
                count += 1
    return fed


@kernel
def _minimum_cuts(
    first: Integers,
    tail: Integers,
    head_of: Integers,
    reverse: Integers,
    start: Integers,
    root_cluster: int,
    capacity: Floats,
    supply: Floats,
    least_violation: float,
    tolerance: float,
) -> Flags:
    """Violated sets, one or two rows for each cluster that less than one unit of flow reaches."""
    n, m = len(supply), len(start) - 1
    sets = np.zeros((2 * m, n), dtype=np.bool_)
    count = 0
    reached = np.empty(n, dtype=np.bool_)
    onward = np.empty(n, dtype=np.int64)
    for target in range(m):
        if target == root_cluster:
            continue
        flow = np.zeros(len(tail))
        source = supply.copy()
        total = 0.0
        while total < 1.0 - least_violation:
            entry = _reaching(
                first, tail, reverse, start, target, capacity, flow, source, onward, tolerance, reached
            )
            if entry < 0:
                break
            total += _push(head_of, reverse, capacity, flow, source, onward, entry)
        if total >= 1.0 - least_violation:
            continue
        sets[count] = reached
        count += 1
        fed = _fed(first, tail, reverse, capacity, flow, source, tolerance)
        differs = False
        for v in range(n):
            if fed[v] == reached[v]:
                differs = True
                break
        if differs:
            sets[count] = ~fed
            count += 1
    return sets[:count]


def violated_sets(
    graph: ClusteredGraph, arcs: ArcLists, root_cluster: int, supply: Floats, capacity: Floats
) -> Flags:
    """Sets of vertices whose cuts the point violates.

    Parameters
    ----------
    graph, arcs
        The graph and its arcs.
    root_cluster
        The cluster R that holds the root.
    supply
        (n,) the values of b, zero outside R.
    capacity
        (number of arcs,) the values of q.

    Returns
    -------
    ndarray
        (k, n) one distinct set per row, none if the point violates no cut by more than 1e-4.
    """
    sets = _minimum_cuts(
        arcs.first,
        arcs.tail,
        arcs.head,
        arcs.reverse,
        graph.start,
        root_cluster,
        capacity,
        supply,
        LEAST_VIOLATION,
        FLOW_TOLERANCE,
    )
    distinct = {row.tobytes(): i for i, row in enumerate(np.packbits(sets, axis=1))}
    return sets[list(distinct.values())]

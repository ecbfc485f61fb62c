"""Edge exchange with re-optimised vertices, and iterated local search around it.

A move takes one edge out of the tree over clusters and reconnects the two parts by the best pair of clusters *and*
the best vertices of all clusters for the new tree: with messages passed along both parts this costs O(n²) per
removed edge, not one dynamic programme per candidate. When no move helps, a few clusters are set to random vertices
and the search starts again from there (iterated local search).

References
----------
B. Hu, M. Leitner, G. R. Raidl (2008). Combining variable neighborhood search with integer linear programming for
the generalized minimum spanning tree problem ("global edge exchange"). Journal of Heuristics 14, 473-499.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..compiled import kernel
from .clustered_graph import ClusteredGraph
from .incumbent import Deadline, Incumbent
from .reductions import reduce_graph
from .solver_task import SearchOutcome, SolverTask
from .tree_heuristic import alternate, best_vertices, construct

__all__ = ["descend", "heuristic_only", "iterate_local_search"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SEARCH_PATIENCE = 20
"""Perturbations in a row without a better tree after which the search stops."""

WORK_PER_CALL = 20_000_000
"""Elementary steps per compiled call, a fraction of a second, so that deadlines and Ctrl-C are noticed."""


@kernel
def _walk(parent: Integers, first: int, barred: int) -> tuple[Integers, Integers, int]:
    """Clusters joined to ``first`` without passing ``barred``, in breadth-first order, with their predecessors."""
    m = len(parent)
    listed = np.empty(m, dtype=np.int64)
    before = np.full(m, -1, dtype=np.int64)
    seen = np.zeros(m, dtype=np.bool_)
    listed[0] = first
    seen[first] = True
    count, head = 1, 0
    while head < count:
        k = listed[head]
        head += 1
        for j in range(m):
            if seen[j] or not (parent[j] == k or parent[k] == j):
                continue
            if k == first and j == barred:
                continue
            seen[j] = True
            before[j] = k
            listed[count] = j
            count += 1
    return listed, before, count


@kernel
def _part_costs(
    weight: Floats,
    cost: Floats,
    start: Integers,
    listed: Integers,
    before: Integers,
    count: int,
    total: Floats,
) -> None:
    """Least cost of one part of the tree given each of its vertices, by messages to the first cluster and back."""
    upward = np.zeros(
        len(cost)
    )  # least cost of the subtree of k, plus the edge, seen from each vertex before it
    for i in range(count):
        for v in range(start[listed[i]], start[listed[i] + 1]):
            total[v] = cost[v]
    widest = 0
    for i in range(count):
        widest = max(widest, start[listed[i] + 1] - start[listed[i]])
    message = np.zeros((count, widest))
    for i in range(count - 1, 0, -1):
        k = listed[i]
        p = before[k]
        for v in range(start[p], start[p + 1]):
            least = np.inf
            for u in range(start[k], start[k + 1]):
                value = total[u] + weight[v, u]
                if value < least:
                    least = value
            message[i, v - start[p]] = least
            total[v] += least
    for i in range(1, count):
        k = listed[i]
        p = before[k]
        for v in range(start[p], start[p + 1]):
            without = total[v] - message[i, v - start[p]]
            upward[v] = without if without < np.inf else np.inf
        for u in range(start[k], start[k + 1]):
            least = np.inf
            for v in range(start[p], start[p + 1]):
                value = upward[v] + weight[v, u]
                if value < least:
                    least = value
            total[u] += least


@kernel
def _best_reconnection(
    weight: Floats, start: Integers, total: Floats, one: Integers, n_one: int, two: Integers, n_two: int
) -> tuple[float, int, int]:
    """Cheapest edge between two parts of the tree."""
    least, left, right = np.inf, -1, -1
    for i in range(n_one):
        k = one[i]
        for u in range(start[k], start[k + 1]):
            base = total[u]
            if not base < least:
                continue
            for h in range(n_two):
                j = two[h]
                for v in range(start[j], start[j + 1]):
                    value = base + total[v] + weight[u, v]
                    if value < least:
                        least, left, right = value, k, j
    return least, left, right


@kernel
def _reattach(parent: Integers, order: Integers, child: int, inside: int, outside: int) -> None:
    """Hang the part below ``child`` from cluster ``outside`` by its cluster ``inside``; rebuild the order."""
    previous, k = outside, inside
    while True:
        following = parent[k]
        parent[k] = previous
        if k == child:
            break
        previous, k = k, following
    listed, _, _ = _walk(parent, order[0], parent[order[0]])
    order[:] = listed


@kernel
def exchange_edges(
    weight: Floats, cost: Floats, start: Integers, chosen: Integers, position: Integers, most_steps: int
) -> float:
    """Alternate and exchange edges until neither helps or ``most_steps`` edges were tried; returns the cost.

    Improves ``chosen`` in place. ``position`` holds the next edge to try and how many were tried in vain; the search
    has ended when the second reaches m - 1, and goes on from there otherwise.
    """
    m = len(chosen)
    value, parent, order = alternate(weight, cost, start, chosen)
    total = np.zeros(len(cost))
    trial = chosen.copy()
    for _ in range(most_steps):
        if position[1] >= m - 1:
            break
        child = order[1 + position[0] % (m - 1)]
        one, before_one, n_one = _walk(parent, child, parent[child])
        two, before_two, n_two = _walk(parent, parent[child], child)
        _part_costs(weight, cost, start, one, before_one, n_one, total)
        _part_costs(weight, cost, start, two, before_two, n_two, total)
        least, inside, outside = _best_reconnection(weight, start, total, one, n_one, two, n_two)
        position[0] += 1
        position[1] += 1
        # The margin keeps rounding from passing for a gain.
        if least < value - 1e-11 * abs(value):
            new_parent, new_order = parent.copy(), order.copy()
            _reattach(new_parent, new_order, child, inside, outside)
            best_vertices(weight, cost, start, new_parent, new_order, trial)
            better, new_parent, new_order = alternate(weight, cost, start, trial)
            if better < value:
                chosen[:] = trial
                value, parent, order = better, new_parent, new_order
                position[1] = 0
    return value


def perturb(graph: ClusteredGraph, chosen: Integers, strength: int, rng: np.random.Generator) -> Integers:
    """A copy of ``chosen`` with ``strength`` random clusters set to random vertices."""
    trial = chosen.copy()
    clusters = rng.integers(graph.num_clusters, size=strength)
    trial[clusters] = graph.start[clusters] + rng.integers(graph.sizes[clusters])
    return trial


def descend(graph: ClusteredGraph, chosen: Integers, deadline: Deadline) -> float:
    """Exchange edges until a local optimum or the deadline; improves ``chosen`` in place and returns its cost."""
    position = np.zeros(2, dtype=np.int64)
    steps = max(1, WORK_PER_CALL // max(1, graph.num_vertices**2))
    while True:
        value = exchange_edges(graph.weight, graph.cost, graph.start, chosen, position, steps)
        if position[1] >= graph.num_clusters - 1 or deadline.passed:
            return value


def iterate_local_search(
    graph: ClusteredGraph,
    incumbent: Incumbent,
    rng: np.random.Generator,
    deadline: Deadline,
    *,
    patience: int = SEARCH_PATIENCE,
) -> bool:
    """Perturb and descend until ``patience`` perturbations in a row find nothing better; says whether any did.

    Starts from the incumbent where its vertices are still in the graph and from a construction elsewhere.
    """
    chosen = construct(graph.weight, graph.cost, graph.start)
    if len(incumbent.chosen):
        row = {int(v): i for i, v in enumerate(graph.vertex)}
        chosen = np.array(
            [row.get(int(v), c) for v, c in zip(incumbent.chosen, chosen, strict=True)], dtype=np.int64
        )
    value = descend(graph, chosen, deadline)
    improved = incumbent.offer(value, graph.vertex[chosen])
    strength = max(2, graph.num_clusters // 8)
    idle = 0
    while idle < patience and not deadline.passed:
        trial = perturb(graph, chosen, strength, rng)
        reached = descend(graph, trial, deadline)
        idle += 1
        if reached <= value:
            idle = 0 if reached < value else idle
            value, chosen = reached, trial
            improved = incumbent.offer(value, graph.vertex[chosen]) or improved
    return improved


def heuristic_only(task: SolverTask) -> SearchOutcome:
    """Reduce and search, without a proof unless the spanning-tree bound happens to be one."""
    graph, bound = reduce_graph(task.graph, task.incumbent.cutoff)
    if bound < task.incumbent.cutoff:
        iterate_local_search(graph, task.incumbent, task.rng, task.deadline)
    return SearchOutcome(bound, 1)

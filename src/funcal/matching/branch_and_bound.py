"""Exact generalized minimum spanning trees: heuristic, reductions, dual ascent, branching.

The root of the search alternates iterated local search with reduced-cost fixing: every deleted vertex makes the next
search cheaper, every better tree makes the next fixing stronger. What is left is branched on: one child for each
remaining vertex of one cluster, most promising bound first, the same reductions and ascents in every child. Graphs
that stay large are first given to the cut relaxation, whose bounds are stronger than dual ascent's.

References
----------
C. Feremans, M. Labbé, G. Laporte (2004). The generalized minimum spanning tree problem: polyhedral analysis and
branch-and-cut algorithm. Networks 43, 71-86.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .clustered_graph import ClusteredGraph, keep_vertices
from .cut_relaxation import CutPool, fix_by_cut_relaxation
from .local_search import iterate_local_search
from .reduced_cost_fixing import Tightened, fix_by_roots
from .reductions import reduce_graph
from .solver_task import SearchOutcome, SolverTask
from .tree_heuristic import construct

__all__ = ["branch_and_bound"]

Integers = NDArray[np.int64]

FIRST_PATIENCE = 4
"""Perturbations in vain before the first bounds, on a graph that is still large."""

IDLE_ROOTS = 4
"""Root clusters in a row that removed little after which local search on the smaller graph is tried again."""

WORTHWHILE_SHARE = 0.9
"""If the cut relaxation leaves no more than this share of the edges, dual ascent is tried on them again."""

MANY_EDGES = 400
"""Edges from which a round of dual ascents costs more than the cut relaxation."""

LARGE_LEFTOVER = 60
"""Edges beyond m that dual ascent may leave at the root before the cut relaxation is worth its start-up time."""


@dataclass(frozen=True)
class _OpenNode:
    """A sub-problem, stored small: which vertices of the root graph remain, and which of their edges."""

    rows: Integers
    alive: NDArray[np.uint8]

    @classmethod
    def pack(cls, rows: Integers, graph: ClusteredGraph) -> _OpenNode:
        return cls(rows, np.packbits(graph.alive))

    def unpack(self, root: ClusteredGraph) -> ClusteredGraph:
        n = len(self.rows)
        marked = np.zeros(root.num_vertices, dtype=np.bool_)
        marked[self.rows] = True
        graph = keep_vertices(root, marked)
        alive = np.unpackbits(self.alive, count=n * n).astype(np.bool_).reshape(n, n)
        return ClusteredGraph(graph.weight, alive, graph.cost, graph.start, graph.vertex)


def _close_root(graph: ClusteredGraph, task: SolverTask, bound: float, pool: CutPool) -> Tightened:
    """Search and fix in turn until neither helps; the cut relaxation where much is left."""
    incumbent, deadline = task.incumbent, task.deadline
    iterate_local_search(graph, incumbent, task.rng, deadline, patience=FIRST_PATIENCE)
    while True:
        tightened = fix_by_roots(graph, incumbent, deadline, bound=bound, patience=IDLE_ROOTS)
        graph, bound = tightened.graph, tightened.bound
        if bound >= incumbent.cutoff or deadline.passed:
            return tightened
        if iterate_local_search(graph, incumbent, task.rng, deadline):
            continue
        value = incumbent.value
        tightened = fix_by_roots(graph, incumbent, deadline, bound=bound, patience=_patience(graph))
        graph, bound = tightened.graph, tightened.bound
        if bound >= incumbent.cutoff or deadline.passed:
            return tightened
        if incumbent.value < value:
            continue
        edges = graph.num_edges
        tightened = _cut_if_large(tightened, task, pool)
        graph, bound = tightened.graph, tightened.bound
        if bound >= incumbent.cutoff or deadline.passed or graph.num_edges > WORTHWHILE_SHARE * edges:
            return tightened


def _patience(graph: ClusteredGraph) -> int | None:
    """How many root clusters in a row may remove little: any number on small graphs, where ascents cost nothing."""
    return None if graph.num_edges < MANY_EDGES else 2 * IDLE_ROOTS


def _cut_if_large(known: Tightened, task: SolverTask, pool: CutPool) -> Tightened:
    """Give what dual ascent left to the cut relaxation, unless it is small."""
    if known.graph.num_edges - known.graph.num_clusters < LARGE_LEFTOVER:
        return known
    return fix_by_cut_relaxation(known, task.incumbent, task.deadline, task.quantum, pool)


def _branching_cluster(node: Tightened, cutoff: float) -> int:
    """The cluster whose vertices together leave the least of the gap open: few children, or nearly closed ones."""
    graph = node.graph
    open_gap = np.add.reduceat(np.maximum(cutoff - node.vertex_bound, 0.0), graph.start[:-1])
    return int(np.argmin(np.where(graph.sizes > 1, open_gap, np.inf)))


def branch_and_bound(task: SolverTask) -> SearchOutcome:
    """Find the cheapest tree or prove that the incumbent is; the graph's ``alive`` marks are changed."""
    incumbent, deadline = task.incumbent, task.deadline
    if not len(incumbent.chosen):
        incumbent.improve(task.graph, construct(task.graph.weight, task.graph.cost, task.graph.start))
    graph, reached = reduce_graph(task.graph, incumbent.cutoff)
    if reached >= incumbent.cutoff:
        return SearchOutcome(incumbent.value, 1)
    pool = CutPool()
    tightened = _close_root(graph, task, reached, pool)
    root = tightened.graph
    row = np.full(int(root.vertex.max()) + 1, -1, dtype=np.int64)
    row[root.vertex] = np.arange(root.num_vertices)
    open_nodes: list[tuple[float, int, _OpenNode | None]] = [(tightened.bound, 0, None)]
    nodes, ticket = 0, 0
    while open_nodes:
        lowest, _, node = heapq.heappop(open_nodes)
        if lowest >= incumbent.cutoff:
            break
        if deadline.passed:
            return SearchOutcome(task.quantum.round_up(lowest), max(nodes, 1))
        nodes += 1
        task.progress(
            nodes, 0, f"{len(open_nodes)} sub-problems open, {1 - lowest / incumbent.value:.2%} to prove"
        )
        if node is not None:
            child = node.unpack(root)
            tightened = fix_by_roots(child, incumbent, deadline, bound=lowest, patience=_patience(child))
            if tightened.bound < incumbent.cutoff:
                tightened = _cut_if_large(tightened, task, pool)
            if tightened.bound < incumbent.cutoff and deadline.passed:
                return SearchOutcome(task.quantum.round_up(lowest), nodes)
        # With one vertex left per cluster the heuristic's spanning tree is the only candidate and has been offered.
        if tightened.bound >= incumbent.cutoff or np.all(tightened.graph.sizes == 1):
            continue
        for bound, part in _children(tightened, incumbent.cutoff):
            ticket += 1
            heapq.heappush(open_nodes, (bound, ticket, _OpenNode.pack(row[part.vertex], part)))
    return SearchOutcome(incumbent.value, max(nodes, 1))


def _children(node: Tightened, cutoff: float) -> list[tuple[float, ClusteredGraph]]:
    """One sub-problem for each vertex of the branching cluster, with its bound."""
    graph = node.graph
    k = _branching_cluster(node, cutoff)
    first, last = int(graph.start[k]), int(graph.start[k + 1])
    children = []
    for v in range(first, last):
        keep = np.ones(graph.num_vertices, dtype=np.bool_)
        keep[first:last] = False
        keep[v] = True
        children.append((max(node.bound, float(node.vertex_bound[v])), keep_vertices(graph, keep)))
    return children

"""Generalized minimum spanning trees: one entry for all algorithms (Section 4.1 and Appendix C).

Given a graph whose vertices fall into clusters, find the cheapest tree that holds exactly one vertex of every cluster.
The problem is NP-hard; the default algorithm nevertheless proves the optimum of calibration graphs of a thousand runs
in seconds.

References
----------
Y.-S. Myung, C.-H. Lee, D.-W. Tcha (1995). On the generalized minimum spanning tree problem. Networks 26, 231-241.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import MatchingError, SettingsError
from .branch_and_bound import branch_and_bound
from .cluster_subpacking import solve_cluster_subpacking
from .clustered_graph import ClusteredGraph, read_clustered_graph, unjoined_clusters
from .enumeration import enumerate_trees
from .incumbent import Deadline, Incumbent
from .local_search import heuristic_only, iterate_local_search
from .multi_commodity_flow import solve_multi_commodity_flow
from .reductions import reduce_graph
from .solver_task import Progress, SearchOutcome, SolverTask, silent
from .spanning_tree_result import SpanningTreeResult, Status
from .subset_dynamic_programme import subset_dynamic_programme
from .tree_heuristic import alternate, construct, minimum_spanning_tree, selection_cost
from .working_weights import Quantum, put_on_grid, shift_to_zero, tree_cost

__all__ = ["METHODS", "Method", "solve_spanning_tree"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Method = Literal["auto", "branch_and_bound", "mcf", "dcsub", "subset_dp", "enumeration", "heuristic"]


@dataclass(frozen=True)
class _Algorithm:
    """How one method is run."""

    search: Callable[[SolverTask], SearchOutcome]
    on_grid: bool = True  # rounds weights to the grid and starts from a heuristic tree
    reducible: bool = False  # runs on the reduced graph unless told otherwise
    proves: bool = True  # ends with a proof unless the time is up


METHODS: dict[str, _Algorithm] = {
    "branch_and_bound": _Algorithm(branch_and_bound),
    "mcf": _Algorithm(solve_multi_commodity_flow, reducible=True),
    "dcsub": _Algorithm(solve_cluster_subpacking, reducible=True),
    "subset_dp": _Algorithm(subset_dynamic_programme, on_grid=False),
    "enumeration": _Algorithm(enumerate_trees, on_grid=False),
    "heuristic": _Algorithm(heuristic_only, proves=False),
}
"""The algorithms by name; ``"auto"`` is ``"branch_and_bound"``."""


def solve_spanning_tree(
    weights: ArrayLike,
    clusters: ArrayLike,
    *,
    vertex_costs: ArrayLike | None = None,
    method: Method | str = "auto",
    time_limit: float | None = None,
    warm_start: SpanningTreeResult | ArrayLike | None = None,
    reduce: bool = True,
    seed: int = 0,
    progress: Progress | None = None,
) -> SpanningTreeResult:
    """Find the cheapest tree with exactly one vertex of every cluster.

    Parameters
    ----------
    weights
        (n, n) symmetric edge weights of any sign, ``inf`` = no edge; the diagonal and edges inside a cluster are not
        used.
    clusters
        (n,) integer labels, any values.
    vertex_costs
        (n,) cost of choosing each vertex, charged once; zero if not given.
    method
        ``"auto"`` and ``"branch_and_bound"``: reductions, dual ascent and branching. ``"mcf"`` and ``"dcsub"``: the
        paper's integer programmes on HiGHS. ``"subset_dp"``: dynamic programme for few clusters.
        ``"enumeration"``: brute force for tiny graphs. ``"heuristic"``: local search, no proof.
    time_limit
        Seconds after which the best tree so far is returned, with a valid lower bound.
    warm_start
        A result for similar weights, or its vertices: a tree to start from.
    reduce
        Whether ``"mcf"`` and ``"dcsub"`` run on the graph without the vertices and edges that cheap tests rule out.
    seed
        Seed of the local search; the result is a function of the arguments alone unless the time limit is reached.
    progress
        Called now and then with ``(done, total, label)``.

    Returns
    -------
    SpanningTreeResult
        The tree, its cost, a lower bound and a status.

    Raises
    ------
    MatchingError
        If the arrays are no clustered graph, or the graph is too large for the method.
    SettingsError
        If ``method`` is unknown or ``time_limit`` is negative.
    """
    deadline = Deadline.after(time_limit)
    name = "branch_and_bound" if method == "auto" else method
    if name not in METHODS:
        known = ", ".join(repr(key) for key in METHODS)
        raise SettingsError(
            f"method must be 'auto' or one of {known}, but it is {method!r}; choose one of them."
        )
    if time_limit is not None and not time_limit >= 0:
        raise SettingsError(
            f"time_limit must be None or a number of seconds, at least 0, but it is {time_limit}; change it."
        )
    algorithm = METHODS[name]
    graph, labels = read_clustered_graph(weights, clusters, vertex_costs)
    groups = unjoined_clusters(graph)
    if len(groups) > 1:
        listed = " | ".join(", ".join(str(labels[k]) for k in group) for group in groups)
        return _without_tree(
            "infeasible", f"No edge joins these groups of clusters: {listed}.", name, 0, deadline
        )
    first = _warm_rows(warm_start, graph, labels)
    offset, missing, whole = shift_to_zero(graph)
    incumbent = Incumbent(missing)
    quantum = _start_on_grid(graph, incumbent, first, whole) if algorithm.on_grid else Quantum(0.0, 0.0)
    rng = np.random.default_rng(seed)
    task = SolverTask(graph, incumbent, quantum, rng, deadline, silent if progress is None else progress)
    outcome = _search(task, algorithm, reduce)
    finished = outcome.bound >= incumbent.cutoff
    if not len(incumbent.chosen):
        if finished:
            message = "Every cluster has edges to others, but no choice of one vertex per cluster is joined by them."
            return _without_tree("infeasible", message, name, outcome.nodes, deadline)
        incumbent.improve(graph, construct(graph.weight, graph.cost, graph.start))
    if not len(incumbent.chosen):
        message = "No tree was found within the time limit; give it more time."
        return _without_tree("time_limit", message, name, outcome.nodes, deadline, outcome.bound + offset)
    vertices = incumbent.chosen
    edges = _edges(np.asarray(weights, dtype=np.float64), vertices)
    costs = None if vertex_costs is None else np.asarray(vertex_costs, dtype=np.float64)
    cost = tree_cost(np.asarray(weights, dtype=np.float64), costs, vertices, edges)
    bound = cost if finished else min(cost, outcome.bound + offset)
    gap = 0.0 if finished else (cost - bound) / max(abs(cost), np.finfo(np.float64).tiny)
    unproved: Status = "time_limit" if algorithm.proves else "feasible"
    status: Status = "optimal" if finished else unproved
    return SpanningTreeResult(
        vertices, edges, cost, bound, gap, status, deadline.elapsed, name, outcome.nodes
    )


def _warm_rows(
    warm_start: SpanningTreeResult | ArrayLike | None, graph: ClusteredGraph, labels: Integers
) -> Integers | None:
    """Rows of the caller's starting vertices."""
    if warm_start is None:
        return None
    given = warm_start.vertices if isinstance(warm_start, SpanningTreeResult) else np.asarray(warm_start)
    row = {int(v): i for i, v in enumerate(graph.vertex)}
    rows = np.array([row.get(int(v), -1) for v in given], dtype=np.int64)
    cluster = graph.cluster
    if len(rows) != len(labels) or np.any(rows < 0) or np.any(cluster[rows] != np.arange(len(labels))):
        raise MatchingError(
            f"warm_start must hold one vertex of each of the {len(labels)} clusters, in increasing order of label, "
            f"but it is {np.array2string(np.asarray(given), threshold=8)}; pass the result of an earlier solve "
            "with the same clusters."
        )
    return rows


def _start_on_grid(
    graph: ClusteredGraph, incumbent: Incumbent, first: Integers | None, whole: bool
) -> Quantum:
    """Find a first tree, round the weights to the grid that its cost calls for, and make it the incumbent."""
    missing = incumbent.value
    rows = construct(graph.weight, graph.cost, graph.start)
    value, parent, _ = alternate(graph.weight, graph.cost, graph.start, rows)
    if first is not None:
        other_value, other_parent, _ = alternate(graph.weight, graph.cost, graph.start, first)
        if other_value < value:
            rows, value, parent = first, other_value, other_parent
    children = np.flatnonzero(parent >= 0)
    tree_weights = np.concatenate([graph.weight[rows[children], rows[parent[children]]], graph.cost[rows]])
    quantum = put_on_grid(graph, min(value, missing), whole, tree_weights)
    incumbent.slack = quantum.slack
    if value < missing:
        incumbent.value = selection_cost(graph.weight, graph.cost, rows, parent)
        incumbent.chosen = graph.vertex[rows]
    return quantum


def _search(task: SolverTask, algorithm: _Algorithm, reduce: bool) -> SearchOutcome:
    """Run the algorithm, on the reduced graph where it profits from it."""
    if task.incumbent.value <= 0.0:  # weights are not negative: nothing can be cheaper
        return SearchOutcome(task.incumbent.value, 0)
    if not (algorithm.reducible and reduce):
        return algorithm.search(task)
    smaller, reached = reduce_graph(task.graph, task.incumbent.cutoff)
    if reached < task.incumbent.cutoff and iterate_local_search(
        smaller, task.incumbent, task.rng, task.deadline
    ):
        smaller, reached = reduce_graph(smaller, task.incumbent.cutoff)
    if reached >= task.incumbent.cutoff:
        return SearchOutcome(reached, 0)
    return algorithm.search(replace(task, graph=smaller))


def _edges(weights: Floats, vertices: Integers) -> Integers:
    """The spanning tree's edges on the chosen vertices."""
    parent, order = minimum_spanning_tree(
        np.ascontiguousarray(weights[np.ix_(vertices, vertices)]), np.arange(len(vertices))
    )
    return np.array([(vertices[parent[k]], vertices[k]) for k in order[1:]], dtype=np.int64).reshape(-1, 2)


def _without_tree(
    status: Status, message: str, method: str, nodes: int, deadline: Deadline, bound: float = math.inf
) -> SpanningTreeResult:
    """The result where there is no tree, or none was found."""
    nothing = np.empty(0, dtype=np.int64)
    gap = 0.0 if math.isinf(bound) else math.inf
    return SpanningTreeResult(
        nothing, nothing.reshape(0, 2), math.inf, bound, gap, status, deadline.elapsed, method, nodes, message
    )

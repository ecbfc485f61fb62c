"""The paper's multi-commodity flow formulation (Appendix C, MCF) on HiGHS.

One unit of commodity i flows from the root, chosen in the root cluster, to the chosen vertex of cluster i, over arcs
that are paid for. (DCSUB5) is added, which changes neither the solutions nor the linear relaxation but helps the
solver; arcs into the root cluster and flows of a commodity out of its own cluster are left out, being zero in some
optimal solution.

References
----------
Y.-S. Myung, C.-H. Lee, D.-W. Tcha (1995). On the generalized minimum spanning tree problem. Networks 26, 231-241.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..errors import MatchingError
from .arc_lists import ArcLists, list_arcs
from .clustered_graph import ClusteredGraph
from .highs_model import HighsModel
from .integer_objective import IntegerObjective, integer_objective
from .reductions import cluster_bound
from .solver_task import SearchOutcome, SolverTask

__all__ = ["solve_multi_commodity_flow"]

Integers = NDArray[np.int64]

MOST_FLOWS = 5_000_000
"""Flow variables that fit into a few GiB."""
SECONDS_PER_FLOW = 5e-7
"""Time to write one flow variable into the programme, about; a programme that no time is left for is not begun."""


class _Rows:
    """Constraints collected as triples."""

    def __init__(self) -> None:
        self.count = 0
        self.row: list[Integers] = []
        self.col: list[Integers] = []
        self.val: list[NDArray[np.float64]] = []
        self.lower: list[NDArray[np.float64]] = []
        self.upper: list[NDArray[np.float64]] = []

    def open(self, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> int:
        """Begin a block of rows; returns the number of the first."""
        first = self.count
        self.lower.append(lower)
        self.upper.append(upper)
        self.count += len(lower)
        return first

    def put(self, row: Integers, col: Integers, value: float) -> None:
        """Add the same coefficient at many places."""
        self.row.append(row)
        self.col.append(col)
        self.val.append(np.full(len(row), value))

    def matrix(self, num_columns: int) -> csr_array:
        """All rows."""
        places = (np.concatenate(self.row), np.concatenate(self.col))
        return csr_array((np.concatenate(self.val), places), shape=(self.count, num_columns))


def _build(graph: ClusteredGraph, arcs: ArcLists, objective: IntegerObjective) -> HighsModel:
    """The formulation; columns are b, then q, then the flows commodity by commodity."""
    n, m = graph.num_vertices, graph.num_clusters
    cluster = graph.cluster
    root = int(np.argmin(graph.sizes))
    used = np.flatnonzero(cluster[arcs.head] != root)
    tail, head = arcs.tail[used], arcs.head[used]
    q = n + np.arange(len(used))
    rows = _Rows()
    first = rows.open(np.ones(m), np.ones(m))  # (DCSUB1)
    rows.put(first + cluster, np.arange(n), 1.0)
    first = rows.open(np.full(1, m - 1.0), np.full(1, m - 1.0))  # (DCSUB3)
    rows.put(np.full(len(used), first), q, 1.0)
    forth = np.flatnonzero((cluster[tail] != root) & (head < tail))  # (DCSUB2)
    place = np.full(len(arcs.tail), -1, dtype=np.int64)
    place[used] = np.arange(len(used))
    back = place[arcs.reverse[used[forth]]]
    first = rows.open(np.full(len(forth), -np.inf), np.ones(len(forth)))
    rows.put(first + np.arange(len(forth)), q[forth], 1.0)
    rows.put(first + np.arange(len(forth)), q[back], 1.0)
    others = np.flatnonzero(cluster != root)  # (DCSUB5)
    row_of = np.full(n, -1, dtype=np.int64)
    row_of[others] = rows.open(np.zeros(len(others)), np.zeros(len(others))) + np.arange(len(others))
    rows.put(row_of[head], q, 1.0)
    rows.put(row_of[others], others, -1.0)
    weights = graph.weight[head, tail]
    for group in objective.groups:
        members, count = group.slots(weights), np.full(1, float(group.count))
        rows.put(np.full(len(members), rows.open(count, count)), q[members], 1.0)
    num_columns = n + len(used)
    for i in range(m):
        if i == root:
            continue
        carried = np.flatnonzero(cluster[tail] != i)
        flow = num_columns + np.arange(len(carried))
        num_columns += len(carried)
        first = rows.open(np.zeros(n), np.zeros(n))  # (MCF4)
        rows.put(first + tail[carried], flow, 1.0)
        rows.put(first + head[carried], flow, -1.0)
        sources, sinks = np.flatnonzero(cluster == root), np.flatnonzero(cluster == i)
        rows.put(first + sources, sources, -1.0)
        rows.put(first + sinks, sinks, 1.0)
        first = rows.open(np.full(len(carried), -np.inf), np.zeros(len(carried)))  # (MCF5)
        rows.put(first + np.arange(len(carried)), flow, 1.0)
        rows.put(first + np.arange(len(carried)), q[carried], -1.0)
    cost = np.zeros(num_columns)
    cost[:n] = np.where(cluster == root, objective.root_cost, 0.0)
    cost[q] = objective.arc_cost[used]
    return HighsModel(
        cost,
        np.ones(num_columns),
        rows.matrix(num_columns),
        np.concatenate(rows.lower),
        np.concatenate(rows.upper),
    )


def solve_multi_commodity_flow(task: SolverTask) -> SearchOutcome:
    """Solve (MCF) in one integer programme.

    Raises
    ------
    MatchingError
        If the programme would have too many flow variables.
    """
    graph, incumbent = task.graph, task.incumbent
    flows = 2 * graph.num_edges * (graph.num_clusters - 1)
    if flows > MOST_FLOWS:
        raise MatchingError(
            f"method 'mcf' is for at most {MOST_FLOWS} flow variables, but this graph needs {flows}; "
            "use method 'auto', or 'dcsub' for an integer programme."
        )
    floor = cluster_bound(graph)
    if task.deadline.left < SECONDS_PER_FLOW * flows:
        return SearchOutcome(floor, 0)
    arcs = list_arcs(graph)
    objective = integer_objective(graph, arcs, incumbent)
    model = _build(graph, arcs, objective)
    n = graph.num_vertices
    integers = n + int(np.count_nonzero(graph.cluster[arcs.head] != np.argmin(graph.sizes)))
    model.require_integers(np.arange(integers), incumbent.slack / objective.scale / 2)
    verdict = model.solve(task.deadline)
    if model.has_solution:
        b = model.values[:n]
        start = graph.start
        rows = [start[k] + np.argmax(b[start[k] : start[k + 1]]) for k in range(graph.num_clusters)]
        incumbent.improve(graph, np.array(rows, dtype=np.int64))
    if (
        verdict != "stopped"
    ):  # infeasible: the reduced graph holds no tree better than the one that reduced it
        return SearchOutcome(incumbent.value, 1)
    return SearchOutcome(max(floor, objective.working(model.objective_bound)), 1)

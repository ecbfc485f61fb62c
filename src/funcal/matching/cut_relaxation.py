"""Bounds from the directed cluster-cut relaxation, for graphs that dual ascent leaves large.

The linear programme is solved by HiGHS with cuts separated by maximum flow, but none of its numbers is believed: the
cuts' dual values are rounded down to the grid, the clusters' dual values recomputed as the least reduced cost entering
each, and the bound and all reduced costs follow in exact arithmetic. Dual ascent then goes on from there, and fixes as
it does from scratch. One vertex outside the graph, joined to all of one cluster, serves as the root.

References
----------
C. Feremans, M. Labbé, G. Laporte (2004). The generalized minimum spanning tree problem: polyhedral analysis and
branch-and-cut algorithm. Networks 43, 71-86.
A. Neumaier, O. Shcherbina (2004). Safe bounds in linear and mixed-integer linear programming. Math. Programming 99.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .arc_lists import ArcLists, list_arcs
from .clustered_graph import ClusteredGraph, keep_vertices
from .cut_model import CutModel
from .dual_ascent import bounds_from_reduced_costs
from .incumbent import Deadline, Incumbent
from .integer_objective import IntegerObjective, integer_objective
from .reduced_cost_fixing import Tightened, clear_arcs
from .working_weights import Quantum

__all__ = ["fix_by_cut_relaxation"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

STALL_ROUNDS = 4
"""Rounds of cuts that together must close a fiftieth of the gap for the next one to be worth its time."""

STALL_SHARE = 0.02
"""That fiftieth."""


def _with_outer_root(graph: ClusteredGraph, root_cluster: int) -> ClusteredGraph:
    """The graph with one more cluster, of one vertex, joined at no cost to every vertex of the root cluster."""
    n = graph.num_vertices
    weight = np.zeros((n + 1, n + 1))
    alive = np.zeros((n + 1, n + 1), dtype=np.bool_)
    weight[:n, :n], alive[:n, :n] = graph.weight, graph.alive
    inside = slice(int(graph.start[root_cluster]), int(graph.start[root_cluster + 1]))
    alive[n, inside] = alive[inside, n] = True
    return ClusteredGraph(
        weight,
        alive,
        np.append(graph.cost, 0.0),
        np.append(graph.start, n + 1),
        np.append(graph.vertex, -1),
    )


def _safe_reduced_costs(
    graph: ClusteredGraph,
    arcs: ArcLists,
    usable: Flags,
    sets: list[Flags],
    set_duals: Floats,
    objective: IntegerObjective,
    heavy_dual: float,
    step: float,
) -> tuple[float, Floats]:
    """A dual bound and its reduced costs, exact on the grid, from approximate dual values of the cuts."""
    reduced = np.where(usable, arcs.cost, np.inf)
    bound = 0.0
    if len(objective.heavy):
        extra = np.floor(heavy_dual / step) * step
        weight = graph.weight[arcs.head, arcs.tail]
        reduced[weight >= objective.base] -= extra
        bound += objective.num_heavy * extra
    for members, dual in zip(sets, np.floor(np.maximum(set_duals, 0.0) / step) * step, strict=True):
        if dual > 0.0:
            inside = np.append(members, False)
            reduced[inside[arcs.head] & ~inside[arcs.tail]] -= dual
            bound += dual
    head_cluster = graph.cluster[arcs.head]
    least = np.full(graph.num_clusters, np.inf)
    np.minimum.at(least, head_cluster, reduced)
    least[-1] = 0.0  # nothing enters the outer root
    return float(bound + np.sum(least)), reduced - least[head_cluster]


def fix_by_cut_relaxation(
    known: Tightened, incumbent: Incumbent, deadline: Deadline, quantum: Quantum
) -> Tightened:
    """Solve the cut relaxation round by round and delete what its reduced costs rule out.

    The graph's ``alive`` marks are changed in place.
    """
    graph = known.graph
    inner_arcs = list_arcs(graph)
    objective = integer_objective(graph, inner_arcs, incumbent)
    model = CutModel(graph, inner_arcs, objective.arc_cost, objective.root_cost)
    first_cut_row = model.num_static
    if len(objective.heavy):
        columns = model.column[objective.heavy]
        columns = columns[columns >= 0]
        model.highs.add_row(columns, np.ones(len(columns)), objective.num_heavy, objective.num_heavy)
        first_cut_row += 1
    outer = _with_outer_root(graph, model.root_cluster)
    arcs = list_arcs(outer)
    cluster = outer.cluster
    n = graph.num_vertices
    usable = (arcs.head < n) & ((cluster[arcs.head] != model.root_cluster) | (arcs.tail == n))
    best, best_vertex = known.bound, known.vertex_bound.copy()
    history: list[float] = []
    while not deadline.passed:
        if model.highs.solve(deadline) != "optimal":
            break
        values, duals = model.highs.values, model.highs.row_duals * objective.scale
        incumbent.improve(graph, model.chosen_rows(values))
        heavy_dual = float(duals[model.num_static]) + objective.base if len(objective.heavy) else 0.0
        base, reduced = _safe_reduced_costs(
            outer, arcs, usable, model.sets, duals[first_cut_row:], objective, heavy_dual, quantum.step
        )
        vertex_bound, arc_bound = np.full(n + 1, np.inf), np.full(len(arcs.tail), np.inf)
        nearest = np.empty(graph.num_clusters + 1, dtype=np.int64)
        bound = bounds_from_reduced_costs(
            arcs.first,
            arcs.tail,
            arcs.reverse,
            cluster,
            outer.start,
            n,
            base,
            incumbent.cutoff,
            reduced,
            vertex_bound,
            arc_bound,
            nearest,
        )
        best = max(best, quantum.round_up(bound))
        history.append(best)
        if best >= incumbent.cutoff:
            break
        incumbent.improve(graph, nearest[:-1])
        np.maximum(best_vertex, vertex_bound[:n], out=best_vertex)
        clear_arcs(outer.alive, arcs.head, arcs.tail, arcs.reverse, arc_bound, incumbent.cutoff)
        sets = model.violated(values)
        if not len(sets) or _stalled(history, incumbent.cutoff):
            break
        model.add_cuts(sets)
    np.logical_and(graph.alive, outer.alive[:n, :n], out=graph.alive)
    keep = best_vertex < incumbent.cutoff
    if best >= incumbent.cutoff or not np.all(np.logical_or.reduceat(keep, graph.start[:-1])):
        return Tightened(graph, max(best, incumbent.cutoff), known.vertex_bound)
    return Tightened(keep_vertices(graph, keep), best, np.maximum(best_vertex[keep], best))


def _stalled(history: list[float], cutoff: float) -> bool:
    """Whether the last rounds closed too little of the gap."""
    if len(history) <= STALL_ROUNDS:
        return False
    before = history[-1 - STALL_ROUNDS]
    return history[-1] - before < STALL_SHARE * (cutoff - before)

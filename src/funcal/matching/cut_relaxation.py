"""Bounds from the directed cluster-cut relaxation, for graphs that dual ascent leaves large.

The linear programme is solved by HiGHS with cuts separated by maximum flow, but none of its numbers is believed: the
cuts' dual values are rounded down to the grid, the clusters' dual values recomputed as the least reduced cost entering
each, and the bound and all reduced costs follow in exact arithmetic. Dual ascent then goes on from there, and fixes as
it does from scratch. One vertex outside the graph, joined to all of one cluster, serves as the root.

The first cuts are those that dual ascent raises; those that carry a dual value in the end are kept in a pool for the
next graph, which is a part of this one.

References
----------
C. Feremans, M. Labbé, G. Laporte (2004). The generalized minimum spanning tree problem: polyhedral analysis and
branch-and-cut algorithm. Networks 43, 71-86.
A. Neumaier, O. Shcherbina (2004). Safe bounds in linear and mixed-integer linear programming. Math. Programming 99.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .arc_lists import ArcLists, list_arcs
from .clustered_graph import ClusteredGraph, keep_vertices
from .cut_model import CutModel
from .dual_ascent import ascend, bounds_from_reduced_costs
from .incumbent import Deadline, Incumbent
from .integer_objective import IntegerObjective, integer_objective
from .reduced_cost_fixing import Tightened, clear_arcs
from .working_weights import Quantum

__all__ = ["CutPool", "fix_by_cut_relaxation"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

STALL_ROUNDS = 12
"""Rounds of cuts that together must close a hundredth of the gap for the next one to be worth its time."""

STALL_SHARE = 0.01
"""That hundredth."""

BOUND_EVERY = 4
"""Rounds between two safe bounds, each of which costs about as much as a round."""

MOST_FIRST_CUTS = 1000
"""Cuts of dual ascent to begin with."""


@dataclass
class CutPool:
    """Sets of the caller's vertices whose cuts mattered so far, at most one relaxation's worth."""

    sets: list[Integers] = field(default_factory=list)

    def rows(self, graph: ClusteredGraph) -> Flags:
        """The sets within the graph, those that still hold a whole cluster."""
        place = np.full(int(graph.vertex.max()) + 2, -1, dtype=np.int64)
        place[graph.vertex] = np.arange(graph.num_vertices)
        found = np.zeros((len(self.sets), graph.num_vertices), dtype=np.bool_)
        for row, members in zip(found, self.sets, strict=True):
            inside = place[np.minimum(members, len(place) - 1)]
            row[inside[inside >= 0]] = True
        whole = np.logical_and.reduceat(found, graph.start[:-1], axis=1) if len(found) else found
        return found[np.any(whole, axis=1)]


@dataclass(frozen=True)
class _OuterRoot:
    """The graph with one more cluster, of one vertex, joined at no cost to every vertex of the root cluster."""

    graph: ClusteredGraph
    arcs: ArcLists
    usable: Flags

    @classmethod
    def around(cls, graph: ClusteredGraph, root_cluster: int) -> _OuterRoot:
        n = graph.num_vertices
        weight = np.zeros((n + 1, n + 1))
        alive = np.zeros((n + 1, n + 1), dtype=np.bool_)
        weight[:n, :n], alive[:n, :n] = graph.weight, graph.alive
        inside = slice(int(graph.start[root_cluster]), int(graph.start[root_cluster + 1]))
        alive[n, inside] = alive[inside, n] = True
        start, vertex = np.append(graph.start, n + 1), np.append(graph.vertex, -1)
        outer = ClusteredGraph(weight, alive, np.append(graph.cost, 0.0), start, vertex)
        arcs = list_arcs(outer)
        usable = (arcs.head < n) & ((outer.cluster[arcs.head] != root_cluster) | (arcs.tail == n))
        return cls(outer, arcs, usable)

    def first_cuts(self) -> Flags:
        """Sets that dual ascent raises."""
        reduced = np.where(self.usable, self.arcs.cost, np.inf)
        n = self.graph.num_vertices
        record = np.zeros((MOST_FIRST_CUTS, n), dtype=np.bool_)
        arcs, graph = self.arcs, self.graph
        ascend(arcs.first, arcs.tail, graph.cluster, graph.start, n - 1, np.inf, reduced, record)
        return record[np.any(record, axis=1), : n - 1]

    def safe_reduced_costs(
        self, sets: Flags, duals: Floats, objective: IntegerObjective, group_duals: Floats, step: float
    ) -> tuple[float, Floats]:
        """A dual bound and its reduced costs, exact on the grid, from approximate dual values."""
        arcs = self.arcs
        reduced = np.where(self.usable, arcs.cost, np.inf)
        bound = 0.0
        weights = self.graph.weight[arcs.head, arcs.tail]
        for group, dual in zip(objective.groups, group_duals, strict=True):
            extra = float(np.floor((dual + group.least) / step) * step)
            reduced[group.slots(weights)] -= extra
            bound += group.count * extra
        duals = np.floor(np.maximum(duals, 0.0) / step) * step
        sets = np.concatenate([sets, np.zeros((len(sets), 1), dtype=np.bool_)], axis=1)
        for members, dual in zip(sets[duals > 0.0], duals[duals > 0.0], strict=True):
            reduced[members[arcs.head] & ~members[arcs.tail]] -= dual
            bound += dual
        head_cluster = self.graph.cluster[arcs.head]
        least = np.full(self.graph.num_clusters, np.inf)
        np.minimum.at(least, head_cluster, reduced)
        least[-1] = 0.0  # nothing enters the outer root
        return float(bound + np.sum(least)), reduced - least[head_cluster]


def fix_by_cut_relaxation(
    known: Tightened, incumbent: Incumbent, deadline: Deadline, quantum: Quantum, pool: CutPool
) -> Tightened:
    """Solve the cut relaxation round by round and delete what its reduced costs rule out.

    The graph's ``alive`` marks are changed in place.
    """
    graph = known.graph
    arcs = list_arcs(graph)
    objective = integer_objective(graph, arcs, incumbent)
    model = CutModel(graph, arcs, objective.arc_cost, objective.root_cost)
    weights = graph.weight[arcs.head, arcs.tail]
    for group in objective.groups:
        model.fix_count(group.slots(weights), group.count)
    outer = _OuterRoot.around(graph, model.root_cluster)
    first = pool.rows(graph)
    model.add_cuts(first if len(first) else outer.first_cuts())
    best, vertex_bound = known.bound, known.vertex_bound.copy()
    history: list[float] = []
    while not deadline.passed and model.highs.solve(deadline) == "optimal":
        values = model.highs.values
        sets = model.violated(values)
        history.append(objective.working(model.highs.objective))
        last = not len(sets) or _stalled(history, incumbent.cutoff)
        if last or len(history) % BOUND_EVERY == 0 or history[-1] >= incumbent.cutoff:
            incumbent.improve(graph, model.chosen_rows(values))
            best = max(best, _fix(outer, model, objective, incumbent, quantum, vertex_bound))
        if last or best >= incumbent.cutoff:
            break
        model.add_cuts(sets)
    _remember(pool, model)
    n = graph.num_vertices
    np.logical_and(graph.alive, outer.graph.alive[:n, :n], out=graph.alive)
    keep = vertex_bound < incumbent.cutoff
    if best >= incumbent.cutoff or not np.all(np.logical_or.reduceat(keep, graph.start[:-1])):
        return Tightened(graph, max(best, incumbent.cutoff), known.vertex_bound)
    return Tightened(keep_vertices(graph, keep), best, np.maximum(vertex_bound[keep], best))


def _fix(
    outer: _OuterRoot,
    model: CutModel,
    objective: IntegerObjective,
    incumbent: Incumbent,
    quantum: Quantum,
    vertex_bound: Floats,
) -> float:
    """Safe bound of the relaxation; raises the vertices' bounds and clears edges of the outer graph."""
    duals = model.highs.row_duals * objective.scale
    group_duals = duals[model.num_static - len(objective.groups) : model.num_static]
    sets = np.concatenate(model.sets)
    base, reduced = outer.safe_reduced_costs(
        sets, duals[model.num_static :], objective, group_duals, quantum.step
    )
    arcs, root = outer.arcs, outer.graph.num_vertices - 1
    reached = np.full(root + 1, np.inf)
    arc_bound = np.full(len(arcs.tail), np.inf)
    nearest = np.empty(outer.graph.num_clusters, dtype=np.int64)
    bound = bounds_from_reduced_costs(
        arcs.first,
        arcs.tail,
        arcs.reverse,
        outer.graph.cluster,
        outer.graph.start,
        root,
        base,
        incumbent.cutoff,
        reduced,
        reached,
        arc_bound,
        nearest,
    )
    bound = quantum.round_up(bound)
    if bound < incumbent.cutoff:
        incumbent.improve(model.graph, nearest[:-1])
        np.maximum(vertex_bound, reached[:-1], out=vertex_bound)
        clear_arcs(outer.graph.alive, arcs.head, arcs.tail, arcs.reverse, arc_bound, incumbent.cutoff)
    return bound


def _remember(pool: CutPool, model: CutModel) -> None:
    """Keep the cuts that carry a dual value."""
    duals = model.highs.row_duals[model.num_static :]
    sets = np.concatenate(model.sets)[: len(duals)]
    if len(sets):
        chosen = sets[duals[: len(sets)] > 0.0]
        pool.sets = [model.graph.vertex[members] for members in chosen]


def _stalled(history: list[float], cutoff: float) -> bool:
    """Whether the last rounds closed too little of the gap."""
    if len(history) <= STALL_ROUNDS:
        return False
    before = history[-1 - STALL_ROUNDS]
    return history[-1] - before < STALL_SHARE * (cutoff - before)

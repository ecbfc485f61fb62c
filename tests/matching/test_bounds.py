"""Reductions, dual ascent and the cut relaxation: every bound is valid, every deletion leaves an optimal tree."""

import itertools
import math

import numpy as np
import pytest

from funcal.matching import branch_and_bound as search
from funcal.matching import solve_spanning_tree
from funcal.matching.arc_lists import list_arcs
from funcal.matching.clustered_graph import ClusteredGraph, read_clustered_graph
from funcal.matching.dual_ascent import root_bounds
from funcal.matching.incumbent import Incumbent
from funcal.matching.reduced_cost_fixing import Tightened
from funcal.matching.reductions import cluster_bound, reduce_graph
from funcal.matching.tree_heuristic import construct, minimum_spanning_tree, selection_cost
from funcal.matching.working_weights import non_penalty_part, put_on_grid, shift_to_zero


def _on_grid(instance) -> tuple[ClusteredGraph, Incumbent] | None:
    """The graph in working weights with the first heuristic tree, None where there is no edge to choose."""
    graph, labels = read_clustered_graph(instance.weights, instance.clusters, instance.vertex_costs)
    if len(labels) < 2 or not graph.alive.any():
        return None
    _, missing, whole = shift_to_zero(graph)
    rows = construct(graph.weight, graph.cost, graph.start)
    parent, _ = minimum_spanning_tree(graph.weight, rows)
    value = min(selection_cost(graph.weight, graph.cost, rows, parent), missing)
    quantum = put_on_grid(graph, value, whole, np.ones(1))
    return graph, Incumbent(
        selection_cost(graph.weight, graph.cost, rows, parent), quantum.slack, graph.vertex[rows]
    )


def _trees(graph: ClusteredGraph):
    """Every choice of rows with the cost of its spanning tree over edges in play."""
    weight = np.where(graph.alive, graph.weight, np.inf)
    for rows in itertools.product(*(range(a, b) for a, b in itertools.pairwise(graph.start))):
        chosen = np.array(rows)
        parent, _ = minimum_spanning_tree(weight, chosen)
        yield chosen, parent, selection_cost(weight, graph.cost, chosen, parent)


@pytest.mark.parametrize("seed", range(60))
def test_dual_ascent_bounds_every_tree(seed: int, random_instance) -> None:
    """The bounds by root, vertex and arc hold for every tree of the graph, one by one."""
    prepared = _on_grid(random_instance(seed))
    if prepared is None:
        return
    graph, _ = prepared
    arcs, cluster = list_arcs(graph), graph.cluster
    vertex_bound = np.full(graph.num_vertices, np.inf)
    arc_bound = np.full(len(arcs.tail), np.inf)
    nearest = np.empty(graph.num_clusters, dtype=np.int64)
    for root in range(graph.start[0], graph.start[1]):
        root_bounds(*arcs, graph.cost, cluster, graph.start, root, np.inf, vertex_bound, arc_bound, nearest)
    slot = {(int(t), int(h)): a for a, (t, h) in enumerate(zip(arcs.tail, arcs.head, strict=True))}
    for chosen, parent, cost in _trees(graph):
        if math.isinf(cost):
            continue
        assert np.all(vertex_bound[chosen] <= cost)
        for k in range(len(chosen)):  # Prim's tree is rooted in cluster 0, as the bounds are
            if parent[k] >= 0:
                assert arc_bound[slot[int(chosen[parent[k]]), int(chosen[k])]] <= cost


@pytest.mark.parametrize("seed", range(60))
def test_reductions_keep_an_optimal_tree(seed: int, random_instance) -> None:
    """After reducing with no cutoff, the cheapest tree of what is left costs the same."""
    prepared = _on_grid(random_instance(seed))
    if prepared is None:
        return
    graph, _ = prepared
    before = min(cost for _, _, cost in _trees(graph))
    bound = cluster_bound(graph)
    smaller, reached = reduce_graph(graph, np.inf)
    if math.isinf(before):
        return
    assert bound <= before
    assert reached <= before
    assert min(cost for _, _, cost in _trees(smaller)) == before


def test_cut_relaxation_alone_solves_everything(monkeypatch, random_instance, cheapest_tree) -> None:
    """With dual ascent switched off, bounds and deletions of the cut relaxation still lead to the optimum."""

    def no_ascent(graph, incumbent, deadline, *, bound=0.0, patience=None) -> Tightened:
        return Tightened(graph, bound, np.full(graph.num_vertices, bound))

    monkeypatch.setattr(search, "fix_by_roots", no_ascent)
    monkeypatch.setattr(search, "LARGE_LEFTOVER", -(10**9))
    for seed in range(150):
        instance = random_instance(seed)
        optimum = cheapest_tree(instance)
        result = solve_spanning_tree(instance.weights, instance.clusters, vertex_costs=instance.vertex_costs)
        assert result.status == ("infeasible" if math.isinf(optimum) else "optimal"), seed
        assert result.cost == optimum or abs(result.cost - optimum) <= 1e-9 * max(1.0, abs(optimum)), seed


def test_grid_is_exact_and_never_above() -> None:
    """Rounded weights are multiples of the step, at most one step below, and their sums carry no rounding."""
    rng = np.random.default_rng(1)
    weights = rng.random((30, 30)) * 1e5
    weights = weights + weights.T
    graph, _ = read_clustered_graph(weights, np.arange(30) % 6)
    shift_to_zero(graph)
    exact = graph.weight.copy()
    quantum = put_on_grid(graph, 2e5, False, np.ones(1))
    below = exact[graph.alive] - graph.weight[graph.alive]
    assert np.all((below >= 0) & (below <= quantum.step))
    some = graph.weight[graph.alive][:40]
    assert float(np.sum(some)) == math.fsum(some)


def test_non_penalty_part_stops_at_the_jump() -> None:
    """Edges a thousand times heavier than the next are not counted."""
    assert non_penalty_part(np.array([0.1, 0.2, 3e4, 0.3])) == pytest.approx(0.6)
    assert non_penalty_part(np.array([0.1, 0.2])) == pytest.approx(0.3)
    assert non_penalty_part(np.zeros(3)) == 0.0

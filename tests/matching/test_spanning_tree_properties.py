"""Properties of the optimum that hold whatever the graph."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from funcal.matching import solve_spanning_tree

QUICK = settings(max_examples=60, deadline=None, derandomize=True)


@st.composite
def graphs(draw, integer: bool = False):
    """Clusters of one to four vertices, weights on a coarse scale so that ties occur, some edges missing."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=2, max_size=6))
    n = sum(sizes)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = rng.integers(0, 12, (n, n)).astype(float) if integer else np.round(rng.random((n, n)), 2)
    if draw(st.booleans()):
        weights[rng.random((n, n)) < 0.2] = np.inf
    weights = np.triu(weights, 1)
    weights = weights + weights.T
    costs = np.round(rng.random(n), 2) if draw(st.booleans()) else None
    return weights, np.repeat(np.arange(len(sizes)), sizes), costs, rng


def _cost(weights, clusters, costs, **options) -> float:
    return solve_spanning_tree(weights, clusters, vertex_costs=costs, **options).cost


def _close(a: float, b: float) -> bool:
    return a == b or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


@QUICK
@given(graphs())
def test_permuting_vertices_changes_nothing(graph) -> None:
    """The order of the vertices does not matter."""
    weights, clusters, costs, rng = graph
    order = rng.permutation(len(clusters))
    permuted = _cost(weights[np.ix_(order, order)], clusters[order], None if costs is None else costs[order])
    assert _close(permuted, _cost(weights, clusters, costs))


@QUICK
@given(graphs())
def test_relabelling_clusters_changes_nothing(graph) -> None:
    """Labels are names: any distinct integers will do."""
    weights, clusters, costs, rng = graph
    labels = rng.choice(np.arange(-1000, 1000), clusters.max() + 1, replace=False)
    assert _close(_cost(weights, labels[clusters], costs), _cost(weights, clusters, costs))


@QUICK
@given(graphs())
def test_adding_a_vertex_never_hurts(graph) -> None:
    """Without one of its vertices a graph has no cheaper tree."""
    weights, clusters, costs, rng = graph
    sizes = np.bincount(clusters)
    spare = np.flatnonzero(sizes[clusters] > 1)
    if not len(spare):
        return
    keep = np.delete(np.arange(len(clusters)), rng.choice(spare))
    fewer = _cost(weights[np.ix_(keep, keep)], clusters[keep], None if costs is None else costs[keep])
    assert fewer >= _cost(weights, clusters, costs) - 1e-9


@QUICK
@given(graphs(), st.floats(0.0, 2.0), st.floats(0.0, 2.0))
def test_cost_is_monotone_in_lambda(graph, one: float, other: float) -> None:
    """Scaling the edges' share of the weight up never makes the optimum cheaper."""
    weights, clusters, costs, rng = graph
    costs = rng.random(len(clusters)) if costs is None else costs
    low, high = sorted((one, other))
    weights = np.where(np.isinf(weights), 50.0, weights)
    assert _cost(low * weights, clusters, costs) <= _cost(high * weights, clusters, costs) + 1e-9


@QUICK
@given(graphs(), st.sampled_from([0.0, 1e-4, 1e-3, 1e-2]))
def test_lower_bound_is_valid_at_every_time_limit(graph, limit: float) -> None:
    """However soon the search stops, no tree is cheaper than the bound nor dearer than its own tree."""
    weights, clusters, costs, _ = graph
    optimum = _cost(weights, clusters, costs, method="subset_dp")
    for method in ("branch_and_bound", "enumeration", "subset_dp", "heuristic"):
        result = solve_spanning_tree(weights, clusters, vertex_costs=costs, method=method, time_limit=limit)
        assert result.lower_bound <= optimum + 1e-9 or math.isinf(optimum)
        assert result.cost >= optimum - 1e-9


@QUICK
@given(graphs(integer=True), st.integers(1, 50))
def test_integer_weights_give_integer_bounds(graph, seed: int) -> None:
    """Integer weights without vertex costs: the optimum is an integer, whatever the seed of the local search."""
    weights, clusters, _, _ = graph
    result = solve_spanning_tree(weights, clusters, seed=seed)
    if result.status == "optimal":
        assert result.cost == int(result.cost)
        assert _close(result.cost, _cost(weights, clusters, None, method="subset_dp"))

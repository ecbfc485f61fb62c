"""Batches of spanning trees."""

from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

from funcal.errors import MatchingError
from funcal.matching import solve_many, solve_spanning_tree


@pytest.fixture
def batch() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Six weight matrices and six vectors of vertex costs over the same five clusters."""
    rng = np.random.default_rng(0)
    weights = rng.random((6, 20, 20))
    weights = weights + weights.transpose(0, 2, 1)
    return weights, np.arange(20) % 5, rng.random((6, 20))


def test_batch_equals_single_solves(batch) -> None:
    """Every member is the optimum of its own problem, whatever the number of workers."""
    weights, clusters, costs = batch
    single = [
        solve_spanning_tree(w, clusters, vertex_costs=c).cost for w, c in zip(weights, costs, strict=True)
    ]
    for workers in (1, 2):
        many = solve_many(weights, clusters, vertex_costs=costs, max_workers=workers)
        assert [result.cost for result in many] == single


def test_one_matrix_for_all(batch) -> None:
    """One weight matrix can serve many vectors of vertex costs, and the other way round."""
    weights, clusters, costs = batch
    shared = solve_many(weights[0], clusters, vertex_costs=costs)
    assert [r.cost for r in shared] == [
        solve_spanning_tree(weights[0], clusters, vertex_costs=c).cost for c in costs
    ]
    assert len(solve_many(list(weights), clusters, vertex_costs=costs[0])) == 6
    assert len(solve_many(weights[0], clusters)) == 1


def test_processes(batch) -> None:
    """Any executor will do."""
    weights, clusters, _ = batch
    with ProcessPoolExecutor(1) as pool:
        many = solve_many(weights[:2], clusters, executor=pool)
    assert many[1].cost == solve_spanning_tree(weights[1], clusters).cost


def test_lengths_must_agree(batch) -> None:
    """Six matrices and three vectors are a mistake."""
    weights, clusters, costs = batch
    with pytest.raises(MatchingError, match="as many weight matrices"):
        solve_many(weights, clusters, vertex_costs=costs[:3])

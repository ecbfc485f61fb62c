"""The layered shortest path against brute force, and batches against single solves."""

import itertools

import numpy as np
import pytest

from funcal.matching import shortest_paths


def _random(seed: int, num_sets: int = 1):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, rng.integers(1, 7))
    cluster = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    calibration = np.round(
        rng.random((len(cluster), int(rng.integers(1, 4)))), 1
    )  # coarse, so that ties occur
    return calibration, cluster, np.round(rng.random((num_sets, len(cluster))), 1), rng


def _brute_force(calibration, cluster, misfit, lambda_, printed: bool) -> float:
    layers = [np.flatnonzero(cluster == k) for k in np.unique(cluster)]
    best = np.inf
    for path in itertools.product(*layers):
        charged = path[:-1] if printed else path
        steps = sum(np.linalg.norm(calibration[u] - calibration[v]) for u, v in itertools.pairwise(path))
        best = min(best, float(sum(misfit[v] for v in charged) + lambda_ * steps))
    return best


@pytest.mark.parametrize("printed", [False, True])
def test_agrees_with_brute_force(printed: bool) -> None:
    """A hundred random digraphs of up to six clusters, with one to three calibration variables."""
    for seed in range(100):
        calibration, cluster, misfit, rng = _random(seed)
        lambda_ = float(rng.random() * 2)
        paths = shortest_paths(calibration, cluster, misfit, lambda_, printed=printed)
        assert cluster[paths.vertices[0]].tolist() == np.unique(cluster).tolist()
        assert paths.cost[0] == pytest.approx(_brute_force(calibration, cluster, misfit[0], lambda_, printed))


def test_printed_weights_leave_the_last_cluster_free() -> None:
    """As printed, the last run's misfit costs nothing, so the wrong run is chosen there (point 20)."""
    calibration = np.array([[0.0], [0.0], [0.4]])
    cluster = np.array([0, 1, 1])
    misfit = np.array([[0.0, 5.0, 0.0]])
    assert shortest_paths(calibration, cluster, misfit, 0.5, printed=True).vertices.tolist() == [[0, 1]]
    assert shortest_paths(calibration, cluster, misfit, 0.5).vertices.tolist() == [[0, 2]]


def test_batch_equals_single_solves() -> None:
    """Three hundred responses at once give what one at a time gives, each with its own λ."""
    calibration, cluster, misfit, rng = _random(7, num_sets=300)
    lambdas = rng.random(300)
    batch = shortest_paths(calibration, cluster, misfit, lambdas)
    for b in range(0, 300, 17):
        single = shortest_paths(calibration, cluster, misfit[b : b + 1], float(lambdas[b]))
        assert batch.vertices[b].tolist() == single.vertices[0].tolist()
        assert batch.cost[b] == single.cost[0]


def test_empty_clusters_are_passed_over() -> None:
    """A label without runs is no layer."""
    paths = shortest_paths(np.zeros((2, 1)), np.array([0, 3]), np.array([[1.0, 2.0]]), 1.0)
    assert paths.vertices.tolist() == [[0, 1]]
    assert paths.cost.tolist() == [3.0]
